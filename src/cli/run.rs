//! `dream run`

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};
use dream_core::run::{DreamInput, Expertise, Mode, Scope, Trigger};
use dream_workflows::contract::{Begin, Reported};
use dream_workflows::dream::Dream;
use dream_workflows::lenient::Lenient;
use dream_workflows::steps::{Progress, StepError, WaitFor};
use indicatif::ProgressBar;
use temporalio_client::errors::WorkflowGetResultError;
use temporalio_client::{WorkflowGetResultOptions, WorkflowQueryOptions, WorkflowStartOptions};
use temporalio_common::error::IncomingError;
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::Exit;
use crate::local::OnProgress;
use crate::{engine, local, term, wiring};

#[derive(Debug, Subcommand)]
pub(crate) enum Run {
    /// Dreams over a Khora namespace: entities, relationships, chunks.
    Graph(Box<Graph>),
}

#[derive(Debug, Args)]
pub(crate) struct Graph {
    /// The namespace, by its stable id or its row id.
    #[arg(long)]
    pub(crate) namespace: String,
    /// What the run may do; a dry run if it is not said.
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// Ops to run, by wire name and separated by commas; all that are switched on if it is not said.
    #[arg(long, value_delimiter = ',')]
    pub(crate) ops: Option<Vec<String>>,
    /// Only rows written at or after this moment may change.
    #[arg(long)]
    pub(crate) since: Option<Moment>,
    /// Only rows written before this moment may change.
    #[arg(long)]
    pub(crate) until: Option<Moment>,
    /// Only these entities, and relationships that touch them, may change.
    #[arg(long, value_delimiter = ',')]
    pub(crate) entity_ids: Option<Vec<Uuid>>,
    /// Only rows extracted from these documents may change.
    #[arg(long, value_delimiter = ',')]
    pub(crate) document_ids: Option<Vec<Uuid>>,
    /// Carries out the plan that this dry run sealed.
    #[arg(long)]
    pub(crate) plan_of: Option<Uuid>,
    /// Refuses to apply any other plan than the one with this hash.
    #[arg(long)]
    pub(crate) expected_plan_hash: Option<String>,
    /// Goes on with this run where it stopped.
    #[arg(long, conflicts_with = "plan_of")]
    pub(crate) resume: Option<Uuid>,
    /// Closes this stuck run first; what it applied stays and can be undone.
    #[arg(long)]
    pub(crate) abandon: Option<Uuid>,
    /// A file that declares types, as YAML, TOML or JSON.
    #[arg(long)]
    pub(crate) expertise: Option<PathBuf>,
    /// Runs although KHORA_DREAM_ENABLED is off.
    #[arg(long)]
    pub(crate) enable: bool,
    /// Removes references although more than half of them look dead.
    #[arg(long)]
    pub(crate) force_liveness: bool,
    /// The id of the run; made if it is not said.
    #[arg(long, hide = true)]
    pub(crate) run_id: Option<Uuid>,
    /// Says that a timer starts this run.
    #[arg(long)]
    pub(crate) scheduled: bool,
    /// Who runs it: a Temporal server, or this process; a server where TEMPORAL_ADDRESS is set.
    #[arg(long)]
    pub(crate) on: Option<Engine>,
    /// The workflow's id on a Temporal server.
    #[arg(long)]
    pub(crate) workflow_id: Option<String>,
    /// Answers as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArg,
}

/// Who runs a dream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    /// A Temporal server and its workers.
    Temporal,
    /// This process.
    Local,
}

impl Run {
    pub(crate) async fn run(self, config: Config) -> anyhow::Result<Exit> {
        let Self::Graph(graph) = self;
        let json = graph.json;
        let begin = graph.begin(&config)?;
        if begin.input.enable && !config.settings.enabled {
            term::note("dreaming over graph namespaces is switched off here; --enable switches it on for this run");
        }
        let is_remote = graph.on.map_or_else(engine::is_configured, |engine| engine == Engine::Temporal);
        if is_remote {
            let id = graph.workflow_id.unwrap_or_else(|| format!("dream/graph/{}/{}", begin.input.namespace, begin.run_id));
            return finish(remotely(begin.input, id).await?, json);
        }
        let world = Arc::new(wiring::world(&config, graph.store.store.as_deref()).await?);
        finish(locally(world, begin).await, json)
    }
}

/// Says how a run ended.
fn finish(outcome: Result<Reported, StepError>, json: bool) -> anyhow::Result<Exit> {
    match outcome {
        Ok(reported) => {
            if json {
                term::json(&reported)?;
            } else {
                summary(&reported);
            }
            Ok(Exit::Done)
        }
        Err(StepError::Suspended) => {
            term::note("the plan waits for a person; look at it with `dream review RUN`");
            Ok(Exit::Waiting)
        }
        Err(StepError::Cancelled) => Ok(Exit::Failed),
        Err(StepError::Failed { name, message }) => {
            Err(Failure::new(Code::named(&name).unwrap_or(Code::Defect), message).into())
        }
    }
}

/// Prints what became of a run's ops.
pub(crate) fn summary(reported: &Reported) {
    term::line(&format!("run {} is {}", reported.run_id, reported.state));
    let counts: Vec<String> = reported.ops.iter().map(|(state, count)| format!("{count} {state}")).collect();
    if !counts.is_empty() {
        term::line(&format!("ops: {}", counts.join(", ")));
    }
    if let Some(hash) = &reported.plan_hash {
        term::line(&format!("plan: {hash}"));
    }
    if let Some(path) = &reported.report_path {
        term::line(&format!("report: {path}"));
    }
}

/// Runs a dream in this process, with a bar.
pub(crate) async fn locally(
    world: Arc<dream_activities::World>,
    begin: Begin,
) -> Result<Reported, StepError> {
    let bar = term::bar();
    let on_progress: OnProgress = {
        let bar = bar.clone();
        Arc::new(move |progress| show(&bar, &progress))
    };
    let outcome = local::run(world, begin, on_progress).await;
    bar.finish_and_clear();
    outcome
}

/// How often a run on a Temporal server is asked where it is.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// Runs a dream on a Temporal server, with a bar.
async fn remotely(input: DreamInput, id: String) -> anyhow::Result<Result<Reported, StepError>> {
    let client = engine::connect("dream run").await?;
    let options = WorkflowStartOptions::new(engine::task_queue(), id.clone())
        .static_summary(format!("dream over {} {}", input.realm, input.namespace))
        .build();
    let handle = client
        .start_workflow(Dream::run, Lenient::Ok(input), options)
        .await
        .map_err(|error| Failure::new(Code::EngineUnavailable, format!("workflow {id} cannot be started: {error}")))?;
    term::note(&format!("workflow {id}"));
    let bar = term::bar();
    let looking = async {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Ok(view) = handle.query(Dream::progress, (), WorkflowQueryOptions::default()).await {
                bar.set_length(u64::from(view.ops_total));
                bar.set_position(u64::from(view.ops_done));
                bar.set_message(format!("{} {}", view.phase, view.what));
                if view.waiting_for.as_deref() == Some("review") {
                    return view;
                }
            }
        }
    };
    let outcome = tokio::select! {
        done = handle.get_result(WorkflowGetResultOptions::default()) => done.map_err(|error| result_error(&error)),
        _view = looking => Err(StepError::Suspended),
    };
    bar.finish_and_clear();
    Ok(outcome)
}

fn result_error(error: &WorkflowGetResultError) -> StepError {
    match error {
        WorkflowGetResultError::Failed(failure) => {
            let IncomingError::Application(cause) = failure.as_ref() else {
                return StepError::Failed { name: String::new(), message: failure.to_string() };
            };
            StepError::Failed { name: cause.type_name().unwrap_or_default().to_owned(), message: cause.to_string() }
        }
        WorkflowGetResultError::Cancelled { .. } => StepError::Cancelled,
        _ => StepError::Failed {
            name: Code::EngineUnavailable.name().to_owned(),
            message: "the Temporal server does not say how the run ended".to_owned(),
        },
    }
}

fn show(bar: &ProgressBar, progress: &Progress) {
    match progress {
        Progress::Auditing { kind } | Progress::Planning { kind } => bar.set_message(format!("looking: {}", kind.title())),
        Progress::Sealing => bar.set_message("sealing the plan"),
        Progress::Sealed(sealed) => bar.set_length(u64::from(sealed.ops_total)),
        Progress::Waiting(WaitFor::Review) => bar.set_message("waiting for a review"),
        Progress::Waiting(WaitFor::Unpause) => bar.set_message("paused"),
        Progress::Waiting(WaitFor::Target) => bar.set_message("waiting for the namespace"),
        Progress::Applying { done, label, .. } => {
            bar.set_position(u64::from(*done));
            bar.set_message(label.clone());
        }
        Progress::Reporting(_) => bar.set_message("writing the report"),
    }
    bar.tick();
}

impl Graph {
    fn begin(&self, config: &Config) -> anyhow::Result<Begin> {
        let scope = Scope {
            since: self.since,
            until: self.until,
            entity_ids: self.entity_ids.clone(),
            document_ids: self.document_ids.clone(),
        };
        let mut input = DreamInput::of_namespace(self.namespace.clone());
        input.store = wiring::store_name(config, self.store.store.as_deref()).to_owned();
        input.mode = self.mode;
        input.ops.clone_from(&self.ops);
        input.scope = (scope != Scope::default()).then_some(scope);
        input.plan_of = self.plan_of;
        input.expected_plan_hash.clone_from(&self.expected_plan_hash);
        input.resume_from = self.resume;
        input.run_id = self.run_id;
        input.enable = self.enable;
        input.force_liveness = self.force_liveness;
        input.trigger = if self.scheduled { Trigger::Schedule } else { Trigger::Manual };
        input.expertise = self.expertise.as_deref().map(expertise).transpose()?;
        Ok(Begin {
            input,
            run_id: Uuid::now_v7().to_string(),
            engine: "local".to_owned(),
            workflow_id: None,
            abandon: self.abandon.map(|run| run.to_string()),
        })
    }
}

/// Declared types, out of a file.
pub(crate) fn expertise(path: &std::path::Path) -> anyhow::Result<Expertise> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let parsed = match extension {
        "toml" => toml::from_str(&text).map_err(|error| error.message().to_owned()),
        "json" => serde_json::from_str(&text).map_err(|error| error.to_string()),
        _ => serde_saphyr::from_str(&text).map_err(|error| error.to_string()),
    };
    parsed.map_err(|error| {
        Failure::new(Code::InvalidInput, format!("expertise: {} cannot be read: {error}", path.display())).into()
    })
}
