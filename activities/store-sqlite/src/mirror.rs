//! The outbox: what the graph must still be told, and what it held before it was told.
//!
//! **Invariant:** reading changes nothing and holds nothing up; whatever writes is in `adopt.rs`, `drainers.rs` and
//! `batches.rs`, except what a person says of rows that were set aside.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::change::{Row, RowKey, Table};
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, OpId, RunId};
use dream_core::mirror::{GraphRecord, Verb};
use dream_core::rows::{Needs, Rows};
use dream_ports::mirror::{Adopted, DrainFence, KeptRow, OutboxFilter, OutboxRow, OutboxState, Owing};
use dream_ports::{MirrorStore, StoreError};
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::encode::{hex, id_array};
use crate::error::ResultExt;
use crate::load::load;
use crate::records::{
    get, id, maybe, maybe_id, maybe_moment, moment, number, read_json, spell_json, text, text_array, word,
};
use crate::schema::shape;
use crate::{SqliteStore, sql};

/// Whether a filter asks for rows of one namespace's queue that are not done, of which there are few.
fn asks_for_waiting(filter: &OutboxFilter) -> bool {
    let waits = |state: &OutboxState| matches!(state, OutboxState::Open | OutboxState::Parked);
    filter.namespace.is_some() && !filter.states.is_empty() && filter.states.iter().all(waits)
}

fn outbox_row(row: &SqliteRow) -> Result<OutboxRow, StoreError> {
    let state = word(row, "state")?;
    Ok(OutboxRow {
        id: get(row, "id")?,
        run: RunId(id(row, "run_id")?),
        op: OpId(id(row, "op_id")?),
        direction: word(row, "direction")?,
        verbs: verbs(&text(row, "verbs")?, state)?,
        state,
        attempts: number(row, "attempts")?,
        next_at: maybe_moment(row, "next_at")?,
        reason: maybe(row, "reason")?,
        batch: maybe_id(row, "batch")?,
        written_at: moment(row, "written_at")?,
    })
}

/// What a row says. One that was written for no graph may say it in a format of old; nobody is going to carry that out.
fn verbs(text: &str, state: OutboxState) -> Result<Vec<Verb>, StoreError> {
    let verbs = read_json(text, "dream_outbox.verbs");
    if state == OutboxState::NoGraph { Ok(verbs.unwrap_or_default()) } else { verbs }
}

fn owing(row: &SqliteRow) -> Result<Owing, StoreError> {
    Ok(Owing {
        namespace: NamespaceId(id(row, "namespace_id")?),
        open: number(row, "open")?.into(),
        parked: number(row, "parked")?.into(),
        oldest: moment(row, "oldest")?,
        next_at: maybe_moment(row, "next_at")?,
    })
}

#[async_trait]
impl MirrorStore for SqliteStore {
    async fn begin_drain(&self, namespace: NamespaceId, holder: &str) -> Result<Option<DrainFence>, StoreError> {
        self.take_queue(namespace, holder).await
    }

    async fn renew_drain(&self, fence: &DrainFence) -> Result<(), StoreError> {
        self.renew_queue(fence).await
    }

    async fn end_drain(&self, fence: &DrainFence) -> Result<(), StoreError> {
        self.release_queue(fence).await
    }

    async fn outbox(&self, filter: &OutboxFilter) -> Result<Vec<OutboxRow>, StoreError> {
        let statement = if asks_for_waiting(filter) { sql!("outbox/waiting") } else { sql!("outbox/list") };
        let rows = sqlx::query(statement)
            .bind(filter.namespace.map(|namespace| hex(namespace.0)))
            .bind(filter.run.map(|run| hex(run.0)))
            .bind(text_array(filter.states.iter().map(|state| state.as_str())))
            .bind(filter.after)
            .bind(filter.limit)
            .fetch_all(&self.reader)
            .await
            .doing("read the outbox")?;
        rows.iter().map(outbox_row).collect()
    }

    async fn graph_records(&self, ops: &[OpId]) -> Result<BTreeMap<OpId, GraphRecord>, StoreError> {
        let rows = sqlx::query(sql!("graph_records/list"))
            .bind(id_array(ops.iter().map(|op| &op.0)))
            .fetch_all(&self.reader)
            .await
            .doing("read what the graph held")?;
        let record = |row| read_json(&text(row, "record")?, "dream_graph_record.record");
        rows.iter().map(|row| Ok((OpId(id(row, "op_id")?), record(row)?))).collect()
    }

    async fn graph_records_behind(
        &self,
        namespace: NamespaceId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, GraphRecord)>, StoreError> {
        let rows = sqlx::query(sql!("graph_records/behind"))
            .bind(hex(namespace.0))
            .bind(after)
            .bind(limit)
            .fetch_all(&self.reader)
            .await
            .doing("read what the graph held")?;
        let record = |row| read_json(&text(row, "record")?, "dream_graph_record.record");
        rows.iter().map(|row| Ok((get(row, "id")?, record(row)?))).collect()
    }

    /// Rows of entities and relationships, by table and id: the graph holds no others.
    async fn content_rows(&self, namespace: NamespaceId, keys: &[RowKey]) -> Result<Vec<Row>, StoreError> {
        const OPERATION: &str = "read rows as they stand";
        let is_mirrored = |key: &&RowKey| matches!(key.table, Table::Entities | Table::Relationships);
        let needs = Needs { rows: keys.iter().filter(is_mirrored).copied().collect(), ..Needs::default() };
        let mut rows = Rows::default();
        let mut tx = self.reader.begin().await.doing(OPERATION)?;
        let shape = shape(&mut tx).await?;
        load(&mut tx, shape, namespace, &needs, &mut rows).await?;
        Ok(needs.rows.iter().filter_map(|key| rows.get(*key).cloned()).collect())
    }

    async fn keep_batch(&self, fence: &DrainFence, batch: Uuid, rows: &[KeptRow]) -> Result<(), StoreError> {
        self.keep(fence, batch, rows).await
    }

    async fn close_batch(&self, fence: &DrainFence, batch: Uuid) -> Result<u64, StoreError> {
        self.close_kept(fence, batch).await
    }

    async fn forget_batch(&self, fence: &DrainFence, batch: Uuid) -> Result<(), StoreError> {
        self.forget_kept(fence, batch).await
    }

    async fn put_off(
        &self,
        fence: &DrainFence,
        rows: &[i64],
        reason: &str,
        next_at: Option<Moment>,
    ) -> Result<(), StoreError> {
        self.defer(fence, rows, reason, next_at).await
    }

    async fn adopt(&self, namespace: NamespaceId) -> Result<Adopted, StoreError> {
        self.take_over(namespace).await
    }

    async fn adoptable(&self, after: Option<NamespaceId>, limit: u32) -> Result<Vec<NamespaceId>, StoreError> {
        self.left_by_khora(after, limit).await
    }

    async fn owing(&self, after: Option<NamespaceId>, limit: u32) -> Result<Vec<Owing>, StoreError> {
        let rows = sqlx::query(sql!("outbox/owing"))
            .bind(after.map(|namespace| hex(namespace.0)).unwrap_or_default())
            .bind(limit)
            .fetch_all(&self.reader)
            .await
            .doing("count outbox rows")?;
        rows.iter().map(owing).collect()
    }

    async fn owing_of(&self, namespace: NamespaceId) -> Result<Option<Owing>, StoreError> {
        let statement = sqlx::query(sql!("outbox/owing_of")).bind(hex(namespace.0));
        let row = statement.fetch_optional(&self.reader).await.doing("count outbox rows")?;
        row.as_ref().map(owing).transpose()
    }

    async fn owed_by_run(&self, run: RunId) -> Result<(u64, u64), StoreError> {
        const OPERATION: &str = "count outbox rows";
        let row =
            sqlx::query(sql!("outbox/owed_by_run")).bind(hex(run.0)).fetch_one(&self.reader).await.doing(OPERATION)?;
        Ok((number(&row, "open")?.into(), number(&row, "parked")?.into()))
    }

    async fn hurry(&self) -> Result<u64, StoreError> {
        const OPERATION: &str = "let outbox rows be tried at once";
        let mut tx = self.write(OPERATION).await?;
        let hurried = sqlx::query(sql!("outbox/hurry")).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(hurried.rows_affected())
    }

    async fn release_parked(
        &self,
        namespace: NamespaceId,
        rows: Option<&[i64]>,
        drop: bool,
    ) -> Result<u64, StoreError> {
        const OPERATION: &str = "decide on outbox rows that were set aside";
        let statement = if drop { sql!("outbox/drop") } else { sql!("outbox/release") };
        let mut tx = self.write(OPERATION).await?;
        let decided = sqlx::query(statement)
            .bind(hex(namespace.0))
            .bind(rows.map(|rows| spell_json(&rows)))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(decided.rows_affected())
    }
}
