//! The way around the ports of the embedded store.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use dream_core::change::{Column, Row, Table, Value, ValueKind};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::undo::vector_bytes;
use dream_ports::{RunStore as _, Store};
use dream_store_sqlite::SqliteStore;
use dream_store_suite::kit::{ChunkTable, Content, Dialect, Mention, NamespaceSeed, WorldKit};
use sqlx::{AssertSqlSafe, Row as _, SqlitePool};
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) struct SqliteKit {
    store: SqliteStore,
    file: Option<(TempDir, PathBuf)>,
    is_khoras: bool,
}

pub(crate) async fn in_memory() -> SqliteKit {
    let store = SqliteStore::in_memory().await.unwrap();
    store.migrate(true).await.unwrap();
    SqliteKit { store, file: None, is_khoras: false }
}

pub(crate) async fn own_file() -> SqliteKit {
    on_file(None).await
}

pub(crate) async fn khoras_file() -> SqliteKit {
    on_file(Some(dream_store_suite::KHORA_SQLITE)).await
}

async fn on_file(schema: Option<&'static str>) -> SqliteKit {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("khora.db");
    let store = SqliteStore::open(&path, true).await.unwrap();
    if let Some(schema) = schema {
        sqlx::raw_sql(schema).execute(store.pool()).await.unwrap();
    }
    store.migrate(true).await.unwrap();
    SqliteKit { store, file: Some((folder, path)), is_khoras: schema.is_some() }
}

impl SqliteKit {
    pub(crate) async fn close(&self) {
        self.store.close().await;
    }

    fn pool(&self) -> &SqlitePool {
        self.store.pool()
    }
}

fn hex(id: Uuid) -> String {
    id.simple().to_string()
}

fn json_ids(ids: &[Uuid]) -> String {
    serde_json::to_string(&ids.iter().map(|id| hex(*id)).collect::<Vec<_>>()).unwrap()
}

/// A moment in one of the four ways in which Khora's own code spells it.
fn spelled(moment: Moment, way: usize) -> String {
    let iso = moment.to_string();
    let (date, time) = iso.trim_end_matches('Z').split_once('T').unwrap();
    match way % 4 {
        0 => format!("{date}T{time}+00:00"),
        1 => format!("{date} {time}"),
        2 => format!("{date} {time}+00:00"),
        _ => format!("{date} {}", &time[..8]),
    }
}

/// The text of a cell, as Khora's adapter writes it; numbers are bound as they are.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Json(text) => Some(text.clone()),
        Value::Time(moment) => Some(spelled(*moment, 0)),
        Value::Id(id) => Some(hex(*id)),
        Value::Ids(ids) => Some(json_ids(ids)),
        _ => None,
    }
}

#[async_trait]
impl WorldKit for SqliteKit {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn other_worker(&self) -> Arc<dyn Store> {
        match &self.file {
            Some((_, path)) => Arc::new(SqliteStore::open(path, false).await.unwrap()),
            None => self.store(),
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn reads_beside_writes(&self) -> bool {
        self.file.is_some()
    }

    fn has_vectors(&self) -> bool {
        !self.is_khoras
    }

    fn is_khoras(&self) -> bool {
        self.is_khoras
    }

    async fn insert_namespace(&self, seed: &NamespaceSeed) {
        sqlx::query(
            "insert into memory_namespaces (id, namespace_id, version, is_active, config_overrides) values (?, ?, ?, ?, ?)",
        )
        .bind(hex(seed.id.0))
        .bind(hex(seed.stable_id.0))
        .bind(seed.version)
        .bind(seed.is_active)
        .bind(&seed.config_overrides)
        .execute(self.pool())
        .await
        .unwrap();
    }

    async fn insert(&self, namespace: NamespaceId, row: &Row) {
        let columns: Vec<Column> =
            row.table.columns().iter().copied().filter(|column| *column != Column::Embedding).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.as_str()).collect();
        let (extra, extra_value) =
            if row.table == Table::TemporalEdges { (", occurred_at", ", '2026-01-01 00:00:00'") } else { ("", "") };
        let statement = format!(
            "insert into {} (id, namespace_id, {}{extra}) values (?, ?{}{extra_value})",
            row.table,
            names.join(", "),
            ", ?".repeat(columns.len())
        );
        let mut query = sqlx::query(AssertSqlSafe(statement)).bind(hex(row.id)).bind(hex(namespace.0));
        for column in &columns {
            let value = row.get(*column);
            query = match column.kind() {
                ValueKind::Int => query.bind(value.int()),
                ValueKind::Float => query.bind(value.float()),
                ValueKind::Bool => query.bind(value.truth()),
                _ => query.bind(text_of(value)),
            };
        }
        query.execute(self.pool()).await.unwrap();
        if let Some(vector) = row.get(Column::Embedding).vector() {
            sqlx::query("insert into dream_embedding (entity_id, namespace_id, vector) values (?, ?, ?)")
                .bind(hex(row.id))
                .bind(hex(namespace.0))
                .bind(vector_bytes(vector))
                .execute(self.pool())
                .await
                .unwrap();
        }
    }

    async fn insert_chunk(&self, namespace: NamespaceId, chunk: Uuid, table: ChunkTable) {
        let document = hex(Uuid::new_v5(&namespace.0, b"document"));
        sqlx::query("insert into documents (id, namespace_id, content) values (?, ?, '') on conflict do nothing")
            .bind(&document)
            .bind(hex(namespace.0))
            .execute(self.pool())
            .await
            .unwrap();
        let statement = match table {
            ChunkTable::Chunks => {
                "insert into chunks (id, namespace_id, document_id, content, created_at) values (?, ?, ?, '', '2026-01-01 00:00:00')"
            }
            ChunkTable::KhoraChunks => {
                "insert into khora_chunks (id, namespace_id, document_id, content, created_at) values (?, ?, ?, '', '2026-01-01 00:00:00')"
            }
        };
        sqlx::query(statement)
            .bind(hex(chunk))
            .bind(hex(namespace.0))
            .bind(document)
            .execute(self.pool())
            .await
            .unwrap();
    }

    /// Merges into the row that is there, which keeps its `valid_until`.
    async fn ingest(&self, namespace: NamespaceId, mention: &Mention) {
        sqlx::query(
            "insert into entities (id, namespace_id, name, entity_type, mention_count, source_chunk_ids)
             values (?1, ?2, ?3, ?4, ?5, json_array(?6))
             on conflict (namespace_id, name, entity_type) do update
                set mention_count = mention_count + excluded.mention_count,
                    source_chunk_ids = json_insert(source_chunk_ids, '$[#]', ?6)",
        )
        .bind(hex(mention.id))
        .bind(hex(namespace.0))
        .bind(&mention.name)
        .bind(&mention.entity_type)
        .bind(mention.mention_count)
        .bind(hex(mention.chunk))
        .execute(self.pool())
        .await
        .unwrap();
    }

    async fn content(&self) -> Content {
        let mut content = Content::new();
        let mut tables =
            vec!["memory_namespaces", "documents", "chunks", "entities", "relationships", "dream_embedding"];
        tables.extend(["dream_fact", "dream_journal", "dream_record", "dream_profile"]);
        if self.is_khoras {
            tables.extend(["khora_chunks", "temporal_edges"]);
        }
        for table in tables {
            let columns = self.rows(&format!("select name from pragma_table_info('{table}')")).await;
            let quoted: Vec<String> =
                columns.iter().map(|row| format!("'{0}=' || quote({0})", row[0].as_deref().unwrap())).collect();
            let statement = format!("select {} from {table} order by 1", quoted.join(" || ' ' || "));
            let rows = self.rows(&statement).await;
            content.insert(table.to_owned(), rows.into_iter().map(|mut row| row.remove(0).unwrap()).collect());
        }
        content
    }

    async fn execute(&self, statement: &str) -> u64 {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(self.pool()).await.unwrap().rows_affected()
    }

    async fn rows(&self, statement: &str) -> Vec<Vec<Option<String>>> {
        let rows = sqlx::raw_sql(AssertSqlSafe(statement)).fetch_all(self.pool()).await.unwrap();
        rows.iter().map(|row| (0..row.len()).map(|at| row.try_get_unchecked(at).unwrap()).collect()).collect()
    }

    async fn refuse_entity(&self, entity: Uuid, text: &str) {
        self.execute(&format!(
            "create trigger suite_refuse before update on entities when new.id = '{}' begin select raise(abort, '{text}'); end",
            hex(entity)
        ))
        .await;
    }

    async fn break_commits(&self) {
        self.execute(
            "create trigger suite_break before update of last_committed_seq on dream_run
             begin select raise(abort, 'the checkpoint is broken'); end",
        )
        .await;
    }

    async fn respell(&self, entities: &[Uuid]) -> usize {
        const WAYS: usize = 8;
        let at = Moment::from_micros(1_772_334_245_000_000);
        for (way, entity) in entities.iter().enumerate() {
            let id = hex(*entity);
            let row = self
                .rows(&format!("select source_chunk_ids, source_document_ids from entities where id = '{id}'"))
                .await;
            let respelled = |text: &Option<String>| {
                let ids: Vec<Uuid> = serde_json::from_str(text.as_deref().unwrap()).unwrap();
                let texts: Vec<String> =
                    ids.iter().map(|id| if way % 2 == 0 { hex(*id) } else { id.to_string() }).collect();
                let compact = serde_json::to_string(&texts).unwrap();
                if way % 8 < 4 { compact } else { compact.replace('[', "[ ").replace(',', " , ") }
            };
            let (chunks, documents) = (respelled(&row[0][0]), respelled(&row[0][1]));
            let json = if way % 3 == 0 { r#"{"a": 1.50,"b":[ 1e2 ] }"# } else { "{}" };
            self.execute(&format!(
                "update entities set source_chunk_ids = '{chunks}', source_document_ids = '{documents}', \
                 created_at = '{0}', updated_at = '{0}', attributes = '{json}', metadata = '{json}' where id = '{id}'",
                spelled(at, way)
            ))
            .await;
            self.execute(&format!(
                "update relationships set created_at = '{0}', updated_at = '{0}', source_chunk_ids = '{chunks}' \
                 where source_entity_id = '{id}'",
                spelled(at, way + 1)
            ))
            .await;
        }
        WAYS
    }

    async fn mend(&self) {
        self.execute("drop trigger if exists suite_refuse").await;
        self.execute("drop trigger if exists suite_break").await;
    }
}
