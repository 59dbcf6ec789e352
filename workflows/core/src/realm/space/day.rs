//! Days of a space's own calendar, and its weeks, which start on a Monday.
//!
//! **Invariant:** a day knows no zone and no clock; whoever makes one from a moment names the zone
//! ([`crate::realm::space::zone::Zone::day_of`]).

use std::fmt;
use std::str::FromStr;

use jiff::ToSpan as _;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Days from a Monday to the next.
pub const WEEK_DAYS: i64 = 7;

/// One day of a calendar: a local night is named by the day it lies in, a week by its Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    /// The day of a civil date.
    pub(super) const fn new(date: Date) -> Self {
        Self(date)
    }

    /// This day moved by a number of days, saturating at the ends of the calendar.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        Self(self.0.saturating_add(days.days()))
    }

    /// The Monday of the week this day is in.
    #[must_use]
    pub fn monday(self) -> Self {
        self.plus_days(-i64::from(self.0.weekday().to_monday_zero_offset()))
    }

    /// The Monday of the last week that is complete on this day.
    #[must_use]
    pub fn last_complete_week(self) -> Self {
        self.monday().plus_days(-WEEK_DAYS)
    }
}

impl fmt::Display for Day {
    /// `YYYY-MM-DD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a day; 2026-11-29 is one")]
pub struct DayError;

/// Characters of `YYYY-MM-DD`, the one spelling that is read.
const SPELLING_CHARACTERS: usize = 10;

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let date: Date = text.parse().map_err(|_| DayError)?;
        // The calendar's own parser also takes a moment and keeps the day of it.
        if text.len() == SPELLING_CHARACTERS { Ok(Self(date)) } else { Err(DayError) }
    }
}

impl Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    #[test]
    fn a_week_starts_on_monday_and_is_complete_when_the_next_has_begun() {
        for (today, monday, complete) in [
            ("2026-11-29", "2026-11-23", "2026-11-16"),
            ("2026-11-30", "2026-11-30", "2026-11-23"),
            ("2027-01-01", "2026-12-28", "2026-12-21"),
        ] {
            assert_eq!(day(today).monday(), day(monday), "{today}");
            assert_eq!(day(today).last_complete_week(), day(complete), "{today}");
        }
    }

    #[test]
    fn a_day_has_one_spelling() {
        assert_eq!(day("2026-03-01").to_string(), "2026-03-01");
        for text in ["", "2026-3-1", "20260301", "2026-02-29", "2026-03-01T00:00:00", "2026-W10-1", "+002026-03-01"] {
            assert_eq!(text.parse::<Day>(), Err(DayError), "{text}");
        }
    }
}
