//! How long planning takes: `cargo run --release -p dream-core --example dedupe_bench -- [ENTITIES…]`.
//!
//! The world is made from a seed: names of made-up words, 10 % duplicates (another case, joined words, an initial, a
//! lost letter, a legal form), 3 relationships per entity, vectors of 384 numbers that duplicates nearly share.
//! Reading the process's peak memory and the clock is what an example may do and the crate may not.

#![expect(clippy::disallowed_methods, reason = "a measurement needs a clock, arguments and the process's memory")]
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::time::Instant;

use dream_core::realm::graph::dedupe::{DedupePlanner, DedupeSettings, EmbeddingState, EntityInput};
use uuid::Uuid;

/// Length of the vectors.
const DIMENSION: usize = 384;
/// Relationships per entity.
const RELATIONSHIPS: u64 = 3;
/// One entity in this many is a duplicate.
const DUPLICATE_EVERY: u64 = 10;
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

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    for entities in if sizes.is_empty() { vec![10_000, 100_000] } else { sizes } {
        measure(entities);
    }
}

/// Plans one world and prints what each stage took.
fn measure(entities: u64) {
    let world = World { entities };
    let start = Instant::now();
    let mut planner = DedupePlanner::new(DedupeSettings::default());
    let mut name = String::new();
    for number in 0..entities {
        let entity_type = world.name_of(number, &mut name);
        planner.feed_entity(&EntityInput {
            id: id_of(number),
            name: &name,
            entity_type,
            mention_count: i64::try_from(random(number, 1) % 20).unwrap_or(0),
            created_at_us: i64::try_from(number).unwrap_or(0),
            embedding: EmbeddingState::Present { model: "made-up", dimension: 384 },
            attributes: &[],
            source_chunk_ids: &[id_of(number + entities)],
            in_scope: true,
            verdict_key: None,
        });
    }
    for edge in 0..entities * RELATIONSHIPS {
        let (source, target) = (random(edge, 2) % entities, random(edge, 3) % entities);
        let relationship_type = if edge % 5 < 2 { "ASSOCIATED_WITH" } else { "RELATES_TO" };
        planner.feed_edge(id_of(source), id_of(target), relationship_type);
    }
    let fed = start.elapsed();
    let start = Instant::now();
    let mut scorer = planner.propose().expect("the made-up world is sound");
    let proposed = start.elapsed();
    let needed = scorer.need_vectors().to_vec();
    let start = Instant::now();
    let mut vector = vec![0.0; DIMENSION];
    for id in &needed {
        world.vector(*id, &mut vector);
        scorer.feed_vector(*id, &vector);
    }
    let vectors_fed = start.elapsed();
    let start = Instant::now();
    let plan = scorer.finish();
    let finished = start.elapsed();
    println!(
        "{entities} entities: feed {fed:?} (names made up included), propose {proposed:?}, {} vectors {vectors_fed:?} (made up included), \
         finish {finished:?}; {} pairs weighed, {} merges absorb {}, {} kept apart, {} collisions; peak {} MiB",
        needed.len(),
        plan.counts.pairs_weighed,
        plan.merges.len(),
        plan.counts.entities_absorbed,
        plan.kept_apart.len(),
        plan.collisions.len(),
        peak_mib(),
    );
    for family in &plan.blocks.families {
        println!(
            "    {:?}: {} blocks, {} compared, {} found, {} split, {} sampled",
            family.family,
            family.blocks,
            family.pairs_compared,
            family.pairs_found,
            family.blocks_split,
            family.blocks_sampled
        );
    }
}

/// A made-up namespace.
struct World {
    entities: u64,
}

impl World {
    /// The entity that a number is a spelling of, and which spelling.
    fn original(&self, number: u64) -> (u64, u64) {
        if number % DUPLICATE_EVERY == 1 {
            let original = random(number, 4) % (self.entities / DUPLICATE_EVERY * 7 / 10).max(1) * DUPLICATE_EVERY;
            (original, 1 + number / DUPLICATE_EVERY % 5)
        } else {
            (number, 0)
        }
    }

    /// Writes the name of an entity; returns its type.
    fn name_of(&self, number: u64, name: &mut String) -> &'static str {
        let (original, spelling) = self.original(number);
        name.clear();
        push_word(random(original, 6), name);
        name.push(' ');
        push_word(random(original, 7), name);
        match spelling {
            1 => *name = name.to_lowercase(),
            2 => name.retain(|letter| letter != ' '),
            3 => *name = format!("{}. {}", &name[..1], name.split_once(' ').map_or("", |(_, last)| last)),
            4 => {
                name.pop();
            }
            5 => name.push_str(" Ltd"),
            _ => {}
        }
        let mut share = random(original, 8) % 100;
        let chosen = TYPES.iter().find(|(_, hundredths)| {
            let found = share < *hundredths;
            share = share.saturating_sub(*hundredths);
            found
        });
        chosen.map_or("PERSON", |(name, _)| name)
    }

    /// Writes the vector of an entity: that of the original, a little moved.
    fn vector(&self, id: Uuid, vector: &mut [f32]) {
        let (_, number) = id.as_u64_pair();
        let (original, spelling) = self.original(number);
        for (at, place) in vector.iter_mut().enumerate() {
            let near = signed(random(original * 1_000 + at as u64, 9));
            let moved = signed(random(number * 1_000 + at as u64, 10));
            *place = if spelling == 0 { near } else { near + moved * 0.1 };
        }
    }
}

/// The id of a number: scattered, and read back from its lower half.
fn id_of(number: u64) -> Uuid {
    Uuid::from_u64_pair(random(number, 5), number)
}

/// A made-up word of two to four syllables.
fn push_word(seed: u64, name: &mut String) {
    const CONSONANTS: &[u8] = b"bcdfghjklmnprstvwxz";
    const VOWELS: &[u8] = b"aeiou";
    let mut rest = seed;
    for syllable in 0..2 + seed % 3 {
        let consonant = CONSONANTS[(rest % 19) as usize] as char;
        name.push(if syllable == 0 { consonant.to_ascii_uppercase() } else { consonant });
        name.push(VOWELS[(rest / 19 % 5) as usize] as char);
        rest /= 95;
    }
    if seed.is_multiple_of(2) {
        name.push(CONSONANTS[(rest % 19) as usize] as char);
    }
}

/// A number between -1 and 1.
fn signed(seed: u64) -> f32 {
    let small = u16::try_from(seed >> 48).unwrap_or(0);
    f32::from(small) / 32_768.0 - 1.0
}

/// The seeded numbers that everything is made of.
fn random(number: u64, stream: u64) -> u64 {
    dream_core::algo::stable_hash::hash_number(stream, number)
}

/// The most memory the process ever held.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}
