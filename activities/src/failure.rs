//! From what a store could not do to what an operator reads, and whether it is tried again: one table.

use dream_core::failure::{Code, Failure};
use dream_ports::StoreError;

/// Turns errors of ports into failures.
pub trait ResultExt<T> {
    /// The failure that stands for the error.
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T> ResultExt<T> for Result<T, StoreError> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(code(&error), error.to_string()))
    }
}

fn code(error: &StoreError) -> Code {
    match error {
        StoreError::Unavailable { .. } => Code::StoreUnavailable,
        StoreError::Busy { .. } => Code::StoreBusy,
        StoreError::Refused { .. } | StoreError::Unfit { .. } => Code::StoreRefused,
        StoreError::Unreadable { .. } => Code::StoreUnreadable,
        StoreError::LeaseLost { .. } => Code::LeaseLost,
        StoreError::NoNamespace { .. } => Code::NoNamespace,
        StoreError::NoSpace { .. } => Code::NoSpace,
        StoreError::NoRun { .. } => Code::NoRun,
        StoreError::NotMigrated => Code::NotMigrated,
        StoreError::Unsupported { .. } => Code::BackendUnsupported,
        _ => Code::Defect,
    }
}

/// A value of ours that cannot be read back.
pub fn defect(what: &str) -> Failure {
    Failure::new(Code::Defect, format!("{what} cannot be read back"))
}
