//! Edges that follow a merge: moved to the survivor, folded where they now say the same twice, retired where they would
//! point at themselves.
//!
//! An edge that is retired here keeps the ends it had, so that it says what it always said. Two parallel edges are one
//! when source, target, type and validity are equal and no property contradicts; a contradiction is a finding for people,
//! so such edges stay two.
//!
//! **Invariant:** after [`follow`], no live edge touches an absorbed entity.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::{Column, Row, RowKey, Table, Value};
use crate::clock::Moment;
use crate::id::OpId;
use crate::realm::graph::merge::{fill_text, union_ids, union_objects};
use crate::rows::{Editor, NotLoaded};

/// Newest document references a row keeps, as Khora's ingestion caps them.
pub const SOURCE_DOCUMENT_IDS_MAX: usize = 100;

/// Newest chunk references a row keeps, as Khora's ingestion caps them.
pub const SOURCE_CHUNK_IDS_MAX: usize = 250;

/// What became of the edges of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeNumbers {
    /// Edges that got the survivor as an end.
    pub moved: u32,
    /// Edges between members, retired.
    pub self_loops_retired: u32,
    /// Edges folded into a parallel one, retired.
    pub parallels_folded: u32,
    /// Parallel edges left two, because their properties contradict.
    pub parallels_kept: u32,
    /// Temporal edges that got the survivor as an end.
    pub temporal_moved: u32,
}

/// The ends of an edge.
type Ends = (Uuid, Uuid);

/// Leads every edge of the `absorbed` entities over to `keep`.
pub fn follow(
    editor: &mut Editor<'_>,
    keep: Uuid,
    absorbed: &[Uuid],
    op: OpId,
    now: Moment,
) -> Result<EdgeNumbers, NotLoaded> {
    let mut numbers = EdgeNumbers::default();
    let mut moving = Vec::new();
    let mut loops = Vec::new();
    for edge in editor.rows().edges_at(Table::Relationships, absorbed.iter().copied()).filter(|edge| is_standing(edge))
    {
        match ends_after(edge, keep, absorbed) {
            Some((source, target)) if source == target => loops.push(edge.key()),
            Some(ends) => moving.push((edge.clone(), ends)),
            None => {}
        }
    }
    for edge in loops {
        retire(editor, edge, op, now)?;
        numbers.self_loops_retired += 1;
    }
    fold_or_move(editor, keep, &moving, op, now, &mut numbers)?;
    follow_temporal(editor, keep, absorbed, &mut numbers)?;
    Ok(numbers)
}

/// Where the edges of the `absorbed` entities will run: what has to be loaded to find the parallel ones.
pub fn ends_to_come<'a>(
    edges: impl Iterator<Item = &'a Row>,
    keep: Uuid,
    absorbed: &[Uuid],
) -> impl Iterator<Item = Ends> {
    edges.filter(|edge| is_standing(edge)).filter_map(move |edge| ends_after(edge, keep, absorbed))
}

/// Whether a dream has not invalidated the edge. Pruned and ended edges are history, and history follows too.
fn is_standing(edge: &Row) -> bool {
    edge.get(Column::InvalidatedAt).is_null()
}

fn ends_after(edge: &Row, keep: Uuid, absorbed: &[Uuid]) -> Option<Ends> {
    let source = edge.get(Column::SourceEntityId).id()?;
    let target = edge.get(Column::TargetEntityId).id()?;
    let map = |end: Uuid| if absorbed.contains(&end) { keep } else { end };
    let ends = (map(source), map(target));
    (ends != (source, target)).then_some(ends)
}

fn retire(editor: &mut Editor<'_>, key: RowKey, op: OpId, now: Moment) -> Result<(), NotLoaded> {
    editor.set(key, Column::InvalidatedAt, Value::Time(now))?;
    editor.set(key, Column::InvalidatedBy, Value::Id(op.0))
}

/// What two edges must have in common to be parallel.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ParallelKey {
    ends: Ends,
    relationship_type: String,
    valid: (Option<Moment>, Option<Moment>),
}

fn parallel_key(edge: &Row, ends: Ends) -> Option<ParallelKey> {
    edge.get(Column::ValidTo).is_null().then(|| ParallelKey {
        ends,
        relationship_type: edge.get(Column::RelationshipType).text().unwrap_or_default().to_owned(),
        valid: (edge.get(Column::ValidFrom).time(), edge.get(Column::ValidUntil).time()),
    })
}

fn fold_or_move(
    editor: &mut Editor<'_>,
    keep: Uuid,
    moving: &[(Row, Ends)],
    op: OpId,
    now: Moment,
    numbers: &mut EdgeNumbers,
) -> Result<(), NotLoaded> {
    let mut groups: BTreeMap<ParallelKey, Vec<(&Row, bool)>> = BTreeMap::new();
    for (edge, ends) in moving {
        if let Some(key) = parallel_key(edge, *ends) {
            groups.entry(key).or_default().push((edge, true));
        }
    }
    // Whatever is parallel to an edge that moves to the survivor ends at the survivor.
    let standing = editor.rows().edges_at(Table::Relationships, [keep]).filter(|edge| is_standing(edge));
    for edge in standing.filter(|edge| moving.iter().all(|(moved, _)| moved.id != edge.id)) {
        let ends = edge.get(Column::SourceEntityId).id().zip(edge.get(Column::TargetEntityId).id());
        if let Some(group) = ends.and_then(|ends| parallel_key(edge, ends)).and_then(|key| groups.get_mut(&key)) {
            group.push((edge, false));
        }
    }
    let groups = groups.into_values().filter(|group| group.len() > 1);
    let groups: Vec<Vec<(Row, bool)>> =
        groups.map(|group| group.into_iter().map(|(edge, moves)| (edge.clone(), moves)).collect()).collect();
    let mut folded = Vec::new();
    for group in groups {
        folded.extend(fold(editor, group, op, now, numbers)?);
    }
    for (edge, (source, target)) in moving.iter().filter(|(edge, _)| !folded.contains(&edge.id)) {
        editor.set(edge.key(), Column::SourceEntityId, Value::Id(*source))?;
        editor.set(edge.key(), Column::TargetEntityId, Value::Id(*target))?;
        editor.set(edge.key(), Column::UpdatedAt, Value::Time(now))?;
        numbers.moved += 1;
    }
    Ok(())
}

/// Folds the parallel edges of one group into the first of them; answers the ids of those that are folded away.
fn fold(
    editor: &mut Editor<'_>,
    mut group: Vec<(Row, bool)>,
    op: OpId,
    now: Moment,
    numbers: &mut EdgeNumbers,
) -> Result<Vec<Uuid>, NotLoaded> {
    // The edge that need not move stays, then the surest, then the oldest.
    group.sort_by(|(one, one_moves), (two, two_moves)| {
        let confidence = |edge: &Row| edge.get(Column::Confidence).float().unwrap_or(1.0);
        one_moves
            .cmp(two_moves)
            .then(confidence(two).total_cmp(&confidence(one)))
            .then(one.get(Column::CreatedAt).time().cmp(&two.get(Column::CreatedAt).time()))
            .then(one.id.cmp(&two.id))
    });
    let mut edges = group.into_iter().map(|(edge, _)| edge);
    let Some(keeper) = edges.next() else { return Ok(Vec::new()) };
    let mut folded = Vec::new();
    for edge in edges {
        if fold_into(editor, keeper.key(), &edge, now)? {
            retire(editor, edge.key(), op, now)?;
            folded.push(edge.id);
            numbers.parallels_folded += 1;
        } else {
            numbers.parallels_kept += 1;
        }
    }
    Ok(folded)
}

/// Gives the keeper what the other edge knows; answers no, and changes nothing, where their properties contradict.
fn fold_into(editor: &mut Editor<'_>, keeper: RowKey, edge: &Row, now: Moment) -> Result<bool, NotLoaded> {
    let row = editor.rows().get(keeper).ok_or(NotLoaded(keeper))?.clone();
    let properties = union_objects(row.get(Column::Properties), edge.get(Column::Properties));
    if !properties.conflicts.is_empty() {
        return Ok(false);
    }
    if let Some(json) = properties.changed {
        editor.set(keeper, Column::Properties, Value::Json(json))?;
    }
    for (column, cap) in
        [(Column::SourceDocumentIds, SOURCE_DOCUMENT_IDS_MAX), (Column::SourceChunkIds, SOURCE_CHUNK_IDS_MAX)]
    {
        let union = union_ids(row.get(column).ids(), &[edge.get(column).ids()], cap);
        if union.changed {
            editor.set(keeper, column, Value::Ids(union.ids))?;
        }
    }
    for column in [Column::Confidence, Column::Weight] {
        let number = |row: &Row| row.get(column).float().unwrap_or(1.0);
        if number(edge) > number(&row) {
            editor.set(keeper, column, Value::Float(number(edge)))?;
        }
    }
    fill_text(editor, keeper, Column::Description, &[edge])?;
    editor.set(keeper, Column::UpdatedAt, Value::Time(now))?;
    Ok(true)
}

fn follow_temporal(
    editor: &mut Editor<'_>,
    keep: Uuid,
    absorbed: &[Uuid],
    numbers: &mut EdgeNumbers,
) -> Result<(), NotLoaded> {
    let edges = editor.rows().edges_at(Table::TemporalEdges, absorbed.iter().copied());
    let moving: Vec<(RowKey, Ends)> =
        edges.filter_map(|edge| Some((edge.key(), ends_after(edge, keep, absorbed)?))).collect();
    for (edge, (source, target)) in moving {
        if source == target {
            editor.set(edge, Column::IsValid, Value::Bool(false))?;
            continue;
        }
        editor.set(edge, Column::SourceEntityId, Value::Id(source))?;
        editor.set(edge, Column::TargetEntityId, Value::Id(target))?;
        numbers.temporal_moved += 1;
    }
    Ok(())
}
