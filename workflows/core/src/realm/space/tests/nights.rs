//! The check of due spaces over every zone of the database, for two years of hourly ticks.
//!
//! The nights that a zone has are found here in another way than the check finds them: by reading the clock at every
//! tick.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::super::day::Day;
use super::super::due::tests::space;
use super::super::due::{HOURS_BETWEEN_MIN, NotDue, SPREAD_SECONDS, judge, may_start};
use super::super::fact::Space;
use super::super::zone::Zone;
use crate::clock::Moment;

const HOUR: i64 = 3_600;
const TICKS: i64 = 2 * 366 * 24;

/// What is tried: the rules of today, on the hour, and off the hour the years in which Samoa left a day out.
const STARTS: [&str; 2] = ["2026-01-01T00:00:00Z", "2011-01-01T00:37:11Z"];

/// When a worker is down, in hours of each period of so many.
#[derive(Clone, Copy)]
struct Outage {
    every_hours: i64,
    down_hours: i64,
}

const NEVER: Outage = Outage { every_hours: TICKS, down_hours: 0 };
/// Periods that are no multiple of a day, so that the outage comes at every hour of some night.
const THREE_HOURS: Outage = Outage { every_hours: 41, down_hours: 3 };
const A_NIGHT: Outage = Outage { every_hours: 101, down_hours: 12 };
const A_WEEK: Outage = Outage { every_hours: 27 * 24 + 5, down_hours: 7 * 24 };

impl Outage {
    fn is_down(self, from: Moment, now: Moment) -> bool {
        now.seconds_since(from).rem_euclid(self.every_hours * HOUR) < self.down_hours * HOUR
    }
}

/// One dream that was started.
struct Dream {
    night: Day,
    started_at: Moment,
}

/// Nights of a zone: at how many ticks the worker could have started a dream in each.
type Nights = BTreeMap<Day, u32>;

/// What a worker does that asks at every tick, starts what is due when its time comes, asking again, and is down at
/// times.
fn live(zone: &Zone, from: Moment, outage: Outage) -> (Vec<Dream>, Nights) {
    let mut space = space(zone.name(), from);
    let (mut dreams, mut nights, mut waiting) = (Vec::<Dream>::new(), Nights::new(), None::<Moment>);
    for tick in 0..TICKS {
        let now = from.plus_seconds(tick * HOUR);
        if outage.is_down(from, now) {
            continue;
        }
        space.last_used_at = Some(now);
        // What came due while the worker was up started on time; what came due in an outage starts now, if it still
        // may.
        if let Some(start_at) = waiting.take() {
            let at = if outage.is_down(from, start_at) { now } else { start_at };
            start(&mut space, at, &mut dreams);
        }
        match judge(now, &space, SPREAD_SECONDS) {
            Ok(due) => {
                assert!(now <= due.start_at && due.start_at < now.plus_seconds(HOUR));
                assert_eq!(zone.day_of(due.start_at), due.night, "{} {now}", zone.name());
                waiting = Some(due.start_at);
            }
            Err(NotDue::OutsideWindow) => assert!(!clock_shows_night(zone, now), "{} {now}", zone.name()),
            Err(_) => assert!(clock_shows_night(zone, now), "{} {now}", zone.name()),
        }
        if clock_shows_night(zone, now) {
            *nights.entry(zone.day_of(now)).or_default() += 1;
        }
    }
    (dreams, nights)
}

fn start(space: &mut Space, at: Moment, dreams: &mut Vec<Dream>) {
    if let Ok(window) = may_start(at, space) {
        dreams.push(Dream { night: window.night, started_at: at });
        space.last_dream_started_at = Some(at);
    }
}

/// By the text of the clock alone.
fn clock_shows_night(zone: &Zone, now: Moment) -> bool {
    (2..6).contains(&zone.hour_of(now))
}

/// Zones of which no two have the same nights.
fn zones(from: Moment) -> Vec<Zone> {
    let mut distinct = BTreeMap::new();
    for name in Zone::names() {
        let zone = Zone::named(&name).unwrap();
        let windows = zone.windows_between(from, from.plus_seconds(TICKS * HOUR));
        let shape: Vec<(i64, i64)> = windows.iter().map(|w| (w.opens_at.micros(), w.closes_at.micros())).collect();
        distinct.entry(shape).or_insert(zone);
    }
    distinct.into_values().collect()
}

fn check(outage: Outage, also: impl Fn(&Zone, &[Dream], &Nights) + Sync) {
    for from in STARTS.map(|text| text.parse::<Moment>().unwrap()) {
        let zones = zones(from);
        assert!(zones.len() > 60, "{} kinds of nights", zones.len());
        zones.par_iter().for_each(|zone| {
            let (dreams, nights) = live(zone, from, outage);
            for pair in dreams.windows(2) {
                let elapsed = pair[1].started_at.micros() - pair[0].started_at.micros();
                assert!(elapsed >= HOURS_BETWEEN_MIN * HOUR * 1_000_000, "{} {}", zone.name(), pair[1].night);
                assert!(pair[0].night < pair[1].night, "{}: two dreams on {}", zone.name(), pair[1].night);
            }
            assert!(dreams.iter().all(|dream| clock_shows_night(zone, dream.started_at)), "{}", zone.name());
            also(zone, &dreams, &nights);
        });
    }
}

/// The nights in which no dream started although there was a tick, the last night of the run left out.
fn missed(dreams: &[Dream], nights: &Nights) -> Vec<Day> {
    let mut missed: Vec<Day> = nights.keys().copied().collect();
    missed.pop();
    missed.retain(|night| dreams.iter().all(|dream| dream.night != *night));
    missed
}

#[test]
fn every_zone_dreams_once_in_every_night_it_has() {
    check(NEVER, |zone, dreams, nights| {
        assert_eq!(missed(dreams, nights), [], "{}", zone.name());
        assert!(nights.len() >= 729, "{} has {} nights", zone.name(), nights.len());
    });
}

#[test]
fn a_worker_that_was_down_for_three_hours_still_dreams_in_what_is_left_of_the_night() {
    check(THREE_HOURS, |zone, dreams, nights| {
        // One tick may be left whose start comes late in the hour, when the worker is down again or the night is over.
        let fair = |night: &Day| nights[night] > 1;
        let missed: Vec<Day> = missed(dreams, nights).into_iter().filter(fair).collect();
        assert_eq!(missed, [], "{}", zone.name());
    });
}

#[test]
fn a_worker_that_was_down_for_a_night_leaves_that_night_out_and_no_other() {
    check(A_NIGHT, |zone, dreams, nights| {
        let fair = |night: &Day| nights[night] > 1;
        let missed: Vec<Day> = missed(dreams, nights).into_iter().filter(fair).collect();
        assert_eq!(missed, [], "{}", zone.name());
        assert!(nights.len() < 729, "{}: no night was left out", zone.name());
    });
}

#[test]
fn a_worker_that_was_down_for_a_week_does_not_catch_up_on_its_nights() {
    check(A_WEEK, |zone, dreams, nights| {
        let first_nights = nights.keys().zip(nights.keys().skip(1));
        let gaps = first_nights.filter(|(one, next)| one.plus_days(5) < **next).count();
        assert!(gaps >= 20, "{}: {gaps} outages", zone.name());
        assert!(dreams.len() <= nights.len());
    });
}
