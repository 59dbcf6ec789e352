//! Where the edges of a namespace are.
//!
//! With a graph database configured Khora keeps edges only there. Where the graph holds an edge of the namespace it is the
//! source of edges; else the tables are. Where the graph is behind, or does not answer, nobody knows all edges, and an op
//! that needs them does not run.

use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_core::op::{OpKind, Reason};
use dream_core::run::SkipReason;
use dream_ports::content::RelationshipView;
use dream_ports::content::VisitRelationship;
use dream_ports::mirror::{OutboxFilter, OutboxState};
use dream_ports::{Graph, GraphError, Snapshot};

use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Where edges are read.
pub enum Edges<'a> {
    /// In the store's own table.
    Store,
    /// In the graph database.
    Graph(&'a dyn Graph),
}

/// Finds out where the edges of a namespace are; the reason if nobody knows them all.
pub async fn edges(handle: &StoreHandle, namespace: NamespaceId) -> Result<Result<Edges<'_>, Reason>, Failure> {
    let Some(graph) = handle.graph.as_deref() else { return Ok(Ok(Edges::Store)) };
    let owed = OutboxFilter {
        namespace: Some(namespace),
        states: vec![OutboxState::Open, OutboxState::Parked],
        limit: 1,
        ..OutboxFilter::default()
    };
    if !handle.store.outbox(&owed).await.or_fail()?.is_empty() {
        return Ok(Err(Reason::MirrorPending));
    }
    Ok(match graph.has_edges(namespace).await {
        Ok(true) => Ok(Edges::Graph(graph)),
        Ok(false) => Ok(Edges::Store),
        Err(error) => Err(away(namespace, &error)),
    })
}

/// The reason why edges that the graph has cannot be read.
pub fn away(namespace: NamespaceId, error: &GraphError) -> Reason {
    tracing::warn!("the edges of namespace {namespace} cannot be read: {error}");
    Reason::GraphUnavailable
}

/// What a run says of an op that needs edges which nobody knows.
pub const fn skipped(kind: OpKind, reason: Reason) -> SkipReason {
    SkipReason { op_kind: kind, reason, count: None }
}

impl Edges<'_> {
    /// In one word, for reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Store => "sql",
            Self::Graph(_) => "graph",
        }
    }

    /// Streams live edges; the reason if that broke off.
    pub async fn visit(
        &self,
        snapshot: &mut dyn Snapshot,
        namespace: NamespaceId,
        visit: VisitRelationship<'_>,
    ) -> Result<Result<(), Reason>, Failure> {
        match self {
            Self::Store => snapshot.relationships(visit).await.or_fail().map(Ok),
            Self::Graph(graph) => {
                let streamed = graph
                    .edges(namespace, &mut |edge| {
                        if edge.is_live {
                            let (id, source, target) = (edge.id, edge.source, edge.target);
                            visit(RelationshipView { id, source, target, relationship_type: edge.label });
                        }
                    })
                    .await;
                Ok(streamed.map_err(|error| away(namespace, &error)))
            }
        }
    }
}
