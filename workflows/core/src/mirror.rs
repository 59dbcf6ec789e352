//! What the graph database must know of an op, as outbox verbs, derived from its row changes.
//!
//! **Invariant:** verbs hold ids and column names; the values are read from the store when the mirror runs, so that the graph
//! gets what is committed and no memory text waits in the outbox. A new table that the graph mirrors is a new arm of [`verbs`].

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::{Column, ColumnChange, RowChange, Table};

/// One thing to do to the graph. Each can be done any number of times to the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verb {
    /// The entity's node ends.
    RetireNode {
        /// The entity.
        entity: Uuid,
    },
    /// The entity's node lives again.
    ReviveNode {
        /// The entity.
        entity: Uuid,
    },
    /// Properties of the entity's node are brought up to date.
    SetNode {
        /// The entity.
        entity: Uuid,
        /// Which columns changed.
        columns: Vec<Column>,
    },
    /// The edge gets other ends.
    MoveEdge {
        /// The relationship.
        relationship: Uuid,
        /// Where it started and shall start, if that changed.
        source: Option<(Uuid, Uuid)>,
        /// Where it ended and shall end, if that changed.
        target: Option<(Uuid, Uuid)>,
    },
    /// The edge ends.
    RetireEdge {
        /// The relationship.
        relationship: Uuid,
    },
    /// The edge lives again.
    ReviveEdge {
        /// The relationship.
        relationship: Uuid,
    },
    /// Properties of the edge are brought up to date.
    SetEdge {
        /// The relationship.
        relationship: Uuid,
        /// Which columns changed.
        columns: Vec<Column>,
    },
}

/// Columns that Khora's graph model keeps nowhere.
const NOT_IN_THE_GRAPH: &[Column] =
    &[Column::Embedding, Column::EmbeddingModel, Column::UpdatedAt, Column::InvalidatedBy];

/// The verbs that bring the graph from before these changes to after them, in an order in which they can be done: edges move
/// before their old ends are retired, and a revived node is there before an edge comes back to it.
pub fn verbs(changes: &[RowChange]) -> Vec<Verb> {
    let mut revived = Vec::new();
    let mut edges = Vec::new();
    let mut retired = Vec::new();
    for change in changes {
        match change.key.table {
            Table::Entities => entity_verbs(change, &mut revived, &mut retired),
            Table::Relationships => edge_verbs(change, &mut edges),
            Table::TemporalEdges | Table::Aliases => {}
        }
    }
    revived.into_iter().chain(edges).chain(retired).collect()
}

fn entity_verbs(change: &RowChange, revived: &mut Vec<Verb>, retired: &mut Vec<Verb>) {
    let entity = change.key.id;
    if let Some(until) = touched(change, Column::ValidUntil) {
        if until.after.is_null() {
            revived.push(Verb::ReviveNode { entity });
        } else {
            retired.push(Verb::RetireNode { entity });
        }
    }
    let columns = properties(change, &[Column::ValidUntil]);
    if !columns.is_empty() {
        revived.push(Verb::SetNode { entity, columns });
    }
}

fn edge_verbs(change: &RowChange, edges: &mut Vec<Verb>) {
    let relationship = change.key.id;
    let (source, target) = (moved(change, Column::SourceEntityId), moved(change, Column::TargetEntityId));
    if source.is_some() || target.is_some() {
        edges.push(Verb::MoveEdge { relationship, source, target });
    }
    if let Some(invalidated) = touched(change, Column::InvalidatedAt) {
        edges.push(if invalidated.after.is_null() {
            Verb::ReviveEdge { relationship }
        } else {
            Verb::RetireEdge { relationship }
        });
    }
    let columns = properties(change, &[Column::SourceEntityId, Column::TargetEntityId, Column::InvalidatedAt]);
    if !columns.is_empty() {
        edges.push(Verb::SetEdge { relationship, columns });
    }
}

fn moved(change: &RowChange, column: Column) -> Option<(Uuid, Uuid)> {
    let touched = touched(change, column)?;
    Some((touched.before.value.id()?, touched.after.id()?))
}

fn touched(change: &RowChange, column: Column) -> Option<&ColumnChange> {
    change.columns.iter().find(|touched| touched.column == column)
}

fn properties(change: &RowChange, structural: &[Column]) -> Vec<Column> {
    let columns = change.columns.iter().map(|touched| touched.column);
    columns.filter(|column| !structural.contains(column) && !NOT_IN_THE_GRAPH.contains(column)).collect()
}
