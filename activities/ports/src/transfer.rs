//! Import: entities, relationships and chunks that come as lines.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::change::Row;
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use uuid::Uuid;

use crate::error::StoreError;
use crate::run::Namespace;

/// What to do with an entity whose name and type exist under another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnNameClash {
    /// Report it and leave it out.
    Skip,
    /// Import it with a number behind its name.
    Suffix,
}

/// A chunk to be imported.
#[derive(Clone, Debug)]
pub struct NewChunk {
    /// The chunk.
    pub id: Uuid,
    /// Its document; the import makes one per namespace where none is named.
    pub document: Option<Uuid>,
    /// Its text.
    pub content: String,
    /// When it was written.
    pub created_at: Moment,
    /// When it was last recalled.
    pub last_accessed_at: Option<Moment>,
}

/// What became of one row of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// Written.
    Written,
    /// The same id was there already, and was left as it is.
    Exists,
    /// The same id is one of another namespace of this store; left out.
    Elsewhere,
    /// The name and type exist under another id; left out.
    NameClash {
        /// That id.
        owner: Uuid,
    },
    /// Written with a number behind its name.
    Suffixed,
    /// An end of the edge does not exist; left out.
    NoEnd {
        /// The missing end.
        end: Uuid,
    },
    /// The vector has another length than the store's; written without it.
    WrongDimension,
}

/// The ids of a batch that a store has, and those that it is about to have.
#[derive(Clone, Debug, Default)]
pub struct KnownIds(BTreeMap<Uuid, bool>);

impl KnownIds {
    /// From what the store has: ids, and whether each is one of the namespace.
    pub fn new(stored: impl IntoIterator<Item = (Uuid, bool)>) -> Self {
        Self(stored.into_iter().collect())
    }

    /// Takes an id; answers why its row is not written, or nothing if it is new.
    pub fn take(&mut self, id: Uuid) -> Option<Imported> {
        match self.0.insert(id, true) {
            None => None,
            Some(true) => Some(Imported::Exists),
            Some(false) => {
                self.0.insert(id, false);
                Some(Imported::Elsewhere)
            }
        }
    }
}

/// Import into a store.
#[async_trait]
pub trait TransferStore: Send + Sync {
    /// The namespace with this stable id, made if it does not exist.
    async fn ensure_namespace(&self, stable_id: Uuid) -> Result<Namespace, StoreError>;

    /// Writes a batch of entities, in one transaction; answers for each row what became of it.
    async fn import_entities(
        &self,
        namespace: NamespaceId,
        rows: &[Row],
        on_name_clash: OnNameClash,
    ) -> Result<Vec<Imported>, StoreError>;

    /// Writes a batch of relationships, in one transaction.
    async fn import_relationships(&self, namespace: NamespaceId, rows: &[Row]) -> Result<Vec<Imported>, StoreError>;

    /// Writes a batch of chunks, in one transaction.
    async fn import_chunks(&self, namespace: NamespaceId, chunks: &[NewChunk]) -> Result<Vec<Imported>, StoreError>;
}
