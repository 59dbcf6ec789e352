//! Nodes and edges as rows.

use dream_core::change::{Cell, Column, Row, Table, Value};
use dream_core::mirror::GraphEdge;
use dream_ports::GraphError;
use uuid::Uuid;

use crate::cells;
use crate::property::{Properties, to_json};

/// A node as a row. A property that cannot be what its column is makes it unreadable.
pub(crate) fn node(operation: &'static str, id: Uuid, properties: &Properties) -> Result<Row, GraphError> {
    let mut row = Row::empty(Table::Entities, id);
    fill(operation, "node", &mut row, cells::NODE, properties)?;
    Ok(row)
}

/// An edge as a row, with all of its properties.
pub(crate) fn edge(
    operation: &'static str,
    id: Uuid,
    (source, target): (Uuid, Uuid),
    label: String,
    properties: &Properties,
) -> Result<GraphEdge, GraphError> {
    let mut row = Row::empty(Table::Relationships, id)
        .with(Column::SourceEntityId, Value::Id(source))
        .with(Column::TargetEntityId, Value::Id(target))
        .with(Column::RelationshipType, Value::Text(label));
    fill(operation, "edge", &mut row, cells::EDGE, properties)?;
    Ok(GraphEdge { row, properties: to_json(properties) })
}

fn fill(
    operation: &'static str,
    what: &str,
    row: &mut Row,
    columns: &[Column],
    properties: &Properties,
) -> Result<(), GraphError> {
    for column in columns {
        let Some(found) = properties.get(column.as_str()) else { continue };
        let cell: Option<Cell> = cells::read(*column, found);
        let unreadable =
            || GraphError::Unreadable { operation, what: format!("{column} of {what} {} is of another type", row.id) };
        row.put(*column, cell.ok_or_else(unreadable)?);
    }
    Ok(())
}
