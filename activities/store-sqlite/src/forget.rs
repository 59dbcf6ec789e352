//! Forgetting a fact: everything of it in one transaction. What that reaches is decided in `dream_core::realm::space::forget`.

use std::collections::{BTreeMap, BTreeSet};

use dream_core::change::{Column, Row, RowKey, Table};
use dream_core::id::{NamespaceId, RunId};
use dream_core::op::Draft;
use dream_core::realm::space::effect::{RecordKind, fact_key};
use dream_core::realm::space::fact::JournalKind;
use dream_core::realm::space::forget::{OwnWords, Trace, Words, merged_into, own_words, worded_from};
use dream_core::run::RunState;
use dream_core::undo::UndoRecord;
use dream_ports::StoreError;
use dream_ports::run::Closing;
use dream_ports::space::Forgotten;
use uuid::Uuid;

use sqlx::sqlite::SqliteRow;

use crate::encode::{hex, id_array};
use crate::error::ResultExt;
use crate::records::{id, maybe, number, read_json, spell_json, text, undo_record, word};
use crate::runs::{close_in, need_run};
use crate::space_rows::{load_one, page_in};
use crate::tx::Tx;
use crate::write::{delete_statement, images};
use crate::{SqliteStore, sql};

/// Facts that one forgetting follows: what was merged into it, and what was worded from those. Dreams merge a few.
const FACTS_MAX: usize = 1_000;

/// Rows that are read at once.
const ROWS_PER_PAGE: u32 = 1_000;

const OPERATION: &str = "forget a fact";

/// The ops that touched a fact, oldest first, by their ids.
type Traces = Vec<(Uuid, Trace)>;

impl SqliteStore {
    pub(crate) async fn take_out(&self, space: NamespaceId, fact: Uuid) -> Result<Forgotten, StoreError> {
        let mut tx = self.write(OPERATION).await?;
        let abandoned = abandon_waiting(&mut tx, space).await?;
        let mut words = Words::default();
        let row = load_one(&mut tx, space, fact_key(fact)).await?.get(fact_key(fact)).cloned();
        row.iter().for_each(|row| words.add_row(row));
        remove(&mut tx, space, Table::Facts, &[fact]).await?;
        let told = follow(&mut tx, space, fact, &mut words).await?;
        for gone in &told.gone {
            delete_records_of(&mut tx, space, *gone).await?;
        }
        let mut records = told.records();
        let undo_records = take_out_of(&mut records, &told.gone);
        let reworded = give_back_words(&mut tx, space, &told, &mut records).await?;
        for (op, record) in &records {
            replace(&mut tx, *op, record).await?;
        }
        leave_known(&mut tx, space, &mut words, &reworded).await?;
        let mut derived = remove_derived(&mut tx, space, &words).await?;
        derived += take_out_of_undo(&mut tx, space, &words).await?;
        clear_copies_of(&mut tx, space).await?;
        tx.commit().await.doing(OPERATION)?;
        self.leave_no_trace().await;
        Ok(Forgotten { was_there: row.is_some(), abandoned, undo_records, derived, reworded })
    }
}

/// What a forgotten fact leads to.
#[derive(Default)]
struct Told {
    /// It, and what was merged into it.
    gone: BTreeSet<Uuid>,
    /// Facts that got a wording made of it, directly or over another one.
    worded: BTreeSet<Uuid>,
    traces: BTreeMap<Uuid, Traces>,
}

impl Told {
    /// The undo records of all ops that are told of, by op.
    fn records(&self) -> BTreeMap<Uuid, UndoRecord> {
        let traces = self.traces.values().flatten();
        traces.filter_map(|(op, trace)| trace.undo.clone().map(|undo| (*op, undo))).collect()
    }
}

/// Takes facts out of undo records; answers out of how many.
fn take_out_of(records: &mut BTreeMap<Uuid, UndoRecord>, gone: &BTreeSet<Uuid>) -> u32 {
    let mut taken = 0;
    for record in records.values_mut() {
        let without = gone.iter().fold(record.clone(), |record, fact| record.without(fact_key(*fact)));
        taken += u32::from(without != *record);
        *record = without;
    }
    taken
}

async fn follow(tx: &mut Tx, space: NamespaceId, fact: Uuid, words: &mut Words) -> Result<Told, StoreError> {
    let mut told = Told { gone: BTreeSet::from([fact]), ..Told::default() };
    let mut queue = vec![fact];
    while let Some(id) = queue.pop().filter(|_| told.traces.len() < FACTS_MAX) {
        let traces = traces_of(tx, space, id).await?;
        let plain: Vec<Trace> = traces.iter().map(|(_, trace)| trace.clone()).collect();
        let mut found = worded_from(id, &plain);
        told.worded.extend(found.iter().copied());
        if told.gone.contains(&id) {
            words.add_undone(fact_key(id), &plain);
            let merged = merged_into(id, &plain);
            told.gone.extend(merged.iter().copied());
            found.extend(merged);
        }
        told.traces.insert(id, traces);
        queue.extend(found.into_iter().filter(|id| !told.traces.contains_key(id)));
    }
    told.gone.retain(|id| told.traces.contains_key(id));
    told.worded.retain(|id| told.traces.contains_key(id) && !told.gone.contains(id));
    Ok(told)
}

/// Gives facts the words back that they had before a forgotten one was merged into them; answers those of which the words
/// are no longer known.
async fn give_back_words(
    tx: &mut Tx,
    space: NamespaceId,
    told: &Told,
    records: &mut BTreeMap<Uuid, UndoRecord>,
) -> Result<Vec<Uuid>, StoreError> {
    let made_of: BTreeSet<Uuid> = told.gone.union(&told.worded).copied().collect();
    let mut lost = Vec::new();
    for kept in &told.worded {
        let (key, traces) = (fact_key(*kept), &told.traces[kept]);
        let mut rows = load_one(tx, space, key).await?;
        let plain: Vec<Trace> = traces.iter().map(|(_, trace)| trace.clone()).collect();
        let (own, later) = own_words(*kept, rows.get(key), &made_of, &plain);
        let first = match own {
            OwnWords::AsTheyAre => None,
            OwnWords::Lost => {
                lost.extend(rows.get(key).map(|row| row.id));
                None
            }
            OwnWords::Restored(words) => {
                if rows.get(key).is_some() {
                    let mut editor = rows.edit();
                    let _there = editor.set_cell(key, Column::Text, words.clone());
                    editor.finish();
                    images(tx, space, &rows.images()).await?;
                }
                Some(words)
            }
        };
        // A record that still brings a wording back is that of a later dream, or of one that a person wrote over since.
        for at in later {
            if let (Some(record), Some(words)) = (records.get_mut(&traces[at].0), &first) {
                *record = record.clone().saying(key, words);
            }
        }
    }
    Ok(lost)
}

/// Takes out of the words what is said elsewhere too: by facts that stay, and by what an agent wrote into the journal.
async fn leave_known(tx: &mut Tx, space: NamespaceId, words: &mut Words, but: &[Uuid]) -> Result<(), StoreError> {
    for table in [Table::Facts, Table::Journal] {
        let mut after = None;
        loop {
            let page = page_in(tx, space, table, after, ROWS_PER_PAGE).await?;
            for row in &page {
                if !but.contains(&row.id) && !is_of_dream(tx, row).await? {
                    words.known_row(row);
                }
            }
            after = page.last().map(|row| row.id);
            if page.len() < ROWS_PER_PAGE as usize {
                break;
            }
        }
    }
    Ok(())
}

/// Whether a row is a weekly digest that a dream wrote.
async fn is_of_dream(tx: &mut Tx, row: &Row) -> Result<bool, StoreError> {
    let is_week = row.get(Column::Kind).text() == Some(JournalKind::Week.as_str());
    Ok(row.table == Table::Journal && is_week && count_touched(tx, row.key()).await? > 0)
}

/// Takes out what dreams wrote that says one of the words; answers how much that was.
async fn remove_derived(tx: &mut Tx, space: NamespaceId, words: &Words) -> Result<u32, StoreError> {
    let mut removed = 0;
    for table in [Table::Journal, Table::Records, Table::Profiles] {
        let mut after = None;
        loop {
            let page = page_in(tx, space, table, after, ROWS_PER_PAGE).await?;
            let mut told = Vec::new();
            for row in page.iter().filter(|row| words.are_in_row(row)) {
                let collection = row.get(Column::Collection).text();
                let is_ours = RecordKind::ALL.iter().any(|kind| collection == Some(kind.collection()));
                if table == Table::Profiles || is_ours || is_of_dream(tx, row).await? {
                    told.push(row.id);
                }
            }
            removed += remove(tx, space, table, &told).await?;
            after = page.last().map(|row| row.id);
            if page.len() < ROWS_PER_PAGE as usize {
                break;
            }
        }
    }
    Ok(removed)
}

/// Takes what dreams wrote that says one of the words out of undo records, so that no undo brings it back.
async fn take_out_of_undo(tx: &mut Tx, space: NamespaceId, words: &Words) -> Result<u32, StoreError> {
    let mut taken = 0;
    let mut after = None;
    loop {
        let page = undo_of_dreams(tx, space, after).await?;
        for (op, record) in &page {
            let keys = words.brought_back_by(record);
            if !keys.is_empty() {
                let record = keys.iter().fold(record.clone(), |record, key| record.without(*key));
                replace(tx, *op, &record).await?;
                taken += 1;
            }
        }
        after = page.last().map(|(op, _)| *op);
        if page.len() < ROWS_PER_PAGE as usize {
            return Ok(taken);
        }
    }
}

async fn abandon_waiting(tx: &mut Tx, space: NamespaceId) -> Result<Vec<RunId>, StoreError> {
    let rows = sqlx::query(sql!("runs/awaiting_client"))
        .bind(hex(space.0))
        .fetch_all(&mut **tx)
        .await
        .doing("look for runs that wait")?;
    let mut abandoned = Vec::with_capacity(rows.len());
    for row in &rows {
        let run = RunId(id(row, "run_id")?);
        let record = need_run(tx, run).await?;
        close_in(tx, &record, RunState::Abandoned, &Closing::default()).await?;
        abandoned.push(run);
    }
    Ok(abandoned)
}

async fn traces_of(tx: &mut Tx, space: NamespaceId, fact: Uuid) -> Result<Traces, StoreError> {
    let rows = sqlx::query(sql!("ops/of_fact"))
        .bind(hex(space.0))
        .bind(fact.to_string())
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    let trace = |row: &SqliteRow| {
        let draft: Draft = read_json(&text(row, "draft")?, "dream_op.draft")?;
        let has_undo = maybe(row, "record")?.is_some();
        let undo = if has_undo { Some(undo_record(row)?) } else { None };
        Ok((id(row, "op_id")?, Trace { intent: draft.intent, state: word(row, "state")?, undo }))
    };
    rows.iter().map(trace).collect()
}

async fn undo_of_dreams(
    tx: &mut Tx,
    space: NamespaceId,
    after: Option<Uuid>,
) -> Result<Vec<(Uuid, UndoRecord)>, StoreError> {
    let rows = sqlx::query(sql!("undo/of_dreams"))
        .bind(hex(space.0))
        .bind(after.map(hex).unwrap_or_default())
        .bind(ROWS_PER_PAGE)
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    rows.iter().map(|row| Ok((id(row, "op_id")?, undo_record(row)?))).collect()
}

async fn count_touched(tx: &mut Tx, key: RowKey) -> Result<u32, StoreError> {
    let row = sqlx::query(sql!("touched/count"))
        .bind(key.table.as_str())
        .bind(hex(key.id))
        .fetch_one(&mut **tx)
        .await
        .doing(OPERATION)?;
    number(&row, "ops")
}

async fn replace(tx: &mut Tx, op: Uuid, record: &UndoRecord) -> Result<(), StoreError> {
    sqlx::query(sql!("undo/replace"))
        .bind(hex(op))
        .bind(spell_json(record))
        .execute(&mut **tx)
        .await
        .doing(OPERATION)?;
    Ok(())
}

async fn remove(tx: &mut Tx, space: NamespaceId, table: Table, ids: &[Uuid]) -> Result<u32, StoreError> {
    let statement = delete_statement(table).ok_or(StoreError::Unsupported { operation: OPERATION })?;
    let gone =
        sqlx::query(statement).bind(hex(space.0)).bind(id_array(ids)).execute(&mut **tx).await.doing(OPERATION)?;
    Ok(u32::try_from(gone.rows_affected()).unwrap_or(u32::MAX))
}

/// Records of ours name facts by their ids.
async fn delete_records_of(tx: &mut Tx, space: NamespaceId, fact: Uuid) -> Result<(), StoreError> {
    let statement = sqlx::query(sql!("records/delete_of_fact")).bind(hex(space.0)).bind(fact.to_string());
    statement.execute(&mut **tx).await.doing(OPERATION)?;
    Ok(())
}

/// Questions, answers and texts may hold copies of whatever the space holds.
async fn clear_copies_of(tx: &mut Tx, space: NamespaceId) -> Result<(), StoreError> {
    let copies = [
        sql!("jobs/clear_of_space"),
        sql!("job_answers/clear_of_space"),
        sql!("op_texts/delete_of_space"),
        sql!("mind_answers/delete_of_space"),
    ];
    for statement in copies {
        sqlx::query(statement).bind(hex(space.0)).execute(&mut **tx).await.doing(OPERATION)?;
    }
    Ok(())
}

impl SqliteStore {
    /// Takes what was forgotten out of the write-ahead log too; deleted pages are overwritten as it is (`secure_delete`).
    /// Somebody who reads keeps the log until the next checkpoint, so this is no promise and fails nothing.
    async fn leave_no_trace(&self) {
        let _later = sqlx::query("pragma wal_checkpoint(truncate)").execute(&self.writer).await;
    }
}
