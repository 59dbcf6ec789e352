//! Writing what a group decided, set-wise, inside of its transaction.

use std::collections::BTreeMap;

use dream_core::apply::OpResult;
use dream_core::change::{Column, Existence, Table};
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId};
use dream_core::mirror::Direction;
use dream_core::rows::Image;
use dream_core::verdict::Verdict;
use dream_ports::StoreError;
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use crate::encode::{hex, id_array, spell_moment, to_json};
use crate::error::ResultExt;
use crate::records::spell_json;
use crate::sql;
use crate::tx::Tx;

/// Writes the final images of touched rows.
pub(crate) async fn images(tx: &mut Tx, namespace: NamespaceId, images: &[Image]) -> Result<(), StoreError> {
    let mut by_table: BTreeMap<Table, Vec<&Image>> = BTreeMap::new();
    for image in images {
        by_table.entry(image.row.table).or_default().push(image);
    }
    for (table, images) in by_table {
        let statement = match table {
            Table::Entities => sql!("entities/write"),
            Table::Relationships => sql!("relationships/write"),
            Table::TemporalEdges => sql!("temporal_edges/write"),
            Table::Aliases => sql!("aliases/upsert"),
            Table::Facts => sql!("facts/upsert"),
            Table::Journal => sql!("journal/upsert"),
            Table::Actions => sql!("actions/upsert"),
            Table::KeyValues => sql!("key_values/upsert"),
            Table::Records => sql!("records/upsert"),
            Table::Profiles => sql!("profiles/upsert"),
        };
        let kept = images.iter().filter(|image| image.existence != Existence::Removed);
        let rows: Vec<Json> = kept.map(|image| image_json(image)).collect();
        execute(tx, namespace, statement, spell_json(&rows)).await?;
        let removed: Vec<Uuid> =
            images.iter().filter(|image| image.existence == Existence::Removed).map(|image| image.row.id).collect();
        if let Some(statement) = delete_statement(table).filter(|_| !removed.is_empty()) {
            execute(tx, namespace, statement, id_array(&removed)).await?;
        }
        if table == Table::Entities {
            embeddings(tx, namespace, &images).await?;
        }
    }
    Ok(())
}

/// How rows of a table are deleted, where an op may do so.
pub(crate) const fn delete_statement(table: Table) -> Option<&'static str> {
    Some(match table {
        Table::Entities | Table::Relationships | Table::TemporalEdges => return None,
        Table::Aliases => sql!("aliases/delete"),
        Table::Facts => sql!("facts/delete"),
        Table::Journal => sql!("journal/delete"),
        Table::Actions => sql!("actions/delete"),
        Table::KeyValues => sql!("key_values/delete"),
        Table::Records => sql!("records/delete"),
        Table::Profiles => sql!("profiles/delete"),
    })
}

async fn execute(tx: &mut Tx, namespace: NamespaceId, statement: &'static str, rows: String) -> Result<(), StoreError> {
    sqlx::query(statement).bind(hex(namespace.0)).bind(rows).execute(&mut **tx).await.doing("write rows")?;
    Ok(())
}

fn image_json(image: &Image) -> Json {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!(hex(image.row.id)));
    fields.insert("touched".to_owned(), json!(image.touched));
    for column in image.row.table.columns().iter().filter(|column| **column != Column::Embedding) {
        let is_written = image.row.table.is_written_whole() || image.touched & image.row.table.bit(*column) != 0;
        if let Some(cell) = image.row.cell(*column).filter(|_| is_written) {
            fields.insert(column.as_str().to_owned(), to_json(cell));
        }
    }
    Json::Object(fields)
}

pub(crate) async fn embeddings(tx: &mut Tx, namespace: NamespaceId, images: &[&Image]) -> Result<(), StoreError> {
    let bit = Table::Entities.bit(Column::Embedding);
    let touched: Vec<&&Image> = images.iter().filter(|image| image.touched & bit != 0).collect();
    if touched.is_empty() {
        return Ok(());
    }
    let vector = |image: &Image| image.row.cell(Column::Embedding).map(to_json).unwrap_or_default();
    let rows: Vec<Json> =
        touched.iter().map(|image| json!({ "id": hex(image.row.id), "embedding": vector(image) })).collect();
    execute(tx, namespace, sql!("embeddings/write"), spell_json(&rows)).await?;
    let gone: Vec<Uuid> = touched.iter().filter(|image| vector(image).is_null()).map(|image| image.row.id).collect();
    if !gone.is_empty() {
        sqlx::query(sql!("embeddings/delete")).bind(id_array(&gone)).execute(&mut **tx).await.doing("write rows")?;
    }
    Ok(())
}

/// What a group leaves behind besides its rows.
pub(crate) struct Trail<'a> {
    pub(crate) run: RunId,
    pub(crate) namespace: NamespaceId,
    pub(crate) direction: Direction,
    pub(crate) has_graph: bool,
    pub(crate) at: Moment,
    pub(crate) results: &'a [OpResult],
}

const TRAIL: &str = "write what the ops left behind";

/// Writes undo records, touched rows, outbox, verdicts and op states.
pub(crate) async fn trail(tx: &mut Tx, trail: &Trail<'_>) -> Result<(), StoreError> {
    let (run, at) = (hex(trail.run.0), spell_moment(trail.at));
    let states: Vec<Json> = trail.results.iter().map(|result| state_json(result, trail.direction)).collect();
    sqlx::query(sql!("ops/settle"))
        .bind(&run)
        .bind(spell_json(&states))
        .bind(&at)
        .execute(&mut **tx)
        .await
        .doing(TRAIL)?;
    if trail.direction == Direction::Apply {
        undo_records(tx, trail).await?;
    }
    let told = trail.results.iter().filter(|result| !result.verbs.is_empty());
    let outbox: Vec<Json> =
        told.map(|result| json!({ "op_id": hex(result.op.0), "verbs": spell_json(&result.verbs) })).collect();
    sqlx::query(sql!("outbox/insert"))
        .bind(hex(trail.namespace.0))
        .bind(&run)
        .bind(spell_json(&outbox))
        .bind(trail.direction.as_str())
        .bind(if trail.has_graph { "open" } else { "no_graph" })
        .bind(&at)
        .execute(&mut **tx)
        .await
        .doing(TRAIL)?;
    let settled: Vec<Verdict> = trail.results.iter().flat_map(|result| result.verdicts.iter().copied()).collect();
    let word = if trail.direction == Direction::Undo { Word::Persons } else { Word::Runs };
    verdicts(tx, trail.namespace, &settled, word, trail.at).await
}

/// How to take the ops back, and which rows they changed.
async fn undo_records(tx: &mut Tx, trail: &Trail<'_>) -> Result<(), StoreError> {
    let run = hex(trail.run.0);
    let undo: Vec<Json> = trail.results.iter().filter_map(undo_json).collect();
    sqlx::query(sql!("undo/insert"))
        .bind(&run)
        .bind(spell_json(&undo))
        .bind(spell_moment(trail.at))
        .execute(&mut **tx)
        .await
        .doing(TRAIL)?;
    let touched = |result: &OpResult| {
        let seq = result.seq;
        result.touched().map(move |key| json!({ "t": key.table, "r": hex(key.id), "s": seq })).collect::<Vec<_>>()
    };
    let touched: Vec<Json> = trail.results.iter().flat_map(touched).collect();
    sqlx::query(sql!("touched/insert")).bind(&run).bind(spell_json(&touched)).execute(&mut **tx).await.doing(TRAIL)?;
    Ok(())
}

/// An op that is taken back keeps the numbers of what it did.
fn state_json(result: &OpResult, direction: Direction) -> Json {
    json!({
        "op_id": hex(result.op.0),
        "state": result.state,
        "reason": result.reason,
        "numbers": (direction == Direction::Apply).then(|| spell_json(&result.numbers)),
    })
}

fn undo_json(result: &OpResult) -> Option<Json> {
    let record = result.undo.as_ref()?;
    Some(json!({ "op_id": hex(result.op.0), "seq": result.seq, "record": spell_json(record) }))
}

/// Whose word a verdict is. That of an undo is a person's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Runs,
    Persons,
}

/// Writes verdicts; those of a person stand against any run's.
pub(crate) async fn verdicts(
    tx: &mut Tx,
    namespace: NamespaceId,
    verdicts: &[Verdict],
    word: Word,
    at: Moment,
) -> Result<(), StoreError> {
    if verdicts.is_empty() {
        return Ok(());
    }
    sqlx::query(sql!("verdicts/write"))
        .bind(hex(namespace.0))
        .bind(spell_json(&verdicts))
        .bind(word == Word::Persons)
        .bind(spell_moment(at))
        .execute(&mut **tx)
        .await
        .doing("write verdicts")?;
    Ok(())
}
