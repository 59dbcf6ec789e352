//! Import.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use dream_core::change::{Column, Existence, Row, Value};
use dream_core::id::NamespaceId;
use dream_core::rows::Image;
use dream_ports::run::Namespace;
use dream_ports::transfer::{Imported, KnownIds, NewChunk, OnNameClash};
use dream_ports::{RunStore, StoreError, TransferStore};
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use crate::encode::{hex, id_array, spell_moment, to_json};
use crate::error::ResultExt;
use crate::records::{get, id, spell_json, text};
use crate::runs::now;
use crate::tx::Tx;
use crate::{SqliteStore, sql};

const OPERATION: &str = "import";

/// Numbers tried behind a name that is taken. Names that clash more often than this are no accident.
const SUFFIX_MAX: u32 = 1_000;

/// A name and a type.
type NameKey = (String, String);

fn name_key(row: &Row) -> NameKey {
    let text = |column| row.get(column).text().unwrap_or_default().to_owned();
    (text(Column::Name), text(Column::EntityType))
}

/// A row as a JSON object, for a set-wise insert.
fn row_json(row: &Row) -> Json {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!(hex(row.id)));
    for column in row.table.columns().iter().filter(|column| **column != Column::Embedding) {
        if let Some(cell) = row.cell(*column) {
            fields.insert(column.as_str().to_owned(), to_json(cell));
        }
    }
    Json::Object(fields)
}

async fn existing(
    tx: &mut Tx,
    statement: &'static str,
    namespace: NamespaceId,
    ids: &[Uuid],
) -> Result<KnownIds, StoreError> {
    let rows = sqlx::query(statement)
        .bind(id_array(ids))
        .bind(hex(namespace.0))
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    let stored = rows.iter().map(|row| Ok((id(row, "id")?, get(row, "is_here")?)));
    Ok(KnownIds::new(stored.collect::<Result<Vec<_>, StoreError>>()?))
}

/// Which of these entities an edge of the namespace may end at.
async fn possible_ends(tx: &mut Tx, namespace: NamespaceId, ids: &[Uuid]) -> Result<BTreeSet<Uuid>, StoreError> {
    let rows = sqlx::query(sql!("entities/ends"))
        .bind(hex(namespace.0))
        .bind(id_array(ids))
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    rows.iter().map(|row| id(row, "id")).collect()
}

async fn owners(tx: &mut Tx, namespace: NamespaceId, names: &[NameKey]) -> Result<BTreeMap<NameKey, Uuid>, StoreError> {
    let rows = sqlx::query(sql!("entities/owners"))
        .bind(hex(namespace.0))
        .bind(spell_json(&names))
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    rows.iter().map(|row| Ok(((text(row, "name")?, text(row, "entity_type")?), id(row, "id")?))).collect()
}

async fn insert(tx: &mut Tx, namespace: NamespaceId, statement: &'static str, rows: &[Json]) -> Result<(), StoreError> {
    sqlx::query(statement).bind(hex(namespace.0)).bind(spell_json(&rows)).execute(&mut **tx).await.doing(OPERATION)?;
    Ok(())
}

impl SqliteStore {
    /// A free name for a row whose own is taken.
    async fn suffixed(
        &self,
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
}

#[async_trait]
impl TransferStore for SqliteStore {
    async fn ensure_namespace(&self, stable_id: Uuid) -> Result<Namespace, StoreError> {
        match self.resolve_namespace(stable_id).await {
            Err(StoreError::NoNamespace { .. }) => {}
            found => return found,
        }
        let mut tx = self.write(OPERATION).await?;
        let at = now(&mut tx).await?;
        // The row id follows from the stable id, so that two imports at once make one namespace.
        let row_id = Uuid::new_v5(&stable_id, b"dream/namespace/1");
        sqlx::query(sql!("namespaces/insert"))
            .bind(hex(row_id))
            .bind(hex(stable_id))
            .bind(spell_moment(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
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
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let mut known = existing(&mut tx, sql!("entities/existing"), namespace, &ids).await?;
        let names: Vec<NameKey> = rows.iter().map(name_key).collect();
        let mut taken = owners(&mut tx, namespace, &names).await?;
        let mut outcomes = Vec::with_capacity(rows.len());
        let mut written: Vec<Row> = Vec::new();
        let mut length = dimension;
        for row in rows {
            if let Some(left_out) = known.take(row.id) {
                outcomes.push(left_out);
                continue;
            }
            let mut outcome = Imported::Written;
            let mut row = row.clone();
            if let Some(owner) = taken.get(&name_key(&row)).copied() {
                let renamed = match on_name_clash {
                    OnNameClash::Skip => None,
                    OnNameClash::Suffix => self.suffixed(&mut tx, namespace, &row, &taken).await?,
                };
                let Some(renamed) = renamed else {
                    outcomes.push(Imported::NameClash { owner });
                    continue;
                };
                row = renamed;
                outcome = Imported::Suffixed;
            }
            if let Some(vector) = row.get(Column::Embedding).vector() {
                let own = u32::try_from(vector.len()).ok();
                if length.is_some() && length != own {
                    row.put(Column::Embedding, Value::Null);
                    outcome = Imported::WrongDimension;
                } else {
                    length = own;
                }
            }
            taken.insert(name_key(&row), row.id);
            written.push(row);
            outcomes.push(outcome);
        }
        let json: Vec<Json> = written.iter().map(row_json).collect();
        insert(&mut tx, namespace, sql!("entities/insert"), &json).await?;
        let images: Vec<Image> = written
            .into_iter()
            .filter(|row| !row.get(Column::Embedding).is_null())
            .map(|row| Image { touched: row.table.bit(Column::Embedding), row, existence: Existence::Kept })
            .collect();
        crate::write::embeddings(&mut tx, namespace, &images.iter().collect::<Vec<_>>()).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(outcomes)
    }

    async fn import_relationships(&self, namespace: NamespaceId, rows: &[Row]) -> Result<Vec<Imported>, StoreError> {
        let mut tx = self.write(OPERATION).await?;
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let mut known = existing(&mut tx, sql!("relationships/existing"), namespace, &ids).await?;
        let end = |row: &Row, column| row.get(column).id().unwrap_or_default();
        let ends: Vec<Uuid> =
            rows.iter().flat_map(|row| [end(row, Column::SourceEntityId), end(row, Column::TargetEntityId)]).collect();
        let entities = possible_ends(&mut tx, namespace, &ends).await?;
        let mut outcomes = Vec::with_capacity(rows.len());
        let mut written = Vec::new();
        for row in rows {
            let missing = [Column::SourceEntityId, Column::TargetEntityId]
                .map(|column| end(row, column))
                .into_iter()
                .find(|end| !entities.contains(end));
            if let Some(end) = missing {
                outcomes.push(Imported::NoEnd { end });
            } else if let Some(left_out) = known.take(row.id) {
                outcomes.push(left_out);
            } else {
                written.push(row_json(row));
                outcomes.push(Imported::Written);
            }
        }
        insert(&mut tx, namespace, sql!("relationships/insert"), &written).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(outcomes)
    }

    async fn import_chunks(&self, namespace: NamespaceId, chunks: &[NewChunk]) -> Result<Vec<Imported>, StoreError> {
        let mut tx = self.write(OPERATION).await?;
        let at = now(&mut tx).await?;
        let ids: Vec<Uuid> = chunks.iter().map(|chunk| chunk.id).collect();
        let mut known = existing(&mut tx, sql!("chunks/existing"), namespace, &ids).await?;
        let import_document = Uuid::new_v5(&namespace.0, b"dream/import-document/1");
        let mut outcomes = Vec::with_capacity(chunks.len());
        let mut documents = BTreeSet::new();
        let mut written = Vec::new();
        for chunk in chunks {
            if let Some(left_out) = known.take(chunk.id) {
                outcomes.push(left_out);
                continue;
            }
            let document = chunk.document.unwrap_or(import_document);
            documents.insert(document);
            written.push(json!({
                "id": hex(chunk.id),
                "document_id": hex(document),
                "content": chunk.content,
                "created_at": spell_moment(chunk.created_at),
                "last_accessed_at": chunk.last_accessed_at.map(spell_moment),
            }));
            outcomes.push(Imported::Written);
        }
        sqlx::query(sql!("documents/ensure"))
            .bind(hex(namespace.0))
            .bind(id_array(&documents))
            .bind(spell_moment(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        insert(&mut tx, namespace, sql!("chunks/insert"), &written).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(outcomes)
    }
}
