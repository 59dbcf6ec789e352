//! Journal, actions, values and records.

use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::clock::Moment;
use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_core::realm::space::day::Day;
use dream_core::realm::space::fact::{JournalEntry, JournalKind};
use dream_core::realm::space::row::{entry, key_value, of_entry, week_entry};
use dream_ports::Store;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::rows;
use super::{
    ENTRY_CHARACTERS_MAX, NAME_CHARACTERS_MAX, changed, document, invalid, json_of, line, page_of, text_of, time,
    time_of, used,
};
use crate::failure::ResultExt;

/// Where an action may stand.
const ACTION_STATES: [&str; 5] = ["pending", "approved", "done", "rejected", "expired"];

/// Something to be done.
#[derive(Clone, Serialize)]
pub struct Action {
    /// Its id.
    pub id: Uuid,
    /// What is to be done.
    pub text: String,
    /// Where it stands.
    pub status: String,
    /// When it is no longer to be done.
    pub expires_at: Option<Moment>,
    /// When it was added.
    pub created_at: Moment,
}

/// An action that is to be kept.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewAction {
    /// What is to be done.
    pub text: String,
    /// When it is no longer to be done.
    #[serde(default)]
    pub expires_at: Option<Moment>,
}

/// A value under a key.
#[derive(Clone, Serialize)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The value.
    pub value: serde_json::Value,
    /// When it ends.
    pub expires_at: Option<Moment>,
}

/// A value that is to be kept under a key.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewKeyValue {
    /// The value.
    pub value: serde_json::Value,
    /// When it ends.
    #[serde(default)]
    pub expires_at: Option<Moment>,
}

/// A record of a collection.
#[derive(Clone, Serialize)]
pub struct Record {
    /// Its id.
    pub id: Uuid,
    /// The collection.
    pub collection: String,
    /// What it says.
    pub body: serde_json::Value,
    /// Where it stands.
    pub status: Option<String>,
    /// When it was added.
    pub created_at: Moment,
}

/// A record that is to be kept.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRecord {
    /// The collection.
    pub collection: String,
    /// What it says.
    pub body: serde_json::Value,
    /// Where it stands.
    #[serde(default)]
    pub status: Option<String>,
}

/// Writes an entry of the journal. A week has one: writing it again replaces it.
pub async fn add_entry(
    store: &dyn Store,
    space: NamespaceId,
    kind: JournalKind,
    day: Day,
    text: &str,
) -> Result<JournalEntry, Failure> {
    let text = line("text", text, ENTRY_CHARACTERS_MAX)?;
    let now = used(store, space).await?;
    let (id, day) = match kind {
        JournalKind::Day => (Uuid::now_v7(), day),
        JournalKind::Week => (week_entry(space, day.monday()), day.monday()),
    };
    let written = JournalEntry { id, kind, day, text, created_at: now, updated_at: now };
    store.put_rows(space, &[of_entry(&written)]).await.or_fail()?;
    Ok(written)
}

/// The journal, newest day first.
pub async fn journal(store: &dyn Store, space: NamespaceId, limit: Option<u32>) -> Result<Vec<JournalEntry>, Failure> {
    used(store, space).await?;
    let rows = rows::all(store, space, Table::Journal).await?;
    let entries: Result<Vec<JournalEntry>, _> = rows.iter().map(entry).collect();
    let mut entries = entries.map_err(|error| rows::unreadable(&error))?;
    entries.sort_by(|one, two| two.day.cmp(&one.day).then(one.id.cmp(&two.id)));
    entries.truncate(page_of(limit) as usize);
    Ok(entries)
}

fn action(row: &Row) -> Action {
    Action {
        id: row.id,
        text: text_of(row, Column::Text),
        status: text_of(row, Column::Status),
        expires_at: row.get(Column::ExpiresAt).time(),
        created_at: time_of(row, Column::CreatedAt),
    }
}

/// Keeps an action, pending.
pub async fn add_action(store: &dyn Store, space: NamespaceId, new: NewAction) -> Result<Action, Failure> {
    let text = line("text", &new.text, ENTRY_CHARACTERS_MAX)?;
    let now = used(store, space).await?;
    let row = Row::empty(Table::Actions, Uuid::now_v7())
        .with(Column::Text, Value::Text(text))
        .with(Column::Status, Value::Text("pending".to_owned()))
        .with(Column::ExpiresAt, time(new.expires_at))
        .with(Column::CreatedAt, Value::Time(now))
        .with(Column::UpdatedAt, Value::Time(now));
    store.put_rows(space, std::slice::from_ref(&row)).await.or_fail()?;
    Ok(action(&row))
}

/// Actions, by id.
pub async fn actions(
    store: &dyn Store,
    space: NamespaceId,
    after: Option<Uuid>,
    limit: Option<u32>,
) -> Result<Vec<Action>, Failure> {
    used(store, space).await?;
    let rows = store.space_rows(space, Table::Actions, after, page_of(limit)).await.or_fail()?;
    Ok(rows.iter().map(action).collect())
}

/// Says where an action stands.
pub async fn set_action(store: &dyn Store, space: NamespaceId, id: Uuid, status: &str) -> Result<Action, Failure> {
    if !ACTION_STATES.contains(&status) {
        return Err(invalid("status", ACTION_STATES.join(", ")));
    }
    let now = used(store, space).await?;
    let cells = [(Column::Status, Value::Text(status.to_owned())), (Column::UpdatedAt, Value::Time(now))];
    let key = RowKey { table: Table::Actions, id };
    changed(store, space, key, &cells).await.map(|row| action(&row))
}

fn kept_value(row: &Row) -> KeyValue {
    KeyValue { key: text_of(row, Column::Key), value: json_of(row), expires_at: row.get(Column::ExpiresAt).time() }
}

/// Keeps a value under a key, in place of the one that is there.
pub async fn put_value(
    store: &dyn Store,
    space: NamespaceId,
    key: &str,
    new: NewKeyValue,
) -> Result<KeyValue, Failure> {
    let key = line("key", key, NAME_CHARACTERS_MAX)?;
    let body = document("value", &new.value)?;
    let now = used(store, space).await?;
    let row = Row::empty(Table::KeyValues, key_value(space, &key))
        .with(Column::Key, Value::Text(key))
        .with(Column::Body, body)
        .with(Column::ExpiresAt, time(new.expires_at))
        .with(Column::CreatedAt, Value::Time(now))
        .with(Column::UpdatedAt, Value::Time(now));
    store.put_rows(space, std::slice::from_ref(&row)).await.or_fail()?;
    Ok(kept_value(&row))
}

/// The value under a key, unless it has ended.
pub async fn value(store: &dyn Store, space: NamespaceId, key: &str) -> Result<Option<KeyValue>, Failure> {
    let now = used(store, space).await?;
    let key = RowKey { table: Table::KeyValues, id: key_value(space, key.trim()) };
    let row = store.space_row(space, key).await.or_fail()?;
    Ok(row.map(|row| kept_value(&row)).filter(|value| value.expires_at.is_none_or(|end| end > now)))
}

/// Values, in no order that means something.
pub async fn values(store: &dyn Store, space: NamespaceId, limit: Option<u32>) -> Result<Vec<KeyValue>, Failure> {
    used(store, space).await?;
    let rows = store.space_rows(space, Table::KeyValues, None, page_of(limit)).await.or_fail()?;
    Ok(rows.iter().map(kept_value).collect())
}

/// Takes the value under a key away; answers whether there was one.
pub async fn delete_value(store: &dyn Store, space: NamespaceId, key: &str) -> Result<bool, Failure> {
    used(store, space).await?;
    let id = key_value(space, key.trim());
    Ok(store.remove_rows(space, Table::KeyValues, &[id]).await.or_fail()? > 0)
}

pub(super) fn record(row: &Row) -> Record {
    Record {
        id: row.id,
        collection: text_of(row, Column::Collection),
        body: json_of(row),
        status: row.get(Column::Status).text().map(str::to_owned),
        created_at: time_of(row, Column::CreatedAt),
    }
}

/// Keeps a record.
pub async fn add_record(store: &dyn Store, space: NamespaceId, new: NewRecord) -> Result<Record, Failure> {
    let collection = line("collection", &new.collection, NAME_CHARACTERS_MAX)?;
    let body = document("body", &new.body)?;
    let status = new.status.as_deref().map(|status| line("status", status, NAME_CHARACTERS_MAX)).transpose()?;
    let now = used(store, space).await?;
    let row = Row::empty(Table::Records, Uuid::now_v7())
        .with(Column::Collection, Value::Text(collection))
        .with(Column::Body, body)
        .with(Column::Status, status.map_or(Value::Null, Value::Text))
        .with(Column::CreatedAt, Value::Time(now))
        .with(Column::UpdatedAt, Value::Time(now));
    store.put_rows(space, std::slice::from_ref(&row)).await.or_fail()?;
    Ok(record(&row))
}

/// Records of a collection, oldest first.
pub async fn records(
    store: &dyn Store,
    space: NamespaceId,
    collection: &str,
    limit: Option<u32>,
) -> Result<Vec<Record>, Failure> {
    used(store, space).await?;
    let rows = rows::all(store, space, Table::Records).await?;
    let mut records: Vec<Record> = rows.iter().map(record).filter(|record| record.collection == collection).collect();
    records.sort_by(|one, two| one.created_at.cmp(&two.created_at).then(one.id.cmp(&two.id)));
    records.truncate(page_of(limit) as usize);
    Ok(records)
}

/// Says where a record stands.
pub async fn set_record(store: &dyn Store, space: NamespaceId, id: Uuid, status: &str) -> Result<Record, Failure> {
    let status = line("status", status, NAME_CHARACTERS_MAX)?;
    let now = used(store, space).await?;
    let cells = [(Column::Status, Value::Text(status)), (Column::UpdatedAt, Value::Time(now))];
    let key = RowKey { table: Table::Records, id };
    changed(store, space, key, &cells).await.map(|row| record(&row))
}
