//! What a property of a graph can hold, and its JSON.
//!
//! JSON has one kind of number and no times, so every value carries its type: `{"int":1}`, `{"float":"0.5"}`,
//! `{"date_time":[1767225600,0,0]}`. This is what an edge's `properties` and a cell's spelling are made of, and both are kept
//! by the store for as long as an op can be taken back.
//!
//! **Invariant:** what is read, kept as JSON, parsed and written is the very same property, type, zone and bits included. A
//! new type of property is a variant here and an arm in `bolt.rs`; names of variants are stored and never change.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// All properties of a node or an edge. Those that are null are not there.
pub(crate) type Properties = BTreeMap<String, Property>;

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Property {
    Bool(bool),
    Int(i64),
    Float(Float),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Property>),
    /// Memgraph stores these too.
    Map(BTreeMap<String, Property>),
    /// Days since 1970-01-01.
    Date(i64),
    /// Nanoseconds since midnight, and the offset of the zone in seconds.
    Time(i64, i64),
    /// Nanoseconds since midnight.
    LocalTime(i64),
    /// Seconds since 1970-01-01 as the clock of the zone shows them, nanoseconds, and the offset of the zone in seconds.
    DateTime(i64, i64, i64),
    /// The same with the name of the zone.
    ZonedDateTime(i64, i64, String),
    /// Seconds and nanoseconds since 1970-01-01.
    LocalDateTime(i64, i64),
    /// Months, days, seconds and nanoseconds.
    Duration(i64, i64, i64, i64),
    /// The coordinate system's number, and where.
    Point(i64, Float, Float),
    /// The same with a height.
    Point3d(i64, Float, Float, Float),
}

/// A float that keeps every bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Float(pub(crate) f64);

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

/// What the bits of something that is no number start with.
const NAN: &str = "nan:";

impl Serialize for Float {
    /// As text, because a JSON number has no infinity and is read to within a bit only.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_nan() {
            serializer.collect_str(&format_args!("{NAN}{:x}", self.0.to_bits()))
        } else {
            serializer.collect_str(&format_args!("{:?}", self.0))
        }
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let float = match text.strip_prefix(NAN) {
            Some(bits) => u64::from_str_radix(bits, 16).ok().map(f64::from_bits),
            None => text.parse().ok(),
        };
        float.map(Self).ok_or_else(|| de::Error::custom("not a float"))
    }
}

/// Writes JSON.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("names and numbers make JSON")
}

#[cfg(test)]
pub(crate) mod arbitrary {
    //! Properties as they come.

    use proptest::prelude::*;

    use super::*;

    fn float() -> impl Strategy<Value = Float> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(-0.0)
        ]
        .prop_map(Float)
    }

    fn zone() -> impl Strategy<Value = String> {
        prop_oneof![Just("Europe/Berlin".to_owned()), Just("America/St_Johns".to_owned()), any::<String>()]
    }

    /// One that is no list.
    pub(crate) fn scalar() -> impl Strategy<Value = Property> {
        use Property as P;
        prop_oneof![
            any::<bool>().prop_map(P::Bool),
            any::<i64>().prop_map(P::Int),
            float().prop_map(P::Float),
            any::<String>().prop_map(P::Text),
            any::<Vec<u8>>().prop_map(P::Bytes),
            any::<i64>().prop_map(P::Date),
            any::<(i64, i64)>().prop_map(|(nanos, offset)| P::Time(nanos, offset)),
            any::<i64>().prop_map(P::LocalTime),
            any::<(i64, i64, i64)>().prop_map(|(seconds, nanos, offset)| P::DateTime(seconds, nanos, offset)),
            (any::<i64>(), any::<i64>(), zone())
                .prop_map(|(seconds, nanos, zone)| P::ZonedDateTime(seconds, nanos, zone)),
            (-400_000_000_000..300_000_000_000i64, 0..1_000_000_000i64, zone())
                .prop_map(|(seconds, nanos, zone)| P::ZonedDateTime(seconds, nanos, zone)),
            any::<(i64, i64)>().prop_map(|(seconds, nanos)| P::LocalDateTime(seconds, nanos)),
            any::<(i64, i64, i64, i64)>().prop_map(|(m, d, s, n)| P::Duration(m, d, s, n)),
            (any::<i64>(), float(), float()).prop_map(|(system, x, y)| P::Point(system, x, y)),
            (any::<i64>(), float(), float(), float()).prop_map(|(system, x, y, z)| P::Point3d(system, x, y, z)),
        ]
    }

    /// Any of them.
    pub(crate) fn property() -> impl Strategy<Value = Property> {
        prop_oneof![
            4 => scalar(),
            1 => prop::collection::vec(scalar(), 0..4).prop_map(Property::List),
            1 => prop::collection::btree_map(any::<String>(), scalar(), 0..4).prop_map(Property::Map),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_property_comes_back_from_json_as_it_was(property in arbitrary::property()) {
            let json = to_json(&property);
            prop_assert_eq!(serde_json::from_str::<Property>(&json).unwrap(), property, "{}", json);
        }
    }

    #[test]
    fn the_json_of_a_property_is_what_stores_hold_already() {
        let properties: Properties = [
            ("a", Property::Int(1)),
            ("b", Property::Float(Float(1.0))),
            ("c", Property::Float(Float(f64::INFINITY))),
            ("d", Property::List(vec![Property::Text("x".to_owned())])),
            ("e", Property::ZonedDateTime(1, 2, "Europe/Berlin".to_owned())),
            ("f", Property::Point(4326, Float(1.5), Float(-0.0))),
            ("g", Property::Bytes(vec![0, 255])),
        ]
        .into_iter()
        .map(|(name, property)| (name.to_owned(), property))
        .collect();
        let json = r#"{"a":{"int":1},"b":{"float":"1.0"},"c":{"float":"inf"},"d":{"list":[{"text":"x"}]},"e":{"zoned_date_time":[1,2,"Europe/Berlin"]},"f":{"point":[4326,"1.5","-0.0"]},"g":{"bytes":[0,255]}}"#;
        assert_eq!(to_json(&properties), json);
        assert_eq!(serde_json::from_str::<Properties>(json).unwrap(), properties);
    }
}
