//! Duplicates: entities, edges and verdicts in; vectors as far as they are asked for; merges out.

use std::collections::BTreeMap;

use dream_core::digest::Fingerprint;
use dream_core::failure::{Code, Failure};
use dream_core::op::{Intent, OpKind, Reason};
use dream_core::realm::graph::dedupe::{
    Claim, DedupePlan, DedupePlanner, DedupeSettings, EmbeddingState, EntityInput,
};
use dream_core::realm::graph::propose::{NameKeys, dedupe_drafts};
use dream_core::realm::graph::scope::{RowFacts, ScopeFilter};
use dream_core::run::SkipReason;
use dream_core::verdict::{Ruling, name_key};
use dream_ports::content::EntityView;
use dream_ports::run::RunRecord;
use serde_json::json;
use uuid::Uuid;

use super::Drawn;
use crate::audit::scope_of;
use crate::begin::RunSettings;
use crate::failure::ResultExt;
use crate::world::StoreHandle;

pub(super) async fn draw(handle: &StoreHandle, run: &RunRecord, settings: &RunSettings) -> Result<Drawn, Failure> {
    let settings = dedupe_settings(settings);
    let scope = scope_of(run)?;
    let (plan, keys) = decide(handle, run, &settings, &scope).await?;
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

#[expect(clippy::cast_possible_truncation, reason = "thresholds lie between 0 and 1")]
fn dedupe_settings(settings: &RunSettings) -> DedupeSettings {
    let settings = &settings.settings;
    let per_type = settings.dedupe_entities_per_type_thresholds.iter();
    DedupeSettings {
        default_threshold: settings.dedupe_entities_default_threshold as f32,
        per_type_thresholds: per_type.map(|(name, threshold)| (name.clone(), *threshold as f32)).collect(),
        ..DedupeSettings::default()
    }
}

async fn decide(
    handle: &StoreHandle,
    run: &RunRecord,
    settings: &DedupeSettings,
    scope: &ScopeFilter,
) -> Result<(DedupePlan, NameKeys), Failure> {
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
            feed(&mut planner, &entity, key, dimension, scope);
        })
        .await
        .or_fail()?;
    snapshot
        .relationships(&mut |edge| planner.feed_edge(edge.source, edge.target, edge.relationship_type))
        .await
        .or_fail()?;
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

fn feed(planner: &mut DedupePlanner, entity: &EntityView<'_>, key: Fingerprint, dimension: u32, scope: &ScopeFilter) {
    let attributes = scalars(entity.attributes);
    let attributes: Vec<(&str, &str)> = attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    planner.feed_entity(&EntityInput {
        id: entity.id,
        name: entity.name,
        entity_type: entity.entity_type,
        mention_count: entity.mention_count,
        created_at_us: entity.created_at.micros(),
        embedding: entity
            .embedding_model
            .map_or(EmbeddingState::Absent, |model| EmbeddingState::Present { model, dimension }),
        attributes: &attributes,
        source_chunk_ids: entity.source_chunk_ids,
        in_scope: scope.admits(RowFacts {
            entities: &[entity.id],
            documents: entity.source_document_ids,
            updated_at: entity.updated_at,
        }),
        verdict_key: Some(key.0),
    });
}

/// Attributes that can be compared: those with one plain value.
fn scalars(json: &str) -> Vec<(String, String)> {
    if json.len() <= "{}".len() {
        return Vec::new();
    }
    let object: BTreeMap<String, serde_json::Value> = serde_json::from_str(json).unwrap_or_default();
    let scalar = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Number(number) => Some(number.to_string()),
        serde_json::Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    };
    object.into_iter().filter_map(|(key, value)| Some((key, scalar(value)?))).collect()
}
