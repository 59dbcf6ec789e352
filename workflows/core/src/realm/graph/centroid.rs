//! The vector of a survivor: the mean of its members' vectors, weighted by mentions, or one made anew from its name.
//!
//! Method and formulas are Khora's. A cluster whose members' vectors fall apart is not averaged: the merge itself is then
//! in doubt. The mean is taken over what the rows hold when it is applied, so it never averages a member that was not merged.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::algo::cosine::{Score, between};
use crate::apply::{Applied, Context, EffectNumbers};
use crate::change::{Column, RowKey, Value};
use crate::op::{Decision, Draft, Intent, OpKind, OpState, Reason};
use crate::realm::graph::evidence::{CentroidEvidence, Evidence};
use crate::realm::graph::merge::mention_count;
use crate::rows::{Editor, Needs, NotLoaded};

/// What a new vector has to see.
pub fn needs(entity: Uuid, members: &[Uuid], decision: Decision, needs: &mut Needs) {
    needs.rows.insert(RowKey::entity(entity));
    needs.embeddings.insert(entity);
    if decision == Decision::Centroid {
        needs.rows.extend(members.iter().map(|member| RowKey::entity(*member)));
        needs.embeddings.extend(members);
    }
}

/// Knobs of the decision.
#[derive(Clone, Copy, Debug)]
pub struct CentroidSettings {
    /// Least cosine between two members whose vectors are averaged.
    pub cosine_min: Score,
    /// Greatest edit distance between two names of members whose vectors are averaged, in characters.
    pub edit_distance_max: u32,
}

/// Members of a merge: id, name and vector, by id.
pub type Members = BTreeMap<Uuid, (String, Option<Vec<f32>>)>;

/// Decides how the survivor of a merge gets its vector.
///
/// A cluster of which a pair was joined by other evidence than its vectors is not averaged: its vectors were never shown to
/// agree. It gets a vector made from the survivor's name, where an embedder is at hand.
pub fn draft(merge: &Draft, members: &Members, settings: CentroidSettings) -> Option<Draft> {
    let (Intent::MergeEntities { keep, .. }, Evidence::Merge(evidence)) = (&merge.intent, &merge.evidence) else {
        return None;
    };
    let vectors: Vec<&[f32]> = members.values().filter_map(|(_, vector)| vector.as_deref()).collect();
    let scores = pairs(&vectors).map(|(one, two)| between(one, two).unwrap_or(Score(-Score::ONE.0)));
    let cosine_min = scores.min();
    let names: Vec<&str> = members.values().map(|(name, _)| name.as_str()).collect();
    let distances =
        pairs(&names).map(|(one, two)| rapidfuzz::distance::levenshtein::distance(one.chars(), two.chars()));
    let edit_distance_max = u32::try_from(distances.max().unwrap_or(0)).unwrap_or(u32::MAX);
    let (decision, rule) = if members.len() < 2 {
        (Decision::SkipSingleton, "singleton")
    } else if !evidence.every_pair_reached_cosine_threshold {
        (Decision::ReEmbed, "joined_by_other_evidence")
    } else if cosine_min.is_some_and(|score| score < settings.cosine_min) {
        (Decision::SkipMultimodal, "vectors_fall_apart")
    } else if edit_distance_max <= settings.edit_distance_max {
        (Decision::Centroid, "close_names")
    } else {
        (Decision::ReEmbed, "distant_names")
    };
    Some(Draft {
        kind: OpKind::CentroidRecompute,
        decision,
        rule: rule.to_owned(),
        intent: Intent::Centroid { entity: *keep, members: members.keys().copied().collect() },
        premises: Vec::new(),
        depends_on: vec![merge.content_key()],
        evidence: Evidence::Centroid(CentroidEvidence {
            members: u32::try_from(members.len()).unwrap_or(u32::MAX),
            vectors: u32::try_from(vectors.len()).unwrap_or(u32::MAX),
            cosine_min,
            edit_distance_max,
        }),
    })
}

fn pairs<T: Copy>(items: &[T]) -> impl Iterator<Item = (T, T)> {
    items.iter().enumerate().flat_map(|(at, one)| items[at + 1..].iter().map(move |two| (*one, *two)))
}

/// Why a vector was not set.
pub type Refusal = (OpState, Reason);

/// Gives `entity` its vector.
pub fn apply(
    editor: &mut Editor<'_>,
    context: &Context,
    entity: Uuid,
    members: &[Uuid],
    answer: Option<&EmbeddingAnswer>,
) -> Result<Result<Applied, Refusal>, NotLoaded> {
    let key = RowKey::entity(entity);
    let (vector, model) = match answer {
        Some(answer) => (answer.vector.clone(), Some(answer.model.clone())),
        None => match mean(editor, context, entity, members)? {
            Ok(vector) => (vector, None),
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    editor.set(key, Column::Embedding, Value::Vector(vector))?;
    if let Some(model) = model {
        editor.set(key, Column::EmbeddingModel, Value::Text(model))?;
    }
    let is_new = editor.changed_columns().next().is_some();
    if is_new {
        editor.set(key, Column::UpdatedAt, Value::Time(context.now))?;
    }
    let numbers = EffectNumbers { vectors_set: u32::from(is_new), ..Default::default() };
    Ok(Ok(Applied { numbers, verdicts: Vec::new() }))
}

/// A vector that an embedder made for a survivor's name.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingAnswer {
    /// The vector.
    pub vector: Vec<f32>,
    /// The model that made it.
    pub model: String,
}

fn mean(
    editor: &Editor<'_>,
    context: &Context,
    entity: Uuid,
    members: &[Uuid],
) -> Result<Result<Vec<f32>, Refusal>, NotLoaded> {
    let mut absorbed_mentions = 0;
    let mut vectors: BTreeMap<Uuid, (Vec<f32>, i64)> = BTreeMap::new();
    for member in members {
        let key = RowKey::entity(*member);
        let row = editor.rows().get(key).ok_or(NotLoaded(key))?;
        if *member != entity {
            absorbed_mentions += mention_count(row);
        }
        if let Some(vector) = row.get(Column::Embedding).vector() {
            vectors.insert(*member, (vector.to_vec(), mention_count(row)));
        }
    }
    // The survivor counts its members' mentions already; its own weight is what it had before.
    if let Some((_, weight)) = vectors.get_mut(&entity) {
        *weight = (*weight - absorbed_mentions).max(0);
    }
    if vectors.len() < 2 {
        return Ok(Err((OpState::Skipped, Reason::SkipSingleton)));
    }
    let parts: Vec<&(Vec<f32>, i64)> = vectors.values().collect();
    let floor = Score::from_unit(f64::from(context.centroid_cosine_min));
    for (position, (one, _)) in parts.iter().enumerate() {
        for (two, _) in &parts[position + 1..] {
            if between(one, two).is_none_or(|score| score < floor) {
                return Ok(Err((OpState::Stale, Reason::VectorsDisagree)));
            }
        }
    }
    Ok(Ok(weighted_mean(&parts)))
}

/// The sum of w/W·v over the vectors, W being the sum of the weights (1 if that is 0), brought to length 1.
fn weighted_mean(parts: &[&(Vec<f32>, i64)]) -> Vec<f32> {
    #[expect(clippy::cast_precision_loss, reason = "mention counts are far below 2^53")]
    let weight = |mentions: i64| mentions.max(0) as f64;
    let sum: f64 = parts.iter().map(|(_, mentions)| weight(*mentions)).sum();
    let total = if sum > 0.0 { sum } else { 1.0 };
    let mut mean = vec![0.0_f64; parts.first().map_or(0, |(vector, _)| vector.len())];
    for (vector, mentions) in parts {
        for (component, value) in mean.iter_mut().zip(vector) {
            *component += weight(*mentions) / total * f64::from(*value);
        }
    }
    let norm = mean.iter().map(|component| component * component).sum::<f64>().sqrt();
    let scale = if norm > 0.0 { 1.0 / norm } else { 1.0 };
    #[expect(clippy::cast_possible_truncation, reason = "stores keep 32-bit components")]
    mean.into_iter().map(|component| (component * scale) as f32).collect()
}
