//! Typed ids: a run is not an op, an op is not a row.
//!
//! **Invariant:** an id is never made here from a clock or from chance; it is read, passed in, or derived from content.
//! A new kind of id is one line in the list below.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! typed_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                Uuid::parse_str(text).map(Self)
            }
        }
    )+};
}

typed_ids! {
    /// One dream run; the name of everything it leaves behind.
    RunId,
    /// The effect of one op in one run: rows, undo, outbox, marks and reports carry it.
    OpId,
    /// The row id of a namespace: what content rows carry. Never the stable id.
    NamespaceId,
    /// The id a namespace keeps across its versions: what callers usually hold.
    StableNamespaceId,
}

impl OpId {
    /// The id of the effect that `content` has in `run`: UUID version 5 over the content key, in the run's name space.
    pub fn of(run: RunId, content: &ContentKey) -> Self {
        Self(Uuid::new_v5(&run.0, &content.0))
    }
}

/// SHA-256 of what an op says it will do; the same in every run that plans the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentKey(pub [u8; 32]);

impl fmt::Display for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for ContentKey {
    type Err = HexError;
    fn from_str(text: &str) -> Result<Self, HexError> {
        from_hex(text).map(Self)
    }
}

impl Serialize for ContentKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A text that should be 64 hexadecimal digits and is not.
#[derive(Debug, thiserror::Error)]
#[error("expected 64 hexadecimal digits")]
pub struct HexError;

/// Lower-case hexadecimal spelling.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

fn from_hex(text: &str) -> Result<[u8; 32], HexError> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return Err(HexError);
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = (pair[0] as char).to_digit(16).ok_or(HexError)?;
        let low = (pair[1] as char).to_digit(16).ok_or(HexError)?;
        *byte = u8::try_from(high * 16 + low).map_err(|_| HexError)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_key_reads_back_from_its_spelling() {
        let key = ContentKey([0xab; 32]);
        assert_eq!(key.to_string().parse::<ContentKey>().unwrap(), key);
    }

    #[test]
    fn the_same_content_has_another_effect_in_another_run() {
        let key = ContentKey([1; 32]);
        let (one, two) = (RunId(Uuid::from_u128(1)), RunId(Uuid::from_u128(2)));
        assert_eq!(OpId::of(one, &key), OpId::of(one, &key));
        assert_ne!(OpId::of(one, &key), OpId::of(two, &key));
    }
}
