//! The outbox: what the graph database must still be told.
//!
//! One first-in-first-out queue and one drainer per namespace. A drainer takes its own lease, with an epoch; it keeps what the
//! graph held before a batch, with the batch's id, in one transaction, before it writes the graph, and closes the rows in
//! another one afterwards. A batch that was kept and not closed is the one whose end is not known: the graph's own mark says.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::change::{Row, RowKey};
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, OpId, RunId};
use dream_core::mirror::{Answer, Direction, GraphRecord, Verb};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StoreError;

/// How long a drainer that gives no sign of life is waited for, in seconds. Shorter than a run's lease: what waits for the end
/// of it is a queue that everybody wants short, and what it guards is guarded by the graph's own mark as well.
pub const DRAIN_TERM_SECONDS: i64 = 20;

/// Why rows are put off whose server is away.
pub const GRAPH_UNAVAILABLE: &str = "graph_unavailable";

/// The proof that a drainer holds a namespace's queue. Every drainer gets a new epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainFence {
    /// The namespace.
    pub namespace: NamespaceId,
    /// Counts the drainers of this namespace.
    pub epoch: i64,
}

/// Where an outbox row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxState {
    /// It waits to be told.
    Open,
    /// It failed again and again, and was set aside.
    Parked,
    /// It was told.
    Done,
    /// A person gave it up.
    Dropped,
    /// It was written while no graph database was configured.
    NoGraph,
}

impl OutboxState {
    /// Its name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Parked => "parked",
            Self::Done => "done",
            Self::Dropped => "dropped",
            Self::NoGraph => "no_graph",
        }
    }
}

impl std::str::FromStr for OutboxState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Open, Self::Parked, Self::Done, Self::Dropped, Self::NoGraph]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or(())
    }
}

/// A row of the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its place in the queue.
    pub id: i64,
    /// The run.
    pub run: RunId,
    /// The op.
    pub op: OpId,
    /// Whether the op was carried out or taken back.
    pub direction: Direction,
    /// What to do to the graph.
    pub verbs: Vec<Verb>,
    /// Where it stands.
    pub state: OutboxState,
    /// How often telling it failed.
    pub attempts: u32,
    /// Not before this moment; none if at once.
    pub next_at: Option<Moment>,
    /// Why it failed last, as a code.
    pub reason: Option<String>,
    /// The batch it was kept for and is not closed of.
    pub batch: Option<Uuid>,
    /// When its op was committed.
    pub written_at: Moment,
}

/// What a drainer keeps of a row before it writes the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRow {
    /// The row.
    pub id: i64,
    /// Its op.
    pub op: OpId,
    /// Its direction.
    pub direction: Direction,
    /// What the graph held before.
    pub record: GraphRecord,
    /// What it met.
    pub answer: Answer,
}

/// What a namespace owes to its graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owing {
    /// The namespace.
    pub namespace: NamespaceId,
    /// Rows that wait.
    pub open: u64,
    /// Rows that were set aside.
    pub parked: u64,
    /// When the oldest of them was written.
    pub oldest: Moment,
    /// The earliest moment at which one of the open rows may be tried; none if at once.
    pub next_at: Option<Moment>,
}

/// What was taken over of what Khora left for the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Entries that are in the outbox now.
    pub entries: u64,
    /// Runs of Khora's that hold something which cannot be read, and stays there.
    pub unreadable: Vec<RunId>,
    /// Whether there is something, and nothing was taken because Khora dreams over the namespace.
    pub waits_for_khora: bool,
}

/// Which rows to list.
#[derive(Clone, Debug, Default)]
pub struct OutboxFilter {
    /// Of this namespace only.
    pub namespace: Option<NamespaceId>,
    /// Of this run only.
    pub run: Option<RunId>,
    /// In these states; all if empty.
    pub states: Vec<OutboxState>,
    /// Behind this place.
    pub after: i64,
    /// At most so many.
    pub limit: u32,
}

/// The outbox of a store.
#[async_trait]
pub trait MirrorStore: Send + Sync {
    /// Takes the drainer's lease of a namespace; none if somebody else holds it.
    async fn begin_drain(&self, namespace: NamespaceId, holder: &str) -> Result<Option<DrainFence>, StoreError>;

    /// Renews it. [`StoreError::Busy`] with the code `drainer_lost` if somebody else took it since.
    async fn renew_drain(&self, fence: &DrainFence) -> Result<(), StoreError>;

    /// Gives it back. Having lost it is no error.
    async fn end_drain(&self, fence: &DrainFence) -> Result<(), StoreError>;

    /// Rows in the order of the queue.
    async fn outbox(&self, filter: &OutboxFilter) -> Result<Vec<OutboxRow>, StoreError>;

    /// What was kept of these ops when they were carried out on the graph, and not taken back since.
    async fn graph_records(&self, ops: &[OpId]) -> Result<BTreeMap<OpId, GraphRecord>, StoreError>;

    /// The same of a whole namespace, and how ops that were taken back left the graph, in the order in which it was told,
    /// behind a place of the queue; each with its place.
    async fn graph_records_behind(
        &self,
        namespace: NamespaceId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, GraphRecord)>, StoreError>;

    /// Content rows as they stand now; one that is not there is left out.
    async fn content_rows(&self, namespace: NamespaceId, keys: &[RowKey]) -> Result<Vec<Row>, StoreError>;

    /// Keeps what the graph held before a batch, the edges it touches, and the batch's id on its rows, in one transaction,
    /// under the fence. What an earlier batch that did not happen kept of the same rows is replaced.
    async fn keep_batch(&self, fence: &DrainFence, batch: Uuid, rows: &[KeptRow]) -> Result<(), StoreError>;

    /// Closes the rows of a batch that the graph has committed, in one transaction, under the fence: done, each with what it
    /// met. Answers how many of them missed something.
    async fn close_batch(&self, fence: &DrainFence, batch: Uuid) -> Result<u64, StoreError>;

    /// Takes a batch's id off its rows: the graph has not committed it.
    async fn forget_batch(&self, fence: &DrainFence, batch: Uuid) -> Result<(), StoreError>;

    /// Counts a failed attempt of these rows, and says when they may be tried again; none sets them aside. With the reason
    /// [`GRAPH_UNAVAILABLE`] nothing is counted: that is no fault of a row.
    async fn put_off(
        &self,
        fence: &DrainFence,
        rows: &[i64],
        reason: &str,
        next_at: Option<Moment>,
    ) -> Result<(), StoreError>;

    /// Takes what Khora left in its own run table over into the outbox, in one transaction, and clears it there as Khora does.
    /// Nothing is taken while Khora dreams over the namespace, and nothing where Khora has no run table.
    async fn adopt(&self, namespace: NamespaceId) -> Result<Adopted, StoreError>;

    /// Namespaces for which Khora left something, by namespace, behind `after`. It may be nothing that can be taken over.
    async fn adoptable(&self, after: Option<NamespaceId>, limit: u32) -> Result<Vec<NamespaceId>, StoreError>;

    /// What one namespace owes; none if nothing.
    async fn owing_of(&self, namespace: NamespaceId) -> Result<Option<Owing>, StoreError>;

    /// Namespaces with rows that are not done, by namespace, behind `after`.
    async fn owing(&self, after: Option<NamespaceId>, limit: u32) -> Result<Vec<Owing>, StoreError>;

    /// Rows of a run that are not done: open, and set aside.
    async fn owed_by_run(&self, run: RunId) -> Result<(u64, u64), StoreError>;

    /// Lets rows of all namespaces that were put off be tried at once: whoever asks by hand does not wait. Answers how many.
    async fn hurry(&self) -> Result<u64, StoreError>;

    /// Sets parked rows of a namespace free, or gives them up: all of them, or the ones named. Answers how many.
    async fn release_parked(&self, namespace: NamespaceId, rows: Option<&[i64]>, drop: bool)
    -> Result<u64, StoreError>;
}
