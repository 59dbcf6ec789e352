//! Between cells and what an SQLite file holds.
//!
//! Khora spells ids as 32 hexadecimal digits, lists of ids as JSON arrays of those or of dashed ones, and moments in four
//! ways. All are read; what is written new has one spelling, and a cell that is put back has the one it had.

use dream_core::change::{Cell, Column, Row, Table, Value, ValueKind};
use dream_core::clock::Moment;
use dream_core::undo::{vector_bytes, vector_from_bytes};
use dream_ports::StoreError;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::records::id;

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

pub(crate) fn parse_id(text: &str) -> Option<Uuid> {
    Uuid::parse_str(text).ok()
}

pub(crate) fn parse_moment(text: &str) -> Option<Moment> {
    text.parse().ok()
}

pub(crate) fn parse_ids(text: &str) -> Option<Vec<Uuid>> {
    let texts: Vec<String> = serde_json::from_str(text).ok()?;
    texts.iter().map(|text| parse_id(text)).collect()
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
///
/// A number is spelled in decimal. SQLite reads it to the last bit in the range of confidences and weights, which a test tries;
/// a number like 1e-300, which no such column holds, may come back one bit off.
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

/// The row of a statement that selected the columns of `table` under their names, without its vector.
pub(crate) fn table_row(table: Table, found: &SqliteRow) -> Result<Row, StoreError> {
    let id = id(found, "id")?;
    let mut row = Row::empty(table, id);
    for column in table.columns().iter().filter(|column| **column != Column::Embedding) {
        let cell = cell(found, *column).ok_or_else(|| StoreError::Unreadable {
            operation: "read a row",
            what: format!("{table}.{column} of row {id}"),
        })?;
        row.put(*column, cell);
    }
    Ok(row)
}

/// Reads the cell of `column` from a row that selected it under that name; none if what stands there is no such thing.
fn cell(row: &SqliteRow, column: Column) -> Option<Cell> {
    let name = column.as_str();
    let value = match column.kind() {
        ValueKind::Int => row.try_get::<Option<i64>, _>(name).ok()?.map_or(Value::Null, Value::Int),
        ValueKind::Float => row.try_get::<Option<f64>, _>(name).ok()?.map_or(Value::Null, Value::Float),
        ValueKind::Bool => row.try_get::<Option<bool>, _>(name).ok()?.map_or(Value::Null, Value::Bool),
        kind => {
            let text = row.try_get_unchecked::<Option<String>, _>(name).ok()?;
            return text.map_or_else(|| Some(Cell::default()), |text| text_cell(kind, text));
        }
    };
    Some(value.into())
}

/// The vector of an entity, selected as `column`.
pub(crate) fn vector_cell(row: &SqliteRow, column: &str) -> Result<Cell, StoreError> {
    let unreadable = || StoreError::Unreadable { operation: "read a row", what: "dream_embedding.vector".to_owned() };
    let Some(bytes) = row.try_get_unchecked::<Option<Vec<u8>>, _>(column).map_err(|_| unreadable())? else {
        return Ok(Cell::default());
    };
    vector_from_bytes(&bytes).map(|vector| Value::Vector(vector).into()).ok_or_else(unreadable)
}

fn text_cell(kind: ValueKind, text: String) -> Option<Cell> {
    let value = match kind {
        ValueKind::Time => Value::Time(parse_moment(&text)?),
        ValueKind::Id => Value::Id(parse_id(&text)?),
        ValueKind::Ids => Value::Ids(parse_ids(&text)?),
        ValueKind::Json => return Some(Value::Json(text).into()),
        _ => return Some(Value::Text(text).into()),
    };
    let spelling = (spell(&value).as_ref() != Some(&text)).then(|| text.into());
    Some(Cell { value, spelling })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_spelling_is_kept_beside_the_meaning() {
        let cell = text_cell(ValueKind::Time, "2026-03-01 03:04:05".into()).unwrap();
        assert_eq!(cell.spelling.as_deref(), Some("2026-03-01 03:04:05"));
        assert_eq!(spell(&cell.value).as_deref(), Some("2026-03-01T03:04:05.000000+00:00"));
        let dashed = r#"["48140776-f36b-40e5-8e98-a60e4a594578"]"#;
        assert_eq!(text_cell(ValueKind::Ids, dashed.into()).unwrap().spelling.as_deref(), Some(dashed));
        let plain = r#"["48140776f36b40e58e98a60e4a594578"]"#;
        assert_eq!(text_cell(ValueKind::Ids, plain.into()).unwrap().spelling, None);
    }

    #[tokio::test]
    async fn numbers_in_the_range_of_confidences_and_weights_are_bound_to_the_last_bit() {
        use sqlx::Connection as _;
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let numbers: Vec<f64> = (0..50_000)
            .map(|place| (next() >> 11) as f64 / (1_u64 << 53) as f64 * 10_f64.powi(place % 13 - 6))
            .collect();
        let cells: Vec<_> = numbers.iter().map(|number| to_json(&Value::Float(*number).into())).collect();
        let mut connection = sqlx::SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let rows = sqlx::query("select cast(value as real) from json_each(?1) order by key")
            .bind(serde_json::to_string(&cells).unwrap())
            .fetch_all(&mut connection)
            .await
            .unwrap();
        for (row, number) in rows.iter().zip(&numbers) {
            assert_eq!(row.get::<f64, _>(0).to_bits(), number.to_bits(), "{number}");
        }
        assert_eq!(rows.len(), numbers.len());
    }
}
