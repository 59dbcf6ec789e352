//! `undo.json`, schema `dream-undo/1`: what every op of a run changed, in the form in which Khora exports it.
//!
//! The rows in the store are what an undo works from; this file is a copy of them for people and archives. It is written
//! as it is read: [`UndoExport::open`], then [`UndoExport::feed`] for each event, then [`UndoExport::close`], so that memory
//! does not grow with the run and no byte is written twice.
//!
//! `before` is Khora's shape where Khora has one for the kind, and empty where it has none; `dream.changes` is the whole
//! record. Without redaction it reads back as an [`UndoRecord`](crate::undo::UndoRecord); with redaction it says so, and a
//! text that was taken out is an object with the key `redacted`, so that it is not mistaken for null.
//!
//! **Invariant:** a redacted export holds no digest of a text either: an unkeyed one can be guessed from a list of names.

use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::change::{Cell, Column, Existence, RowKey, Table, Value};
use crate::clock::Moment;
use crate::digest::Fingerprint;
use crate::id::{OpId, RunId, StableNamespaceId};
use crate::op::{Intent, OpKind, OpState};
use crate::redact::{Holds, RedactText, Redaction, Text, holds};
use crate::report::UNDO_SCHEMA;
use crate::report::event::Event;
use crate::report::facts::{OpFacts, RunFacts};
use crate::undo::{UndoCell, UndoChange, UndoRecord, cell_json};

/// Writes the export of one run.
#[derive(Clone, Debug)]
pub struct UndoExport<'a> {
    run: &'a RunFacts,
    redaction: &'a Redaction,
    ops: u64,
}

impl<'a> UndoExport<'a> {
    /// An export to which nothing was written yet.
    pub const fn new(run: &'a RunFacts, redaction: &'a Redaction) -> Self {
        Self { run, redaction, ops: 0 }
    }

    /// The beginning of the file.
    pub fn open(&self) -> String {
        let degree = self.redaction.degree();
        let head = Head {
            schema_version: UNDO_SCHEMA,
            run_id: self.run.run,
            namespace_id: self.run.namespace,
            started_at: self.run.started_at,
            dream: HeadDream { redacted: degree.redacts().then_some(degree) },
        };
        let json = spell(&head);
        // The object is left open, for `ops` to be its last key.
        let open = json.strip_suffix('}').unwrap_or(&json);
        format!("{open},\"ops\":[")
    }

    /// What an event adds to the file; none for an event that changed nothing.
    pub fn feed(&mut self, event: &Event<'_>) -> Option<String> {
        let Event::Op(facts) = event else { return None };
        let record = facts.undo.as_ref()?;
        let separator = if self.ops == 0 { "\n" } else { ",\n" };
        self.ops += 1;
        Some(format!("{separator}{}", spell(&entry(self.run, facts, record, self.redaction))))
    }

    /// The end of the file.
    pub const fn close(&self) -> &'static str {
        if self.ops == 0 { "]}\n" } else { "\n]}\n" }
    }
}

fn spell(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| unreachable!("an export is plain data"))
}

#[derive(Serialize)]
struct Head {
    schema_version: &'static str,
    run_id: RunId,
    namespace_id: StableNamespaceId,
    started_at: Moment,
    dream: HeadDream,
}

#[derive(Serialize)]
struct HeadDream {
    /// The degree, or null where nothing was cut or taken out.
    redacted: Option<RedactText>,
}

#[derive(Serialize)]
struct Entry<'a> {
    op_id: OpId,
    op_type: OpKind,
    before: Before<'a>,
    applied_at: Moment,
    dream: EntryDream<'a>,
}

#[derive(Serialize)]
struct EntryDream<'a> {
    seq: u32,
    outcome: OpState,
    undone_at: Option<Moment>,
    redacted: Option<RedactText>,
    changes: Vec<Change<'a>>,
}

fn entry<'a>(run: &RunFacts, facts: &'a OpFacts, record: &'a UndoRecord, redaction: &Redaction) -> Entry<'a> {
    let degree = redaction.degree();
    Entry {
        op_id: facts.op.id,
        op_type: facts.op.draft.kind,
        before: before(&facts.op.draft.intent, record),
        applied_at: facts.applied_at.unwrap_or(run.as_of),
        dream: EntryDream {
            seq: facts.op.seq,
            outcome: facts.op.state,
            undone_at: facts.undone_at,
            redacted: degree.redacts().then_some(degree),
            changes: record.changes.iter().map(|change| shown_change(change, redaction)).collect(),
        },
    }
}

/// `before`, in Khora's shape of the kind. It holds ids and numbers only.
#[derive(Serialize)]
#[serde(untagged)]
enum Before<'a> {
    Merges { merges: Vec<MergeBefore> },
    Entities { entities: [EntityBefore<'a>; 1] },
    Clusters { clusters: [ClusterBefore<'a>; 1] },
    Nothing {},
}

#[derive(Serialize)]
struct MergeBefore {
    canonical_id: Uuid,
    absorbed_id: Uuid,
    previous_relationships: Vec<EdgeBefore>,
    self_loops_invalidated: Vec<Uuid>,
    applied: bool,
}

/// An edge as it was. An end that did not move is not in the record, and neither is the type.
#[derive(Serialize)]
struct EdgeBefore {
    id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_entity_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_entity_id: Option<Uuid>,
}

#[derive(Serialize)]
struct EntityBefore<'a> {
    entity_id: Uuid,
    previous_source_chunk_ids: &'a [Uuid],
}

#[derive(Serialize)]
struct ClusterBefore<'a> {
    entity_id: Uuid,
    previous_embedding: Option<&'a [f32]>,
}

fn before<'a>(intent: &Intent, record: &'a UndoRecord) -> Before<'a> {
    let cell = |key: RowKey, column| {
        let change = record.changes.iter().find(|change| change.key == key)?;
        change.columns.get(&column).map(|cell| &cell.before.value)
    };
    match intent {
        Intent::MergeEntities { keep, absorb } => Before::Merges { merges: merges_before(*keep, absorb, record) },
        Intent::DropReferences { row, .. } if row.table == Table::Entities => {
            let previous_source_chunk_ids = cell(*row, Column::SourceChunkIds).map_or(&[][..], Value::ids);
            Before::Entities { entities: [EntityBefore { entity_id: row.id, previous_source_chunk_ids }] }
        }
        Intent::Centroid { entity, .. } => {
            let previous_embedding = cell(RowKey::entity(*entity), Column::Embedding).and_then(Value::vector);
            Before::Clusters { clusters: [ClusterBefore { entity_id: *entity, previous_embedding }] }
        }
        _ => Before::Nothing {},
    }
}

/// One entry per absorbed entity, each with the edges that hung on it. An edge that was retired keeps its ends, so the
/// record does not say on whom it hung: those stand in the first entry. Khora's own undo does with them what is right, as
/// it only looks whether this op retired them.
fn merges_before(keep: Uuid, absorb: &[Uuid], record: &UndoRecord) -> Vec<MergeBefore> {
    let mut merges: Vec<MergeBefore> = absorb
        .iter()
        .map(|absorbed| MergeBefore {
            canonical_id: keep,
            absorbed_id: *absorbed,
            previous_relationships: Vec::new(),
            self_loops_invalidated: Vec::new(),
            applied: true,
        })
        .collect();
    for change in record.changes.iter().filter(|change| change.key.table == Table::Relationships) {
        let end = |column| change.columns.get(&column).and_then(|cell| cell.before.value.id());
        let (source, target) = (end(Column::SourceEntityId), end(Column::TargetEntityId));
        if change.columns.contains_key(&Column::InvalidatedAt) {
            if let Some(first) = merges.first_mut() {
                first.self_loops_invalidated.push(change.key.id);
            }
        } else if let Some(ended) = source.or(target) {
            let edge = EdgeBefore { id: change.key.id, source_entity_id: source, target_entity_id: target };
            if let Some(merge) = merges.iter_mut().find(|merge| merge.absorbed_id == ended) {
                merge.previous_relationships.push(edge);
            }
        }
    }
    merges
}

/// One row's part of a record, as it may be shown.
#[derive(Serialize)]
struct Change<'a> {
    #[serde(flatten)]
    key: RowKey,
    existence: Existence,
    columns: BTreeMap<Column, ShownCell<'a>>,
}

#[derive(Serialize)]
struct ShownCell<'a> {
    before: ShownBefore<'a>,
    #[serde(skip_serializing_if = "<[Uuid]>::is_empty")]
    added: &'a [Uuid],
    after: Option<Fingerprint>,
}

/// A cell as it was: as the record spells it, or text as it may be shown.
enum ShownBefore<'a> {
    Whole(&'a Cell),
    Text(Text),
    Document(Text),
}

fn shown_change<'a>(change: &'a UndoChange, redaction: &Redaction) -> Change<'a> {
    let columns = change.columns.iter().map(|(column, cell)| (*column, shown_cell(*column, cell, redaction)));
    Change { key: change.key, existence: change.existence, columns: columns.collect() }
}

fn shown_cell<'a>(column: Column, cell: &'a UndoCell, redaction: &Redaction) -> ShownCell<'a> {
    let held = holds(column);
    let is_text = held != Holds::Facts || matches!(cell.before.value, Value::Text(_) | Value::Json(_));
    let is_safe = !is_text || !redaction.degree().redacts();
    let before = match (&cell.before.value, held) {
        _ if is_safe => ShownBefore::Whole(&cell.before),
        (Value::Text(text), Holds::TypeName) => ShownBefore::Text(redaction.type_name(text)),
        (Value::Json(text), _) => ShownBefore::Document(redaction.text(text)),
        (Value::Text(text), _) => ShownBefore::Text(redaction.text(text)),
        // A null, or what no store puts into a column of text; a spelling it may have is text of an unknown kind.
        _ if cell.before.spelling.is_none() => ShownBefore::Whole(&cell.before),
        _ => ShownBefore::Text(redaction.text(cell.before.spelling.as_deref().unwrap_or_default())),
    };
    ShownCell { before, added: &cell.added, after: is_safe.then_some(cell.after) }
}

impl Serialize for ShownBefore<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, text) = match self {
            Self::Whole(cell) => return cell_json::serialize(cell, serializer),
            Self::Text(text) => match text.shown() {
                Some(shown) => return serializer.serialize_str(shown),
                None => ("redacted", "text"),
            },
            Self::Document(text) => text.shown().map_or(("redacted", "json"), |shown| ("json", shown)),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(key, text)?;
        map.end()
    }
}
