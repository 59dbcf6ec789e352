//! What Khora's reports say of an op, in Khora's keys and values: `inputs` and `outputs` of each kind.
//!
//! Khora's plan holds values (united source lists, the new vector); ours holds decisions, and values are computed from the
//! locked rows. A key whose value is not known is left out, never guessed. A kind or decision that Khora does not have
//! (`dream_reabsorb`, `kept_apart`, references of relationships) has empty objects here and is told under `dream`.
//!
//! **Invariant:** every field that holds memory text is a [`Text`] or a [`TypeMap`].

use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::algo::cosine::Score;
use crate::change::Table;
use crate::id::StableNamespaceId;
use crate::op::{Decision, Intent, OpKind, Premise};
use crate::realm::graph::dedupe::PairEvidence;
use crate::realm::graph::drift::DriftReport;
use crate::realm::graph::evidence::{DropEvidence, Evidence};
use crate::realm::graph::orphan::Orphan;
use crate::realm::graph::references::{OFFENDERS_MAX, ReferenceAudit};
use crate::redact::{Text, TypeMap};
use crate::report::facts::{AuditFacts, Finding, OpFacts, RunFacts, TableAudit};
use crate::report::lens::Lens;
use crate::settings::Settings;

/// The number a score stands for.
pub(super) fn unit(score: Score) -> f64 {
    f64::from(score.0) / f64::from(Score::ONE.0)
}

/// `outputs`: `{"output_0": …, "output_1": …}`.
pub(super) struct Outputs<'a>(pub(super) Vec<Output<'a>>);

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (position, output) in self.0.iter().enumerate() {
            map.serialize_entry(&format!("output_{position}"), output)?;
        }
        map.end()
    }
}

/// `inputs`, merged.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Inputs<'a> {
    Merge(MergeInputs<'a>),
    Centroid(CentroidInputs<'a>),
    Drop(DropInputs<'a>),
    Drift(DriftInputs),
    Orphan(OrphanInputs),
    References(ReferenceInputs),
    Nothing {},
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    Merges { merges: Vec<Merge> },
    Centroid(CentroidOutput),
    Drop { after_length: u32 },
    Drift(Box<DriftOutput<'a>>),
    Orphan(OrphanOutput<'a>),
    References(ReferenceOutput),
}

#[derive(Serialize)]
pub(super) struct MergeInputs<'a> {
    op_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_type: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity_score: Option<f64>,
    keep_id: Uuid,
    drop_ids: &'a [Uuid],
    #[serde(skip_serializing_if = "Option::is_none")]
    surviving_name: Option<Text>,
    component_size: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    collision_entity_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    collision_name: Option<Text>,
}

#[derive(Serialize)]
pub(super) struct Merge {
    canonical_id: Uuid,
    absorbed_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical_name: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absorbed_name: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_type: Option<Text>,
}

#[derive(Serialize)]
pub(super) struct CentroidInputs<'a> {
    cluster_size: usize,
    member_ids: &'a [Uuid],
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical_entity_id: Option<Uuid>,
}

#[derive(Serialize)]
pub(super) struct CentroidOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    new_embedding_text: Option<Text>,
    source_count: u32,
}

#[derive(Serialize)]
pub(super) struct DropInputs<'a> {
    entity_id: Uuid,
    before_length: u32,
    dead_uuids: &'a [Uuid],
}

#[derive(Serialize)]
pub(super) struct DriftInputs {
    /// The slot in which Khora keeps the id of a run to compare with, and never does.
    #[serde(rename = "_0")]
    previous_run: (),
}

#[derive(Serialize)]
pub(super) struct OrphanInputs {
    pr_percentile_threshold: f64,
    cooccurrence_edge_weight: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_entities: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_relationships: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct ReferenceInputs {
    namespace_id: StableNamespaceId,
    top_k_offenders: usize,
}

#[derive(Serialize)]
pub(super) struct DriftOutput<'a> {
    new_entity_types: Vec<Text>,
    unused_entity_types: Vec<Text>,
    new_relationship_types: Vec<Text>,
    unused_relationship_types: Vec<Text>,
    entity_frequency_delta: TypeMap<(u64, u64)>,
    relationship_frequency_delta: TypeMap<(u64, u64)>,
    entity_frequencies: TypeMap<u64>,
    relationship_frequencies: TypeMap<u64>,
    entity_total: &'a u64,
    relationship_total: &'a u64,
}

#[derive(Serialize)]
pub(super) struct OrphanOutput<'a> {
    entity_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_type: Option<Text>,
    pr_score: &'a f64,
    mention_count: i64,
    archive_candidate: bool,
}

#[derive(Serialize)]
pub(super) struct ReferenceOutput {
    total_entities: u64,
    total_dead_uuids: u64,
    length_p50: u32,
    length_p90: u32,
    length_p99: u32,
    length_max: u32,
    top_offenders: Vec<OffenderOutput>,
}

#[derive(Serialize)]
pub(super) struct OffenderOutput {
    entity_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Text>,
    length: u32,
    dead_uuid_count: u32,
}

/// The cosine at which two vectors of this op's entities speak for one thing: as its premises have it, else as the
/// settings do, where the type that decides is known.
pub(super) fn threshold(op: &OpFacts, settings: &Settings, lens: &Lens<'_>) -> Option<f64> {
    if op.op.draft.kind != OpKind::DedupeEntities {
        return (op.op.draft.kind == OpKind::CentroidRecompute).then_some(settings.centroid_min_intra_cluster_cosine);
    }
    let premise = op.op.draft.premises.iter().find_map(|premise| match premise {
        Premise::Cosine { score_min, .. } => Some(unit(*score_min)),
        _ => None,
    });
    premise.or_else(|| type_threshold(settings, lens.raw_type(*op.entities().first()?)))
}

/// The cosine that a pair's type asks for.
pub(super) fn pair_threshold(settings: &Settings, pair: &PairEvidence, lens: &Lens<'_>) -> Option<f64> {
    type_threshold(settings, lens.raw_type(pair.left))
}

fn type_threshold(settings: &Settings, entity_type: Option<&str>) -> Option<f64> {
    let by_type = &settings.dedupe_entities_per_type_thresholds;
    match entity_type {
        Some(name) => Some(by_type.get(name).copied().unwrap_or(settings.dedupe_entities_default_threshold)),
        None => by_type.is_empty().then_some(settings.dedupe_entities_default_threshold),
    }
}

/// The cosine of the weakest pair that has one.
pub(super) fn score(op: &OpFacts) -> Option<f64> {
    if let Evidence::Centroid(centroid) = &op.op.draft.evidence {
        return centroid.cosine_min.map(unit);
    }
    op.pairs().iter().filter_map(|pair| pair.cosine.score()).min().map(unit)
}

/// `inputs` of an op.
pub(super) fn inputs<'a>(op: &'a OpFacts, settings: &Settings, lens: &Lens<'_>) -> Inputs<'a> {
    let draft = &op.op.draft;
    match (&draft.intent, &draft.evidence) {
        (Intent::MergeEntities { keep, absorb }, _) => {
            Inputs::Merge(MergeInputs { similarity_score: best_score(op), ..merge(op, *keep, absorb, settings, lens) })
        }
        (Intent::Observe { rows }, Evidence::Collision(collision)) => {
            let Some((keep, absorb)) = rows.split_first() else {
                return Inputs::Nothing {};
            };
            Inputs::Merge(MergeInputs {
                collision_entity_id: Some(collision.with),
                collision_name: lens.name(collision.with),
                ..merge(op, *keep, absorb, settings, lens)
            })
        }
        (Intent::Centroid { entity, members }, _) => Inputs::Centroid(CentroidInputs {
            cluster_size: members.len(),
            member_ids: members,
            canonical_entity_id: (draft.decision != Decision::SkipSingleton).then_some(*entity),
        }),
        (Intent::DropReferences { row, chunks }, Evidence::Drop(drop)) if row.table == Table::Entities => {
            Inputs::Drop(DropInputs { entity_id: row.id, before_length: drop.references, dead_uuids: chunks })
        }
        _ => Inputs::Nothing {},
    }
}

fn merge<'a>(op: &OpFacts, keep: Uuid, absorb: &'a [Uuid], settings: &Settings, lens: &Lens<'_>) -> MergeInputs<'a> {
    MergeInputs {
        op_type: "entity_merge",
        entity_type: lens.entity_type(keep),
        threshold: threshold(op, settings, lens),
        similarity_score: None,
        keep_id: keep,
        drop_ids: absorb,
        surviving_name: lens.name(keep),
        component_size: u32::try_from(absorb.len()).map_or(u32::MAX, |absorbed| absorbed.saturating_add(1)),
        collision_entity_id: None,
        collision_name: None,
    }
}

fn best_score(op: &OpFacts) -> Option<f64> {
    op.pairs().iter().filter_map(|pair| pair.cosine.score()).max().map(unit)
}

/// `outputs` of an op.
pub(super) fn outputs(op: &OpFacts, lens: &Lens<'_>) -> Outputs<'static> {
    let draft = &op.op.draft;
    let output = match (&draft.intent, &draft.evidence) {
        (Intent::MergeEntities { keep, absorb }, Evidence::Merge(evidence)) => {
            let merges = absorb.iter().map(|absorbed| one_merge(*keep, *absorbed, &evidence.pairs, lens)).collect();
            Some(Output::Merges { merges })
        }
        (Intent::Centroid { entity, .. }, Evidence::Centroid(evidence)) if draft.decision.is_effective() => {
            let re_embed = draft.decision == Decision::ReEmbed;
            let new_embedding_text = lens.name(*entity).filter(|_| re_embed);
            Some(Output::Centroid(CentroidOutput { new_embedding_text, source_count: evidence.members }))
        }
        (Intent::DropReferences { row, .. }, Evidence::Drop(DropEvidence { references, dead }))
            if row.table == Table::Entities =>
        {
            Some(Output::Drop { after_length: references.saturating_sub(*dead) })
        }
        _ => None,
    };
    Outputs(output.into_iter().collect())
}

/// Khora's score of a merge: that of the pair itself, else the best that touches the absorbed entity.
fn one_merge(keep: Uuid, absorbed: Uuid, pairs: &[PairEvidence], lens: &Lens<'_>) -> Merge {
    let touching = |end: Uuid| pairs.iter().filter(move |pair| pair.left == end || pair.right == end);
    let direct = touching(absorbed).find(|pair| pair.left == keep || pair.right == keep);
    let best = touching(absorbed).filter_map(|pair| pair.cosine.score()).max();
    Merge {
        canonical_id: keep,
        absorbed_id: absorbed,
        similarity_score: direct.and_then(|pair| pair.cosine.score()).or(best).map(unit),
        canonical_name: lens.name(keep),
        absorbed_name: lens.name(absorbed),
        entity_type: lens.entity_type(absorbed),
    }
}

/// `decision` of an audit.
pub(super) fn audit_decision(audit: &AuditFacts) -> &'static str {
    let is_empty = audit.kind == OpKind::OrphanReport && audit.entities == Some(0);
    if is_empty { "empty_namespace" } else { "audit_complete" }
}

/// `inputs` of an audit.
pub(super) fn audit_inputs<'a>(audit: &AuditFacts, run: &RunFacts) -> Inputs<'a> {
    match audit.kind {
        OpKind::SchemaDriftReport => Inputs::Drift(DriftInputs { previous_run: () }),
        OpKind::OrphanReport => Inputs::Orphan(OrphanInputs {
            pr_percentile_threshold: run.settings.orphan_pr_percentile_threshold,
            cooccurrence_edge_weight: run.settings.cooccurrence_edge_weight,
            total_entities: audit.entities.filter(|entities| *entities > 0),
            total_relationships: audit.relationships.filter(|_| audit.entities != Some(0)),
        }),
        OpKind::SourceChunkIdsAudit => {
            Inputs::References(ReferenceInputs { namespace_id: run.namespace, top_k_offenders: OFFENDERS_MAX })
        }
        _ => Inputs::Nothing {},
    }
}

/// `outputs` of an audit.
pub(super) fn audit_outputs<'a>(audit: &'a AuditFacts, lens: &Lens<'_>) -> Outputs<'a> {
    let output = |finding: &'a Finding| match finding {
        Finding::Drift(report) => Some(Output::Drift(Box::new(drift(report, lens)))),
        Finding::Orphan(found) => Some(Output::Orphan(orphan(found, lens))),
        Finding::References(TableAudit { table: Table::Entities, audit }) => {
            Some(Output::References(references(audit, lens)))
        }
        Finding::References(_) => None,
    };
    Outputs(audit.findings.iter().filter_map(output).collect())
}

fn drift<'a>(report: &'a DriftReport, lens: &Lens<'_>) -> DriftOutput<'a> {
    let redaction = lens.redaction();
    let names = |names: &[String]| names.iter().map(|name| redaction.type_name(name)).collect();
    let counts = |counts: &BTreeMap<String, u64>| redaction.types(counts);
    DriftOutput {
        new_entity_types: names(&report.new_entity_types),
        unused_entity_types: names(&report.unused_entity_types),
        new_relationship_types: names(&report.new_relationship_types),
        unused_relationship_types: names(&report.unused_relationship_types),
        entity_frequency_delta: redaction.types(&report.entity_frequency_delta),
        relationship_frequency_delta: redaction.types(&report.relationship_frequency_delta),
        entity_frequencies: counts(&report.entity_frequencies),
        relationship_frequencies: counts(&report.relationship_frequencies),
        entity_total: &report.entity_total,
        relationship_total: &report.relationship_total,
    }
}

fn orphan<'a>(orphan: &'a Orphan, lens: &Lens<'_>) -> OrphanOutput<'a> {
    OrphanOutput {
        entity_id: orphan.entity_id,
        name: lens.name(orphan.entity_id),
        entity_type: lens.entity_type(orphan.entity_id),
        pr_score: &orphan.pr_score,
        mention_count: orphan.mention_count,
        archive_candidate: orphan.archive_candidate,
    }
}

fn references(audit: &ReferenceAudit, lens: &Lens<'_>) -> ReferenceOutput {
    let offenders = audit.top_offenders.iter().map(|offender| OffenderOutput {
        entity_id: offender.id,
        name: lens.name(offender.id),
        length: offender.length,
        dead_uuid_count: offender.dead_uuid_count,
    });
    ReferenceOutput {
        total_entities: audit.total_rows,
        total_dead_uuids: audit.total_dead_uuids,
        length_p50: audit.length_p50,
        length_p90: audit.length_p90,
        length_p99: audit.length_p99,
        length_max: audit.length_max,
        top_offenders: offenders.collect(),
    }
}
