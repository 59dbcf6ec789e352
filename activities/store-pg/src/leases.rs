//! Leases: who holds a target.
//!
//! **Invariant:** every transaction that locks both a lease and a run locks the lease first, so that no two of them wait for
//! each other.

use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId};
use dream_core::run::{LEASE_TERM_SECONDS, Lease, Realm, STUCK_AFTER_SECONDS, Standing};
use dream_ports::StoreError;
use dream_ports::run::Fence;
use uuid::Uuid;

use crate::error::ResultExt;
use crate::records::{get, moment, open_run};
use crate::runs::need_run;
use crate::tx::Tx;
use crate::{PgStore, query, sql};

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

/// A lease whose row is locked until the transaction ends.
pub(crate) struct Locked {
    pub(crate) lease: Option<Lease>,
    pub(crate) now: Moment,
}

/// Locks the lease of a target, which is made if it is not there yet.
pub(crate) async fn lock(tx: &mut Tx, realm: Realm, namespace: NamespaceId) -> Result<Locked, StoreError> {
    const OPERATION: &str = "look at the target";
    query(sql!("leases/ensure")).bind(realm.as_str()).bind(namespace.0).execute(&mut **tx).await.doing(OPERATION)?;
    let row = query(sql!("leases/lock"))
        .bind(realm.as_str())
        .bind(namespace.0)
        .fetch_one(&mut **tx)
        .await
        .doing(OPERATION)?;
    let now = moment(&row, "now")?;
    let lease = |run: Uuid| -> Result<Lease, StoreError> {
        Ok(Lease { run: RunId(run), holder: get(&row, "holder")?, expires_at: moment(&row, "expires_at")? })
    };
    Ok(Locked { lease: get::<Option<Uuid>>(&row, "run_id")?.map(lease).transpose()?, now })
}

/// What a target looks like to somebody who wants it. Its lease is locked, so it looks the same until the transaction ends.
pub(crate) async fn standing(tx: &mut Tx, realm: Realm, namespace: NamespaceId) -> Result<Standing, StoreError> {
    let Locked { lease, now } = lock(tx, realm, namespace).await?;
    let rows = query(sql!("runs/open"))
        .bind(realm.as_str())
        .bind(namespace.0)
        .fetch_all(&mut **tx)
        .await
        .doing("look at the target")?;
    let open_runs = rows.iter().map(open_run).collect::<Result<_, _>>()?;
    Ok(Standing { now, lease, open_runs })
}

#[expect(clippy::cast_precision_loss, reason = "a minute")]
const TERM_SECONDS: f64 = LEASE_TERM_SECONDS as f64;

pub(crate) async fn take(
    tx: &mut Tx,
    realm: Realm,
    namespace: NamespaceId,
    run: RunId,
    holder: &str,
    purpose: Purpose,
) -> Result<Fence, StoreError> {
    let row = query(sql!("leases/take"))
        .bind(realm.as_str())
        .bind(namespace.0)
        .bind(run.0)
        .bind(holder)
        .bind(purpose.as_str())
        .bind(TERM_SECONDS)
        .fetch_one(&mut **tx)
        .await
        .doing("take the lease")?;
    Ok(Fence { run, realm, namespace, epoch: get(&row, "epoch")? })
}

/// Checks the proof inside of a transaction, and renews the lease and the run's sign of life; answers the time by the store's
/// clock. Until the transaction ends, nobody else can take the target.
pub(crate) async fn hold(tx: &mut Tx, fence: &Fence) -> Result<Moment, StoreError> {
    let row = query(sql!("leases/renew"))
        .bind(fence.realm.as_str())
        .bind(fence.namespace.0)
        .bind(fence.epoch)
        .bind(fence.run.0)
        .bind(TERM_SECONDS)
        .fetch_optional(&mut **tx)
        .await
        .doing("renew the lease")?;
    moment(&row.ok_or(StoreError::LeaseLost { run: fence.run })?, "now")
}

/// Gives a lease back, if it is this run's, and this attempt's where one is named.
pub(crate) async fn release(
    tx: &mut Tx,
    realm: Realm,
    namespace: NamespaceId,
    run: RunId,
    epoch: Option<i64>,
) -> Result<(), StoreError> {
    query(sql!("leases/release"))
        .bind(realm.as_str())
        .bind(namespace.0)
        .bind(run.0)
        .bind(epoch)
        .execute(&mut **tx)
        .await
        .doing("give the lease back")?;
    Ok(())
}

impl PgStore {
    pub(crate) async fn take_for_run(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        const OPERATION: &str = "take the lease";
        let mut tx = self.write(OPERATION).await?;
        let target = need_run(&mut tx, run).await?;
        let locked = lock(&mut tx, target.realm, target.namespace).await?;
        // Read again: a run that was closed meanwhile gets no lease.
        let record = need_run(&mut tx, run).await?;
        let is_taken = locked.lease.is_some_and(|lease| lease.run != run && lease.expires_at > locked.now);
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
