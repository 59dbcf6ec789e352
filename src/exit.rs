//! Exit codes, told apart for scripts.

use std::process::ExitCode;

use dream_core::failure::{Code, Failure};

use crate::term;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Says what went wrong, on the standard error, and answers with which code to leave.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    let Some(failure) = error.downcast_ref::<Failure>() else {
        term::error(&format!("{error:#}"));
        return Exit::Failed;
    };
    term::error(&failure.to_string());
    match failure.code {
        Code::Disabled
        | Code::ApplyDisabled
        | Code::Forbidden
        | Code::Stuck
        | Code::Locked
        | Code::PlanChanged
        | Code::BuiltUpon
        | Code::WrongState => Exit::Refused,
        _ => Exit::Failed,
    }
}
