//! Transactions: each says at its start how it wants to be treated, so that no session has to remember it.

use std::time::Duration;

use dream_ports::StoreError;
use sqlx::{AssertSqlSafe, Postgres, Transaction};

use crate::PgStore;
use crate::error::ResultExt;

pub(crate) type Tx = Transaction<'static, Postgres>;

/// How a transaction wants to be treated.
struct Treatment {
    mode: &'static str,
    /// Longest wait for one lock.
    lock: Duration,
    /// Longest time for one statement, waiting included.
    statement: Duration,
    /// Longest time between two statements.
    idle: Duration,
}

/// A group, and everything else that writes. A fifth of the lease term (60 s) for a lock, as ingestion may hold its own for a
/// large document; a third for a statement, which is a hundred times what a group aims at; and whoever lets a transaction lie
/// is gone: its locks must not outlive its lease. What comes late nevertheless is stopped by the fence, not by these bounds.
const WRITE: Treatment = Treatment {
    mode: "isolation level read committed read write",
    lock: Duration::from_secs(12),
    statement: Duration::from_secs(20),
    idle: Duration::from_secs(15),
};

/// A question that somebody waits for.
const READ: Treatment = Treatment {
    mode: "isolation level repeatable read read only",
    lock: Duration::from_secs(5),
    statement: Duration::from_secs(30),
    idle: Duration::from_secs(15),
};

/// One view of a namespace for a planner: its streams may hold a million rows with their vectors, and between two of them the
/// planner computes. Longer than any planner was seen to take, short enough that vacuum is not held back for a night.
const SNAPSHOT: Treatment = Treatment {
    mode: "isolation level repeatable read read only",
    lock: Duration::from_secs(5),
    statement: Duration::from_mins(15),
    idle: Duration::from_mins(15),
};

/// Tables are created once, behind whoever uses the old ones.
const MIGRATION: Treatment = Treatment {
    mode: "isolation level read committed read write",
    lock: Duration::from_mins(1),
    statement: Duration::from_mins(10),
    idle: Duration::from_mins(1),
};

impl Treatment {
    fn begin(&self) -> String {
        format!(
            "begin {}; set local lock_timeout = {}; set local statement_timeout = {}; \
             set local idle_in_transaction_session_timeout = {}",
            self.mode,
            self.lock.as_millis(),
            self.statement.as_millis(),
            self.idle.as_millis(),
        )
    }
}

/// Ends a transaction, and waits until it is over. One that is merely dropped is rolled back when its connection is used
/// again; until then its locks would keep out whoever comes next, ourselves included.
pub(crate) async fn end(tx: Tx, keep: bool, operation: &'static str) -> Result<(), StoreError> {
    if keep {
        return tx.commit().await.doing(operation);
    }
    // A connection that broke took its locks with it, and what went wrong before is what counts.
    let _broken = tx.rollback().await;
    Ok(())
}

impl PgStore {
    async fn begin_as(&self, treatment: &Treatment, operation: &'static str) -> Result<Tx, StoreError> {
        // Only the constants above are put in.
        self.pool.begin_with(AssertSqlSafe(treatment.begin())).await.doing(operation)
    }

    /// A transaction that may write.
    pub(crate) async fn write(&self, operation: &'static str) -> Result<Tx, StoreError> {
        self.begin_as(&WRITE, operation).await
    }

    /// A transaction that answers a question. Even a single statement has one: it is prepared and run in two steps, and a
    /// pooler may lead two steps outside of a transaction to two sessions.
    pub(crate) async fn read(&self, operation: &'static str) -> Result<Tx, StoreError> {
        self.begin_as(&READ, operation).await
    }

    /// A transaction that streams a namespace.
    pub(crate) async fn read_at_length(&self, operation: &'static str) -> Result<Tx, StoreError> {
        self.begin_as(&SNAPSHOT, operation).await
    }

    /// A transaction that creates tables.
    pub(crate) async fn migrating(&self, operation: &'static str) -> Result<Tx, StoreError> {
        self.begin_as(&MIGRATION, operation).await
    }
}
