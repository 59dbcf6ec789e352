//! Where the edges of a namespace are.
//!
//! With a graph database configured Khora keeps edges only there. Where the graph holds an edge of the namespace it is the
//! source of edges; else the tables are. Where the graph is behind, or does not answer, nobody knows all edges, and an op
//! that needs them does not run.

use std::collections::BTreeSet;

use dream_core::change::{RowKey, Table};
use dream_core::clock::Moment;
use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use dream_core::op::{OpKind, Reason};
use dream_core::run::SkipReason;
use dream_ports::content::{ReferenceView, RelationshipView, VisitReference, VisitRelationship};
use dream_ports::graph::VisitEdgeReferences;
use dream_ports::mirror::{OutboxFilter, OutboxState};
use dream_ports::{Graph, GraphError, Snapshot};
use uuid::Uuid;

use crate::failure::ResultExt;
use crate::mirror::adopt;
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
    // What Khora left and nobody could take over yet is owed too.
    let waits_for_khora = adopt(handle.store.as_ref(), namespace).await.unwrap_or_else(|failure| {
        tracing::warn!("what Khora left in namespace {namespace} was not taken over: {failure}");
        false
    });
    if waits_for_khora || !handle.store.outbox(&owed).await.or_fail()?.is_empty() {
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
                    .edges(namespace, IdRange::ALL, &mut |edge| {
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

    /// Streams the references of entities, and of relationships wherever they are; the reason if that broke off. `visit` is
    /// told besides where an edge runs that the graph alone has.
    pub async fn references(
        &self,
        snapshot: &mut dyn Snapshot,
        namespace: NamespaceId,
        visit: &mut (dyn for<'r> FnMut(ReferenceView<'r>, bool) + Send),
    ) -> Result<Result<(), Reason>, Failure> {
        let mut in_tables: BTreeSet<Uuid> = BTreeSet::new();
        let from_tables: VisitReference<'_> = &mut |row| {
            if row.row.table == Table::Relationships {
                in_tables.insert(row.row.id);
            }
            visit(row, false);
        };
        snapshot.references(from_tables).await.or_fail()?;
        let Self::Graph(graph) = self else { return Ok(Ok(())) };
        let mut chunks: Vec<Uuid> = Vec::new();
        let first = graph.references(namespace, &mut |edge| chunks.extend(edge.source_chunk_ids)).await;
        if let Err(error) = first {
            return Ok(Err(away(namespace, &error)));
        }
        chunks.sort_unstable();
        chunks.dedup();
        let mut live = snapshot.live_chunks(&chunks).await.or_fail()?;
        live.sort_unstable();
        let from_graph: VisitEdgeReferences<'_> = &mut |edge| {
            if in_tables.contains(&edge.id) {
                return;
            }
            let mut seen = BTreeSet::new();
            let is_dead = |chunk: &&Uuid| live.binary_search(chunk).is_err();
            let dead: Vec<Uuid> = edge.source_chunk_ids.iter().filter(is_dead).copied().collect();
            let dead: Vec<Uuid> = dead.into_iter().filter(|chunk| seen.insert(*chunk)).collect();
            visit(
                ReferenceView {
                    row: RowKey::relationship(edge.id),
                    is_live: edge.is_live,
                    updated_at: Moment::from_micros(0),
                    references: u32::try_from(edge.source_chunk_ids.len()).unwrap_or(u32::MAX),
                    dead: &dead,
                    source_document_ids: edge.source_document_ids,
                    ends: Some(edge.ends),
                },
                true,
            );
        };
        Ok(graph.references(namespace, from_graph).await.map_err(|error| away(namespace, &error)))
    }
}
