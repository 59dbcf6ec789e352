//! What people ask of a space's dreams, whichever face it comes through: start one, hand in the answer.
//!
//! **Invariant:** an answer is a row before anybody goes on with it. On the local engine going on is telling the story again in
//! this process; on Temporal it is waking the workflow, which looks by itself too.

use std::sync::Arc;
use std::time::Duration;

use dream_activities::space::answer::{Submitted, submit as take_answer};
use dream_activities::space::due::{Judgement, dream_of_night, due_page, purge};
use dream_activities::space::report::space_run;
use dream_activities::{World, begin};
use dream_core::clock::Moment;
use dream_core::failure::Code;
use dream_core::id::{NamespaceId, RunId};
use dream_core::realm::space::due::{NotDue, SPREAD_SECONDS};
use dream_core::realm::space::report::SpaceRun;
use dream_core::run::DreamInput;
use dream_ports::Store;
use dream_ports::run::RunRecord;
use dream_workflows::contract::{Begin, Reported};
use dream_workflows::steps::StepError;
use serde::Serialize;
use uuid::Uuid;

use crate::exit::Fault;
use crate::requests::LOCAL;
use crate::{engine, local};

/// How long whoever submits waits for a workflow to carry the answer out, and how often it is looked at.
const CARRIED_OUT_WITHIN: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How a run over a space left whoever told its story.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// It is over.
    Over(Reported),
    /// It waits for an answer.
    Waiting,
}

/// Tells the story of a run in this process.
pub(crate) async fn tell(world: Arc<World>, input: DreamInput) -> Result<Told, Fault> {
    let run_id = input.run_id.unwrap_or_else(Uuid::now_v7);
    let begin = Begin { input, run_id: run_id.to_string(), engine: LOCAL.to_owned(), workflow_id: None };
    match local::run(world, begin, Arc::new(|_progress| {})).await {
        Ok(reported) => Ok(Told::Over(reported)),
        Err(StepError::Suspended) => Ok(Told::Waiting),
        Err(StepError::Cancelled) => Err(Fault::new(Code::WrongState, format!("run {run_id} was cancelled"))),
        Err(StepError::Failed { name, message }) => {
            Err(Fault::new(Code::named(&name).unwrap_or(Code::Defect), message))
        }
    }
}

/// Hands an answer in and goes on with its run; answers the run as it stands then.
pub(crate) async fn submit(world: &Arc<World>, store: &str, run: RunId, answer: &[u8]) -> Result<SpaceRun, Fault> {
    let handle = world.store(store)?;
    match take_answer(handle, run, answer).await? {
        Submitted::Over(report) => Ok(*report),
        Submitted::Taken(record) => {
            go_on(world, store, &record).await?;
            Ok(space_run(handle, run).await?)
        }
    }
}

/// Goes on with a run whose answer stands.
async fn go_on(world: &Arc<World>, store: &str, record: &RunRecord) -> Result<(), Fault> {
    if record.engine == LOCAL {
        let mut input = begin::input_of(record)?;
        input.run_id = Some(record.run.0);
        input.resume_from = None;
        input.abandon = None;
        store.clone_into(&mut input.store);
        tell(world.clone(), input).await?;
        return Ok(());
    }
    engine::wake(None, record.workflow_id.as_deref()).await;
    let carried_out = async {
        while world.store(store)?.store.run(record.run).await?.finished_at.is_none() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    };
    // The workflow goes on by itself: who waits no longer loses nothing but the report.
    tokio::time::timeout(CARRIED_OUT_WITHIN, carried_out).await.unwrap_or(Ok(()))
}

/// Wakes the workflows of runs that were closed under them, so that they end now and not at their next look.
pub(crate) async fn wake_closed(store: &dyn Store, runs: &[RunId]) -> Result<(), Fault> {
    for run in runs {
        let record = store.run(*run).await?;
        if record.engine != LOCAL {
            engine::wake(None, record.workflow_id.as_deref()).await;
        }
    }
    Ok(())
}

/// What a check for due dreams came to.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct DueDone {
    /// Spaces whose dream was started.
    pub(crate) started: Vec<NamespaceId>,
    /// Spaces whose dream could not be started, and why.
    pub(crate) failed: Vec<(NamespaceId, String)>,
    /// Spaces that carry a time zone that nobody knows.
    pub(crate) unknown_zone: Vec<NamespaceId>,
    /// Spaces that are not due.
    pub(crate) not_due: u64,
    /// Undo records that were purged.
    pub(crate) undo_purged: u32,
}

/// Starts what is due, on the local engine, one after the other. A space that fails stops none behind it.
pub(crate) async fn start_due(world: &Arc<World>, store: &str) -> Result<DueDone, Fault> {
    let handle = world.store(store)?;
    let mut done = DueDone { undo_purged: purge(handle).await?, ..DueDone::default() };
    let now: Moment = handle.store.now().await?;
    let mut after = None;
    loop {
        let (page, is_more) = due_page(handle, after, now, SPREAD_SECONDS).await?;
        after = page.last().map(|judged| judged.space);
        for Judgement { space, due } in page {
            match due {
                Err(NotDue::UnknownZone) => done.unknown_zone.push(space),
                Err(_) => done.not_due += 1,
                // The starts before it took their time: each asks when it begins whether it is still due.
                Ok(due) => match tell(world.clone(), dream_of_night(store, space, due.night)).await {
                    Ok(_) => done.started.push(space),
                    Err(fault) if matches!(fault.code(), Code::AwaitingClient | Code::NotDue) => done.not_due += 1,
                    Err(fault) => done.failed.push((space, fault.to_string())),
                },
            }
        }
        if !is_more {
            return Ok(done);
        }
    }
}
