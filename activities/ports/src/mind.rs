//! The model that a worker calls itself, for spaces in server mode.
//!
//! **Invariant:** a mind answers a question and decides nothing; what its answer may do is the core's to say. Budgets,
//! time-outs and retries are its own business, and it answers the same question once.

use async_trait::async_trait;

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

/// Why there is no answer. It never repeats a model's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MindError {
    /// The model does not answer, or answers too late.
    #[error("the model did not answer within {waited_seconds} s")]
    Unavailable {
        /// How long it was waited for.
        waited_seconds: u64,
    },
    /// The model refused, by a code.
    #[error("the model refused (code {code})")]
    Refused {
        /// The code.
        code: String,
    },
    /// Today's budget is spent.
    #[error("the budget of today is spent")]
    BudgetSpent,
}

impl MindError {
    /// Whether asking again can help.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}

/// A model.
#[async_trait]
pub trait Mind: Send + Sync {
    /// Answers a question.
    async fn answer(&self, question: Question<'_>) -> Result<String, MindError>;
}
