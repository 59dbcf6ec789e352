//! `dream run`

pub(crate) mod space;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use dream_activities::world::StoreHandle;
use dream_core::clock::Moment;
use dream_core::failure::Code;
use dream_core::op::OpKind;
use dream_core::report::plain::grouped;
use dream_core::report::words;
use dream_core::run::{DreamInput, Expertise, Mode, Scope, Trigger};
use dream_ports::run::{RequestKind, RunRecord};
use dream_workflows::contract::{Begin, Reported, RunRef};
use dream_workflows::steps::{Progress, StepError, WaitFor};
use indicatif::ProgressBar;
use uuid::Uuid;

use super::hint::Hints;
use super::{StoreArg, skips};
use crate::config::Config;
use crate::exit::{Exit, Fault, OrFile as _};
use crate::local::OnProgress;
use crate::outcome::{Outcome, Parked};
use crate::{engine, local, misfit, remote, term, wiring};

#[derive(Debug, Subcommand)]
pub(crate) enum Run {
    /// Dreams over a Khora namespace: entities, relationships, chunks.
    Graph(Box<Graph>),
    /// Dreams over a space of facts.
    Space(Box<space::Space>),
}

#[derive(Debug, Default, Args)]
pub(crate) struct Graph {
    /// The namespace, by its stable id or its row id.
    #[arg(long)]
    pub(crate) namespace: String,
    /// What the run may do; the configured `default_mode`, a dry run, if it is not said.
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
    /// Carries out the plan that this dry run sealed; goes with --mode apply, or with --mode review to be asked first.
    #[arg(long)]
    pub(crate) plan_of: Option<Uuid>,
    /// Refuses to apply any other plan than the one with this hash.
    #[arg(long)]
    pub(crate) expected_plan_hash: Option<String>,
    /// Goes on with this run where it stopped.
    #[arg(long, conflicts_with = "plan_of")]
    pub(crate) resume: Option<Uuid>,
    /// Closes this run first, which is stuck or waits; what it applied stays and can be undone.
    #[arg(long)]
    pub(crate) abandon: Option<Uuid>,
    /// How long the run waits for a graph database that is behind, before it plans; not at all if it is not said.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=GRAPH_WAIT_SECONDS_MAX))]
    pub(crate) graph_wait: Option<u64>,
    /// How long a review waits before the run closes as abandoned; seven days if it is not said.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=REVIEW_WAIT_SECONDS_MAX))]
    pub(crate) review_wait: Option<u64>,
    /// A file that declares types, as YAML, TOML or JSON.
    #[arg(long)]
    pub(crate) expertise: Option<PathBuf>,
    /// Runs although `KHORA_DREAM_ENABLED` is off.
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
    /// Who runs it: a Temporal server, or this process; a server where `TEMPORAL_ADDRESS` is set.
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

/// A day: a run that waits for longer is better started anew.
const GRAPH_WAIT_SECONDS_MAX: u64 = 86_400;

/// Ten years: whoever asks for longer has mistaken the unit.
const REVIEW_WAIT_SECONDS_MAX: u64 = 10 * 365 * 86_400;

/// Who runs a dream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    /// A Temporal server and its workers.
    Temporal,
    /// This process.
    Local,
}

impl Run {
    pub(crate) async fn run(self, config: Config) -> Result<Exit, Fault> {
        let graph = match self {
            Self::Graph(graph) => graph,
            Self::Space(space) => return space.run(&config).await,
        };
        let begin = graph.begin(&config)?;
        if begin.input.enable && !config.settings.enabled {
            term::note("dreaming over graph namespaces is switched off here; --enable switches it on for this run");
        }
        if graph.on.map_or_else(engine::is_configured, |engine| engine == Engine::Temporal) {
            let made = || format!("dream/graph/{}/{}", begin.input.namespace, begin.run_id);
            let id = graph.workflow_id.clone().unwrap_or_else(made);
            let bar = term::bar();
            let outcome = remote::run(begin.input, &id, &bar).await;
            bar.finish_and_clear();
            return finish(outcome?, graph.json, graph.store.hints(&config), None);
        }
        let world = Arc::new(wiring::world(&config, graph.store.name()).await?);
        let run = run_of(&begin);
        let outcome = locally(world.clone(), begin).await;
        let hints = graph.store.hints(&config);
        // A run that was refused has no row, and then there is nothing to say of it.
        let known = world.load(&run).await.ok();
        if let (Err(_), Some((_, record, _))) = (&outcome, &known) {
            let status = hints.command(&format!("status {}", record.run));
            term::note(&format!("run {} is {}; look at it with `{status}`", record.run, record.state));
        }
        let resume = match &known {
            Some((handle, record, _)) if !is_rejected(handle, record).await? => Some(hints.resume(record)),
            _ => None,
        };
        finish(outcome?, graph.json, hints, resume)
    }
}

/// Whether a person said no to the plan of a run. It can be gone on with, to no purpose.
async fn is_rejected(handle: &StoreHandle, record: &RunRecord) -> Result<bool, Fault> {
    let requests = handle.store.requests(record.run).await?;
    Ok(requests.iter().any(|request| request.kind == RequestKind::Reject))
}

/// Which run this begins, or goes on with.
fn run_of(begin: &Begin) -> RunRef {
    let input = &begin.input;
    let run_id = input.resume_from.or(input.run_id).map_or_else(|| begin.run_id.clone(), |id| id.to_string());
    RunRef { store: input.store.clone(), run_id }
}

/// Says how a run left this command, and what can be done next.
fn finish(outcome: Outcome, json: bool, hints: Hints<'_>, resume: Option<String>) -> Result<Exit, Fault> {
    match outcome {
        Outcome::Over(reported) => {
            if json {
                term::json(&reported)?;
            } else {
                summary(&reported);
            }
            if let Some(resume) = resume.filter(|_| reported.state.may_reopen()) {
                term::note(&format!("go on with it: {resume}"));
            }
            Ok(Exit::of(reported.state))
        }
        Outcome::Parked(parked) => {
            if json {
                term::json(&parked)?;
            }
            let run = &parked.run_id;
            term::note(&format!("the plan of run {run} waits for a person"));
            term::note(&format!("look at it:   {}", hints.command(&format!("review {run}"))));
            term::note(&format!("say yes:      {}", hints.command(&format!("approve {run}"))));
            match resume {
                Some(resume) => term::note(&format!("then go on:   {resume}")),
                None => term::note("the workflow goes on by itself then"),
            }
            Ok(Exit::Waiting)
        }
        Outcome::Unreported(how) => {
            term::note(&how);
            Ok(Exit::Unfinished)
        }
    }
}

/// Prints what became of a run's ops, and what was not done.
pub(crate) fn summary(reported: &Reported) {
    term::line(&format!("run {} is {}", reported.run_id, reported.state));
    let counts: Vec<String> =
        reported.ops.iter().map(|(state, count)| format!("{} {}", grouped(u64::from(*count)), word(state))).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    term::line(&format!("ops: {counts}"));
    if let Some(hash) = &reported.plan_hash {
        term::line(&format!("plan: {hash}"));
    }
    if let Some(path) = &reported.report_path {
        term::line(&format!("report: {path}"));
    }
    if reported.graph_left > 0 {
        term::line(&format!(
            "graph: {} ops wait to be told to it; the reconciler does that, or `dream reconcile`",
            grouped(reported.graph_left)
        ));
    }
    skips::lines(&reported.skip_reasons).iter().for_each(|line| term::line(line));
}

/// A state of ops as people read it.
fn word(state: &str) -> String {
    state.parse().map_or_else(|_| state.replace('_', " "), |state| words::state(state).to_owned())
}

/// Runs a dream in this process, with a bar.
pub(crate) async fn locally(world: Arc<dream_activities::World>, begin: Begin) -> Result<Outcome, Fault> {
    let bar = term::bar();
    let on_progress: OnProgress = {
        let bar = bar.clone();
        Arc::new(move |progress| show(&bar, &progress))
    };
    let run = run_of(&begin);
    let outcome = local::run(world.clone(), begin, on_progress).await;
    bar.finish_and_clear();
    match outcome {
        Ok(reported) => Ok(Outcome::Over(reported)),
        Err(StepError::Suspended) => {
            let (_, record, _) = world.load(&run).await?;
            Ok(Outcome::Parked(Parked {
                run_id: run.run_id,
                state: record.state,
                plan_hash: record.plan_hash.map(|hash| hash.0),
                ops_total: record.ops_total,
            }))
        }
        Err(StepError::Cancelled) => Ok(Outcome::Unreported(format!("run {} was cancelled", run.run_id))),
        Err(StepError::Failed { name, message }) => {
            Err(Fault::new(Code::named(&name).unwrap_or(Code::Defect), message))
        }
    }
}

fn show(bar: &ProgressBar, progress: &Progress) {
    match progress {
        Progress::Auditing { kind } | Progress::Planning { kind } => {
            bar.set_message(format!("looking: {}", kind.title()));
        }
        Progress::Sealing => bar.set_message("sealing the plan"),
        Progress::Sealed(sealed) => term::set_total(bar, u64::from(sealed.ops_total)),
        Progress::Waiting(WaitFor::Review) => bar.set_message("waiting for a review"),
        Progress::Waiting(WaitFor::Client) => bar.set_message("waiting for an answer"),
        Progress::Waiting(WaitFor::Unpause) => bar.set_message("paused"),
        Progress::Waiting(WaitFor::Target) => bar.set_message("waiting for the namespace"),
        Progress::Applying { done, label, .. } => {
            bar.set_position(u64::from(*done));
            bar.set_message(label.clone());
        }
        Progress::Waiting(WaitFor::Graph) => bar.set_message("waiting for the graph database"),
        Progress::Mirroring => bar.set_message("telling the graph database"),
        Progress::Reporting(_) => bar.set_message("writing the report"),
    }
    bar.tick();
}

impl Graph {
    /// The dry run that draws up a repair of a namespace's graph. Whoever asks for it by name need not switch it on.
    pub(crate) fn repair(namespace: Uuid, run: Uuid, on: Option<Engine>, json: bool, store: StoreArg) -> Self {
        Self {
            namespace: namespace.to_string(),
            mode: Some(Mode::DryRun),
            ops: Some(vec![OpKind::MirrorRepair.as_str().to_owned()]),
            run_id: Some(run),
            enable: true,
            on,
            json,
            store,
            ..Self::default()
        }
    }

    fn begin(&self, config: &Config) -> Result<Begin, Fault> {
        let scope = Scope {
            since: self.since,
            until: self.until,
            entity_ids: self.entity_ids.clone(),
            document_ids: self.document_ids.clone(),
        };
        let mut input = DreamInput::of_namespace(self.namespace.clone());
        wiring::store_name(config, self.store.name()).clone_into(&mut input.store);
        input.mode = self.mode;
        input.ops.clone_from(&self.ops);
        input.scope = (scope != Scope::default()).then_some(scope);
        input.plan_of = self.plan_of;
        input.expected_plan_hash.clone_from(&self.expected_plan_hash);
        input.resume_from = self.resume;
        input.abandon = self.abandon;
        input.run_id = self.run_id;
        input.enable = self.enable;
        input.force_liveness = self.force_liveness;
        input.graph_wait_seconds = self.graph_wait;
        input.review_wait_seconds = self.review_wait;
        input.trigger = if self.scheduled { Trigger::Schedule } else { Trigger::Manual };
        input.expertise = self.expertise.as_deref().map(expertise).transpose()?;
        Ok(Begin { input, run_id: Uuid::now_v7().to_string(), engine: "local".to_owned(), workflow_id: None })
    }
}

/// Declared types, out of a file.
fn expertise(path: &Path) -> Result<Expertise, Fault> {
    let text = std::fs::read_to_string(path).or_file(path, "read")?;
    let parsed = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => misfit::toml(&text),
        Some("json") => misfit::json(&text),
        _ => misfit::yaml(&text),
    };
    parsed.map_err(|misfit| Fault::new(Code::InvalidInput, format!("expertise: {}, {misfit}", path.display())))
}
