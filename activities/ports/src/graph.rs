//! The graph database that mirrors a store.
//!
//! **Invariant:** nothing is written outside of a [`GraphTx`], and none is committed whose epoch is older than one that the
//! graph has seen of the namespace: a drainer that was given up for dead writes nothing when it wakes.

use async_trait::async_trait;
use dream_core::change::Row;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use dream_core::mirror::{GraphNeeds, GraphRows, GraphWrites};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::content::VisitRow;

/// What a graph database could not do. As with a store, no value of a row is ever named.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The server does not answer, or hung up.
    #[error("the graph database did not answer while it was asked to {operation}")]
    Unavailable {
        /// What was asked.
        operation: &'static str,
    },
    /// A deadlock, a conflict, a time-out: the same call can succeed.
    #[error("the graph database was busy and gave up to {operation} (code {code})")]
    Busy {
        /// What was asked.
        operation: &'static str,
        /// The server's code.
        code: String,
    },
    /// A write was refused: a constraint, a type, a size.
    #[error("the graph database refused to {operation} (code {code})")]
    Refused {
        /// What was asked.
        operation: &'static str,
        /// The server's code.
        code: String,
    },
    /// Wrong credentials, missing rights, a server this program cannot speak to.
    #[error("the graph database is not fit for this program to {operation} (code {code})")]
    Unfit {
        /// What was asked.
        operation: &'static str,
        /// The server's code.
        code: String,
    },
    /// The graph holds something that this program cannot read, or more at one node than it can hold.
    #[error("the graph holds something unreadable, found while it was asked to {operation}: {what}")]
    Unreadable {
        /// What was asked.
        operation: &'static str,
        /// Which property of which node or edge; never the content.
        what: String,
    },
    /// Another drainer works on the namespace now.
    #[error("another drainer works on namespace {namespace}")]
    Fenced {
        /// The namespace.
        namespace: NamespaceId,
    },
}

impl GraphError {
    /// Whether the same call can succeed later.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable { .. } | Self::Busy { .. } => true,
            Self::Refused { .. } | Self::Unfit { .. } | Self::Unreadable { .. } | Self::Fenced { .. } => false,
        }
    }
}

/// What a graph database is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphCapabilities {
    /// `neo4j` or `memgraph`, as detected.
    pub kind: String,
    /// The server's version.
    pub version: String,
}

/// A node, as verification sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeView {
    /// The entity.
    pub id: Uuid,
    /// Whether it is live.
    pub is_live: bool,
}

/// An edge between two nodes of a namespace.
#[derive(Clone, Copy, Debug)]
pub struct EdgeView<'a> {
    /// The relationship.
    pub id: Uuid,
    /// Where it starts.
    pub source: Uuid,
    /// Where it ends.
    pub target: Uuid,
    /// Its label.
    pub label: &'a str,
    /// Whether it is live.
    pub is_live: bool,
    /// Whether one of its ends is retired.
    pub is_stranded: bool,
}

/// The references of an edge.
#[derive(Clone, Copy, Debug)]
pub struct EdgeReferences<'a> {
    /// The relationship.
    pub id: Uuid,
    /// Where it starts and ends.
    pub ends: (Uuid, Uuid),
    /// Whether it is live.
    pub is_live: bool,
    /// Documents it was extracted from.
    pub source_document_ids: &'a [Uuid],
    /// Chunks it was extracted from.
    pub source_chunk_ids: &'a [Uuid],
}

/// A retired node that live edges hang on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stray {
    /// The node.
    pub node: Uuid,
    /// Its live edges.
    pub edges_live: u32,
}

/// A callback for nodes.
pub type VisitNode<'v> = &'v mut (dyn FnMut(NodeView) + Send);

/// A callback for edges.
pub type VisitEdge<'v> = &'v mut (dyn for<'r> FnMut(EdgeView<'r>) + Send);

/// A callback for references of edges.
pub type VisitEdgeReferences<'v> = &'v mut (dyn for<'r> FnMut(EdgeReferences<'r>) + Send);

/// A graph database.
#[async_trait]
pub trait Graph: Send + Sync {
    /// Connects, and says what is there.
    async fn probe(&self) -> Result<GraphCapabilities, GraphError>;

    /// Makes what this program needs besides Khora's own: the constraint of its marks, an index on the ids of nodes where
    /// there is none. Doing it again changes nothing.
    async fn prepare(&self) -> Result<(), GraphError>;

    /// Whether the graph holds an edge of the namespace; where it does, it is the source of edges.
    async fn has_edges(&self, namespace: NamespaceId) -> Result<bool, GraphError>;

    /// Streams the nodes of a namespace with these ids, retired ones included, unordered.
    async fn nodes(&self, namespace: NamespaceId, ids: IdRange, visit: VisitNode<'_>) -> Result<(), GraphError>;

    /// Streams the edges of a namespace with these ids, ended ones included, unordered.
    async fn edges(&self, namespace: NamespaceId, ids: IdRange, visit: VisitEdge<'_>) -> Result<(), GraphError>;

    /// These nodes with all that a table would hold of them, unlocked.
    async fn nodes_at(&self, namespace: NamespaceId, nodes: &[Uuid], visit: VisitRow<'_>) -> Result<(), GraphError>;

    /// The edges between these nodes with all that a table would hold of them, unlocked.
    async fn edges_at(
        &self,
        namespace: NamespaceId,
        ends: &[(Uuid, Uuid)],
        visit: VisitRow<'_>,
    ) -> Result<(), GraphError>;

    /// Streams the edges of a namespace that have references, unordered.
    async fn references(&self, namespace: NamespaceId, visit: VisitEdgeReferences<'_>) -> Result<(), GraphError>;

    /// Streams the edges of a namespace with all that a table would hold of them, ended ones included, for export.
    async fn edge_rows(&self, namespace: NamespaceId, visit: VisitRow<'_>) -> Result<(), GraphError>;

    /// Retired nodes that live edges hang on, at most `limit`.
    async fn strays(&self, namespace: NamespaceId, limit: u32) -> Result<Vec<Stray>, GraphError>;

    /// Opens a transaction for a drainer, and locks the namespace's mark. [`GraphError::Fenced`] where the graph has seen a
    /// newer epoch.
    async fn begin(&self, namespace: NamespaceId, epoch: i64) -> Result<Box<dyn GraphTx>, GraphError>;

    /// Writes nodes as import has them: merged by id, properties set. Rows are of the table of entities.
    async fn import_nodes(&self, namespace: NamespaceId, rows: &[Row]) -> Result<(), GraphError>;

    /// Writes edges as import has them: merged by ends, label and id. Rows are of the table of relationships. Answers the
    /// ids of those of which an end is missing.
    async fn import_edges(&self, namespace: NamespaceId, rows: &[Row]) -> Result<Vec<Uuid>, GraphError>;
}

/// One transaction of a drainer. Dropping it gives it up.
#[async_trait]
pub trait GraphTx: Send {
    /// The last batch that was committed on this namespace.
    fn batch_committed(&self) -> Option<Uuid>;

    /// Locks what is needed and takes it in. Needs that were loaded already may be loaded again; `edges` by id alone are
    /// the caller's to resolve.
    async fn load(&mut self, needs: &GraphNeeds, rows: &mut GraphRows) -> Result<(), GraphError>;

    /// Writes.
    async fn write(&mut self, writes: &GraphWrites) -> Result<(), GraphError>;

    /// Leaves `batch` as the namespace's mark and commits.
    async fn commit(self: Box<Self>, batch: Uuid) -> Result<(), GraphError>;
}
