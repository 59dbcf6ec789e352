//! Import: nodes and edges as another store has them.

use std::collections::{BTreeMap, BTreeSet};

use dream_core::change::{Column, Row};
use dream_core::id::NamespaceId;
use dream_ports::GraphError;
use neo4rs::{BoltMap, BoltNull, BoltType};
use uuid::Uuid;

use crate::dialect::Kind;
use crate::session::{Session, unreadable};
use crate::tx::statement;
use crate::write::{put_version_end, row};
use crate::{BATCH, bolt, cells, cypher};

pub(crate) const NODES: &str = "import nodes";
pub(crate) const EDGES: &str = "import edges";

/// Writes nodes. One whose id is another namespace's is refused, and nothing is written.
pub(crate) async fn nodes(mut session: Session, namespace: NamespaceId, nodes: &[Row]) -> Result<(), GraphError> {
    for nodes in nodes.chunks(BATCH) {
        let rows: Vec<BoltType> = nodes.iter().map(node).collect();
        let statement = statement(cypher!("nodes_import"), namespace).param("rows", rows);
        if session.count(NODES, statement).await? < nodes.len() as u64 {
            return Err(GraphError::Refused { operation: NODES, code: "other namespace".to_owned() });
        }
    }
    session.commit(NODES).await
}

/// Writes edges, and answers the ids of those of which an end is missing.
pub(crate) async fn edges(
    mut session: Session,
    kind: Kind,
    namespace: NamespaceId,
    edges: &[Row],
) -> Result<Vec<Uuid>, GraphError> {
    let mut missing: BTreeSet<Uuid> = edges.iter().map(|edge| edge.id).collect();
    let mut labels: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for edge in edges {
        let label = edge.get(Column::RelationshipType).text().filter(|label| !label.is_empty());
        let nameless = || GraphError::Refused { operation: EDGES, code: "no label".to_owned() };
        labels.entry(label.ok_or_else(nameless)?).or_default().push(edge);
    }
    for (label, edges) in labels {
        let text = kind.labelled(cypher!("edges_import"), label);
        for edges in edges.chunks(BATCH) {
            let rows: Vec<BoltType> = edges.iter().map(|row| edge(row, namespace)).collect();
            session
                .each(EDGES, statement(&text, namespace).param("rows", rows), |row| {
                    let id: &str = row.get("id").map_err(|_| unreadable(EDGES))?;
                    missing.remove(&Uuid::parse_str(id).map_err(|_| unreadable(EDGES))?);
                    Ok(())
                })
                .await?;
        }
    }
    session.commit(EDGES).await?;
    Ok(missing.into_iter().collect())
}

pub(crate) fn node(node: &Row) -> BoltType {
    let mut properties = properties(node, cells::NODE);
    if let Some(until) = node.cell(Column::ValidUntil) {
        put_version_end(&mut properties, until);
    }
    row([("id", node.id.to_string().into()), ("properties", BoltType::Map(properties))])
}

pub(crate) fn edge(edge: &Row, namespace: NamespaceId) -> BoltType {
    let end = |column| edge.get(column).id().map_or(BoltType::Null(BoltNull), |id: Uuid| id.to_string().into());
    let mut properties = properties(edge, cells::EDGE);
    properties.put("namespace_id".into(), namespace.to_string().into());
    row([
        ("id", edge.id.to_string().into()),
        ("source", end(Column::SourceEntityId)),
        ("target", end(Column::TargetEntityId)),
        ("properties", BoltType::Map(properties)),
    ])
}

/// Every column that a graph holds; null takes away what an earlier import left. A spelling is that of the store the row
/// comes from, and means nothing here.
fn properties(row: &Row, columns: &[Column]) -> BoltMap {
    let property = |column: &Column| {
        let property = cells::property(*column, row.get(*column));
        (column.as_str().into(), property.as_ref().map_or(BoltType::Null(BoltNull), bolt::bolt))
    };
    columns.iter().map(property).collect()
}
