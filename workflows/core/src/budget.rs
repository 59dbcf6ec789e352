//! What calls of a model may cost: how many there may be, and how many tokens they may take, in a run and in a space on a day.
//!
//! A call counts before it is made, by what it may take at most, and afterwards by what it took. Of a call whose end nobody
//! saw, because its process died or its connection broke, what it may have taken goes on counting.
//!
//! **Invariant:** less is never counted than was taken. A day is one of UTC, whatever zone the space is in: moving a space to
//! another zone opens no second day.

use serde::{Deserialize, Serialize};

use crate::change::named_variants;
use crate::clock::Moment;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Bytes that a token stands for at least, in any script and any tokenizer that is in use: Latin text has four, most others two
/// to three. What a call may take is reckoned with it.
const BYTES_PER_TOKEN_MIN: u64 = 2;

/// Limits on the calls of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Calls in one run.
    pub calls_per_run: u32,
    /// Tokens in one run, in and out.
    pub tokens_per_run: u64,
    /// Calls for one space on one day.
    pub calls_per_day: u32,
    /// Tokens for one space on one day, in and out.
    pub tokens_per_day: u64,
}

impl Default for Budget {
    /// A run needs one call; the others are for answers that cannot be used and calls that break. The largest question is
    /// reckoned at 213,000 tokens, so a run may ask it twice; a day has room for two runs.
    fn default() -> Self {
        Self { calls_per_run: 8, tokens_per_run: 500_000, calls_per_day: 20, tokens_per_day: 1_000_000 }
    }
}

/// What has been counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Calls.
    pub calls: u32,
    /// Tokens: those that were taken, and those that are reserved.
    pub tokens: u64,
}

named_variants! {
    /// A limit that is reached.
    pub enum Limit {
        /// Calls in one run.
        CallsPerRun = "calls_per_run_max",
        /// Tokens in one run.
        TokensPerRun = "tokens_per_run_max",
        /// Calls for one space on one day.
        CallsPerDay = "calls_per_day_max",
        /// Tokens for one space on one day.
        TokensPerDay = "tokens_per_day_max",
    }
}

named_variants! {
    /// What became of a call.
    pub enum CallOutcome {
        /// It is under way, or its process died.
        Reserved = "reserved",
        /// It was answered.
        Answered = "answered",
        /// It was answered in a way that cannot be used.
        Bad = "bad",
        /// It was refused before anything was taken.
        Refused = "refused",
        /// No answer came, though something may have been taken.
        Unanswered = "unanswered",
    }
}

/// Tokens that a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the question.
    pub input: u64,
    /// Tokens of the answer, those of reasoning included.
    pub output: u64,
}

impl Usage {
    /// Both together.
    pub const fn tokens(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Budget {
    /// The limit that forbids one more call of so many tokens, if one does.
    pub const fn forbids(&self, of_run: Spending, of_day: Spending, tokens: u64) -> Option<Limit> {
        if of_run.calls >= self.calls_per_run {
            Some(Limit::CallsPerRun)
        } else if of_run.tokens.saturating_add(tokens) > self.tokens_per_run {
            Some(Limit::TokensPerRun)
        } else if of_day.calls >= self.calls_per_day {
            Some(Limit::CallsPerDay)
        } else if of_day.tokens.saturating_add(tokens) > self.tokens_per_day {
            Some(Limit::TokensPerDay)
        } else {
            None
        }
    }
}

/// Tokens that a call may take at most: a question of so many bytes, and an answer of so many tokens.
pub const fn tokens_at_most(question_bytes: usize, answer_tokens: u32) -> u64 {
    (question_bytes as u64).div_ceil(BYTES_PER_TOKEN_MIN).saturating_add(answer_tokens as u64)
}

/// The day of a moment, in UTC: days since 1970-01-01.
pub const fn day_of(moment: Moment) -> i64 {
    moment.micros().div_euclid(MICROS_PER_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { calls_per_run: 2, tokens_per_run: 100, calls_per_day: 3, tokens_per_day: 150 };

    fn spent(calls: u32, tokens: u64) -> Spending {
        Spending { calls, tokens }
    }

    #[test]
    fn a_call_that_fits_to_the_last_token_is_made_and_one_more_token_is_not() {
        assert_eq!(BUDGET.forbids(spent(1, 60), spent(1, 60), 40), None);
        assert_eq!(BUDGET.forbids(spent(1, 60), spent(1, 60), 41), Some(Limit::TokensPerRun));
        assert_eq!(BUDGET.forbids(spent(0, 0), spent(2, 110), 40), None);
        assert_eq!(BUDGET.forbids(spent(0, 0), spent(2, 110), 41), Some(Limit::TokensPerDay));
    }

    #[test]
    fn calls_are_counted_whatever_they_took() {
        assert_eq!(BUDGET.forbids(spent(2, 0), spent(2, 0), 1), Some(Limit::CallsPerRun));
        assert_eq!(BUDGET.forbids(spent(0, 0), spent(3, 0), 1), Some(Limit::CallsPerDay));
    }

    #[test]
    fn no_sum_is_so_large_that_it_counts_for_little() {
        assert_eq!(BUDGET.forbids(spent(0, u64::MAX), spent(0, 0), u64::MAX), Some(Limit::TokensPerRun));
        assert_eq!(Usage { input: u64::MAX, output: 1 }.tokens(), u64::MAX);
    }

    #[test]
    fn a_day_is_one_of_utc() {
        let day = |text: &str| day_of(text.parse().unwrap());
        assert_eq!(day("2026-11-29T23:59:59Z") + 1, day("2026-11-30T00:00:00Z"));
        assert_eq!(day("1970-01-01T00:00:00Z"), 0);
        assert_eq!(day("1969-12-31T23:59:59Z"), -1);
    }

    #[test]
    fn a_question_is_reckoned_by_its_bytes() {
        assert_eq!(tokens_at_most(1_001, 100), 601);
    }
}
