//! `dream doctor`: looks at everything a dream needs and says what is wrong.

use std::collections::BTreeMap;

use clap::Args;
use dream_core::run::STUCK_AFTER_SECONDS;
use dream_ports::Store;
use dream_ports::run::{Capabilities, RunFilter, VectorsAt};
use futures::TryStreamExt as _;
use serde::Serialize;
use temporalio_client::{Client, WorkflowExecution, WorkflowListOptions};

use super::StoreArg;
use super::hint::Hints;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{engine, term, wiring};

/// Runs and workflows that are looked at, of each kind.
const LOOKED_AT_MAX: u32 = 100;

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

/// How something is that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    Note,
    Fault,
}

#[derive(Debug, Serialize)]
struct Finding {
    verdict: Verdict,
    what: String,
    how: String,
}

/// What was looked at, and how it is.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, verdict: Verdict, what: &str, how: impl Into<String>) {
        self.0.push(Finding { verdict, what: what.to_owned(), how: how.into() });
    }

    fn well(&mut self, what: &str, how: impl Into<String>) {
        self.add(Verdict::Ok, what, how);
    }

    fn note(&mut self, what: &str, how: impl Into<String>) {
        self.add(Verdict::Note, what, how);
    }

    fn ill(&mut self, what: &str, how: impl Into<String>) {
        self.add(Verdict::Fault, what, how);
    }

    fn is_well(&self) -> bool {
        self.0.iter().all(|finding| finding.verdict != Verdict::Fault)
    }

    fn show(&self) {
        let row = |finding: &Finding| {
            let verdict = match finding.verdict {
                Verdict::Ok => "ok",
                Verdict::Note => "note",
                Verdict::Fault => "FAULT",
            };
            vec![verdict.to_owned(), finding.what.clone(), finding.how.clone()]
        };
        term::table(&["", "what", "how"], &self.0.iter().map(row).collect::<Vec<_>>());
    }
}

impl Doctor {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let mut findings = Findings::default();
        if self.store.name().is_some() || config.stores.is_empty() {
            store_findings(config, self.store.name(), &mut findings).await;
        } else {
            for name in config.stores.keys() {
                store_findings(config, Some(name), &mut findings).await;
            }
        }
        if config.settings.enabled {
            findings.well("switch", "dreaming over graph namespaces is on");
        } else {
            findings.note("switch", "dreaming over graph namespaces is off (KHORA_DREAM_ENABLED)");
        }
        mind_findings(config, &mut findings);
        engine_findings(&mut findings).await;
        if self.json {
            term::json(&findings.0)?;
        } else {
            findings.show();
        }
        Ok(if findings.is_well() { Exit::Done } else { Exit::CheckFailed })
    }
}

async fn store_findings(config: &Config, store: Option<&str>, findings: &mut Findings) {
    let what = format!("store {}", wiring::shown(config, store));
    let hints = Hints::new(config, store);
    let opened = match wiring::open(config, store).await {
        Ok(opened) => opened,
        Err(fault) => return findings.ill(&what, fault.to_string()),
    };
    let capabilities = match opened.probe().await {
        Ok(capabilities) => capabilities,
        Err(error) => return findings.ill(&what, Fault::from(error).to_string()),
    };
    findings.well(&what, format!("{} {}", capabilities.dialect, capabilities.version));
    if !capabilities.is_migrated {
        let migrate = hints.command("migrate --realm graph");
        findings.ill(&what, format!("our tables are missing; create them with `{migrate}`"));
        // Where there is no table of Khora's either, that is all there is to say.
        if capabilities.chunk_tables.is_empty() {
            return;
        }
    }
    schema_findings(&what, &capabilities, findings);
    graph_findings(&what, config, store, findings).await;
    if capabilities.is_migrated
        && let Err(fault) = run_findings(&what, opened.as_ref(), hints, findings).await
    {
        findings.ill(&what, fault.to_string());
    }
}

async fn graph_findings(what: &str, config: &Config, store: Option<&str>, findings: &mut Findings) {
    let graph = match wiring::graph(&wiring::store_config(config, store)) {
        Ok(Some(graph)) => graph,
        Ok(None) => return,
        Err(fault) => return findings.ill(what, fault.to_string()),
    };
    match graph.probe().await {
        Ok(found) => findings.well(what, format!("mirrored to {} {}", found.kind, found.version)),
        Err(error) => {
            let fault = Fault::new(dream_core::failure::Code::GraphUnavailable, error.to_string());
            findings.ill(what, fault.to_string());
        }
    }
}

fn schema_findings(what: &str, capabilities: &Capabilities, findings: &mut Findings) {
    if capabilities.chunk_tables.is_empty() {
        findings.ill(what, "no chunk table: every reference would look dead");
    } else {
        findings.well(what, format!("chunks are looked up in {}", capabilities.chunk_tables.join(" and ")));
    }
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (table, column) in &capabilities.missing_columns {
        missing.entry(table).or_default().push(column.to_string());
    }
    for (table, columns) in missing {
        findings.ill(what, format!("table {table} lacks {}", columns.join(", ")));
    }
    match (capabilities.vectors, capabilities.dimension) {
        (VectorsAt::Lancedb, _) => findings.note(
            what,
            "vectors are in LanceDB and are neither read nor written: names decide, centroid is skipped (vectors_in_lancedb)",
        ),
        (VectorsAt::Store, Some(dimension)) => findings.well(what, format!("vectors of {dimension} numbers")),
        (VectorsAt::Store, None) => findings.note(what, "no vectors yet: names decide"),
    }
    if !capabilities.has_recall_times {
        findings.note(what, "no chunk table says when a chunk was recalled: the orphan report says \"unknown\"");
    }
}

async fn run_findings(what: &str, store: &dyn Store, hints: Hints<'_>, findings: &mut Findings) -> Result<(), Fault> {
    for stop in store.stops().await? {
        findings.note(what, stop.to_string());
    }
    let now = store.now().await?;
    let open = store.runs(&RunFilter { namespace: None, open_only: true, limit: LOOKED_AT_MAX }).await?;
    for run in open.iter().filter(|run| run.waiting_for.is_none()) {
        let silent = now.seconds_since(run.heartbeat_at);
        if silent >= STUCK_AFTER_SECONDS {
            let resume = hints.resume(run);
            let text = format!("run {} is {} and silent for {silent} s; go on with it: {resume}", run.run, run.state);
            findings.ill(what, text);
        }
    }
    if let (rows, Some(oldest)) = store.outbox_open().await? {
        findings.note(what, format!("{rows} outbox rows wait for the graph database, since {oldest}"));
    }
    Ok(())
}

/// Looks at the model of server mode. It is not asked: that would cost something.
fn mind_findings(config: &Config, findings: &mut Findings) {
    match wiring::mind(config) {
        Ok(Some(mind)) => findings.well("model", format!("{} answers spaces in server mode", mind.terms().model)),
        Ok(None) => findings.note("model", "no model is configured; spaces in server mode get housekeeping only"),
        Err(fault) => findings.ill("model", fault.to_string()),
    }
}

/// Workflow types that our workers know. A start that names another stays open, because no worker takes it.
const WORKFLOW_TYPES: [&str; 7] =
    ["Dream", "DreamAll", "DueDreams", "ReconcileMirror", "StartDream", "SweepRetention", "UndoDream"];

async fn engine_findings(findings: &mut Findings) {
    if !engine::is_configured() {
        return findings.note("engine", "TEMPORAL_ADDRESS is not set: runs use the local engine");
    }
    let client = match engine::connect("dream doctor").await {
        Ok(client) => client,
        Err(fault) => return findings.ill("engine", fault.to_string()),
    };
    findings.well("engine", "the Temporal server answers");
    let queue = engine::task_queue();
    let open = format!("TaskQueue = '{}' AND ExecutionStatus = 'Running'", queue.replace('\'', ""));
    let wedged = format!(
        "{open} AND TemporalReportedProblems IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')"
    );
    for run in workflows(&client, open).await.iter().filter(|run| !WORKFLOW_TYPES.contains(&run.workflow_type())) {
        let text =
            format!("workflow {} is of type {}, which no worker knows; terminate it", run.id(), run.workflow_type());
        findings.ill("engine", text);
    }
    for run in workflows(&client, wedged).await {
        findings.ill(
            "engine",
            format!("workflow {} fails its tasks again and again; look at it in the Temporal UI", run.id()),
        );
    }
    match crate::remote::is_polled(&client, &queue).await {
        Some(true) => findings.well("engine", format!("a worker polls the task queue {queue}")),
        Some(false) => findings.note("engine", format!("no worker polls the task queue {queue}; start `dream worker`")),
        None => {}
    }
}

/// Workflows that a query finds; none where the server cannot answer it.
async fn workflows(client: &Client, query: String) -> Vec<WorkflowExecution> {
    let options = WorkflowListOptions::builder().limit(LOOKED_AT_MAX as usize).build();
    client.list_workflows(query, options).try_collect().await.unwrap_or_default()
}
