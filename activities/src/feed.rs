//! What the dedupe planner is fed with: the rows of a store, or the lines of a file that is only measured.
//!
//! **Invariant:** a row and a line that say the same feed the same, so that what `dream eval` measures is what a run does.

use std::collections::BTreeMap;

use dream_core::digest::Fingerprint;
use dream_core::realm::graph::dedupe::{DedupePlanner, DedupeSettings, EmbeddingState, EntityInput};
use dream_core::settings::Settings;
use dream_ports::content::EntityView;

/// The knobs of dedupe among those of a run.
#[expect(clippy::cast_possible_truncation, reason = "thresholds lie between 0 and 1")]
pub fn dedupe_settings(settings: &Settings) -> DedupeSettings {
    let per_type = settings.dedupe_entities_per_type_thresholds.iter();
    DedupeSettings {
        default_threshold: settings.dedupe_entities_default_threshold as f32,
        per_type_thresholds: per_type.map(|(name, threshold)| (name.clone(), *threshold as f32)).collect(),
        ..DedupeSettings::default()
    }
}

/// Feeds a live entity; `verdict_key` is how the store's verdicts know it, `dimension` how long its vector is.
pub fn feed_entity(
    planner: &mut DedupePlanner,
    entity: &EntityView<'_>,
    verdict_key: Option<Fingerprint>,
    dimension: u32,
    in_scope: bool,
) {
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
        in_scope,
        verdict_key: verdict_key.map(|key| key.0),
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
