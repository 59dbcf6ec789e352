//! The fed rows, sorted by id and read once: what every later stage looks at.
//!
//! An entity is its rank by id from here on, a dense `u32`; columns are arrays over ranks.
//!
//! **Invariant:** the world depends on the set of fed rows only, never on their order.

use rayon::prelude::*;
use uuid::Uuid;

use super::DedupeError;
use super::input::{Attribute, Claim, Columns, FedEdge, counted};
use super::lexicon;
use super::name::{Kind, NameFacts, StoredToken};
use super::neighbourhood::Neighbourhood;
use super::reader::Reader;
use super::settings::ENTITIES_MAX;
use crate::algo::ragged::Ragged;
use crate::algo::stable_hash::{hash_bytes, hash_number};

/// Names read by one task: enough to be worth a task, few enough to keep all cores busy.
const NAMES_PER_TASK: usize = 2_048;

const EXACT_SEED: u64 = 21;
const SAMPLE_SEED: u64 = 22;
const INDEX_SEED: u64 = 23;

/// One content word of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// Equal hashes are equal words.
    pub(super) hash: u64,
    start: u32,
    pub(super) length: u16,
    /// Word, initial or number.
    pub(super) kind: Kind,
    /// How rare the word is among all names, in bits: 1 for everybody's word.
    pub(super) weight: u8,
    /// Whether it only ever matches as a whole.
    pub(super) solid: bool,
    /// Whether it is a short word in capitals.
    pub(super) acronym: bool,
    /// Whether it makes a name that of a branch.
    pub(super) narrowing: bool,
}

/// Everything known about the entities of a namespace.
#[derive(Debug)]
pub(super) struct World {
    pub(super) ids: Vec<Uuid>,
    pub(super) types: Vec<String>,
    pub(super) type_of: Vec<u32>,
    pub(super) mention_counts: Vec<i64>,
    pub(super) created_at_us: Vec<i64>,
    pub(super) vector_kinds: Vec<u32>,
    /// Length of the vectors of a kind, by kind; kind zero is "no vector".
    pub(super) dimensions: Vec<u32>,
    pub(super) facts: Vec<NameFacts>,
    pub(super) words: Ragged<Word>,
    arena: String,
    /// Where the folded name of an entity begins in the arena, and where the last one ends.
    name_starts: Vec<u32>,
    /// Hash of the exact name and type.
    pub(super) exact: Vec<u64>,
    /// Hash of the lower-cased name and type.
    pub(super) lower: Vec<u64>,
    pub(super) attributes: Ragged<Attribute>,
    pub(super) chunks: Ragged<u64>,
    pub(super) in_scope: Vec<bool>,
    pub(super) claims: Vec<Option<Claim>>,
    pub(super) verdict_keys: Vec<Option<[u8; 16]>>,
    pub(super) neighbourhood: Neighbourhood,
}

impl World {
    /// Sorts and reads everything that was fed.
    pub(super) fn build(columns: &Columns, edges: &[FedEdge], claims: &[(Uuid, Claim)]) -> Result<Self, DedupeError> {
        if columns.ids.len() > ENTITIES_MAX {
            return Err(DedupeError::TooManyEntities { entities_max: ENTITIES_MAX });
        }
        let mut order: Vec<u32> = (0..counted(columns.ids.len())).collect();
        order.par_sort_unstable_by_key(|&row| columns.ids[row as usize]);
        let ids = picked(&columns.ids, &order);
        if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(DedupeError::FedTwice { id: twice[0] });
        }
        let (types, type_of) = ranked_types(columns, &order);
        let names = read_names(columns, &order, &types, &type_of);
        let index = IdIndex::new(&ids);
        let neighbourhood = Neighbourhood::build(edges, &index, &ids, &names.facts, &type_of);
        let mut dimensions = vec![0; columns.models.len() + 1];
        for ((_, dimension), kind) in &columns.models {
            dimensions[*kind as usize] = *dimension;
        }
        Ok(Self {
            types,
            type_of,
            mention_counts: picked(&columns.mention_counts, &order),
            created_at_us: picked(&columns.created_at_us, &order),
            vector_kinds: picked(&columns.vector_kinds, &order),
            dimensions,
            facts: names.facts,
            words: names.words,
            arena: names.arena,
            name_starts: names.name_starts,
            exact: names.exact,
            lower: names.lower,
            attributes: columns.attributes.reordered(&order),
            chunks: columns.chunks.reordered(&order),
            in_scope: picked(&columns.in_scope, &order),
            claims: placed_claims(claims, &index, &ids),
            verdict_keys: picked(&columns.verdict_keys, &order),
            neighbourhood,
            ids,
        })
    }

    /// How many entities there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The rank of an id.
    pub(super) fn rank(&self, id: &Uuid) -> Option<u32> {
        self.ids.binary_search(id).ok().map(counted)
    }

    /// The folded text of a word.
    pub(super) fn text(&self, word: Word) -> &str {
        &self.arena[word.start as usize..word.start as usize + usize::from(word.length)]
    }

    /// All letters of a name, without spacing and punctuation.
    pub(super) fn folded_text(&self, rank: u32) -> &str {
        &self.arena[self.name_starts[rank as usize] as usize..self.name_starts[rank as usize + 1] as usize]
    }

    /// The order in which an oversized block is sampled: by a hash of the id, so that no spelling is preferred.
    pub(super) fn sample_order(&self, rank: u32) -> u64 {
        hash_bytes(SAMPLE_SEED, self.ids[rank as usize].as_bytes())
    }

    /// Whether the two have the same type.
    pub(super) fn same_type(&self, left: u32, right: u32) -> bool {
        self.type_of[left as usize] == self.type_of[right as usize]
    }
}

/// Finds ranks by id in constant time, whatever version the ids have.
#[derive(Debug)]
pub(super) struct IdIndex {
    slots: Vec<(u64, u32)>,
    buckets: Vec<u32>,
    shift: u32,
}

impl IdIndex {
    fn new(ids: &[Uuid]) -> Self {
        let mut slots: Vec<(u64, u32)> =
            ids.iter().enumerate().map(|(rank, id)| (hash_bytes(INDEX_SEED, id.as_bytes()), counted(rank))).collect();
        slots.par_sort_unstable();
        let bits = ids.len().next_power_of_two().trailing_zeros().max(1);
        let shift = u64::BITS - bits;
        let mut buckets = vec![0_u32; (1_usize << bits) + 1];
        for (hash, _) in &slots {
            buckets[Self::bucket(*hash, shift) + 1] += 1;
        }
        for bucket in 1..buckets.len() {
            buckets[bucket] += buckets[bucket - 1];
        }
        Self { slots, buckets, shift }
    }

    fn bucket(hash: u64, shift: u32) -> usize {
        usize::try_from(hash >> shift).unwrap_or(0)
    }

    /// The rank of `id` among the indexed `ids`.
    pub(super) fn rank(&self, ids: &[Uuid], id: &Uuid) -> Option<u32> {
        let hash = hash_bytes(INDEX_SEED, id.as_bytes());
        let bucket = Self::bucket(hash, self.shift);
        let range = self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize;
        self.slots[range].iter().find(|(slot, rank)| *slot == hash && ids[*rank as usize] == *id).map(|(_, rank)| *rank)
    }
}

fn picked<T: Copy>(column: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|&row| column[row as usize]).collect()
}

/// Types numbered in the order of their names, not of their arrival.
fn ranked_types(columns: &Columns, order: &[u32]) -> (Vec<String>, Vec<u32>) {
    let mut renumbered = vec![0; columns.types.len()];
    for (rank, number) in columns.types.values().enumerate() {
        renumbered[*number as usize] = counted(rank);
    }
    let type_of = order.iter().map(|&row| renumbered[columns.type_numbers[row as usize] as usize]).collect();
    (columns.types.keys().cloned().collect(), type_of)
}

fn placed_claims(claims: &[(Uuid, Claim)], index: &IdIndex, ids: &[Uuid]) -> Vec<Option<Claim>> {
    let mut placed = vec![None; ids.len()];
    for (id, claim) in claims {
        if let Some(rank) = index.rank(ids, id) {
            // To be absorbed is the stronger claim: such a row is left alone entirely.
            let slot: &mut Option<Claim> = &mut placed[rank as usize];
            *slot = Some(slot.map_or(*claim, |earlier| earlier.min(*claim)));
        }
    }
    placed
}

/// The names of all entities, read.
struct ReadNames {
    facts: Vec<NameFacts>,
    words: Ragged<Word>,
    arena: String,
    name_starts: Vec<u32>,
    exact: Vec<u64>,
    lower: Vec<u64>,
}

/// The names of one task.
#[derive(Default)]
struct NameBatch {
    facts: Vec<NameFacts>,
    tokens: Ragged<StoredToken>,
    arena: String,
    name_starts: Vec<u32>,
    exact: Vec<u64>,
    lower: Vec<u64>,
}

fn read_names(columns: &Columns, order: &[u32], types: &[String], type_of: &[u32]) -> ReadNames {
    let persons: Vec<bool> = types.iter().map(|name| lexicon::is_person_type(name)).collect();
    let ranks: Vec<usize> = (0..order.len()).collect();
    let read = |ranks: &[usize]| {
        let mut batch = NameBatch::default();
        let mut reader = Reader::default();
        let mut tokens = Vec::new();
        for &rank in ranks {
            let name = columns.names.get(order[rank] as usize);
            let entity_type = type_of[rank];
            tokens.clear();
            batch.name_starts.push(counted(batch.arena.len()));
            let facts = reader.read(name, persons[entity_type as usize], &mut batch.arena, &mut tokens);
            batch.facts.push(facts);
            batch.tokens.push(tokens.iter().copied().filter(|token| token.kind.is_content()));
            batch.exact.push(typed(entity_type, hash_bytes(EXACT_SEED, name.as_bytes())));
            batch.lower.push(typed(entity_type, hash_bytes(EXACT_SEED, reader.lower(name).as_bytes())));
        }
        batch
    };
    let batches: Vec<NameBatch> = ranks.par_chunks(NAMES_PER_TASK).map(read).collect();
    joined(batches)
}

/// A key within a type.
pub(super) fn typed(entity_type: u32, key: u64) -> u64 {
    hash_number(u64::from(entity_type), key)
}

fn joined(batches: Vec<NameBatch>) -> ReadNames {
    let rarity = Rarity::of(&batches);
    let mut names = ReadNames {
        facts: Vec::new(),
        words: Ragged::default(),
        arena: String::new(),
        name_starts: Vec::new(),
        exact: Vec::new(),
        lower: Vec::new(),
    };
    for batch in batches {
        let base = counted(names.arena.len());
        for row in 0..batch.tokens.len() {
            names.words.push(batch.tokens.row(row).iter().map(|token| Word {
                hash: token.hash,
                start: base + token.start,
                length: token.length,
                kind: token.kind,
                weight: rarity.weight(token.hash),
                solid: token.is_solid(),
                acronym: token.is_acronym(),
                narrowing: token.narrowing,
            }));
        }
        names.name_starts.extend(batch.name_starts.iter().map(|start| base + start));
        names.arena.push_str(&batch.arena);
        names.facts.extend(batch.facts);
        names.exact.extend(batch.exact);
        names.lower.extend(batch.lower);
    }
    names.name_starts.push(counted(names.arena.len()));
    names
}

/// What every word weighs at least, in halvings: in a small store, where a word is in half of the names or in one of
/// four, words should still weigh about the same.
const RARITY_BASE: u32 = 3;

/// How rare each word is: the number of halvings from all names to those that hold it.
struct Rarity {
    hashes: Vec<u64>,
    weights: Vec<u8>,
}

impl Rarity {
    fn of(batches: &[NameBatch]) -> Self {
        let mut all: Vec<u64> = batches
            .iter()
            .flat_map(|batch| (0..batch.tokens.len()).flat_map(|row| batch.tokens.row(row)).map(|token| token.hash))
            .collect();
        all.par_sort_unstable();
        let names: usize = batches.iter().map(|batch| batch.facts.len()).sum();
        let mut rarity = Self { hashes: Vec::new(), weights: Vec::new() };
        for group in all.chunk_by(|a, b| a == b) {
            let halvings = (names / group.len()).max(1).ilog2() + RARITY_BASE;
            rarity.hashes.push(group[0]);
            rarity.weights.push(u8::try_from(halvings).unwrap_or(u8::MAX));
        }
        rarity
    }

    fn weight(&self, hash: u64) -> u8 {
        self.hashes.binary_search(&hash).map_or(1, |at| self.weights[at])
    }
}
