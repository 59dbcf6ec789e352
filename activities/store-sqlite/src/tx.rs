//! Transactions.

use dream_ports::StoreError;
use sqlx::{Sqlite, Transaction};

use crate::SqliteStore;
use crate::error::ResultExt;

pub(crate) type Tx = Transaction<'static, Sqlite>;

impl SqliteStore {
    /// A transaction that may write. It waits for other writers at its start and never afterwards.
    ///
    /// Whatever it needs is read through it: where there is one connection only, as in memory, there is no other to ask.
    pub(crate) async fn write(&self, operation: &'static str) -> Result<Tx, StoreError> {
        self.writer.begin_with("begin immediate").await.doing(operation)
    }
}
