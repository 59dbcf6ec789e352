//! Worlds made by a rule, as import lines: entities with duplicates under other spellings, edges between them, references
//! of which some are dead.

use std::fmt::Write as _;

use serde_json::{Value, json};
use uuid::Uuid;

/// The stable id of every test namespace that needs no other.
pub const NAMESPACE: &str = "11111111-1111-4111-8111-111111111111";

/// The id of the `number`-th thing of a kind.
pub fn id(kind: &str, number: usize) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{kind}/{number}").as_bytes())
}

/// Syllables of names; no two of the words made of them are one slip apart.
const SYLLABLES: [&str; 12] =
    ["bar", "dolm", "fenk", "gosh", "hulv", "jant", "kips", "lorr", "mexu", "nyck", "puzo", "quie"];

/// A name of two words that no other number has.
pub fn name(number: usize) -> String {
    let count = SYLLABLES.len();
    let word = |mut number: usize| {
        let mut word = String::new();
        for _ in 0..3 {
            word.push_str(SYLLABLES[number % count]);
            number /= count;
        }
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
    };
    // The words of three syllables come round again; then each meets another one.
    let round = number / count.pow(3);
    format!("{} {}", word(number * 7 + 5), word(number * 13 + 1 + round * 5))
}

/// A vector that points the same way for the same number only.
pub fn vector(number: usize, dimension: usize) -> Vec<f32> {
    let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
    let mut vector: Vec<f32> = (0..dimension)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect();
    let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= norm);
    vector
}

/// A world of `entities`, of which every tenth has a duplicate under another spelling.
pub struct World {
    pub entities: Vec<Value>,
    pub relationships: Vec<Value>,
    pub chunks: Vec<Value>,
}

/// Numbers per vector in these worlds.
pub const DIMENSION: usize = 16;

impl World {
    /// A world with a duplicate for every tenth of `count` entities.
    pub fn new(count: usize) -> Self {
        let mut world = Self { entities: Vec::new(), relationships: Vec::new(), chunks: Vec::new() };
        for number in 0..count {
            world.entity("entity", number, &name(number), 3);
            if number % 10 == 0 {
                world.entity("duplicate", number, &name(number).to_uppercase().replace(' ', "-"), 2);
            }
        }
        for number in 0..count {
            let from = if number % 20 == 0 { "duplicate" } else { "entity" };
            world.edge(number, id(from, number), id("entity", (number * 3 + 1) % count));
        }
        world
    }

    fn entity(&mut self, kind: &str, number: usize, name: &str, mentions: u32) {
        let entity = id(kind, number);
        let references: Vec<Uuid> = (0..3).map(|at| Uuid::new_v5(&entity, &[at])).collect();
        // The last reference of every fifth entity is dead.
        let live = if number.is_multiple_of(5) { 2 } else { 3 };
        for chunk in &references[..live] {
            self.chunks.push(json!({
                "kind": "chunk", "id": chunk, "content": format!("{name} was mentioned."),
                "created_at": "2026-05-01T00:00:00Z",
            }));
        }
        self.entities.push(json!({
            "kind": "entity", "id": entity, "name": name, "entity_type": "ORGANIZATION", "mention_count": mentions,
            "description": if kind == "entity" { String::new() } else { format!("about {name}") },
            "attributes": { "number": number, kind: true }, "source_chunk_ids": references,
            "embedding": vector(number, DIMENSION), "embedding_model": "test-16",
            "created_at": "2026-05-01T00:00:00Z",
        }));
    }

    fn edge(&mut self, number: usize, source: Uuid, target: Uuid) {
        self.relationships.push(json!({
            "kind": "relationship", "id": id("edge", number), "source_entity_id": source, "target_entity_id": target,
            "relationship_type": "SUPPLIES", "confidence": 0.8, "created_at": "2026-05-01T00:00:00Z",
        }));
    }

    /// The lines of the world.
    pub fn lines(&self) -> String {
        let mut lines = String::new();
        for line in self.chunks.iter().chain(&self.entities).chain(&self.relationships) {
            writeln!(lines, "{line}").unwrap();
        }
        lines
    }

    /// The lines in another order, the same for the same seed.
    pub fn shuffled(&self, seed: u64) -> String {
        let mut lines: Vec<String> = self.lines().lines().map(Into::into).collect();
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        for at in (1..lines.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let other = usize::try_from((state >> 33) % (at as u64 + 1)).unwrap();
            lines.swap(at, other);
        }
        lines.join("\n") + "\n"
    }
}

/// The content of a namespace without the moments at which a run wrote, which no two runs share.
pub fn timeless(content: &str) -> String {
    let mut timeless = String::new();
    for line in content.lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        // A store may keep the keys of a document in an order of its own.
        row.sort_all_objects();
        for field in ["updated_at", "valid_until", "invalidated_at"] {
            if let Some(moment) = row.get_mut(field) {
                *moment = json!("set");
            }
        }
        writeln!(timeless, "{row}").unwrap();
    }
    timeless
}

/// A sequence of numbers that looks like chance and is the same for the same seed.
pub struct Chance(pub u64);

impl Chance {
    /// The next number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
