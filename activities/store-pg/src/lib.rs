//! The PostgreSQL store: Khora's database, opened as it is, or one with content tables of our own.
//!
//! Khora's tables are never altered; ours stand beside them in the schema `dream`. Every call is one transaction that says
//! by itself how it wants to be treated (isolation, time-outs), and statements are not kept prepared between calls: nothing
//! relies on the state of a session, so a pooler may hand each transaction another one, discarded in between.
//!
//! **Invariant:** memory text reaches SQL as a bound parameter only. Statements are files under `queries/<table>/<verb>.sql`;
//! a test prepares each of them against Khora's schema, against ours, and against one with a column more and an index less.

#![forbid(unsafe_code)]

mod adopt;
mod batches;
mod columns;
mod drainers;
mod encode;
mod error;
mod forget;
mod groups;
mod jobs;
mod khora;
mod leases;
mod load;
mod locks;
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

use std::str::FromStr as _;
use std::time::Duration;

use dream_ports::StoreError;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use crate::error::ResultExt;

/// How long a call waits for a connection. Longer than any write transaction should last, so that a queue is waited out;
/// short against the lease term, so that a renewal that finds no connection can be tried again.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(15);

/// A statement from `queries/`.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../queries/", $name, ".sql"))
    };
}
pub(crate) use sql;

/// A store in a PostgreSQL database.
#[derive(Clone, Debug)]
pub struct PgStore {
    pool: PgPool,
}

impl PgStore {
    /// Connects to the database at `url` (`postgres://user:password@host/database?sslmode=…`), with at most
    /// `connections_max` connections. Besides its own, a running activity uses one for the renewal of its lease.
    pub async fn open(url: &str, connections_max: u32) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)
            .doing("read the address of the database")?
            .application_name("dream-worker")
            // Floats travel in binary; poolers refuse settings that they do not know.
            .extra_float_digits(None);
        let pool = PgPoolOptions::new()
            .max_connections(connections_max)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options)
            .await
            .doing("connect to the database")?;
        Ok(Self { pool })
    }

    /// The pool, for tests that look at or write rows as Khora would.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// A query that leaves nothing prepared behind: a named statement belongs to a session, and a pooler's next transaction may
/// run in another one.
pub(crate) fn query(
    statement: impl sqlx::SqlSafeStr,
) -> sqlx::query::Query<'static, sqlx::Postgres, sqlx::postgres::PgArguments> {
    sqlx::query(statement).persistent(false)
}
