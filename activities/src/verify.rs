//! Verify: whether the graph says what the store says, and what was kept of each op.

use dream_core::change::{RowKey, Table};
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::{Compared, Comparison, Found, OWNED_PER_BATCH};
use dream_ports::content::{VisitRow, VisitStanding};
use dream_ports::graph::VisitEdge;
use dream_ports::{Graph, GraphError};
use serde::Serialize;
use uuid::Uuid;

use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Records of what was told that are read at once.
const RECORDS_PER_PAGE: u32 = 1_000;

/// What a verification came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The namespace, by its row id.
    pub namespace: NamespaceId,
    /// The comparison.
    #[serde(flatten)]
    pub compared: Compared,
    /// Outbox rows that the graph was not told of yet: until it is, differences are to be expected.
    pub left: u64,
    /// Outbox rows that were set aside.
    pub parked: u64,
}

impl Verified {
    /// Whether nothing differs and nothing is owed.
    pub fn is_clean(&self) -> bool {
        self.compared.differences.is_empty() && self.left == 0 && self.parked == 0
    }
}

/// Compares a namespace with its graph.
pub async fn verify(handle: &StoreHandle, namespace: NamespaceId) -> Result<Verified, Failure> {
    let Some(graph) = handle.graph.as_deref() else {
        return Err(Failure::new(Code::Configuration, "no graph database is configured for this store"));
    };
    let unreachable = |error: GraphError| Failure::new(Code::GraphUnavailable, error.to_string());
    let compared = compare(handle, graph, namespace, &mut |_| {}).await?.map_err(unreachable)?;
    let owing = handle.store.owing_of(namespace).await.or_fail()?;
    let (left, parked) = owing.map_or((0, 0), |owing| (owing.open, owing.parked));
    Ok(Verified { namespace, compared, left, parked })
}

/// Compares everything that both hold, and what was kept of each op; `visit` is told of each difference.
pub(crate) async fn compare(
    handle: &StoreHandle,
    graph: &dyn Graph,
    namespace: NamespaceId,
    visit: &mut (dyn FnMut(Found) + Send),
) -> Result<Result<Compared, GraphError>, Failure> {
    let mut comparison = Comparison::default();
    loop {
        feed_store(handle, namespace, &mut comparison).await?;
        if let Err(error) = feed_graph(graph, namespace, &mut comparison).await {
            return Ok(Err(error));
        }
        if let Err(error) = feed_properties(handle, graph, namespace, &mut comparison).await? {
            return Ok(Err(error));
        }
        if !comparison.finish_pass(visit) {
            return Ok(Ok(comparison.finish()));
        }
    }
}

/// What the tables hold, and what was kept of each op, in the order of the queue.
async fn feed_store(handle: &StoreHandle, namespace: NamespaceId, comparison: &mut Comparison) -> Result<(), Failure> {
    let mut snapshot = handle.store.snapshot(namespace).await.or_fail()?;
    for table in [Table::Entities, Table::Relationships] {
        let ids = comparison.range();
        let visit: VisitStanding<'_> = &mut |row| match row.edge {
            Some((ends, relationship_type)) => comparison.relationship(row.id, ends, relationship_type, row.is_live),
            None => comparison.entity(row.id, row.is_live),
        };
        snapshot.standing(table, ids, visit).await.or_fail()?;
    }
    drop(snapshot);
    let mut after = 0;
    loop {
        let page = handle.store.graph_records_behind(namespace, after, RECORDS_PER_PAGE).await.or_fail()?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = *last;
        page.iter().for_each(|(_, record)| comparison.told(record));
    }
}

async fn feed_graph(graph: &dyn Graph, namespace: NamespaceId, comparison: &mut Comparison) -> Result<(), GraphError> {
    let ids = comparison.range();
    graph.nodes(namespace, ids, &mut |node| comparison.node(node.id, node.is_live)).await?;
    let ids = comparison.range();
    let visit: VisitEdge<'_> = &mut |edge| {
        comparison.edge(edge.id, (edge.source, edge.target), edge.label, edge.is_live, edge.is_stranded);
    };
    graph.edges(namespace, ids, visit).await
}

/// The properties that ops wrote, as they are now, and of those that are others what the tables hold.
async fn feed_properties(
    handle: &StoreHandle,
    graph: &dyn Graph,
    namespace: NamespaceId,
    comparison: &mut Comparison,
) -> Result<Result<(), GraphError>, Failure> {
    let (nodes, ends) = comparison.owned();
    let ends: Vec<(Uuid, Uuid)> = ends.into_iter().collect();
    let mut differing: Vec<RowKey> = Vec::new();
    for nodes in nodes.chunks(OWNED_PER_BATCH) {
        let visit: VisitRow<'_> = &mut |row| differing.extend(comparison.properties(&row).then_some(row.key()));
        if let Err(error) = graph.nodes_at(namespace, nodes, visit).await {
            return Ok(Err(error));
        }
    }
    for ends in ends.chunks(OWNED_PER_BATCH) {
        let visit: VisitRow<'_> = &mut |row| differing.extend(comparison.properties(&row).then_some(row.key()));
        if let Err(error) = graph.edges_at(namespace, ends, visit).await {
            return Ok(Err(error));
        }
    }
    for key in differing {
        if let Some(row) = handle.store.row(key).await.or_fail()? {
            comparison.stored(&row);
        }
    }
    Ok(Ok(()))
}
