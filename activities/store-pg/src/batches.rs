//! Batches: what a drainer keeps before it writes the graph, and what it notes afterwards.
//!
//! **Invariant:** every batch is kept, closed or forgotten as a whole, in one transaction under the drainer's fence.

use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::mirror::{Answer, Direction};
use dream_ports::StoreError;
use dream_ports::mirror::{DrainFence, KeptRow};
use uuid::Uuid;

use crate::drainers::hold;
use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::records::{get, spell_json};
use crate::tx::{Tx, end};
use crate::{PgStore, query, sql};

const KEEP: &str = "keep what the graph held";
const CLOSE: &str = "note what the graph committed";
const FORGET: &str = "note what the graph did not commit";
const PUT_OFF: &str = "put outbox rows off";

const fn spell(answer: Answer) -> &'static str {
    match answer {
        Answer::Done => "done",
        Answer::Already => "already",
        Answer::Missing => "missing",
    }
}

async fn keep(tx: &mut Tx, fence: &DrainFence, batch: Uuid, rows: &[KeptRow]) -> Result<(), StoreError> {
    hold(tx, fence, KEEP).await?;
    let kept = query(sql!("outbox/keep"))
        .bind(fence.namespace.0)
        .bind(batch)
        .bind(rows.iter().map(|row| row.id).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.op.0).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.direction.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| spell(row.answer)).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await
        .doing(KEEP)?;
    // The graph must not be written for a row of which nothing is kept.
    if kept.rows_affected() < rows.len() as u64 {
        return Err(StoreError::Refused { operation: KEEP, code: "not_open".to_owned() });
    }
    query(sql!("graph_records/upsert"))
        .bind(rows.iter().map(|row| row.id).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| spell_json(&row.record)).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await
        .doing(KEEP)?;
    // A row that an op gets back is none that it changed.
    let applied = || rows.iter().filter(|row| row.direction == Direction::Apply);
    let touched = || applied().flat_map(|row| row.record.undo.keys().map(|key| (row.op.0, key)));
    query(sql!("touched/insert_of_graph"))
        .bind(touched().map(|(op, _)| op).collect::<Vec<_>>())
        .bind(touched().map(|(_, key)| key.table.as_str()).collect::<Vec<_>>())
        .bind(touched().map(|(_, key)| key.id).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await
        .doing(KEEP)?;
    Ok(())
}

/// Runs a statement about the rows of a batch.
async fn of_batch(
    tx: &mut Tx,
    statement: &'static str,
    namespace: NamespaceId,
    batch: Uuid,
    operation: &'static str,
) -> Result<(), StoreError> {
    query(statement).bind(namespace.0).bind(batch).execute(&mut **tx).await.doing(operation)?;
    Ok(())
}

async fn close(tx: &mut Tx, fence: &DrainFence, batch: Uuid) -> Result<u64, StoreError> {
    hold(tx, fence, CLOSE).await?;
    of_batch(tx, sql!("graph_records/take_back"), fence.namespace, batch, CLOSE).await?;
    let closed =
        query(sql!("outbox/close")).bind(fence.namespace.0).bind(batch).fetch_all(&mut **tx).await.doing(CLOSE)?;
    let mut missing = 0;
    for row in &closed {
        missing += u64::from(get::<bool>(row, "is_missing")?);
    }
    Ok(missing)
}

async fn forget(tx: &mut Tx, fence: &DrainFence, batch: Uuid) -> Result<(), StoreError> {
    hold(tx, fence, FORGET).await?;
    of_batch(tx, sql!("graph_records/forget"), fence.namespace, batch, FORGET).await?;
    of_batch(tx, sql!("outbox/forget"), fence.namespace, batch, FORGET).await
}

async fn put_off(
    tx: &mut Tx,
    fence: &DrainFence,
    rows: &[i64],
    reason: &str,
    next_at: Option<Moment>,
) -> Result<(), StoreError> {
    hold(tx, fence, PUT_OFF).await?;
    query(sql!("outbox/put_off"))
        .bind(fence.namespace.0)
        .bind(rows)
        .bind(reason)
        .bind(next_at.map(Timestamptz::from))
        .execute(&mut **tx)
        .await
        .doing(PUT_OFF)?;
    Ok(())
}

impl PgStore {
    pub(crate) async fn keep(&self, fence: &DrainFence, batch: Uuid, rows: &[KeptRow]) -> Result<(), StoreError> {
        let mut tx = self.write(KEEP).await?;
        let kept = keep(&mut tx, fence, batch, rows).await;
        end(tx, kept.is_ok(), KEEP).await?;
        kept
    }

    pub(crate) async fn close_kept(&self, fence: &DrainFence, batch: Uuid) -> Result<u64, StoreError> {
        let mut tx = self.write(CLOSE).await?;
        let missing = close(&mut tx, fence, batch).await;
        end(tx, missing.is_ok(), CLOSE).await?;
        missing
    }

    pub(crate) async fn forget_kept(&self, fence: &DrainFence, batch: Uuid) -> Result<(), StoreError> {
        let mut tx = self.write(FORGET).await?;
        let forgotten = forget(&mut tx, fence, batch).await;
        end(tx, forgotten.is_ok(), FORGET).await?;
        forgotten
    }

    pub(crate) async fn defer(
        &self,
        fence: &DrainFence,
        rows: &[i64],
        reason: &str,
        next_at: Option<Moment>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(PUT_OFF).await?;
        let done = put_off(&mut tx, fence, rows, reason, next_at).await;
        end(tx, done.is_ok(), PUT_OFF).await?;
        done
    }
}
