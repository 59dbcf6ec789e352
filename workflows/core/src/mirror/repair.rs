//! Repair: the graph is made to say again what the tables say.
//!
//! The tables lead, except where the graph alone has the edges: there an edge goes where the last op that led it over left
//! it. What only the graph has is never taken away, and an edge that is gone from it cannot be made again, for nothing says
//! what it was: such differences are for a person.
//!
//! **Invariant:** what is written is decided when the graph is told, from rows as they stand then; a draft says only which
//! row. Whatever a repair makes or ends is kept like that of any op, so that it can be taken back.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::change::{Column, Row, RowKey, Table, Value};
use crate::digest::Fingerprint;
use crate::mirror::Telling;
use crate::mirror::verify::{Difference, Found};
use crate::op::{Decision, Draft, Intent, OpKind};
use crate::realm::graph::evidence::{Evidence, RepairEvidence};
use crate::rows::{Editor, NotLoaded};
use crate::undo::fingerprint;

/// Repairs that one run draws up: what a plan can show. More are the next run's.
pub const REPAIRS_MAX: usize = 20_000;

/// Repairs as they are drawn up.
#[derive(Debug, Default)]
pub struct Repairs {
    /// What is to be done.
    pub drafts: Vec<Draft>,
    /// Differences that no repair is for, by kind.
    pub left: BTreeMap<Difference, u64>,
    /// Whether there were more than one run may draw up.
    pub is_more: bool,
}

impl Repairs {
    /// Takes in a difference.
    pub fn take(&mut self, found: Found) {
        let Found { difference, id, ends, columns } = found;
        let row = match difference {
            Difference::NodeMissing | Difference::NodeNotRetired | Difference::NodeNotLive => RowKey::entity(id),
            Difference::EdgeMissing
            | Difference::EdgeEndsDiffer
            | Difference::EdgeTypeDiffers
            | Difference::EdgeNotRetired => RowKey::relationship(id),
            Difference::EdgeNotAsTold if ends.is_some() => RowKey::relationship(id),
            Difference::NodePropertiesDiffer if !columns.is_empty() => RowKey::entity(id),
            Difference::EdgePropertiesDiffer if !columns.is_empty() => RowKey::relationship(id),
            Difference::NodeUnknown
            | Difference::NodePropertiesDiffer
            | Difference::EdgePropertiesDiffer
            | Difference::EdgeStranded
            | Difference::EdgeUnknown
            | Difference::EdgeNotAsTold => {
                *self.left.entry(difference).or_default() += 1;
                return;
            }
        };
        if self.drafts.len() >= REPAIRS_MAX {
            self.is_more = true;
            return;
        }
        let ends = ends.filter(|_| difference == Difference::EdgeNotAsTold);
        self.drafts.push(Draft {
            kind: OpKind::MirrorRepair,
            decision: Decision::Planned,
            rule: if ends.is_some() { "as_told" } else { "as_stored" }.to_owned(),
            intent: Intent::Repair { row, ends, columns },
            premises: Vec::new(),
            depends_on: Vec::new(),
            evidence: Evidence::Repair(RepairEvidence { difference }),
        });
    }
}

/// Makes a node or an edge what the tables say; answers whether something it needs is missing.
pub(super) fn carry_out(
    editor: &mut Editor<'_>,
    stored: &BTreeMap<RowKey, Row>,
    telling: &Telling<'_>,
    row: RowKey,
    (ends, columns): (Option<(Uuid, Uuid)>, &BTreeMap<Column, Fingerprint>),
) -> Result<bool, NotLoaded> {
    if let Some(ends) = ends {
        return lead(editor, row, ends);
    }
    let Some(found) = stored.get(&row) else { return Ok(true) };
    let is_missing = if row.table == Table::Entities {
        node(editor, found, telling)?
    } else {
        edge(editor, stored, found, telling)?
    };
    put_back(editor, found, columns)?;
    Ok(is_missing)
}

/// Puts properties back to what an op left, as far as the tables still hold that.
fn put_back(editor: &mut Editor<'_>, stored: &Row, columns: &BTreeMap<Column, Fingerprint>) -> Result<(), NotLoaded> {
    if editor.rows().get(stored.key()).is_none() {
        return Ok(());
    }
    for (column, digest) in columns {
        let value = stored.get(*column);
        if fingerprint(value) == *digest {
            editor.set(stored.key(), *column, value.clone())?;
        }
    }
    Ok(())
}

fn node(editor: &mut Editor<'_>, stored: &Row, telling: &Telling<'_>) -> Result<bool, NotLoaded> {
    if editor.rows().get(stored.key()).is_none() {
        if stored.is_live(telling.at) {
            editor.create(mirrored(stored));
        }
        return Ok(false);
    }
    editor.set(stored.key(), Column::ValidUntil, stored.get(Column::ValidUntil).clone())?;
    Ok(false)
}

fn edge(
    editor: &mut Editor<'_>,
    stored: &BTreeMap<RowKey, Row>,
    row: &Row,
    telling: &Telling<'_>,
) -> Result<bool, NotLoaded> {
    let key = row.key();
    let is_there = editor.rows().get(key).is_some();
    if !row.is_live(telling.at) {
        if is_there {
            editor.set(key, Column::InvalidatedAt, Value::Time(telling.at))?;
            editor.set(key, Column::InvalidatedBy, Value::Id(telling.op.0))?;
        }
        return Ok(false);
    }
    for end in [Column::SourceEntityId, Column::TargetEntityId] {
        let end = row.get(end).id().map(RowKey::entity);
        let Some(end) = end.filter(|end| editor.rows().get(*end).is_none()) else { continue };
        let Some(entity) = stored.get(&end) else { return Ok(true) };
        editor.create(mirrored(entity));
    }
    if !is_there {
        editor.create(mirrored(row));
        return Ok(false);
    }
    for column in [Column::SourceEntityId, Column::TargetEntityId, Column::RelationshipType] {
        editor.set(key, column, row.get(column).clone())?;
    }
    Ok(false)
}

fn lead(editor: &mut Editor<'_>, edge: RowKey, (source, target): (Uuid, Uuid)) -> Result<bool, NotLoaded> {
    let are_there = [source, target].iter().all(|end| editor.rows().entity(*end).is_some());
    if !are_there || editor.rows().get(edge).is_none() {
        return Ok(true);
    }
    editor.set(edge, Column::SourceEntityId, Value::Id(source))?;
    editor.set(edge, Column::TargetEntityId, Value::Id(target))?;
    Ok(false)
}

/// The row as a graph holds it: without what no graph has, and without the spellings of a table.
fn mirrored(stored: &Row) -> Row {
    let is_in_graph = |column: &Column| {
        !matches!(
            column,
            Column::Embedding
                | Column::EmbeddingModel
                | Column::ValidTo
                | Column::InvalidatedAt
                | Column::InvalidatedBy
        )
    };
    let mut row = Row::empty(stored.table, stored.id);
    for column in stored.table.columns().iter().filter(|column| is_in_graph(column)) {
        row.put(*column, stored.get(*column).clone());
    }
    row
}
