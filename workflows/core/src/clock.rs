//! Moments in time as the stores keep them: microseconds since the epoch, UTC.
//!
//! **Invariant:** there is no `now` here. A moment comes in as a value, or it does not come in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A moment in UTC, to the microsecond (the resolution of PostgreSQL's `timestamptz`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    /// From microseconds since 1970-01-01T00:00:00Z.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This moment moved by a number of seconds, saturating at the ends of time.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// Seconds from `earlier` to this moment, rounded down; negative when `earlier` is later.
    pub const fn seconds_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).div_euclid(1_000_000)
    }

    /// `YYYY-MM-DD` in UTC.
    pub fn date(self) -> String {
        self.to_string()[..10].to_owned()
    }

    /// The same moment as the calendar counts it.
    pub(crate) fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
}

impl fmt::Display for Moment {
    /// ISO 8601 with six decimals and a `Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}", self.timestamp())
    }
}

/// A text that is none of the spellings of a moment that the stores use.
#[derive(Debug, thiserror::Error)]
#[error("not a moment in time; 2026-11-29T03:00:00Z is one")]
pub struct MomentError;

impl FromStr for Moment {
    type Err = MomentError;

    /// Reads ISO 8601 with `T` or a space, with an offset, with `Z`, or with neither (then UTC, as Khora means it).
    fn from_str(text: &str) -> Result<Self, MomentError> {
        let text = text.trim();
        if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            return Ok(Self(timestamp.as_microsecond()));
        }
        let civil: jiff::civil::DateTime = text.parse().map_err(|_| MomentError)?;
        let timestamp = jiff::tz::TimeZone::UTC.to_timestamp(civil).map_err(|_| MomentError)?;
        Ok(Self(timestamp.as_microsecond()))
    }
}

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_a_khora_store_uses_is_the_same_moment() {
        let expected = Moment::from_micros(1_772_334_245_000_001);
        for spelling in [
            "2026-03-01T03:04:05.000001+00:00",
            "2026-03-01 03:04:05.000001",
            "2026-03-01 03:04:05.000001+00:00",
            "2026-03-01T03:04:05.000001Z",
            "2026-03-01T05:04:05.000001+02:00",
        ] {
            assert_eq!(spelling.parse::<Moment>().unwrap(), expected, "{spelling}");
        }
        assert_eq!("2026-03-01 03:04:05".parse::<Moment>().unwrap(), Moment::from_micros(1_772_334_245_000_000));
        assert_eq!(expected.to_string(), "2026-03-01T03:04:05.000001Z");
        assert_eq!(expected.date(), "2026-03-01");
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in ["", "yesterday", "2026-13-01", "42"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
