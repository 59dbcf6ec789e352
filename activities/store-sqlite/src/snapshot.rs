//! One consistent view of a namespace: a read transaction, out of which everything is streamed.

use async_trait::async_trait;
use dream_core::change::{Column, Row, RowKey, Table};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::rows::{Needs, Rows};
use dream_core::undo::vector_from_bytes;
use dream_ports::content::{
    ChunkView, EntityView, ReferenceView, RelationshipView, Resurfaced, Snapshot, VisitChunk, VisitEntity,
    VisitReference, VisitRelationship, VisitRow, VisitVector,
};
use dream_ports::run::{Capabilities, VectorsAt};
use dream_ports::{ContentStore, StoreError};
use futures::TryStreamExt as _;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row as _};
use uuid::Uuid;

use crate::encode::{hex, id_array, parse_ids, spell_moment};
use crate::error::ResultExt;
use crate::load::{load, over_chunks, table_row, vector_cell};
use crate::records::{id, maybe, moment, number, text};
use crate::runs::{Tx};
use crate::{SqliteStore, sql};

const OPERATION: &str = "read the namespace";

/// Ids bound in one statement.
const IDS_PER_STATEMENT_MAX: usize = 1_000;

struct SqliteSnapshot {
    tx: Tx,
    namespace: NamespaceId,
    now: Moment,
    capabilities: Capabilities,
}

#[async_trait]
impl ContentStore for SqliteStore {
    async fn snapshot(&self, namespace: NamespaceId) -> Result<Box<dyn Snapshot>, StoreError> {
        let capabilities = self.capabilities().await?;
        let mut tx = self.reader.begin().await.doing(OPERATION)?;
        // The first read of a table fixes the view for all that follow.
        sqlx::query(sql!("namespaces/list")).bind("").bind(1).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        let now = crate::runs::now(&mut tx).await?;
        Ok(Box::new(SqliteSnapshot { tx, namespace, now, capabilities }))
    }

    async fn row(&self, key: RowKey) -> Result<Option<Row>, StoreError> {
        let Some(namespace) = self.namespace_of(key).await? else { return Ok(None) };
        let capabilities = self.capabilities().await?;
        let mut tx = self.reader.begin().await.doing(OPERATION)?;
        let mut needs = Needs::default();
        needs.rows.insert(key);
        if key.table == Table::Entities {
            needs.embeddings.insert(key.id);
        }
        let mut rows = Rows::default();
        load(&capabilities, &mut tx, namespace, &needs, &mut rows).await?;
        Ok(rows.get(key).cloned())
    }
}

impl SqliteStore {
    async fn namespace_of(&self, key: RowKey) -> Result<Option<NamespaceId>, StoreError> {
        let statement = match key.table {
            Table::Entities => sql!("entities/namespace"),
            Table::Relationships => sql!("relationships/namespace"),
            Table::TemporalEdges => sql!("temporal_edges/namespace"),
            Table::Aliases => sql!("aliases/namespace"),
        };
        let row = sqlx::query(statement).bind(hex(key.id)).fetch_optional(&self.reader).await.doing(OPERATION)?;
        row.map(|row| id(&row, "namespace_id").map(NamespaceId)).transpose()
    }
}

impl SqliteSnapshot {
    /// Streams a statement whose parameters are the namespace and the view's moment.
    async fn each(
        &mut self,
        statement: String,
        mut visit: impl FnMut(SqliteRow) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        let mut rows = sqlx::query(AssertSqlSafe(statement))
            .bind(hex(self.namespace.0))
            .bind(spell_moment(self.now))
            .fetch(&mut *self.tx);
        while let Some(row) = rows.try_next().await.doing(OPERATION)? {
            visit(row)?;
        }
        Ok(())
    }

    async fn references_of(
        &mut self,
        table: Table,
        statement: &str,
        visit: VisitReference<'_>,
    ) -> Result<(), StoreError> {
        let statement = over_chunks(statement, &self.capabilities);
        self.each(statement, |row| {
            let mut dead = parse_ids(&text(&row, "dead")?)?;
            let mut seen = std::collections::BTreeSet::new();
            dead.retain(|chunk| seen.insert(*chunk));
            let ends = match table {
                Table::Relationships => Some((id(&row, "source_entity_id")?, id(&row, "target_entity_id")?)),
                _ => None,
            };
            let documents = parse_ids(&text(&row, "source_document_ids")?)?;
            visit(ReferenceView {
                row: RowKey { table, id: id(&row, "id")? },
                is_live: row.try_get_unchecked("is_live").doing(OPERATION)?,
                updated_at: moment(&row, "updated_at")?,
                references: number(&row, "reference_count")?,
                dead: &dead,
                source_document_ids: &documents,
                ends,
            });
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl Snapshot for SqliteSnapshot {
    async fn entities(&mut self, visit: VisitEntity<'_>) -> Result<(), StoreError> {
        let has_vectors = self.capabilities.vectors == VectorsAt::Store;
        self.each(sql!("entities/stream").to_owned(), |row| {
            let (name, entity_type) = (text(&row, "name")?, text(&row, "entity_type")?);
            let attributes = text(&row, "attributes")?;
            let documents = parse_ids(&text(&row, "source_document_ids")?)?;
            let chunks = parse_ids(&text(&row, "source_chunk_ids")?)?;
            let model = maybe(&row, "embedding_model")?.filter(|_| has_vectors);
            visit(EntityView {
                id: id(&row, "id")?,
                name: &name,
                entity_type: &entity_type,
                mention_count: row.try_get_unchecked("mention_count").doing(OPERATION)?,
                attributes: &attributes,
                source_document_ids: &documents,
                source_chunk_ids: &chunks,
                embedding_model: model.as_deref(),
                created_at: moment(&row, "created_at")?,
                updated_at: moment(&row, "updated_at")?,
            });
            Ok(())
        })
        .await
    }

    async fn relationships(&mut self, visit: VisitRelationship<'_>) -> Result<(), StoreError> {
        self.each(sql!("relationships/stream").to_owned(), |row| {
            let relationship_type = text(&row, "relationship_type")?;
            visit(RelationshipView {
                id: id(&row, "id")?,
                source: id(&row, "source_entity_id")?,
                target: id(&row, "target_entity_id")?,
                relationship_type: &relationship_type,
            });
            Ok(())
        })
        .await
    }

    async fn references(&mut self, visit: VisitReference<'_>) -> Result<(), StoreError> {
        self.references_of(Table::Entities, sql!("entities/references"), visit).await?;
        self.references_of(Table::Relationships, sql!("relationships/references"), visit).await
    }

    async fn vectors(&mut self, entities: &[Uuid], visit: VisitVector<'_>) -> Result<(), StoreError> {
        for entities in entities.chunks(IDS_PER_STATEMENT_MAX) {
            let mut rows = sqlx::query(sql!("embeddings/stream"))
                .bind(hex(self.namespace.0))
                .bind(id_array(entities))
                .fetch(&mut *self.tx);
            while let Some(row) = rows.try_next().await.doing(OPERATION)? {
                let bytes: Vec<u8> = row.try_get("vector").doing(OPERATION)?;
                if let Some(vector) = vector_from_bytes(&bytes) {
                    visit(id(&row, "id")?, &vector);
                }
            }
        }
        Ok(())
    }

    async fn recalls(&mut self, entities: &[Uuid]) -> Result<Vec<(Uuid, Option<Moment>)>, StoreError> {
        if !self.capabilities.has_recall_times {
            return Ok(Vec::new());
        }
        let mut recalls = Vec::new();
        for entities in entities.chunks(IDS_PER_STATEMENT_MAX) {
            let rows = sqlx::query(sql!("chunks/recalls"))
                .bind(hex(self.namespace.0))
                .bind(id_array(entities))
                .fetch_all(&mut *self.tx)
                .await
                .doing(OPERATION)?;
            for row in &rows {
                let recalled_at =
                    maybe(row, "recalled_at")?.map(|text| crate::encode::parse_moment(&text)).transpose()?;
                recalls.push((id(row, "id")?, recalled_at));
            }
        }
        Ok(recalls)
    }

    async fn resurfaced(&mut self) -> Result<Vec<Resurfaced>, StoreError> {
        let mut resurfaced = Vec::new();
        self.each(sql!("aliases/resurfaced").to_owned(), |row| {
            resurfaced.push(Resurfaced {
                absorbed: id(&row, "absorbed_id")?,
                canonical: id(&row, "canonical_id")?,
                name: text(&row, "name")?,
                entity_type: text(&row, "entity_type")?,
                is_live: row.try_get_unchecked("is_live").doing(OPERATION)?,
                mention_count: row.try_get_unchecked("mention_count").doing(OPERATION)?,
                mention_count_seen: row.try_get_unchecked("mention_count_seen").doing(OPERATION)?,
                edges_live: number(&row, "edges_live")?,
                source_document_ids: parse_ids(&text(&row, "source_document_ids")?)?,
                updated_at: moment(&row, "updated_at")?,
            });
            Ok(())
        })
        .await?;
        Ok(resurfaced)
    }

    async fn live_names(&mut self, entities: &[Uuid]) -> Result<Vec<(Uuid, String, String)>, StoreError> {
        let mut names = Vec::new();
        for entities in entities.chunks(IDS_PER_STATEMENT_MAX) {
            let rows = sqlx::query(sql!("entities/live_names"))
                .bind(hex(self.namespace.0))
                .bind(spell_moment(self.now))
                .bind(id_array(entities))
                .fetch_all(&mut *self.tx)
                .await
                .doing(OPERATION)?;
            for row in &rows {
                names.push((id(row, "id")?, text(row, "name")?, text(row, "entity_type")?));
            }
        }
        Ok(names)
    }

    async fn aliases(&mut self) -> Result<Vec<(Uuid, Uuid)>, StoreError> {
        let mut aliases = Vec::new();
        self.each(sql!("aliases/list").to_owned(), |row| {
            aliases.push((id(&row, "absorbed_id")?, id(&row, "canonical_id")?));
            Ok(())
        })
        .await?;
        Ok(aliases)
    }

    async fn rows(&mut self, table: Table, visit: VisitRow<'_>) -> Result<(), StoreError> {
        let statement = match table {
            Table::Entities => sql!("entities/export"),
            Table::Relationships => sql!("relationships/export"),
            Table::TemporalEdges => sql!("temporal_edges/export"),
            Table::Aliases => sql!("aliases/export"),
        };
        if table == Table::TemporalEdges && !self.capabilities.has_temporal_edges {
            return Ok(());
        }
        self.each(statement.to_owned(), |found| {
            let mut row = table_row(table, &found)?;
            if table == Table::Entities {
                let bytes: Option<Vec<u8>> = found.try_get("embedding").doing(OPERATION)?;
                row.put(Column::Embedding, bytes.map(|bytes| vector_cell(&bytes)).unwrap_or_default());
            }
            visit(row);
            Ok(())
        })
        .await
    }

    async fn chunks(&mut self, visit: VisitChunk<'_>) -> Result<(), StoreError> {
        for table in self.capabilities.chunk_tables.clone() {
            let has_recalls = self.capabilities.has_recall_times;
            let statement = match table.as_str() {
                "chunks" if has_recalls => sql!("chunks/export"),
                "chunks" => sql!("chunks/export_unrecalled"),
                _ => sql!("chunks/export_khora"),
            };
            self.each(statement.to_owned(), |row| {
                let content = text(&row, "content")?;
                let document = maybe(&row, "document_id")?;
                let recalled = maybe(&row, "last_accessed_at")?;
                visit(ChunkView {
                    id: id(&row, "id")?,
                    document: document.map(|text| crate::encode::parse_id(&text)).transpose()?,
                    content: &content,
                    created_at: moment(&row, "created_at")?,
                    last_accessed_at: recalled.map(|text| crate::encode::parse_moment(&text)).transpose()?,
                });
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}
