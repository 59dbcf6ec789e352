//! What the check for due dreams and its pages say to each other.

use dream_core::clock::Moment;
use dream_core::realm::space::due::SPREAD_SECONDS;
use serde::{Deserialize, Serialize};

use super::default_store;

/// Spaces of each kind that are named in what a check says; more are counted.
pub const SPACES_NAMED_MAX: usize = 20;

/// What `DueDreams` is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DueInput {
    /// The store, by its name in the worker's configuration.
    #[serde(default = "default_store")]
    pub store: String,
    /// Seconds over which starts are spread: the time from one check to the next; an hour if absent.
    #[serde(default = "default_spread")]
    pub spread_seconds: u32,
    /// When the check began; carried from one part of the work to the next, so that all of it judges by one moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Moment>,
    /// Spaces after this one; carried likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What it came to so far; carried likewise.
    #[serde(default)]
    pub so_far: DueChecked,
}

impl Default for DueInput {
    fn default() -> Self {
        Self {
            store: default_store(),
            spread_seconds: default_spread(),
            checked_at: None,
            after: None,
            so_far: DueChecked::default(),
        }
    }
}

const fn default_spread() -> u32 {
    SPREAD_SECONDS
}

/// Asks for a page of spaces to be judged, and for the dreams that are due to be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuePage {
    /// The store, by its name in the worker's configuration.
    pub store: String,
    /// Seconds over which starts are spread.
    pub spread_seconds: u32,
    /// When the check began; now, by the store's clock, if absent.
    #[serde(default)]
    pub checked_at: Option<Moment>,
    /// Spaces after this one.
    #[serde(default)]
    pub after: Option<String>,
}

/// A page of spaces that was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuePageDone {
    /// When the check began.
    pub checked_at: Moment,
    /// The last space of the page.
    #[serde(default)]
    pub last: Option<String>,
    /// Whether there are more.
    pub is_more: bool,
    /// What it came to.
    pub came_to: DueChecked,
}

/// What a check for due dreams came to, over the spaces that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DueChecked {
    /// Pages of spaces.
    pub pages: u32,
    /// Dreams that were started.
    pub started: u64,
    /// Dreams that an earlier check had started, and that have not begun yet.
    pub under_way: u64,
    /// Spaces left alone because a dream of less than a day waits for its answer.
    pub waiting: u64,
    /// Spaces that are not due.
    pub not_due: u64,
    /// Dreams that could not be started.
    pub failed: u64,
    /// The first of them, and why.
    pub failures: Vec<StartFailure>,
    /// Spaces whose time zone nobody knows.
    pub unknown_zone: u64,
    /// The first of them.
    pub unknown_zones: Vec<String>,
}

/// A dream that could not be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartFailure {
    /// The space.
    pub space: String,
    /// Why.
    pub reason: String,
}

impl DueChecked {
    /// Counts a dream that could not be started.
    pub fn count_failure(&mut self, space: String, reason: String) {
        self.failed += 1;
        if self.failures.len() < SPACES_NAMED_MAX {
            self.failures.push(StartFailure { space, reason });
        }
    }

    /// Counts a space whose time zone nobody knows.
    pub fn count_unknown_zone(&mut self, space: String) {
        self.unknown_zone += 1;
        if self.unknown_zones.len() < SPACES_NAMED_MAX {
            self.unknown_zones.push(space);
        }
    }

    /// Takes in what a page came to.
    pub fn add(&mut self, page: Self) {
        let Self { pages, started, under_way, waiting, not_due, failed, failures, unknown_zone, unknown_zones } = page;
        self.pages += pages;
        self.started += started;
        self.under_way += under_way;
        self.waiting += waiting;
        self.not_due += not_due;
        self.failed += failed;
        self.failures.extend(failures);
        self.failures.truncate(SPACES_NAMED_MAX);
        self.unknown_zone += unknown_zone;
        self.unknown_zones.extend(unknown_zones);
        self.unknown_zones.truncate(SPACES_NAMED_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_counts_everybody_and_names_the_first() {
        let mut all = DueChecked::default();
        for page in 0..3 {
            let mut one = DueChecked { pages: 1, started: 5, not_due: 400, ..DueChecked::default() };
            for space in 0..15 {
                one.count_failure(format!("{page}/{space}"), "refused".to_owned());
                one.count_unknown_zone(format!("{page}/{space}"));
            }
            all.add(one);
        }
        assert_eq!((all.pages, all.started, all.not_due, all.failed, all.unknown_zone), (3, 15, 1_200, 45, 45));
        assert_eq!(all.failures.len(), SPACES_NAMED_MAX);
        assert_eq!(all.unknown_zones.first().map(String::as_str), Some("0/0"));
        assert_eq!(all.unknown_zones.last().map(String::as_str), Some("1/4"));
    }
}
