//! Why a space did, or did not, dream last night.
//!
//! Last night is the last one whose window has opened. What is known of it now may be less than what was known then: a
//! space that was used since may or may not have been used in the week before, and then it is said that this is not
//! known.
//!
//! **Invariant:** "nobody started it" is only said when every rule of [`super::due`] let it dream.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::day::Day;
use super::due::{HOURS_BETWEEN_MIN, USED_DAYS_MAX, due_from, is_used};
use super::fact::{DreamMode, Space};
use super::zone::{Window, Zone};
use crate::clock::Moment;

/// Seconds back within which there was a night, also where the calendar left a day out.
const LOOK_BACK_SECONDS: i64 = 3 * 86_400;

/// A local night that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Night {
    /// The local day.
    pub night: Day,
    /// When its hours began.
    pub opens_at: Moment,
    /// When they ended, or will.
    pub closes_at: Moment,
}

/// Why, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Why {
    /// It did.
    Dreamed {
        /// When that started.
        started_at: Moment,
    },
    /// Its mode is off.
    Off,
    /// No time zone has the name that it carries.
    UnknownZone,
    /// A dream that started before left no moment of the night in which 20 hours had passed.
    DreamedBefore {
        /// When that started.
        started_at: Moment,
        /// When the 20 hours were over.
        due_from: Moment,
    },
    /// An earlier dream waited for an agent to bring its answer.
    AwaitingClient {
        /// Since when.
        since: Moment,
    },
    /// It had not been used for a week.
    NotUsed {
        /// When it last was.
        last_used_at: Option<Moment>,
    },
    /// It was used since, and what was before is not known.
    UsedSince {
        /// When it last was.
        last_used_at: Moment,
    },
    /// The night is not over: it may still come.
    NightIsOpen,
    /// It was due, and no check started it.
    NotStarted,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The night; none if the zone is unknown.
    pub night: Option<Night>,
    /// Why, or why not.
    pub why: Why,
}

/// What the records say about a space's dreams of the last days.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// When dreams started, in any order.
    pub started_at: Vec<Moment>,
    /// Since when a dream waits for a client, if one does.
    pub awaiting_client_since: Option<Moment>,
}

/// Says why a space did or did not dream in the night that began last.
pub fn explain(now: Moment, space: &Space, records: &Records) -> Explanation {
    let Ok(zone) = Zone::named(&space.zone) else { return Explanation { night: None, why: Why::UnknownZone } };
    let windows = last_night(&zone, now);
    let Some((first, last)) = windows.first().zip(windows.last()) else {
        return Explanation { night: None, why: Why::NightIsOpen };
    };
    let night = Night { night: last.night, opens_at: first.opens_at, closes_at: last.closes_at };
    Explanation { night: Some(night), why: why(now, space, records, night, &windows) }
}

fn last_night(zone: &Zone, now: Moment) -> Vec<Window> {
    let mut windows = zone.windows_between(now.plus_seconds(-LOOK_BACK_SECONDS), now.plus_seconds(1));
    windows.retain(|window| window.opens_at <= now);
    let Some(last) = windows.last().copied() else { return windows };
    // What the clock shows of the night after it came back to its hours belongs to it.
    let mut all =
        zone.windows_between(last.opens_at.plus_seconds(-LOOK_BACK_SECONDS), now.plus_seconds(LOOK_BACK_SECONDS));
    all.retain(|window| window.night == last.night);
    all
}

fn why(now: Moment, space: &Space, records: &Records, night: Night, windows: &[Window]) -> Why {
    let starts = || records.started_at.iter().copied().chain(space.last_dream_started_at);
    let in_night = |at: &Moment| windows.iter().any(|window| (window.opens_at..window.closes_at).contains(at));
    if let Some(started_at) = starts().filter(in_night).max() {
        return Why::Dreamed { started_at };
    }
    if space.mode == DreamMode::Off {
        return Why::Off;
    }
    let before = starts().filter(|at| *at < night.closes_at).max();
    if let Some(started_at) = before.filter(|at| night.closes_at <= due_from(*at)) {
        return Why::DreamedBefore { started_at, due_from: due_from(started_at) };
    }
    if let Some(since) = records.awaiting_client_since.filter(|since| *since < night.closes_at) {
        return Why::AwaitingClient { since };
    }
    if !is_used(space.last_used_at, night.opens_at) {
        return Why::NotUsed { last_used_at: space.last_used_at };
    }
    if now < night.closes_at {
        return Why::NightIsOpen;
    }
    match space.last_used_at {
        Some(last_used_at) if night.closes_at <= last_used_at => Why::UsedSince { last_used_at },
        _ => Why::NotStarted,
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dreamed { started_at } => write!(f, "it dreamed, from {started_at}"),
            Self::Off => f.write_str("its dream mode is off"),
            Self::UnknownZone => f.write_str("no time zone has the name it carries; set one, such as Europe/Berlin"),
            Self::DreamedBefore { started_at, due_from } => write!(
                f,
                "a dream had started at {started_at}, and {HOURS_BETWEEN_MIN} hours were over at {due_from}, after the night"
            ),
            Self::AwaitingClient { since } => {
                write!(f, "a dream has been waiting for its client since {since}; submit its answer or start another")
            }
            Self::NotUsed { last_used_at: None } => f.write_str("it was never used"),
            Self::NotUsed { last_used_at: Some(at) } => {
                write!(f, "it had not been used for {USED_DAYS_MAX} days: last at {at}")
            }
            Self::UsedSince { last_used_at } => write!(
                f,
                "no check started it; it was used since, at {last_used_at}, and whether it had been in the \
                 {USED_DAYS_MAX} days before is not known"
            ),
            Self::NightIsOpen => f.write_str("the night is not over, and it may still dream"),
            Self::NotStarted => f.write_str(
                "it was due and no check started it; see whether a worker ran and the schedule of the check is not paused",
            ),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Night { night, opens_at, closes_at }) = &self.night {
            write!(f, "night of {night} ({opens_at} to {closes_at}): ")?;
        }
        self.why.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::due::tests::space;
    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    const NOON: &str = "2026-11-30T12:00:00Z";

    #[track_caller]
    fn check(now: &str, space: &Space, started_at: &[&str], expected: &str) {
        let started_at = started_at.iter().map(|text| moment(text)).collect();
        let said = explain(moment(now), space, &Records { started_at, awaiting_client_since: None }).to_string();
        assert!(said.contains(expected), "{said}");
    }

    fn used(at: &str) -> Space {
        space("Europe/Berlin", moment(at))
    }

    #[test]
    fn a_night_is_explained_by_the_rule_that_held() {
        let space = used("2026-11-29T20:00:00Z");
        check(NOON, &space, &["2026-11-30T01:10:00Z", "2026-11-30T11:00:00Z"], "it dreamed, from 2026-11-30T01:10");
        check(NOON, &space, &["2026-11-29T08:00:00Z", "2026-11-29T09:30:00Z"], "over at 2026-11-30T05:30");
        check(NOON, &space, &["2026-11-29T08:00:00Z"], "was due and no check started it");
        check(NOON, &space, &[], "night of 2026-11-30 (2026-11-30T01:00:00.000000Z to 2026-11-30T05:00:00.000000Z)");
        check("2026-11-30T03:00:00Z", &space, &[], "not over");
        check(NOON, &used("2026-11-30T11:00:00Z"), &[], "used since");
        check(NOON, &used("2026-11-20T11:00:00Z"), &[], "not been used for 7 days");
        check(NOON, &Space { last_used_at: None, ..space.clone() }, &[], "never used");
        check(NOON, &Space { mode: DreamMode::Off, ..space.clone() }, &[], "mode is off");
        check(NOON, &Space { zone: "Nowhere".into(), ..space }, &[], "no time zone has the name");
    }

    #[test]
    fn before_two_in_the_morning_last_night_is_that_of_the_day_before() {
        check("2026-11-30T00:30:00Z", &used("2026-11-28T20:00:00Z"), &[], "night of 2026-11-29");
    }

    #[test]
    fn a_waiting_dream_is_why_none_was_started() {
        let since = moment("2026-11-29T02:00:00Z");
        let records = Records { started_at: vec![since], awaiting_client_since: Some(since) };
        let explanation = explain(moment(NOON), &used("2026-11-29T20:00:00Z"), &records);
        assert_eq!(explanation.why, Why::AwaitingClient { since });
    }

    #[test]
    fn a_day_that_the_calendar_left_out_has_no_night_to_explain() {
        let samoa = space("Pacific/Apia", moment("2011-12-29T20:00:00Z"));
        check("2011-12-31T11:00:00Z", &samoa, &[], "night of 2011-12-31");
        check("2011-12-30T11:00:00Z", &samoa, &[], "night of 2011-12-29");
    }

    #[test]
    fn both_windows_of_a_night_belong_to_it() {
        let troll = space("Antarctica/Troll", moment("2026-10-24T20:00:00Z"));
        check("2026-10-25T08:00:00Z", &troll, &["2026-10-25T00:30:00Z"], "it dreamed");
        check("2026-10-25T01:30:00Z", &troll, &[], "not over");
    }
}
