//! Leases: who holds a target.

use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId};
use dream_core::run::{LEASE_TERM_SECONDS, Lease, Realm, STUCK_AFTER_SECONDS, Standing};
use dream_ports::StoreError;
use dream_ports::run::Fence;

use crate::encode::{hex, spell_moment};
use crate::error::ResultExt;
use crate::records::{maybe_id, moment, open_run, text};
use crate::runs::{need_run, now};
use crate::tx::Tx;
use crate::{SqliteStore, sql};

/// What a lease is held for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Run,
    Undo,
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Undo => "undo",
        }
    }
}

/// What a target looks like to somebody who wants it.
pub(crate) async fn standing(tx: &mut Tx, realm: Realm, namespace: NamespaceId) -> Result<Standing, StoreError> {
    const OPERATION: &str = "look at the target";
    let target = hex(namespace.0);
    sqlx::query(sql!("leases/ensure")).bind(realm.as_str()).bind(&target).execute(&mut **tx).await.doing(OPERATION)?;
    let row = sqlx::query(sql!("leases/find"))
        .bind(realm.as_str())
        .bind(&target)
        .fetch_one(&mut **tx)
        .await
        .doing(OPERATION)?;
    let lease = |run| -> Result<Lease, StoreError> {
        Ok(Lease { run: RunId(run), holder: text(&row, "holder")?, expires_at: moment(&row, "expires_at")? })
    };
    let lease = maybe_id(&row, "run_id")?.map(lease).transpose()?;
    let rows = sqlx::query(sql!("runs/open"))
        .bind(realm.as_str())
        .bind(&target)
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    let open_runs = rows.iter().map(open_run).collect::<Result<_, _>>()?;
    Ok(Standing { now: now(tx).await?, lease, open_runs })
}

pub(crate) async fn take(
    tx: &mut Tx,
    realm: Realm,
    namespace: NamespaceId,
    run: RunId,
    holder: &str,
    purpose: Purpose,
) -> Result<Fence, StoreError> {
    let expires_at = now(tx).await?.plus_seconds(LEASE_TERM_SECONDS);
    let epoch: i64 = sqlx::query_scalar(sql!("leases/take"))
        .bind(realm.as_str())
        .bind(hex(namespace.0))
        .bind(hex(run.0))
        .bind(holder)
        .bind(purpose.as_str())
        .bind(spell_moment(expires_at))
        .fetch_one(&mut **tx)
        .await
        .doing("take the lease")?;
    Ok(Fence { run, realm, namespace, epoch })
}

/// Checks the proof inside of a transaction, and renews the lease and the run's sign of life; answers the time by the store's
/// clock.
pub(crate) async fn hold(tx: &mut Tx, fence: &Fence) -> Result<Moment, StoreError> {
    const OPERATION: &str = "renew the lease";
    let now = now(tx).await?;
    let renewed = sqlx::query(sql!("leases/renew"))
        .bind(fence.realm.as_str())
        .bind(hex(fence.namespace.0))
        .bind(fence.epoch)
        .bind(hex(fence.run.0))
        .bind(spell_moment(now.plus_seconds(LEASE_TERM_SECONDS)))
        .execute(&mut **tx)
        .await
        .doing(OPERATION)?;
    if renewed.rows_affected() == 0 {
        return Err(StoreError::LeaseLost { run: fence.run });
    }
    sqlx::query(sql!("runs/heartbeat"))
        .bind(hex(fence.run.0))
        .bind(spell_moment(now))
        .execute(&mut **tx)
        .await
        .doing(OPERATION)?;
    Ok(now)
}

/// Gives a lease back, if it is this run's, and this attempt's where one is named.
pub(crate) async fn release(
    tx: &mut Tx,
    realm: Realm,
    namespace: NamespaceId,
    run: RunId,
    epoch: Option<i64>,
) -> Result<(), StoreError> {
    sqlx::query(sql!("leases/release"))
        .bind(realm.as_str())
        .bind(hex(namespace.0))
        .bind(hex(run.0))
        .bind(epoch)
        .execute(&mut **tx)
        .await
        .doing("give the lease back")?;
    Ok(())
}

impl SqliteStore {
    pub(crate) async fn take_for_run(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        const OPERATION: &str = "take the lease";
        let mut tx = self.write(OPERATION).await?;
        let record = need_run(&mut tx, run).await?;
        let standing = standing(&mut tx, record.realm, record.namespace).await?;
        let is_taken = standing.lease.is_some_and(|lease| lease.run != run && lease.expires_at > standing.now);
        if is_taken || record.finished_at.is_some() {
            return Err(StoreError::LeaseLost { run });
        }
        let fence = take(&mut tx, record.realm, record.namespace, run, holder, Purpose::Run).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(fence)
    }

    pub(crate) async fn take_for_undo(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        const OPERATION: &str = "take the lease";
        let mut tx = self.write(OPERATION).await?;
        let record = need_run(&mut tx, run).await?;
        let standing = standing(&mut tx, record.realm, record.namespace).await?;
        // A lease of this very run is that of an undo which was given up for dead: the next attempt takes it over.
        let is_taken = standing.lease.is_some_and(|lease| lease.run != run && lease.expires_at > standing.now);
        let is_worked_on = standing
            .open_runs
            .iter()
            .any(|open| !open.is_waiting && standing.now.seconds_since(open.heartbeat_at) < STUCK_AFTER_SECONDS);
        if is_taken || is_worked_on {
            return Err(StoreError::LeaseLost { run });
        }
        let fence = take(&mut tx, record.realm, record.namespace, run, holder, Purpose::Undo).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(fence)
    }
}
