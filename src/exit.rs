//! Exit codes, told apart for scripts, and the one kind of error a command ends with.

use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use dream_activities::failure::ResultExt as _;
use dream_core::failure::{Code, Failure};
use dream_core::run::RunState;
use dream_ports::StoreError;

use crate::term;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done. Of runs only those that were completed, or taken back since.
    Done = 0,
    /// Failed.
    Failed = 1,
    // 2 is clap's, for arguments that cannot be read.
    /// There was nothing to do: nothing to restore, nothing found.
    Nothing = 3,
    /// Refused by a rule: switched off, locked, stuck, forbidden, changed, stopped.
    Refused = 4,
    /// Done, except for lines that could not be used.
    PartlyDone = 5,
    /// Parked: somebody else has to say or do something first.
    Waiting = 6,
    /// Some check did not pass.
    CheckFailed = 7,
    /// A run ended without being completed (cancelled, rejected, abandoned), or goes on without this command.
    Unfinished = 8,
}

impl Exit {
    /// How a command ends whose run is in this state.
    pub(crate) const fn of(state: RunState) -> Self {
        match state {
            RunState::Completed | RunState::Undone | RunState::PartlyUndone => Self::Done,
            RunState::Cancelled | RunState::Abandoned => Self::Unfinished,
            RunState::AwaitingReview | RunState::AwaitingClient => Self::Waiting,
            RunState::Failed | RunState::AbortedSafety | RunState::Planning | RunState::Applying => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not do what it was asked.
///
/// It can only be made of a failure, or of what a store says: whatever a command ends with has a code and a next step.
#[derive(Debug)]
pub(crate) struct Fault(Failure);

impl Fault {
    /// A fault of a kind.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Failure::new(code, message))
    }

    /// Its kind.
    pub(crate) const fn code(&self) -> Code {
        self.0.code
    }

    /// What failed, for a face that tells it in its own words.
    pub(crate) fn into_failure(self) -> Failure {
        self.0
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Fault {}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match Err::<(), _>(error).or_fail() {
            Err(failure) => Self(failure),
            Ok(()) => unreachable!("an error stays one"),
        }
    }
}

/// Turns what the system says about a file into a fault that names the file.
pub(crate) trait OrFile<T> {
    /// `what` was to be done to the file: read, written, removed.
    fn or_file(self, path: &Path, what: &str) -> Result<T, Fault>;
}

impl<T> OrFile<T> for std::io::Result<T> {
    fn or_file(self, path: &Path, what: &str) -> Result<T, Fault> {
        self.map_err(|error| {
            Fault::new(Code::File, format!("{} cannot be {what}: {}", path.display(), why(error.kind())))
        })
    }
}

/// What the system says, in words that mean nothing else here.
fn why(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "it is not allowed".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => kind.to_string(),
    }
}

/// Says what went wrong, on the standard error, and answers with which code to leave.
pub(crate) fn report(fault: &Fault) -> Exit {
    term::error(&fault.to_string());
    match fault.code() {
        Code::Disabled
        | Code::ApplyDisabled
        | Code::Forbidden
        | Code::Stuck
        | Code::Locked
        | Code::PlanChanged
        | Code::BuiltUpon
        | Code::WrongState
        | Code::AwaitingClient
        | Code::Gone
        | Code::BadAnswer
        | Code::NotDue => Exit::Refused,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_was_completed_is_a_success() {
        let done: Vec<&str> =
            RunState::ALL.iter().filter(|state| Exit::of(**state) == Exit::Done).map(|state| state.as_str()).collect();
        assert_eq!(done, ["completed", "undone", "partly_undone"]);
    }

    #[test]
    fn what_a_store_and_a_file_say_has_a_code_and_a_next_step() {
        let refused = Fault::from(StoreError::NotMigrated).to_string();
        assert!(refused.contains("DREAM-2005 NotMigrated") && refused.contains("next: "), "{refused}");
        let missing = std::fs::read("/no/such/file").or_file(Path::new("/no/such/file"), "read").unwrap_err();
        let missing = missing.to_string();
        assert!(missing.starts_with("/no/such/file cannot be read: there is no such file (DREAM-4003"), "{missing}");
    }
}
