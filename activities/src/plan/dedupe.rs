//! Duplicates: entities, edges and verdicts in; vectors as far as they are asked for; merges out.

use dream_core::digest::Fingerprint;
use dream_core::failure::{Code, Failure};
use dream_core::op::{Intent, OpKind, Reason};
use dream_core::realm::graph::dedupe::{Claim, DedupePlan, DedupePlanner, DedupeSettings};
use dream_core::realm::graph::propose::{NameKeys, dedupe_drafts};
use dream_core::realm::graph::scope::{RowFacts, ScopeFilter};
use dream_core::run::SkipReason;
use dream_core::verdict::{Ruling, name_key};
use dream_ports::content::VisitRelationship;
use dream_ports::run::RunRecord;
use serde_json::json;
use uuid::Uuid;

use super::{Drawn, NotDrawn};
use crate::audit::scope_of;
use crate::begin::RunSettings;
use crate::edges::Edges;
use crate::failure::ResultExt;
use crate::feed::{dedupe_settings, feed_entity};
use crate::world::StoreHandle;

pub(super) async fn draw(
    handle: &StoreHandle,
    run: &RunRecord,
    settings: &RunSettings,
    edges: &Edges<'_>,
) -> Result<Drawn, NotDrawn> {
    let settings = dedupe_settings(&settings.settings);
    let scope = scope_of(run)?;
    let (plan, keys) = decide(handle, run, &settings, &scope, edges).await?;
    let mut drawn = Drawn {
        summary: json!({
            "blocks": plan.blocks,
            "counts": plan.counts,
            "kept_apart_unlisted": plan.kept_apart_unlisted,
        }),
        ..Drawn::default()
    };
    if plan.counts.vectors_absent > 0 {
        drawn.skip_reasons.push(SkipReason {
            op_kind: OpKind::DedupeEntities,
            reason: Reason::MissingEntityEmbedding,
            count: Some(plan.counts.vectors_absent),
        });
    }
    drawn.drafts = dedupe_drafts(plan, &keys, &settings);
    Ok(drawn)
}

async fn decide(
    handle: &StoreHandle,
    run: &RunRecord,
    settings: &DedupeSettings,
    scope: &ScopeFilter,
    edges: &Edges<'_>,
) -> Result<(DedupePlan, NameKeys), NotDrawn> {
    let text_key = handle.store.text_key().await.or_fail()?;
    let dimension = handle.store.probe().await.or_fail()?.dimension.unwrap_or(0);
    let mut planner = DedupePlanner::new(settings.clone());
    for verdict in handle.store.verdicts(run.namespace).await.or_fail()? {
        if verdict.ruling == Ruling::KeepApart {
            planner.feed_keep_apart(verdict.low.0, verdict.high.0);
        }
    }
    for draft in handle.store.drafts(run.run, Some(OpKind::Reabsorb)).await.or_fail()? {
        if let Intent::Reabsorb { keep, absorbed } = draft.intent {
            planner.feed_claimed(absorbed, Claim::Absorbed);
            planner.feed_claimed(keep, Claim::Canonical);
        }
    }
    let mut keys: Vec<(Uuid, Fingerprint)> = Vec::new();
    let mut snapshot = handle.store.snapshot(run.namespace).await.or_fail()?;
    snapshot
        .entities(&mut |entity| {
            let key = name_key(&text_key, entity.name, entity.entity_type);
            keys.push((entity.id, key));
            let in_scope = scope.admits(RowFacts {
                entities: &[entity.id],
                documents: entity.source_document_ids,
                updated_at: entity.updated_at,
            });
            feed_entity(&mut planner, &entity, Some(key), dimension, in_scope);
        })
        .await
        .or_fail()?;
    let feed: VisitRelationship<'_> = &mut |edge| planner.feed_edge(edge.source, edge.target, edge.relationship_type);
    edges.visit(snapshot.as_mut(), run.namespace, feed).await??;
    let defect = |error: dream_core::realm::graph::dedupe::DedupeError| Failure::new(Code::Defect, error.to_string());
    let mut scorer = tokio::task::block_in_place(|| planner.propose()).map_err(defect)?;
    let wanted = scorer.need_vectors().to_vec();
    snapshot.vectors(&wanted, &mut |id, vector| scorer.feed_vector(id, vector)).await.or_fail()?;
    drop(snapshot);
    let plan = tokio::task::block_in_place(|| scorer.finish());
    let members: std::collections::BTreeSet<Uuid> =
        plan.merges.iter().flat_map(|merge| merge.absorb.iter().copied().chain([merge.keep])).collect();
    keys.retain(|(id, _)| members.contains(id));
    Ok((plan, keys.into_iter().collect()))
}
