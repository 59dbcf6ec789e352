//! Removal of dead references, from the rows that this run will leave.

use std::collections::BTreeMap;

use dream_core::op::{Decision, Intent, OpKind, Reason};
use dream_core::realm::graph::references::{GcPlanner, ReferenceRow};
use dream_core::realm::graph::scope::RowFacts;
use dream_ports::content::ReferenceView;
use dream_ports::run::RunRecord;
use serde_json::json;
use uuid::Uuid;

use super::{Drawn, NotDrawn};
use crate::audit::scope_of;
use crate::begin::{RunSettings, input_of};
use crate::edges::Edges;
use crate::failure::ResultExt;
use crate::world::StoreHandle;

pub(super) async fn draw(
    handle: &StoreHandle,
    run: &RunRecord,
    settings: &RunSettings,
    edges: &Edges<'_>,
) -> Result<Drawn, NotDrawn> {
    let scope = scope_of(run)?;
    let mut survivors: BTreeMap<Uuid, Uuid> = BTreeMap::new();
    for planner in [OpKind::Reabsorb, OpKind::DedupeEntities] {
        for draft in handle.store.drafts(run.run, Some(planner)).await.or_fail()? {
            match draft.intent {
                Intent::MergeEntities { keep, absorb } if draft.decision == Decision::Planned => {
                    survivors.extend(absorb.into_iter().map(|absorbed| (absorbed, keep)));
                }
                Intent::Reabsorb { keep, absorbed } => {
                    survivors.insert(absorbed, keep);
                }
                _ => {}
            }
        }
    }
    let mut planner = GcPlanner::new(survivors);
    let mut snapshot = handle.store.snapshot(run.namespace).await.or_fail()?;
    let feed: &mut (dyn for<'r> FnMut(ReferenceView<'r>, bool) + Send) = &mut |row, is_in_graph| {
        let ends = row.ends.map(|(source, target)| [source, target]);
        let entities = ends.as_ref().map_or(std::slice::from_ref(&row.row.id), |ends| ends.as_slice());
        let facts = RowFacts { entities, documents: row.source_document_ids, updated_at: row.updated_at };
        let reference = ReferenceRow {
            row: row.row,
            is_live: row.is_live,
            in_scope: scope.admits(facts),
            references: row.references,
            dead: row.dead,
        };
        match row.ends.filter(|_| is_in_graph) {
            Some(ends) => planner.feed_edge_in_graph(reference, ends),
            None => planner.feed(reference),
        }
    };
    edges.references(snapshot.as_mut(), run.namespace, feed).await??;
    drop(snapshot);
    let plan = planner.finish(settings.settings.source_chunk_ids_gc_min_dead);
    if plan.is_suspicious() && !input_of(run)?.force_liveness {
        return Ok(Drawn::skipped(OpKind::SourceChunkIdsGc, Reason::LivenessSuspicious, Some(plan.dead)));
    }
    Ok(Drawn {
        summary: json!({ "references": plan.references, "dead": plan.dead }),
        drafts: plan.drafts,
        ..Drawn::default()
    })
}
