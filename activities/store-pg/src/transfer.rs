//! Import. It writes entities and relationships as ingestion does, so it takes ingestion's lock.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use dream_core::change::{Column, Row, Value};
use dream_core::id::NamespaceId;
use dream_ports::run::Namespace;
use dream_ports::transfer::{Imported, KnownIds, NewChunk, OnNameClash};
use dream_ports::{RunStore, StoreError, TransferStore};
use uuid::Uuid;

use crate::columns::Columns;
use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::locks::exclude_ingestion;
use crate::records::{get, moment};
use crate::tx::Tx;
use crate::{PgStore, query, sql};

const OPERATION: &str = "import";

/// Numbers tried behind a name that is taken. Names that clash more often than this are no accident.
const SUFFIX_MAX: u32 = 1_000;

/// A name and a type.
type NameKey = (String, String);

fn name_key(row: &Row) -> NameKey {
    let text = |column| row.get(column).text();
    (text(Column::Name).unwrap_or_default().to_owned(), text(Column::EntityType).unwrap_or("CONCEPT").to_owned())
}

async fn existing(
    tx: &mut Tx,
    statement: &'static str,
    namespace: NamespaceId,
    ids: &[Uuid],
) -> Result<KnownIds, StoreError> {
    let rows = query(statement).bind(ids).bind(namespace.0).fetch_all(&mut **tx).await.doing(OPERATION)?;
    let stored = rows.iter().map(|row| Ok((get(row, "id")?, get(row, "is_here")?)));
    Ok(KnownIds::new(stored.collect::<Result<Vec<_>, StoreError>>()?))
}

/// Which of these entities an edge of the namespace may end at.
async fn possible_ends(tx: &mut Tx, namespace: NamespaceId, ids: &[Uuid]) -> Result<BTreeSet<Uuid>, StoreError> {
    let rows = query(sql!("entities/ends")).bind(namespace.0).bind(ids).fetch_all(&mut **tx).await.doing(OPERATION)?;
    rows.iter().map(|row| get(row, "id")).collect()
}

async fn owners(tx: &mut Tx, namespace: NamespaceId, names: &[NameKey]) -> Result<BTreeMap<NameKey, Uuid>, StoreError> {
    let rows = query(sql!("entities/owners"))
        .bind(namespace.0)
        .bind(names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
        .bind(names.iter().map(|(_, entity_type)| entity_type.as_str()).collect::<Vec<_>>())
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    rows.iter().map(|row| Ok(((get(row, "name")?, get(row, "entity_type")?), get(row, "id")?))).collect()
}

/// A free name for a row whose own is taken.
async fn suffixed(
    tx: &mut Tx,
    namespace: NamespaceId,
    row: &Row,
    taken: &BTreeMap<NameKey, Uuid>,
) -> Result<Option<Row>, StoreError> {
    let (name, entity_type) = name_key(row);
    for suffix in 2..=SUFFIX_MAX {
        let key = (format!("{name} ({suffix})"), entity_type.clone());
        if !taken.contains_key(&key) && owners(tx, namespace, std::slice::from_ref(&key)).await?.is_empty() {
            return Ok(Some(row.clone().with(Column::Name, Value::Text(key.0))));
        }
    }
    Ok(None)
}

async fn insert_entities(tx: &mut Tx, namespace: NamespaceId, rows: &[Row]) -> Result<(), StoreError> {
    use Column as C;
    let columns = Columns::whole(rows.iter());
    let vectors = columns.vectors(C::Embedding);
    query(sql!("entities/insert"))
        .bind(namespace.0)
        .bind(columns.ids())
        .bind(columns.texts(C::Name))
        .bind(columns.texts(C::EntityType))
        .bind(columns.texts(C::Description))
        .bind(columns.texts(C::Attributes))
        .bind(columns.id_lists(C::SourceDocumentIds))
        .bind(columns.id_lists(C::SourceChunkIds))
        .bind(columns.integers(C::MentionCount))
        .bind(columns.texts(C::EmbeddingModel))
        .bind(columns.times(C::ValidUntil))
        .bind(columns.floats(C::Confidence))
        .bind(columns.texts(C::Metadata))
        .bind(columns.times(C::CreatedAt))
        .bind(vectors.components)
        .bind(columns.times(C::UpdatedAt))
        .bind(vectors.from)
        .bind(vectors.to)
        .execute(&mut **tx)
        .await
        .doing(OPERATION)?;
    Ok(())
}

async fn insert_relationships(tx: &mut Tx, namespace: NamespaceId, rows: &[&Row]) -> Result<(), StoreError> {
    use Column as C;
    let columns = Columns::whole(rows.iter().copied());
    query(sql!("relationships/insert"))
        .bind(namespace.0)
        .bind(columns.ids())
        .bind(columns.uuids(C::SourceEntityId))
        .bind(columns.uuids(C::TargetEntityId))
        .bind(columns.texts(C::RelationshipType))
        .bind(columns.texts(C::Description))
        .bind(columns.texts(C::Properties))
        .bind(columns.id_lists(C::SourceDocumentIds))
        .bind(columns.id_lists(C::SourceChunkIds))
        .bind(columns.times(C::ValidFrom))
        .bind(columns.times(C::ValidUntil))
        .bind(columns.times(C::ValidTo))
        .bind(columns.times(C::InvalidatedAt))
        .bind(columns.uuids(C::InvalidatedBy))
        .bind(columns.floats(C::Confidence))
        .bind(columns.floats(C::Weight))
        .bind(columns.texts(C::Metadata))
        .bind(columns.times(C::CreatedAt))
        .bind(columns.times(C::UpdatedAt))
        .execute(&mut **tx)
        .await
        .doing(OPERATION)?;
    Ok(())
}

/// Decides for each row of a batch whether and how it is written.
struct EntityBatch {
    known: KnownIds,
    taken: BTreeMap<NameKey, Uuid>,
    dimension: Option<u32>,
    written: Vec<Row>,
}

impl EntityBatch {
    async fn take(
        &mut self,
        tx: &mut Tx,
        namespace: NamespaceId,
        row: &Row,
        on_name_clash: OnNameClash,
    ) -> Result<Imported, StoreError> {
        if let Some(left_out) = self.known.take(row.id) {
            return Ok(left_out);
        }
        let mut outcome = Imported::Written;
        let mut row = row.clone();
        if let Some(owner) = self.taken.get(&name_key(&row)).copied() {
            let renamed = match on_name_clash {
                OnNameClash::Skip => None,
                OnNameClash::Suffix => suffixed(tx, namespace, &row, &self.taken).await?,
            };
            let Some(renamed) = renamed else {
                return Ok(Imported::NameClash { owner });
            };
            row = renamed;
            outcome = Imported::Suffixed;
        }
        if let Some(vector) = row.get(Column::Embedding).vector() {
            let own = u32::try_from(vector.len()).ok();
            if self.dimension.is_some() && self.dimension != own {
                row.put(Column::Embedding, Value::Null);
                outcome = Imported::WrongDimension;
            } else {
                self.dimension = own;
            }
        }
        self.taken.insert(name_key(&row), row.id);
        self.written.push(row);
        Ok(outcome)
    }
}

#[async_trait]
impl TransferStore for PgStore {
    async fn ensure_namespace(&self, stable_id: Uuid) -> Result<Namespace, StoreError> {
        match self.resolve_namespace(stable_id).await {
            Err(StoreError::NoNamespace { .. }) => {}
            found => return found,
        }
        let mut tx = self.write(OPERATION).await?;
        // The row id follows from the stable id, so that two imports at once make one namespace.
        let row_id = Uuid::new_v5(&stable_id, b"dream/namespace/1");
        query(sql!("namespaces/insert")).bind(row_id).bind(stable_id).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        self.resolve_namespace(stable_id).await
    }

    async fn import_entities(
        &self,
        namespace: NamespaceId,
        rows: &[Row],
        on_name_clash: OnNameClash,
    ) -> Result<Vec<Imported>, StoreError> {
        let dimension = self.look().await?.dimension;
        let mut tx = self.write(OPERATION).await?;
        exclude_ingestion(&mut tx, namespace).await?;
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let names: Vec<NameKey> = rows.iter().map(name_key).collect();
        let mut batch = EntityBatch {
            known: existing(&mut tx, sql!("entities/existing"), namespace, &ids).await?,
            taken: owners(&mut tx, namespace, &names).await?,
            dimension,
            written: Vec::new(),
        };
        let mut outcomes = Vec::with_capacity(rows.len());
        for row in rows {
            outcomes.push(batch.take(&mut tx, namespace, row, on_name_clash).await?);
        }
        insert_entities(&mut tx, namespace, &batch.written).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(outcomes)
    }

    async fn import_relationships(&self, namespace: NamespaceId, rows: &[Row]) -> Result<Vec<Imported>, StoreError> {
        let mut tx = self.write(OPERATION).await?;
        exclude_ingestion(&mut tx, namespace).await?;
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let mut known = existing(&mut tx, sql!("relationships/existing"), namespace, &ids).await?;
        let ends = |row: &Row| {
            [Column::SourceEntityId, Column::TargetEntityId].map(|column| row.get(column).id().unwrap_or_default())
        };
        let wanted: Vec<Uuid> = rows.iter().flat_map(ends).collect();
        let entities = possible_ends(&mut tx, namespace, &wanted).await?;
        let mut outcomes = Vec::with_capacity(rows.len());
        let mut written = Vec::new();
        for row in rows {
            if let Some(end) = ends(row).into_iter().find(|end| !entities.contains(end)) {
                outcomes.push(Imported::NoEnd { end });
            } else if let Some(left_out) = known.take(row.id) {
                outcomes.push(left_out);
            } else {
                written.push(row);
                outcomes.push(Imported::Written);
            }
        }
        insert_relationships(&mut tx, namespace, &written).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(outcomes)
    }

    async fn import_chunks(&self, namespace: NamespaceId, chunks: &[NewChunk]) -> Result<Vec<Imported>, StoreError> {
        let mut tx = self.write(OPERATION).await?;
        let row = query(sql!("runs/now")).fetch_one(&mut *tx).await.doing(OPERATION)?;
        let at = moment(&row, "now")?;
        let ids: Vec<Uuid> = chunks.iter().map(|chunk| chunk.id).collect();
        let mut known = existing(&mut tx, sql!("chunks/existing"), namespace, &ids).await?;
        let import_document = Uuid::new_v5(&namespace.0, b"dream/import-document/1");
        let document = |chunk: &NewChunk| chunk.document.unwrap_or(import_document);
        let mut outcomes = Vec::with_capacity(chunks.len());
        let mut written: Vec<&NewChunk> = Vec::new();
        for chunk in chunks {
            if let Some(left_out) = known.take(chunk.id) {
                outcomes.push(left_out);
            } else {
                written.push(chunk);
                outcomes.push(Imported::Written);
            }
        }
        let documents: BTreeSet<Uuid> = written.iter().map(|chunk| document(chunk)).collect();
        query(sql!("documents/ensure"))
            .bind(namespace.0)
            .bind(documents.into_iter().collect::<Vec<_>>())
            .bind(Timestamptz::from(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        query(sql!("chunks/insert"))
            .bind(namespace.0)
            .bind(written.iter().map(|chunk| chunk.id).collect::<Vec<_>>())
            .bind(written.iter().map(|chunk| document(chunk)).collect::<Vec<_>>())
            .bind(written.iter().map(|chunk| chunk.content.as_str()).collect::<Vec<_>>())
            .bind(written.iter().map(|chunk| Timestamptz::from(chunk.created_at)).collect::<Vec<_>>())
            .bind(written.iter().map(|chunk| chunk.last_accessed_at.map(Timestamptz::from)).collect::<Vec<_>>())
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(outcomes)
    }
}
