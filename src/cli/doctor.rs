//! `dream doctor`: looks at everything a dream needs and says what is wrong.

use clap::Args;
use dream_ports::run::{Capabilities, RunFilter, VectorsAt};
use futures::TryStreamExt as _;
use temporalio_client::{WorkflowExecution, WorkflowListOptions};

use super::StoreArg;
use crate::config::Config;
use crate::exit::Exit;
use crate::{engine, term, wiring};

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    store: StoreArg,
}

/// What was looked at, and whether it is well.
struct Findings {
    rows: Vec<Vec<String>>,
    is_well: bool,
}

impl Findings {
    fn well(&mut self, what: &str, how: impl Into<String>) {
        self.rows.push(vec!["ok".to_owned(), what.to_owned(), how.into()]);
    }

    fn note(&mut self, what: &str, how: impl Into<String>) {
        self.rows.push(vec!["note".to_owned(), what.to_owned(), how.into()]);
    }

    fn ill(&mut self, what: &str, how: impl Into<String>) {
        self.is_well = false;
        self.rows.push(vec!["FAULT".to_owned(), what.to_owned(), how.into()]);
    }
}

impl Doctor {
    pub(crate) async fn run(self, config: &Config) -> anyhow::Result<Exit> {
        let mut findings = Findings { rows: Vec::new(), is_well: true };
        let stores: Vec<Option<String>> = if self.store.store.is_some() || config.stores.is_empty() {
            vec![self.store.store.clone()]
        } else {
            config.stores.keys().cloned().map(Some).collect()
        };
        for store in stores {
            store_findings(config, store.as_deref(), &mut findings).await;
        }
        if config.settings.enabled {
            findings.well("switch", "dreaming over graph namespaces is on");
        } else {
            findings.note("switch", "dreaming over graph namespaces is off (KHORA_DREAM_ENABLED)");
        }
        engine_findings(&mut findings).await;
        term::table(&["", "what", "how"], &findings.rows);
        Ok(if findings.is_well { Exit::Done } else { Exit::CheckFailed })
    }
}

async fn store_findings(config: &Config, store: Option<&str>, findings: &mut Findings) {
    let what = format!("store {}", store.unwrap_or("default"));
    let wanted = wiring::store_config(config, store);
    let opened = match wiring::open(&wanted.url, false).await {
        Ok(opened) => opened,
        Err(error) => return findings.ill(&what, error.to_string()),
    };
    let capabilities = match opened.probe().await {
        Ok(capabilities) => capabilities,
        Err(error) => return findings.ill(&what, error.to_string()),
    };
    findings.well(&what, format!("{} {}", capabilities.dialect, capabilities.version));
    schema_findings(&what, &capabilities, findings);
    if !capabilities.is_migrated {
        return findings.ill(&what, "our tables are missing; create them with `dream migrate --realm graph`");
    }
    match opened.stops().await {
        Ok(stops) => {
            for stop in stops {
                findings.note(&what, format!("kill switch set at {} by {}: {}", stop.at, stop.by, stop.why));
            }
        }
        Err(error) => findings.ill(&what, error.to_string()),
    }
    if let Ok(runs) = opened.runs(&RunFilter { namespace: None, open_only: true, limit: 100 }).await {
        let now = opened.now().await.ok();
        for run in runs.iter().filter(|run| run.waiting_for.is_none()) {
            let silent = now.map_or(0, |now| now.seconds_since(run.heartbeat_at));
            if silent >= dream_core::run::STUCK_AFTER_SECONDS {
                let text = format!("run {} is {} and silent for {silent} s; --resume or --abandon it", run.run, run.state);
                findings.ill(&what, text);
            }
        }
    }
    if let Ok((rows, Some(oldest))) = opened.outbox_open().await {
        findings.note(&what, format!("{rows} outbox rows wait for the graph database, since {oldest}"));
    }
}

fn schema_findings(what: &str, capabilities: &Capabilities, findings: &mut Findings) {
    if capabilities.chunk_tables.is_empty() {
        findings.ill(what, "no chunk table: every reference would look dead");
    } else {
        findings.well(what, format!("chunks are looked up in {}", capabilities.chunk_tables.join(" and ")));
    }
    for (table, column) in &capabilities.missing_columns {
        findings.ill(what, format!("column {table}.{column} is missing"));
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

/// Workflow types that our workers know. A start that names another stays open, because no worker takes it.
const WORKFLOW_TYPES: [&str; 5] = ["Dream", "DreamAll", "StartDream", "SweepRetention", "UndoDream"];

async fn engine_findings(findings: &mut Findings) {
    if !engine::is_configured() {
        return findings.note("engine", "TEMPORAL_ADDRESS is not set: runs use the local engine");
    }
    let client = match engine::connect("dream doctor").await {
        Ok(client) => client,
        Err(error) => return findings.ill("engine", error.to_string()),
    };
    findings.well("engine", "the Temporal server answers");
    let open = format!("TaskQueue = '{}' AND ExecutionStatus = 'Running'", engine::task_queue());
    let wedged = "TemporalReportedProblems IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')";
    let options = || WorkflowListOptions::builder().limit(100).build();
    let unknown = client.list_workflows(open, options()).try_collect::<Vec<WorkflowExecution>>().await;
    for run in unknown.unwrap_or_default().iter().filter(|run| !WORKFLOW_TYPES.contains(&run.workflow_type())) {
        let text = format!("workflow {} is of type {}, which no worker knows; terminate it", run.id(), run.workflow_type());
        findings.ill("engine", text);
    }
    let wedged = client.list_workflows(wedged, options()).try_collect::<Vec<WorkflowExecution>>().await;
    for run in wedged.unwrap_or_default() {
        findings.ill("engine", format!("workflow {} fails its tasks again and again", run.id()));
    }
}
