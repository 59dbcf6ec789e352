//! Small worlds: rows with names one can follow through a test.

use std::sync::Arc;

use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, StableNamespaceId};
use dream_ports::Store;
use dream_ports::run::Namespace;
use uuid::Uuid;

use crate::kit::{ChunkTable, NamespaceSeed, WorldKit};

/// Length of the vectors: that of Khora's schema in the fixtures.
pub const DIMENSION: usize = 384;

/// The model that is said to have made them.
pub const MODEL: &str = "test-model";

/// When the worlds of the suite were ingested.
pub const INGESTED_AT: Moment = Moment::from_micros(1_772_334_245_000_000);

/// A kit, its store and a namespace in it.
pub struct Scene<'k> {
    /// The kit.
    pub kit: &'k dyn WorldKit,
    /// The store.
    pub store: Arc<dyn Store>,
    /// The namespace.
    pub namespace: Namespace,
}

impl<'k> Scene<'k> {
    /// An empty namespace.
    pub async fn new(kit: &'k dyn WorldKit) -> Self {
        Self::numbered(kit, 1).await
    }

    /// One of several empty namespaces.
    pub async fn numbered(kit: &'k dyn WorldKit, number: u128) -> Self {
        let seed = NamespaceSeed {
            id: NamespaceId(Uuid::from_u128(0xa000_0000 + number)),
            stable_id: StableNamespaceId(Uuid::from_u128(0xb000_0000 + number)),
            version: 1,
            is_active: true,
            config_overrides: "{}".to_owned(),
        };
        kit.insert_namespace(&seed).await;
        let store = kit.store();
        let namespace = store.resolve_namespace(seed.stable_id.0).await.unwrap();
        Self { kit, store, namespace }
    }

    /// Writes rows as Khora would, entities first.
    pub async fn with(self, rows: &[Row]) -> Self {
        for table in [Table::Entities, Table::Relationships, Table::TemporalEdges] {
            for row in rows.iter().filter(|row| row.table == table) {
                self.kit.insert(self.namespace.id, row).await;
            }
        }
        self
    }

    /// Writes chunks.
    pub async fn with_chunks(self, chunks: impl IntoIterator<Item = u128>) -> Self {
        for chunk in chunks {
            self.kit.insert_chunk(self.namespace.id, self::chunk(chunk), ChunkTable::Chunks).await;
        }
        self
    }

    /// A row as the store has it.
    pub async fn row(&self, key: RowKey) -> Option<Row> {
        self.store.row(key).await.unwrap()
    }

    /// An entity that must be there.
    pub async fn entity(&self, number: u128) -> Row {
        self.row(RowKey::entity(id(number))).await.expect("the entity is there")
    }

    /// A relationship that must be there.
    pub async fn edge(&self, number: u128) -> Row {
        self.row(RowKey::relationship(id(number))).await.expect("the relationship is there")
    }
}

/// The id of an entity or an edge.
pub fn id(number: u128) -> Uuid {
    Uuid::from_u128(0xe000_0000_0000_4000_8000_0000_0000_0000 + number)
}

/// The id of a chunk.
pub fn chunk(number: u128) -> Uuid {
    Uuid::from_u128(0xc000_0000_0000_4000_8000_0000_0000_0000 + number)
}

/// The id of a document.
pub fn document(number: u128) -> Uuid {
    Uuid::from_u128(0xd000_0000_0000_4000_8000_0000_0000_0000 + number)
}

fn seconds(number: u128) -> i64 {
    i64::try_from(number).unwrap()
}

/// A person, mentioned once in one chunk.
pub fn entity(number: u128, name: &str) -> Row {
    let at = Value::Time(INGESTED_AT.plus_seconds(seconds(number)));
    Row::empty(Table::Entities, id(number))
        .with(Column::Name, Value::Text(name.to_owned()))
        .with(Column::EntityType, Value::Text("PERSON".to_owned()))
        .with(Column::Description, Value::Text(format!("About {name}.")))
        .with(Column::Attributes, Value::Json("{}".to_owned()))
        .with(Column::SourceDocumentIds, Value::Ids(vec![document(number)]))
        .with(Column::SourceChunkIds, Value::Ids(vec![chunk(number)]))
        .with(Column::MentionCount, Value::Int(1))
        .with(Column::EmbeddingModel, Value::Text(MODEL.to_owned()))
        .with(Column::Confidence, Value::Float(0.7))
        .with(Column::Metadata, Value::Json("{}".to_owned()))
        .with(Column::CreatedAt, at.clone())
        .with(Column::UpdatedAt, at)
}

/// An edge, extracted from one chunk.
pub fn edge(number: u128, source: u128, target: u128, relationship_type: &str) -> Row {
    let at = Value::Time(INGESTED_AT.plus_seconds(seconds(number)));
    Row::empty(Table::Relationships, id(number))
        .with(Column::SourceEntityId, Value::Id(id(source)))
        .with(Column::TargetEntityId, Value::Id(id(target)))
        .with(Column::RelationshipType, Value::Text(relationship_type.to_owned()))
        .with(Column::Description, Value::Text(String::new()))
        .with(Column::Properties, Value::Json("{}".to_owned()))
        .with(Column::SourceDocumentIds, Value::Ids(vec![document(number)]))
        .with(Column::SourceChunkIds, Value::Ids(vec![chunk(number)]))
        .with(Column::Confidence, Value::Float(0.9))
        .with(Column::Weight, Value::Float(1.0))
        .with(Column::Metadata, Value::Json("{}".to_owned()))
        .with(Column::CreatedAt, at.clone())
        .with(Column::UpdatedAt, at)
}

/// One of Khora's temporal edges.
pub fn temporal_edge(number: u128, source: u128, target: u128) -> Row {
    Row::empty(Table::TemporalEdges, id(number))
        .with(Column::SourceEntityId, Value::Id(id(source)))
        .with(Column::TargetEntityId, Value::Id(id(target)))
        .with(Column::RelationshipType, Value::Text("MET".to_owned()))
        .with(Column::IsValid, Value::Bool(true))
}

/// A vector of length 1 that points nearly along one axis; `tilt` turns it a little towards the next.
pub fn vector(axis: usize, tilt: f32) -> Value {
    let mut components = vec![0.0; DIMENSION];
    let length = tilt.mul_add(tilt, 1.0).sqrt();
    components[axis % DIMENSION] = 1.0 / length;
    components[(axis + 1) % DIMENSION] = tilt / length;
    Value::Vector(components)
}
