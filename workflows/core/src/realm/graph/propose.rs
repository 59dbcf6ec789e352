//! From what dedupe decided to drafts of ops.
//!
//! Every merge relies on the names, types and life of its members, and on the cosines that decided; all of it is checked
//! again on the locked rows.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::digest::Fingerprint;
use crate::op::{Decision, Draft, Intent, OpKind, Premise};
use crate::realm::graph::dedupe::{
    Collision, CollisionKind, DedupePlan, DedupeSettings, KeptApart, KeptApartReason, MergeDraft, PairEvidence, Rule,
};
use crate::realm::graph::evidence::{CollisionEvidence, Evidence, MergeEvidence};

/// The names and types of entities as they were when the plan was made, as keyed digests.
pub type NameKeys = BTreeMap<Uuid, Fingerprint>;

/// Drafts of everything dedupe decided.
pub fn dedupe_drafts(plan: DedupePlan, names: &NameKeys, settings: &DedupeSettings) -> Vec<Draft> {
    let merges = plan.merges.into_iter().map(|merge| merge_draft(merge, names, settings));
    let apart = plan.kept_apart.into_iter().map(apart_draft);
    let collisions = plan.collisions.into_iter().map(collision_draft);
    merges.chain(apart).chain(collisions).collect()
}

fn merge_draft(merge: MergeDraft, names: &NameKeys, settings: &DedupeSettings) -> Draft {
    let members = std::iter::once(merge.keep).chain(merge.absorb.iter().copied());
    let mut premises: Vec<Premise> = members
        .map(|entity| Premise::Entity {
            entity,
            name_and_type: names.get(&entity).copied().unwrap_or(Fingerprint([0; 16])),
        })
        .collect();
    let score_min = settings.threshold(&merge.entity_type);
    let by_vectors = merge.pairs.iter().filter(|pair| pair.rule == Rule::NamesAndCosine);
    premises.extend(by_vectors.map(|pair| Premise::Cosine { left: pair.left, right: pair.right, score_min }));
    Draft {
        kind: OpKind::DedupeEntities,
        decision: Decision::Planned,
        rule: weakest_rule(&merge.pairs),
        evidence: Evidence::Merge(MergeEvidence {
            members: u32::try_from(merge.absorb.len() + 1).unwrap_or(u32::MAX),
            pairs: merge.pairs,
            every_pair_reached_cosine_threshold: merge.every_pair_reached_cosine_threshold,
        }),
        intent: Intent::MergeEntities { keep: merge.keep, absorb: merge.absorb },
        premises,
        depends_on: Vec::new(),
    }
}

/// A cluster is as good as its weakest pair.
fn weakest_rule(pairs: &[PairEvidence]) -> String {
    pairs.iter().map(|pair| pair.rule).max().map(|rule| wire_name(&rule)).unwrap_or_default()
}

fn apart_draft(apart: KeptApart) -> Draft {
    let veto = apart.evidence.vetoes.first().filter(|_| apart.reason == KeptApartReason::Vetoed);
    Draft {
        kind: OpKind::DedupeEntities,
        decision: Decision::KeptApart,
        rule: veto.map_or_else(|| wire_name(&apart.reason), wire_name),
        intent: Intent::Observe { rows: vec![apart.evidence.left, apart.evidence.right] },
        premises: Vec::new(),
        depends_on: Vec::new(),
        evidence: Evidence::Apart(Box::new(apart.evidence)),
    }
}

fn collision_draft(collision: Collision) -> Draft {
    let decision = match collision.kind {
        CollisionKind::SkipUniqueCollision => Decision::SkipUniqueCollision,
        CollisionKind::SkipCollision => Decision::SkipCollision,
    };
    let members = u32::try_from(collision.absorb.len() + 1).unwrap_or(u32::MAX);
    let mut rows = vec![collision.keep];
    rows.extend(collision.absorb);
    Draft {
        kind: OpKind::DedupeEntities,
        decision,
        rule: wire_name(&collision.kind),
        intent: Intent::Observe { rows },
        premises: Vec::new(),
        depends_on: Vec::new(),
        evidence: Evidence::Collision(CollisionEvidence { members, with: collision.with }),
    }
}

/// The name that a unit variant has on the wire.
fn wire_name(variant: &impl serde::Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(name)) => name,
        _ => unreachable!("rules and reasons are unit variants"),
    }
}
