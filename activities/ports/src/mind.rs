//! The model that a worker calls itself, for spaces in server mode, and the account that a store keeps of its calls.
//!
//! A call is reserved before it is made and settled afterwards, and its answer is kept until the run has taken it in, so that
//! whoever dies between the two pays once.
//!
//! **Invariant:** a mind answers a question and decides nothing; what its answer may do is the core's to say. It makes one call
//! and tries nothing again: whoever asks it counts the calls, and only there are they repeated.

use std::time::Duration;

use async_trait::async_trait;
use dream_core::budget::{Budget, CallOutcome, Limit, Usage};
use dream_core::clock::Moment;
use dream_core::digest::Fingerprint;
use dream_core::id::{NamespaceId, RunId};

use crate::error::StoreError;
use crate::run::Fence;

/// A question, as every model gets it.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// What to do, as a system prompt.
    pub instructions: &'a str,
    /// What to do it with, as JSON: memory text, fenced as data.
    pub input: &'a str,
    /// The shape of the answer: JSON Schema 2020-12.
    pub output_schema: &'a str,
}

/// What a model answered. It has no `Debug`: what a model says about a memory is memory text.
pub struct Reply {
    /// Its words.
    pub text: String,
    /// Whether it stopped because it had no tokens left.
    pub is_cut: bool,
    /// What the call took, if that was said.
    pub usage: Option<Usage>,
}

/// Why there is no answer. It never repeats a model's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MindError {
    /// Nobody listens there.
    #[error("the model cannot be reached")]
    Unreachable,
    /// It does not answer in time.
    #[error("the model did not answer within {waited_seconds} s")]
    Late {
        /// How long it was waited for.
        waited_seconds: u64,
    },
    /// Its answer broke off, or is none of the protocol's.
    #[error("the answer of the model broke off, or is not what its provider documents")]
    Broken,
    /// It is too busy.
    #[error("the model is too busy (status {status})")]
    Busy {
        /// The status.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// It failed.
    #[error("the model failed (status {status})")]
    Failed {
        /// The status.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// It refuses the question, the key or the model's name.
    #[error("the model refused (status {status})")]
    Refused {
        /// The status.
        status: u16,
    },
    /// Its provider let no answer through.
    #[error("the provider of the model withheld its answer")]
    Withheld,
}

impl MindError {
    /// Whether asking again can help.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable | Self::Late { .. } | Self::Broken | Self::Busy { .. } | Self::Failed { .. } => true,
            Self::Refused { .. } | Self::Withheld => false,
        }
    }

    /// Whether something may have been taken although there is no answer.
    pub const fn may_have_cost(&self) -> bool {
        match self {
            Self::Late { .. } | Self::Broken | Self::Failed { .. } | Self::Withheld => true,
            Self::Unreachable | Self::Busy { .. } | Self::Refused { .. } => false,
        }
    }

    /// How long it wants to be left alone, if it said so.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } | Self::Failed { retry_after, .. } => *retry_after,
            Self::Unreachable | Self::Late { .. } | Self::Broken | Self::Refused { .. } | Self::Withheld => None,
        }
    }
}

/// What a model may be asked, and who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Provider and model, as reports name them: `openai/gpt-5-mini`.
    pub model: String,
    /// Tokens of an answer.
    pub output_tokens_max: u32,
    /// What calls may cost.
    pub budget: Budget,
}

/// A model.
#[async_trait]
pub trait Mind: Send + Sync {
    /// Who it is, and what it may be asked.
    fn terms(&self) -> &Terms;

    /// Answers a question, by one call.
    async fn answer(&self, question: Question<'_>) -> Result<Reply, MindError>;
}

/// A call that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewCall<'a> {
    /// Provider and model.
    pub model: &'a str,
    /// What it may take at most.
    pub tokens: u64,
    /// What calls may cost.
    pub budget: &'a Budget,
}

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// It may, and counts from now on, by this number within its run.
    Granted(u32),
    /// It may not: a limit is reached.
    Forbidden(Limit),
}

/// How a call ended.
#[derive(Clone, Copy)]
pub struct Settlement<'a> {
    /// Its number within its run.
    pub call: u32,
    /// What became of it.
    pub outcome: CallOutcome,
    /// What it took; if nobody knows, what was reserved goes on counting.
    pub usage: Option<Usage>,
    /// What was wrong; no memory text.
    pub problem: Option<&'a str>,
    /// Its answer, kept under the digest of the question: memory text.
    pub answer: Option<(Fingerprint, &'a str)>,
}

/// A call, as the store remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Its number within its run.
    pub call: u32,
    /// Provider and model.
    pub model: String,
    /// What became of it.
    pub outcome: CallOutcome,
    /// What was reserved for it.
    pub tokens_reserved: u64,
    /// What it took, where that is known.
    pub usage: Option<Usage>,
    /// How often its answer was taken from where it was kept, instead of being asked for again.
    pub times_reused: u32,
    /// What was wrong.
    pub problem: Option<String>,
}

/// An answer that is kept until its run has taken it in. It has no `Debug`: it holds memory text.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The call that it cost.
    pub call: u32,
    /// The answer.
    pub text: String,
}

/// The account of the calls of models.
#[async_trait]
pub trait MindStore: Send + Sync {
    /// Reserves a call, if the budget of its run and of its space today has room for it; counted and written in one transaction,
    /// under the lease of the space.
    async fn reserve_call(&self, fence: &Fence, call: &NewCall<'_>) -> Result<Reservation, StoreError>;

    /// Settles a call, and keeps its answer, in one transaction. An answer to a question that was forgotten meanwhile is not
    /// kept.
    async fn settle_call(&self, fence: &Fence, settlement: &Settlement<'_>) -> Result<(), StoreError>;

    /// The answer that is kept for a question of a space.
    async fn kept_answer(&self, space: NamespaceId, question: Fingerprint) -> Result<Option<KeptAnswer>, StoreError>;

    /// Counts that an answer was taken from where it is kept.
    async fn count_reuse(&self, fence: &Fence, call: u32) -> Result<(), StoreError>;

    /// Says of an answered call that its answer cannot be used, and lets the answer go, in one transaction.
    async fn reject_answer(&self, fence: &Fence, call: u32, problem: &str) -> Result<(), StoreError>;

    /// The calls of a run, in their order.
    async fn calls(&self, run: RunId) -> Result<Vec<CallRecord>, StoreError>;

    /// Deletes answers that were kept before one moment, and the account of calls before another; answers how many rows went.
    async fn purge_calls(&self, answers_before: Moment, calls_before: Moment) -> Result<u32, StoreError>;
}
