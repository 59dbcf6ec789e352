//! Between the rows of a space, as stores load and write them, and what a dream reads in them.
//!
//! **Invariant:** what cannot be read is named by its column; what stood there is not repeated.

use uuid::Uuid;

use super::day::Day;
use super::fact::{Fact, JournalEntry, JournalKind};
use crate::change::{Column, Row, Table, Value};
use crate::clock::Moment;
use crate::id::NamespaceId;

/// A row of a space in which something cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of row {row} of {} cannot be read", .column, .table)]
pub struct UnreadableRow {
    /// The table.
    pub table: Table,
    /// The row.
    pub row: Uuid,
    /// The column.
    pub column: Column,
}

struct Reader<'a>(&'a Row);

impl Reader<'_> {
    fn unreadable(&self, column: Column) -> UnreadableRow {
        UnreadableRow { table: self.0.table, row: self.0.id, column }
    }

    fn text(&self, column: Column) -> Result<String, UnreadableRow> {
        self.0.get(column).text().map(str::to_owned).ok_or_else(|| self.unreadable(column))
    }

    fn word<T: std::str::FromStr>(&self, column: Column) -> Result<T, UnreadableRow> {
        self.0.get(column).text().and_then(|text| text.parse().ok()).ok_or_else(|| self.unreadable(column))
    }

    fn time(&self, column: Column) -> Result<Moment, UnreadableRow> {
        self.0.get(column).time().ok_or_else(|| self.unreadable(column))
    }
}

/// The fact of a row.
pub fn fact(row: &Row) -> Result<Fact, UnreadableRow> {
    let read = Reader(row);
    Ok(Fact {
        id: row.id,
        subject: read.text(Column::Subject)?,
        text: read.text(Column::Text)?,
        tier: read.word(Column::Tier)?,
        origin: read.word(Column::Origin)?,
        pinned: row.get(Column::Pinned).truth().unwrap_or_default(),
        recall_count: row.get(Column::RecallCount).int().unwrap_or_default(),
        last_recalled_at: row.get(Column::LastRecalledAt).time(),
        created_at: read.time(Column::CreatedAt)?,
        updated_at: read.time(Column::UpdatedAt)?,
        expires_at: row.get(Column::ExpiresAt).time(),
        superseded_by: row.get(Column::SupersededBy).id(),
        source: row.get(Column::Source).text().map(str::to_owned),
    })
}

/// The row of a fact.
pub fn of_fact(fact: &Fact) -> Row {
    let text = |text: &str| Value::Text(text.to_owned());
    let time = |moment: Option<Moment>| moment.map_or(Value::Null, Value::Time);
    Row::empty(Table::Facts, fact.id)
        .with(Column::Subject, text(&fact.subject))
        .with(Column::Text, text(&fact.text))
        .with(Column::Tier, text(fact.tier.as_str()))
        .with(Column::Origin, text(fact.origin.as_str()))
        .with(Column::Pinned, Value::Bool(fact.pinned))
        .with(Column::RecallCount, Value::Int(fact.recall_count))
        .with(Column::LastRecalledAt, time(fact.last_recalled_at))
        .with(Column::CreatedAt, Value::Time(fact.created_at))
        .with(Column::UpdatedAt, Value::Time(fact.updated_at))
        .with(Column::ExpiresAt, time(fact.expires_at))
        .with(Column::SupersededBy, fact.superseded_by.map_or(Value::Null, Value::Id))
        .with(Column::Source, fact.source.as_deref().map_or(Value::Null, text))
}

/// The entry of a row.
pub fn entry(row: &Row) -> Result<JournalEntry, UnreadableRow> {
    let read = Reader(row);
    Ok(JournalEntry {
        id: row.id,
        kind: read.word(Column::Kind)?,
        day: read.word(Column::StartsOn)?,
        text: read.text(Column::Text)?,
        created_at: read.time(Column::CreatedAt)?,
        updated_at: read.time(Column::UpdatedAt)?,
    })
}

/// The row of an entry.
pub fn of_entry(entry: &JournalEntry) -> Row {
    Row::empty(Table::Journal, entry.id)
        .with(Column::Kind, Value::Text(entry.kind.as_str().to_owned()))
        .with(Column::StartsOn, Value::Text(entry.day.to_string()))
        .with(Column::Text, Value::Text(entry.text.clone()))
        .with(Column::CreatedAt, Value::Time(entry.created_at))
        .with(Column::UpdatedAt, Value::Time(entry.updated_at))
}

/// The id of the one entry that a space has for a week. Whoever writes it, an agent or a dream, writes the same.
pub fn week_entry(space: NamespaceId, monday: Day) -> Uuid {
    Uuid::new_v5(&space.0, format!("{}/{monday}", JournalKind::Week).as_bytes())
}

/// The id of the one value that a space has under a key.
pub fn key_value(space: NamespaceId, key: &str) -> Uuid {
    Uuid::new_v5(&space.0, format!("key/{key}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact as sample;
    use super::*;

    #[test]
    fn a_fact_comes_back_from_its_row() {
        let mut written = sample(7, "drinks tea");
        written.expires_at = Some(written.created_at.plus_seconds(60));
        written.source = Some("chat".into());
        assert_eq!(fact(&of_fact(&written)).unwrap(), written);
    }

    #[test]
    fn what_cannot_be_read_is_named_and_not_told() {
        let row = of_fact(&sample(7, "x")).with(Column::Tier, Value::Text("Quokka".into()));
        let error = fact(&row).unwrap_err().to_string();
        assert!(error.contains("tier of row") && !error.contains("Quokka"), "{error}");
    }
}
