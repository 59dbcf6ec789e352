//! Leases: who may write to a target, and what else is known about it.
//!
//! **Invariant:** whoever writes for a run proves its fence in the same transaction.

use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId};
use dream_core::run::{LEASE_TERM_SECONDS, Lease, Realm, Standing};
use dream_ports::StoreError;
use dream_ports::run::Fence;
use sqlx::Row as _;

use crate::encode::{hex, parse_id, spell_moment};
use crate::error::ResultExt;
use crate::records::{moment, open_run, text};
use crate::runs::{Tx, now};
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

impl SqliteStore {
    /// Checks the proof inside of a transaction, and renews the lease and the run's sign of life.
    pub(crate) async fn hold(&self, tx: &mut Tx, fence: &Fence) -> Result<Moment, StoreError> {
        let now = now(tx).await?;
        let renewed = sqlx::query(sql!("leases/renew"))
            .bind(fence.realm.as_str())
            .bind(hex(fence.namespace.0))
            .bind(fence.epoch)
            .bind(hex(fence.run.0))
            .bind(spell_moment(now.plus_seconds(LEASE_TERM_SECONDS)))
            .execute(&mut **tx)
            .await
            .doing("renew the lease")?;
        if renewed.rows_affected() == 0 {
            return Err(StoreError::LeaseLost { run: fence.run });
        }
        sqlx::query(sql!("runs/heartbeat"))
            .bind(hex(fence.run.0))
            .bind(spell_moment(now))
            .execute(&mut **tx)
            .await
            .doing("renew the lease")?;
        Ok(now)
    }

    pub(crate) async fn take_lease(
        &self,
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

    pub(crate) async fn standing(&self, tx: &mut Tx, realm: Realm, namespace: NamespaceId) -> Result<Standing, StoreError> {
        const OPERATION: &str = "look at the target";
        sqlx::query(sql!("leases/ensure"))
            .bind(realm.as_str())
            .bind(hex(namespace.0))
            .execute(&mut **tx)
            .await
            .doing(OPERATION)?;
        let row = sqlx::query(sql!("leases/find"))
            .bind(realm.as_str())
            .bind(hex(namespace.0))
            .fetch_one(&mut **tx)
            .await
            .doing(OPERATION)?;
        let lease = match row.try_get::<Option<String>, _>("run_id").doing(OPERATION)? {
            Some(run) => Some(Lease {
                run: RunId(parse_id(&run)?),
                holder: text(&row, "holder")?,
                expires_at: moment(&row, "expires_at")?,
            }),
            None => None,
        };
        let rows = sqlx::query(sql!("runs/open"))
            .bind(realm.as_str())
            .bind(hex(namespace.0))
            .fetch_all(&mut **tx)
            .await
            .doing(OPERATION)?;
        let open_runs = rows.iter().map(open_run).collect::<Result<_, _>>()?;
        Ok(Standing { now: now(tx).await?, lease, open_runs })
    }

    pub(crate) async fn release(
        &self,
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
}
