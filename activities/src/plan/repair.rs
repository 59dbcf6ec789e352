//! Repair: what the graph says otherwise than the tables.

use dream_core::mirror::repair::Repairs;
use dream_core::op::{OpKind, Reason};
use dream_core::run::SkipReason;
use dream_ports::run::RunRecord;
use serde_json::json;

use super::{Drawn, NotDrawn};
use crate::edges::away;
use crate::verify::compare;
use crate::world::StoreHandle;

pub(super) async fn draw(handle: &StoreHandle, run: &RunRecord) -> Result<Drawn, NotDrawn> {
    let Some(graph) = handle.graph.as_deref() else { return Err(Reason::BackendUnsupported.into()) };
    let mut repairs = Repairs::default();
    let compared = compare(handle, graph, run.namespace, &mut |found| repairs.take(found))
        .await?
        .map_err(|error| away(run.namespace, &error))?;
    let kept: Vec<SkipReason> = repairs
        .is_more
        .then_some(SkipReason { op_kind: OpKind::MirrorRepair, reason: Reason::PlanCapReached, count: None })
        .into_iter()
        .collect();
    Ok(Drawn {
        summary: json!({ "differences": compared.differences, "left": repairs.left }),
        drafts: repairs.drafts,
        skip_reasons: kept,
        ..Drawn::default()
    })
}
