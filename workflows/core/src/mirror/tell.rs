//! Carrying an op out on the rows of a graph.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::{Cell, Column, Existence, Row, RowChange, RowKey, Table, Value};
use crate::clock::Moment;
use crate::id::OpId;
use crate::mirror::writes::SHAPE;
use crate::mirror::{GraphRows, Rewrite, Verb, repair};
use crate::realm::graph::merge::{is_live, mention_count, take_over};
use crate::rows::{Editor, NotLoaded};
use crate::undo::{OnChanged, UndoRecord};

/// An op that the graph is told of.
#[derive(Clone, Copy, Debug)]
pub struct Telling<'a> {
    /// The op.
    pub op: OpId,
    /// What to do.
    pub verbs: &'a [Verb],
    /// When the op was committed.
    pub at: Moment,
    /// What was kept when it was carried out, if it is to be taken back.
    pub applied: Option<&'a GraphRecord>,
}

/// What a graph held before an op, as far as the op touched it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphRecord {
    /// The op.
    pub op: OpId,
    /// When it was committed.
    pub at: Moment,
    /// Cells before, and digests of cells after.
    pub undo: UndoRecord,
    /// For each edge it touched, where it ran before and where it ran after.
    pub ends: BTreeMap<Uuid, [(Uuid, Uuid); 2]>,
    /// Edges it removed, whole: in a graph nothing is left of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedEdge>,
    /// Nodes it retired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<Uuid>,
}

impl GraphRecord {
    /// What is kept of an op that was taken back, which nobody takes back again: how it left the properties, by digest. Where
    /// its edges run is the affair of whoever led them there.
    #[must_use]
    pub fn digests(mut self) -> Self {
        for cell in self.undo.changes.iter_mut().flat_map(|change| change.columns.values_mut()) {
            cell.before = Cell::from(Value::Null);
            cell.added.clear();
        }
        Self { ends: BTreeMap::new(), removed: Vec::new(), retired: Vec::new(), ..self }
    }
}

/// An edge that is gone from the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedEdge {
    /// Its id.
    pub id: Uuid,
    /// Where it started.
    pub source: Uuid,
    /// Where it ended.
    pub target: Uuid,
    /// Its label.
    pub label: String,
    /// Its properties, in the adapter's own JSON.
    pub properties: String,
    /// What it was as a row, for ops before this one that are taken back too.
    #[serde(default)]
    pub cells: BTreeMap<Column, KeptCell>,
}

/// A cell that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptCell(#[serde(with = "crate::undo::cell_json")] pub Cell);

/// What a verb met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It changed something.
    Done,
    /// Everything was as it says already.
    Already,
    /// Something it speaks of is not in the graph.
    Missing,
}

/// What came of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// What the graph held before.
    pub record: GraphRecord,
    /// What it met.
    pub answer: Answer,
}

/// Tells a graph of an op: edits its rows, and answers what has to be kept before they are written.
pub fn tell(rows: &mut GraphRows, telling: &Telling<'_>) -> Told {
    if let Some(record) = telling.applied {
        rows.load_removed(record);
    }
    let mut missing = false;
    let mut editor = rows.rows.edit();
    for verb in telling.verbs {
        // A row that is not there was looked for in vain.
        missing |= carry_out(&mut editor, &rows.stored, telling, verb).unwrap_or(true);
    }
    let mut changes = editor.finish();
    // What a merge writes to tables of ours is no part of the graph.
    changes.retain(|change| matches!(change.key.table, Table::Entities | Table::Relationships));
    let answer = match (missing, changes.is_empty()) {
        (true, _) => Answer::Missing,
        (false, true) => Answer::Already,
        (false, false) => Answer::Done,
    };
    Told { record: record_of(rows, telling, &changes), answer }
}

/// Answers whether something it speaks of is missing.
fn carry_out(
    editor: &mut Editor<'_>,
    stored: &BTreeMap<RowKey, Row>,
    telling: &Telling<'_>,
    verb: &Verb,
) -> Result<bool, NotLoaded> {
    match verb {
        Verb::Merge { keep, absorbed } => {
            let present = present(editor, absorbed);
            let mentions = |id: &Uuid| {
                let row = editor.rows().entity(*id);
                row.filter(|row| is_live(row, telling.at)).map_or(0, mention_count)
            };
            let mentions: Vec<i64> = present.iter().map(mentions).collect();
            take_over(editor, telling.at, telling.op, *keep, &present, &mentions)?;
            Ok(present.len() < absorbed.len())
        }
        Verb::Reabsorb { keep, absorbed, mentions_added } => {
            let present = present(editor, &[*absorbed]);
            let mentions: Vec<i64> = present.iter().map(|_| *mentions_added).collect();
            take_over(editor, telling.at, telling.op, *keep, &present, &mentions)?;
            Ok(present.is_empty())
        }
        Verb::DropReferences { row, chunks, .. } => {
            let current = editor.rows().get(*row).ok_or(NotLoaded(*row))?.get(Column::SourceChunkIds).ids().to_vec();
            let kept: Vec<Uuid> = current.iter().filter(|chunk| !chunks.contains(chunk)).copied().collect();
            if kept.len() < current.len() {
                editor.set(*row, Column::SourceChunkIds, Value::Ids(kept))?;
            }
            Ok(false)
        }
        Verb::Adopted { retire, invalidate, rewrite } => {
            let mut missing = lead_over(editor, telling, rewrite)?;
            missing |= end_edges(editor, telling, invalidate)?;
            missing |= end_nodes(editor, telling, retire)?;
            Ok(missing)
        }
        Verb::Repair { row, ends, columns } => repair::carry_out(editor, stored, telling, *row, (*ends, columns)),
        Verb::TakeBack { overwrite } => take_back(editor, telling, *overwrite),
    }
}

fn present(editor: &Editor<'_>, nodes: &[Uuid]) -> Vec<Uuid> {
    nodes.iter().filter(|id| editor.rows().entity(**id).is_some()).copied().collect()
}

/// Gives edges other ends. As Khora does it, one that becomes parallel to another is led over all the same.
fn lead_over(editor: &mut Editor<'_>, telling: &Telling<'_>, rewrite: &[Rewrite]) -> Result<bool, NotLoaded> {
    let mut missing = false;
    for Rewrite { relationship, source, target } in rewrite {
        let key = RowKey::relationship(*relationship);
        let ends = standing(editor, key)
            .map(|edge| [Column::SourceEntityId, Column::TargetEntityId].map(|end| edge.get(end).id()));
        // An edge needs both of its ends.
        let (Some(ends), 2) = (ends, present(editor, &[*source, *target]).len()) else {
            missing = true;
            continue;
        };
        if ends != [Some(*source), Some(*target)] {
            editor.set(key, Column::SourceEntityId, Value::Id(*source))?;
            editor.set(key, Column::TargetEntityId, Value::Id(*target))?;
            editor.set(key, Column::UpdatedAt, Value::Time(telling.at))?;
        }
    }
    Ok(missing)
}

/// Ends edges. Khora would leave them there with an end of their validity; here they are kept whole in the record, as all
/// edges that an op ends. One whose validity is over already is left alone.
fn end_edges(editor: &mut Editor<'_>, telling: &Telling<'_>, edges: &[Uuid]) -> Result<bool, NotLoaded> {
    let mut missing = false;
    for key in edges.iter().copied().map(RowKey::relationship) {
        match standing(editor, key).map(|edge| is_live(edge, telling.at)) {
            Some(true) => {
                editor.set(key, Column::InvalidatedAt, Value::Time(telling.at))?;
                editor.set(key, Column::InvalidatedBy, Value::Id(telling.op.0))?;
            }
            Some(false) => {}
            None => missing = true,
        }
    }
    Ok(missing)
}

/// Ends nodes. As in Khora's tables, one that has an end keeps it.
fn end_nodes(editor: &mut Editor<'_>, telling: &Telling<'_>, nodes: &[Uuid]) -> Result<bool, NotLoaded> {
    let present = present(editor, nodes);
    for key in present.iter().copied().map(RowKey::entity) {
        if editor.rows().get(key).is_some_and(|node| node.get(Column::ValidUntil).is_null()) {
            editor.set(key, Column::ValidUntil, Value::Time(telling.at))?;
            editor.set(key, Column::UpdatedAt, Value::Time(telling.at))?;
        }
    }
    Ok(present.len() < nodes.len())
}

/// An edge that no op has ended.
fn standing<'a>(editor: &'a Editor<'_>, key: RowKey) -> Option<&'a Row> {
    editor.rows().get(key).filter(|edge| edge.get(Column::InvalidatedAt).is_null())
}

/// Puts back what the op changed. Of what was never told, or was told in vain, nothing is to be put back.
fn take_back(editor: &mut Editor<'_>, telling: &Telling<'_>, overwrite: bool) -> Result<bool, NotLoaded> {
    let Some(record) = telling.applied else { return Ok(false) };
    let missing = record.undo.keys().any(|key| editor.rows().get(key).is_none());
    record.undo.restore(editor, if overwrite { OnChanged::Overwrite } else { OnChanged::Keep })?;
    Ok(missing)
}

fn record_of(rows: &GraphRows, telling: &Telling<'_>, changes: &[RowChange]) -> GraphRecord {
    let mut record = GraphRecord {
        op: telling.op,
        at: telling.at,
        undo: UndoRecord::of(changes),
        ends: BTreeMap::new(),
        removed: Vec::new(),
        retired: Vec::new(),
    };
    for change in changes {
        let cell = |column| change.columns.iter().find(|cell| cell.column == column);
        let after = |column| cell(column).map(|cell| &cell.after);
        if change.key.table == Table::Entities {
            // One that had ended already, and at another time from now on, was retired before.
            let had_ended = |until: &Cell| until.value.time().is_some_and(|until| until <= telling.at);
            let until = cell(Column::ValidUntil).filter(|until| !until.after.is_null());
            if until.is_some_and(|until| !had_ended(&until.before)) {
                record.retired.push(change.key.id);
            }
            continue;
        }
        let Some(ends) = ends(rows, change) else { continue };
        record.ends.insert(change.key.id, ends);
        if after(Column::InvalidatedAt).is_some_and(|at| !at.is_null())
            && let Some(edge) = rows.edges.get(&change.key.id).or_else(|| rows.gone.get(&change.key.id))
        {
            let [(source, target), _] = ends;
            record.removed.push(RemovedEdge {
                id: change.key.id,
                source,
                target,
                label: edge.label().to_owned(),
                properties: edge.properties.clone(),
                cells: kept_cells(rows, change.key),
            });
        }
    }
    record
}

/// What an edge was as a row when it was removed.
fn kept_cells(rows: &GraphRows, edge: RowKey) -> BTreeMap<Column, KeptCell> {
    let Some(row) = rows.rows.get(edge) else { return BTreeMap::new() };
    let kept = edge.table.columns().iter().filter(|column| !SHAPE.contains(column) && !row.get(**column).is_null());
    kept.filter_map(|column| Some((*column, KeptCell(row.cell(*column)?.clone())))).collect()
}

/// Where an edge ran before a change and where it runs after it.
fn ends(rows: &GraphRows, change: &RowChange) -> Option<[(Uuid, Uuid); 2]> {
    let row = rows.rows.get(RowKey::relationship(change.key.id))?;
    let end = |column| {
        let after = row.get(column).id()?;
        let is_kept = change.existence == Existence::Kept;
        let touched = change.columns.iter().find(|cell| is_kept && cell.column == column);
        Some((touched.map_or(Some(after), |cell| cell.before.value.id())?, after))
    };
    let (source_before, source) = end(Column::SourceEntityId)?;
    let (target_before, target) = end(Column::TargetEntityId)?;
    Some([(source_before, target_before), (source, target)])
}
