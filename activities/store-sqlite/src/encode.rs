//! Between cells and what an SQLite file holds.
//!
//! Khora spells ids as 32 hexadecimal digits, lists of ids as JSON arrays of those or of dashed ones, and moments in four
//! ways. All are read; what is written new has one spelling, and a cell that is put back has the one it had.

use dream_core::change::{Cell, Column, Value};
use dream_core::clock::Moment;
use dream_core::undo::{vector_bytes, vector_from_bytes};
use dream_ports::StoreError;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::error::ResultExt;

/// What kind of value a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Json,
    Int,
    Float,
    Bool,
    Time,
    Id,
    Ids,
    Vector,
}

pub(crate) const fn kind(column: Column) -> Kind {
    use Column as C;
    match column {
        C::Name | C::EntityType | C::RelationshipType | C::Description | C::EmbeddingModel => Kind::Text,
        C::Attributes | C::Properties | C::Metadata => Kind::Json,
        C::SourceDocumentIds | C::SourceChunkIds => Kind::Ids,
        C::MentionCount | C::MentionCountSeen => Kind::Int,
        C::Confidence | C::Weight => Kind::Float,
        C::IsValid => Kind::Bool,
        C::Embedding => Kind::Vector,
        C::SourceEntityId | C::TargetEntityId | C::InvalidatedBy | C::CanonicalId | C::AbsorbedBy => Kind::Id,
        C::ValidFrom | C::ValidUntil | C::ValidTo | C::InvalidatedAt | C::CreatedAt | C::UpdatedAt => Kind::Time,
    }
}

pub(crate) fn hex(id: Uuid) -> String {
    id.simple().to_string()
}

/// The spelling of a moment that Khora's own raw writes have.
pub(crate) fn spell_moment(moment: Moment) -> String {
    moment.to_string().replace('Z', "+00:00")
}

/// A JSON array of ids as hexadecimal digits, the form in which lists of ids are bound.
pub(crate) fn id_array<'a>(ids: impl IntoIterator<Item = &'a Uuid>) -> String {
    let quoted: Vec<String> = ids.into_iter().map(|id| format!("\"{}\"", id.simple())).collect();
    format!("[{}]", quoted.join(","))
}

pub(crate) fn parse_id(text: &str) -> Result<Uuid, StoreError> {
    Uuid::parse_str(text).map_err(|_| unreadable("an id"))
}

pub(crate) fn parse_moment(text: &str) -> Result<Moment, StoreError> {
    text.parse().map_err(|_| unreadable("a moment"))
}

pub(crate) fn parse_ids(text: &str) -> Result<Vec<Uuid>, StoreError> {
    let texts: Vec<String> = serde_json::from_str(text).map_err(|_| unreadable("a list of ids"))?;
    texts.iter().map(|text| parse_id(text)).collect()
}

fn unreadable(what: &str) -> StoreError {
    StoreError::Unreadable { operation: "read a row", what: what.to_owned() }
}

/// The text that stands for a value, as it is written new.
pub(crate) fn spell(value: &Value) -> Option<String> {
    Some(match value {
        Value::Time(moment) => spell_moment(*moment),
        Value::Id(id) => hex(*id),
        Value::Ids(ids) => id_array(ids),
        Value::Text(text) | Value::Json(text) => text.clone(),
        Value::Vector(vector) => dream_core::id::hex(&vector_bytes(vector)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => return None,
    })
}

/// A cell as a JSON value: the form in which rows are bound set-wise.
pub(crate) fn to_json(cell: &Cell) -> serde_json::Value {
    use serde_json::json;
    if let Some(spelling) = &cell.spelling {
        return json!(spelling);
    }
    match &cell.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => json!(i32::from(*truth)),
        Value::Int(number) => json!(number),
        Value::Float(number) => json!(number),
        value => json!(spell(value)),
    }
}

/// Reads the cell of `column` from a row that selected it under that name.
pub(crate) fn cell(row: &SqliteRow, column: Column) -> Result<Cell, StoreError> {
    let name = column.as_str();
    let value = match kind(column) {
        Kind::Int => row.try_get::<Option<i64>, _>(name).doing("read a row")?.map_or(Value::Null, Value::Int),
        Kind::Float => row.try_get::<Option<f64>, _>(name).doing("read a row")?.map_or(Value::Null, Value::Float),
        Kind::Bool => row.try_get::<Option<bool>, _>(name).doing("read a row")?.map_or(Value::Null, Value::Bool),
        Kind::Vector => {
            let bytes = row.try_get::<Option<Vec<u8>>, _>(name).doing("read a row")?;
            bytes.as_deref().and_then(vector_from_bytes).map_or(Value::Null, Value::Vector)
        }
        kind => {
            let text = row.try_get_unchecked::<Option<String>, _>(name).doing("read a row")?;
            return text.map_or_else(|| Ok(Cell::default()), |text| text_cell(kind, text));
        }
    };
    Ok(value.into())
}

fn text_cell(kind: Kind, text: String) -> Result<Cell, StoreError> {
    let value = match kind {
        Kind::Time => Value::Time(parse_moment(&text)?),
        Kind::Id => Value::Id(parse_id(&text)?),
        Kind::Ids => Value::Ids(parse_ids(&text)?),
        Kind::Json => return Ok(Value::Json(text).into()),
        _ => return Ok(Value::Text(text).into()),
    };
    let spelling = (spell(&value).as_ref() != Some(&text)).then(|| text.into());
    Ok(Cell { value, spelling })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_spelling_is_kept_beside_the_meaning() {
        let cell = text_cell(Kind::Time, "2026-03-01 03:04:05".into()).unwrap();
        assert_eq!(cell.spelling.as_deref(), Some("2026-03-01 03:04:05"));
        assert_eq!(spell(&cell.value).as_deref(), Some("2026-03-01T03:04:05.000000+00:00"));
        let dashed = r#"["48140776-f36b-40e5-8e98-a60e4a594578"]"#;
        assert_eq!(text_cell(Kind::Ids, dashed.into()).unwrap().spelling.as_deref(), Some(dashed));
        let plain = r#"["48140776f36b40e58e98a60e4a594578"]"#;
        assert_eq!(text_cell(Kind::Ids, plain.into()).unwrap().spelling, None);
    }
}
