//! The rules that no model can override, by name, and what a report lists by them.
//!
//! **Invariant:** a line names the item of the answer, the rule and facts by id. It repeats nothing of what the model
//! or the memory said. A new rule says in [`Rule::outcome`] what becomes of what it is applied to, and in
//! [`Rule::sentence`] why.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::named_variants;

named_variants! {
    /// A part of an answer.
    pub enum Section {
        /// Near-duplicates that become one.
        Merges = "merges",
        /// Changes of tier.
        Promotions = "promotions",
        /// The summary of a week.
        WeeklyDigest = "weekly_digest",
        /// The profile of the owner.
        Profile = "profile",
        /// Open loops.
        Proposals = "proposals",
        /// Facts that cannot both be true.
        Contradictions = "contradictions",
    }
}

/// An item of an answer, by its place. The text it holds stays in the answer and is looked up there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Item {
    /// The part.
    pub section: Section,
    /// The place in it, from 0; 0 where the part is one text.
    pub index: u32,
}

impl Item {
    /// The item at a place.
    pub fn new(section: Section, index: usize) -> Self {
        Self { section, index: u32::try_from(index).unwrap_or(u32::MAX) }
    }

    /// The place, as slices count.
    pub const fn at(self) -> usize {
        self.index as usize
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.section {
            Section::WeeklyDigest | Section::Profile => self.section.fmt(f),
            section => write!(f, "{section}[{}]", self.index),
        }
    }
}

named_variants! {
    /// A rule, as a report names it.
    pub enum Rule {
        /// The job has no fact of that id.
        UnknownId = "unknown_id",
        /// The fact to keep is among those to remove.
        KeepInRemove = "keep_in_remove",
        /// A wording without a letter.
        EmptyWording = "empty_wording",
        /// A text without a letter.
        EmptyText = "empty_text",
        /// A text that is longer than its place.
        TextTooLong = "text_too_long",
        /// A text with characters that are none.
        ControlCharacters = "control_characters",
        /// The fact to keep was merged away by an earlier item.
        MergeIntoRemoved = "merge_into_removed",
        /// An earlier merge names the fact.
        UsedByEarlierMerge = "used_by_earlier_merge",
        /// The id stands there twice.
        RepeatedId = "repeated_id",
        /// The fact is pinned or the user stated it, so it is not merged away.
        ProtectedFact = "protected_fact",
        /// The fact is pinned or the user stated it, so its words stay.
        ProtectedWording = "protected_wording",
        /// The fact is pinned or the user stated it, so it is not demoted.
        ProtectedTier = "protected_tier",
        /// No fact is left to merge away.
        NothingToRemove = "nothing_to_remove",
        /// The fact was edited since the job was cut.
        ChangedSince = "changed_since_job",
        /// The fact is gone since the job was cut.
        ForgottenSince = "forgotten_since_job",
        /// The fact was pinned since the job was cut.
        PinnedSince = "pinned_since_job",
        /// A merge of this answer removes the fact.
        RemovedByMerge = "removed_by_merge",
        /// The fact is in that tier.
        SameTier = "same_tier",
        /// An earlier item moves the fact.
        PromotedBefore = "promoted_before",
        /// A contradiction takes two facts.
        TooFewFacts = "too_few_facts",
        /// The same record exists, open or dealt with.
        AlreadyRecorded = "already_recorded",
        /// The run has no room left for it.
        OverLimit = "over_limit",
        /// What would remain lacks a number.
        LosesNumber = "loses_number",
        /// What would remain lacks a name.
        LosesName = "loses_name",
        /// What would remain lacks a date.
        LosesDate = "loses_date",
        /// What would remain lacks a path, an address or an identifier.
        LosesPath = "loses_path",
        /// What would remain lacks a negation.
        LosesNegation = "loses_negation",
        /// One text negates and another does not.
        NegationDiffers = "negation_differs",
    }
}

/// What becomes of what a rule is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The whole item, or the last of it, is not done.
    Refused,
    /// A part of the item is left out and the rest goes on.
    Dropped,
    /// What somebody changed in between stays as they left it.
    LeftAlone,
    /// There was no room.
    Skipped,
    /// It is kept as a proposal for a person.
    Proposed,
}

impl Rule {
    /// What becomes of what it is applied to.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::UnknownId
            | Self::KeepInRemove
            | Self::EmptyWording
            | Self::EmptyText
            | Self::TextTooLong
            | Self::ControlCharacters
            | Self::MergeIntoRemoved
            | Self::NothingToRemove
            | Self::ProtectedTier
            | Self::SameTier
            | Self::PromotedBefore
            | Self::TooFewFacts
            | Self::AlreadyRecorded => Outcome::Refused,
            Self::UsedByEarlierMerge
            | Self::RepeatedId
            | Self::ProtectedFact
            | Self::ProtectedWording
            | Self::RemovedByMerge => Outcome::Dropped,
            Self::ChangedSince | Self::ForgottenSince | Self::PinnedSince => Outcome::LeftAlone,
            Self::OverLimit => Outcome::Skipped,
            Self::LosesNumber
            | Self::LosesName
            | Self::LosesDate
            | Self::LosesPath
            | Self::LosesNegation
            | Self::NegationDiffers => Outcome::Proposed,
        }
    }

    /// The rule in words, for a report.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::UnknownId => "it names an id that the job does not have",
            Self::KeepInRemove => "it would remove the fact that it keeps",
            Self::EmptyWording => "its wording is empty",
            Self::EmptyText => "its text is empty",
            Self::TextTooLong => "its text is too long",
            Self::ControlCharacters => "its text has control characters",
            Self::MergeIntoRemoved => "the fact it keeps was merged away by an earlier item",
            Self::UsedByEarlierMerge => "an earlier merge has used the fact",
            Self::RepeatedId => "it names the fact twice",
            Self::ProtectedFact => "the fact is pinned or user-stated and is not merged away",
            Self::ProtectedWording => "the fact is pinned or user-stated and keeps its words",
            Self::ProtectedTier => "the fact is pinned or user-stated and is not demoted",
            Self::NothingToRemove => "nothing is left to remove",
            Self::ChangedSince => "the fact was changed after the job was made",
            Self::ForgottenSince => "the fact was forgotten after the job was made",
            Self::PinnedSince => "the fact was pinned after the job was made",
            Self::RemovedByMerge => "a merge of this run removes the fact",
            Self::SameTier => "the fact is in that tier already",
            Self::PromotedBefore => "an earlier item moves the fact",
            Self::TooFewFacts => "a contradiction takes two facts",
            Self::AlreadyRecorded => "the same is recorded already",
            Self::OverLimit => "the run has no room left for it",
            Self::LosesNumber => "what remains would lose a number",
            Self::LosesName => "what remains would lose a name",
            Self::LosesDate => "what remains would lose a date",
            Self::LosesPath => "what remains would lose a path or an identifier",
            Self::LosesNegation => "what remains would lose a negation",
            Self::NegationDiffers => "one text negates what another states",
        }
    }
}

/// A line of the report about something that was suggested and not done as suggested.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Listed {
    /// The item.
    pub item: Item,
    /// The rule.
    pub rule: Rule,
    /// The facts it was applied to.
    pub facts: Vec<Uuid>,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.item, self.rule.sentence())
    }
}
