//! `dream plan`

use clap::Args;
use dream_activities::facts;
use dream_core::id::RunId;
use dream_core::op::OpKind;
use dream_core::report::{OpFacts, table};
use dream_ports::Store;
use dream_ports::plan::{OpFilter, OpRecord};
use serde_json::json;
use uuid::Uuid;

use super::StoreArg;
use super::names::{Names, print};
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::term;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The run.
    run: Uuid,
    /// Only ops of this kind, by wire name.
    #[arg(long)]
    kind: Option<OpKind>,
    /// How many ops.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Only ops after this place.
    #[arg(long, default_value_t = 0)]
    after: u32,
    /// Answers as JSON, with premises and evidence.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Plan {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let run = RunId(self.run);
        let record = store.run(run).await?;
        let filter = OpFilter { after_seq: self.after, limit: self.limit, kind: self.kind, states: Vec::new() };
        let ops = store.ops(run, &filter).await?;
        if self.json {
            let ops: Vec<_> = ops.iter().map(op_json).collect();
            term::json(
                &json!({ "run_id": run, "plan_hash": record.plan_hash, "ops_total": record.ops_total, "ops": ops }),
            )?;
            return Ok(Exit::Done);
        }
        let shown = ops.len();
        show(store.as_ref(), ops).await?;
        if let Some(hash) = &record.plan_hash {
            term::note(&format!("{shown} of {} ops · plan {hash}", record.ops_total));
        }
        Ok(if shown == 0 { Exit::Nothing } else { Exit::Done })
    }
}

/// Shows ops as a table.
pub(crate) async fn show(store: &dyn Store, ops: Vec<OpRecord>) -> Result<(), Fault> {
    let facts = ops.into_iter().map(|record| facts::one(record, None)).collect::<Result<Vec<_>, _>>()?;
    let names = Names::of(store, facts.iter().flat_map(OpFacts::entities).collect()).await?;
    print(&names.show(|lens| table::plan_rows(&facts, lens)));
    Ok(())
}

/// An op as programs read it, with premises and evidence.
pub(crate) fn op_json(record: &OpRecord) -> serde_json::Value {
    json!({
        "seq": record.op.seq,
        "op_id": record.op.id,
        "content_key": record.op.content,
        "state": record.op.state,
        "reason": record.op.reason,
        "accepted": record.review,
        "draft": record.op.draft,
    })
}
