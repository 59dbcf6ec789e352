//! When a space dreams by itself.
//!
//! A space is due when somebody answers for it (its mode is not off), it was used lately, its clock shows 02:00 to
//! 05:59, no dream of it started in this local night, and none started within the last 20 hours of elapsed time. Asked
//! every hour, that is one dream a night; a worker that was down dreams in what is left of the night, and a night that
//! is over stays over.
//!
//! **Invariant:** where a dream starts, all of that holds: the spread over the hour ends with the window, and the dream
//! asks [`may_begin`] again when its time has come. Nothing is remembered but the start of the last dream.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::day::Day;
use super::fact::{DreamMode, Space};
use super::zone::{Window, Zone};
use crate::clock::Moment;
use crate::digest::Digester;
use crate::id::RunId;

/// Days within which a space must have been used.
pub const USED_DAYS_MAX: i64 = 7;

/// Hours of elapsed time from the start of one dream to the start of the next. Less than a day, so that a dream that
/// started late is no reason to leave out the next night; more than a window, so that no night has two.
pub const HOURS_BETWEEN_MIN: i64 = 20;

/// Seconds over which starts are spread: the time from one check to the next.
pub const SPREAD_SECONDS: u32 = 3_600;

const SECONDS_PER_HOUR: i64 = 3_600;
const SECONDS_PER_DAY: i64 = 86_400;

/// A space that dreams tonight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// The local night; with the space it names the dream, so that two checks cannot start two.
    pub night: Day,
    /// When it starts.
    pub start_at: Moment,
}

/// Why a space does not dream now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NotDue {
    /// Its mode is off.
    Off,
    /// No time zone has the name that it carries. This one is for somebody to repair.
    UnknownZone,
    /// It was not used lately.
    NotUsed {
        /// When it last was.
        last_used_at: Option<Moment>,
    },
    /// Its clock does not show the hours of the night.
    OutsideWindow,
    /// The night that a dream was meant for is over.
    NightOver {
        /// That night.
        night: Day,
    },
    /// It has dreamed this night.
    DreamedTonight {
        /// When that started.
        started_at: Moment,
    },
    /// It has dreamed within 20 hours.
    DreamedLately {
        /// When that started.
        started_at: Moment,
        /// When the 20 hours are over.
        due_from: Moment,
    },
}

impl fmt::Display for NotDue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("its dream mode is off"),
            Self::UnknownZone => f.write_str("no time zone has the name it carries; set one, such as Europe/Berlin"),
            Self::NotUsed { last_used_at: None } => f.write_str("it was never used"),
            Self::NotUsed { last_used_at: Some(at) } => {
                write!(f, "it was not used for {USED_DAYS_MAX} days: last at {at}")
            }
            Self::OutsideWindow => f.write_str("its local time is not between 02:00 and 05:59"),
            Self::NightOver { night } => write!(f, "the night of {night} is over"),
            Self::DreamedTonight { started_at } => write!(f, "it has dreamed this night, at {started_at}"),
            Self::DreamedLately { started_at, due_from } => {
                write!(f, "its last dream started at {started_at}; {HOURS_BETWEEN_MIN} hours are over at {due_from}")
            }
        }
    }
}

/// When the 20 hours after a start are over.
pub(super) const fn due_from(started_at: Moment) -> Moment {
    started_at.plus_seconds(HOURS_BETWEEN_MIN * SECONDS_PER_HOUR)
}

/// Whether a space that was last used at that moment counts as used when it is `now`.
pub(super) fn is_used(last_used_at: Option<Moment>, now: Moment) -> bool {
    last_used_at.is_some_and(|at| now <= at.plus_seconds(USED_DAYS_MAX * SECONDS_PER_DAY))
}

/// Whether a space dreams, and when it starts: within so many seconds from now, by the space's own place in them.
pub fn judge(now: Moment, space: &Space, spread_seconds: u32) -> Result<Due, NotDue> {
    let window = may_start(now, space)?;
    Ok(Due { night: window.night, start_at: spread(now, window.closes_at, space, spread_seconds) })
}

/// The run of a space's dream in a night. Whoever starts it, on whichever engine and however often, starts this one run.
pub fn run_of_night(space: Uuid, night: Day) -> RunId {
    RunId(Uuid::new_v5(&space, format!("dream of the night {night}").as_bytes()))
}

/// Whether the dream of a night may begin at this moment.
pub fn may_begin(now: Moment, space: &Space, night: Day) -> Result<(), NotDue> {
    let window = may_start(now, space)?;
    if window.night == night { Ok(()) } else { Err(NotDue::NightOver { night }) }
}

/// Whether a dream that starts by itself may start at this moment.
pub fn may_start(now: Moment, space: &Space) -> Result<Window, NotDue> {
    if space.mode == DreamMode::Off {
        return Err(NotDue::Off);
    }
    let zone = Zone::named(&space.zone).map_err(|_| NotDue::UnknownZone)?;
    if !is_used(space.last_used_at, now) {
        return Err(NotDue::NotUsed { last_used_at: space.last_used_at });
    }
    let window = zone.window_at(now).ok_or(NotDue::OutsideWindow)?;
    let Some(started_at) = space.last_dream_started_at else { return Ok(window) };
    let due_from = due_from(started_at);
    if now < due_from {
        return Err(NotDue::DreamedLately { started_at, due_from });
    }
    // Where a day is had twice, the same night comes again after more than 20 hours.
    if zone.window_at(started_at).is_some_and(|last| last.night == window.night) {
        return Err(NotDue::DreamedTonight { started_at });
    }
    Ok(window)
}

/// A moment from now to before the window closes, so many seconds at most from now; the same for the same space and moment.
fn spread(now: Moment, closes_at: Moment, space: &Space, seconds: u32) -> Moment {
    let last = now.plus_seconds(i64::from(seconds)).min(closes_at);
    let span = last.micros().saturating_sub(now.micros()).max(1).unsigned_abs();
    let digest = Digester::new("start of a dream in its hour").bytes(space.id.as_bytes()).short();
    let place = u128::from_be_bytes(digest) % u128::from(span);
    Moment::from_micros(now.micros().saturating_add(i64::try_from(place).unwrap_or_default()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    /// A space that was used just now and never dreamed.
    pub(in crate::realm::space) fn space(zone: &str, now: Moment) -> Space {
        Space {
            id: Uuid::from_u128(7),
            zone: zone.to_owned(),
            mode: DreamMode::Client,
            last_used_at: Some(now),
            last_dream_started_at: None,
        }
    }

    #[test]
    fn a_space_dreams_between_two_and_six_of_its_own_clock() {
        for (now, expected) in [
            ("2026-11-30T00:59:59Z", false),
            ("2026-11-30T01:00:00Z", true),
            ("2026-11-30T04:59:59.999999Z", true),
            ("2026-11-30T05:00:00Z", false),
        ] {
            let now = moment(now);
            assert_eq!(judge(now, &space("Europe/Berlin", now), SPREAD_SECONDS).is_ok(), expected, "{now}");
        }
    }

    #[test]
    fn each_rule_is_named() {
        let now = moment("2026-11-30T03:00:00Z");
        let due = space("UTC", now);
        let check = |space: Space, expected: NotDue| assert_eq!(judge(now, &space, SPREAD_SECONDS), Err(expected));
        check(Space { mode: DreamMode::Off, ..due.clone() }, NotDue::Off);
        check(Space { zone: "Mars/Olympus".into(), ..due.clone() }, NotDue::UnknownZone);
        check(Space { zone: "Asia/Tokyo".into(), ..due.clone() }, NotDue::OutsideWindow);
        check(Space { last_used_at: None, ..due.clone() }, NotDue::NotUsed { last_used_at: None });
        let long_ago = Some(now.plus_seconds(-USED_DAYS_MAX * SECONDS_PER_DAY - 1));
        check(Space { last_used_at: long_ago, ..due.clone() }, NotDue::NotUsed { last_used_at: long_ago });
        let started_at = now.plus_seconds(-20 * SECONDS_PER_HOUR + 1);
        let lately = NotDue::DreamedLately { started_at, due_from: now.plus_seconds(1) };
        check(Space { last_dream_started_at: Some(started_at), ..due.clone() }, lately);
        let week = Some(now.plus_seconds(-USED_DAYS_MAX * SECONDS_PER_DAY));
        let day = Some(now.plus_seconds(-20 * SECONDS_PER_HOUR));
        assert!(judge(now, &Space { last_used_at: week, last_dream_started_at: day, ..due }, SPREAD_SECONDS).is_ok());
    }

    #[test]
    fn a_night_that_is_had_twice_has_one_dream() {
        let (once, again) = (moment("1867-10-18T12:30:00Z"), moment("1867-10-19T12:30:00Z"));
        let juneau = space("America/Juneau", once);
        let first = may_start(once, &juneau).unwrap();
        let dreamed = Space { last_dream_started_at: Some(once), last_used_at: Some(again), ..juneau };
        assert_eq!(first.night.to_string(), "1867-10-19");
        assert_eq!(may_start(again, &dreamed), Err(NotDue::DreamedTonight { started_at: once }));
    }

    #[test]
    fn a_dream_started_by_day_is_no_dream_of_the_night_and_still_counts_its_hours() {
        let now = moment("2026-11-30T03:00:00Z");
        let by_day = |hours: i64| Space {
            last_dream_started_at: Some(now.plus_seconds(-hours * SECONDS_PER_HOUR)),
            ..space("UTC", now)
        };
        assert!(matches!(judge(now, &by_day(2), SPREAD_SECONDS), Err(NotDue::DreamedLately { .. })));
        assert!(judge(now, &by_day(21), SPREAD_SECONDS).is_ok());
    }

    #[test]
    fn the_dream_of_a_night_begins_in_that_night_alone_and_is_one_run() {
        let due = |now| judge(now, &space("UTC", now), SPREAD_SECONDS).unwrap();
        let (tonight, tomorrow) = (moment("2026-11-30T03:00:00Z"), moment("2026-12-01T03:00:00Z"));
        let night = due(tonight).night;
        assert_eq!(may_begin(tonight, &space("UTC", tonight), night), Ok(()));
        assert_eq!(may_begin(tomorrow, &space("UTC", tomorrow), night), Err(NotDue::NightOver { night }));
        let morning = moment("2026-11-30T06:00:00Z");
        assert_eq!(may_begin(morning, &space("UTC", morning), night), Err(NotDue::OutsideWindow));
        let run = |space, night| run_of_night(Uuid::from_u128(space), night);
        assert_eq!(run(7, night), run(7, due(tonight.plus_seconds(SECONDS_PER_HOUR)).night));
        assert_ne!(run(7, night), run(7, due(tomorrow).night));
        assert_ne!(run(7, night), run(8, night));
    }

    #[test]
    fn ten_thousand_spaces_start_over_the_hour_and_inside_the_window() {
        for (now, closes) in
            [("2026-11-30T02:00:00Z", "2026-11-30T03:00:00Z"), ("2026-11-30T05:50:00Z", "2026-11-30T06:00:00Z")]
        {
            let (now, closes) = (moment(now), moment(closes));
            let mut starts: Vec<Moment> = (0..10_000)
                .map(|id| Space { id: Uuid::from_u128(id), ..space("UTC", now) })
                .map(|space| judge(now, &space, SPREAD_SECONDS).unwrap().start_at)
                .collect();
            starts.sort_unstable();
            assert!(now <= starts[0] && *starts.last().unwrap() < closes);
            let seconds = closes.seconds_since(now);
            let crowd = (0..seconds).map(|second| {
                let from = now.plus_seconds(second);
                starts.partition_point(|start| *start < from.plus_seconds(1))
                    - starts.partition_point(|start| *start < from)
            });
            let even = usize::try_from(10_000 / seconds).unwrap();
            assert!(crowd.max().unwrap() < 3 * even + 12);
        }
    }
}
