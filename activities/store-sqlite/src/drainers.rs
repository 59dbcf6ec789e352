//! Drainers: who tells the graph of what happened to a namespace.
//!
//! **Invariant:** whatever a drainer writes, it writes in a transaction that asked [`hold`] first, so that one that lost its
//! lease is a stranger when it wakes.

use dream_core::id::NamespaceId;
use dream_ports::StoreError;
use dream_ports::mirror::{DRAIN_TERM_SECONDS, DrainFence};

use crate::encode::{hex, spell_moment};
use crate::error::ResultExt;
use crate::records::get;
use crate::runs::now;
use crate::tx::Tx;
use crate::{SqliteStore, sql};

/// What a drainer hears whose queue somebody else took. It is no fault: whoever took it goes on with the rows.
pub(crate) fn lost(operation: &'static str) -> StoreError {
    StoreError::Busy { operation, code: "drainer_lost".to_owned() }
}

/// Checks the proof inside of a write transaction.
pub(crate) async fn hold(tx: &mut Tx, fence: &DrainFence, operation: &'static str) -> Result<(), StoreError> {
    let held = sqlx::query(sql!("drainers/find"))
        .bind(hex(fence.namespace.0))
        .bind(fence.epoch)
        .fetch_optional(&mut **tx)
        .await
        .doing(operation)?;
    held.map(|_| ()).ok_or_else(|| lost(operation))
}

impl SqliteStore {
    pub(crate) async fn take_queue(
        &self,
        namespace: NamespaceId,
        holder: &str,
    ) -> Result<Option<DrainFence>, StoreError> {
        const OPERATION: &str = "take the queue of the graph";
        let mut tx = self.write(OPERATION).await?;
        let now = now(&mut tx).await?;
        let taken = sqlx::query(sql!("drainers/take"))
            .bind(hex(namespace.0))
            .bind(holder)
            .bind(spell_moment(now))
            .bind(spell_moment(now.plus_seconds(DRAIN_TERM_SECONDS)))
            .fetch_optional(&mut *tx)
            .await
            .doing(OPERATION)?;
        let fence = taken.map(|row| Ok(DrainFence { namespace, epoch: get(&row, "epoch")? })).transpose()?;
        tx.commit().await.doing(OPERATION)?;
        Ok(fence)
    }

    pub(crate) async fn renew_queue(&self, fence: &DrainFence) -> Result<(), StoreError> {
        const OPERATION: &str = "renew the hold on the queue of the graph";
        let mut tx = self.write(OPERATION).await?;
        let until = now(&mut tx).await?.plus_seconds(DRAIN_TERM_SECONDS);
        let renewed = sqlx::query(sql!("drainers/renew"))
            .bind(hex(fence.namespace.0))
            .bind(fence.epoch)
            .bind(spell_moment(until))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        if renewed.rows_affected() == 0 {
            return Err(lost(OPERATION));
        }
        tx.commit().await.doing(OPERATION)
    }

    pub(crate) async fn release_queue(&self, fence: &DrainFence) -> Result<(), StoreError> {
        const OPERATION: &str = "give the queue of the graph back";
        let mut tx = self.write(OPERATION).await?;
        sqlx::query(sql!("drainers/release"))
            .bind(hex(fence.namespace.0))
            .bind(fence.epoch)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }
}
