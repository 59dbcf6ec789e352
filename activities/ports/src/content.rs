//! Reading a namespace: streams out of one consistent snapshot.

use async_trait::async_trait;
use dream_core::change::{Row, RowKey, Table};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use uuid::Uuid;

use crate::error::StoreError;

/// An entity as planners see it. Borrowed from the row that is being read.
#[derive(Clone, Copy, Debug)]
pub struct EntityView<'a> {
    /// The entity.
    pub id: Uuid,
    /// Display name.
    pub name: &'a str,
    /// Type; Khora's default where the store holds null.
    pub entity_type: &'a str,
    /// Mentions; one where the store holds null.
    pub mention_count: i64,
    /// JSON object; `{}` where the store holds null.
    pub attributes: &'a str,
    /// Documents it was extracted from.
    pub source_document_ids: &'a [Uuid],
    /// Chunks it was extracted from.
    pub source_chunk_ids: &'a [Uuid],
    /// The model of its vector; none if it has no vector.
    pub embedding_model: Option<&'a str>,
    /// When it was first written.
    pub created_at: Moment,
    /// When it was last written.
    pub updated_at: Moment,
}

/// A relationship as planners see it.
#[derive(Clone, Copy, Debug)]
pub struct RelationshipView<'a> {
    /// The relationship.
    pub id: Uuid,
    /// Where it starts.
    pub source: Uuid,
    /// Where it ends.
    pub target: Uuid,
    /// Its type; Khora's default where the store holds null.
    pub relationship_type: &'a str,
}

/// A row as verification sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingView<'a> {
    /// The row.
    pub id: Uuid,
    /// Whether it is live.
    pub is_live: bool,
    /// Ends and type, if it is a relationship.
    pub edge: Option<((Uuid, Uuid), &'a str)>,
}

/// The references of one row, and which of them are dead.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceView<'a> {
    /// The row.
    pub row: RowKey,
    /// Whether the row is live.
    pub is_live: bool,
    /// When the row was last written.
    pub updated_at: Moment,
    /// How many references it has.
    pub references: u32,
    /// Those without a chunk in this namespace, in the order of the row, repetitions left out.
    pub dead: &'a [Uuid],
    /// Documents the row was extracted from.
    pub source_document_ids: &'a [Uuid],
    /// Ends of the edge, if it is one.
    pub ends: Option<(Uuid, Uuid)>,
}

/// An absorbed entity of which something came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resurfaced {
    /// The entity.
    pub absorbed: Uuid,
    /// Its survivor, as the alias has it.
    pub canonical: Uuid,
    /// Its name, as the row has it now.
    pub name: String,
    /// Its type, as the row has it now.
    pub entity_type: String,
    /// Whether its row lives again.
    pub is_live: bool,
    /// Its mentions now.
    pub mention_count: i64,
    /// Mentions that its survivor counts already.
    pub mention_count_seen: i64,
    /// Live edges that hang on it.
    pub edges_live: u32,
    /// Documents it was extracted from.
    pub source_document_ids: Vec<Uuid>,
    /// When the row was last written.
    pub updated_at: Moment,
}

/// A callback for entities. Like all of these it cannot fail: what it does not want it leaves.
pub type VisitEntity<'v> = &'v mut (dyn for<'r> FnMut(EntityView<'r>) + Send);

/// A callback for relationships.
pub type VisitRelationship<'v> = &'v mut (dyn for<'r> FnMut(RelationshipView<'r>) + Send);

/// A callback for rows that are verified.
pub type VisitStanding<'v> = &'v mut (dyn for<'r> FnMut(StandingView<'r>) + Send);

/// A callback for references.
pub type VisitReference<'v> = &'v mut (dyn for<'r> FnMut(ReferenceView<'r>) + Send);

/// A callback for vectors.
pub type VisitVector<'v> = &'v mut (dyn for<'r> FnMut(Uuid, &'r [f32]) + Send);

/// A callback for whole rows.
pub type VisitRow<'v> = &'v mut (dyn FnMut(Row) + Send);

/// A callback for chunks.
pub type VisitChunk<'v> = &'v mut (dyn for<'r> FnMut(ChunkView<'r>) + Send);

/// One consistent view of a namespace. Every stream is unordered; the core sorts.
#[async_trait]
pub trait Snapshot: Send {
    /// Live entities.
    async fn entities(&mut self, visit: VisitEntity<'_>) -> Result<(), StoreError>;

    /// Live relationships.
    async fn relationships(&mut self, visit: VisitRelationship<'_>) -> Result<(), StoreError>;

    /// Entities or relationships with these ids, retired ones included; of another table none.
    async fn standing(&mut self, table: Table, ids: IdRange, visit: VisitStanding<'_>) -> Result<(), StoreError>;

    /// Entities and relationships that have references, retired ones included.
    async fn references(&mut self, visit: VisitReference<'_>) -> Result<(), StoreError>;

    /// Vectors of these entities. One without a vector is left out.
    async fn vectors(&mut self, entities: &[Uuid], visit: VisitVector<'_>) -> Result<(), StoreError>;

    /// For each of these entities the newest recall of a chunk it was extracted from; none if never recalled.
    async fn recalls(&mut self, entities: &[Uuid]) -> Result<Vec<(Uuid, Option<Moment>)>, StoreError>;

    /// Absorbed entities of which something came back, and those of `strays` that were absorbed: retired nodes of a graph
    /// database that live edges hang on.
    async fn resurfaced(&mut self, strays: &[Uuid]) -> Result<Vec<Resurfaced>, StoreError>;

    /// Those of these chunks that exist in the namespace.
    async fn live_chunks(&mut self, chunks: &[Uuid]) -> Result<Vec<Uuid>, StoreError>;

    /// Names and types of those of these entities that are live.
    async fn live_names(&mut self, entities: &[Uuid]) -> Result<Vec<(Uuid, String, String)>, StoreError>;

    /// Every alias: absorbed entity and survivor.
    async fn aliases(&mut self) -> Result<Vec<(Uuid, Uuid)>, StoreError>;

    /// All rows of a table with all columns known to this program, retired ones included, for export.
    async fn rows(&mut self, table: Table, visit: VisitRow<'_>) -> Result<(), StoreError>;

    /// Chunks, for export: id, document, content, creation, last recall.
    async fn chunks(&mut self, visit: VisitChunk<'_>) -> Result<(), StoreError>;
}

/// A chunk, for export.
#[derive(Clone, Copy, Debug)]
pub struct ChunkView<'a> {
    /// The chunk.
    pub id: Uuid,
    /// Its document.
    pub document: Option<Uuid>,
    /// Its text.
    pub content: &'a str,
    /// When it was written.
    pub created_at: Moment,
    /// When it was last recalled.
    pub last_accessed_at: Option<Moment>,
}

/// Content of a store.
#[async_trait]
pub trait ContentStore: Send + Sync {
    /// Opens one consistent view of a namespace.
    async fn snapshot(&self, namespace: NamespaceId) -> Result<Box<dyn Snapshot>, StoreError>;

    /// One row with all columns, in whatever state.
    async fn row(&self, key: RowKey) -> Result<Option<Row>, StoreError>;
}
