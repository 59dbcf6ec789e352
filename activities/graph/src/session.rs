//! Connections, and the transactions on them.
//!
//! The driver's pool takes a connection back with its transaction open and resets it when it is wanted again, so that locks
//! of a transaction that was given up would be held until then. Here a connection goes back only after a transaction that
//! came to its end; any other is closed, and with it the server ends the transaction.
//!
//! **Invariant:** every wait for the server has an end, and nothing is tried twice. No statement runs but over
//! [`Session`] and [`Lanes::alone`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dream_ports::GraphError;
use neo4rs::{BoltType, Config, ConfigBuilder, Error, Graph as Driver, Query, Row, Txn};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::ResultExt;

/// How long a connection and the start of its transaction may take. Much, for a server that lives; short enough that with a
/// statement behind it a call still answers within some ten seconds.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(4);

/// How long a server may be silent while a statement runs: it waits for a lock, is frozen, or is gone. A batch of a drainer
/// takes well below a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);

/// Connections at a time. A worker has few drainers, each with one transaction; beyond this a call waits its turn.
const CONNECTIONS_MAX: usize = 8;

/// Rows that a server sends before it waits to be asked for more: what a stream holds at most.
const FETCH_SIZE: usize = 1_000;

/// The connections to one server.
pub(crate) struct Lanes {
    config: Config,
    idle: Mutex<Vec<Driver>>,
    permits: Arc<Semaphore>,
}

impl Lanes {
    /// Connects to nothing yet. An address that is none is answered by the first call, as [`GraphError::Unfit`].
    pub(crate) fn new(url: &str, user: &str, password: &str) -> Self {
        let config = ConfigBuilder::default()
            .uri(url)
            .user(user)
            .password(password)
            .fetch_size(FETCH_SIZE)
            .max_connections(1)
            .connection_timeout(ANSWER_TIMEOUT)
            .build()
            .expect("address, user and password are given");
        Self { config, idle: Mutex::default(), permits: Arc::new(Semaphore::new(CONNECTIONS_MAX)) }
    }

    async fn lane(&self, operation: &'static str) -> Result<Lane, GraphError> {
        let permit = timeout(BEGIN_TIMEOUT, Arc::clone(&self.permits).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(GraphError::Unavailable { operation }) };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let driver = match idle {
            Some(driver) => driver,
            None => Driver::connect(self.config.clone()).doing(operation)?,
        };
        Ok(Lane { driver, _permit: permit })
    }

    fn give_back(&self, lane: Lane) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(lane.driver);
    }

    /// Starts a transaction on `database`, or the server's default.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        operation: &'static str,
        database: Option<&str>,
    ) -> Result<Session, GraphError> {
        let lane = self.lane(operation).await?;
        let begun = timeout(BEGIN_TIMEOUT, async {
            match database {
                Some(database) => lane.driver.start_txn_on(database).await,
                None => lane.driver.start_txn().await,
            }
        });
        let txn = begun.await.map_err(|_| GraphError::Unavailable { operation })?.doing(operation)?;
        Ok(Session { txn, lane, lanes: Arc::clone(self) })
    }

    /// Runs a statement outside of any transaction, as those on the schema must be on Memgraph. The driver tries again what
    /// a server calls transient, within the time that any statement has; the last error is the answer.
    pub(crate) async fn alone(
        self: &Arc<Self>,
        operation: &'static str,
        database: Option<&str>,
        statement: &str,
    ) -> Result<Result<Vec<Row>, Error>, GraphError> {
        // Only what is connected already is a statement's own time, and a greeting that fails must not be taken for one.
        self.begin(operation, database).await?.close(operation).await?;
        let lane = self.lane(operation).await?;
        let answered = timeout(ANSWER_TIMEOUT, async {
            let mut stream = match database {
                Some(database) => lane.driver.execute_on(database, statement).await?,
                None => lane.driver.execute(statement).await?,
            };
            let mut rows = Vec::new();
            while let Some(row) = stream.next().await? {
                rows.push(row);
            }
            Ok(rows)
        });
        let rows = answered.await.map_err(|_| GraphError::Unavailable { operation })?;
        if rows.is_ok() {
            self.give_back(lane);
        }
        Ok(rows)
    }
}

/// A driver of one connection.
struct Lane {
    driver: Driver,
    _permit: OwnedSemaphorePermit,
}

/// A transaction. Dropping it closes the connection.
pub(crate) struct Session {
    // Before the lane, so that the connection is back in its pool when that is closed.
    txn: Txn,
    lane: Lane,
    lanes: Arc<Lanes>,
}

impl Session {
    /// Runs a statement and hands on its rows as they come.
    pub(crate) async fn each(
        &mut self,
        operation: &'static str,
        statement: Query,
        mut visit: impl FnMut(&Row) -> Result<(), GraphError> + Send,
    ) -> Result<(), GraphError> {
        let gone = |_| GraphError::Unavailable { operation };
        let begun = timeout(ANSWER_TIMEOUT, self.txn.execute(statement));
        let mut stream = begun.await.map_err(gone)?.doing(operation)?;
        while let Some(row) =
            timeout(ANSWER_TIMEOUT, stream.next(self.txn.handle())).await.map_err(gone)?.doing(operation)?
        {
            visit(&row)?;
        }
        Ok(())
    }

    /// Runs a statement that has nothing to say.
    pub(crate) async fn run(&mut self, operation: &'static str, statement: Query) -> Result<(), GraphError> {
        let ran = timeout(ANSWER_TIMEOUT, self.txn.run(statement)).await;
        ran.map_err(|_| GraphError::Unavailable { operation })?.doing(operation)
    }

    /// Runs a statement that answers one number.
    pub(crate) async fn count(&mut self, operation: &'static str, statement: Query) -> Result<u64, GraphError> {
        let mut count = 0;
        self.each(operation, statement, |row| {
            count += row.get::<u64>("count").map_err(|_| unreadable(operation))?;
            Ok(())
        })
        .await?;
        Ok(count)
    }

    /// Commits.
    pub(crate) async fn commit(self, operation: &'static str) -> Result<(), GraphError> {
        let ended = timeout(ANSWER_TIMEOUT, self.txn.commit()).await;
        ended.map_err(|_| GraphError::Unavailable { operation })?.doing(operation)?;
        self.lanes.give_back(self.lane);
        Ok(())
    }

    /// Ends a transaction that has written nothing.
    pub(crate) async fn close(self, operation: &'static str) -> Result<(), GraphError> {
        let ended = timeout(ANSWER_TIMEOUT, self.txn.rollback()).await;
        ended.map_err(|_| GraphError::Unavailable { operation })?.doing(operation)?;
        self.lanes.give_back(self.lane);
        Ok(())
    }
}

/// What a column of an answer holds.
pub(crate) fn answer(operation: &'static str, row: &Row, column: &str) -> Result<BoltType, GraphError> {
    row.get(column).map_err(|_| unreadable(operation))
}

pub(crate) fn unreadable(operation: &'static str) -> GraphError {
    GraphError::Unreadable { operation, what: "an answer of the server".to_owned() }
}
