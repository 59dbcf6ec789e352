//! Time zones of the IANA database that is compiled in, and the hours of the night in them.
//!
//! A zone is cut into stretches of one offset each, and the hours from 02:00 to 05:59 are intersected with them. So a
//! night is right through daylight changes, in zones that are off by minutes, where the clock leaves the hours and
//! comes back to them (two windows of one night), and where a day is left out (a night without a window) or is had
//! twice.
//!
//! **Invariant:** the machine's own zone files are never read: the same moment is in the same night wherever it is
//! asked.

use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};

use super::day::Day;
use crate::clock::Moment;

/// Local seconds since midnight at which a dream may start first: 02:00.
const OPENS_SECOND: i64 = 2 * 3_600;

/// Local seconds since midnight at which no dream may start any more: 06:00.
const CLOSES_SECOND: i64 = 6 * 3_600;

const SECONDS_PER_DAY: i64 = 86_400;

/// Seconds around a span that are looked at with it, so that a window is seen whole. A window that the clock is set
/// within lasts some hours; a day is more than any.
const MARGIN_SECONDS: i64 = SECONDS_PER_DAY;

/// Entries of the database that say that a zone is not known.
const NAMELESS: [&str; 2] = ["Etc/Unknown", "Factory"];

/// A name that no zone of the database has. A person may have typed anything there, so it is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no time zone has this name; Europe/Berlin is one")]
pub struct UnknownZone;

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// A stretch of elapsed time in which the clock shows 02:00 to 05:59 of one day. A night has one, and where the clock
/// leaves the hours and comes back, two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The local day.
    pub night: Day,
    /// Its first moment.
    pub opens_at: Moment,
    /// The first moment after it.
    pub closes_at: Moment,
}

/// Elapsed seconds of one offset.
struct Stretch {
    from: i64,
    until: i64,
    offset: i64,
}

impl Zone {
    /// The zone of that name; capitals do not matter.
    pub fn named(name: &str) -> Result<Self, UnknownZone> {
        let zone = TimeZoneDatabase::bundled().get(name).map_err(|_| UnknownZone)?;
        let known = zone.iana_name().is_some_and(|name| !NAMELESS.contains(&name));
        if known { Ok(Self(zone)) } else { Err(UnknownZone) }
    }

    /// Every name there is, sorted.
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = TimeZoneDatabase::bundled()
            .available()
            .map(|name| name.as_str().to_owned())
            .filter(|name| Self::named(name).is_ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Its name as the database spells it.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or_default()
    }

    /// The local day of a moment.
    pub fn day_of(&self, moment: Moment) -> Day {
        Day::new(self.0.to_datetime(moment.timestamp()).date())
    }

    /// What the hour hand of the clock shows at a moment, 0 to 23.
    pub fn hour_of(&self, moment: Moment) -> i8 {
        self.0.to_datetime(moment.timestamp()).hour()
    }

    /// The window that a moment is in.
    pub fn window_at(&self, moment: Moment) -> Option<Window> {
        // Most spaces of a sweep have day: that is seen from the clock alone.
        if !(OPENS_SECOND..CLOSES_SECOND).contains(&(i64::from(self.hour_of(moment)) * 3_600)) {
            return None;
        }
        let windows = self.windows_between(moment, moment.plus_seconds(1));
        windows.into_iter().find(|window| (window.opens_at..window.closes_at).contains(&moment))
    }

    /// The windows that have a moment from `from` to before `until`, in order, each in full.
    pub fn windows_between(&self, from: Moment, until: Moment) -> Vec<Window> {
        let mut windows: Vec<Window> = Vec::new();
        for stretch in self.stretches(from.plus_seconds(-MARGIN_SECONDS), until.plus_seconds(MARGIN_SECONDS)) {
            for window in windows_of(&stretch) {
                match windows.last_mut() {
                    // The clock was set within the hours and stays in them.
                    Some(last) if last.closes_at == window.opens_at && last.night == window.night => {
                        last.closes_at = window.closes_at;
                    }
                    _ => windows.push(window),
                }
            }
        }
        windows.retain(|window| window.opens_at < until && from < window.closes_at);
        windows
    }

    fn stretches(&self, from: Moment, until: Moment) -> Vec<Stretch> {
        let (from, until) = (from.timestamp(), until.timestamp());
        let mut stretches = Vec::new();
        let mut open = (from, self.0.to_offset(from));
        let changes = self.0.following(from).take_while(|change| change.timestamp() < until);
        for change in changes {
            stretches.push(stretch(open.0, change.timestamp(), open.1));
            open = (change.timestamp(), change.offset());
        }
        stretches.push(stretch(open.0, until, open.1));
        stretches
    }
}

fn stretch(from: Timestamp, until: Timestamp, offset: jiff::tz::Offset) -> Stretch {
    Stretch { from: from.as_second(), until: until.as_second(), offset: i64::from(offset.seconds()) }
}

fn windows_of(stretch: &Stretch) -> impl Iterator<Item = Window> {
    let &Stretch { from, until, offset } = stretch;
    let first = (from + offset).div_euclid(SECONDS_PER_DAY);
    let last = (until + offset).div_euclid(SECONDS_PER_DAY);
    (first..=last).filter_map(move |day| {
        let midnight = day * SECONDS_PER_DAY - offset;
        let (opens, closes) = ((midnight + OPENS_SECOND).max(from), (midnight + CLOSES_SECOND).min(until));
        (opens < closes).then(|| Window {
            night: Day::new(date(1970, 1, 1)).plus_days(day),
            opens_at: Moment::from_micros(0).plus_seconds(opens),
            closes_at: Moment::from_micros(0).plus_seconds(closes),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    /// The windows of some days in UTC, as `night hh:mm-hh:mm`.
    fn windows(zone: &str, from: &str, until: &str) -> Vec<String> {
        let clock = |moment: Moment| moment.to_string()[11..16].to_owned();
        let span = |window: &Window| format!("{} {}-{}", window.night, clock(window.opens_at), clock(window.closes_at));
        Zone::named(zone).unwrap().windows_between(moment(from), moment(until)).iter().map(span).collect()
    }

    #[test]
    fn a_night_is_an_hour_shorter_or_longer_when_the_clock_is_set() {
        let spring = windows("Europe/Berlin", "2026-03-28", "2026-03-30");
        assert_eq!(spring, ["2026-03-28 01:00-05:00", "2026-03-29 01:00-04:00"]);
        let autumn = windows("Europe/Berlin", "2026-10-24T12:00:00", "2026-10-25T12:00:00");
        assert_eq!(autumn, ["2026-10-25 00:00-05:00"]);
    }

    #[test]
    fn zones_are_off_by_minutes() {
        assert_eq!(
            windows("Asia/Kathmandu", "2026-03-28", "2026-03-29"),
            ["2026-03-28 20:15-00:15", "2026-03-29 20:15-00:15"]
        );
        let lord_howe = windows("Australia/Lord_Howe", "2026-04-04", "2026-04-05");
        // 02:00 becomes 01:30, before the window; the night starts half an hour later by elapsed time.
        assert_eq!(lord_howe, ["2026-04-05 15:30-19:30"]);
    }

    #[test]
    fn a_clock_that_leaves_the_hours_and_comes_back_makes_two_windows_of_one_night() {
        let troll = windows("Antarctica/Troll", "2026-10-24T12:00:00", "2026-10-25T12:00:00");
        assert_eq!(troll, ["2026-10-25 00:00-01:00", "2026-10-25 02:00-06:00"]);
    }

    #[test]
    fn a_day_that_was_left_out_had_no_night_and_one_that_was_had_twice_had_two() {
        let samoa = windows("Pacific/Apia", "2011-12-29", "2012-01-01");
        assert_eq!(samoa, ["2011-12-29 12:00-16:00", "2011-12-31 12:00-16:00", "2012-01-01 12:00-16:00"]);
        let alaska = windows("America/Juneau", "1867-10-17", "1867-10-20");
        let twice = alaska.iter().filter(|window| window.starts_with("1867-10-19")).count();
        assert_eq!(twice, 2, "{alaska:?}");
    }

    #[test]
    fn a_name_is_known_or_refused_and_never_taken_for_utc() {
        assert_eq!(Zone::named("europe/berlin").unwrap().name(), "Europe/Berlin");
        for name in
            ["", "Berlin", "Etc/Unknown", "Factory", "UTC+1", "/etc/localtime", "local", "Europe/Berlin ", "CEST"]
        {
            assert_eq!(Zone::named(name), Err(UnknownZone), "{name}");
        }
        assert!(Zone::names().len() > 500);
        assert!(Zone::named("UTC").is_ok());
    }

    #[test]
    fn the_ends_of_time_are_no_fault() {
        let zone = Zone::named("Pacific/Apia").unwrap();
        for micros in [i64::MIN, i64::MAX, 0] {
            let _window = zone.window_at(Moment::from_micros(micros));
            let _day = zone.day_of(Moment::from_micros(micros));
        }
    }
}
