//! Undo: what an op changed, kept so that it can be taken back, and how it is taken back.
//!
//! A record holds the touched cells only: the cell before, and a digest of the value after. A cell that still has that digest
//! gets its old content back, spelling included. What somebody changed since is listed and left alone, or overwritten where
//! that is asked for. A list of ids is the exception: what the op added goes, what it removed returns, and what others added
//! since stays, so nothing of theirs is at stake.
//!
//! **Invariant:** a record restores from itself alone; it never looks at a clock, a plan or a report.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::{Cell, Column, Existence, Row, RowChange, RowKey, Value};
use crate::digest::{Digester, Fingerprint};
use crate::json;
use crate::rows::{Editor, NotLoaded};

/// Everything one op changed, as its undo row holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UndoRecord {
    /// By table and row id.
    pub changes: Vec<UndoChange>,
}

/// One row's part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UndoChange {
    /// Which row.
    #[serde(flatten)]
    pub key: RowKey,
    /// Whether the row itself came or went.
    pub existence: Existence,
    /// The touched cells.
    pub columns: BTreeMap<Column, UndoCell>,
}

/// One cell's part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UndoCell {
    /// As it was.
    #[serde(with = "cell_json")]
    pub before: Cell,
    /// The ids that the op added, where the cell is a list of ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Uuid>,
    /// Digest of what the op left.
    pub after: Fingerprint,
}

/// A cell that somebody changed after the op, in ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangedSince {
    /// Which row.
    #[serde(flatten)]
    pub key: RowKey,
    /// Which column; none if the row itself is gone or came back.
    pub column: Option<Column>,
}

/// What to do with cells that were changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnChanged {
    /// Leave them as they are.
    Keep,
    /// Put the old content back all the same.
    Overwrite,
}

impl UndoRecord {
    /// The record of an op's changes.
    pub fn of(changes: &[RowChange]) -> Self {
        let cell = |before: &Cell, after: &Value| UndoCell {
            before: before.clone(),
            added: added(&before.value, after),
            after: fingerprint(after),
        };
        let changes = changes
            .iter()
            .map(|change| UndoChange {
                key: change.key,
                existence: change.existence,
                columns: change.columns.iter().map(|c| (c.column, cell(&c.before, &c.after))).collect(),
            })
            .collect();
        Self { changes }
    }

    /// The rows it speaks of.
    pub fn keys(&self) -> impl Iterator<Item = RowKey> {
        self.changes.iter().map(|change| change.key)
    }

    /// The same record without what it holds of a row: that row is not brought back, nor changed, any more.
    #[must_use]
    pub fn without(mut self, key: RowKey) -> Self {
        self.changes.retain(|change| change.key != key);
        self
    }

    /// The same record with other words for a fact: these come back, and not those that it held.
    #[must_use]
    pub fn saying(mut self, key: RowKey, words: &Cell) -> Self {
        for change in self.changes.iter_mut().filter(|change| change.key == key) {
            if let Some(cell) = change.columns.get_mut(&Column::Text) {
                cell.before = words.clone();
            }
        }
        self
    }

    /// Takes the op back on the rows of `editor`; answers which cells were changed since.
    pub fn restore(&self, editor: &mut Editor<'_>, on_changed: OnChanged) -> Result<Vec<ChangedSince>, NotLoaded> {
        let mut changed = Vec::new();
        for change in &self.changes {
            match change.existence {
                Existence::Kept => change.restore_cells(editor, on_changed, &mut changed)?,
                Existence::Created => change.take_away(editor, on_changed, &mut changed)?,
                Existence::Removed => change.bring_back(editor, &mut changed),
            }
        }
        Ok(changed)
    }
}

impl UndoChange {
    fn restore_cells(
        &self,
        editor: &mut Editor<'_>,
        on_changed: OnChanged,
        changed: &mut Vec<ChangedSince>,
    ) -> Result<(), NotLoaded> {
        let Some(row) = editor.rows().get(self.key).cloned() else {
            changed.push(ChangedSince { key: self.key, column: None });
            return Ok(());
        };
        for (column, cell) in &self.columns {
            let current = row.get(*column);
            if fingerprint(current) == cell.after {
                editor.set_cell(self.key, *column, cell.before.clone())?;
            } else if let (Value::Ids(_), Value::Ids(_) | Value::Null) = (current, &cell.before.value) {
                editor.set(self.key, *column, cell.without_ours(current))?;
            } else if current.same(&cell.before.value) || *column == Column::UpdatedAt {
                // Already as it was, or the mark of somebody's later write, which is theirs.
            } else {
                changed.push(ChangedSince { key: self.key, column: Some(*column) });
                if on_changed == OnChanged::Overwrite {
                    editor.set_cell(self.key, *column, cell.before.clone())?;
                }
            }
        }
        Ok(())
    }

    fn take_away(
        &self,
        editor: &mut Editor<'_>,
        on_changed: OnChanged,
        changed: &mut Vec<ChangedSince>,
    ) -> Result<(), NotLoaded> {
        let Some(row) = editor.rows().get(self.key) else { return Ok(()) };
        let touched = self.columns.iter().find(|(column, cell)| fingerprint(row.get(**column)) != cell.after);
        if let Some((column, _)) = touched {
            changed.push(ChangedSince { key: self.key, column: Some(*column) });
            if on_changed == OnChanged::Keep {
                return Ok(());
            }
        }
        editor.remove(self.key)
    }

    fn bring_back(&self, editor: &mut Editor<'_>, changed: &mut Vec<ChangedSince>) {
        if editor.rows().get(self.key).is_some() {
            changed.push(ChangedSince { key: self.key, column: None });
            return;
        }
        let mut row = Row::empty(self.key.table, self.key.id);
        for (column, cell) in &self.columns {
            row.put(*column, cell.before.clone());
        }
        editor.create(row);
    }
}

impl UndoCell {
    /// The ids of `current` without those the op added, and with those it removed back in front.
    fn without_ours(&self, current: &Value) -> Value {
        let added: BTreeSet<Uuid> = self.added.iter().copied().collect();
        let kept: Vec<Uuid> = current.ids().iter().copied().filter(|id| !added.contains(id)).collect();
        let present: BTreeSet<Uuid> = kept.iter().copied().collect();
        let mut ids: Vec<Uuid> = self.before.value.ids().iter().copied().filter(|id| !present.contains(id)).collect();
        ids.extend(kept);
        Value::Ids(ids)
    }
}

fn added(before: &Value, after: &Value) -> Vec<Uuid> {
    let had: BTreeSet<Uuid> = before.ids().iter().copied().collect();
    after.ids().iter().copied().filter(|id| !had.contains(id)).collect()
}

/// A digest of a value that tells whether a cell still holds it.
pub fn fingerprint(value: &Value) -> Fingerprint {
    let digester = Digester::new("dream/value/1");
    let digester = match value {
        Value::Null => digester.text("null"),
        Value::Bool(truth) => digester.text("bool").number(u64::from(*truth)),
        Value::Int(number) => digester.text("int").number(number.cast_unsigned()),
        Value::Float(number) => digester.text("float").number(number.to_bits()),
        Value::Text(text) => digester.text("text").text(text),
        Value::Time(moment) => digester.text("time").number(moment.micros().cast_unsigned()),
        Value::Id(id) => digester.text("id").bytes(id.as_bytes()),
        Value::Ids(ids) => ids.iter().fold(digester.text("ids"), |digester, id| digester.bytes(id.as_bytes())),
        Value::Json(text) => json::digest(digester.text("json"), text),
        Value::Vector(vector) => digester.text("vector").bytes(&vector_bytes(vector)),
    };
    Fingerprint(digester.short())
}

/// The little-endian bytes of a vector, as stores and undo records keep it.
pub fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|component| component.to_le_bytes()).collect()
}

/// The vector that such bytes spell; none if they are cut short.
pub fn vector_from_bytes(bytes: &[u8]) -> Option<Vec<f32>> {
    let (components, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| components.iter().map(|component| f32::from_le_bytes(*component)).collect())
}

/// Cells as JSON: plain where JSON has the type, an object with one telling key where it has not.
pub(crate) mod cell_json {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};
    use serde_json::Value as J;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;

    use serde_json::json;

    use super::{Cell, Deserialize, Serialize, Uuid, Value, vector_bytes, vector_from_bytes};

    pub(crate) fn serialize<S: Serializer>(cell: &Cell, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = match &cell.value {
            Value::Null => J::Null,
            Value::Bool(truth) => json!(truth),
            Value::Int(number) => json!({ "int": number }),
            Value::Float(number) if number.is_finite() => json!({ "float": number }),
            Value::Float(number) => json!({ "float_bits": number.to_bits() }),
            Value::Text(text) => json!(text),
            Value::Time(moment) => json!({ "time": moment }),
            Value::Id(id) => json!({ "id": id }),
            Value::Ids(ids) => json!({ "ids": ids }),
            Value::Json(text) => json!({ "json": text }),
            Value::Vector(vector) => json!({ "f32": STANDARD_NO_PAD.encode(vector_bytes(vector)) }),
        };
        if let Some(spelling) = &cell.spelling {
            value = json!({ "value": value, "spelling": spelling });
        }
        value.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cell, D::Error> {
        let mut json = J::deserialize(deserializer)?;
        let mut spelling = None;
        if let Some(text) = json.get("spelling").and_then(J::as_str) {
            spelling = Some(text.into());
            json = json.get("value").cloned().unwrap_or_default();
        }
        let value = value(json).ok_or_else(|| D::Error::custom("no cell of an undo record looks like this"))?;
        Ok(Cell { value, spelling })
    }

    fn value(json: J) -> Option<Value> {
        let mut fields = match json {
            J::Null => return Some(Value::Null),
            J::Bool(truth) => return Some(Value::Bool(truth)),
            J::String(text) => return Some(Value::Text(text)),
            J::Object(fields) => fields,
            J::Number(_) | J::Array(_) => return None,
        };
        let (key, json) = fields.iter_mut().next().map(|(key, json)| (key.clone(), json.take()))?;
        Some(match key.as_str() {
            "int" => Value::Int(json.as_i64()?),
            "float" => Value::Float(json.as_f64()?),
            "float_bits" => Value::Float(f64::from_bits(json.as_u64()?)),
            "time" => Value::Time(json.as_str()?.parse().ok()?),
            "id" => Value::Id(Uuid::parse_str(json.as_str()?).ok()?),
            "ids" => Value::Ids(serde_json::from_value(json).ok()?),
            "json" => Value::Json(json.as_str()?.to_owned()),
            "f32" => Value::Vector(vector_from_bytes(&STANDARD_NO_PAD.decode(json.as_str()?).ok()?)?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Table;
    use crate::clock::Moment;
    use crate::rows::Rows;

    const ID: Uuid = Uuid::from_u128(1);

    fn ids(numbers: &[u128]) -> Value {
        Value::Ids(numbers.iter().map(|number| Uuid::from_u128(*number)).collect())
    }

    fn world() -> Rows {
        let mut rows = Rows::default();
        let mut row = Row::empty(Table::Entities, ID)
            .with(Column::Description, Value::Text("was".into()))
            .with(Column::SourceChunkIds, ids(&[1, 2]));
        row.put(Column::UpdatedAt, Cell { value: Value::Time(Moment::from_micros(5)), spelling: Some("then".into()) });
        rows.load(row);
        rows
    }

    fn change(rows: &mut Rows) -> UndoRecord {
        let key = RowKey::entity(ID);
        let mut editor = rows.edit();
        editor.set(key, Column::Description, Value::Text("is".into())).unwrap();
        editor.set(key, Column::SourceChunkIds, ids(&[2, 3])).unwrap();
        editor.set(key, Column::UpdatedAt, Value::Time(Moment::from_micros(9))).unwrap();
        let record = UndoRecord::of(&editor.finish());
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<UndoRecord>(&json).unwrap(), record);
        record
    }

    #[test]
    fn what_nobody_touched_since_comes_back_to_the_letter() {
        let mut rows = world();
        let record = change(&mut rows);
        let mut editor = rows.edit();
        assert_eq!(record.restore(&mut editor, OnChanged::Keep).unwrap(), vec![]);
        editor.finish();
        assert_eq!(rows.entity(ID), world().entity(ID));
    }

    #[test]
    fn what_somebody_changed_since_is_listed_and_kept_or_overwritten() {
        for (on_changed, expected) in [(OnChanged::Keep, "theirs"), (OnChanged::Overwrite, "was")] {
            let mut rows = world();
            let record = change(&mut rows);
            rows.edit().set(RowKey::entity(ID), Column::Description, Value::Text("theirs".into())).unwrap();
            let mut editor = rows.edit();
            let changed = record.restore(&mut editor, on_changed).unwrap();
            assert_eq!(changed, vec![ChangedSince { key: RowKey::entity(ID), column: Some(Column::Description) }]);
            assert_eq!(rows.entity(ID).unwrap().get(Column::Description).text(), Some(expected));
        }
    }

    #[test]
    fn ids_that_others_added_since_survive_the_undo() {
        let mut rows = world();
        let record = change(&mut rows);
        rows.edit().set(RowKey::entity(ID), Column::SourceChunkIds, ids(&[2, 3, 8])).unwrap();
        let mut editor = rows.edit();
        assert_eq!(record.restore(&mut editor, OnChanged::Keep).unwrap(), vec![]);
        assert_eq!(rows.entity(ID).unwrap().get(Column::SourceChunkIds), &ids(&[1, 2, 8]));
    }

    #[test]
    fn undoing_twice_is_undoing_once() {
        let mut rows = world();
        let record = change(&mut rows);
        for _ in 0..2 {
            let mut editor = rows.edit();
            record.restore(&mut editor, OnChanged::Keep).unwrap();
        }
        assert_eq!(rows.entity(ID), world().entity(ID));
    }

    #[test]
    fn a_row_that_an_op_made_goes_and_one_that_it_removed_returns() {
        let mut rows = world();
        let made = Row::empty(Table::Aliases, ID).with(Column::MentionCountSeen, Value::Int(2));
        let mut editor = rows.edit();
        editor.create(made.clone());
        editor.remove(RowKey::entity(ID)).unwrap();
        let record = UndoRecord::of(&editor.finish());
        let mut editor = rows.edit();
        assert_eq!(record.restore(&mut editor, OnChanged::Keep).unwrap(), vec![]);
        assert_eq!(rows.get(made.key()), None);
        assert_eq!(rows.entity(ID), world().entity(ID));
    }
}
