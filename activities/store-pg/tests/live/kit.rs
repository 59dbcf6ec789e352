//! The way around the ports of the PostgreSQL store, in a database of each test's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use dream_core::change::{Column, Row, Table, Value, ValueKind};
use dream_core::id::NamespaceId;
use dream_ports::{RunStore as _, Store};
use dream_store_pg::PgStore;
use dream_store_suite::kit::{ChunkTable, Content, Dialect, Mention, NamespaceSeed, WorldKit};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _, ValueRef as _};
use uuid::Uuid;

/// Connections of one store. Enough for a snapshot, a writer and a renewal; few, as every test has its own.
const CONNECTIONS_MAX: u32 = 4;

/// Databases of earlier tests that failed are kept this long, for people who want to look.
const KEPT_SECONDS: u64 = 3_600;

/// A database of its own, that goes with [`Database::close`].
pub(crate) struct Database {
    pub(crate) url: String,
    name: String,
}

fn server() -> String {
    std::env::var("DREAM_TEST_POSTGRES_URL").expect("DREAM_TEST_POSTGRES_URL names a server; `tests/run` sets it")
}

fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

async fn on_server(statement: &str) {
    let mut connection = PgConnection::connect(&server()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Drops what failed tests left behind long ago.
async fn sweep_databases() {
    let mut connection = PgConnection::connect(&server()).await.unwrap();
    let rows = sqlx::query("select datname from pg_database where datname like 'dream\\_test\\_%'")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    for row in rows {
        let name: String = row.get(0);
        let made_at: u64 = name.split('_').nth(2).and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
        if made_at.saturating_add(KEPT_SECONDS) < now_seconds() {
            // Another process may sweep the same one.
            let statement = format!("drop database if exists {name} with (force)");
            let _raced = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await;
        }
    }
    connection.close().await.unwrap();
}

impl Database {
    /// An empty database.
    pub(crate) async fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            sweep_databases().await;
        }
        let name = format!("dream_test_{}_{}_{number}", now_seconds(), std::process::id());
        on_server(&format!("create database {name}")).await;
        let server = server();
        let (address, options) = server
            .split_once('?')
            .map_or((server.as_str(), String::new()), |(address, options)| (address, format!("?{options}")));
        let (address, _) = address.rsplit_once('/').unwrap();
        Self { url: format!("{address}/{name}{options}"), name }
    }

    pub(crate) async fn open(&self) -> PgStore {
        PgStore::open(&self.url, CONNECTIONS_MAX).await.unwrap()
    }

    pub(crate) async fn close(&self) {
        on_server(&format!("drop database {} with (force)", self.name)).await;
    }
}

pub(crate) struct PgKit {
    pub(crate) database: Database,
    pub(crate) store: PgStore,
    is_khoras: bool,
}

/// A database that Khora made.
pub(crate) async fn khoras() -> PgKit {
    kit(Some(dream_store_suite::KHORA_POSTGRES)).await
}

/// A database with content tables of our own.
pub(crate) async fn own() -> PgKit {
    kit(None).await
}

async fn kit(schema: Option<&'static str>) -> PgKit {
    let database = Database::new().await;
    let store = database.open().await;
    if let Some(schema) = schema {
        sqlx::raw_sql(schema).execute(store.pool()).await.unwrap();
    }
    store.migrate(true).await.unwrap();
    PgKit { database, store, is_khoras: schema.is_some() }
}

impl PgKit {
    pub(crate) async fn close(&self) {
        self.store.close().await;
        self.database.close().await;
    }

    fn pool(&self) -> &PgPool {
        self.store.pool()
    }
}

/// The text of a value, which the statement casts to the column's type.
fn text_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) | Value::Json(text) => text.clone(),
        Value::Time(moment) => moment.to_string(),
        Value::Id(id) => id.to_string(),
        Value::Ids(ids) => format!("{{{}}}", ids.iter().map(Uuid::to_string).collect::<Vec<_>>().join(",")),
        Value::Vector(vector) => {
            format!("[{}]", vector.iter().map(f32::to_string).collect::<Vec<_>>().join(","))
        }
    })
}

const fn type_of(column: Column) -> &'static str {
    match column.kind() {
        ValueKind::Bool => "boolean",
        ValueKind::Int => "integer",
        ValueKind::Float => "double precision",
        ValueKind::Text => "text",
        ValueKind::Time => "timestamptz",
        ValueKind::Id => "uuid",
        ValueKind::Ids => "uuid[]",
        ValueKind::Json => "jsonb",
        ValueKind::Vector => "vector",
    }
}

#[async_trait]
impl WorldKit for PgKit {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn other_worker(&self) -> Arc<dyn Store> {
        Arc::new(self.database.open().await)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn reads_beside_writes(&self) -> bool {
        true
    }

    fn has_vectors(&self) -> bool {
        true
    }

    fn is_khoras(&self) -> bool {
        self.is_khoras
    }

    async fn insert_namespace(&self, seed: &NamespaceSeed) {
        sqlx::query(
            "insert into memory_namespaces (id, namespace_id, version, is_active, config_overrides)
             values ($1, $2, $3, $4, $5::text::jsonb)",
        )
        .bind(seed.id.0)
        .bind(seed.stable_id.0)
        .bind(seed.version)
        .bind(seed.is_active)
        .bind(&seed.config_overrides)
        .execute(self.pool())
        .await
        .unwrap();
    }

    async fn insert(&self, namespace: NamespaceId, row: &Row) {
        let columns = row.table.columns();
        let names: Vec<&str> = columns.iter().map(|column| column.as_str()).collect();
        let values: Vec<String> =
            columns.iter().zip(3..).map(|(column, place)| format!("${place}::text::{}", type_of(*column))).collect();
        let (extra, extra_value) =
            if row.table == Table::TemporalEdges { (", occurred_at", ", '2026-01-01'") } else { ("", "") };
        let statement = format!(
            "insert into {} (id, namespace_id, {}{extra}) values ($1, $2, {}{extra_value})",
            row.table,
            names.join(", "),
            values.join(", ")
        );
        let mut query = sqlx::query(AssertSqlSafe(statement)).bind(row.id).bind(namespace.0);
        for column in columns {
            query = query.bind(text_of(row.get(*column)));
        }
        query.execute(self.pool()).await.unwrap();
    }

    async fn insert_chunk(&self, namespace: NamespaceId, chunk: Uuid, table: ChunkTable) {
        let document = Uuid::new_v5(&namespace.0, b"document");
        sqlx::query("insert into documents (id, namespace_id, content) values ($1, $2, '') on conflict do nothing")
            .bind(document)
            .bind(namespace.0)
            .execute(self.pool())
            .await
            .unwrap();
        let statement = match table {
            ChunkTable::Chunks => "insert into chunks (id, namespace_id, document_id, content) values ($1, $2, $3, '')",
            ChunkTable::KhoraChunks => {
                "insert into khora_chunks (id, namespace_id, document_id, content) values ($1, $2, $3, '')"
            }
        };
        sqlx::query(statement).bind(chunk).bind(namespace.0).bind(document).execute(self.pool()).await.unwrap();
    }

    /// Overwrites the row that is there: what was retired lives again, and only the new mentions are counted.
    async fn ingest(&self, namespace: NamespaceId, mention: &Mention) {
        sqlx::query(
            "insert into entities (id, namespace_id, name, entity_type, mention_count, source_chunk_ids)
             values ($1, $2, $3, $4, $5::integer, array[$6])
             on conflict (namespace_id, name, entity_type) do update
                set mention_count = excluded.mention_count, valid_until = excluded.valid_until,
                    source_chunk_ids = entities.source_chunk_ids || excluded.source_chunk_ids",
        )
        .bind(mention.id)
        .bind(namespace.0)
        .bind(&mention.name)
        .bind(&mention.entity_type)
        .bind(mention.mention_count)
        .bind(mention.chunk)
        .execute(self.pool())
        .await
        .unwrap();
    }

    async fn content(&self) -> Content {
        let mut content = Content::new();
        let mut tables = vec!["memory_namespaces", "documents", "chunks", "entities", "relationships"];
        if self.is_khoras {
            tables.extend(["khora_chunks", "temporal_edges"]);
        }
        tables.extend(["dream.fact", "dream.journal", "dream.record", "dream.profile"]);
        for table in tables {
            let rows = self.rows(&format!("select t::text from {table} t order by 1")).await;
            content.insert(table.to_owned(), rows.into_iter().map(|mut row| row.remove(0).unwrap()).collect());
        }
        content
    }

    async fn execute(&self, statement: &str) -> u64 {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(self.pool()).await.unwrap().rows_affected()
    }

    async fn rows(&self, statement: &str) -> Vec<Vec<Option<String>>> {
        // In the simple protocol every value comes as text.
        let rows = sqlx::raw_sql(AssertSqlSafe(statement)).fetch_all(self.pool()).await.unwrap();
        let text = |row: &sqlx::postgres::PgRow, at| {
            let value = row.try_get_raw(at).unwrap();
            (!value.is_null()).then(|| value.as_str().unwrap().to_owned())
        };
        rows.iter().map(|row| (0..row.len()).map(|at| text(row, at)).collect()).collect()
    }

    async fn refuse_entity(&self, entity: Uuid, text: &str) {
        self.execute(&format!(
            "create function suite_refuse() returns trigger language plpgsql as $$ begin
                 raise exception using errcode = 'check_violation', message = '{text}', detail = '{text}';
             end $$;
             create trigger suite_refuse before update on entities
                 for each row when (new.id = '{entity}') execute function suite_refuse()"
        ))
        .await;
    }

    /// The trigger is deferred: everything is written, and the commit itself fails.
    async fn break_commits(&self) {
        self.execute(
            "create function suite_break() returns trigger language plpgsql as $$ begin
                 raise exception 'the commit is broken';
             end $$;
             create constraint trigger suite_break after update on dream.run deferrable initially deferred
                 for each row execute function suite_break()",
        )
        .await;
    }

    async fn respell(&self, entities: &[Uuid]) -> usize {
        const MOMENTS: [&str; 5] =
            ["infinity", "-infinity", "0044-03-15 12:00:00 BC", "20000-01-01", "2026-03-01 03:04:05.000001"];
        const JSON: [&str; 3] = [r#"{"a": 1.50, "b": [100]}"#, r#"{"id": 123456789012345678901234567890}"#, "{}"];
        for (way, entity) in entities.iter().enumerate() {
            let (moment, json) = (MOMENTS[way % MOMENTS.len()], JSON[way % JSON.len()]);
            let nan = if way % 4 == 3 { ", confidence = 'NaN'" } else { "" };
            self.execute(&format!(
                "update entities set created_at = '{moment}', updated_at = '{moment}', attributes = '{json}', \
                 metadata = '{json}', valid_until = null{nan} where id = '{entity}'"
            ))
            .await;
            self.execute(&format!(
                "update relationships set updated_at = '{moment}', properties = '{json}' where source_entity_id = '{entity}'"
            ))
            .await;
        }
        MOMENTS.len() * JSON.len()
    }

    async fn mend(&self) {
        self.execute(
            "drop trigger if exists suite_refuse on entities; drop function if exists suite_refuse();
             drop trigger if exists suite_break on dream.run; drop function if exists suite_break()",
        )
        .await;
    }
}
