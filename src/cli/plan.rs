//! `dream plan`

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use dream_core::id::RunId;
use dream_core::op::{Intent, OpKind};
use dream_core::realm::graph::evidence::Evidence;
use dream_ports::Store;
use dream_ports::plan::{OpFilter, OpRecord};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::Exit;
use crate::{term, wiring};

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The run.
    run: Uuid,
    /// Only ops of this kind.
    #[arg(long)]
    kind: Option<OpKind>,
    /// How many ops.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Only ops after this place.
    #[arg(long, default_value_t = 0)]
    after: u32,
    #[command(flatten)]
    store: StoreArg,
}

impl Plan {
    pub(crate) async fn run(self, config: &Config) -> anyhow::Result<Exit> {
        let wanted = wiring::store_config(config, self.store.store.as_deref());
        let store = wiring::open(&wanted.url, false).await?;
        let filter = OpFilter { after_seq: self.after, limit: self.limit, kind: self.kind, states: Vec::new() };
        show(&store, RunId(self.run), &filter).await
    }
}

/// Shows ops of a plan as a table.
pub(crate) async fn show(store: &Arc<dyn Store>, run: RunId, filter: &OpFilter) -> anyhow::Result<Exit> {
    let ops = store.ops(run, filter).await?;
    let ids: Vec<Uuid> = ops.iter().flat_map(|record| mentioned(&record.op.draft.intent)).collect();
    let names: BTreeMap<Uuid, String> =
        store.names(&ids).await?.into_iter().map(|(id, name, _)| (id, name)).collect();
    let rows: Vec<Vec<String>> = ops.iter().map(|record| row(record, &names)).collect();
    term::table(&["#", "op", "decision", "what", "why"], &rows);
    Ok(if rows.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn mentioned(intent: &Intent) -> Vec<Uuid> {
    match intent {
        Intent::MergeEntities { keep, absorb } => std::iter::once(*keep).chain(absorb.iter().copied()).collect(),
        Intent::Reabsorb { keep, absorbed } => vec![*keep, *absorbed],
        Intent::Centroid { entity, .. } => vec![*entity],
        Intent::DropReferences { row, .. } => vec![row.id],
        Intent::Observe { rows } => rows.clone(),
    }
}

fn row(record: &OpRecord, names: &BTreeMap<Uuid, String>) -> Vec<String> {
    let draft = &record.op.draft;
    let name = |id: &Uuid| names.get(id).map_or_else(|| id.to_string(), |name| format!("“{name}”"));
    let list = |ids: &[Uuid]| ids.iter().map(name).collect::<Vec<_>>().join(", ");
    let what = match &draft.intent {
        Intent::MergeEntities { keep, absorb } => format!("{} ← {}", name(keep), list(absorb)),
        Intent::Reabsorb { keep, absorbed } => format!("{} ← {}", name(keep), name(absorbed)),
        Intent::Centroid { entity, .. } => format!("vector of {}", name(entity)),
        Intent::DropReferences { row, chunks } => format!("{} loses {} dead references", name(&row.id), chunks.len()),
        Intent::Observe { rows } => list(rows),
    };
    let why = match &draft.evidence {
        Evidence::Drop(drop) => format!("{} of {} references are dead", drop.dead, drop.references),
        _ => draft.rule.replace('_', " "),
    };
    let decision = if draft.decision.is_effective() {
        draft.decision.to_string()
    } else {
        draft.decision.to_string().replace('_', " ")
    };
    vec![record.op.seq.to_string(), draft.kind.title().to_owned(), decision, what, why]
}
