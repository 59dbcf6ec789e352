//! Steps, findings, drafts and the sealed plan of a run.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::change::RowKey;
use dream_core::clock::Moment;
use dream_core::id::{ContentKey, NamespaceId, OpId, RunId};
use dream_core::op::{Draft, Op, OpKind, OpState};
use dream_core::plan::{Plan, PlanHash};
use dream_core::run::SkipReason;
use dream_core::undo::UndoRecord;
use dream_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StoreError;
use crate::run::Fence;

/// A step of a run that is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// `audit:<kind>`, `plan:<kind>`, `seal`.
    pub name: String,
    /// What it had to say, as JSON: counts and reports of bounds, no text.
    pub summary: String,
}

/// What an audit found about one subject, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The audit.
    pub kind: OpKind,
    /// Its place within the audit.
    pub ordinal: u32,
    /// What was found. May hold names of types, never other text.
    pub payload: String,
}

/// A sealed op with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpRecord {
    /// The op.
    pub op: Op,
    /// What it did, as JSON; none if it did nothing yet.
    pub numbers: Option<String>,
    /// A person's word on it: accepted or rejected.
    pub review: Option<bool>,
    /// When it was carried out.
    pub applied_at: Option<Moment>,
    /// When it was taken back.
    pub undone_at: Option<Moment>,
}

/// Which ops to load.
#[derive(Clone, Debug, Default)]
pub struct OpFilter {
    /// Only ops after this place.
    pub after_seq: u32,
    /// At most this many.
    pub limit: u32,
    /// Only of this kind.
    pub kind: Option<OpKind>,
    /// Only in these states; all if empty.
    pub states: Vec<OpState>,
}

/// A stretch of ops that are still sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StretchOps {
    /// The first op.
    pub seq_from: u32,
    /// The last op.
    pub seq_to: u32,
    /// How many there are of each kind.
    pub kinds: BTreeMap<OpKind, u32>,
    /// All ops of the run that are still sealed.
    pub left: u32,
}

/// An op that changed a row, for the history of that row.
#[derive(Clone, Debug)]
pub struct Touch {
    /// The run.
    pub run: RunId,
    /// The op.
    pub op: OpId,
    /// When it was applied.
    pub applied_at: Moment,
    /// What it changed.
    pub record: UndoRecord,
}

/// What a run remembers of a namespace's types for the next one, as JSON.
pub type Baseline = String;

/// Steps, findings, drafts and plans of a store.
#[async_trait]
pub trait PlanStore: Send + Sync {
    /// The steps that are done.
    async fn steps(&self, run: RunId) -> Result<Vec<Step>, StoreError>;

    /// Writes the findings of an audit and marks its step done, in one transaction.
    async fn write_findings(&self, fence: &Fence, step: &Step, findings: &[Finding]) -> Result<(), StoreError>;

    /// The findings of a run, by kind and place.
    async fn findings(&self, run: RunId) -> Result<Vec<Finding>, StoreError>;

    /// Writes drafts of a planner's attempt. They count for nothing until [`PlanStore::publish`].
    async fn write_drafts(&self, fence: &Fence, planner: OpKind, drafts: &[Draft]) -> Result<(), StoreError>;

    /// Makes the drafts of this attempt the planner's, and marks its step done, in one transaction.
    async fn publish(
        &self,
        fence: &Fence,
        planner: OpKind,
        step: &Step,
        skip_reasons: &[SkipReason],
    ) -> Result<(), StoreError>;

    /// The published drafts of a run; of all its planners, or of one.
    async fn drafts(&self, run: RunId, planner: Option<OpKind>) -> Result<Vec<Draft>, StoreError>;

    /// Writes the sealed plan and marks the step done, in one transaction. A plan that is sealed stays as it is: a retry has
    /// no drafts any more, and must not take its ops away.
    async fn write_plan(&self, fence: &Fence, plan: &Plan, audit: &PlanHash, step: &Step) -> Result<(), StoreError>;

    /// Ops of a run, in the order of their places.
    async fn ops(&self, run: RunId, filter: &OpFilter) -> Result<Vec<OpRecord>, StoreError>;

    /// An op by the id of its effect, with its run.
    async fn op(&self, op: OpId) -> Result<Option<(RunId, OpRecord)>, StoreError>;

    /// The next ops that are still sealed, about `ops_max` of them, cut between clusters.
    async fn next_stretch(&self, run: RunId, ops_max: u32) -> Result<Option<StretchOps>, StoreError>;

    /// Marks the ops rejected that a person rejected, or all that are left, of a run that waits for review.
    async fn settle_review(&self, run: RunId, reject_all: bool) -> Result<(), StoreError>;

    /// A person's word on ops of a run that waits for review; answers how many it took.
    async fn review(&self, run: RunId, seqs: &[u32], accept: bool) -> Result<u32, StoreError>;

    /// Verdicts of a namespace.
    async fn verdicts(&self, namespace: NamespaceId) -> Result<Vec<Verdict>, StoreError>;

    /// Writes a person's verdicts.
    async fn write_verdicts(&self, namespace: NamespaceId, verdicts: &[Verdict]) -> Result<(), StoreError>;

    /// What the last completed run in which the audit ran remembered.
    async fn baseline(&self, namespace: NamespaceId, kind: OpKind) -> Result<Option<Baseline>, StoreError>;

    /// Remembers it for the next run.
    async fn write_baseline(
        &self,
        namespace: NamespaceId,
        kind: OpKind,
        run: RunId,
        baseline: &str,
    ) -> Result<(), StoreError>;

    /// Undo records of a run, in the order of their ops: op, place and record. At most `limit` after `after_seq`.
    async fn undo_records(
        &self,
        run: RunId,
        after_seq: u32,
        limit: u32,
    ) -> Result<Vec<(OpId, u32, UndoRecord)>, StoreError>;

    /// Applied ops that changed a row, newest first, at most `limit`.
    async fn touches(&self, row: RowKey, limit: u32) -> Result<Vec<Touch>, StoreError>;

    /// Runs after this one whose applied ops build on rows that this op (or, without an op, any op of the run) changed.
    async fn built_upon_by(&self, run: RunId, op: Option<OpId>) -> Result<Vec<RunId>, StoreError>;

    /// Vectors that an embedder made, by what was asked.
    async fn answers(&self, questions: &[ContentKey]) -> Result<Vec<(ContentKey, String, Vec<f32>)>, StoreError>;

    /// Keeps a vector that an embedder made.
    async fn write_answer(&self, question: ContentKey, model: &str, vector: &[f32]) -> Result<(), StoreError>;

    /// Display names and types of entities that still exist.
    async fn names(&self, entities: &[Uuid]) -> Result<Vec<(Uuid, String, String)>, StoreError>;
}
