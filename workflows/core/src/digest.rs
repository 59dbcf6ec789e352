//! One way to turn values into digests, so that the same content has the same digest everywhere and for ever.
//!
//! **Invariant:** every field is written with its length in front, so that no two different contents spell the same bytes.
//! A digest of memory text is always keyed ([`TextKey`]): an unkeyed one could be guessed from a list of names.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::id::hex;

/// Collects fields into a SHA-256.
#[derive(Default)]
pub struct Digester(Sha256);

impl Digester {
    /// A digest of one domain; two domains never share a digest.
    pub fn new(domain: &str) -> Self {
        Self::default().text(domain)
    }

    /// Adds a field of bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a field of text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds a number.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    /// The 32 bytes.
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// The first 16 bytes, where collisions by chance are all that matters.
    pub fn short(self) -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(&self.finish()[..16]);
        short
    }
}

/// Sixteen bytes of a digest, spelled as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 16]);

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(|number| Self(number.to_be_bytes()))
            .map_err(|_| serde::de::Error::custom("expected 32 hexadecimal digits"))
    }
}

/// The secret of one store under which memory text is digested; made once by the store, never shown.
#[derive(Clone)]
pub struct TextKey(pub [u8; 32]);

impl TextKey {
    /// A digest of memory text that tells equal from unequal and nothing else.
    pub fn fingerprint(&self, fields: &[&str]) -> Fingerprint {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!("HMAC takes any key length"));
        for field in fields {
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field.as_bytes());
        }
        let bytes = mac.finalize().into_bytes();
        let mut short = [0; 16];
        short.copy_from_slice(&bytes[..16]);
        Fingerprint(short)
    }
}

impl std::fmt::Debug for TextKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TextKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let one = Digester::new("d").text("ab").text("c").finish();
        let two = Digester::new("d").text("a").text("bc").finish();
        assert_ne!(one, two);
    }

    #[test]
    fn a_text_fingerprint_depends_on_the_key_of_the_store() {
        let (one, two) = (TextKey([1; 32]), TextKey([2; 32]));
        assert_eq!(one.fingerprint(&["Ada"]), one.fingerprint(&["Ada"]));
        assert_ne!(one.fingerprint(&["Ada"]), two.fingerprint(&["Ada"]));
        assert_ne!(one.fingerprint(&["Ada", ""]), one.fingerprint(&["Ada"]));
    }
}
