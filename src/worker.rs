//! The worker: one visible chain of registrations, and a shutdown that lets activities end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dream_activities::World;
use dream_activities::temporal::Activities;
use dream_core::failure::Code;
use dream_workflows::dream::Dream;
use dream_workflows::due::DueDreams;
use dream_workflows::reconcile::ReconcileMirror;
use dream_workflows::start::{DreamAll, StartDream};
use dream_workflows::sweep::SweepRetention;
use dream_workflows::undo::UndoDream;
use temporalio_client::Client;
use temporalio_sdk::runtime::RuntimeOptions;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio_util::sync::CancellationToken;

use crate::exit::Fault;
use crate::signals::told_to_stop;
use crate::starter::ClientStarter;

/// How a worker is tuned.
#[derive(Clone, Debug)]
pub(crate) struct Tuning {
    /// The queue it polls.
    pub(crate) task_queue: String,
    /// Activities at once.
    pub(crate) activities_max: usize,
    /// Workflows kept in memory.
    pub(crate) workflows_cached_max: usize,
    /// How long running activities may take to end after a SIGTERM.
    pub(crate) grace: Duration,
}

/// Workflow tasks at once. They take milliseconds.
const WORKFLOW_TASKS_MAX: usize = 40;

/// How soon a sign of life reaches the server, so that little is done twice after a crash.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(1);

/// How long activities that were cut off may take to say so. Whoever waits for this process kills it soon after.
const OVERDUE_AFTER_GRACE: Duration = Duration::from_secs(3);

/// Runs a worker until the process is told to stop; `ready` is told once it polls.
pub(crate) async fn run(world: Arc<World>, client: Client, tuning: &Tuning, ready: impl FnOnce()) -> Result<(), Fault> {
    let told = async {
        if let Ok(signal) = told_to_stop().await {
            tracing::info!(signal, "told to stop; running activities may end");
        } else {
            // Without signals only a kill ends it.
            std::future::pending::<()>().await;
        }
    };
    run_until(told, world, client, tuning, ready).await
}

/// Runs a worker until `told` is over.
pub(crate) async fn run_until(
    told: impl Future<Output = ()> + Send + 'static,
    world: Arc<World>,
    client: Client,
    tuning: &Tuning,
    ready: impl FnOnce(),
) -> Result<(), Fault> {
    let defect = |what: &str| Fault::new(Code::Defect, format!("the worker cannot be made: {what}"));
    let options = RuntimeOptions::builder().build().map_err(|error| defect(&error))?;
    let runtime = Runtime::from_current_tokio(options).map_err(|error| defect(&error.to_string()))?;
    let slots = |count| FixedSizeSlotSupplier::new(count);
    let options = WorkerOptions::new(tuning.task_queue.clone())
        .register_activities(Activities {
            world: world.clone(),
            starter: Arc::new(ClientStarter::new(client.clone(), &tuning.task_queue)),
        })
        .register_workflow::<Dream>()
        .map_err(|error| defect(&error.to_string()))?
        .register_workflow::<DreamAll>()
        .map_err(|error| defect(&error.to_string()))?
        .register_workflow::<DueDreams>()
        .map_err(|error| defect(&error.to_string()))?
        .register_workflow::<ReconcileMirror>()
        .map_err(|error| defect(&error.to_string()))?
        .register_workflow::<StartDream>()
        .map_err(|error| defect(&error.to_string()))?
        .register_workflow::<SweepRetention>()
        .map_err(|error| defect(&error.to_string()))?
        .register_workflow::<UndoDream>()
        .map_err(|error| defect(&error.to_string()))?
        .max_cached_workflows(tuning.workflows_cached_max)
        .tuner(
            TunerHolder::builder()
                .workflow_task_slot_supplier(slots(WORKFLOW_TASKS_MAX))
                .activity_task_slot_supplier(slots(tuning.activities_max))
                .local_activity_task_slot_supplier(slots(1))
                .nexus_task_slot_supplier(slots(1))
                .build(),
        )
        .graceful_shutdown_period(tuning.grace)
        .max_heartbeat_throttle_interval(SIGN_OF_LIFE_EVERY)
        .default_heartbeat_throttle_interval(SIGN_OF_LIFE_EVERY)
        .build();
    let mut worker = Worker::new(&runtime, client, options).map_err(|error| defect(&error.to_string()))?;
    let stop = worker.shutdown_handle();
    let stopping = world.stopping.clone();
    let told_stop = stopping.clone();
    tokio::spawn(async move {
        told.await;
        told_stop.cancel();
        stop();
    });
    ready();
    tokio::select! {
        ended = worker.run() => {
            ended.map_err(|error| Fault::new(Code::EngineUnavailable, format!("the worker stopped: {error}")))?;
        }
        () = overdue(&stopping, tuning.grace) => {
            world.cut_off.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// Ends when a worker that was told to stop should long be gone.
async fn overdue(stopping: &CancellationToken, grace: Duration) {
    stopping.cancelled().await;
    tokio::time::sleep(grace + OVERDUE_AFTER_GRACE).await;
}
