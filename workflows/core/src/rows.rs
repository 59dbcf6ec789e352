//! The rows of one group, held in memory while its ops run over them in order.
//!
//! The store locks and loads what [`Needs`] names, the ops edit through [`Editor`], and the store writes the final image of
//! each touched row once. What an op changed is known per op, so that each has its own undo record.
//!
//! **Invariant:** an edit that is given up leaves no trace ([`Editor::abandon`]); a row that was not loaded cannot be edited.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::change::{Cell, Column, ColumnChange, Existence, Row, RowChange, RowKey, Table, Value};

/// What a group has to see before it can be decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Rows by name.
    pub rows: BTreeSet<RowKey>,
    /// Entities whose vectors are needed too.
    pub embeddings: BTreeSet<Uuid>,
    /// Edges of both edge tables that touch one of these entities.
    pub edges_touching: BTreeSet<Uuid>,
    /// Edges of both edge tables from the first to the second of these entities.
    pub edges_between: BTreeSet<(Uuid, Uuid)>,
    /// Chunks of which it must be known whether they exist.
    pub chunks: BTreeSet<Uuid>,
}

impl Needs {
    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what another op needs.
    pub fn join(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.embeddings.extend(other.embeddings);
        self.edges_touching.extend(other.edges_touching);
        self.edges_between.extend(other.edges_between);
        self.chunks.extend(other.chunks);
    }

    /// What is needed beyond what was loaded already.
    #[must_use]
    pub fn beyond(&self, loaded: &Self) -> Self {
        Self {
            rows: &self.rows - &loaded.rows,
            embeddings: &self.embeddings - &loaded.embeddings,
            edges_touching: &self.edges_touching - &loaded.edges_touching,
            edges_between: &self.edges_between - &loaded.edges_between,
            chunks: &self.chunks - &loaded.chunks,
        }
    }
}

#[derive(Clone, Debug)]
struct Tracked {
    /// Whether the store holds the row.
    is_stored: bool,
    /// Whether the ops so far have left it there; one that was removed stays here as it stood.
    is_there: bool,
    row: Row,
    touched: u32,
}

/// A row whose final image has to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The row as it shall stand; for a removed row, as it stood.
    pub row: Row,
    /// Whether to insert, update or delete.
    pub existence: Existence,
    /// The touched columns, as bits of [`Table::bit`].
    pub touched: u32,
}

impl Image {
    /// The image of a row that is written whole, whether it is there or not.
    pub const fn of_new(row: Row) -> Self {
        Self { row, existence: Existence::Created, touched: u32::MAX }
    }
}

/// The locked rows of a group.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: BTreeMap<RowKey, Tracked>,
    /// For each entity the edges that end at it, or once did: a merge looks up its own among those of a whole group.
    edges: BTreeMap<(Table, Uuid), BTreeSet<Uuid>>,
    live_chunks: BTreeSet<Uuid>,
}

/// The columns that say where an edge runs.
const ENDS: [Column; 2] = [Column::SourceEntityId, Column::TargetEntityId];

impl Rows {
    /// Takes in a row as the store holds it. A row that is already here keeps its image: an edit is never overwritten.
    pub fn load(&mut self, row: Row) {
        if let Entry::Vacant(place) = self.rows.entry(row.key()) {
            note_ends(&mut self.edges, &row);
            place.insert(Tracked { is_stored: true, is_there: true, row, touched: 0 });
        }
    }

    /// Takes in the vector of a row that was loaded without it.
    pub fn load_embedding(&mut self, entity: Uuid, embedding: Cell) {
        if let Some(tracked) = self.rows.get_mut(&RowKey::entity(entity))
            && tracked.touched & Table::Entities.bit(Column::Embedding) == 0
        {
            tracked.row.put(Column::Embedding, embedding);
        }
    }

    /// Takes in which of the chunks asked for exist.
    pub fn load_live_chunks(&mut self, chunks: impl IntoIterator<Item = Uuid>) {
        self.live_chunks.extend(chunks);
    }

    /// The row, as the ops so far have left it.
    pub fn get(&self, key: RowKey) -> Option<&Row> {
        self.rows.get(&key).and_then(Tracked::current)
    }

    /// The entity, as the ops so far have left it.
    pub fn entity(&self, id: Uuid) -> Option<&Row> {
        self.get(RowKey::entity(id))
    }

    /// Edges of a table that end at one of these entities, by id, as the ops so far have left them. One that ended there
    /// before it was moved may be among them.
    pub fn edges_at(&self, table: Table, entities: impl IntoIterator<Item = Uuid>) -> impl Iterator<Item = &Row> {
        let edges = entities.into_iter().filter_map(|entity| self.edges.get(&(table, entity)));
        let ids: BTreeSet<Uuid> = edges.flatten().copied().collect();
        ids.into_iter().filter_map(move |id| self.get(RowKey { table, id }))
    }

    /// Whether a chunk that was asked for exists.
    pub fn chunk_is_live(&self, chunk: Uuid) -> bool {
        self.live_chunks.contains(&chunk)
    }

    /// Starts the edits of one op.
    pub const fn edit(&mut self) -> Editor<'_> {
        Editor { rows: self, changes: BTreeMap::new() }
    }

    /// The final images of all touched rows, by table and id.
    pub fn images(&self) -> Vec<Image> {
        self.rows.values().filter_map(Tracked::image).collect()
    }
}

impl Tracked {
    fn current(&self) -> Option<&Row> {
        self.is_there.then_some(&self.row)
    }

    fn image(&self) -> Option<Image> {
        let existence = match (self.is_stored, self.is_there) {
            (true, true) if self.touched != 0 => Existence::Kept,
            (false, true) => Existence::Created,
            (true, false) => Existence::Removed,
            _ => return None,
        };
        Some(Image { row: self.row.clone(), existence, touched: self.touched })
    }
}

fn note_ends(edges: &mut BTreeMap<(Table, Uuid), BTreeSet<Uuid>>, row: &Row) {
    for end in ENDS.into_iter().filter_map(|column| row.get(column).id()) {
        edges.entry((row.table, end)).or_default().insert(row.id);
    }
}

/// A row that an op names and that is not there.
#[derive(Debug, thiserror::Error)]
#[error("row {} of {} is not loaded", .0.id, .0.table)]
pub struct NotLoaded(pub RowKey);

/// The edits of one op.
pub struct Editor<'a> {
    rows: &'a mut Rows,
    changes: BTreeMap<RowKey, Pending>,
}

#[derive(Default)]
struct Pending {
    existence: Option<Existence>,
    columns: BTreeMap<Column, (Cell, Value)>,
    touched_before: u32,
}

impl Editor<'_> {
    /// The rows as edited so far.
    pub const fn rows(&self) -> &Rows {
        self.rows
    }

    /// Sets one cell. Setting what is already there changes nothing and is recorded nowhere.
    pub fn set(&mut self, key: RowKey, column: Column, after: Value) -> Result<(), NotLoaded> {
        self.set_cell(key, column, after.into())
    }

    /// Sets one cell, in a given spelling.
    pub fn set_cell(&mut self, key: RowKey, column: Column, after: Cell) -> Result<(), NotLoaded> {
        let tracked = self.rows.rows.get_mut(&key).filter(|tracked| tracked.is_there).ok_or(NotLoaded(key))?;
        let before = tracked.row.cell(column).cloned().unwrap_or_default();
        if before.value.same(&after.value) && before.spelling == after.spelling {
            return Ok(());
        }
        let pending = self
            .changes
            .entry(key)
            .or_insert_with(|| Pending { touched_before: tracked.touched, ..Pending::default() });
        tracked.touched |= key.table.bit(column);
        pending.columns.entry(column).or_insert((before, Value::Null)).1 = after.value.clone();
        if let Some(end) = after.value.id().filter(|_| ENDS.contains(&column)) {
            self.rows.edges.entry((key.table, end)).or_default().insert(key.id);
        }
        tracked.row.put(column, after);
        Ok(())
    }

    /// Adds a row.
    pub fn create(&mut self, row: Row) {
        let key = row.key();
        let columns = key.table.columns().iter().filter(|column| !row.get(**column).is_null());
        let pending = self.changes.entry(key).or_default();
        pending.existence = Some(Existence::Created);
        for column in columns {
            pending.columns.insert(*column, (Cell::default(), row.get(*column).clone()));
        }
        note_ends(&mut self.rows.edges, &row);
        let is_stored = self.rows.rows.get(&key).is_some_and(|tracked| tracked.is_stored);
        self.rows.rows.insert(key, Tracked { is_stored, is_there: true, row, touched: u32::MAX });
    }

    /// Takes a row away.
    pub fn remove(&mut self, key: RowKey) -> Result<(), NotLoaded> {
        let tracked = self.rows.rows.get_mut(&key).filter(|tracked| tracked.is_there).ok_or(NotLoaded(key))?;
        tracked.is_there = false;
        let pending = self
            .changes
            .entry(key)
            .or_insert_with(|| Pending { touched_before: tracked.touched, ..Pending::default() });
        pending.existence = Some(Existence::Removed);
        for column in key.table.columns() {
            let before = tracked.row.cell(*column).cloned().unwrap_or_default();
            if !before.value.is_null() {
                pending.columns.entry(*column).or_insert((before, Value::Null)).1 = Value::Null;
            }
        }
        Ok(())
    }

    /// What the edits touch; no column where the row itself comes or goes.
    pub fn changed_columns(&self) -> impl Iterator<Item = (Table, Option<Column>)> {
        self.changes.iter().flat_map(|(key, pending)| {
            let existence = pending.existence.map(|_| (key.table, None));
            existence.into_iter().chain(pending.columns.keys().map(|column| (key.table, Some(*column))))
        })
    }

    /// Ends the edits: what they changed, by table and row. Cells that ended where they began are left out.
    pub fn finish(self) -> Vec<RowChange> {
        self.changes
            .into_iter()
            .filter_map(|(key, pending)| {
                let existence = pending.existence.unwrap_or(Existence::Kept);
                let columns: Vec<ColumnChange> = pending
                    .columns
                    .into_iter()
                    .filter(|(_, (before, after))| existence != Existence::Kept || !before.value.same(after))
                    .map(|(column, (before, after))| ColumnChange { column, before, after })
                    .collect();
                (existence != Existence::Kept || !columns.is_empty()).then_some(RowChange { key, existence, columns })
            })
            .collect()
    }

    /// Gives the edits up: every row is as it was before the op.
    pub fn abandon(self) {
        for (key, pending) in self.changes {
            let Some(tracked) = self.rows.rows.get_mut(&key) else { continue };
            if pending.existence == Some(Existence::Created) {
                tracked.is_there = false;
                if !tracked.is_stored {
                    self.rows.rows.remove(&key);
                }
                continue;
            }
            tracked.is_there = true;
            for (column, (before, _)) in pending.columns {
                tracked.row.put(column, before);
            }
            tracked.touched = pending.touched_before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(id: u128, mentions: i64) -> Row {
        Row::empty(Table::Entities, Uuid::from_u128(id)).with(Column::MentionCount, Value::Int(mentions))
    }

    #[test]
    fn an_op_sees_what_the_op_before_it_left() {
        let mut rows = Rows::default();
        rows.load(entity(1, 3));
        let key = RowKey::entity(Uuid::from_u128(1));
        let mut first = rows.edit();
        first.set(key, Column::MentionCount, Value::Int(5)).unwrap();
        assert_eq!(first.finish()[0].columns[0].before.value, Value::Int(3));
        let mut second = rows.edit();
        second.set(key, Column::MentionCount, Value::Int(9)).unwrap();
        assert_eq!(second.finish()[0].columns[0].before.value, Value::Int(5));
        assert_eq!(rows.images().len(), 1);
    }

    #[test]
    fn edits_that_are_given_up_leave_no_trace() {
        let mut rows = Rows::default();
        rows.load(entity(1, 3));
        rows.load(entity(2, 4));
        let mut editor = rows.edit();
        editor.set(RowKey::entity(Uuid::from_u128(1)), Column::MentionCount, Value::Int(5)).unwrap();
        editor.remove(RowKey::entity(Uuid::from_u128(2))).unwrap();
        editor.create(entity(3, 1));
        editor.abandon();
        assert!(rows.images().is_empty());
        assert_eq!(rows.entity(Uuid::from_u128(2)), Some(&entity(2, 4)));
        assert_eq!(rows.entity(Uuid::from_u128(3)), None);
    }

    #[test]
    fn a_cell_that_ends_where_it_began_is_no_change() {
        let mut rows = Rows::default();
        rows.load(entity(1, 3));
        let key = RowKey::entity(Uuid::from_u128(1));
        let mut editor = rows.edit();
        editor.set(key, Column::MentionCount, Value::Int(5)).unwrap();
        editor.set(key, Column::MentionCount, Value::Int(3)).unwrap();
        assert!(editor.finish().is_empty());
    }

    #[test]
    fn a_row_that_was_not_loaded_cannot_be_edited() {
        let mut rows = Rows::default();
        let key = RowKey::entity(Uuid::from_u128(7));
        assert!(rows.edit().set(key, Column::MentionCount, Value::Int(1)).is_err());
    }
}
