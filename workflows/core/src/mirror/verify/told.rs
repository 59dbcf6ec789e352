//! What ops left in the graph, as far as it was kept: where edges run, and the properties that were written.
//!
//! **Invariant:** a property belongs to the op that wrote it last only as long as the node or edge does not say that it was
//! written since: what ingestion writes is its own, and no difference.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::IdRange;
use crate::change::{Column, Existence, Row, RowKey, Table};
use crate::clock::Moment;
use crate::digest::Fingerprint;
use crate::mirror::GraphRecord;
use crate::mirror::writes::SHAPE;
use crate::undo::fingerprint;

/// What the properties of one row weigh against ids, of which each is a few dozen bytes.
const IDS_PER_ROW: usize = 8;

/// What ops left.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Where edges run; none if they are gone.
    pub(super) ends: BTreeMap<Uuid, Option<(Uuid, Uuid)>>,
    rows: BTreeMap<RowKey, Left>,
}

/// The properties that ops left at a node or an edge.
#[derive(Debug)]
struct Left {
    /// When the last of them was.
    at: Moment,
    columns: BTreeMap<Column, Fingerprint>,
    /// Those that are others now.
    changed: BTreeSet<Column>,
    /// Those of the changed ones that the tables still hold.
    stored: BTreeSet<Column>,
}

impl Told {
    pub(super) fn take(&mut self, record: &GraphRecord, range: IdRange) {
        let removed: BTreeSet<Uuid> = record.removed.iter().map(|removed| removed.id).collect();
        for (edge, [_, after]) in record.ends.iter().filter(|(edge, _)| range.contains(**edge)) {
            self.ends.insert(*edge, (!removed.contains(edge)).then_some(*after));
        }
        for change in record.undo.changes.iter().filter(|change| range.contains(change.key.id)) {
            if change.existence == Existence::Removed || removed.contains(&change.key.id) {
                self.rows.remove(&change.key);
                continue;
            }
            let empty =
                || Left { at: record.at, columns: BTreeMap::new(), changed: BTreeSet::new(), stored: BTreeSet::new() };
            let left = self.rows.entry(change.key).or_insert_with(empty);
            left.at = record.at;
            let own = change.columns.iter().filter(|(column, _)| !SHAPE.contains(column));
            left.columns.extend(own.map(|(column, cell)| (*column, cell.after)));
        }
    }

    /// How many ids it weighs.
    pub(super) fn len(&self) -> usize {
        self.ends.len() + self.rows.len() * IDS_PER_ROW
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = Uuid> {
        self.ends.keys().copied().chain(self.rows.keys().map(|key| key.id))
    }

    pub(super) fn retain(&mut self, range: IdRange) {
        self.ends.retain(|id, _| range.contains(*id));
        self.rows.retain(|key, _| range.contains(key.id));
    }

    /// The nodes, and the ends of the edges, of which properties are known; `ends` answers where an edge runs.
    pub(super) fn owned(&self, ends: impl Fn(Uuid) -> Option<(Uuid, Uuid)>) -> (Vec<Uuid>, BTreeSet<(Uuid, Uuid)>) {
        let (nodes, edges): (Vec<RowKey>, Vec<RowKey>) = self.rows.keys().partition(|key| key.table == Table::Entities);
        (nodes.iter().map(|key| key.id).collect(), edges.iter().filter_map(|key| ends(key.id)).collect())
    }

    /// A row of the graph; answers whether a property is another than the op left, that wrote it last.
    pub(super) fn properties(&mut self, row: &Row, looked_at: &mut u64) -> bool {
        let Some(left) = self.rows.get_mut(&row.key()) else { return false };
        if !left.is_last_writer(row) {
            return false;
        }
        *looked_at += 1;
        let differs = |(column, digest): (&Column, &Fingerprint)| {
            (*column != Column::UpdatedAt && fingerprint(row.get(*column)) != *digest).then_some(*column)
        };
        left.changed = left.columns.iter().filter_map(differs).collect();
        !left.changed.is_empty()
    }

    /// The same row of the tables.
    pub(super) fn stored(&mut self, row: &Row) {
        let Some(left) = self.rows.get_mut(&row.key()) else { return };
        let holds = |column: &&Column| left.columns.get(*column) == Some(&fingerprint(row.get(**column)));
        left.stored = left.changed.iter().filter(holds).copied().collect();
    }

    /// Says nothing of a column.
    pub(super) fn leave_out(&mut self, key: RowKey, column: Column) {
        if let Some(left) = self.rows.get_mut(&key) {
            left.changed.remove(&column);
        }
    }

    /// The rows with other properties, and those of these that the tables still hold.
    pub(super) fn changed(&self) -> impl Iterator<Item = (RowKey, BTreeMap<Column, Fingerprint>)> {
        let columns = |left: &Left| {
            let kept = left.columns.iter().filter(|(column, _)| left.stored.contains(column));
            kept.map(|(column, digest)| (*column, *digest)).collect()
        };
        self.rows.iter().filter(|(_, left)| !left.changed.is_empty()).map(move |(key, left)| (*key, columns(left)))
    }
}

impl Left {
    /// Whether nobody wrote to the row since. An op that leaves the mark of the last write alone is older than any later one.
    fn is_last_writer(&self, row: &Row) -> bool {
        let updated_at = row.get(Column::UpdatedAt);
        match self.columns.get(&Column::UpdatedAt) {
            Some(digest) => fingerprint(updated_at) == *digest,
            None => updated_at.time().is_none_or(|at| at <= self.at),
        }
    }
}
