//! A space as JSON lines: one row per line, with its table, its id and the cells that are not null.
//!
//! **Invariant:** what is exported is what was imported, to the last cell; a line that cannot be read is named by its number,
//! and what stood there is not repeated.

use dream_core::change::{Column, Row, Table, Value, ValueKind};
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_core::realm::space::row::{entry, fact};
use dream_ports::Store;
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use super::rows;
use crate::failure::ResultExt;

/// Rows that are written at once.
const ROWS_PER_WRITE: usize = 500;

/// The lines of a space, table by table, by id.
pub async fn export(store: &dyn Store, space: NamespaceId) -> Result<Vec<Json>, Failure> {
    store.space(space).await.or_fail()?;
    let mut lines = Vec::new();
    for table in Table::OF_SPACE {
        lines.extend(rows::all(store, space, *table).await?.iter().map(line));
    }
    Ok(lines)
}

fn line(row: &Row) -> Json {
    let mut fields = Map::new();
    fields.insert("table".to_owned(), json!(row.table));
    fields.insert("id".to_owned(), json!(row.id));
    for column in row.table.columns() {
        let value = match row.get(*column) {
            Value::Bool(truth) => json!(truth),
            Value::Int(number) => json!(number),
            Value::Time(moment) => json!(moment),
            Value::Id(id) => json!(id),
            Value::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            Value::Text(text) => json!(text),
            // No table of a space has cells of the kinds behind null.
            Value::Null | Value::Float(_) | Value::Ids(_) | Value::Vector(_) => continue,
        };
        fields.insert(column.to_string(), value);
    }
    Json::Object(fields)
}

/// Writes lines into a space, in place of rows with the same ids; answers how many there were. Nothing is written if one of
/// them cannot be read.
pub async fn import(store: &dyn Store, space: NamespaceId, lines: &str) -> Result<usize, Failure> {
    store.space(space).await.or_fail()?;
    let mut rows = Vec::new();
    for (line, number) in lines.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let unreadable = |what: &str| Failure::new(Code::InvalidInput, format!("line {number}: {what}"));
        let json: Json = serde_json::from_str(line).map_err(|_| unreadable("expected a JSON object"))?;
        rows.push(row(space, json).map_err(|what| unreadable(&what))?);
    }
    for rows in rows.chunks(ROWS_PER_WRITE) {
        store.put_rows(space, rows).await.or_fail()?;
    }
    Ok(rows.len())
}

fn row(space: NamespaceId, json: Json) -> Result<Row, String> {
    let Json::Object(mut fields) = json else { return Err("expected a JSON object".to_owned()) };
    let table: Table = fields
        .remove("table")
        .and_then(|table| table.as_str()?.parse().ok())
        .filter(|table: &Table| table.is_of_space())
        .ok_or("table: expected a table of a space")?;
    let id = fields.remove("id").and_then(|id| id.as_str().and_then(|id| Uuid::parse_str(id).ok()));
    let id = if table == Table::Profiles { Some(space.0) } else { id };
    let mut row = Row::empty(table, id.ok_or("id: expected a UUID")?);
    for (name, json) in fields {
        let column: Column = name.parse().map_err(|_| "a field that no table has".to_owned())?;
        table.position(column).ok_or_else(|| format!("{column}: not of this table"))?;
        row.put(column, value(column, json).ok_or_else(|| format!("{column}: not of its kind"))?);
    }
    let is_readable = match table {
        Table::Facts => fact(&row).map(|_| ()),
        Table::Journal => entry(&row).map(|_| ()),
        _ => Ok(()),
    };
    is_readable.map_err(|error| format!("{}: missing, or not one of its words", error.column))?;
    Ok(row)
}

fn value(column: Column, json: Json) -> Option<Value> {
    Some(match (column.kind(), json) {
        (_, Json::Null) => Value::Null,
        (ValueKind::Json, json) => Value::Json(json.to_string()),
        (ValueKind::Bool, Json::Bool(truth)) => Value::Bool(truth),
        (ValueKind::Int, Json::Number(number)) => Value::Int(number.as_i64()?),
        (ValueKind::Text, Json::String(text)) => Value::Text(text),
        (ValueKind::Time, Json::String(text)) => Value::Time(text.parse().ok()?),
        (ValueKind::Id, Json::String(text)) => Value::Id(Uuid::parse_str(&text).ok()?),
        _ => return None,
    })
}
