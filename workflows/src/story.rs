//! A dream, from begin to report.
//!
//! The store is the memory of the run: the story begins by asking what is left and does that. Telling it again with the same
//! run id, after a crash, a reset or a take-over, is going on with it.

use std::time::Duration;

use dream_core::failure::Code;
use dream_core::run::{Mode, RunState};

use crate::contract::{Begin, Begun, Halt, Mirrored, Part, PartDone, Report, Reported, RunRef, Sealed, SettleReview};
use crate::space;
use crate::steps::{Progress, StepError, Steps, WaitFor};

/// How long a wait lasts before the requests are read again, should a wake-up have been lost.
pub(crate) const LOOK_EVERY: Duration = Duration::from_mins(1);

/// How long somebody else's work on the target is waited for at a time.
pub(crate) const TARGET_EVERY: Duration = Duration::from_secs(5);

/// Waits for somebody else's work before the run gives up: five minutes.
pub(crate) const TARGET_WAITS_MAX: u32 = 60;

/// How long a graph database that is behind is waited for at a time.
const GRAPH_EVERY: Duration = Duration::from_secs(5);

/// How long somebody else's drain is waited for, who is most likely at its last rows: two terms of its lease.
const DRAINER_SECONDS: u64 = 120;

/// Drains before a run and at its end, each bounded in time; what is left then is the reconciler's.
const MIRROR_ROUNDS_MAX: u32 = 500;

/// Tells the story of one run.
pub async fn story<S: Steps>(steps: &mut S, begin: Begin) -> Result<Reported, StepError> {
    let begun = steps.begin(begin).await?;
    let run = begun.run.clone();
    if !begun.state.is_open() {
        return report(steps, run, begun.state, None).await;
    }
    let ended = tell(steps, &begun).await;
    if begun.has_graph && !matches!(ended, Err(StepError::Suspended)) {
        mirror(steps, &run).await?;
    }
    match ended {
        Ok(state) => report(steps, run, state, None).await,
        Err(StepError::Suspended) => Err(StepError::Suspended),
        Err(StepError::Cancelled) => report(steps, run, RunState::Cancelled, None).await,
        Err(StepError::Failed { name, message }) => {
            let state = if name == Code::Forbidden.name() { RunState::AbortedSafety } else { RunState::Failed };
            if name != Code::LeaseLost.name() {
                report(steps, run, state, Some(name.clone())).await?;
            }
            Err(StepError::Failed { name, message })
        }
    }
}

async fn tell<S: Steps>(steps: &mut S, begun: &Begun) -> Result<RunState, StepError> {
    if let Some(left) = &begun.space {
        return space::tell(steps, begun, left).await;
    }
    let run = &begun.run;
    let sealed = match &begun.sealed {
        Some(sealed) => sealed.clone(),
        None => match draw_up(steps, begun).await? {
            Drawn::Sealed(sealed) => sealed,
            Drawn::Cancelled => return Ok(RunState::Cancelled),
        },
    };
    steps.progress(Progress::Sealed(sealed.clone()));
    match begun.mode {
        Mode::DryRun => return Ok(RunState::Completed),
        Mode::Review if begun.state != RunState::Applying => {
            if let Some(end) = review(steps, begun).await? {
                return Ok(end);
            }
        }
        Mode::Review | Mode::Apply => {}
    }
    steps.prepare(run.clone()).await?;
    carry_out(steps, begun, sealed).await
}

/// How drawing up a plan ended.
enum Drawn {
    Sealed(Sealed),
    Cancelled,
}

/// Audits, plans and seals. A cancel is heeded between two of its parts.
async fn draw_up<S: Steps>(steps: &mut S, begun: &Begun) -> Result<Drawn, StepError> {
    if begun.has_graph {
        catch_up(steps, begun).await?;
    }
    let part = |kind| Part { run: begun.run.clone(), kind };
    for kind in &begun.audits {
        steps.progress(Progress::Auditing { kind: *kind });
        if is_cancelled(&steps.audit(part(*kind)).await?) {
            return Ok(Drawn::Cancelled);
        }
    }
    for kind in &begun.planners {
        steps.progress(Progress::Planning { kind: *kind });
        if is_cancelled(&steps.plan(part(*kind)).await?) {
            return Ok(Drawn::Cancelled);
        }
    }
    steps.progress(Progress::Sealing);
    steps.seal(begun.run.clone()).await.map(Drawn::Sealed)
}

fn is_cancelled(done: &PartDone) -> bool {
    done.halt == Some(Halt::Cancelled)
}

/// Waits for a person. The run holds nothing meanwhile. Answers how the run ends, if it ends here.
async fn review<S: Steps>(steps: &mut S, begun: &Begun) -> Result<Option<RunState>, StepError> {
    let run = &begun.run;
    if begun.state != RunState::AwaitingReview {
        steps.park_for_review(run.clone()).await?;
    }
    steps.progress(Progress::Waiting(WaitFor::Review));
    loop {
        let look = steps.look(run.clone()).await?;
        if look.cancel {
            return Ok(Some(RunState::Cancelled));
        }
        if look.approved || look.rejected {
            steps.settle_review(SettleReview { run: run.clone(), reject_all: look.rejected }).await?;
            return Ok(look.rejected.then_some(RunState::Cancelled));
        }
        if look.is_over {
            return Ok(Some(RunState::Abandoned));
        }
        steps.wait(WaitFor::Review, LOOK_EVERY).await?;
    }
}

/// Carries the plan out, stretch by stretch.
pub(crate) async fn carry_out<S: Steps>(steps: &mut S, begun: &Begun, sealed: Sealed) -> Result<RunState, StepError> {
    let run = &begun.run;
    let mut next = sealed.next;
    let mut done = sealed.ops_total - sealed.ops_left;
    let mut waits = 0;
    while let Some(stretch) = next {
        steps.progress(Progress::Applying { done, total: sealed.ops_total, label: stretch.label.clone() });
        let applied = steps.apply(run.clone(), stretch).await?;
        done = applied.ops_done;
        next = applied.next;
        // After every stretch, so that recall is never long behind; the last one's is told at the end.
        if begun.has_graph && next.is_some() {
            steps.progress(Progress::Mirroring);
            drain(steps, run).await?;
        }
        match applied.halt {
            None => waits = 0,
            Some(Halt::Cancelled) => return Ok(RunState::Cancelled),
            Some(Halt::Paused) => {
                if pause(steps, run).await? {
                    return Ok(RunState::Cancelled);
                }
            }
            Some(Halt::Stopped { by }) => {
                return Err(failed(
                    Code::ApplyDisabled,
                    format!("the kill switch was set by {by} while the run applied"),
                ));
            }
            Some(Halt::TargetBusy { by }) => {
                waits += 1;
                if waits > TARGET_WAITS_MAX {
                    return Err(failed(Code::Locked, format!("{by} has worked on this namespace for five minutes")));
                }
                steps.progress(Progress::Waiting(WaitFor::Target));
                steps.wait(WaitFor::Target, TARGET_EVERY).await?;
            }
        }
    }
    Ok(RunState::Completed)
}

/// Waits for the end of a pause; answers whether the run was cancelled meanwhile.
async fn pause<S: Steps>(steps: &mut S, run: &RunRef) -> Result<bool, StepError> {
    steps.progress(Progress::Waiting(WaitFor::Unpause));
    loop {
        let look = steps.look(run.clone()).await?;
        if look.cancel || !look.pause {
            return Ok(look.cancel);
        }
        steps.wait(WaitFor::Unpause, LOOK_EVERY).await?;
    }
}

/// Tells the graph database of everything that its time allows.
async fn mirror<S: Steps>(steps: &mut S, run: &RunRef) -> Result<(), StepError> {
    steps.progress(Progress::Mirroring);
    for _round in 0..MIRROR_ROUNDS_MAX {
        if !drain(steps, run).await?.is_more {
            break;
        }
    }
    Ok(())
}

/// Drains once. A drain that fails has left everything, and fails nothing else.
async fn drain<S: Steps>(steps: &mut S, run: &RunRef) -> Result<Mirrored, StepError> {
    match steps.mirror(run.clone()).await {
        Err(StepError::Failed { name, .. }) => Ok(Mirrored { left: 1, reason: Some(name), ..Mirrored::default() }),
        mirrored => mirrored,
    }
}

/// Lets the graph database catch up with what its namespace was owed before this run; waits for it as long as the run may.
async fn catch_up<S: Steps>(steps: &mut S, begun: &Begun) -> Result<(), StepError> {
    let mut waited = 0;
    for _round in 0..MIRROR_ROUNDS_MAX {
        let mirrored = drain(steps, &begun.run).await?;
        if mirrored.is_more {
            continue;
        }
        let is_being_drained = mirrored.reason.as_deref() == Some("another_drainer");
        let wait_max =
            if is_being_drained { begun.graph_wait_seconds.max(DRAINER_SECONDS) } else { begun.graph_wait_seconds };
        if mirrored.left == 0 || waited >= wait_max {
            break;
        }
        steps.progress(Progress::Waiting(WaitFor::Graph));
        steps.wait(WaitFor::Graph, GRAPH_EVERY).await?;
        waited += GRAPH_EVERY.as_secs();
    }
    Ok(())
}

async fn report<S: Steps>(
    steps: &mut S,
    run: RunRef,
    state: RunState,
    failure: Option<String>,
) -> Result<Reported, StepError> {
    steps.progress(Progress::Reporting(state));
    steps.report(Report { run, state, failure }).await
}

pub(crate) fn failed(code: Code, message: impl Into<String>) -> StepError {
    StepError::Failed { name: code.name().to_owned(), message: message.into() }
}
