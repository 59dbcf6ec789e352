//! Zones in which it is night now, whenever a test runs.

use std::time::SystemTime;

use dream_core::clock::Moment;

/// A zone whose clocks show this hour now.
pub fn zone_where_it_is(hour: i64) -> String {
    let utc = now().seconds_since(Moment::from_micros(0)) / 3_600 % 24;
    // From 12 hours behind to 11 ahead; the names have the sign that people on ships gave them.
    match (hour - utc + 12).rem_euclid(24) - 12 {
        0 => "Etc/GMT".to_owned(),
        ahead if ahead > 0 => format!("Etc/GMT-{ahead}"),
        behind => format!("Etc/GMT+{}", -behind),
    }
}

/// A zone where it is night, and stays it for the time of a test.
pub fn night() -> String {
    zone_where_it_is(3)
}

/// The time by the machine's clock, which is that of the stores too.
pub fn now() -> Moment {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Moment::from_micros(i64::try_from(now.as_micros()).unwrap())
}
