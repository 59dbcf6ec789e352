//! What the planner is fed: rows in any order, kept column by column until everything has arrived.
//!
//! **Invariant:** nothing is decided here; the order of feeding is forgotten when `world.rs` sorts by id.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::algo::ragged::Ragged;
use crate::algo::stable_hash::hash_bytes;

/// The relationship type of a co-occurrence edge, upper case: two names in one text, no statement about either.
const CO_OCCURRENCE: &str = "ASSOCIATED_WITH";

/// Relationship types, upper case, that say two names are one: no statement that they are two.
const ALIASES: [&str; 5] = ["AKA", "ALIAS_OF", "ALSO_KNOWN_AS", "KNOWN_AS", "SAME_AS"];

/// Seeds that keep the hashes of different columns apart.
const ATTRIBUTE_SEED: u64 = 11;
const CHUNK_SEED: u64 = 12;
const WORD_SEED: u64 = 13;

/// One live entity, as a store reads it.
#[derive(Clone, Copy, Debug)]
pub struct EntityInput<'a> {
    /// Row id.
    pub id: Uuid,
    /// Name as stored.
    pub name: &'a str,
    /// Type as stored; two entities of different types are never one.
    pub entity_type: &'a str,
    /// How often it was mentioned.
    pub mention_count: i64,
    /// Creation time in microseconds.
    pub created_at_us: i64,
    /// Whether it has a vector, and which.
    pub embedding: EmbeddingState<'a>,
    /// Attributes as key and value.
    pub attributes: &'a [(&'a str, &'a str)],
    /// Chunks that mention it.
    pub source_chunk_ids: &'a [Uuid],
    /// Whether this run may change it; the others are only looked at.
    pub in_scope: bool,
    /// The key under which verdicts know its name and type; `None` where the store holds no verdict.
    pub verdict_key: Option<[u8; 16]>,
}

/// Whether an entity has a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingState<'a> {
    /// It has none.
    Absent,
    /// It has one; only vectors of the same model and dimension are compared.
    Present {
        /// The model that made it.
        model: &'a str,
        /// Its length.
        dimension: u32,
    },
}

/// What `dream_reabsorb` wants with a row in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// It will be absorbed: dedupe leaves it alone.
    Absorbed,
    /// It will absorb others: a cluster with it is reported as a collision.
    Canonical,
}

/// An edge as it was fed.
#[derive(Clone, Copy, Debug)]
pub(super) struct FedEdge {
    pub(super) source: Uuid,
    pub(super) target: Uuid,
    /// Whether it relates two things: not co-occurrence, not an alias.
    pub(super) relates: bool,
}

impl FedEdge {
    pub(super) fn new(source: Uuid, target: Uuid, relationship_type: &str) -> Self {
        let upper = relationship_type.to_uppercase();
        Self { source, target, relates: upper != CO_OCCURRENCE && !ALIASES.contains(&upper.as_str()) }
    }
}

/// The fed entities, column by column, in the order of feeding.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) ids: Vec<Uuid>,
    pub(super) names: Names,
    pub(super) type_numbers: Vec<u32>,
    pub(super) types: BTreeMap<String, u32>,
    pub(super) mention_counts: Vec<i64>,
    pub(super) created_at_us: Vec<i64>,
    pub(super) vector_kinds: Vec<u32>,
    pub(super) models: BTreeMap<(String, u32), u32>,
    pub(super) attributes: Ragged<Attribute>,
    pub(super) chunks: Ragged<u64>,
    pub(super) in_scope: Vec<bool>,
    pub(super) verdict_keys: Vec<Option<[u8; 16]>>,
}

impl Columns {
    /// Appends one row.
    pub(super) fn push(&mut self, entity: &EntityInput<'_>) {
        self.ids.push(entity.id);
        self.names.push(entity.name);
        self.type_numbers.push(interned(&mut self.types, entity.entity_type));
        self.mention_counts.push(entity.mention_count);
        self.created_at_us.push(entity.created_at_us);
        let vector_kind = self.vector_kind(entity.embedding);
        self.vector_kinds.push(vector_kind);
        let said = entity.attributes.iter().filter(|(_, value)| !value.trim().is_empty());
        self.attributes.push(sorted(said.map(|(key, value)| Attribute::new(key, value))));
        self.chunks.push(sorted(entity.source_chunk_ids.iter().map(|chunk| hash_bytes(CHUNK_SEED, chunk.as_bytes()))));
        self.in_scope.push(entity.in_scope);
        self.verdict_keys.push(entity.verdict_key);
    }

    /// A number for model and dimension; zero is "no vector".
    fn vector_kind(&mut self, state: EmbeddingState<'_>) -> u32 {
        let EmbeddingState::Present { model, dimension } = state else {
            return 0;
        };
        let next = counted(self.models.len()) + 1;
        *self.models.entry((model.to_owned(), dimension)).or_insert(next)
    }
}

/// All names in one text.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    pub(super) fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }
}

/// One attribute, as far as comparing needs it. It sorts by key, so that two rows of them line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Attribute {
    pub(super) key: u32,
    /// Hash of the value, without case and outer spaces.
    pub(super) value: u32,
    /// One bit per word of the value.
    pub(super) words: u64,
}

impl Attribute {
    fn new(key: &str, value: &str) -> Self {
        let value = value.trim().to_lowercase();
        let words = value.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        Self {
            key: upper_half(hash_bytes(ATTRIBUTE_SEED, key.as_bytes())),
            value: upper_half(hash_bytes(ATTRIBUTE_SEED, value.as_bytes())),
            words: words
                .map(|word| 1 << (hash_bytes(WORD_SEED, word.as_bytes()) % u64::from(u64::BITS)))
                .fold(0, |all, bit: u64| all | bit),
        }
    }

    /// Whether two values have less than half of the longer one's words in common: "Paris" and "Rome", but not
    /// "New York" and "New York City".
    pub(super) fn contradicts(self, other: Self) -> bool {
        let more = self.words.count_ones().max(other.words.count_ones());
        let common = (self.words & other.words).count_ones();
        // Two single words under one bit are two words that happen to share it: equal ones have an equal value.
        self.words != 0 && other.words != 0 && (more == 1 || 2 * common < more)
    }
}

fn upper_half(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(u32::MAX)
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

fn interned(numbers: &mut BTreeMap<String, u32>, text: &str) -> u32 {
    if let Some(&number) = numbers.get(text) {
        return number;
    }
    let next = counted(numbers.len());
    numbers.insert(text.to_owned(), next);
    next
}

/// A count as the dense number of the next item; bounded by `ENTITIES_MAX`.
pub(super) fn counted(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
