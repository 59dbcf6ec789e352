//! What has to be written to a graph so that it holds what its rows say.

use uuid::Uuid;

use crate::change::{Cell, Column, Existence, Row, Table};
use crate::clock::Moment;
use crate::id::OpId;
use crate::mirror::{GraphRecord, GraphRows};
use crate::rows::Image;

/// Everything that one transaction writes to a graph, in the order in which it is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphWrites {
    /// Nodes that are made, from rows of the tables.
    pub nodes_created: Vec<Row>,
    /// Copies of nodes that are retired, made before anything of them changes.
    pub versions: Vec<VersionWrite>,
    /// Copies that go, because their nodes live again.
    pub versions_removed: Vec<VersionWrite>,
    /// Edges that end.
    pub edges_removed: Vec<EdgeRemove>,
    /// Edges that get other ends.
    pub edges_moved: Vec<EdgeMove>,
    /// Edges that are made again.
    pub edges_created: Vec<EdgeCreate>,
    /// Edges that are made, from rows of the tables.
    pub edges_imported: Vec<Row>,
    /// Properties of edges.
    pub edges_set: Vec<EdgeSet>,
    /// Properties of nodes.
    pub nodes: Vec<NodeSet>,
    /// Nodes that were made and go again, unless somebody hung an edge on them.
    pub nodes_removed: Vec<Uuid>,
}

/// A retired node's copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionWrite {
    /// The node.
    pub entity: Uuid,
    /// The copy's own id: UUID version 5 of the entity in the name space of the op, so that a second time makes no second.
    pub version: Uuid,
    /// When the node was retired.
    pub at: Moment,
}

/// An edge that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeRemove {
    /// Its id.
    pub id: Uuid,
    /// Its label.
    pub label: String,
    /// Where it runs.
    pub ends: (Uuid, Uuid),
}

/// An edge that gets other ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeMove {
    /// Its id.
    pub id: Uuid,
    /// Its label.
    pub label: String,
    /// Where it runs.
    pub from: (Uuid, Uuid),
    /// Where it shall run.
    pub to: (Uuid, Uuid),
}

/// An edge that is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeCreate {
    /// Its id.
    pub id: Uuid,
    /// Its label.
    pub label: String,
    /// Where it shall run.
    pub ends: (Uuid, Uuid),
    /// Its properties, in the adapter's own JSON.
    pub properties: String,
}

/// Properties of an edge, once it runs where it shall.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeSet {
    /// Its id.
    pub id: Uuid,
    /// Its label.
    pub label: String,
    /// Where it runs.
    pub ends: (Uuid, Uuid),
    /// What to set.
    pub cells: Vec<(Column, Cell)>,
}

/// Properties of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSet {
    /// The node.
    pub entity: Uuid,
    /// What to set.
    pub cells: Vec<(Column, Cell)>,
}

/// Columns of an edge that are its shape, not its properties.
pub(super) const SHAPE: [Column; 5] = [
    Column::SourceEntityId,
    Column::TargetEntityId,
    Column::RelationshipType,
    Column::InvalidatedAt,
    Column::InvalidatedBy,
];

impl GraphWrites {
    /// What the verbs of a batch have left to write: `records` are theirs, in their order, with those they took back.
    pub fn of(rows: &GraphRows, records: &[(&GraphRecord, Option<&GraphRecord>)]) -> Self {
        let mut writes = Self::default();
        for image in rows.rows.images() {
            match image.row.table {
                Table::Entities => writes.node(&image),
                Table::Relationships => writes.edge(rows, &image),
                // No graph mirrors these, and none a space.
                _ => {}
            }
        }
        for (record, taken_back) in records {
            let Some(taken_back) = taken_back else {
                writes.versions.extend(record.retired.iter().map(|entity| version(record.op, *entity, record.at)));
                continue;
            };
            // A node that gets an earlier end back has its copy of then, and one that keeps its end keeps its copy.
            let of = |entity: &Uuid| version(taken_back.op, *entity, taken_back.at);
            let lives = |id: &&Uuid| rows.rows.entity(**id).is_some_and(|node| node.get(Column::ValidUntil).is_null());
            let revived = taken_back.retired.iter().filter(lives);
            writes.versions_removed.extend(revived.map(of));
        }
        // What one batch retires and revives leaves no copy.
        let (made, gone) = (writes.versions.clone(), writes.versions_removed.clone());
        writes.versions.retain(|version| !gone.contains(version));
        writes.versions_removed.retain(|version| !made.contains(version));
        writes
    }

    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn node(&mut self, image: &Image) {
        match image.existence {
            Existence::Created => return self.nodes_created.push(image.row.clone()),
            Existence::Removed => return self.nodes_removed.push(image.row.id),
            Existence::Kept => {}
        }
        let cells = cells(image, |_| true);
        if !cells.is_empty() {
            self.nodes.push(NodeSet { entity: image.row.id, cells });
        }
    }

    fn edge(&mut self, rows: &GraphRows, image: &Image) {
        let id = image.row.id;
        let end = |column| image.row.get(column).id().unwrap_or_default();
        let ends = (end(Column::SourceEntityId), end(Column::TargetEntityId));
        let is_gone = image.existence == Existence::Removed || !image.row.get(Column::InvalidatedAt).is_null();
        let label = |edge: &super::GraphEdge| edge.label().to_owned();
        let label = match (rows.edges.get(&id), rows.gone.get(&id)) {
            (Some(edge), _) if is_gone => {
                return self.edges_removed.push(EdgeRemove { id, label: label(edge), ends: edge.ends() });
            }
            (Some(edge), _) if edge.label() != image.row.get(Column::RelationshipType).text().unwrap_or_default() => {
                // A label is nothing that can be set.
                let after = image.row.get(Column::RelationshipType).text().unwrap_or_default().to_owned();
                self.edges_removed.push(EdgeRemove { id, label: label(edge), ends: edge.ends() });
                let properties = edge.properties.clone();
                self.edges_created.push(EdgeCreate { id, label: after.clone(), ends, properties });
                after
            }
            (Some(edge), _) => {
                if edge.ends() != ends {
                    self.edges_moved.push(EdgeMove { id, label: label(edge), from: edge.ends(), to: ends });
                }
                label(edge)
            }
            (None, Some(edge)) if !is_gone => {
                let properties = edge.properties.clone();
                self.edges_created.push(EdgeCreate { id, label: label(edge), ends, properties });
                label(edge)
            }
            (None, None) if image.existence == Existence::Created => {
                return self.edges_imported.push(image.row.clone());
            }
            _ => return,
        };
        let cells = cells(image, |column| !SHAPE.contains(&column));
        if !cells.is_empty() {
            self.edges_set.push(EdgeSet { id, label, ends, cells });
        }
    }
}

fn version(op: OpId, entity: Uuid, at: Moment) -> VersionWrite {
    VersionWrite { entity, version: Uuid::new_v5(&op.0, entity.as_bytes()), at }
}

/// The touched cells of an image that are wanted.
fn cells(image: &Image, is_wanted: impl Fn(Column) -> bool) -> Vec<(Column, Cell)> {
    let table = image.row.table;
    let touched = table.columns().iter().filter(|column| image.touched & table.bit(**column) != 0);
    touched
        .filter(|column| is_wanted(**column))
        .map(|column| (*column, image.row.cell(*column).cloned().unwrap_or_default()))
        .collect()
}
