//! One consistent view of a namespace: a read-only transaction, out of which everything is streamed.
//!
//! A statement's rows are read off the wire one by one, so that a million of them never stand in memory; what a row lends to a
//! planner is decoded in place.

use async_trait::async_trait;
use dream_core::change::{Column, Row, RowKey, Table};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use dream_ports::content::{
    ChunkView, EntityView, ReferenceView, RelationshipView, Resurfaced, Snapshot, StandingView, VisitChunk,
    VisitEntity, VisitReference, VisitRelationship, VisitRow, VisitStanding, VisitVector,
};
use dream_ports::{ContentStore, StoreError};
use futures::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Decode, Postgres, Row as _, SqlSafeStr, Type, ValueRef as _};
use uuid::Uuid;

use crate::encode::{Timestamptz, read_ids, read_vector, table_row, vector_cell};
use crate::error::ResultExt;
use crate::records::{count, get, maybe_moment, moment};
use crate::schema::{Shape, shape};
use crate::tx::Tx;
use crate::{PgStore, query, sql};

const OPERATION: &str = "read the namespace";

/// Ids bound in one statement: long enough that a statement costs its rows and not its call.
const IDS_PER_STATEMENT_MAX: usize = 20_000;

struct PgSnapshot {
    tx: Tx,
    namespace: NamespaceId,
    now: Moment,
    shape: Shape,
    has_recall_times: bool,
}

#[async_trait]
impl ContentStore for PgStore {
    async fn snapshot(&self, namespace: NamespaceId) -> Result<Box<dyn Snapshot>, StoreError> {
        let has_recall_times = self.look().await?.has_recall_times;
        let mut tx = self.read_at_length(OPERATION).await?;
        // The first statement fixes the view for all that follow.
        let row = query(sql!("runs/now")).fetch_one(&mut *tx).await.doing(OPERATION)?;
        let now = moment(&row, "now")?;
        let shape = shape(&mut tx).await?;
        Ok(Box::new(PgSnapshot { tx, namespace, now, shape, has_recall_times }))
    }

    async fn row(&self, key: RowKey) -> Result<Option<Row>, StoreError> {
        let statement = match key.table {
            Table::Entities => sql!("entities/find"),
            Table::Relationships => sql!("relationships/find"),
            Table::TemporalEdges => sql!("temporal_edges/find"),
            Table::Aliases => sql!("aliases/find"),
            // A row of a space is read by who knows the space.
            _ => return Ok(None),
        };
        let mut tx = self.read(OPERATION).await?;
        if key.table == Table::TemporalEdges && !shape(&mut tx).await?.has_temporal_edges {
            return Ok(None);
        }
        let found = query(statement).bind(key.id).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        found.map(|found| whole_row(key.table, &found)).transpose()
    }
}

/// A row with its vector, where the table has one.
fn whole_row(table: Table, found: &PgRow) -> Result<Row, StoreError> {
    let mut row = table_row(table, found)?;
    if table == Table::Entities {
        row.put(Column::Embedding, vector_cell(found)?);
    }
    Ok(row)
}

/// A column by its place in the statement, which is quicker to find than its name.
fn at<'r, T>(row: &'r PgRow, place: usize, name: &'static str) -> Result<T, StoreError>
where
    T: Decode<'r, Postgres> + Type<Postgres>,
{
    row.try_get(place).map_err(|_| unreadable(name))
}

fn ids_at(row: &PgRow, place: usize, name: &'static str, ids: &mut Vec<Uuid>) -> Result<(), StoreError> {
    let raw = row.try_get_raw(place).map_err(|_| unreadable(name))?;
    let is_read = !raw.is_null() && raw.as_bytes().is_ok_and(|bytes| read_ids(bytes, ids));
    if is_read { Ok(()) } else { Err(unreadable(name)) }
}

fn moment_at(row: &PgRow, place: usize, name: &'static str) -> Result<Moment, StoreError> {
    at::<Timestamptz>(row, place, name).map(Moment::from)
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

fn unreadable(name: &str) -> StoreError {
    StoreError::Unreadable { operation: OPERATION, what: name.to_owned() }
}

impl PgSnapshot {
    /// A statement whose parameters begin with the namespace and, where it asks for it, the view's moment.
    fn statement(&self, statement: impl SqlSafeStr) -> Query<'static, Postgres, PgArguments> {
        query(statement).bind(self.namespace.0)
    }

    fn statement_now(&self, statement: impl SqlSafeStr) -> Query<'static, Postgres, PgArguments> {
        self.statement(statement).bind(Timestamptz::from(self.now))
    }

    /// Streams a statement whose columns come from `table`.
    async fn each(
        &mut self,
        table: &'static str,
        statement: Query<'static, Postgres, PgArguments>,
        mut visit: impl FnMut(PgRow) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        let mut rows = statement.fetch(&mut *self.tx);
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
        let statement = self.statement_now(self.shape.over_chunks(statement));
        let (mut dead, mut documents) = (Vec::new(), Vec::new());
        self.each(table.as_str(), statement, |row| {
            ids_at(&row, 4, "source_chunk_ids", &mut dead)?;
            let mut seen = std::collections::BTreeSet::new();
            dead.retain(|chunk| seen.insert(*chunk));
            ids_at(&row, 5, "source_document_ids", &mut documents)?;
            let ends = match table {
                Table::Relationships => Some((at(&row, 6, "source_entity_id")?, at(&row, 7, "target_entity_id")?)),
                _ => None,
            };
            visit(ReferenceView {
                row: RowKey { table, id: at(&row, 0, "id")? },
                is_live: at(&row, 1, "valid_until")?,
                updated_at: moment_at(&row, 2, "updated_at")?,
                references: u32::try_from(at::<i32>(&row, 3, "source_chunk_ids")?).unwrap_or_default(),
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
impl Snapshot for PgSnapshot {
    async fn entities(&mut self, visit: VisitEntity<'_>) -> Result<(), StoreError> {
        let statement = self.statement_now(sql!("entities/stream"));
        let (mut documents, mut chunks) = (Vec::new(), Vec::new());
        self.each("entities", statement, |row| {
            ids_at(&row, 5, "source_document_ids", &mut documents)?;
            ids_at(&row, 6, "source_chunk_ids", &mut chunks)?;
            visit(EntityView {
                id: at(&row, 0, "id")?,
                name: at(&row, 1, "name")?,
                entity_type: at(&row, 2, "entity_type")?,
                mention_count: at(&row, 3, "mention_count")?,
                attributes: at(&row, 4, "attributes")?,
                source_document_ids: &documents,
                source_chunk_ids: &chunks,
                embedding_model: at(&row, 7, "embedding_model")?,
                created_at: moment_at(&row, 8, "created_at")?,
                updated_at: moment_at(&row, 9, "updated_at")?,
            });
            Ok(())
        })
        .await
    }

    async fn relationships(&mut self, visit: VisitRelationship<'_>) -> Result<(), StoreError> {
        let statement = self.statement_now(sql!("relationships/stream"));
        self.each("relationships", statement, |row| {
            visit(RelationshipView {
                id: at(&row, 0, "id")?,
                source: at(&row, 1, "source_entity_id")?,
                target: at(&row, 2, "target_entity_id")?,
                relationship_type: at(&row, 3, "relationship_type")?,
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
        let statement = self.statement_now(statement).bind(ids.first).bind(ids.last);
        self.each(table.as_str(), statement, |row| {
            let edge = match table {
                Table::Relationships => Some((
                    (at(&row, 2, "source_entity_id")?, at(&row, 3, "target_entity_id")?),
                    at(&row, 4, "relationship_type")?,
                )),
                _ => None,
            };
            visit(StandingView { id: at(&row, 0, "id")?, is_live: at(&row, 1, "valid_until")?, edge });
            Ok(())
        })
        .await
    }

    async fn references(&mut self, visit: VisitReference<'_>) -> Result<(), StoreError> {
        self.references_of(Table::Entities, visit).await?;
        self.references_of(Table::Relationships, visit).await
    }

    async fn vectors(&mut self, entities: &[Uuid], visit: VisitVector<'_>) -> Result<(), StoreError> {
        let mut vector = Vec::new();
        for entities in entities.chunks(IDS_PER_STATEMENT_MAX) {
            let statement = self.statement(sql!("entities/vectors")).bind(entities);
            self.each("entities", statement, |row| {
                if !read_vector(at(&row, 1, "embedding")?, &mut vector) {
                    return Err(unreadable("embedding"));
                }
                visit(at(&row, 0, "id")?, &vector);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    async fn recalls(&mut self, entities: &[Uuid]) -> Result<Vec<(Uuid, Option<Moment>)>, StoreError> {
        let mut recalls = Vec::new();
        if !self.has_recall_times {
            return Ok(recalls);
        }
        for entities in entities.chunks(IDS_PER_STATEMENT_MAX) {
            let statement = self.statement(sql!("chunks/recalls")).bind(entities);
            self.each("chunks", statement, |row| {
                recalls.push((get(&row, "id")?, maybe_moment(&row, "recalled_at")?));
                Ok(())
            })
            .await?;
        }
        Ok(recalls)
    }

    async fn live_chunks(&mut self, chunks: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
        let mut live = Vec::new();
        for chunks in chunks.chunks(IDS_PER_STATEMENT_MAX) {
            let statement = self.statement(self.shape.over_chunks(sql!("chunks/live"))).bind(chunks);
            self.each("chunks", statement, |row| {
                live.push(get(&row, "id")?);
                Ok(())
            })
            .await?;
        }
        Ok(live)
    }

    async fn resurfaced(&mut self, strays: &[Uuid]) -> Result<Vec<Resurfaced>, StoreError> {
        let mut resurfaced = Vec::new();
        let statement = self.statement_now(sql!("aliases/resurfaced")).bind(strays);
        self.each("entities", statement, |row| {
            resurfaced.push(Resurfaced {
                absorbed: get(&row, "absorbed_id")?,
                canonical: get(&row, "canonical_id")?,
                name: get(&row, "name")?,
                entity_type: get(&row, "entity_type")?,
                is_live: get(&row, "is_live")?,
                mention_count: get(&row, "mention_count")?,
                mention_count_seen: get(&row, "mention_count_seen")?,
                edges_live: count(&row, "edges_live")?,
                source_document_ids: get(&row, "source_document_ids")?,
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
            let statement = self.statement_now(sql!("entities/live_names")).bind(entities);
            self.each("entities", statement, |row| {
                names.push((get(&row, "id")?, get(&row, "name")?, get(&row, "entity_type")?));
                Ok(())
            })
            .await?;
        }
        Ok(names)
    }

    async fn aliases(&mut self) -> Result<Vec<(Uuid, Uuid)>, StoreError> {
        let mut aliases = Vec::new();
        let statement = self.statement(sql!("aliases/list"));
        self.each("dream.alias", statement, |row| {
            aliases.push((get(&row, "absorbed_id")?, get(&row, "canonical_id")?));
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
        let statement = self.statement(statement);
        self.each(table.as_str(), statement, |found| {
            visit(whole_row(table, &found)?);
            Ok(())
        })
        .await
    }

    async fn chunks(&mut self, visit: VisitChunk<'_>) -> Result<(), StoreError> {
        let chunks = if self.has_recall_times { sql!("chunks/export") } else { sql!("chunks/export_unrecalled") };
        let tables = [(self.shape.has_chunks, chunks), (self.shape.has_khora_chunks, sql!("chunks/export_khora"))];
        for (_, statement) in tables.into_iter().filter(|(is_there, _)| *is_there) {
            let statement = self.statement(statement);
            self.each("chunks", statement, |row| {
                visit(ChunkView {
                    id: get(&row, "id")?,
                    document: get(&row, "document_id")?,
                    content: get(&row, "content")?,
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
