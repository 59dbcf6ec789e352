//! Lines that could not be used: by their numbers, with the reason, never with what stands there.

use std::collections::BTreeMap;

use crate::term;

/// Bad lines that are listed; more are counted.
const LISTED_MAX: usize = 100;

/// Lines that are named for one reason.
const NAMED_MAX: usize = 10;

/// The lines of one file that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problems {
    listed: Vec<(u64, String)>,
    unlisted: u64,
}

impl Problems {
    pub(crate) fn add(&mut self, line: u64, reason: String) {
        if self.listed.len() < LISTED_MAX {
            self.listed.push((line, reason));
        } else {
            self.unlisted += 1;
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Says them as people read them: equal reasons together, with their lines.
    pub(crate) fn say(&self) {
        let mut grouped: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for (line, reason) in &self.listed {
            grouped.entry(reason).or_default().push(*line);
        }
        for (reason, mut lines) in grouped {
            lines.sort_unstable();
            let named: Vec<String> = lines.iter().take(NAMED_MAX).map(ToString::to_string).collect();
            let more = lines.len().saturating_sub(NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            term::note(&format!("line {}{more}: {reason}", named.join(", ")));
        }
        if self.unlisted > 0 {
            term::note(&format!("and {} more lines could not be used", self.unlisted));
        }
    }
}
