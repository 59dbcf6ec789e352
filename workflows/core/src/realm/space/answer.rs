//! The answer of a model: its shape, its schema, and the reading of it.
//!
//! What is read is what the schema says, field by field. A field that the schema does not have is refused rather than
//! passed over, because a misspelled one would be work that vanishes; a field that is missing or null is work not
//! suggested. Around the JSON there may be white space, a byte order mark and one fence of three backticks, as models
//! put it.
//!
//! **Invariant:** an answer that cannot be read says where it broke by line, column and path, and repeats nothing of
//! itself. The types have no `Debug` but in tests: what a model says about a memory is memory text.

use std::fmt;
use std::marker::PhantomData;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

pub use super::broken::{BrokenAnswer, Fault};
use super::fact::Tier;
use super::profile;
use super::rules::{Item, Section};
use crate::digest::{Fingerprint, TextKey};

/// Most bytes of an answer, unless an operator says otherwise.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;

/// What the model suggests after looking at the memory. Every part may be left out: doing less is better than guessing.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(Debug))]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Consolidation")]
pub struct Answer {
    /// Facts that say nearly the same and become one.
    #[serde(deserialize_with = "objects")]
    #[schemars(with = "Option<Vec<Merge>>")]
    pub merges: Vec<Merge>,
    /// Facts that belong in another tier, such as an often recalled `long` fact in `core`.
    #[serde(deserialize_with = "objects")]
    #[schemars(with = "Option<Vec<Promotion>>")]
    pub promotions: Vec<Promotion>,
    /// Facts that cannot all be true. They are shown to the owner, not changed.
    #[serde(deserialize_with = "objects")]
    #[schemars(with = "Option<Vec<Contradiction>>")]
    pub contradictions: Vec<Contradiction>,
    /// A summary of the last complete week, from its journal entries; null if they say too little.
    pub weekly_digest: Option<String>,
    /// Unfinished things that are worth tracking.
    #[serde(deserialize_with = "objects")]
    #[schemars(with = "Option<Vec<Proposal>>")]
    pub proposals: Vec<Proposal>,
    /// A short profile of the owner, at most 1,500 characters, built from the facts alone; null for none.
    pub profile: Option<String>,
}

/// Facts that become one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(Debug))]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// The id of the fact that stays.
    pub keep_id: String,
    /// The ids of the facts that go because the kept one says what they say.
    pub remove_ids: Vec<String>,
    /// New words for the fact that stays, which say all that the facts say; null to leave its words as they are.
    #[serde(default)]
    pub wording: Option<String>,
}

/// A change of tier.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(Debug))]
#[serde(deny_unknown_fields)]
pub struct Promotion {
    /// The id of the fact.
    pub fact_id: String,
    /// Where it goes.
    pub tier: Tier,
}

/// Facts that cannot all be true.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(Debug))]
#[serde(deny_unknown_fields)]
pub struct Contradiction {
    /// The ids of two or more facts.
    pub fact_ids: Vec<String>,
    /// One sentence on why they cannot all be true.
    pub note: String,
}

/// An unfinished thing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(Debug))]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// What is unfinished, in a line.
    pub title: String,
    /// More about it; null for none.
    #[serde(default)]
    pub detail: Option<String>,
    /// The ids of the facts that it is taken from.
    #[serde(default, deserialize_with = "list")]
    #[schemars(with = "Option<Vec<String>>")]
    pub fact_ids: Vec<String>,
}

/// A list in which null is an empty one.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Option::<Vec<T>>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A list of objects, in which null is an empty one. serde reads a list as the fields of a struct in their order; here it is
/// none.
fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let objects = Option::<Vec<Object<T>>>::deserialize(deserializer)?;
    Ok(objects.unwrap_or_default().into_iter().map(|object| object.0).collect())
}

struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

impl JsonSchema for Tier {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tier".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::ALL.iter().map(|tier| tier.as_str()).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// The schema of an answer: JSON Schema, draft 2020-12. Its fields are in the order of their names, whether or not somebody
/// beside this crate has JSON keep the order in which fields were written: the schema is part of what a question is known by.
pub fn schema() -> serde_json::Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Answer>().to_value();
    schema.sort_all_objects();
    schema
}

/// Reads an answer of at most so many bytes.
pub fn parse(bytes: &[u8], bytes_max: usize) -> Result<Answer, BrokenAnswer> {
    if bytes.len() > bytes_max {
        return Err(BrokenAnswer::too_long(bytes_max));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| BrokenAnswer::not_text(bytes, error.valid_up_to()))?;
    let (inner, lines_before) = unfenced(text);
    let mut deserializer = serde_json::Deserializer::from_str(inner);
    // A list would be read as the fields in their order.
    if !inner.trim_start().starts_with('{') {
        let list: Result<serde_json::Map<String, serde_json::Value>, _> =
            serde_path_to_error::deserialize(&mut deserializer);
        list.map_err(|error| BrokenAnswer::new(error.inner(), error.path(), lines_before))?;
        return Ok(Answer::default());
    }
    let answer = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| BrokenAnswer::new(error.inner(), error.path(), lines_before))?;
    let nowhere = |error: serde_json::Error| BrokenAnswer::after(&error, lines_before);
    deserializer.end().map_err(nowhere)?;
    Ok(answer)
}

/// The text within its fence, if it has one, and how many lines stand before it.
fn unfenced(text: &str) -> (&str, usize) {
    const FENCE: &str = "```";
    let inner = text.trim_start_matches('\u{feff}');
    let fenced = inner.trim().strip_prefix(FENCE).and_then(|rest| rest.strip_suffix(FENCE));
    let Some((_, inner)) = fenced.and_then(|rest| rest.split_once('\n')) else { return (inner, 0) };
    let before = inner.as_ptr() as usize - text.as_ptr() as usize;
    (inner, text[..before].matches('\n').count())
}

impl Answer {
    /// A digest that is the same for the same answer, however its JSON is spaced and ordered.
    pub fn fingerprint(&self, key: &TextKey) -> Fingerprint {
        key.fingerprint(&["answer", &serde_json::to_string(self).unwrap_or_default()])
    }

    /// The text that an item holds, as it is stored: a wording, a note, a digest, a profile, the title of a proposal.
    pub fn text(&self, item: Item) -> Option<&str> {
        let text = match item.section {
            Section::Merges => self.merges.get(item.at())?.wording.as_deref(),
            Section::Promotions => None,
            Section::WeeklyDigest => self.weekly_digest.as_deref(),
            Section::Profile => self.profile.as_deref().map(|text| profile::cut(text).0),
            Section::Proposals => self.proposals.get(item.at()).map(|proposal| proposal.title.as_str()),
            Section::Contradictions => self.contradictions.get(item.at()).map(|it| it.note.as_str()),
        };
        text.map(str::trim)
    }

    /// What a proposal says beyond its title, as it is stored.
    pub fn detail(&self, item: Item) -> Option<&str> {
        let detail = self.proposals.get(item.at()).filter(|_| item.section == Section::Proposals)?.detail.as_deref();
        detail.map(str::trim).filter(|detail| !detail.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect, expect_file};

    use super::*;

    #[track_caller]
    fn breaks(text: &str, expected: &Expect) {
        let said = parse(text.as_bytes(), ANSWER_BYTES_MAX).err().unwrap().to_string();
        assert!(!said.contains("quokka"), "{said}");
        expected.assert_eq(&said);
    }

    fn reads(text: &str) -> Answer {
        parse(text.as_bytes(), ANSWER_BYTES_MAX).unwrap_or_else(|broken| panic!("{broken}"))
    }

    #[test]
    fn an_answer_is_read_with_what_models_put_around_it() {
        let plain = reads(r#"{"merges":[{"keep_id":"f1","remove_ids":["f2"]}],"profile":null,"promotions":null}"#);
        assert_eq!(plain.merges[0].remove_ids, ["f2"]);
        let fenced = "\u{feff}\n```json\n{\"merges\": [{\"remove_ids\": [\"f2\"], \"keep_id\": \"f1\"}]}\n```\n";
        assert!(reads(fenced) == plain);
        assert!(reads("{}") == Answer::default());
        let key = TextKey([1; 32]);
        assert_eq!(reads(fenced).fingerprint(&key), plain.fingerprint(&key));
        assert_ne!(reads("{}").fingerprint(&key), plain.fingerprint(&key));
    }

    #[test]
    fn an_answer_that_broke_says_where_and_repeats_nothing() {
        breaks(
            "{\n\"merges\": [{\"keep_id\": \"quok",
            &expect!["the answer breaks off at line 2, column 28, in merges[0].keep_id"],
        );
        breaks(
            "{\"quokka\": 1}",
            &expect!["the answer has a field that the schema does not have, at line 1, column 9"],
        );
        breaks(
            r#"{"merges": [{"keep_id": 7, "remove_ids": []}]}"#,
            &expect!["the answer has a value of the wrong type at line 1, column 25, in merges[0].keep_id"],
        );
        breaks(
            r#"{"merges": [{"keep_id": "quokka"}]}"#,
            &expect!["the answer lacks a field at line 1, column 33, in merges[0]"],
        );
        breaks(
            r#"{"promotions": [{"fact_id": "f1", "tier": "quokka"}]}"#,
            &expect![
                "the answer has a value that the schema does not allow at line 1, column 50, in promotions[0].tier"
            ],
        );
        breaks("quokka", &expect!["the answer is not JSON at line 1, column 1"]);
        breaks(
            "```json\n{\"merges\": quokka}\n```",
            &expect!["the answer is not JSON at line 2, column 12, in merges"],
        );
        breaks("{} quokka", &expect!["the answer goes on after its end at line 1, column 4"]);
        breaks("", &expect!["the answer breaks off at line 1, column 0"]);
        breaks(r#"{"profile": "\ud800"}"#, &expect!["the answer is not JSON at line 1, column 20, in profile"]);
        breaks(r#"{"profile": "a", "profile": "b"}"#, &expect!["the answer has a field twice, at line 1, column 26"]);
    }

    #[test]
    fn a_list_is_no_object_however_well_its_items_fit() {
        for list in [
            r#"{"merges": [["f1", ["f2"], "quokka"]]}"#,
            r#"{"promotions": [["f1", "core"]]}"#,
            r#"{"contradictions": [[["f1", "f2"], "quokka"]]}"#,
            r#"{"proposals": [["quokka", null, []]]}"#,
        ] {
            let said = parse(list.as_bytes(), ANSWER_BYTES_MAX).err().unwrap().to_string();
            assert!(said.contains("wrong type") && !said.contains("quokka"), "{said}");
        }
    }

    #[test]
    fn an_answer_that_is_no_text_or_too_long_is_refused() {
        let said = parse(b"{}\n\xff", 9).err().unwrap().to_string();
        expect!["the answer is not UTF-8 at line 2, column 1"].assert_eq(&said);
        let said = parse(b"{}        ", 9).err().unwrap().to_string();
        expect!["the answer is longer than 9 bytes"].assert_eq(&said);
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes(), ANSWER_BYTES_MAX).is_err());
    }

    #[test]
    fn the_schema_is_published() {
        let schema = serde_json::to_string_pretty(&schema()).unwrap();
        expect_file!["../../../prompts/space_answer.schema.json"].assert_eq(&format!("{schema}\n"));
    }
}
