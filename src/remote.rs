//! A dream on a Temporal server: started there, and watched from here until it is over, waits for a person, or nobody wants
//! to watch any longer. The workflow needs no watcher.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use dream_core::failure::Code;
use dream_core::run::{DreamInput, RunState};
use dream_workflows::contract::{DueChecked, DueInput, ProgressView, Reported};
use dream_workflows::dream::Dream;
use dream_workflows::due::DueDreams;
use dream_workflows::lenient::Lenient;
use indicatif::ProgressBar;
use temporalio_client::errors::{WorkflowGetResultError, WorkflowStartError};
use temporalio_client::tonic::IntoRequest as _;
use temporalio_client::{Client, WorkflowGetResultOptions, WorkflowHandle, WorkflowQueryOptions, WorkflowStartOptions};
use temporalio_common::error::IncomingError;
use temporalio_common::protos::temporal::api::enums::v1::TaskQueueType;
use temporalio_common::protos::temporal::api::taskqueue::v1::TaskQueue;
use temporalio_common::protos::temporal::api::workflowservice::v1::DescribeTaskQueueRequest;
use uuid::Uuid;

use crate::exit::Fault;
use crate::outcome::{Outcome, Parked};
use crate::signals::told_to_stop;
use crate::{engine, term};

/// How often a run on a Temporal server is asked where it is.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long a run may be silent at first before it is asked whether anybody works for its queue. A worker that is there
/// takes it up within a second.
const FIRST_PROGRESS_WITHIN: Duration = Duration::from_secs(10);

/// A worker polls again at least every minute; the server remembers one that is gone for longer.
const POLL_EVERY_MAX: Duration = Duration::from_secs(90);

/// What is known of the run so far: its id, and nothing before a worker has taken it up.
#[derive(Default)]
struct Seen {
    is_taken_up: bool,
    run_id: Option<String>,
}

/// What is seen is written whole, so that it can be read whatever became of the writer.
fn locked(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a dream on a Temporal server, under this workflow id.
pub(crate) async fn run(input: DreamInput, id: &str, bar: &ProgressBar) -> Result<Outcome, Fault> {
    let client = engine::connect("dream run").await?;
    let queue = engine::task_queue();
    let options = WorkflowStartOptions::new(queue.clone(), id.to_owned())
        .static_summary(format!("dream over {} {}", input.realm, input.namespace))
        .build();
    let started = client.start_workflow(Dream::run, Lenient::Ok(input), options).await;
    started.map_err(|error| start_fault(id, &error))?;
    term::note(&format!("workflow {id}"));
    let handle = client.get_workflow_handle::<Dream>(id.to_owned());
    let seen = Mutex::new(Seen::default());
    tokio::select! {
        done = handle.get_result(WorkflowGetResultOptions::default()) => ended(done, id),
        view = watch(&handle, &seen, bar) => Ok(Outcome::Parked(Parked {
            run_id: view.run_id,
            state: if view.waiting_for.as_deref() == Some("answer") {
                RunState::AwaitingClient
            } else {
                RunState::AwaitingReview
            },
            plan_hash: view.plan_hash,
            ops_total: view.ops_total,
        })),
        never = say_if_nobody_polls(&client, &queue, &seen) => match never {},
        Ok(_signal) = told_to_stop() => Ok(Outcome::Unreported(left_alone(id, &locked(&seen)))),
    }
}

/// Has the spaces of a store checked for due dreams on a Temporal server.
pub(crate) async fn check_due(store: &str) -> Result<DueChecked, Fault> {
    let client = engine::connect("dream due").await?;
    let (queue, id) = (engine::task_queue(), format!("dream-due/by-hand/{}", Uuid::now_v7()));
    let options = WorkflowStartOptions::new(queue.clone(), id.clone())
        .static_summary("start the dreams that are due".to_owned())
        .build();
    let input = DueInput { store: store.to_owned(), ..DueInput::default() };
    let started = client.start_workflow(DueDreams::run, Lenient::Ok(Some(input)), options).await;
    let handle = started.map_err(|error| start_fault(&id, &error))?;
    term::note(&format!("workflow {id}"));
    let seen = Mutex::new(Seen::default());
    let done = tokio::select! {
        done = handle.get_result(WorkflowGetResultOptions::default()) => done,
        never = say_if_nobody_polls(&client, &queue, &seen) => match never {},
        Ok(_signal) = told_to_stop() => {
            let message = format!("workflow {id} goes on without this command; `temporal workflow show -w {id}` tells how");
            return Err(Fault::new(Code::EngineUnavailable, message));
        }
    };
    done.map_err(|error| match error {
        WorkflowGetResultError::Failed(failure) => failed(&failure, &id),
        _ => Fault::new(Code::EngineUnavailable, format!("workflow {id} was ended from outside")),
    })
}

/// Shows where the run is, until it waits for a review or for an answer.
async fn watch(handle: &WorkflowHandle<Client, Dream>, seen: &Mutex<Seen>, bar: &ProgressBar) -> ProgressView {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Ok(view) = handle.query(Dream::progress, (), WorkflowQueryOptions::default()).await else { continue };
        let is_news = {
            let mut seen = locked(seen);
            seen.is_taken_up = true;
            let is_news = seen.run_id.is_none() && !view.run_id.is_empty();
            if is_news {
                seen.run_id = Some(view.run_id.clone());
            }
            is_news
        };
        if is_news {
            term::note(&format!("run {}", view.run_id));
        }
        term::set_total(bar, u64::from(view.ops_total));
        bar.set_position(u64::from(view.ops_done));
        bar.set_message(format!("{} {}", view.phase, view.what));
        if matches!(view.waiting_for.as_deref(), Some("review" | "answer")) {
            return view;
        }
    }
}

/// Says, once, that nobody will take the run up as things stand.
async fn say_if_nobody_polls(client: &Client, queue: &str, seen: &Mutex<Seen>) -> Infallible {
    loop {
        tokio::time::sleep(FIRST_PROGRESS_WITHIN).await;
        if locked(seen).is_taken_up {
            break;
        }
        if is_polled(client, queue).await == Some(false) {
            term::note(&format!(
                "no worker polls the task queue {queue}, and the workflow waits for one; start `dream worker`, or set \
                 DREAM_TASK_QUEUE to the queue that workers poll"
            ));
            break;
        }
    }
    std::future::pending().await
}

/// Whether a worker has polled the queue of late; none where the server does not say.
pub(crate) async fn is_polled(client: &Client, queue: &str) -> Option<bool> {
    let request = DescribeTaskQueueRequest {
        namespace: client.options().namespace.clone(),
        task_queue: Some(TaskQueue { name: queue.to_owned(), ..TaskQueue::default() }),
        task_queue_type: TaskQueueType::Workflow.into(),
        ..DescribeTaskQueueRequest::default()
    };
    let described = client.connection().workflow_service().describe_task_queue(request.into_request()).await.ok()?;
    let long_ago = SystemTime::now().checked_sub(POLL_EVERY_MAX)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let mut polled = described.into_inner().pollers.into_iter().filter_map(|poller| poller.last_access_time);
    Some(polled.any(|at| u64::try_from(at.seconds).is_ok_and(|seconds| seconds >= long_ago.as_secs())))
}

fn left_alone(id: &str, seen: &Seen) -> String {
    match &seen.run_id {
        Some(run) => format!(
            "workflow {id} goes on without this command; `dream cancel {run}` or `temporal workflow cancel --workflow-id \
             {id}` cancels it"
        ),
        None => format!(
            "workflow {id} goes on without this command; `temporal workflow cancel --workflow-id {id}` cancels it"
        ),
    }
}

fn start_fault(id: &str, error: &WorkflowStartError) -> Fault {
    match error {
        WorkflowStartError::AlreadyStarted { .. } => {
            Fault::new(Code::InvalidInput, format!("workflow_id: a workflow with the id {id} is under way already"))
        }
        WorkflowStartError::Rpc(status) => Fault::new(
            Code::EngineUnavailable,
            format!("workflow {id} cannot be started: {} ({:?})", status.message(), status.code()),
        ),
        WorkflowStartError::PayloadConversion(_) => {
            Fault::new(Code::Defect, format!("the input of workflow {id} cannot be spelled"))
        }
        _ => Fault::new(Code::EngineUnavailable, format!("workflow {id} cannot be started")),
    }
}

fn ended(done: Result<Reported, WorkflowGetResultError>, id: &str) -> Result<Outcome, Fault> {
    let unreported = |how: &str| {
        Ok(Outcome::Unreported(format!(
            "workflow {id} {how}, so that its run is not closed and may keep others out for ten minutes; `dream status` \
             lists it"
        )))
    };
    match done {
        Ok(reported) => Ok(Outcome::Over(reported)),
        // A run that was cancelled through the engine reports all the same.
        Err(WorkflowGetResultError::Cancelled { details }) => Ok(details.deserialize().map_or_else(
            |_| Outcome::Unreported(format!("workflow {id} was cancelled before its run began; nothing was done")),
            Outcome::Over,
        )),
        Err(WorkflowGetResultError::Failed(failure)) => Err(failed(&failure, id)),
        Err(WorkflowGetResultError::Terminated { .. }) => unreported("was terminated"),
        Err(WorkflowGetResultError::TimedOut) => unreported("ran into a time-out of its own"),
        Err(WorkflowGetResultError::PayloadConversion(_)) => {
            let message = format!("the answer of workflow {id} cannot be read; is its worker of another version?");
            Err(Fault::new(Code::Defect, message))
        }
        Err(_) => {
            let message = format!("the Temporal server no longer says how workflow {id} goes on");
            Err(Fault::new(Code::EngineUnavailable, message))
        }
    }
}

fn failed(failure: &IncomingError, id: &str) -> Fault {
    match failure {
        IncomingError::Application(cause) => fault(cause.type_name().unwrap_or_default(), &cause.to_string()),
        other => Fault::new(Code::Defect, format!("workflow {id} failed: {other}")),
    }
}

/// The failure that ended a workflow. The message of one that comes from an activity has code and advice already; they are
/// taken off, because whoever prints a fault says them.
fn fault(name: &str, message: &str) -> Fault {
    let code = Code::named(name).unwrap_or(Code::Defect);
    let said = message.find(&format!(" ({code} {})", code.name())).unwrap_or(message.len());
    Fault::new(code, &message[..said])
}

#[cfg(test)]
mod tests {
    use dream_core::failure::Failure;

    use super::*;

    #[test]
    fn code_and_advice_of_a_workflows_failure_are_said_once() {
        let failure = Failure::new(Code::Locked, "run 7 works on this namespace");
        let told = fault(Code::Locked.name(), &failure.to_string()).to_string();
        assert_eq!(told, failure.to_string());
        let plain = fault(Code::Locked.name(), &failure.message).to_string();
        assert_eq!(plain, failure.to_string());
        assert!(fault("SomethingElse", "what").to_string().starts_with("what (DREAM-9001 Defect)"));
    }

    #[test]
    fn whoever_leaves_a_workflow_alone_is_told_how_to_cancel_it() {
        let mut seen = Seen::default();
        assert!(left_alone("w", &seen).contains("temporal workflow cancel --workflow-id w"));
        seen.run_id = Some("r".to_owned());
        assert!(left_alone("w", &seen).contains("dream cancel r"));
    }
}
