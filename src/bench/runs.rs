//! Runs, measured: on the local engine with the time of each phase, on a Temporal server as a whole, and planning alone in
//! a process of its own.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use dream_activities::{World, begin, plan, report, seal};
use dream_core::id::RunId;
use dream_core::op::OpKind;
use dream_core::run::{DreamInput, Mode, RunState};
use dream_workflows::contract::{Begin, Part, Report, Reported};
use dream_workflows::dream::Dream;
use dream_workflows::lenient::Lenient;
use dream_workflows::steps::{Progress, StepError};
use serde::{Deserialize, Serialize};
use temporalio_client::{Client, WorkflowGetResultOptions, WorkflowStartOptions};
use uuid::Uuid;

use super::machine::peak_megabytes;
use super::world::NAMESPACE;
use crate::config::{Config, Origin, Sourced};
use crate::worker::{self, Tuning};
use crate::{engine, local, wiring};

/// Connections of the worker: one activity works and renews its lease, the story reads.
const WORKER_CONNECTIONS_MAX: u32 = 8;

/// Activities at once. A run has one at a time.
const ACTIVITIES_MAX: usize = 4;

/// The configuration of a bench: the operator's thresholds, everything switched on, reports where they vanish.
pub(super) fn configured(mut config: Config, reports: &Path) -> Config {
    config.settings.enabled = true;
    config.settings.disable_apply = false;
    config.settings.dedupe_entities_enabled = true;
    config.settings.centroid_recompute_enabled = true;
    config.settings.source_chunk_ids_gc_enabled = true;
    config.stores.clear();
    config.reports = Sourced { value: reports.to_owned(), origin: Origin::Default };
    config
}

fn input(ops: &[OpKind], mode: Mode) -> DreamInput {
    let mut input = DreamInput::of_namespace(NAMESPACE.to_string());
    input.mode = Some(mode);
    input.ops = Some(ops.iter().map(ToString::to_string).collect());
    input
}

fn asked(ops: &[OpKind], mode: Mode) -> Begin {
    Begin { input: input(ops, mode), run_id: Uuid::now_v7().to_string(), engine: "local".to_owned(), workflow_id: None }
}

/// A run and how long its phases took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) run: RunId,
    /// Ops it carried out.
    pub(super) applied: u64,
    /// From the sealed plan to its end.
    pub(super) apply: Duration,
    pub(super) report: Duration,
    pub(super) total: Duration,
}

/// When the phases of a run began.
#[derive(Default)]
struct Marks {
    sealed: Option<Instant>,
    reporting: Option<Instant>,
}

/// Runs on the local engine.
pub(super) async fn locally(world: Arc<World>, ops: &[OpKind]) -> anyhow::Result<Measured> {
    let marks = Arc::new(Mutex::new(Marks::default()));
    let on_progress: local::OnProgress = {
        let marks = marks.clone();
        Arc::new(move |progress| {
            let mut marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
            match progress {
                Progress::Sealed(_) => marks.sealed = Some(Instant::now()),
                Progress::Reporting(_) => marks.reporting = Some(Instant::now()),
                _ => {}
            }
        })
    };
    let started = Instant::now();
    let reported = local::run(world, asked(ops, Mode::Apply), on_progress).await;
    let ended = Instant::now();
    let (run, applied) = outcome(reported)?;
    let marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
    let (sealed, reporting) = marks.sealed.zip(marks.reporting).context("the run skipped its apply")?;
    Ok(Measured { run, applied, apply: reporting - sealed, report: ended - reporting, total: ended - started })
}

/// The id of a run and the ops it applied; whatever else became of one is a mistake of the bench.
fn outcome(reported: Result<Reported, StepError>) -> anyhow::Result<(RunId, u64)> {
    let reported = match reported {
        Ok(reported) if reported.state == RunState::Completed => reported,
        Ok(reported) => bail!("a run of the bench ended {}", reported.state),
        Err(StepError::Failed { name, message }) => bail!("a run of the bench failed with {name}: {message}"),
        Err(_) => bail!("a run of the bench was interrupted"),
    };
    for state in ["failed", "stale"] {
        if let Some(count) = reported.ops.get(state) {
            bail!("{count} ops of a run of the bench were {state}");
        }
    }
    let run = reported.run_id.parse().context("the run has no id")?;
    Ok((run, reported.ops.get("applied").copied().unwrap_or_default().into()))
}

/// Runs on the Temporal server of the environment, with a worker of its own in this process; how long it took from start to
/// result.
pub(super) async fn on_temporal(config: &Config, address: &str, ops: &[OpKind]) -> anyhow::Result<Duration> {
    let tuning = Tuning {
        task_queue: format!("dream-bench-{}", Uuid::now_v7().simple()),
        activities_max: ACTIVITIES_MAX,
        workflows_cached_max: 10,
        grace: Duration::from_secs(10),
    };
    let mut world = wiring::worker_world(config, Some(address), WORKER_CONNECTIONS_MAX).await?;
    let client = engine::connect("dream bench").await?;
    world.has_search_attributes = engine::ensure_search_attributes(&client).await;
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let (stop, is_stopped) = tokio::sync::oneshot::channel::<()>();
    let told = async {
        // A sender that is gone wants it stopped as well.
        let _told = is_stopped.await;
    };
    let working = worker::run_until(told, Arc::new(world), client.clone(), &tuning, || {
        let _waiting = ready.send(());
    });
    let asking = async {
        is_ready.await.context("the worker of the bench did not start")?;
        let took = ask(&client, &tuning.task_queue, ops).await;
        drop(stop);
        took
    };
    let (worked, took) = futures::future::join(working, asking).await;
    worked?;
    took
}

async fn ask(client: &Client, queue: &str, ops: &[OpKind]) -> anyhow::Result<Duration> {
    let id = format!("{queue}/{}", Uuid::now_v7());
    let options = WorkflowStartOptions::new(queue.to_owned(), id).build();
    let started = Instant::now();
    let handle = client.start_workflow(Dream::run, Lenient::Ok(input(ops, Mode::Apply)), options).await?;
    let reported = handle.get_result(WorkflowGetResultOptions::default()).await?;
    let took = started.elapsed();
    outcome(Ok(reported))?;
    Ok(took)
}

/// What planning alone took, as the process that did it says.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Planned {
    pub(super) seconds: f64,
    pub(super) peak_megabytes: f64,
    pub(super) ops: u32,
}

/// The variable that carries the store's address to the child: an argument could be read by everybody on the machine.
const STORE_VARIABLE: &str = "DREAM_STORE";

/// Plans dedupe in a process of its own, so that its memory is its own.
pub(super) async fn plan_apart(address: &str) -> anyhow::Result<Planned> {
    let output = tokio::process::Command::new(std::env::current_exe()?)
        .args(["bench", "--plan-only"])
        .env(STORE_VARIABLE, address)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .await?;
    serde_json::from_slice(&output.stdout).context("the process that planned did not say how long it took")
}

/// The work of that process: one dry run that stops after its plan is drawn up and written.
pub(crate) async fn plan_only(config: Config) -> anyhow::Result<impl Serialize> {
    let address = config.stores.get("default").map(|store| store.value.url.clone());
    let address = address.with_context(|| format!("{STORE_VARIABLE} is not set"))?;
    let reports = tempfile::tempdir()?;
    let world = wiring::world(&configured(config, reports.path()), Some(&address)).await?;
    let begun = begin::begin(&world, asked(&[OpKind::DedupeEntities], Mode::DryRun)).await?;
    let part = Part { run: begun.run.clone(), kind: OpKind::DedupeEntities };
    let started = Instant::now();
    let done = plan::plan(&world, part).await?;
    let planned =
        Planned { seconds: started.elapsed().as_secs_f64(), peak_megabytes: peak_megabytes(), ops: done.count };
    seal::seal(&world, begun.run.clone()).await?;
    report::report(&world, Report { run: begun.run, state: RunState::Completed, failure: None }).await?;
    Ok(planned)
}
