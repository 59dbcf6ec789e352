//! Verify: whether the graph says what the store says, and what was kept of each op.

use dream_core::change::{Column, Row, Table};
use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::{Compared, Comparison};
use dream_ports::{Graph, GraphError};
use serde::Serialize;

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
    let comparison = compare(handle, graph, namespace).await?.map_err(unreachable)?;
    let owing = handle.store.owing_of(namespace).await.or_fail()?;
    let (left, parked) = owing.map_or((0, 0), |owing| (owing.open, owing.parked));
    Ok(Verified { namespace, compared: comparison.finish(), left, parked })
}

/// Feeds a comparison with everything that both hold, and with what was kept of each op.
pub(crate) async fn compare(
    handle: &StoreHandle,
    graph: &dyn Graph,
    namespace: NamespaceId,
) -> Result<Result<Comparison, GraphError>, Failure> {
    let mut comparison = Comparison::default();
    let now = handle.store.now().await.or_fail()?;
    let mut snapshot = handle.store.snapshot(namespace).await.or_fail()?;
    snapshot.rows(Table::Entities, &mut |row| comparison.entity(row.id, row.is_live(now))).await.or_fail()?;
    snapshot.rows(Table::Relationships, &mut |row| relationship(&mut comparison, &row, now)).await.or_fail()?;
    drop(snapshot);
    let mut after = 0;
    loop {
        let page = handle.store.graph_records_behind(namespace, after, RECORDS_PER_PAGE).await.or_fail()?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        page.iter().for_each(|(_, record)| comparison.told(record));
    }
    if let Err(error) = graph.nodes(namespace, &mut |node| comparison.node(node.id, node.is_live)).await {
        return Ok(Err(error));
    }
    let streamed = graph
        .edges(namespace, &mut |edge| {
            comparison.edge(edge.id, (edge.source, edge.target), edge.label, edge.is_live);
        })
        .await;
    Ok(streamed.map(|()| comparison))
}

fn relationship(comparison: &mut Comparison, row: &Row, now: Moment) {
    let end = |column| row.get(column).id().unwrap_or_default();
    let ends = (end(Column::SourceEntityId), end(Column::TargetEntityId));
    let relationship_type = row.get(Column::RelationshipType).text().unwrap_or_default();
    comparison.relationship(row.id, ends, relationship_type, row.is_live(now));
}
