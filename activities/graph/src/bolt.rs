//! Properties in the types of the driver, and back.
//!
//! The driver opens its times only by way of a calendar that ends earlier than the server's and panics on odd offsets, so
//! their fields are taken out, and put in, over its own (de)serialization, number by number.
//!
//! **Invariant:** nothing here interprets a value; what the wire carried is what a [`Property`] holds.

use std::collections::BTreeMap;
use std::fmt;

use neo4rs::{
    BoltDuration, BoltFloat, BoltInteger, BoltList, BoltMap, BoltPoint2D, BoltPoint3D, BoltString, BoltType, DeError,
};
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::Value as Json;

use crate::property::{Float, Properties, Property};

/// The property that the driver read; none where it is null, or nothing that can be stored.
pub(crate) fn property(bolt: &BoltType) -> Option<Property> {
    Some(match bolt {
        BoltType::Boolean(truth) => Property::Bool(truth.value),
        BoltType::Integer(number) => Property::Int(number.value),
        BoltType::Float(number) => Property::Float(Float(number.value)),
        BoltType::String(text) => Property::Text(text.value.clone()),
        BoltType::Bytes(bytes) => Property::Bytes(bytes.value.to_vec()),
        BoltType::List(list) => Property::List(list.iter().map(property).collect::<Option<_>>()?),
        BoltType::Map(map) => Property::Map(properties(map)?),
        BoltType::Point2D(point) => Property::Point(point.sr_id.value, Float(point.x.value), Float(point.y.value)),
        BoltType::Point3D(point) => {
            let [x, y, z] = [&point.x, &point.y, &point.z].map(|coordinate| Float(coordinate.value));
            Property::Point3d(point.sr_id.value, x, y, z)
        }
        BoltType::Duration(_) => {
            let [months, days, seconds, nanos] = Fields::of(bolt)?.duration;
            Property::Duration(months, days, seconds, nanos)
        }
        BoltType::Date(_) => Property::Date(Fields::of(bolt)?.days),
        BoltType::Time(_) => {
            let fields = Fields::of(bolt)?;
            Property::Time(fields.nano_seconds, fields.tz_offset_seconds)
        }
        BoltType::LocalTime(_) => Property::LocalTime(Fields::of(bolt)?.nano_seconds),
        BoltType::DateTime(_) => {
            let fields = Fields::of(bolt)?;
            Property::DateTime(fields.seconds, fields.nano_seconds, fields.tz_offset_seconds)
        }
        BoltType::DateTimeZoneId(_) => {
            let fields = Fields::of(bolt)?;
            Property::ZonedDateTime(fields.seconds, fields.nano_seconds, fields.tz_info)
        }
        BoltType::LocalDateTime(_) => {
            let fields = Fields::of(bolt)?;
            Property::LocalDateTime(fields.seconds, fields.nano_seconds)
        }
        BoltType::Null(_)
        | BoltType::Node(_)
        | BoltType::Relation(_)
        | BoltType::UnboundedRelation(_)
        | BoltType::Path(_) => return None,
    })
}

/// The properties that the driver read; none where one of them is nothing that can be stored.
pub(crate) fn properties(map: &BoltMap) -> Option<Properties> {
    let stored = map.value.iter().filter(|(_, value)| !matches!(value, BoltType::Null(_)));
    stored.map(|(name, value)| Some((name.value.clone(), property(value)?))).collect()
}

/// Properties for the driver.
pub(crate) fn map(properties: &BTreeMap<String, Property>) -> BoltMap {
    properties.iter().map(|(name, value)| (BoltString::new(name), bolt(value))).collect()
}

/// A property for the driver.
pub(crate) fn bolt(property: &Property) -> BoltType {
    match property {
        Property::Bool(truth) => (*truth).into(),
        Property::Int(number) => (*number).into(),
        Property::Float(Float(number)) => (*number).into(),
        Property::Text(text) => text.as_str().into(),
        Property::Bytes(bytes) => bytes.as_slice().into(),
        Property::List(list) => BoltType::List(BoltList::from(list.iter().map(bolt).collect::<Vec<_>>())),
        Property::Map(properties) => BoltType::Map(map(properties)),
        Property::Point(system, x, y) => {
            let [x, y] = [x, y].map(|coordinate| BoltFloat::new(coordinate.0));
            BoltType::Point2D(BoltPoint2D { sr_id: BoltInteger::new(*system), x, y })
        }
        Property::Point3d(system, x, y, z) => {
            let [x, y, z] = [x, y, z].map(|coordinate| BoltFloat::new(coordinate.0));
            BoltType::Point3D(BoltPoint3D { sr_id: BoltInteger::new(*system), x, y, z })
        }
        Property::Duration(months, days, seconds, nanos) => {
            let [months, days, seconds, nanos] = [*months, *days, *seconds, *nanos].map(BoltInteger::new);
            BoltType::Duration(BoltDuration::new(months, days, seconds, nanos))
        }
        Property::Date(days) => built("date", vec![("days", (*days).into())]),
        Property::Time(nanos, offset) => {
            built("time", vec![("nano_seconds", (*nanos).into()), ("tz_offset_seconds", (*offset).into())])
        }
        Property::LocalTime(nanos) => built("local_time", vec![("nano_seconds", (*nanos).into())]),
        Property::DateTime(seconds, nanos, offset) => built(
            "date_time",
            vec![
                ("seconds", (*seconds).into()),
                ("nano_seconds", (*nanos).into()),
                ("tz_offset_seconds", (*offset).into()),
            ],
        ),
        Property::ZonedDateTime(seconds, nanos, zone) => built(
            "date_time_zone_id",
            vec![("seconds", (*seconds).into()), ("nano_seconds", (*nanos).into()), ("tz_info", zone.as_str().into())],
        ),
        Property::LocalDateTime(seconds, nanos) => {
            built("local_date_time", vec![("seconds", (*seconds).into()), ("nano_seconds", (*nanos).into())])
        }
    }
}

/// The numbers in a value of a time, whichever it has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    days: i64,
    seconds: i64,
    nano_seconds: i64,
    tz_offset_seconds: i64,
    tz_info: String,
    duration: [i64; 4],
}

impl Fields {
    fn of(bolt: &BoltType) -> Option<Self> {
        // By this name the driver gives a value as it is instead of as what is asked for.
        bolt.into_deserializer().deserialize_enum(std::any::type_name::<BoltType>(), &[], FieldsVisitor).ok()
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time or a duration")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Fields, A::Error> {
        let (_, variant) = data.variant::<serde::de::IgnoredAny>()?;
        variant.tuple_variant(1, self)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fields, A::Error> {
        Fields::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Fields, A::Error> {
        let duration = Deserialize::deserialize(SeqAccessDeserializer::new(sequence))?;
        Ok(Fields { duration, ..Fields::default() })
    }
}

fn built(kind: &'static str, fields: Vec<(&'static str, Json)>) -> BoltType {
    BoltType::deserialize(Building { kind, fields }).expect("these are the driver's own names of its fields")
}

/// A time on its way into the driver.
struct Building {
    kind: &'static str,
    fields: Vec<(&'static str, Json)>,
}

impl<'de> Deserializer<'de> for Building {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Building {
    type Error = serde_json::Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Self::Error> {
        let kind = seed.deserialize(IntoDeserializer::<Self::Error>::into_deserializer(self.kind))?;
        Ok((kind, self))
    }
}

impl<'de> VariantAccess<'de> for Building {
    type Error = serde_json::Error;

    fn unit_variant(self) -> Result<(), Self::Error> {
        Err(serde::de::Error::custom("a time has fields"))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Self::Error> {
        Err(serde::de::Error::custom("a time has fields"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_map(MapDeserializer::new(self.fields.into_iter()))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Self::Error> {
        self.tuple_variant(0, visitor)
    }
}

/// A time with a zone by name, in ISO 8601 with the offset that the zone has then. None where the zone is unknown, or the
/// clock shows that time twice.
pub(crate) fn spelled(zoned: &Property) -> Option<String> {
    let bolt = bolt(zoned);
    let spelled: Result<String, DeError> = String::deserialize((&bolt).into_deserializer());
    spelled.ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::property::arbitrary;

    proptest! {
        #[test]
        fn every_property_comes_back_from_the_driver_as_it_was(property in arbitrary::property()) {
            prop_assert_eq!(super::property(&bolt(&property)), Some(property));
        }
    }

    #[test]
    fn a_zone_by_name_has_the_offset_of_that_day() {
        let zoned = |seconds| Property::ZonedDateTime(seconds, 123_456_000, "Europe/Berlin".to_owned());
        assert_eq!(spelled(&zoned(1_782_864_000)).unwrap(), "2026-07-01T00:00:00.123456+02:00");
        assert_eq!(spelled(&zoned(1_767_225_600)).unwrap(), "2026-01-01T00:00:00.123456+01:00");
        assert_eq!(spelled(&Property::ZonedDateTime(0, 0, "Atlantis".to_owned())), None);
    }
}
