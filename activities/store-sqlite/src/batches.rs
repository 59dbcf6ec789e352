//! Batches: what a drainer keeps before it writes the graph, and what it notes afterwards.
//!
//! **Invariant:** every batch is kept, closed or forgotten as a whole, in one write transaction under the drainer's fence.

use std::collections::BTreeMap;

use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_ports::StoreError;
use dream_ports::mirror::{DrainFence, KeptRow};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::drainers::hold;
use crate::encode::{hex, spell_moment};
use crate::error::ResultExt;
use crate::records::{get, spell_json};
use crate::runs::now;
use crate::tx::Tx;
use crate::{SqliteStore, sql};

const KEEP: &str = "keep what the graph held";

/// The rows of a batch as they are bound, spelled before the transaction begins: whoever writes waits for it.
struct Spelled {
    marks: String,
    records: String,
    touched: String,
}

impl Spelled {
    fn of(rows: &[KeptRow]) -> Self {
        let mark = |row: &KeptRow| json!({ "id": row.id, "op_id": hex(row.op.0), "direction": row.direction, "answer": row.answer });
        let record = |row: &KeptRow| (row.id, spell_json(&row.record));
        let touched = |row: &KeptRow| -> Vec<Json> {
            let op = hex(row.op.0);
            row.record.undo.keys().map(|key| json!({ "o": op, "t": key.table, "r": hex(key.id) })).collect()
        };
        // A row that an op gets back is none that it changed.
        let applied = rows.iter().filter(|row| row.direction == dream_core::mirror::Direction::Apply);
        Self {
            marks: spell_json(&rows.iter().map(mark).collect::<Vec<_>>()),
            records: spell_json(&rows.iter().map(record).collect::<BTreeMap<_, _>>()),
            touched: spell_json(&applied.flat_map(touched).collect::<Vec<_>>()),
        }
    }
}

/// Runs a statement about the rows of a batch.
async fn of_batch(
    tx: &mut Tx,
    statement: &'static str,
    namespace: NamespaceId,
    batch: Uuid,
    operation: &'static str,
) -> Result<(), StoreError> {
    sqlx::query(statement).bind(hex(namespace.0)).bind(hex(batch)).execute(&mut **tx).await.doing(operation)?;
    Ok(())
}

impl SqliteStore {
    pub(crate) async fn keep(&self, fence: &DrainFence, batch: Uuid, rows: &[KeptRow]) -> Result<(), StoreError> {
        let spelled = Spelled::of(rows);
        let mut tx = self.write(KEEP).await?;
        hold(&mut tx, fence, KEEP).await?;
        let kept = sqlx::query(sql!("outbox/keep"))
            .bind(hex(fence.namespace.0))
            .bind(hex(batch))
            .bind(spelled.marks)
            .execute(&mut *tx)
            .await
            .doing(KEEP)?;
        // The graph must not be written for a row of which nothing is kept.
        if kept.rows_affected() < rows.len() as u64 {
            return Err(StoreError::Refused { operation: KEEP, code: "not_open".to_owned() });
        }
        let at = spell_moment(now(&mut tx).await?);
        sqlx::query(sql!("graph_records/upsert")).bind(spelled.records).bind(at).execute(&mut *tx).await.doing(KEEP)?;
        sqlx::query(sql!("touched/insert_of_graph")).bind(spelled.touched).execute(&mut *tx).await.doing(KEEP)?;
        tx.commit().await.doing(KEEP)
    }

    pub(crate) async fn close_kept(&self, fence: &DrainFence, batch: Uuid) -> Result<u64, StoreError> {
        const OPERATION: &str = "note what the graph committed";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence, OPERATION).await?;
        of_batch(&mut tx, sql!("graph_records/take_back"), fence.namespace, batch, OPERATION).await?;
        let closed = sqlx::query(sql!("outbox/close"))
            .bind(hex(fence.namespace.0))
            .bind(hex(batch))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        let mut missing = 0;
        for row in &closed {
            missing += u64::from(get::<bool>(row, "is_missing")?);
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(missing)
    }

    pub(crate) async fn forget_kept(&self, fence: &DrainFence, batch: Uuid) -> Result<(), StoreError> {
        const OPERATION: &str = "note what the graph did not commit";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence, OPERATION).await?;
        of_batch(&mut tx, sql!("graph_records/forget"), fence.namespace, batch, OPERATION).await?;
        of_batch(&mut tx, sql!("outbox/forget"), fence.namespace, batch, OPERATION).await?;
        tx.commit().await.doing(OPERATION)
    }

    pub(crate) async fn defer(
        &self,
        fence: &DrainFence,
        rows: &[i64],
        reason: &str,
        next_at: Option<Moment>,
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "put outbox rows off";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence, OPERATION).await?;
        sqlx::query(sql!("outbox/put_off"))
            .bind(hex(fence.namespace.0))
            .bind(spell_json(&rows))
            .bind(reason)
            .bind(next_at.map(spell_moment))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }
}
