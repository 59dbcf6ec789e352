//! What is admitted of an answer: changes that name facts by id and texts by their place in the answer.
//!
//! **Invariant:** a change holds no text. Each says what it relies on ([`Change::premises`]), and is left alone when
//! that no longer holds of the locked rows ([`Change::still_holds`]).

use serde::{Deserialize, Serialize};

use super::day::Day;
use super::fact::{Fact, Tier};
use super::rules::{Item, Listed, Rule};
use super::ticket::Premise;
use crate::change::named_variants;
use crate::digest::TextKey;

/// Most changes of one run. The public description promises it to users; raising it is a product decision.
pub const CHANGES_MAX: u32 = 50;

named_variants! {
    /// What a proposal is about.
    pub enum ProposalKind {
        /// Something unfinished that is worth tracking.
        OpenLoop = "open_loop",
        /// A merge that a person should look at.
        Merge = "merge",
    }
}

/// One admitted item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Facts become one.
    Merge {
        /// The item.
        item: Item,
        /// The fact that stays.
        keep: Premise,
        /// The facts that go; at least one.
        remove: Vec<Premise>,
        /// Whether the fact that stays gets the item's wording.
        reworded: bool,
    },
    /// A fact changes its tier.
    Promote {
        /// The item.
        item: Item,
        /// The fact, with the tier it comes from.
        fact: Premise,
        /// Where it goes.
        to: Tier,
    },
    /// A week gets its digest, or another one.
    Digest {
        /// The item.
        item: Item,
        /// The Monday of the week.
        week: Day,
    },
    /// The owner gets a profile, or another one.
    Profile {
        /// The item.
        item: Item,
    },
    /// A proposal is recorded.
    Proposal {
        /// The item.
        item: Item,
        /// What it is about.
        kind: ProposalKind,
        /// Of a merge, the fact that would stay, then those that would go.
        facts: Vec<Premise>,
        /// Of a merge, why it was not done.
        reason: Option<Rule>,
    },
    /// A contradiction is recorded.
    Contradiction {
        /// The item.
        item: Item,
        /// The facts that cannot all be true; at least two.
        facts: Vec<Premise>,
    },
}

impl Change {
    /// The item it comes from.
    pub const fn item(&self) -> Item {
        match self {
            Self::Merge { item, .. }
            | Self::Promote { item, .. }
            | Self::Digest { item, .. }
            | Self::Profile { item }
            | Self::Proposal { item, .. }
            | Self::Contradiction { item, .. } => *item,
        }
    }

    /// How many facts, journal entries, records and profiles it writes or removes.
    pub fn cost(&self) -> u32 {
        match self {
            Self::Merge { remove, reworded, .. } => {
                u32::try_from(remove.len()).unwrap_or(u32::MAX).saturating_add(u32::from(*reworded))
            }
            _ => 1,
        }
    }

    /// The facts it relies on.
    pub fn premises(&self) -> Vec<&Premise> {
        match self {
            Self::Merge { keep, remove, .. } => std::iter::once(keep).chain(remove).collect(),
            Self::Promote { fact, .. } => vec![fact],
            Self::Proposal { facts, .. } | Self::Contradiction { facts, .. } => facts.iter().collect(),
            Self::Digest { .. } | Self::Profile { .. } => Vec::new(),
        }
    }

    /// Whether every fact it relies on is what it was, or what the run has made of it. If not, it is left alone, and
    /// listed by what happened to the first such fact.
    pub fn still_holds(&self, current: &[Fact], key: &TextKey) -> Result<(), Listed> {
        for premise in self.premises() {
            let fact = current.iter().find(|fact| fact.id == premise.fact);
            premise.check(fact, key).map_err(|rule| Listed { item: self.item(), rule, facts: vec![premise.fact] })?;
        }
        Ok(())
    }
}

/// What became of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// What is done, in order.
    pub changes: Vec<Change>,
    /// What is not done as it was suggested, in the order in which it was judged.
    pub listed: Vec<Listed>,
    /// Lines that were too many to list.
    pub unlisted: u32,
    /// Whether the profile is cut.
    pub profile_cut: bool,
}

impl Judged {
    /// How many changes the run makes.
    pub fn cost(&self) -> u32 {
        self.changes.iter().map(Change::cost).sum()
    }
}
