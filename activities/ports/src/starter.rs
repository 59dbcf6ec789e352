//! Starting dreams on an engine that keeps their time, from inside of its own worker.

use std::time::Duration;

use async_trait::async_trait;
use dream_core::run::DreamInput;

/// A dream that is to be started.
#[derive(Clone, Debug)]
pub struct NewDream {
    /// The name it has on the engine: one of a name is open at a time, and one that has ended well is not started again.
    pub workflow_id: String,
    /// Names this start: the same start, made twice, is one.
    pub request_id: String,
    /// What it is asked to do.
    pub input: DreamInput,
    /// How long the engine waits before it begins.
    pub delay: Duration,
}

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The engine has it.
    Started,
    /// The engine had it already.
    UnderWay,
}

/// Why a dream could not be started. It never repeats the engine's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The input cannot be spelled.
    #[error("the input of the dream cannot be spelled")]
    Unspellable,
    /// The engine refused, by a code.
    #[error("the engine refused the start (code {code})")]
    Refused {
        /// The code.
        code: String,
    },
}

/// Who starts dreams.
#[async_trait]
pub trait Starter: Send + Sync {
    /// Starts a dream.
    async fn start(&self, dream: &NewDream) -> Result<Start, StartError>;
}
