//! The small memory API: what an agent needs to live on a space. Thin on purpose; the dream is the product.
//!
//! **Invariant:** every call here counts as a use of the space, and no call of a dream does. A refusal names the field and
//! never repeats what stood there.

mod collections;
mod context;
mod facts;
mod spaces;

use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_ports::Store;
use uuid::Uuid;

use crate::failure::ResultExt;

pub use collections::{
    Action, KeyValue, NewAction, NewKeyValue, NewRecord, Record, actions, add_action, add_entry, add_record,
    delete_value, journal, put_value, records, set_action, set_record, value, values,
};
pub use context::{CONTEXT_CHARACTERS_MAX, Context, LastDream, Profile, context};
pub use facts::{FactFilter, FactPatch, NewEnd, NewFact, add_fact, facts, forget_fact, patch_fact, recall};
pub use spaces::{Created, add_key, change_space, create_space, space_of_key};

/// Most rows that one answer lists.
pub const PAGE_MAX: u32 = 500;

/// Most characters of a name, a subject, a key, a collection or a source: a line, not a text.
pub const NAME_CHARACTERS_MAX: usize = 200;

/// Most bytes of a value or a record.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Most characters of an entry of the journal.
pub const ENTRY_CHARACTERS_MAX: usize = 20_000;

fn invalid(field: &str, expected: impl std::fmt::Display) -> Failure {
    Failure::new(Code::InvalidInput, format!("{field}: expected {expected}"))
}

/// A line of text within its bound, with something in it.
fn line(field: &str, text: &str, characters_max: usize) -> Result<String, Failure> {
    let text = text.trim();
    let characters = text.chars().count();
    if characters == 0 || characters > characters_max {
        return Err(invalid(field, format_args!("1 to {characters_max} characters")));
    }
    if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')) {
        return Err(invalid(field, "text without control characters"));
    }
    Ok(text.to_owned())
}

/// A JSON document within its bound.
fn document(field: &str, json: &serde_json::Value) -> Result<Value, Failure> {
    let text = json.to_string();
    if text.len() > BODY_BYTES_MAX {
        return Err(invalid(field, format_args!("at most {BODY_BYTES_MAX} bytes of JSON")));
    }
    Ok(Value::Json(text))
}

fn json_of(row: &Row) -> serde_json::Value {
    row.get(Column::Body).text().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

fn text_of(row: &Row, column: Column) -> String {
    row.get(column).text().unwrap_or_default().to_owned()
}

fn time_of(row: &Row, column: Column) -> Moment {
    row.get(column).time().unwrap_or(Moment::from_micros(0))
}

fn time(moment: Option<Moment>) -> Value {
    moment.map_or(Value::Null, Value::Time)
}

/// Notes the use, and answers the time by the store's clock.
async fn used(store: &dyn Store, space: NamespaceId) -> Result<Moment, Failure> {
    store.use_space(space).await.or_fail()?;
    store.now().await.or_fail()
}

fn no_row(table: Table, id: Uuid) -> Failure {
    Failure::new(Code::InvalidInput, format!("no row {id} of {table} is in this space"))
}

async fn changed(
    store: &dyn Store,
    space: NamespaceId,
    key: RowKey,
    cells: &[(Column, Value)],
) -> Result<Row, Failure> {
    store.change_row(space, key, cells).await.or_fail()?.ok_or_else(|| no_row(key.table, key.id))
}

fn page_of(limit: Option<u32>) -> u32 {
    limit.unwrap_or(PAGE_MAX).clamp(1, PAGE_MAX)
}
