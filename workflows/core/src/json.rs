//! JSON documents of a store, compared and digested by what they mean.
//!
//! **Invariant:** two documents that [`same`] calls the same have the same [`digest`], and no other two do. Spaces, the order
//! of keys and the spelling of a number mean nothing; every digit of an integer does.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use crate::digest::Digester;

/// Beyond this, floats are no longer dense enough to name an integer.
const INTEGERS_EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether both texts are documents that mean the same.
pub fn same(one: &str, two: &str) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parsed(one), parsed(two)) {
        (Some(one), Some(two)) => same_values(&one, &two),
        _ => false,
    }
}

fn same_values(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => meaning(one) == meaning(two),
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(a, b)| same_values(a, b))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len() && one.iter().all(|(key, a)| two.get(key).is_some_and(|b| same_values(a, b)))
        }
        _ => one == two,
    }
}

/// Adds what a document means; of a text that is none, the text.
#[must_use]
pub fn digest(digester: Digester, text: &str) -> Digester {
    match serde_json::from_str(text) {
        Ok(value) => digest_value(digester, &value),
        Err(_) => digester.text("unreadable").text(text),
    }
}

fn digest_value(digester: Digester, value: &Value) -> Digester {
    match value {
        Value::Null => digester.text("null"),
        Value::Bool(truth) => digester.text("bool").number(u64::from(*truth)),
        Value::Number(number) => {
            let (integer, float) = meaning(number);
            digester.text("number").bytes(&integer.to_be_bytes()).number(float)
        }
        Value::String(text) => digester.text("string").text(text),
        Value::Array(items) => items.iter().fold(digester.text("array").number(items.len() as u64), digest_value),
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            let digester = digester.text("object").number(sorted.len() as u64);
            sorted.into_iter().fold(digester, |digester, (key, value)| digest_value(digester.text(key), value))
        }
    }
}

/// What a number means: an integer, or else the bits of a float. An integer counts to its last digit, as ids of other
/// systems have 18 of them and a float holds 15; `1.0` is the integer 1.
fn meaning(number: &Number) -> (i128, u64) {
    if let Some(integer) = number.as_i128() {
        return (integer, 0);
    }
    let float = number.as_f64().unwrap_or_default();
    if float.fract() == 0.0 && float.abs() < INTEGERS_EXACT_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "just found to be an integer that fits")]
        return (float as i128, 0);
    }
    (0, float.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: &str, two: &str, expected: bool) {
        let of = |text| digest(Digester::new("test"), text).short();
        assert_eq!(same(one, two), expected, "{one} {two}");
        assert_eq!(of(one) == of(two), expected, "{one} {two}");
    }

    #[test]
    fn spelling_means_nothing() {
        check(r#"{"a":1,"b":[1.0]}"#, r#"{ "b": [1], "a": 1 }"#, true);
        check("[1e2, -0.0, 2.50]", "[100, 0, 2.5]", true);
    }

    #[test]
    fn content_does() {
        check(r#"{"a":1}"#, r#"{"a":2}"#, false);
        check("[0]", "[0.5]", false);
        check("[1, 2]", "[2, 1]", false);
        check(r#"{"a":null}"#, "{}", false);
    }

    #[test]
    fn an_integer_counts_to_its_last_digit() {
        check("[123456789012345678]", "[123456789012345679]", false);
        check("[123456789012345678]", "[123456789012345678]", true);
    }

    #[test]
    fn what_is_no_json_is_the_same_as_nothing() {
        assert!(!same("{", "}"));
    }
}
