//! How a run left the command that started it.

use dream_core::run::RunState;
use dream_workflows::contract::Reported;
use serde::Serialize;

/// How it went.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The run is over.
    Over(Reported),
    /// It waits for a person.
    Parked(Parked),
    /// It goes on without this command, or was ended without a report; said in a sentence.
    Unreported(String),
}

/// A run that waits for a person, as programs read it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Parked {
    /// The run.
    pub(crate) run_id: String,
    /// Where it stands.
    pub(crate) state: RunState,
    /// The plan that is to be looked at.
    pub(crate) plan_hash: Option<String>,
    /// Its ops.
    pub(crate) ops_total: u32,
}
