//! One consistent view of a namespace: a read transaction, out of which everything is streamed.

use async_trait::async_trait;
use dream_core::change::{Column, Row, RowKey, Table};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use dream_core::rows::{Needs, Rows};
use dream_core::undo::vector_from_bytes;
use dream_ports::content::{
    ChunkView, EntityView, ReferenceView, RelationshipView, Resurfaced, Snapshot, StandingView, VisitChunk,
    VisitEntity, VisitReference, VisitRelationship, VisitRow, VisitStanding, VisitVector,
};
use dream_ports::run::VectorsAt;
use dream_ports::{ContentStore, StoreError};
use futures::TryStreamExt as _;
use sqlx::SqlSafeStr;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::encode::{hex, id_array, spell_moment, table_row, vector_cell};
use crate::error::ResultExt;
use crate::load::load;
use crate::records::{get, id, ids, maybe, maybe_id, maybe_moment, moment, number, text, unreadable};
use crate::schema::{Shape, shape};
use crate::tx::Tx;
use crate::{SqliteStore, sql};

const OPERATION: &str = "read the namespace";

/// Ids bound in one statement.
const IDS_PER_STATEMENT_MAX: usize = 1_000;

struct SqliteSnapshot {
    tx: Tx,
    namespace: NamespaceId,
    now: Moment,
    shape: Shape,
    has_recall_times: bool,
    has_vectors: bool,
}

#[async_trait]
impl ContentStore for SqliteStore {
    async fn snapshot(&self, namespace: NamespaceId) -> Result<Box<dyn Snapshot>, StoreError> {
        let capabilities = self.look().await?;
        let mut tx = self.reader.begin().await.doing(OPERATION)?;
        // The first read of a table fixes the view for all that follow.
        sqlx::query(sql!("namespaces/list")).bind("").bind(1).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        let now = crate::runs::now(&mut tx).await?;
        let shape = shape(&mut tx).await?;
        Ok(Box::new(SqliteSnapshot {
            tx,
            namespace,
            now,
            shape,
            has_recall_times: capabilities.has_recall_times,
            has_vectors: capabilities.vectors == VectorsAt::Store,
        }))
    }

    async fn row(&self, key: RowKey) -> Result<Option<Row>, StoreError> {
        let mut tx = self.reader.begin().await.doing(OPERATION)?;
        let shape = shape(&mut tx).await?;
        if key.table == Table::TemporalEdges && !shape.has_temporal_edges {
            return Ok(None);
        }
        let Some(namespace) = namespace_of(&mut tx, key).await? else { return Ok(None) };
        let mut needs = Needs::default();
        needs.rows.insert(key);
        if key.table == Table::Entities {
            needs.embeddings.insert(key.id);
        }
        let mut rows = Rows::default();
        load(&mut tx, shape, namespace, &needs, &mut rows).await?;
        Ok(rows.get(key).cloned())
    }
}

async fn namespace_of(tx: &mut Tx, key: RowKey) -> Result<Option<NamespaceId>, StoreError> {
    let statement = match key.table {
        Table::Entities => sql!("entities/namespace"),
        Table::Relationships => sql!("relationships/namespace"),
        Table::TemporalEdges => sql!("temporal_edges/namespace"),
        Table::Aliases => sql!("aliases/namespace"),
        // A row of a space is read by who knows the space.
        _ => return Ok(None),
    };
    let row = sqlx::query(statement).bind(hex(key.id)).fetch_optional(&mut **tx).await.doing(OPERATION)?;
    row.map(|row| id(&row, "namespace_id").map(NamespaceId)).transpose()
}

/// Names the table of a column that could not be read.
fn of_table(table: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::Unreadable { what, .. } if !what.contains('.') => {
            StoreError::Unreadable { operation: OPERATION, what: format!("{table}.{what}") }
        }
        other => other,
    }
}

impl SqliteSnapshot {
    /// Streams a statement whose parameters are the namespace and the view's moment, and whose columns come from `table`.
    async fn each(
        &mut self,
        table: &'static str,
        statement: impl SqlSafeStr,
        mut visit: impl FnMut(SqliteRow) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        let mut rows =
            sqlx::query(statement).bind(hex(self.namespace.0)).bind(spell_moment(self.now)).fetch(&mut *self.tx);
        while let Some(row) = rows.try_next().await.doing(OPERATION)? {
            visit(row).map_err(|error| of_table(table, error))?;
        }
        Ok(())
    }

    async fn references_of(&mut self, table: Table, visit: VisitReference<'_>) -> Result<(), StoreError> {
        let statement = match table {
            Table::Relationships => sql!("relationships/references"),
            _ => sql!("entities/references"),
        };
        let statement = self.shape.over_chunks(statement);
        self.each(table.as_str(), statement, |row| {
            let mut dead = ids(&row, "dead").map_err(|_| unreadable("source_chunk_ids"))?;
            let mut seen = std::collections::BTreeSet::new();
            dead.retain(|chunk| seen.insert(*chunk));
            let ends = match table {
                Table::Relationships => Some((id(&row, "source_entity_id")?, id(&row, "target_entity_id")?)),
                _ => None,
            };
            visit(ReferenceView {
                row: RowKey { table, id: id(&row, "id")? },
                is_live: get(&row, "is_live")?,
                updated_at: moment(&row, "updated_at")?,
                references: number(&row, "reference_count")?,
                dead: &dead,
                source_document_ids: &ids(&row, "source_document_ids")?,
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
        let has_vectors = self.has_vectors;
        self.each("entities", sql!("entities/stream"), |row| {
            let (name, entity_type) = (text(&row, "name")?, text(&row, "entity_type")?);
            let attributes = text(&row, "attributes")?;
            let (documents, chunks) = (ids(&row, "source_document_ids")?, ids(&row, "source_chunk_ids")?);
            let model = maybe(&row, "embedding_model")?.filter(|_| has_vectors);
            visit(EntityView {
                id: id(&row, "id")?,
                name: &name,
                entity_type: &entity_type,
                mention_count: get(&row, "mention_count")?,
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
        self.each("relationships", sql!("relationships/stream"), |row| {
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

    async fn standing(&mut self, table: Table, ids: IdRange, visit: VisitStanding<'_>) -> Result<(), StoreError> {
        let statement = match table {
            Table::Entities => sql!("entities/standing"),
            Table::Relationships => sql!("relationships/standing"),
            _ => return Ok(()),
        };
        let mut rows = sqlx::query(statement)
            .bind(hex(self.namespace.0))
            .bind(spell_moment(self.now))
            .bind(hex(ids.first))
            .bind(hex(ids.last))
            .fetch(&mut *self.tx);
        while let Some(row) = rows.try_next().await.doing(OPERATION)? {
            let (edge_type, ends);
            let edge = if table == Table::Relationships {
                edge_type = text(&row, "relationship_type")?;
                ends = (id(&row, "source_entity_id")?, id(&row, "target_entity_id")?);
                Some((ends, edge_type.as_str()))
            } else {
                None
            };
            visit(StandingView { id: id(&row, "id")?, is_live: get(&row, "is_live")?, edge });
        }
        Ok(())
    }

    async fn references(&mut self, visit: VisitReference<'_>) -> Result<(), StoreError> {
        self.references_of(Table::Entities, visit).await?;
        self.references_of(Table::Relationships, visit).await
    }

    async fn vectors(&mut self, entities: &[Uuid], visit: VisitVector<'_>) -> Result<(), StoreError> {
        for entities in entities.chunks(IDS_PER_STATEMENT_MAX) {
            let mut rows = sqlx::query(sql!("embeddings/stream"))
                .bind(hex(self.namespace.0))
                .bind(id_array(entities))
                .fetch(&mut *self.tx);
            while let Some(row) = rows.try_next().await.doing(OPERATION)? {
                let bytes: Vec<u8> = get(&row, "vector")?;
                if let Some(vector) = vector_from_bytes(&bytes) {
                    visit(id(&row, "id")?, &vector);
                }
            }
        }
        Ok(())
    }

    async fn recalls(&mut self, entities: &[Uuid]) -> Result<Vec<(Uuid, Option<Moment>)>, StoreError> {
        if !self.has_recall_times {
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
                recalls.push((id(row, "id")?, maybe_moment(row, "recalled_at")?));
            }
        }
        Ok(recalls)
    }

    async fn live_chunks(&mut self, chunks: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
        let mut live = Vec::new();
        for chunks in chunks.chunks(IDS_PER_STATEMENT_MAX) {
            let found = sqlx::query(self.shape.over_chunks(sql!("chunks/live")))
                .bind(hex(self.namespace.0))
                .bind(id_array(chunks))
                .fetch_all(&mut *self.tx)
                .await
                .doing(OPERATION)?;
            for row in &found {
                live.push(id(row, "id")?);
            }
        }
        Ok(live)
    }

    async fn resurfaced(&mut self, strays: &[Uuid]) -> Result<Vec<Resurfaced>, StoreError> {
        let rows = sqlx::query(sql!("aliases/resurfaced"))
            .bind(hex(self.namespace.0))
            .bind(spell_moment(self.now))
            .bind(id_array(strays))
            .fetch_all(&mut *self.tx)
            .await
            .doing(OPERATION)?;
        let resurfaced = |row: &SqliteRow| {
            Ok(Resurfaced {
                absorbed: id(row, "absorbed_id")?,
                canonical: id(row, "canonical_id")?,
                name: text(row, "name")?,
                entity_type: text(row, "entity_type")?,
                is_live: get(row, "is_live")?,
                mention_count: get(row, "mention_count")?,
                mention_count_seen: get(row, "mention_count_seen")?,
                edges_live: number(row, "edges_live")?,
                source_document_ids: ids(row, "source_document_ids")?,
                updated_at: moment(row, "updated_at")?,
            })
        };
        rows.iter().map(|row| resurfaced(row).map_err(|error| of_table("entities", error))).collect()
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
        self.each("dream_alias", sql!("aliases/list"), |row| {
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
            // A space is read page by page, by who knows it.
            _ => return Ok(()),
        };
        if table == Table::TemporalEdges && !self.shape.has_temporal_edges {
            return Ok(());
        }
        self.each(table.as_str(), statement, |found| {
            let mut row = table_row(table, &found)?;
            if table == Table::Entities {
                row.put(Column::Embedding, vector_cell(&found, "embedding")?);
            }
            visit(row);
            Ok(())
        })
        .await
    }

    async fn chunks(&mut self, visit: VisitChunk<'_>) -> Result<(), StoreError> {
        let chunks = if self.has_recall_times { sql!("chunks/export") } else { sql!("chunks/export_unrecalled") };
        let tables = [
            (self.shape.has_chunks, "chunks", chunks),
            (self.shape.has_khora_chunks, "khora_chunks", sql!("chunks/export_khora")),
        ];
        for (_, table, statement) in tables.into_iter().filter(|(is_there, ..)| *is_there) {
            self.each(table, statement, |row| {
                visit(ChunkView {
                    id: id(&row, "id")?,
                    document: maybe_id(&row, "document_id")?,
                    content: &text(&row, "content")?,
                    created_at: moment(&row, "created_at")?,
                    last_accessed_at: maybe_moment(&row, "last_accessed_at")?,
                });
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}
