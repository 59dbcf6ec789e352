//! A sample namespace that looks like what agents leave behind after some busy weeks.
//!
//! Everything is made up from a fixed list and a counter, so that every demo shows the same.

mod names;

use dream_core::change::{Column, Row, Table, Value};
use dream_core::clock::Moment;
use dream_ports::transfer::NewChunk;
use uuid::Uuid;

/// The stable id of the sample namespace.
pub(crate) const NAMESPACE: Uuid = Uuid::from_u128(0xd4ea_0000_0000_4000_8000_0000_0000_0001);

/// Length of the sample's vectors.
const DIMENSION: usize = 96;

/// The model they claim to be of.
const MODEL: &str = "demo-trigrams-96";

/// When the sample begins: 2026-09-01, in microseconds.
const BEGIN_MICROS: i64 = 1_788_220_800_000_000;

const MICROS_PER_HOUR: i64 = 3_600_000_000;

/// The sample: rows ready to be imported.
pub(crate) struct World {
    pub(crate) entities: Vec<Row>,
    pub(crate) relationships: Vec<Row>,
    pub(crate) chunks: Vec<NewChunk>,
}

/// What the sample is told about one entity.
struct Person<'a> {
    name: &'a str,
    entity_type: &'a str,
    mentions: i64,
    attributes: &'a str,
    /// References to chunks that were forgotten.
    dead: usize,
}

/// Makes the sample.
pub(crate) fn world() -> World {
    let mut world = World { entities: Vec::new(), relationships: Vec::new(), chunks: Vec::new() };
    let mut people = Vec::new();
    for (position, name) in names::people().into_iter().enumerate() {
        people.push(world.simple(&name, "PERSON", 1 + i64::try_from(position % 5).unwrap_or(0)));
    }
    let organizations: Vec<Uuid> =
        names::organizations().iter().map(|name| world.simple(name, "ORGANIZATION", 4)).collect();
    let projects: Vec<Uuid> = names::projects().iter().map(|name| world.simple(name, "PROJECT", 3)).collect();
    for (position, person) in people.iter().enumerate() {
        let organization = organizations[position % organizations.len()];
        let project = projects[(position * 7 + position / 11) % projects.len()];
        world.edge(*person, "WORKS_FOR", organization, 0.9);
        world.edge(*person, "CONTRIBUTES_TO", project, 0.8);
        if position % 3 == 0 {
            let other = people[(position * 5 + 1) % people.len()];
            world.edge(*person, "ASSOCIATED_WITH", other, 0.3);
        }
    }
    world.spelling_variants(&organizations);
    world.strangers();
    world.drifted_types();
    world
}

impl World {
    fn simple(&mut self, name: &str, entity_type: &str, mentions: i64) -> Uuid {
        // One in nine still points at a chunk that was forgotten.
        let dead = usize::from(self.entities.len().is_multiple_of(9));
        self.entity(&Person { name, entity_type, mentions, attributes: "{}", dead })
    }

    fn entity(&mut self, person: &Person<'_>) -> Uuid {
        let id = Uuid::new_v5(&NAMESPACE, format!("entity/{}/{}", person.entity_type, person.name).as_bytes());
        let position = i64::try_from(self.entities.len()).unwrap_or(0);
        let written = Moment::from_micros(BEGIN_MICROS + position * MICROS_PER_HOUR);
        let mut references = Vec::new();
        for mention in 0..usize::try_from(person.mentions).unwrap_or(1).min(3) {
            let chunk = Uuid::new_v5(&id, format!("chunk/{mention}").as_bytes());
            references.push(chunk);
            self.chunks.push(NewChunk {
                id: chunk,
                document: None,
                content: format!("{} came up in this conversation.", person.name),
                created_at: written,
                last_accessed_at: (position % 4 == 0).then_some(written),
            });
        }
        references.extend((0..person.dead).map(|at| Uuid::new_v5(&id, format!("forgotten/{at}").as_bytes())));
        let row = Row::empty(Table::Entities, id)
            .with(Column::Name, Value::Text(person.name.to_owned()))
            .with(Column::EntityType, Value::Text(person.entity_type.to_owned()))
            .with(Column::Description, Value::Text(String::new()))
            .with(Column::Attributes, Value::Json(person.attributes.to_owned()))
            .with(Column::SourceChunkIds, Value::Ids(references))
            .with(Column::MentionCount, Value::Int(person.mentions))
            .with(Column::Embedding, Value::Vector(trigram_vector(person.name)))
            .with(Column::EmbeddingModel, Value::Text(MODEL.to_owned()))
            .with(Column::Confidence, Value::Float(1.0))
            .with(Column::CreatedAt, Value::Time(written))
            .with(Column::UpdatedAt, Value::Time(written));
        self.entities.push(row);
        id
    }

    fn edge(&mut self, source: Uuid, relationship_type: &str, target: Uuid, confidence: f64) {
        let name = format!("edge/{source}/{relationship_type}/{target}/{}", self.relationships.len());
        let written = Value::Time(Moment::from_micros(BEGIN_MICROS));
        let row = Row::empty(Table::Relationships, Uuid::new_v5(&NAMESPACE, name.as_bytes()))
            .with(Column::SourceEntityId, Value::Id(source))
            .with(Column::TargetEntityId, Value::Id(target))
            .with(Column::RelationshipType, Value::Text(relationship_type.to_owned()))
            .with(Column::Confidence, Value::Float(confidence))
            .with(Column::Weight, Value::Float(1.0))
            .with(Column::CreatedAt, written.clone())
            .with(Column::UpdatedAt, written);
        self.relationships.push(row);
    }

    /// One thing under several spellings, as ingestion in batches leaves it.
    fn spelling_variants(&mut self, organizations: &[Uuid]) {
        for (position, names) in names::VARIANTS.iter().enumerate() {
            let employer = organizations[position % organizations.len()];
            for (variant, name) in names.1.iter().enumerate() {
                let mentions = if variant == 0 { 8 } else { 2 };
                let dead = usize::from(variant == 1);
                let id = self.entity(&Person { name, entity_type: names.0, mentions, attributes: "{}", dead });
                self.edge(id, "PARTNER_OF", employer, 0.9);
            }
        }
        let (keep, other) = ("Marie Skłodowska-Curie", "M. Curie");
        let field = self.simple("Radioactivity", "CONCEPT", 6);
        for (name, mentions, attributes) in [(keep, 9, r#"{"born": 1867}"#), (other, 2, r#"{"prizes": 2}"#)] {
            let id = self.entity(&Person { name, entity_type: "PERSON", mentions, attributes, dead: 0 });
            self.edge(id, "STUDIES", field, 0.95);
        }
    }

    /// Different things whose names look or fold alike.
    fn strangers(&mut self) {
        for (entity_type, name) in names::STRANGERS {
            self.simple(name, entity_type, 2);
        }
    }

    /// Types that crept in beside the declared ones.
    fn drifted_types(&mut self) {
        for (entity_type, name) in names::DRIFTED {
            self.simple(name, entity_type, 1);
        }
    }
}

/// A vector out of the letters of a name: alike for alike spellings, and made without any model.
fn trigram_vector(name: &str) -> Vec<f32> {
    let letters: Vec<char> = name.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    let mut vector = vec![0.0_f32; DIMENSION];
    for window in letters.windows(3.min(letters.len().max(1))) {
        let digest = window.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, letter| {
            (hash ^ u64::from(u32::from(*letter))).wrapping_mul(0x0100_0000_01b3)
        });
        let place = usize::try_from(digest % DIMENSION as u64).unwrap_or(0);
        vector[place] += if digest & (1 << 40) == 0 { 1.0 } else { -1.0 };
    }
    let norm = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|component| *component /= norm);
    }
    vector
}
