//! Ops: what a planner drafts, what a plan seals, and what became of it.
//!
//! An op names rows by id and says by which rule; it holds no memory text. What its decision relied on stands in its
//! premises, which are checked again on the locked rows; sums, unions and survivors' texts are computed there and then.
//!
//! **Invariant:** two ops that would do the same to the same rows by the same rule have the same content key, in any run,
//! in any store. A new kind needs a wire name, an [`Intent`], an arm wherever the compiler asks for one, and an op in the
//! world of the saga kit.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::algo::cosine::Score;
use crate::change::{RowKey, named_variants};
use crate::digest::{Digester, Fingerprint};
use crate::id::{ContentKey, OpId, RunId};
use crate::realm::graph::evidence::Evidence;

named_variants! {
    /// The kinds of op, by their wire names.
    pub enum OpKind {
        /// Observed types against declared ones.
        SchemaDriftReport = "vectorcypher_schema_drift_report",
        /// Entities nobody points at, mentions or recalls.
        OrphanReport = "vectorcypher_orphan_report",
        /// References to chunks that are gone.
        SourceChunkIdsAudit = "vectorcypher_source_chunk_ids_audit",
        /// What ingestion brought back of entities that a merge absorbed.
        Reabsorb = "dream_reabsorb",
        /// Entities that are one.
        DedupeEntities = "vectorcypher_dedupe_entities",
        /// The vector of a survivor.
        CentroidRecompute = "vectorcypher_centroid_recompute",
        /// Removal of dead references.
        SourceChunkIdsGc = "vectorcypher_source_chunk_ids_gc",
        /// What the graph database says otherwise than the tables.
        MirrorRepair = "dream_mirror_repair",
    }
}

impl OpKind {
    /// Whether this kind only looks.
    pub const fn is_audit(self) -> bool {
        matches!(self, Self::SchemaDriftReport | Self::OrphanReport | Self::SourceChunkIdsAudit)
    }

    /// Whether this kind runs only where it is asked for by name.
    pub const fn is_on_request(self) -> bool {
        matches!(self, Self::MirrorRepair)
    }

    /// Where this kind stands among the ops on one row: reabsorb, merge, centroid, gc, repair.
    pub const fn stage(self) -> u8 {
        match self {
            Self::SchemaDriftReport | Self::OrphanReport | Self::SourceChunkIdsAudit => 0,
            Self::Reabsorb => 1,
            Self::DedupeEntities => 2,
            Self::CentroidRecompute => 3,
            Self::SourceChunkIdsGc => 4,
            Self::MirrorRepair => 5,
        }
    }

    /// The label Khora gives this kind's phase in its reports.
    pub const fn report_phase(self) -> &'static str {
        match self {
            Self::SchemaDriftReport | Self::OrphanReport | Self::SourceChunkIdsAudit => "audit",
            Self::Reabsorb | Self::DedupeEntities => "plan",
            Self::CentroidRecompute => "mutation_plan",
            Self::SourceChunkIdsGc | Self::MirrorRepair => "mutation",
        }
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::SchemaDriftReport => "schema drift",
            Self::OrphanReport => "orphans",
            Self::SourceChunkIdsAudit => "chunk references",
            Self::Reabsorb => "reabsorb",
            Self::DedupeEntities => "dedupe",
            Self::CentroidRecompute => "centroid",
            Self::SourceChunkIdsGc => "gc",
            Self::MirrorRepair => "repair",
        }
    }
}

named_variants! {
    /// What a planner decided about an op.
    pub enum Decision {
        /// It shall be done.
        Planned = "planned",
        /// The survivor's vector becomes the weighted mean of its members'.
        Centroid = "centroid",
        /// The survivor's vector is made anew from its name.
        ReEmbed = "re_embed",
        /// Two entities stay two.
        KeptApart = "kept_apart",
        /// Another entity owns the survivor's name and type.
        SkipUniqueCollision = "skip_unique_collision",
        /// One survivor would absorb two clusters.
        SkipCollision = "skip_collision",
        /// Fewer than two members.
        SkipSingleton = "skip_singleton",
        /// The members' vectors speak of more than one concept.
        SkipMultimodal = "skip_multimodal",
    }
}

impl Decision {
    /// Whether an op so decided changes anything when it is applied.
    pub const fn is_effective(self) -> bool {
        self.settled().is_none()
    }

    /// What became of an op by the decision alone; none if it is still to be done.
    pub const fn settled(self) -> Option<(OpState, Option<Reason>)> {
        match self {
            Self::Planned | Self::Centroid | Self::ReEmbed => None,
            Self::KeptApart => Some((OpState::KeptApart, None)),
            Self::SkipUniqueCollision => Some((OpState::Skipped, Some(Reason::SkipUniqueCollision))),
            Self::SkipCollision => Some((OpState::Skipped, Some(Reason::SkipCollision))),
            Self::SkipSingleton => Some((OpState::Skipped, Some(Reason::SkipSingleton))),
            Self::SkipMultimodal => Some((OpState::Skipped, Some(Reason::SkipMultimodal))),
        }
    }
}

named_variants! {
    /// Where an op stands, and in the end what became of it.
    pub enum OpState {
        /// In the plan, not yet done.
        Sealed = "sealed",
        /// Done.
        Applied = "applied",
        /// Nothing was left to do.
        Noop = "noop",
        /// Decided to leave two entities two.
        KeptApart = "kept_apart",
        /// Not done, for a reason that is no fault.
        Skipped = "skipped",
        /// Not done, because what the decision relied on no longer holds.
        Stale = "stale",
        /// Not done, because the store refused it.
        Failed = "failed",
        /// Done, and taken back.
        Undone = "undone",
    }
}

named_variants! {
    /// Why something was not done.
    pub enum Reason {
        /// The op it depends on was not applied.
        ParentNotApplied = "parent_not_applied",
        /// A person rejected it.
        Rejected = "rejected",
        /// A row it relied on is gone.
        RowMissing = "row_missing",
        /// A row it relied on was retired.
        RowRetired = "row_retired",
        /// A name or type it relied on changed.
        NameOrTypeChanged = "name_or_type_changed",
        /// A vector it relied on changed and no longer agrees.
        VectorsDisagree = "vectors_disagree",
        /// The embedding model of a member changed.
        EmbeddingModelChanged = "embedding_model_changed",
        /// The alias it relied on is gone.
        AliasGone = "alias_gone",
        /// A person said these two stay two.
        VerdictKeepApart = "verdict_keep_apart",
        /// The store refused the write.
        StoreRefused = "store_refused",
        /// The op would have changed what its kind may not change.
        ForbiddenEffect = "forbidden_effect",
        /// Another entity owns the survivor's name and type.
        SkipUniqueCollision = "skip_unique_collision",
        /// One survivor would absorb two clusters.
        SkipCollision = "skip_collision",
        /// Fewer than two members are left.
        SkipSingleton = "skip_singleton",
        /// The members' vectors speak of more than one concept.
        SkipMultimodal = "skip_multimodal",
        /// No vector can be had for the survivor's name.
        NoEmbedding = "no_embedding",
        /// This file keeps its vectors in LanceDB.
        VectorsInLancedb = "vectors_in_lancedb",
        /// The report needs an expertise.
        OpRequiresExpertise = "op_requires_expertise",
        /// The op's switch is off.
        OpDisabledByConfig = "op_disabled_by_config",
        /// No such op in this realm.
        OpNotSupportedByEngine = "op_not_supported_by_engine",
        /// No merge was planned.
        NoMergeClusters = "no_merge_clusters",
        /// Entities without a vector were decided by names alone.
        MissingEntityEmbedding = "missing_entity_embedding",
        /// More than half of the references look dead.
        LivenessSuspicious = "liveness_suspicious",
        /// The graph database is behind.
        MirrorPending = "mirror_pending",
        /// The graph database, which has the edges, does not answer.
        GraphUnavailable = "graph_unavailable",
        /// The store cannot do this.
        BackendUnsupported = "backend_unsupported",
        /// More ops were drafted than one run may hold.
        PlanCapReached = "plan_cap_reached",
        /// The rows are outside of the scope.
        OutOfScope = "out_of_scope",
    }
}

/// What an op does, in ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "intent", rename_all = "snake_case", deny_unknown_fields)]
pub enum Intent {
    /// Makes one entity of several.
    MergeEntities {
        /// The survivor.
        keep: Uuid,
        /// Those that are retired, in id order.
        absorb: Vec<Uuid>,
    },
    /// Takes what ingestion brought back of an absorbed entity over to its survivor.
    Reabsorb {
        /// The survivor.
        keep: Uuid,
        /// The entity that came back.
        absorbed: Uuid,
    },
    /// Gives a survivor a vector.
    Centroid {
        /// The survivor.
        entity: Uuid,
        /// Those whose vectors are averaged, the survivor included, in id order.
        members: Vec<Uuid>,
    },
    /// Removes dead references from a row.
    DropReferences {
        /// The row.
        row: RowKey,
        /// The chunks that are gone, in id order.
        chunks: Vec<Uuid>,
    },
    /// Makes the graph database say of a row what the tables say.
    Repair {
        /// The row.
        row: RowKey,
        /// Where an edge shall run that the graph alone has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<(Uuid, Uuid)>,
    },
    /// Looks, or explains why nothing is done, about these rows in id order.
    Observe {
        /// The rows spoken of.
        rows: Vec<Uuid>,
    },
}

impl Intent {
    /// The rows whose ops must be decided together are named by one id: the survivor's, or the row's own.
    pub fn cluster(&self) -> Uuid {
        match self {
            Self::MergeEntities { keep, .. } | Self::Reabsorb { keep, .. } => *keep,
            Self::Centroid { entity, .. } => *entity,
            Self::DropReferences { row, .. } | Self::Repair { row, .. } => row.id,
            Self::Observe { rows } => rows.first().copied().unwrap_or_default(),
        }
    }

    fn digest(&self, digester: Digester) -> Digester {
        let ids = |digester: Digester, ids: &[Uuid]| {
            ids.iter().fold(digester.number(ids.len() as u64), |digester, id| digester.bytes(id.as_bytes()))
        };
        match self {
            Self::MergeEntities { keep, absorb } => ids(digester.text("merge").bytes(keep.as_bytes()), absorb),
            Self::Reabsorb { keep, absorbed } => {
                digester.text("reabsorb").bytes(keep.as_bytes()).bytes(absorbed.as_bytes())
            }
            Self::Centroid { entity, members } => ids(digester.text("centroid").bytes(entity.as_bytes()), members),
            Self::DropReferences { row, chunks } => {
                ids(digester.text("drop_references").text(row.table.as_str()).bytes(row.id.as_bytes()), chunks)
            }
            Self::Repair { row, ends } => {
                let ends = ends.iter().flat_map(|(source, target)| [*source, *target]).collect::<Vec<_>>();
                ids(digester.text("repair").text(row.table.as_str()).bytes(row.id.as_bytes()), &ends)
            }
            Self::Observe { rows } => ids(digester.text("observe"), rows),
        }
    }
}

/// What a decision relied on, and what must still hold when it is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "premise", rename_all = "snake_case", deny_unknown_fields)]
pub enum Premise {
    /// The entity exists, is live, and has the name and type it had.
    Entity {
        /// Which one.
        entity: Uuid,
        /// Keyed digest of its name and type.
        name_and_type: Fingerprint,
    },
    /// The entity exists and has the name and type it had, live or not.
    EntityNamed {
        /// Which one.
        entity: Uuid,
        /// Keyed digest of its name and type.
        name_and_type: Fingerprint,
    },
    /// Both vectors come from one model and agree this well.
    Cosine {
        /// One entity.
        left: Uuid,
        /// The other.
        right: Uuid,
        /// Least cosine.
        score_min: Score,
    },
    /// The row exists and is live.
    RowLive {
        /// Which one.
        row: RowKey,
    },
    /// The row is an edge that the graph database alone has. Whether it still has it shows when it is told.
    EdgeInGraph {
        /// Where it runs: as it was read, and as merges of the same run may lead it.
        ends: Vec<(Uuid, Uuid)>,
    },
    /// The alias still says that this entity was absorbed by that one.
    Alias {
        /// The absorbed entity.
        absorbed: Uuid,
        /// Its survivor, at the end of the chain.
        keep: Uuid,
    },
}

/// An op as a planner drafts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Its kind.
    pub kind: OpKind,
    /// What the planner decided.
    pub decision: Decision,
    /// The rule that decided, by name.
    pub rule: String,
    /// What it does.
    pub intent: Intent,
    /// What the decision relied on.
    pub premises: Vec<Premise>,
    /// Drafts that must have been applied first.
    pub depends_on: Vec<ContentKey>,
    /// What speaks for it and what against, in numbers.
    pub evidence: Evidence,
}

impl Draft {
    /// The digest of what this op says it will do: kind, decision, rule and ids. Evidence and premises have no part in it.
    pub fn content_key(&self) -> ContentKey {
        let digester =
            Digester::new("dream/op/1").text(self.kind.as_str()).text(self.decision.as_str()).text(&self.rule);
        ContentKey(self.intent.digest(digester).finish())
    }
}

/// An op of a sealed plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// Its place in the run.
    pub seq: u32,
    /// The id of its effect.
    pub id: OpId,
    /// The digest of its content.
    pub content: ContentKey,
    /// The ops that are decided with it share this id.
    pub cluster: Uuid,
    /// What the planner said.
    pub draft: Draft,
    /// Where it stands.
    pub state: OpState,
    /// Why, if it was not done.
    pub reason: Option<Reason>,
}

impl Op {
    /// Seals a draft at a place of a run.
    pub fn seal(run: RunId, seq: u32, draft: Draft) -> Self {
        let content = draft.content_key();
        let (state, reason) = draft.decision.settled().unwrap_or((OpState::Sealed, None));
        let cluster = draft.intent.cluster();
        Self { seq, id: OpId::of(run, &content), content, cluster, draft, state, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realm::graph::evidence::DropEvidence;

    fn draft(chunks: &[u128]) -> Draft {
        Draft {
            kind: OpKind::SourceChunkIdsGc,
            decision: Decision::Planned,
            rule: "dead_at_plan".into(),
            intent: Intent::DropReferences {
                row: RowKey::entity(Uuid::from_u128(1)),
                chunks: chunks.iter().map(|chunk| Uuid::from_u128(*chunk)).collect(),
            },
            premises: vec![],
            depends_on: vec![],
            evidence: Evidence::Drop(DropEvidence { references: 3, dead: 1 }),
        }
    }

    #[test]
    fn the_content_key_follows_the_ids_and_not_the_evidence() {
        let mut other = draft(&[4]);
        other.evidence = Evidence::Drop(DropEvidence { references: 9, dead: 1 });
        assert_eq!(draft(&[4]).content_key(), other.content_key());
        assert_ne!(draft(&[4]).content_key(), draft(&[5]).content_key());
    }

    #[test]
    fn an_intent_reads_back_from_its_json() {
        let intent = draft(&[4]).intent;
        let json = serde_json::to_string(&intent).unwrap();
        assert_eq!(serde_json::from_str::<Intent>(&json).unwrap(), intent);
    }
}
