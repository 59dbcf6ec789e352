//! Verdicts: what was once decided about two names, so that it need not be decided again.
//!
//! A pair is named by keyed digests of (name, type), so it holds for rows that do not exist yet and holds no memory text.
//!
//! **Invariant:** no run undoes a person's verdict. A run's `same_as` never replaces `keep_apart`; only a person's word does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::change::{Column, Row, named_variants};
use crate::digest::{Fingerprint, TextKey};

named_variants! {
    /// What was decided.
    pub enum Ruling {
        /// They are one.
        SameAs = "same_as",
        /// They stay two.
        KeepApart = "keep_apart",
    }
}

/// A ruling on a pair of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Verdict {
    /// The smaller key.
    pub low: Fingerprint,
    /// The larger key.
    pub high: Fingerprint,
    /// What was decided.
    pub ruling: Ruling,
}

/// Two names that a ruling may be about, the smaller key first.
pub type NamePair = (Fingerprint, Fingerprint);

impl Verdict {
    /// A ruling on two names, in whichever order they come.
    pub fn on(one: Fingerprint, two: Fingerprint, ruling: Ruling) -> Self {
        Self { low: one.min(two), high: one.max(two), ruling }
    }
}

/// Every pair of different names among these. Whoever takes a merge of three back has not said which two of them are one, so
/// that his word is about each pair.
pub fn every_pair(keys: &[Fingerprint]) -> BTreeSet<NamePair> {
    let pair = |one: Fingerprint, two: Fingerprint| (one.min(two), one.max(two));
    let others = |at: usize| keys[at + 1..].iter().copied();
    let pairs = keys.iter().enumerate().flat_map(|(at, one)| others(at).map(move |two| pair(*one, two)));
    pairs.filter(|(low, high)| low != high).collect()
}

/// The key of an entity's name and type in this store.
pub fn name_key(key: &TextKey, name: &str, entity_type: &str) -> Fingerprint {
    key.fingerprint(&[name, entity_type])
}

/// The key of an entity row's name and type.
pub fn row_name_key(key: &TextKey, row: &Row) -> Fingerprint {
    let text = |column| row.get(column).text().unwrap_or_default();
    name_key(key, text(Column::Name), text(Column::EntityType))
}
