//! What a run over a space came to, in the words of its faces: counts, and what was left out with its reason.
//!
//! **Invariant:** ids, counts and reasons only. Memory text is joined where somebody asks for it, and is gone there as soon as
//! it was forgotten.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Moment;
use crate::id::RunId;
use crate::op::{Intent, Op, OpKind, OpState};
use crate::report::words;
use crate::run::RunState;

/// The word that faces have for where a run over a space stands.
pub const fn status(state: RunState) -> &'static str {
    match state {
        RunState::Planning | RunState::AwaitingReview | RunState::Applying => "running",
        RunState::AwaitingClient => "awaiting_client",
        RunState::Completed => "done",
        RunState::Failed | RunState::AbortedSafety => "failed",
        RunState::Undone | RunState::PartlyUndone => "undone",
        RunState::Cancelled | RunState::Abandoned => "abandoned",
    }
}

/// What housekeeping did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HousekeepingCounts {
    /// Facts past their end.
    pub expired: u32,
    /// Scratch facts that nobody recalled.
    pub stale: u32,
    /// Copies that were absorbed.
    pub duplicates: u32,
    /// Actions past their end.
    pub actions_expired: u32,
    /// Values past their end.
    pub key_values_deleted: u32,
}

/// Something that was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// What it was: `merge`, `promotion`, …
    pub what: String,
    /// Why, by the name of the rule.
    pub reason: String,
    /// The facts it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Uuid>,
}

/// What the worker's own model took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUse {
    /// Provider and model.
    pub model: String,
    /// Calls that were made, those that failed included.
    pub calls: u32,
    /// Tokens of questions, as far as the provider said.
    pub tokens_input: u64,
    /// Tokens of answers, as far as the provider said.
    pub tokens_output: u64,
    /// Tokens that are counted for calls of which nobody said what they took.
    pub tokens_reserved: u64,
    /// How often an answer was taken in that an earlier attempt had paid for.
    pub reused: u32,
}

impl fmt::Display for ModelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, calls, tokens_input, tokens_output, tokens_reserved, reused } = self;
        let plural = if *calls == 1 { "" } else { "s" };
        write!(f, "{model}: {calls} call{plural}, {tokens_input} tokens in, {tokens_output} out")?;
        if *tokens_reserved > 0 {
            write!(f, ", {tokens_reserved} counted for calls that did not say")?;
        }
        if *reused > 0 { write!(f, ", an answer that was kept used {reused} times") } else { Ok(()) }
    }
}

/// The report of a run over a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpaceReport {
    /// What housekeeping did.
    pub housekeeping: HousekeepingCounts,
    /// Facts merged away by a model's answer.
    pub merges: u32,
    /// Facts promoted or reworded, and the digest and the profile, as far as they were written.
    pub updates: u32,
    /// Contradictions recorded.
    pub contradictions: u32,
    /// Proposals recorded.
    pub proposals: u32,
    /// What was not done, and why.
    pub skipped: Vec<Skipped>,
    /// What else is to be said: that no model was asked and why, that the profile was cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the worker's own model took, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelUse>,
}

/// A run over a space, as its faces show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceRun {
    /// The run.
    pub run_id: RunId,
    /// The space.
    pub space_id: Uuid,
    /// Where it stands.
    pub status: String,
    /// When it started.
    pub started_at: Moment,
    /// When it ended.
    pub ended_at: Option<Moment>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What it came to.
    pub report: SpaceReport,
}

impl SpaceReport {
    /// Takes in what became of an op.
    pub fn feed(&mut self, op: &Op) {
        let is_done = matches!(op.state, OpState::Applied | OpState::Undone);
        if !is_done {
            let reason = op.reason.filter(|_| op.state != OpState::Sealed);
            self.skipped.extend(reason.map(|reason| Skipped {
                what: what(op.draft.kind).to_owned(),
                reason: format!("{reason}: {}", words::reason(reason)),
                facts: facts(&op.draft.intent),
            }));
            return;
        }
        let absorbed = |intent: &Intent| match intent {
            Intent::MergeFacts { absorb, .. } => u32::try_from(absorb.len()).unwrap_or(u32::MAX),
            _ => 0,
        };
        let intent = &op.draft.intent;
        match op.draft.kind {
            OpKind::SpaceExpire => self.housekeeping.expired += 1,
            OpKind::SpaceStaleScratch => self.housekeeping.stale += 1,
            OpKind::SpaceDedupeExact => self.housekeeping.duplicates += absorbed(intent),
            OpKind::SpaceMerge => {
                self.merges += absorbed(intent);
                self.updates += u32::from(intent.text().is_some());
            }
            OpKind::SpacePromote | OpKind::SpaceDigest | OpKind::SpaceProfile => self.updates += 1,
            OpKind::SpaceProposal => self.proposals += 1,
            OpKind::SpaceContradiction => self.contradictions += 1,
            _ => {}
        }
    }
}

const fn what(kind: OpKind) -> &'static str {
    match kind {
        OpKind::SpaceExpire => "expired",
        OpKind::SpaceStaleScratch => "stale",
        OpKind::SpaceDedupeExact => "duplicate",
        OpKind::SpaceMerge => "merge",
        OpKind::SpacePromote => "promotion",
        OpKind::SpaceDigest => "weekly_digest",
        OpKind::SpaceProfile => "profile",
        OpKind::SpaceProposal => "proposal",
        OpKind::SpaceContradiction => "contradiction",
        other => other.as_str(),
    }
}

fn facts(intent: &Intent) -> Vec<Uuid> {
    match intent {
        Intent::RemoveFact { fact } | Intent::MoveFact { fact, .. } => vec![*fact],
        Intent::MergeFacts { keep, absorb, .. } => [&[*keep], absorb.as_slice()].concat(),
        Intent::WriteRecord { facts, .. } => facts.clone(),
        _ => Vec::new(),
    }
}
