//! Ops: what a planner drafts, what a plan seals, and what became of it.
//!
//! An op names rows by id and says by which rule; it holds no memory text. What its decision relied on stands in its
//! premises, which are checked again on the locked rows; sums, unions and survivors' texts are computed there and then.
//!
//! **Invariant:** two ops that would do the same to the same rows by the same rule have the same content key, in any run,
//! in any store. A new kind needs a wire name, an [`Intent`], an arm wherever the compiler asks for one, and an op in the
//! world of the saga kit.

mod intent;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::named_variants;
use crate::digest::Digester;
use crate::id::{ContentKey, OpId, RunId};
use crate::realm::graph::evidence::Evidence;
use crate::run::Realm;

pub use intent::{Intent, Premise};

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
        /// Facts past their end.
        SpaceExpire = "space_expire",
        /// Scratch facts that nobody recalled.
        SpaceStaleScratch = "space_stale_scratch",
        /// Facts that say the same, letter by letter.
        SpaceDedupeExact = "space_dedupe_exact",
        /// Facts that a model holds for one.
        SpaceMerge = "space_merge",
        /// Facts that a model keeps nearer, or less near.
        SpacePromote = "space_promote",
        /// The digest of a week.
        SpaceDigest = "space_digest",
        /// What is said of the owner of a space.
        SpaceProfile = "space_profile",
        /// Open ends worth following up.
        SpaceProposal = "space_proposal",
        /// Facts that cannot both be true.
        SpaceContradiction = "space_contradiction",
    }
}

impl OpKind {
    /// The realm in which ops of this kind are planned.
    pub const fn realm(self) -> Realm {
        match self {
            Self::SchemaDriftReport
            | Self::OrphanReport
            | Self::SourceChunkIdsAudit
            | Self::Reabsorb
            | Self::DedupeEntities
            | Self::CentroidRecompute
            | Self::SourceChunkIdsGc
            | Self::MirrorRepair => Realm::Graph,
            Self::SpaceExpire
            | Self::SpaceStaleScratch
            | Self::SpaceDedupeExact
            | Self::SpaceMerge
            | Self::SpacePromote
            | Self::SpaceDigest
            | Self::SpaceProfile
            | Self::SpaceProposal
            | Self::SpaceContradiction => Realm::Space,
        }
    }

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
            Self::Reabsorb => 1,
            Self::DedupeEntities => 2,
            Self::CentroidRecompute => 3,
            Self::SourceChunkIdsGc => 4,
            Self::MirrorRepair => 5,
            // Audits come first. The rounds of a space are sealed in the order in which they were drafted.
            Self::SchemaDriftReport
            | Self::OrphanReport
            | Self::SourceChunkIdsAudit
            | Self::SpaceExpire
            | Self::SpaceStaleScratch
            | Self::SpaceDedupeExact
            | Self::SpaceMerge
            | Self::SpacePromote
            | Self::SpaceDigest
            | Self::SpaceProfile
            | Self::SpaceProposal
            | Self::SpaceContradiction => 0,
        }
    }

    /// The label Khora gives this kind's phase in its reports.
    pub const fn report_phase(self) -> &'static str {
        match self {
            Self::SchemaDriftReport | Self::OrphanReport | Self::SourceChunkIdsAudit => "audit",
            Self::CentroidRecompute => "mutation_plan",
            Self::SourceChunkIdsGc | Self::MirrorRepair => "mutation",
            // Those of a space too, of which Khora has none.
            Self::Reabsorb
            | Self::DedupeEntities
            | Self::SpaceExpire
            | Self::SpaceStaleScratch
            | Self::SpaceDedupeExact
            | Self::SpaceMerge
            | Self::SpacePromote
            | Self::SpaceDigest
            | Self::SpaceProfile
            | Self::SpaceProposal
            | Self::SpaceContradiction => "plan",
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
            Self::SpaceExpire => "expired facts",
            Self::SpaceStaleScratch => "stale scratch",
            Self::SpaceDedupeExact => "exact duplicates",
            Self::SpaceMerge => "merges",
            Self::SpacePromote => "promotions",
            Self::SpaceDigest => "weekly digest",
            Self::SpaceProfile => "profile",
            Self::SpaceProposal => "proposals",
            Self::SpaceContradiction => "contradictions",
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
        /// A fact was changed since it was read.
        FactChanged = "fact_changed",
        /// A fact was pinned since it was read.
        FactPinned = "fact_pinned",
        /// A fact was forgotten since it was read.
        FactGone = "fact_gone",
        /// A fact was recalled since it was read.
        FactRecalled = "fact_recalled",
        /// What was to be written was forgotten.
        TextForgotten = "text_forgotten",
    }
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
    use crate::change::RowKey;
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
