//! A made-up namespace, from a seed: every bench of one size sees the same.
//!
//! Names are words of made-up syllables. One entity in ten is a duplicate: another case, joined words, an initial, a lost
//! letter, a legal form; its vector is nearly that of the original. Every entity starts three relationships. One row in ten
//! refers to a chunk that is gone.

use dream_core::algo::stable_hash::hash_number;
use dream_core::change::{Column, Row, Table, Value};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_ports::transfer::{NewChunk, OnNameClash};
use dream_ports::{Store, StoreError};
use indicatif::ProgressBar;
use uuid::Uuid;

/// The stable id of the namespace.
pub(super) const NAMESPACE: Uuid = Uuid::from_u128(0xbe7c_0000_0000_4000_8000_0000_0000_0001);

/// Length of the vectors: that of the small sentence models that such stores are filled with.
const DIMENSION: usize = 384;

/// The model they claim to be of.
const MODEL: &str = "made-up-384";

/// Relationships that an entity starts.
const RELATIONSHIPS: u64 = 3;

/// One entity in this many is a duplicate.
const DUPLICATE_EVERY: u64 = 10;

/// Ways in which a duplicate is spelled.
const SPELLINGS: u64 = 5;

/// One row in this many refers to a chunk that is gone.
const DEAD_EVERY: u64 = 10;

/// One relationship in this many is of a document; the others only say that two names stood in one text.
const STATEMENT_EVERY: u64 = 2;

/// One original in this many has attributes.
const ATTRIBUTES_EVERY: u64 = 3;

/// Rows of one transaction: with their vectors some megabytes.
const ROWS_PER_BATCH: usize = 2_000;

/// When the world begins: 2026-01-01, in microseconds. Every row is written a second after the one before.
const BEGIN_MICROS: i64 = 1_767_225_600_000_000;
const STEP_MICROS: i64 = 1_000_000;

/// Types with their share of the entities, in hundredths.
const TYPES: [(&str, u64); 8] = [
    ("PERSON", 28),
    ("ORGANIZATION", 21),
    ("CONCEPT", 14),
    ("TECHNOLOGY", 11),
    ("LOCATION", 10),
    ("PRODUCT", 7),
    ("DOCUMENT", 5),
    ("EVENT", 4),
];

/// A namespace of so many entities.
#[derive(Clone, Copy, Debug)]
pub(super) struct World {
    pub(super) entities: u64,
}

impl World {
    /// Writes the world into a store; answers how many entities it took. Two duplicates with one spelling are one row.
    pub(super) async fn write(self, store: &dyn Store, bar: &ProgressBar) -> Result<u64, StoreError> {
        let namespace = store.ensure_namespace(NAMESPACE).await?.id;
        crate::term::set_total(bar, self.entities * (2 + RELATIONSHIPS));
        let mut written = 0;
        for numbers in batches(self.entities) {
            bar.inc(numbers.end - numbers.start);
            let chunks: Vec<NewChunk> = numbers.clone().map(chunk).collect();
            store.import_chunks(namespace, &chunks).await?;
        }
        for numbers in batches(self.entities) {
            bar.inc(numbers.end - numbers.start);
            let rows: Vec<Row> = numbers.clone().map(|number| self.entity(number)).collect();
            let outcomes = store.import_entities(namespace, &rows, OnNameClash::Skip).await?;
            written +=
                outcomes.iter().filter(|outcome| matches!(outcome, dream_ports::transfer::Imported::Written)).count()
                    as u64;
        }
        self.write_edges(store, namespace, bar).await?;
        Ok(written)
    }

    async fn write_edges(self, store: &dyn Store, namespace: NamespaceId, bar: &ProgressBar) -> Result<(), StoreError> {
        for numbers in batches(self.entities * RELATIONSHIPS) {
            bar.inc(numbers.end - numbers.start);
            let rows: Vec<Row> = numbers.map(|number| self.relationship(number)).collect();
            store.import_relationships(namespace, &rows).await?;
        }
        Ok(())
    }

    fn entity(self, number: u64) -> Row {
        let (original, spelling) = original(number);
        // A duplicate stands in a text of its own, and in one that names the original too.
        let other = if spelling == 0 { random(number, 12) % self.entities } else { original };
        let mut references = vec![id_of(Kind::Chunk, number), id_of(Kind::Chunk, other)];
        if number % DEAD_EVERY == 3 {
            references.push(id_of(Kind::Gone, number));
        }
        let written = moment(number);
        Row::empty(Table::Entities, id_of(Kind::Entity, number))
            .with(Column::Name, Value::Text(spelled(original, spelling)))
            .with(Column::EntityType, Value::Text(type_of(original).to_owned()))
            .with(Column::Description, Value::Text(sentence(number)))
            .with(Column::Attributes, Value::Json(attributes(original)))
            .with(Column::SourceDocumentIds, Value::Ids(vec![id_of(Kind::Document, number / 20)]))
            .with(Column::SourceChunkIds, Value::Ids(references))
            .with(Column::MentionCount, Value::Int(i64::try_from(random(number, 1) % 20).unwrap_or(0) + 1))
            .with(Column::Embedding, Value::Vector(vector(number, original, spelling)))
            .with(Column::EmbeddingModel, Value::Text(MODEL.to_owned()))
            .with(Column::Confidence, Value::Float(0.9))
            .with(Column::CreatedAt, Value::Time(written))
            .with(Column::UpdatedAt, Value::Time(written))
    }

    fn relationship(self, number: u64) -> Row {
        let end = |stream| id_of(Kind::Entity, random(number, stream) % self.entities);
        let relationship_type = if number.is_multiple_of(STATEMENT_EVERY) { "RELATES_TO" } else { "ASSOCIATED_WITH" };
        let dead = number % DEAD_EVERY == 7;
        let reference =
            if dead { id_of(Kind::Gone, number + self.entities) } else { id_of(Kind::Chunk, number % self.entities) };
        let written = moment(number / RELATIONSHIPS);
        Row::empty(Table::Relationships, id_of(Kind::Relationship, number))
            .with(Column::SourceEntityId, Value::Id(id_of(Kind::Entity, number / RELATIONSHIPS)))
            .with(Column::TargetEntityId, Value::Id(end(3)))
            .with(Column::RelationshipType, Value::Text(relationship_type.to_owned()))
            .with(Column::Description, Value::Text(sentence(number)))
            .with(Column::SourceChunkIds, Value::Ids(vec![reference]))
            .with(Column::Confidence, Value::Float(0.8))
            .with(Column::Weight, Value::Float(1.0))
            .with(Column::CreatedAt, Value::Time(written))
            .with(Column::UpdatedAt, Value::Time(written))
    }
}

/// The entity that a number is a spelling of, and which spelling.
fn original(number: u64) -> (u64, u64) {
    if number % DUPLICATE_EVERY == 1 { (number - 1, 1 + number / DUPLICATE_EVERY % SPELLINGS) } else { (number, 0) }
}

fn batches(count: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
    (0..count).step_by(ROWS_PER_BATCH).map(move |start| start..(start + ROWS_PER_BATCH as u64).min(count))
}

fn chunk(number: u64) -> NewChunk {
    let (created_at, document) = (moment(number), id_of(Kind::Document, number / 20));
    NewChunk {
        id: id_of(Kind::Chunk, number),
        document: Some(document),
        content: sentence(number),
        created_at,
        last_accessed_at: None,
    }
}

/// What an id names: the ids of each kind are a sequence of their own.
#[derive(Clone, Copy)]
enum Kind {
    Entity = 1,
    Relationship,
    Chunk,
    Document,
    /// A chunk that is not there.
    Gone,
}

/// The id of a number: scattered, as real ones are.
fn id_of(kind: Kind, number: u64) -> Uuid {
    let kind = kind as u64;
    Uuid::from_u64_pair(random(number, 100 + kind), random(number, 200 + kind))
}

pub(super) fn moment(number: u64) -> Moment {
    Moment::from_micros(BEGIN_MICROS + i64::try_from(number).unwrap_or(0) * STEP_MICROS)
}

fn spelled(original: u64, spelling: u64) -> String {
    let mut name = String::new();
    push_word(random(original, 6), &mut name);
    name.push(' ');
    push_word(random(original, 7), &mut name);
    match spelling {
        1 => name.to_lowercase(),
        2 => name.replace(' ', ""),
        3 => format!("{}. {}", &name[..1], name.split_once(' ').map_or("", |(_, last)| last)),
        4 => name[..name.len() - 1].to_owned(),
        5 => name + " Ltd",
        _ => name,
    }
}

fn type_of(original: u64) -> &'static str {
    let mut share = random(original, 8) % 100;
    for (name, hundredths) in TYPES {
        if share < hundredths {
            return name;
        }
        share -= hundredths;
    }
    TYPES[0].0
}

fn attributes(original: u64) -> String {
    if !original.is_multiple_of(ATTRIBUTES_EVERY) {
        return "{}".to_owned();
    }
    let mut city = String::new();
    push_word(random(original, 9), &mut city);
    format!(r#"{{"city": "{city}", "founded": {}}}"#, 1900 + random(original, 10) % 120)
}

/// Some words, as long as what extraction leaves as a description.
pub(super) fn sentence(number: u64) -> String {
    let mut text = String::new();
    for place in 0..8 {
        push_word(random(number * 8 + place, 11), &mut text);
        text.push(' ');
    }
    text.pop();
    text
}

/// A made-up word of two to four syllables.
fn push_word(seed: u64, text: &mut String) {
    const CONSONANTS: &[u8] = b"bcdfghjklmnprstvwxz";
    const VOWELS: &[u8] = b"aeiou";
    let mut rest = seed;
    for syllable in 0..2 + seed % 3 {
        let consonant = CONSONANTS[(rest % 19) as usize] as char;
        text.push(if syllable == 0 { consonant.to_ascii_uppercase() } else { consonant });
        text.push(VOWELS[(rest / 19 % 5) as usize] as char);
        rest /= 95;
    }
    if seed.is_multiple_of(2) {
        text.push(CONSONANTS[(rest % 19) as usize] as char);
    }
}

/// The vector of an original, or one that is moved a little from it.
fn vector(number: u64, original: u64, spelling: u64) -> Vec<f32> {
    let (mut near, mut moved) = (random(original, 20) | 1, random(number, 21) | 1);
    let spread = if spelling == 0 { 0.0 } else { 0.1 };
    (0..DIMENSION).map(|_| signed(&mut near) + signed(&mut moved) * spread).collect()
}

/// The next number between -1 and 1 of a xorshift sequence: 384 digests per vector would take longer than the import.
fn signed(state: &mut u64) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    f32::from(u16::try_from(*state >> 48).unwrap_or(0)) / 32_768.0 - 1.0
}

/// The seeded numbers that everything is made of.
fn random(number: u64, stream: u64) -> u64 {
    hash_number(stream, number)
}
