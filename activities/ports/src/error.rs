//! How a store says no.
//!
//! **Invariant:** a message names the operation and ids, never a value from a row: servers quote values in their errors, so
//! the source is kept for its kind alone and is not printed.

use dream_core::id::RunId;
use uuid::Uuid;

/// What a store could not do. One variant per reason that a caller treats differently.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The server does not answer, or hung up.
    #[error("the store did not answer while it was asked to {operation}")]
    Unavailable {
        /// What was asked.
        operation: &'static str,
    },
    /// A deadlock, a serialization conflict, a lock or statement time-out: the same call can succeed.
    #[error("the store was busy and gave up to {operation} (code {code})")]
    Busy {
        /// What was asked.
        operation: &'static str,
        /// The server's code.
        code: String,
    },
    /// A row was refused: a constraint, a type, a size.
    #[error("the store refused to {operation} (code {code})")]
    Refused {
        /// What was asked.
        operation: &'static str,
        /// The server's code.
        code: String,
    },
    /// The store's schema, the rights of its user, or its address is not what this program needs. No row is at fault.
    #[error("the store is not fit for this program to {operation} (code {code})")]
    Unfit {
        /// What was asked.
        operation: &'static str,
        /// The server's code.
        code: String,
    },
    /// The store holds something that this program cannot read.
    #[error("the store holds something unreadable, found while it was asked to {operation}: {what}")]
    Unreadable {
        /// What was asked.
        operation: &'static str,
        /// Which table and column, or which record; never the content.
        what: String,
    },
    /// Another attempt or another run holds the target now.
    #[error("run {run} no longer holds its target")]
    LeaseLost {
        /// The run.
        run: RunId,
    },
    /// No such namespace, or no active version of it.
    #[error("no active namespace has the id {id}, neither as its stable id nor as its row id")]
    NoNamespace {
        /// The id as it was given.
        id: Uuid,
    },
    /// No such space.
    #[error("no space has the id {id}")]
    NoSpace {
        /// The id as it was given.
        id: Uuid,
    },
    /// No such run.
    #[error("no run has the id {id}")]
    NoRun {
        /// The id as it was given.
        id: Uuid,
    },
    /// The tables of this program are not there.
    #[error("the tables of Dream Worker are not in this store")]
    NotMigrated,
    /// This store cannot do that at all.
    #[error("this store cannot {operation}")]
    Unsupported {
        /// What was asked.
        operation: &'static str,
    },
}

impl StoreError {
    /// Whether the same call can succeed later.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable { .. } | Self::Busy { .. } => true,
            Self::Refused { .. }
            | Self::Unfit { .. }
            | Self::Unreadable { .. }
            | Self::LeaseLost { .. }
            | Self::NoNamespace { .. }
            | Self::NoSpace { .. }
            | Self::NoRun { .. }
            | Self::NotMigrated
            | Self::Unsupported { .. } => false,
        }
    }
}
