//! Inputs that cannot wedge a run.
//!
//! A payload that does not decode makes this engine fail the workflow *task*, which is tried again for ever. Here it decodes
//! into [`Lenient::Bad`] instead, so that a bad start fails the run at once and a bad signal is counted and left.

use std::error::Error;

use dream_core::run::{InvalidInput, Mode, Trigger};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};
use temporalio_common::data_converters::{
    GenericPayloadConverter, PayloadConversionError, SerializationContext, TemporalDeserializable, TemporalSerializable,
};
use temporalio_common::protos::temporal::api::common::v1::Payload;

/// A value that decoded, or why it did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lenient<T> {
    /// It fits.
    Ok(T),
    /// It does not.
    Bad(InvalidInput),
}

impl<T> Lenient<T> {
    /// The value, or why there is none.
    pub fn get(self) -> Result<T, InvalidInput> {
        match self {
            Self::Ok(value) => Ok(value),
            Self::Bad(invalid) => Err(invalid),
        }
    }
}

impl<T> From<T> for Lenient<T> {
    fn from(value: T) -> Self {
        Self::Ok(value)
    }
}

// The SDK has a blanket implementation for everything that serde serialises, so this type must not.
impl<T: Serialize + 'static> TemporalSerializable for Lenient<T> {
    fn to_payload(&self, context: &SerializationContext<'_>) -> Result<Payload, PayloadConversionError> {
        match self {
            Self::Ok(value) => context.converter.to_payload(context, value),
            Self::Bad(invalid) => {
                let error: Box<dyn Error + Send + Sync> = invalid.to_string().into();
                Err(PayloadConversionError::EncodingError(error))
            }
        }
    }
}

impl<T: DeserializeOwned> TemporalDeserializable for Lenient<T> {
    fn from_payload(_: &SerializationContext<'_>, payload: Payload) -> Result<Self, PayloadConversionError> {
        let bytes = if payload.data.is_empty() { b"null" } else { payload.data.as_slice() };
        Ok(match read(bytes) {
            Ok(value) => Self::Ok(value),
            Err(advice) => Self::Bad(InvalidInput::Shape { advice }),
        })
    }

    fn from_payloads(
        context: &SerializationContext<'_>,
        mut payloads: Vec<Payload>,
    ) -> Result<Self, PayloadConversionError> {
        match payloads.len() {
            0 => Self::from_payload(context, Payload::default()),
            1 => Self::from_payload(context, payloads.remove(0)),
            count => Ok(Self::Bad(InvalidInput::Shape { advice: format!("expected one argument, got {count}") })),
        }
    }
}

/// Names of fields of inputs, of updates and of signals. Only these are ever repeated: any other name is a sender's, and may
/// be anything.
const FIELDS: &[&str] = &[
    "abandon",
    "after",
    "by",
    "checked_at",
    "document_ids",
    "dry_run",
    "enable",
    "entity_ids",
    "entity_types",
    "expected_plan_hash",
    "expertise",
    "force_liveness",
    "graph_wait_seconds",
    "keep",
    "mind",
    "mode",
    "name",
    "namespace",
    "night",
    "op_id",
    "ops",
    "outcomes",
    "overwrite",
    "plan_hash",
    "plan_of",
    "realm",
    "relationship_types",
    "resume_from",
    "review_wait_seconds",
    "run_id",
    "scope",
    "since",
    "so_far",
    "space",
    "spread_seconds",
    "store",
    "trigger",
    "until",
    "without_graph",
];

/// Reads a value, or says what is wrong with it.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value =
        serde_path_to_error::deserialize(&mut json).map_err(|error| advice(error.inner(), Some(error.path())))?;
    json.end().map_err(|error| advice(&error, None))?;
    Ok(value)
}

/// What is wrong, without what stood there: serde quotes values, and a value may be anything.
fn advice(error: &serde_json::Error, path: Option<&Path>) -> String {
    let text = error.to_string();
    let field = path.map(field).unwrap_or_default();
    let what = if text.starts_with("unknown field") {
        let inside = if field.is_empty() { String::new() } else { format!(" of {field}") };
        format!("a field{inside} is not known; docs/operating.md lists them")
    } else if text.starts_with("missing field") {
        // The name of the field is ours, and comes between backticks.
        let missing = text.split('`').nth(1).unwrap_or("namespace");
        return format!("field {} is missing", [&field, missing].join(".").trim_start_matches('.'));
    } else if error.is_syntax() || error.is_eof() {
        "this is no JSON".to_owned()
    } else if field.is_empty() {
        "a value is of another kind than its field".to_owned()
    } else {
        format!("field {field}: a value is of another kind than its field{}", path.map(expected).unwrap_or_default())
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

/// The field as a path, as far as it is made of names that are ours.
fn field(path: &Path) -> String {
    let mut field = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } if FIELDS.contains(&key.as_str()) => {
                if !field.is_empty() {
                    field.push('.');
                }
                field.push_str(key);
            }
            Segment::Seq { index } => field.push_str(&format!("[{index}]")),
            _ => break,
        }
    }
    field
}

/// What a field may hold that takes one of a few words.
fn expected(path: &Path) -> String {
    let words: Vec<&str> = match path.iter().next_back() {
        Some(Segment::Map { key }) if key == "mode" => Mode::ALL.iter().map(|mode| mode.as_str()).collect(),
        Some(Segment::Map { key }) if key == "trigger" => Trigger::ALL.iter().map(|trigger| trigger.as_str()).collect(),
        _ => return String::new(),
    };
    format!(", expected one of {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dream_core::run::DreamInput;

    use crate::contract::{DueInput, PauseWord, PlanWord, UndoInput};
    use crate::start::DreamAllInput;

    fn advice_of(json: &str) -> String {
        read::<DreamInput>(json.as_bytes()).unwrap_err()
    }

    #[test]
    fn what_is_wrong_is_said_and_what_stood_there_is_not() {
        for (json, expected) in [
            (r#"{"namespace": 42}"#, "another kind"),
            (r#"{"namespace": "x", "secret": 1}"#, "not known"),
            (r#"{"mode": "dry-run"}"#, "field namespace is missing"),
            (r#"{"namespace": "x", "mode": "secret"}"#, "another kind"),
            (r#"{"namespace": "secret"#, "no JSON"),
            ("null", "another kind"),
            (r#"{"namespace": "x"} secret"#, "no JSON"),
        ] {
            let advice = advice_of(json);
            assert!(advice.contains(expected), "{json}: {advice}");
            assert!(!advice.contains("secret"), "{advice}");
        }
    }

    #[test]
    fn the_field_that_does_not_fit_is_named_by_its_path() {
        for (json, expected) in [
            (r#"{"namespace": 42}"#, "field namespace:"),
            (r#"{"namespace": "x", "mode": "secret"}"#, "field mode:"),
            (r#"{"namespace": "x", "mode": "secret"}"#, "expected one of dry-run, apply, review"),
            (r#"{"namespace": "x", "trigger": "secret"}"#, "expected one of manual, schedule"),
            (r#"{"namespace": "x", "scope": {"since": "secret"}}"#, "field scope.since:"),
            (r#"{"namespace": "x", "scope": {"secret": 1}}"#, "a field of scope is not known"),
            (r#"{"namespace": "x", "scope": {"entity_ids": ["secret"]}}"#, "field scope.entity_ids[0]:"),
            (r#"{"namespace": "x", "ops": [1]}"#, "field ops[0]:"),
            (r#"{"namespace": "x", "resume_from": "secret"}"#, "field resume_from:"),
            (
                r#"{"namespace": "x", "expertise": {"entity_types": [{"secret": 1}]}}"#,
                "field expertise.entity_types[0]:",
            ),
        ] {
            let advice = advice_of(json);
            assert!(advice.contains(expected), "{json}: {advice}");
            assert!(!advice.contains("secret"), "{advice}");
        }
    }

    #[test]
    fn a_name_that_is_a_senders_ends_the_path() {
        let advice = read::<DreamAllInput>(br#"{"outcomes": {"secret": "many"}}"#).unwrap_err();
        assert!(advice.starts_with("field outcomes:") && !advice.contains("secret"), "{advice}");
    }

    #[test]
    fn every_field_of_ours_can_be_named() {
        let of = |error: Option<serde_json::Error>| error.unwrap().to_string();
        let unknown = r#"{"?": 1}"#;
        let texts = [
            of(serde_json::from_str::<DreamInput>(unknown).err()),
            of(serde_json::from_str::<DreamInput>(r#"{"scope": {"?": 1}}"#).err()),
            of(serde_json::from_str::<DreamAllInput>(unknown).err()),
            of(serde_json::from_str::<DueInput>(unknown).err()),
            of(serde_json::from_str::<UndoInput>(unknown).err()),
            of(serde_json::from_str::<PlanWord>(unknown).err()),
            of(serde_json::from_str::<PauseWord>(unknown).err()),
        ];
        for text in texts {
            let (_, names) = text.split_once("expected ").unwrap();
            for name in names.split('`').skip(1).step_by(2) {
                assert!(FIELDS.contains(&name), "{name}");
            }
        }
    }
}
