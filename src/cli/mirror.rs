//! `dream reconcile` and `dream verify`

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use dream_activities::mirror::ANOTHER;
use dream_activities::verify::Verified;
use dream_activities::{reconcile, verify};
use dream_core::failure::Code;
use dream_core::id::RunId;
use dream_ports::Store;
use dream_ports::mirror::{OutboxFilter, OutboxRow, OutboxState, Owing};
use serde_json::json;
use uuid::Uuid;

use super::StoreArg;
use super::run::{Engine, Graph, Run};
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{term, wiring};

/// How long somebody else's drain is waited for: a little longer than the lease of one that was killed.
const ANOTHER_WAIT_MAX: Duration = Duration::from_secs(25);

/// How often it is looked whether it is over.
const ANOTHER_LOOK_EVERY: Duration = Duration::from_secs(2);

/// Namespaces that are listed at once.
const NAMESPACES_MAX: u32 = 1_000;

/// Rows that were set aside and are listed.
const PARKED_LISTED_MAX: u32 = 50;

#[derive(Debug, Args)]
pub(crate) struct Reconcile {
    /// The namespace whose rows the next two mean.
    #[arg(long, requires = "parked")]
    namespace: Option<Uuid>,
    /// Sets them free to be tried again: all of them, or those whose numbers follow.
    #[arg(long, requires = "namespace", group = "parked", num_args = 0.., value_name = "ROW")]
    retry_parked: Option<Vec<i64>>,
    /// Gives them up: the graph is never told. `dream verify mirror` shows what it lacks then.
    #[arg(long, requires = "namespace", group = "parked", num_args = 1.., value_name = "ROW")]
    drop_parked: Option<Vec<i64>>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Reconcile {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let world = wiring::world(config, self.store.name()).await?;
        let handle = world.store(wiring::store_name(config, self.store.name()))?;
        if handle.graph.is_none() {
            return Err(no_graph());
        }
        if let Some(namespace) = self.namespace {
            let namespace = handle.store.resolve_namespace(namespace).await?;
            let (rows, drop) = match (&self.retry_parked, &self.drop_parked) {
                (_, Some(rows)) => (Some(rows.as_slice()), true),
                (Some(rows), None) if !rows.is_empty() => (Some(rows.as_slice()), false),
                _ => (None, false),
            };
            let released = handle.store.release_parked(namespace.id, rows, drop).await?;
            let fate = if drop { "given up" } else { "set free" };
            term::note(&format!("{released} rows that were set aside are {fate}"));
        }
        handle.store.hurry().await?;
        let began = Instant::now();
        let mut all = dream_workflows::contract::Reconciled::default();
        loop {
            let round = reconcile::reconcile(&world).await?;
            let (done, missing) = (all.done + round.done, all.missing + round.missing);
            let is_more = round.is_more;
            all = dream_workflows::contract::Reconciled { done, missing, ..round };
            if is_more {
                term::note(&format!("{} rows told, {} left", all.done, all.left));
            } else if all.reasons.contains(ANOTHER) && began.elapsed() < ANOTHER_WAIT_MAX {
                // It is at work, or was killed and its lease ends soon.
                tokio::time::sleep(ANOTHER_LOOK_EVERY).await;
            } else {
                break;
            }
        }
        if self.json {
            term::json(&all)?;
        } else {
            let lacking =
                if all.missing > 0 { format!(", {} of them missed something", all.missing) } else { String::new() };
            term::line(&format!("{} rows told{lacking}; {} left, {} set aside", all.done, all.left, all.parked));
            all.reasons.iter().for_each(|reason| term::line(&format!("rows are left because of {reason}")));
            owed(handle.store.as_ref()).await?;
        }
        Ok(match (all.left + all.parked, all.done) {
            (0, 0) => Exit::Nothing,
            (0, _) => Exit::Done,
            _ => Exit::Unfinished,
        })
    }
}

fn no_graph() -> Fault {
    Fault::new(Code::Configuration, "no graph database is configured for this store: set graph_url, or DREAM_GRAPH")
}

/// What a store owes its graph, for `dream status`.
pub(crate) async fn owing(store: &dyn Store) -> Result<(Vec<Owing>, Vec<OutboxRow>), Fault> {
    let owing = store.owing(None, NAMESPACES_MAX).await?;
    let filter =
        OutboxFilter { states: vec![OutboxState::Parked], limit: PARKED_LISTED_MAX, ..OutboxFilter::default() };
    Ok((owing, store.outbox(&filter).await?))
}

/// Shows it.
pub(crate) async fn owed(store: &dyn Store) -> Result<(), Fault> {
    let (owing, parked) = owing(store).await?;
    let left_by_khora = store.adoptable(None, NAMESPACES_MAX).await?;
    if !left_by_khora.is_empty() {
        let namespaces: Vec<String> = left_by_khora.iter().map(ToString::to_string).collect();
        term::note(&format!("Khora left something for the graph of {}", namespaces.join(", ")));
    }
    if !owing.is_empty() {
        term::note("what the graph database was not told yet:");
        let rows: Vec<Vec<String>> = owing
            .iter()
            .map(|owing| {
                let next = owing.next_at.map_or_else(|| "at once".to_owned(), |at| at.to_string());
                let (open, parked) = (owing.open.to_string(), owing.parked.to_string());
                vec![owing.namespace.to_string(), open, parked, owing.oldest.to_string(), next]
            })
            .collect();
        term::table(&["namespace", "rows", "set aside", "since", "next try"], &rows);
    }
    if !parked.is_empty() {
        term::note("set aside; try again with `dream reconcile --namespace ID --retry-parked ROW`:");
        let rows: Vec<Vec<String>> = parked
            .iter()
            .map(|row| {
                let reason = row.reason.clone().unwrap_or_default();
                vec![row.id.to_string(), row.op.to_string(), row.attempts.to_string(), reason]
            })
            .collect();
        term::table(&["row", "op", "attempts", "reason"], &rows);
    }
    Ok(())
}

/// The same as JSON.
pub(crate) async fn owed_json(store: &dyn Store) -> Result<serde_json::Value, Fault> {
    let (owing, parked) = owing(store).await?;
    let left_by_khora = store.adoptable(None, NAMESPACES_MAX).await?;
    let parked: Vec<_> = parked
        .iter()
        .map(|row| {
            json!({
                "row": row.id, "run_id": row.run, "op_id": row.op, "attempts": row.attempts, "reason": row.reason,
                "written_at": row.written_at,
            })
        })
        .collect();
    Ok(json!({ "namespaces": owing, "parked": parked, "left_by_khora": left_by_khora }))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verify {
    /// Compares a namespace with its graph database.
    Mirror(VerifyMirror),
}

impl Verify {
    pub(crate) async fn run(self, config: Config) -> Result<Exit, Fault> {
        match self {
            Self::Mirror(command) => command.run(config).await,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct VerifyMirror {
    /// The namespace, by either of its ids.
    #[arg(long)]
    namespace: Uuid,
    /// Draws up, where they differ, a run that makes the graph follow the store. It is a dry run: `dream run graph --plan-of`
    /// carries it out, and `dream undo` takes it back.
    #[arg(long)]
    repair: bool,
    /// Who runs the repair: a Temporal server, or this process; a server where `TEMPORAL_ADDRESS` is set.
    #[arg(long, requires = "repair")]
    on: Option<Engine>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl VerifyMirror {
    async fn run(self, config: Config) -> Result<Exit, Fault> {
        let verified = self.verify(&config).await?;
        if verified.is_clean() || !self.repair {
            return Ok(if verified.is_clean() { Exit::Done } else { Exit::CheckFailed });
        }
        let run = Uuid::now_v7();
        let next = format!("run graph --namespace {} --enable --mode apply --plan-of {run}", self.namespace);
        let next = self.store.hints(&config).command(&next);
        let repair = Graph::repair(self.namespace, run, self.on, self.json, self.store);
        let world = wiring::world(&config, repair.store.name()).await?;
        let store = wiring::store_name(&config, repair.store.name()).to_owned();
        let exit = Box::pin(Run::Graph(Box::new(repair)).run(config)).await?;
        if world.store(&store)?.store.run(RunId(run)).await?.ops_total == 0 {
            term::note(
                "nothing of this is repaired: live edges on retired nodes are the next dream's, rows that wait are \
                 `dream reconcile`'s, and what only the graph has is a person's to look at",
            );
            return Ok(Exit::CheckFailed);
        }
        term::note(&format!("carry it out: {next}"));
        Ok(exit)
    }

    async fn verify(&self, config: &Config) -> Result<Verified, Fault> {
        let world = wiring::world(config, self.store.name()).await?;
        let handle = world.store(wiring::store_name(config, self.store.name()))?;
        if handle.graph.is_none() {
            return Err(no_graph());
        }
        let namespace = handle.store.resolve_namespace(self.namespace).await?;
        let verified = verify::verify(handle, namespace.id).await?;
        if self.json && (verified.is_clean() || !self.repair) {
            let mut json = serde_json::to_value(&verified).unwrap_or_default();
            json["clean"] = verified.is_clean().into();
            term::json(&json)?;
        } else if !self.json {
            say(&verified);
        }
        Ok(verified)
    }
}

fn say(verified: &Verified) {
    let compared = &verified.compared;
    term::line(&format!(
        "{} entities and {} nodes, {} relationships in tables and {} edges in the graph are live",
        compared.entities, compared.nodes, compared.relationships, compared.edges
    ));
    term::line(&format!(
        "of what ops left, {} edges and the properties of {} nodes and edges were looked at",
        compared.edges_told, compared.properties_told
    ));
    if verified.left + verified.parked > 0 {
        term::note(&format!(
            "{} outbox rows wait and {} are set aside: until they are told, the two differ; see `dream reconcile`",
            verified.left, verified.parked
        ));
    }
    if compared.differences.is_empty() {
        term::line("no difference");
        return;
    }
    let rows: Vec<Vec<String>> = compared
        .differences
        .iter()
        .map(|(difference, differing)| {
            let example = differing.examples.first().map(ToString::to_string).unwrap_or_default();
            vec![difference.title().to_owned(), differing.count.to_string(), example]
        })
        .collect();
    term::table(&["difference", "count", "for example"], &rows);
}
