//! The outbox: what the graph must still be told, and what it held before it was told.
//!
//! **Invariant:** reading changes nothing and locks nothing; whatever writes is in `adopt.rs`, `drainers.rs` and
//! `batches.rs`, except what a person says of rows that were set aside.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::change::{Row, RowKey, Table};
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, OpId, RunId};
use dream_core::mirror::{GraphRecord, Verb};
use dream_ports::mirror::{Adopted, DrainFence, KeptRow, OutboxFilter, OutboxRow, OutboxState, Owing};
use dream_ports::{MirrorStore, StoreError};
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::encode::table_row;
use crate::error::ResultExt;
use crate::records::{count, get, maybe_moment, moment, number, read_json, word};
use crate::{PgStore, query, sql};

fn outbox_row(row: &PgRow) -> Result<OutboxRow, StoreError> {
    let state = word(row, "state")?;
    Ok(OutboxRow {
        id: get(row, "id")?,
        run: RunId(get(row, "run_id")?),
        op: OpId(get(row, "op_id")?),
        direction: word(row, "direction")?,
        verbs: verbs(get(row, "verbs")?, state)?,
        state,
        attempts: number(row, "attempts")?,
        next_at: maybe_moment(row, "next_at")?,
        reason: get(row, "reason")?,
        batch: get(row, "batch")?,
        written_at: moment(row, "written_at")?,
    })
}

/// What a row says. One that was written for no graph may say it in a format of old; nobody is going to carry that out.
fn verbs(text: &str, state: OutboxState) -> Result<Vec<Verb>, StoreError> {
    let verbs = read_json(text, "dream.outbox.verbs");
    if state == OutboxState::NoGraph { Ok(verbs.unwrap_or_default()) } else { verbs }
}

fn owing(row: &PgRow) -> Result<Owing, StoreError> {
    Ok(Owing {
        namespace: NamespaceId(get(row, "namespace_id")?),
        open: count(row, "open")?.into(),
        parked: count(row, "parked")?.into(),
        oldest: moment(row, "oldest")?,
        next_at: maybe_moment(row, "next_at")?,
    })
}

#[async_trait]
impl MirrorStore for PgStore {
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
        const OPERATION: &str = "read the outbox";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("outbox/list"))
            .bind(filter.namespace.map(|namespace| namespace.0))
            .bind(filter.run.map(|run| run.0))
            .bind(filter.states.iter().map(|state| state.as_str()).collect::<Vec<_>>())
            .bind(filter.after)
            .bind(i64::from(filter.limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(outbox_row).collect()
    }

    async fn graph_records(&self, ops: &[OpId]) -> Result<BTreeMap<OpId, GraphRecord>, StoreError> {
        const OPERATION: &str = "read what the graph held";
        let mut tx = self.read(OPERATION).await?;
        let wanted: Vec<Uuid> = ops.iter().map(|op| op.0).collect();
        let rows = query(sql!("graph_records/list")).bind(wanted).fetch_all(&mut *tx).await.doing(OPERATION)?;
        let record = |row| read_json(get(row, "record")?, "dream.graph_record.record");
        rows.iter().map(|row| Ok((OpId(get(row, "op_id")?), record(row)?))).collect()
    }

    async fn graph_records_behind(
        &self,
        namespace: NamespaceId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, GraphRecord)>, StoreError> {
        const OPERATION: &str = "read what the graph held";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("graph_records/behind"))
            .bind(namespace.0)
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        let record = |row| read_json(get(row, "record")?, "dream.graph_record.record");
        rows.iter().map(|row| Ok((get(row, "id")?, record(row)?))).collect()
    }

    /// Rows of entities and relationships, by table and id: the graph holds no others.
    async fn content_rows(&self, namespace: NamespaceId, keys: &[RowKey]) -> Result<Vec<Row>, StoreError> {
        const OPERATION: &str = "read rows as they stand";
        let mut tx = self.read(OPERATION).await?;
        let mut rows = Vec::with_capacity(keys.len());
        let statements =
            [(Table::Entities, sql!("entities/current")), (Table::Relationships, sql!("relationships/current"))];
        for (table, statement) in statements {
            let ids: Vec<Uuid> = keys.iter().filter(|key| key.table == table).map(|key| key.id).collect();
            if ids.is_empty() {
                continue;
            }
            let found = query(statement).bind(namespace.0).bind(ids).fetch_all(&mut *tx).await.doing(OPERATION)?;
            for row in &found {
                rows.push(table_row(table, row)?);
            }
        }
        Ok(rows)
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
        const OPERATION: &str = "count outbox rows";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("outbox/owing"))
            .bind(after.map(|namespace| namespace.0))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(owing).collect()
    }

    async fn owing_of(&self, namespace: NamespaceId) -> Result<Option<Owing>, StoreError> {
        const OPERATION: &str = "count outbox rows";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("outbox/owing_of")).bind(namespace.0).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        row.as_ref().map(owing).transpose()
    }

    async fn owed_by_run(&self, run: RunId) -> Result<(u64, u64), StoreError> {
        const OPERATION: &str = "count outbox rows";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("outbox/owed_by_run")).bind(run.0).fetch_one(&mut *tx).await.doing(OPERATION)?;
        Ok((count(&row, "open")?.into(), count(&row, "parked")?.into()))
    }

    async fn hurry(&self) -> Result<u64, StoreError> {
        const OPERATION: &str = "let outbox rows be tried at once";
        let mut tx = self.write(OPERATION).await?;
        let hurried = query(sql!("outbox/hurry")).execute(&mut *tx).await.doing(OPERATION)?;
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
        let decided = query(statement).bind(namespace.0).bind(rows).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(decided.rows_affected())
    }
}
