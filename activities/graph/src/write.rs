//! Writing what a batch decided, inside of its transaction, each kind of change as one statement per label.

use std::collections::BTreeMap;

use dream_core::change::{Cell, Column, Row};
use dream_core::mirror::{EdgeCreate, EdgeMove, EdgeRemove, EdgeSet, GraphWrites, NodeSet, VersionWrite};
use dream_ports::GraphError;
use neo4rs::{BoltMap, BoltNull, BoltType};
use uuid::Uuid;

use crate::cells::{self, iso};
use crate::property::Properties;
use crate::tx::NeoTx;
use crate::{bolt, chunks, cypher, transfer};

const OPERATION: &str = "write nodes and edges";

/// Why a copy of a node was made; Khora has other words for its own reasons.
const REASON: &str = "dream_consolidated";

/// Writes everything, in the order in which one builds on the other.
pub(crate) async fn write(tx: &mut NeoTx, writes: &GraphWrites) -> Result<(), GraphError> {
    each_chunk(tx, cypher!("nodes_import"), writes.nodes_created.iter().map(transfer::node).collect()).await?;
    let versions = writes.versions.iter().map(version_row).collect();
    each_chunk(tx, cypher!("versions_create"), versions).await?;

    let removed = by_label(&writes.edges_removed, |edge| (&edge.label, Ok(removed_row(edge))))?;
    each_label(tx, cypher!("edges_remove"), removed).await?;
    // What changes of an edge that moves goes with it: the edge need not be found a second time.
    let mut set: BTreeMap<Uuid, &EdgeSet> = writes.edges_set.iter().map(|edge| (edge.id, edge)).collect();
    let moved: Vec<_> = writes.edges_moved.iter().map(|edge| (edge, set.remove(&edge.id))).collect();
    let moved = by_label(&moved, |(edge, set)| (&edge.label, moved_row(edge, *set)))?;
    each_counted(tx, cypher!("edges_move"), moved).await?;
    let created = by_label(&writes.edges_created, |edge| (&edge.label, created_row(edge)))?;
    each_counted(tx, cypher!("edges_create"), created).await?;
    let namespace = tx.namespace;
    let label = |edge: &Row| edge.get(Column::RelationshipType).text().unwrap_or_default().to_owned();
    let imported: Vec<(String, &Row)> = writes.edges_imported.iter().map(|edge| (label(edge), edge)).collect();
    let imported = by_label(&imported, |(label, edge)| (label, Ok(transfer::edge(edge, namespace))))?;
    each_label(tx, cypher!("edges_import"), imported).await?;
    let set = by_label(set.values(), |edge| (&edge.label, set_row(edge)))?;
    each_label(tx, cypher!("edges_set"), set).await?;

    let nodes = writes.nodes.iter().map(node_row).collect::<Result<_, _>>()?;
    each_chunk(tx, cypher!("nodes_set"), nodes).await?;
    let versions = writes.versions_removed.iter().map(version_row).collect();
    each_chunk(tx, cypher!("versions_remove"), versions).await?;
    let removed = writes.nodes_removed.iter().map(|id| row([("id", id.to_string().into())])).collect();
    each_chunk(tx, cypher!("nodes_remove"), removed).await
}

async fn each_chunk(tx: &mut NeoTx, text: &str, rows: Vec<BoltType>) -> Result<(), GraphError> {
    for rows in chunks(rows) {
        let statement = tx.statement(text).param("rows", rows).param("reason", REASON);
        tx.session.run(OPERATION, statement).await?;
    }
    Ok(())
}

type ByLabel<'a> = BTreeMap<&'a str, Vec<BoltType>>;

fn by_label<'a, T: 'a>(
    edges: impl IntoIterator<Item = &'a T>,
    row: impl Fn(&'a T) -> (&'a String, Result<BoltType, GraphError>),
) -> Result<ByLabel<'a>, GraphError> {
    let mut found = ByLabel::new();
    for edge in edges {
        let (label, row) = row(edge);
        found.entry(label).or_default().push(row?);
    }
    Ok(found)
}

async fn each_label(tx: &mut NeoTx, text: &str, edges: ByLabel<'_>) -> Result<(), GraphError> {
    for (label, rows) in edges {
        for rows in chunks(rows) {
            let statement = tx.labelled(text, label).param("rows", rows);
            tx.session.run(OPERATION, statement).await?;
        }
    }
    Ok(())
}

/// The same for edges that need their ends to be there. Where one is not, the edge stays as it is; verification finds it.
async fn each_counted(tx: &mut NeoTx, text: &str, edges: ByLabel<'_>) -> Result<(), GraphError> {
    let mut left_out = 0;
    for (label, rows) in edges {
        for rows in chunks(rows) {
            let count = rows.len() as u64;
            let statement = tx.labelled(text, label).param("rows", rows);
            left_out += count.saturating_sub(tx.session.count(OPERATION, statement).await?);
        }
    }
    if left_out > 0 {
        tracing::warn!(left_out, namespace = %tx.namespace, "edges of which an end is gone stay as they are");
    }
    Ok(())
}

fn version_row(version: &VersionWrite) -> BoltType {
    row([
        ("entity", version.entity.to_string().into()),
        ("version", version.version.to_string().into()),
        ("at", iso(version.at).into()),
    ])
}

fn removed_row(edge: &EdgeRemove) -> BoltType {
    row(placed(edge.id, edge.ends))
}

fn moved_row(edge: &EdgeMove, set: Option<&EdgeSet>) -> Result<BoltType, GraphError> {
    let (source, target) = edge.to;
    let changed = properties(edge.id, cells::EDGE, set.map_or(&[], |set| &set.cells))?;
    let after = [
        ("source_after", source.to_string().into()),
        ("target_after", target.to_string().into()),
        ("changed", BoltType::Map(changed)),
    ];
    Ok(row(placed(edge.id, edge.from).into_iter().chain(after)))
}

fn created_row(edge: &EdgeCreate) -> Result<BoltType, GraphError> {
    let properties: Properties = serde_json::from_str(&edge.properties).map_err(|_| GraphError::Unreadable {
        operation: OPERATION,
        what: format!("what was kept of edge {}", edge.id),
    })?;
    let properties = BoltType::Map(bolt::map(&properties));
    Ok(row(placed(edge.id, edge.ends).into_iter().chain([("properties", properties)])))
}

fn set_row(edge: &EdgeSet) -> Result<BoltType, GraphError> {
    let properties = BoltType::Map(properties(edge.id, cells::EDGE, &edge.cells)?);
    Ok(row(placed(edge.id, edge.ends).into_iter().chain([("properties", properties)])))
}

fn node_row(node: &NodeSet) -> Result<BoltType, GraphError> {
    let mut properties = properties(node.entity, cells::NODE, &node.cells)?;
    if let Some((_, until)) = node.cells.iter().find(|(column, _)| *column == Column::ValidUntil) {
        put_version_end(&mut properties, until);
    }
    Ok(row([("id", node.entity.to_string().into()), ("properties", BoltType::Map(properties))]))
}

/// The end of a node is the end of its version too.
pub(crate) fn put_version_end(properties: &mut BoltMap, until: &Cell) {
    let end = until.value.time().map_or(BoltType::Null(BoltNull), |at| iso(at).into());
    properties.put("version_valid_to".into(), end);
}

/// The cells that a graph holds, as properties; a null takes the property away.
fn properties(id: Uuid, known: &[Column], cells: &[(Column, Cell)]) -> Result<BoltMap, GraphError> {
    let mut properties = BoltMap::default();
    for (column, cell) in cells.iter().filter(|(column, _)| known.contains(column)) {
        let property = cells::spelled(*column, cell).map_err(|_| GraphError::Unreadable {
            operation: OPERATION,
            what: format!("the spelling that was kept of {column} of {id}"),
        })?;
        let bolt = property.as_ref().map_or(BoltType::Null(BoltNull), bolt::bolt);
        properties.put(column.as_str().into(), bolt);
    }
    Ok(properties)
}

fn placed(id: Uuid, (source, target): (Uuid, Uuid)) -> [(&'static str, BoltType); 3] {
    [("id", id.to_string().into()), ("source", source.to_string().into()), ("target", target.to_string().into())]
}

/// A row of a list that a statement unwinds.
pub(crate) fn row(fields: impl IntoIterator<Item = (&'static str, BoltType)>) -> BoltType {
    BoltType::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}
