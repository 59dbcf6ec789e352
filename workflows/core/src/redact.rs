//! How much memory text a report shows.
//!
//! Text is marked where it is taken from a row: [`Redaction::text`], [`Redaction::type_name`] and [`Redaction::types`] are
//! the only makers of a [`Text`] or of keys made from one, and what becomes a report holds memory text in no other form.
//! Nothing is guessed from a finished report, so arrays, keys and exports are no different from anything else.
//!
//! **Invariant:** ids, kinds, enums, numbers, moments and digests never pass through here, and so are always kept. A new
//! column says in [`holds`] what it holds.

use std::collections::{BTreeMap, BTreeSet};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::change::{Column, named_variants};
use crate::run::{DeclaredType, Expertise};

named_variants! {
    /// The three degrees.
    pub enum RedactText {
        /// As it is.
        None = "none",
        /// Cut to [`SUMMARY_CHARACTERS_MAX`] characters.
        Summary = "summary",
        /// Taken out.
        All = "all",
    }
}

/// Characters that a text keeps under [`RedactText::Summary`].
pub const SUMMARY_CHARACTERS_MAX: usize = 200;

impl RedactText {
    /// The text as a report may show it; none if it may not.
    pub fn apply(self, text: &str) -> Option<String> {
        match self {
            Self::None => Some(text.to_owned()),
            Self::Summary => Some(text.chars().take(SUMMARY_CHARACTERS_MAX).collect()),
            Self::All => None,
        }
    }

    /// Whether anything is cut or taken out.
    pub const fn redacts(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// Memory text as a report may show it. It is made by a [`Redaction`] only, and serialises as a string, or as null where
/// it was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Option<String>);

impl Text {
    /// What is left of it; none if it was taken out.
    pub fn shown(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// What one report may show: a degree, and the type names that are no secret because somebody declared them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    degree: RedactText,
    declared: BTreeSet<String>,
}

impl Redaction {
    /// A degree, with no type declared: every type name is memory text, as a model made it up from a document.
    pub const fn new(degree: RedactText) -> Self {
        Self { degree, declared: BTreeSet::new() }
    }

    /// The same, knowing the types that an expertise declares. Those are kinds, and kinds are kept.
    #[must_use]
    pub fn declaring(mut self, expertise: &Expertise) -> Self {
        let types = expertise.entity_types.iter().chain(&expertise.relationship_types);
        self.declared.extend(types.map(DeclaredType::name).map(str::to_owned));
        self
    }

    /// The degree.
    pub const fn degree(&self) -> RedactText {
        self.degree
    }

    /// Marks free text: a name, a description, a JSON document of attributes.
    pub fn text(&self, text: &str) -> Text {
        Text(self.degree.apply(text))
    }

    /// Marks the name of an entity or relationship type.
    pub fn type_name(&self, name: &str) -> Text {
        if self.declared.contains(name) { Text(Some(name.to_owned())) } else { self.text(name) }
    }

    /// Marks a map whose keys are type names. The numbers stay: a key that is taken out is replaced by its place.
    pub fn types<V: Clone>(&self, counts: &BTreeMap<String, V>) -> TypeMap<V> {
        let mut taken = BTreeSet::new();
        let entries = counts.iter().zip(1_usize..).map(|((name, value), place)| {
            let shown = self.type_name(name).0.filter(|key| !taken.contains(key));
            let key = shown.unwrap_or_else(|| {
                let mut places = (0..).map(|ticks| format!("#{place}{}", "'".repeat(ticks)));
                places.find(|key| !taken.contains(key) && !counts.contains_key(key)).unwrap_or_default()
            });
            taken.insert(key.clone());
            (key, value.clone())
        });
        TypeMap(entries.collect())
    }
}

/// A map by type name, as a report may show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMap<V>(Vec<(String, V)>);

impl<V: Serialize> Serialize for TypeMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// What a column holds, as far as redaction is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Ids, numbers, moments, truth values.
    Facts,
    /// Free text.
    Text,
    /// The name of a type.
    TypeName,
    /// A JSON document that ingestion or a model wrote; keys, texts and numbers in it are memory alike.
    Document,
}

/// What a column holds.
pub const fn holds(column: Column) -> Holds {
    use Column as C;
    match column {
        // The model's name comes from the store's configuration, but anybody may write the column.
        C::Name
        | C::Description
        | C::EmbeddingModel
        | C::Subject
        | C::Text
        | C::Source
        | C::Key
        | C::Collection
        | C::DreamSummary => Holds::Text,
        C::EntityType | C::RelationshipType => Holds::TypeName,
        C::Attributes | C::Properties | C::Metadata | C::Body => Holds::Document,
        C::SourceDocumentIds
        | C::SourceChunkIds
        | C::MentionCount
        | C::Embedding
        | C::SourceEntityId
        | C::TargetEntityId
        | C::ValidFrom
        | C::ValidUntil
        | C::ValidTo
        | C::InvalidatedAt
        | C::InvalidatedBy
        | C::IsValid
        | C::Confidence
        | C::Weight
        | C::CreatedAt
        | C::UpdatedAt
        | C::CanonicalId
        | C::MentionCountSeen
        | C::AbsorbedBy
        | C::Tier
        | C::Origin
        | C::Pinned
        | C::RecallCount
        | C::LastRecalledAt
        | C::ExpiresAt
        | C::SupersededBy
        | C::Kind
        | C::StartsOn
        | C::Status => Holds::Facts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(degree: RedactText) -> Redaction {
        let person = DeclaredType::Name("PERSON".into());
        Redaction::new(degree).declaring(&Expertise { entity_types: vec![person], relationship_types: vec![] })
    }

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn text_is_kept_cut_or_taken_out() {
        let long = "ß".repeat(300);
        assert_eq!(json(&redaction(RedactText::None).text(&long)).chars().count(), 302);
        assert_eq!(json(&redaction(RedactText::Summary).text(&long)).chars().count(), 202);
        assert_eq!(json(&redaction(RedactText::All).text(&long)), "null");
    }

    #[test]
    fn a_declared_type_is_a_kind_and_any_other_is_text() {
        let all = redaction(RedactText::All);
        assert_eq!(json(&[all.type_name("PERSON"), all.type_name("My secret")]), r#"["PERSON",null]"#);
    }

    #[test]
    fn counts_by_type_keep_their_numbers_when_the_names_go() {
        let long = |last: char| format!("{}{last}", "x".repeat(200));
        let counts = [("#1".to_owned(), 1), ("PERSON".to_owned(), 2), (long('a'), 3), (long('b'), 4)];
        let counts = BTreeMap::from(counts);
        assert_eq!(json(&redaction(RedactText::All).types(&counts)), r##"{"#1'":1,"PERSON":2,"#3":3,"#4":4}"##);
        let cut = "x".repeat(200);
        let expected = format!(r##"{{"#1":1,"PERSON":2,"{cut}":3,"#4":4}}"##);
        assert_eq!(json(&redaction(RedactText::Summary).types(&counts)), expected);
    }
}
