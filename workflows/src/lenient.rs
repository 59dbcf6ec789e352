//! Inputs that cannot wedge a run.
//!
//! A payload that does not decode makes this engine fail the workflow *task*, which is tried again for ever. Here it decodes
//! into [`Lenient::Bad`] instead, so that a bad start fails the run at once and a bad signal is counted and left.

use std::error::Error;

use dream_core::run::InvalidInput;
use serde::Serialize;
use serde::de::DeserializeOwned;
use temporalio_common::data_converters::{
    GenericPayloadConverter, PayloadConversionError, SerializationContext, TemporalDeserializable,
    TemporalSerializable,
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
        Ok(match serde_json::from_slice(bytes) {
            Ok(value) => Self::Ok(value),
            Err(error) => Self::Bad(InvalidInput::Shape { advice: advice(&error) }),
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

/// What is wrong, without what stood there: serde quotes values, and a value may be anything.
fn advice(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = if text.starts_with("unknown field") {
        "a field is not known; docs/operating.md lists them"
    } else if text.starts_with("missing field") {
        // The name of the field is ours, and comes between backticks.
        return format!("field {} is missing", text.split('`').nth(1).unwrap_or("namespace"));
    } else if error.is_syntax() || error.is_eof() {
        "this is no JSON"
    } else {
        "a value is of another kind than its field"
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dream_core::run::DreamInput;

    fn advice_of(json: &str) -> String {
        advice(&serde_json::from_str::<DreamInput>(json).unwrap_err())
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
        ] {
            let advice = advice_of(json);
            assert!(advice.contains(expected), "{json}: {advice}");
            assert!(!advice.contains("secret"), "{advice}");
        }
    }
}
