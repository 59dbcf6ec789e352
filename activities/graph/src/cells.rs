//! Cells of rows as properties of nodes and edges, and back.
//!
//! Khora keeps ids as text, JSON as text, the validity of memories as times and everything else about times as ISO text.
//! What is there in another way is read all the same where it says the same, and its own spelling goes with the cell, so that
//! undo gives back the very property.
//!
//! **Invariant:** a cell that was read and is written unchanged leaves the property as it was found, type and zone included.

use std::ops::RangeInclusive;

use dream_core::change::{Cell, Column, Value, ValueKind};
use dream_core::clock::Moment;
use uuid::Uuid;

use crate::bolt;
use crate::property::{Float, Property, to_json};

const MICROS: i64 = 1_000_000;

/// The columns of a node's row that Khora keeps in its graph, each under its own name.
pub(crate) const NODE: &[Column] = &[
    Column::Name,
    Column::EntityType,
    Column::Description,
    Column::Attributes,
    Column::SourceDocumentIds,
    Column::SourceChunkIds,
    Column::MentionCount,
    Column::ValidUntil,
    Column::Confidence,
    Column::Metadata,
    Column::CreatedAt,
    Column::UpdatedAt,
];

/// The columns of an edge's row that Khora keeps as properties.
pub(crate) const EDGE: &[Column] = &[
    Column::Description,
    Column::Properties,
    Column::SourceDocumentIds,
    Column::SourceChunkIds,
    Column::ValidFrom,
    Column::ValidUntil,
    Column::Confidence,
    Column::Weight,
    Column::Metadata,
    Column::CreatedAt,
    Column::UpdatedAt,
];

/// The cell that a property is; none where it cannot be one of that column.
pub(crate) fn read(column: Column, found: &Property) -> Option<Cell> {
    let value = value(column.kind(), found)?;
    let is_own = property(column, &value).as_ref() == Some(found);
    Some(Cell { value, spelling: (!is_own).then(|| to_json(found).into()) })
}

fn value(kind: ValueKind, found: &Property) -> Option<Value> {
    Some(match (kind, found) {
        (ValueKind::Bool, Property::Bool(truth)) => Value::Bool(*truth),
        (ValueKind::Int, Property::Int(number)) => Value::Int(*number),
        (ValueKind::Int, Property::Float(number)) => Value::Int(whole(number.0)?),
        (ValueKind::Float, Property::Float(number)) => Value::Float(number.0),
        (ValueKind::Float, Property::Int(number)) => Value::Float(exact(*number)?),
        (ValueKind::Text, Property::Text(text)) => Value::Text(text.clone()),
        (ValueKind::Json, Property::Text(text)) => Value::Json(text.clone()),
        (ValueKind::Id, found) => Value::Id(id(found)?),
        (ValueKind::Ids, Property::List(list)) => Value::Ids(list.iter().map(id).collect::<Option<_>>()?),
        (ValueKind::Time, found) => Value::Time(moment(found)?),
        _ => return None,
    })
}

/// Floats name every integer up to here.
const INTEGERS_EXACT_MAX: i64 = 1 << 53;

fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is looked at whether anything was lost")]
    let integer = number as i64;
    (exact(integer)?.to_bits() == number.to_bits()).then_some(integer)
}

fn exact(number: i64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "none within these bounds")]
    (-INTEGERS_EXACT_MAX..=INTEGERS_EXACT_MAX).contains(&number).then_some(number as f64)
}

/// The id that a property is.
pub(crate) fn id(found: &Property) -> Option<Uuid> {
    let Property::Text(text) = found else { return None };
    Uuid::parse_str(text).ok()
}

/// The moment that a property is, to the microsecond; the ends of time stand for what is beyond them. A time without a zone
/// is one in UTC, as Khora means it.
pub(crate) fn moment(found: &Property) -> Option<Moment> {
    let at = |seconds: i64, nanos: i64| {
        Moment::from_micros(seconds.saturating_mul(MICROS).saturating_add(nanos.div_euclid(1_000)))
    };
    match found {
        // So far off no zone matters, and no calendar of this program's reaches.
        Property::ZonedDateTime(seconds, nanos, _) if !YEARS_OF_FOUR_DIGITS.contains(seconds) => {
            Some(at(*seconds, *nanos))
        }
        Property::DateTime(seconds, nanos, offset) => Some(at(seconds.saturating_sub(*offset), *nanos)),
        Property::LocalDateTime(seconds, nanos) => Some(at(*seconds, *nanos)),
        Property::ZonedDateTime(seconds, nanos, zone) => zoned(*seconds, *nanos, zone),
        Property::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// Seconds since 1970, of somewhat less than ten thousand years either way.
const YEARS_OF_FOUR_DIGITS: RangeInclusive<i64> = -377_000_000_000..=253_000_000_000;

/// Longer than any clock was ever set back at once.
const CLOCK_SET_BACK_MAX: i64 = 6 * 60 * 60;

fn zoned(seconds: i64, nanos: i64, zone: &str) -> Option<Moment> {
    // In an hour that a clock shows twice, the first one is meant: its offset is the one of some hours before.
    [0, CLOCK_SET_BACK_MAX].into_iter().find_map(|back| {
        let before = Property::ZonedDateTime(seconds.saturating_sub(back), nanos, zone.to_owned());
        let moment: Moment = bolt::spelled(&before)?.parse().ok()?;
        Some(moment.plus_seconds(back))
    })
}

/// The property that Khora would keep for a value; none for null, and for what no graph holds.
pub(crate) fn property(column: Column, value: &Value) -> Option<Property> {
    Some(match value {
        Value::Null | Value::Vector(_) => return None,
        Value::Bool(truth) => Property::Bool(*truth),
        Value::Int(number) => Property::Int(*number),
        Value::Float(number) => Property::Float(Float(*number)),
        Value::Text(text) | Value::Json(text) => Property::Text(text.clone()),
        Value::Id(id) => Property::Text(id.to_string()),
        Value::Ids(ids) => Property::List(ids.iter().map(|id| Property::Text(id.to_string())).collect()),
        Value::Time(at) if matches!(column, Column::ValidFrom | Column::ValidUntil) => time(*at),
        Value::Time(at) => Property::Text(iso(*at)),
    })
}

/// The property of a cell in its own spelling, if it has one. `Err` where that is none of a graph's.
pub(crate) fn spelled(column: Column, cell: &Cell) -> Result<Option<Property>, serde_json::Error> {
    cell.spelling.as_ref().map_or_else(|| Ok(property(column, &cell.value)), |spelling| serde_json::from_str(spelling))
}

/// A moment as the validity of a memory.
pub(crate) fn time(at: Moment) -> Property {
    Property::DateTime(at.micros().div_euclid(MICROS), at.micros().rem_euclid(MICROS) * 1_000, 0)
}

/// A moment as Khora writes it down: as Python does, without a fraction where there is none.
pub(crate) fn iso(at: Moment) -> String {
    let text = at.to_string();
    let text = text.strip_suffix('Z').unwrap_or(&text);
    format!("{}+00:00", text.strip_suffix(".000000").unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::property::arbitrary;

    fn columns() -> impl Strategy<Value = Column> {
        prop::sample::select([NODE, EDGE].concat())
    }

    proptest! {
        #[test]
        fn a_cell_that_was_read_is_written_as_it_was_found(column in columns(), found in arbitrary::property()) {
            if let Some(cell) = read(column, &found) {
                prop_assert_eq!(spelled(column, &cell).unwrap(), Some(found));
            }
        }

        #[test]
        fn what_this_program_writes_needs_no_spelling(micros in -60_000_000_000_000_000..240_000_000_000_000_000i64) {
            let at = Value::Time(Moment::from_micros(micros));
            for column in [Column::ValidUntil, Column::CreatedAt] {
                let cell = read(column, &property(column, &at).unwrap()).unwrap();
                prop_assert_eq!(cell, Cell::from(at.clone()));
            }
        }
    }

    #[test]
    fn every_way_to_spell_a_moment_is_the_same_moment() {
        let expected = Moment::from_micros(1_772_334_245_123_456);
        let berlin = "Europe/Berlin".to_owned();
        for found in [
            Property::Text("2026-03-01T03:04:05.123456+00:00".to_owned()),
            Property::Text("2026-03-01T04:04:05.123456+01:00".to_owned()),
            Property::DateTime(1_772_334_245, 123_456_000, 0),
            Property::DateTime(1_772_337_845, 123_456_789, 3_600),
            Property::ZonedDateTime(1_772_337_845, 123_456_000, berlin.clone()),
            Property::LocalDateTime(1_772_334_245, 123_456_000),
        ] {
            assert_eq!(moment(&found), Some(expected), "{found:?}");
        }
        // The clocks of Berlin show half past two twice on that night, first at half past midnight in UTC.
        let twice = Property::ZonedDateTime(1_792_895_400, 0, berlin);
        assert_eq!(moment(&twice).unwrap().to_string(), "2026-10-25T00:30:00.000000Z");
    }

    #[test]
    fn a_moment_is_written_as_khora_writes_it() {
        let iso = |text: &str| iso(text.parse().unwrap());
        assert_eq!(iso("2026-01-01T00:00:00.123456Z"), "2026-01-01T00:00:00.123456+00:00");
        assert_eq!(iso("2026-01-01T00:00:00.100Z"), "2026-01-01T00:00:00.100000+00:00");
        assert_eq!(iso("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00+00:00");
    }

    #[test]
    fn what_is_of_another_kind_is_not_read() {
        let text = || Property::Text("three".to_owned());
        for (column, found) in [
            (Column::MentionCount, text()),
            (Column::MentionCount, Property::Float(Float(3.5))),
            (Column::MentionCount, Property::Float(Float(f64::NAN))),
            (Column::Name, Property::List(vec![text()])),
            (Column::SourceChunkIds, Property::List(vec![text()])),
            (Column::ValidUntil, text()),
            (Column::Metadata, Property::Int(1)),
        ] {
            assert_eq!(read(column, &found), None, "{column}: {found:?}");
        }
        assert_eq!(read(Column::MentionCount, &Property::Float(Float(3.0))).unwrap().value, Value::Int(3));
        assert_eq!(read(Column::Confidence, &Property::Int(1)).unwrap().value, Value::Float(1.0));
    }
}
