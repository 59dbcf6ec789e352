//! Groups: the one way in which memories are changed, and the one way in which changes are taken back.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::clock::Moment;
use dream_core::id::{ContentKey, OpId, RunId};
use dream_core::op::{OpKind, OpState, Reason};
use dream_core::realm::graph::centroid::EmbeddingAnswer;
use dream_core::undo::{ChangedSince, OnChanged};

use crate::error::StoreError;
use crate::run::{Fence, Standstill};

/// Which ops to carry out in one transaction.
#[derive(Clone, Debug)]
pub struct GroupRequest {
    /// The last place that may be part of it.
    pub seq_to: u32,
    /// How many ops to aim at. A cluster is never cut, except when one op is asked for.
    pub ops_max: u32,
    /// Least cosine between two members of a cluster whose vectors are averaged.
    pub centroid_cosine_min: f32,
    /// Vectors that an embedder made.
    pub answers: BTreeMap<ContentKey, EmbeddingAnswer>,
    /// Whether a graph database waits for the outbox.
    pub has_graph: bool,
}

/// What became of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupOutcome {
    /// Committed.
    Committed {
        /// The last op of the group.
        seq: u32,
        /// What became of its ops.
        ops: Vec<(OpKind, OpState, Option<Reason>)>,
    },
    /// No op was left.
    Nothing,
    /// Something stands against going on. Nothing was changed.
    Standing(Standstill),
    /// Khora dreams over this namespace right now. Nothing was changed.
    KhoraDreams,
}

/// Which ops to take back in one transaction.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// The run they belong to.
    pub run: RunId,
    /// The ops, newest first.
    pub ops: Vec<OpId>,
    /// What to do with cells that were changed since.
    pub on_changed: OnChanged,
    /// Whether to look only: everything is decided, nothing is written.
    pub dry_run: bool,
    /// Whether a graph database waits for the outbox.
    pub has_graph: bool,
}

/// What became of an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoOutcome {
    /// Ops that were taken back.
    pub undone: u32,
    /// Ops of which nothing was left to take back.
    pub nothing: u32,
    /// Cells that were changed since.
    pub changed: Vec<(OpId, ChangedSince)>,
}

/// Groups of a store.
#[async_trait]
pub trait ApplyStore: Send + Sync {
    /// Carries out the next ops of a run: locks, fence, rows, decision, images, undo, outbox, states and checkpoint, in one
    /// transaction. [`StoreError::Refused`] means that a row of the group was refused and nothing was changed; the caller
    /// asks for fewer until the op at fault stands alone.
    async fn apply_group(&self, fence: &Fence, request: &GroupRequest) -> Result<GroupOutcome, StoreError>;

    /// Marks the next op of a run failed, after the store refused it standing alone.
    async fn fail_next(&self, fence: &Fence, reason: Reason) -> Result<(), StoreError>;

    /// Takes ops back: locks, fence, rows, images, outbox, states and verdicts, in one transaction.
    async fn undo_group(&self, fence: &Fence, request: &UndoRequest) -> Result<UndoOutcome, StoreError>;

    /// Takes the lease for an undo of a closed run.
    async fn fence_for_undo(&self, run: RunId, holder: &str) -> Result<Fence, StoreError>;

    /// Gives the lease of an undo back and says what the run is now.
    async fn end_undo(&self, fence: &Fence) -> Result<(), StoreError>;

    /// Outbox rows that wait, and the age of the oldest.
    async fn outbox_open(&self) -> Result<(u64, Option<Moment>), StoreError>;
}
