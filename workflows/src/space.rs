//! The part of a story that only a space has: housekeeping, then a question to a model and what its answer comes to.
//!
//! **Invariant:** while an answer is waited for, the run holds nothing; housekeeping is carried out before the question is
//! written, so the model never sees what it took away.

use std::time::Duration;

use dream_core::failure::Code;
use dream_core::realm::space::fact::DreamMode;
use dream_core::run::{Mode, RunState};

use crate::contract::{Begun, Halt, Judged, Sealed, SpaceLeft};
use crate::steps::{Progress, StepError, Steps, WaitFor};
use crate::story::{TARGET_EVERY, TARGET_WAITS_MAX, carry_out, failed};

/// How long an answer is waited for before the store is looked at again, should the wake-up have been lost. Whoever submits
/// one wakes the run; what this bounds is the history of a run that nobody answers for a day.
const ANSWER_EVERY: Duration = Duration::from_mins(10);

/// Tells what is left of a run over a space; answers how it ends.
pub(crate) async fn tell<S: Steps>(steps: &mut S, begun: &Begun, left: &SpaceLeft) -> Result<RunState, StepError> {
    let tidied = match &begun.sealed {
        Some(sealed) if left.is_tidied => sealed.clone(),
        _ => steps.tidy(begun.run.clone()).await?,
    };
    steps.progress(Progress::Sealed(tidied.clone()));
    if begun.mode == Mode::DryRun {
        return Ok(RunState::Completed);
    }
    let tidied = carry_out(steps, begun, tidied).await?;
    if tidied != RunState::Completed || left.is_judged || left.mind == DreamMode::Off {
        return Ok(tidied);
    }
    if !steps.ask(begun.run.clone()).await?.is_asked {
        return Ok(RunState::Completed);
    }
    if let Some(end) = wait_for_answer(steps, begun).await? {
        return Ok(end);
    }
    match judge(steps, begun).await? {
        Some(judged) => {
            steps.progress(Progress::Sealed(judged.clone()));
            carry_out(steps, begun, judged).await
        }
        None => Ok(RunState::Cancelled),
    }
}

/// Waits until the question is answered; answers how the run ends, if it ends here.
async fn wait_for_answer<S: Steps>(steps: &mut S, begun: &Begun) -> Result<Option<RunState>, StepError> {
    loop {
        let look = steps.look(begun.run.clone()).await?;
        if let Some(state) = look.closed {
            return Ok(Some(state));
        }
        if look.cancel {
            return Ok(Some(RunState::Cancelled));
        }
        if look.is_answered {
            return Ok(None);
        }
        steps.progress(Progress::Waiting(WaitFor::Client));
        steps.wait(WaitFor::Client, ANSWER_EVERY).await?;
    }
}

/// Judges the answer as soon as the space is free; none if the run was cancelled meanwhile.
async fn judge<S: Steps>(steps: &mut S, begun: &Begun) -> Result<Option<Sealed>, StepError> {
    for _wait in 0..TARGET_WAITS_MAX {
        match steps.judge(begun.run.clone()).await? {
            Judged { sealed: Some(sealed), .. } => return Ok(Some(sealed)),
            Judged { halt: Some(Halt::TargetBusy { .. }), .. } => {
                steps.progress(Progress::Waiting(WaitFor::Target));
                steps.wait(WaitFor::Target, TARGET_EVERY).await?;
            }
            Judged { .. } => return Ok(None),
        }
    }
    Err(failed(Code::Locked, "somebody else has worked on this space for five minutes"))
}
