//! `dream history` and `dream status`

use clap::Args;
use dream_core::failure::Code;
use dream_core::id::RunId;
use dream_ports::run::{RunFilter, RunRecord};
use uuid::Uuid;

use super::{StoreArg, mirror, skips};
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{requests, term};

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Only runs of this namespace.
    #[arg(long)]
    namespace: Option<Uuid>,
    /// How many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl History {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let namespace = requests::namespace(store.as_ref(), self.namespace).await?;
        let runs = store.runs(&RunFilter { namespace, open_only: false, limit: self.limit }).await?;
        if self.json {
            term::json(&runs)?;
        } else if runs.is_empty() {
            term::note("no run yet");
        } else {
            show(&runs);
        }
        Ok(if runs.is_empty() { Exit::Nothing } else { Exit::Done })
    }
}

fn show(runs: &[RunRecord]) {
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    let least = ["took", "namespace", "ops", "mode"];
    term::table_without(&["run", "namespace", "mode", "state", "ops", "started", "took"], &rows, &least);
}

fn row(run: &RunRecord) -> Vec<String> {
    let took = run.finished_at.unwrap_or(run.heartbeat_at).seconds_since(run.started_at);
    vec![
        run.run.to_string(),
        run.stable_namespace.to_string()[..8].to_owned() + "…",
        run.mode.to_string(),
        run.state.to_string(),
        run.ops_total.to_string(),
        run.started_at.to_string()[..16].replace('T', " "),
        format!("{took} s"),
    ]
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The run; all that are not over if it is not said.
    run: Option<Uuid>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Status {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let Some(run) = self.run else {
            let runs = store.runs(&RunFilter { namespace: None, open_only: true, limit: 1_000 }).await?;
            let stops = store.stops().await?;
            if self.json {
                let graph = mirror::owed_json(store.as_ref()).await?;
                term::json(&serde_json::json!({ "runs": runs, "kill_switches": stops, "graph_mirror": graph }))?;
                return Ok(Exit::Done);
            }
            for stop in &stops {
                term::note(&stop.to_string());
            }
            if runs.is_empty() {
                term::note("no run is under way");
            } else {
                show(&runs);
            }
            mirror::owed(store.as_ref()).await?;
            return Ok(Exit::Done);
        };
        let record = store.run(RunId(run)).await?;
        let counts = store.counts(record.run).await?;
        let (left, parked) = store.owed_by_run(record.run).await?;
        if self.json {
            let graph = serde_json::json!({ "left": left, "parked": parked });
            term::json(&serde_json::json!({ "run": record, "ops": counts, "graph_mirror": graph }))?;
            return Ok(Exit::Done);
        }
        let waiting = record.waiting_for.as_deref().map(|what| format!(", waiting for {what}")).unwrap_or_default();
        term::line(&format!("run {} is {}{waiting}", record.run, record.state));
        if let Some(code) = record.error_code.as_deref().and_then(Code::named) {
            term::line(&format!("it failed with {code} {}; next: {}", code.name(), code.advice()));
        }
        if let Some(hash) = &record.plan_hash {
            term::line(&format!("plan {hash}, {} ops", record.ops_total));
        }
        let rows: Vec<Vec<String>> = counts
            .iter()
            .flat_map(|(kind, states)| {
                states.iter().map(|(state, count)| vec![kind.to_string(), state.to_string(), count.to_string()])
            })
            .collect();
        if !rows.is_empty() {
            term::table(&["op", "state", "count"], &rows);
        }
        if left + parked > 0 {
            let note = format!("the graph database was not told of {left} of its ops yet, and {parked} were set aside");
            term::line(&note);
        }
        skips::lines(&record.skip_reasons).iter().for_each(|line| term::line(line));
        Ok(Exit::Done)
    }
}
