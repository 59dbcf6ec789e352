//! The embedded store: one SQLite file, Khora's or our own; on `:memory:` it is the fake that tests use.
//!
//! One connection writes, several read. A write transaction is opened `immediate`, so that two writers wait for each other
//! and never deadlock, and is kept under a quarter of a second.
//!
//! **Invariant:** memory text reaches SQL as a bound parameter only. Statements are files under `queries/<table>/<verb>.sql`;
//! a test prepares each of them against Khora's schema and against ours.

#![forbid(unsafe_code)]

mod adopt;
mod batches;
mod drainers;
mod encode;
mod error;
mod forget;
mod groups;
mod jobs;
mod khora;
mod leases;
mod load;
mod minds;
mod mirror;
mod plans;
mod records;
mod requests;
mod runs;
mod schema;
mod snapshot;
mod space_rows;
mod spaces;
mod sweep;
mod transfer;
mod tx;
mod undo;
mod write;

use std::path::Path;
use std::time::Duration;

use dream_ports::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use crate::error::ResultExt;

/// How long a connection waits for another one's write. Longer than any write transaction may last, short against a lease.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Readers at once. Planning reads one stream; a report or a status query may read beside it.
const READERS_MAX: u32 = 4;

/// A statement from `queries/`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../queries/", $name, ".sql"))
    };
}
pub(crate) use sql;

/// An embedded store.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl SqliteStore {
    /// Opens a file; makes it if `create`.
    pub async fn open(path: &Path, create: bool) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(create)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            // What is forgotten is overwritten, not only let go.
            .pragma("secure_delete", "on")
            .pragma("cache_size", "-64000")
            .pragma("temp_store", "memory");
        let writer = pool(1).connect_with(options.clone()).await.doing("open the file")?;
        let reader = pool(READERS_MAX).connect_with(options).await.doing("open the file")?;
        Ok(Self { writer, reader })
    }

    /// A store that lives as long as this value.
    pub async fn in_memory() -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new().in_memory(true).foreign_keys(true);
        let writer = pool(1).connect_with(options).await.doing("open a store in memory")?;
        Ok(Self { reader: writer.clone(), writer })
    }

    /// The pool, for tests that look at or write rows as Khora would.
    pub fn pool(&self) -> &SqlitePool {
        &self.writer
    }

    /// Closes the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

fn pool(connections_max: u32) -> SqlitePoolOptions {
    // A connection that is let go would take a store in memory with it.
    SqlitePoolOptions::new().max_connections(connections_max).min_connections(1).idle_timeout(None).max_lifetime(None)
}
