//! `dream show`: a row as it was at a moment, from the row and the undo records of the ops since.

use clap::{Args, Subcommand};
use dream_core::change::{Existence, Row, RowKey, Value};
use dream_core::clock::Moment;
use dream_core::failure::Code;
use dream_ports::plan::Touch;
use serde_json::{Map, json};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::term;

/// Ops of a row's history that are looked back through.
const TOUCHES_MAX: u32 = 10_000;

#[derive(Debug, Subcommand)]
pub(crate) enum Show {
    /// Shows an entity, now or as it was at a moment.
    Entity(Entity),
}

#[derive(Debug, Args)]
pub(crate) struct Entity {
    /// The entity.
    id: Uuid,
    /// The moment, for example 2026-11-29T03:00:00Z; now if it is not said.
    #[arg(long)]
    as_of: Option<Moment>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Show {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let Self::Entity(entity) = self;
        let store = entity.store.open(config).await?;
        let key = RowKey::entity(entity.id);
        let Some(row) = store.row(key).await? else {
            return Err(Fault::new(Code::InvalidInput, format!("there is no entity {}", entity.id)));
        };
        let touches = store.touches(key, TOUCHES_MAX).await?;
        let now = store.now().await?;
        let row = as_of(row, &touches, entity.as_of.unwrap_or(now));
        if entity.json {
            term::json(&row_json(&row, &touches))?;
        } else {
            print(&row, &touches, entity.as_of.unwrap_or(now));
        }
        Ok(Exit::Done)
    }
}

/// The row with everything taken back that ops did after the moment. What ingestion did is not known and stays.
fn as_of(mut row: Row, touches: &[Touch], moment: Moment) -> Row {
    for touch in touches.iter().filter(|touch| touch.applied_at > moment) {
        let key = row.key();
        let changes = touch.record.changes.iter().filter(|change| change.key == key);
        for change in changes.filter(|change| change.existence == Existence::Kept) {
            for (column, cell) in &change.columns {
                row.put(*column, cell.before.clone());
            }
        }
    }
    row
}

fn print(row: &Row, touches: &[Touch], moment: Moment) {
    term::line(&format!("entity {} as of {moment}", row.id));
    let rows: Vec<Vec<String>> =
        row.table.columns().iter().map(|column| vec![column.to_string(), shown(row.get(*column))]).collect();
    term::table(&["column", "value"], &rows);
    for touch in touches {
        term::line(&format!("changed at {} by op {} of run {}", touch.applied_at, touch.op, touch.run));
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) | Value::Json(text) => text.clone(),
        Value::Time(moment) => moment.to_string(),
        Value::Id(id) => id.to_string(),
        Value::Ids(ids) => format!("{} ids", ids.len()),
        Value::Vector(vector) => format!("vector of {} numbers", vector.len()),
    }
}

fn row_json(row: &Row, touches: &[Touch]) -> serde_json::Value {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!(row.id));
    for column in row.table.columns() {
        let value = match row.get(*column) {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => json!(truth),
            Value::Int(number) => json!(number),
            Value::Float(number) => json!(number),
            Value::Text(text) => json!(text),
            Value::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            Value::Time(moment) => json!(moment),
            Value::Id(id) => json!(id),
            Value::Ids(ids) => json!(ids),
            Value::Vector(vector) => json!(vector),
        };
        fields.insert(column.to_string(), value);
    }
    let touches: Vec<_> = touches
        .iter()
        .map(|touch| json!({ "applied_at": touch.applied_at, "op_id": touch.op, "run_id": touch.run }))
        .collect();
    fields.insert("changed_by".to_owned(), json!(touches));
    serde_json::Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dream_core::change::{Column, Table};
    use dream_core::id::{OpId, RunId};
    use dream_core::undo::{UndoCell, UndoChange, UndoRecord, fingerprint};

    use super::*;

    #[test]
    fn a_row_is_shown_as_it_was_before_the_ops_that_came_later() {
        let id = Uuid::from_u128(1);
        let count = |number| Value::Int(number);
        let touch = |at: i64, before: i64, after: i64| Touch {
            run: RunId(id),
            op: OpId(id),
            applied_at: Moment::from_micros(at),
            record: UndoRecord {
                changes: vec![UndoChange {
                    key: RowKey::entity(id),
                    existence: Existence::Kept,
                    columns: BTreeMap::from([(
                        Column::MentionCount,
                        UndoCell { before: count(before).into(), added: vec![], after: fingerprint(&count(after)) },
                    )]),
                }],
            },
        };
        let row = Row::empty(Table::Entities, id).with(Column::MentionCount, count(9));
        let touches = [touch(20, 5, 9), touch(10, 2, 5)];
        let seen = |at| as_of(row.clone(), &touches, Moment::from_micros(at)).get(Column::MentionCount).int();
        assert_eq!((seen(30), seen(20), seen(15), seen(5)), (Some(9), Some(9), Some(5), Some(2)));
    }
}
