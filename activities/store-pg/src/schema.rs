//! Our tables, and what the database has besides.

use std::borrow::Cow;

use dream_core::change::{Column, Table};
use dream_core::digest::TextKey;
use dream_ports::StoreError;
use dream_ports::run::{Capabilities, VectorsAt};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr as _};

use crate::error::ResultExt;
use crate::records::get;
use crate::tx::Tx;
use crate::{PgStore, query, sql};

/// Our migrations, in order. A new one is two files under `migrations/` and a line here.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "create runs", include_str!("../migrations/0001_create_runs.up.sql")),
    (2, "create effects", include_str!("../migrations/0002_create_effects.up.sql")),
    (3, "create mirror", include_str!("../migrations/0003_create_mirror.up.sql")),
    (4, "create spaces", include_str!("../migrations/0004_create_spaces.up.sql")),
    (5, "create mind calls", include_str!("../migrations/0005_create_mind_calls.up.sql")),
];

/// The content tables of the graph realm.
const CONTENT: &str = include_str!("../content/graph.sql");

/// The lock under which our tables are created: "dream" in ASCII.
const MIGRATION_LOCK: i64 = 0x64_7265_616d;

/// Tables of which chunks are looked up.
const CHUNK_TABLES: [&str; 2] = ["chunks", "khora_chunks"];

/// Every other table this program looks for.
const TABLES: [&str; 5] = ["entities", "relationships", "temporal_edges", "khora_dream_runs", "khora_alembic_version"];

fn migrator() -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .map(|(version, description, sql)| {
            let sql = AssertSqlSafe(*sql).into_sql_str();
            Migration::new(*version, Cow::Borrowed(*description), MigrationType::ReversibleUp, sql, false)
        })
        .collect();
    let mut migrator = Migrator::with_migrations(migrations);
    migrator.create_schema("dream");
    migrator.dangerous_set_table_name("dream.migrations");
    // The migrator's own lock belongs to a session; ours to the transaction around all of it.
    migrator.set_locking(false);
    migrator
}

/// Which of the tables that not every store has are there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) has_chunks: bool,
    pub(crate) has_khora_chunks: bool,
    pub(crate) has_temporal_edges: bool,
    pub(crate) has_khora_runs: bool,
}

impl Shape {
    /// The statement with the chunk tables that this store has in place of `chunks_of_store`. Only constants are put in.
    pub(crate) fn over_chunks(self, statement: &str) -> AssertSqlSafe<String> {
        let tables = match (self.has_chunks, self.has_khora_chunks) {
            (true, true) => "(select id, namespace_id from chunks union all select id, namespace_id from khora_chunks)",
            (true, false) => "chunks",
            (false, true) => "khora_chunks",
            (false, false) => "(select null::uuid as id, null::uuid as namespace_id where false)",
        };
        AssertSqlSafe(statement.replace("chunks_of_store c", &format!("{tables} c")))
    }
}

/// Looks up, inside of a transaction, what it is about to rely on.
pub(crate) async fn shape(tx: &mut Tx) -> Result<Shape, StoreError> {
    let row = query(sql!("schema/shape")).fetch_one(&mut **tx).await.doing("look at the schema")?;
    Ok(Shape {
        has_chunks: get(&row, "has_chunks")?,
        has_khora_chunks: get(&row, "has_khora_chunks")?,
        has_temporal_edges: get(&row, "has_temporal_edges")?,
        has_khora_runs: get(&row, "has_khora_runs")?,
    })
}

pub(crate) async fn text_key(tx: &mut Tx) -> Result<TextKey, StoreError> {
    const OPERATION: &str = "read the store's key";
    let row = query(sql!("runs/text_key")).fetch_optional(&mut **tx).await.doing(OPERATION)?;
    let bytes: Vec<u8> = get(&row.ok_or(StoreError::NotMigrated)?, "text_key")?;
    bytes
        .try_into()
        .map(TextKey)
        .map_err(|_| StoreError::Unreadable { operation: OPERATION, what: "dream.meta.text_key".to_owned() })
}

impl PgStore {
    pub(crate) async fn migrate_tables(&self, content: bool) -> Result<(), StoreError> {
        const OPERATION: &str = "create the tables of Dream Worker";
        let mut tx = self.migrating(OPERATION).await?;
        query(sql!("locks/migration")).bind(MIGRATION_LOCK).execute(&mut *tx).await.doing(OPERATION)?;
        // Where Khora is, its own migrations make its tables, and nothing of theirs is touched.
        if content && !columns(&mut tx).await?.has_table("khora_alembic_version") {
            sqlx::raw_sql(CONTENT).execute(&mut *tx).await.doing("create the content tables")?;
        }
        match migrator().run_direct(None, &mut *tx, false).await {
            Ok(()) => {}
            Err(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
                return Err(error).doing(OPERATION);
            }
            // A newer program has been here, or another one that uses the same names.
            Err(_) => return Err(StoreError::Unfit { operation: OPERATION, code: "migration".to_owned() }),
        }
        query(sql!("runs/make_text_key")).execute(&mut *tx).await.doing("make the store's key")?;
        tx.commit().await.doing(OPERATION)
    }

    pub(crate) async fn look(&self) -> Result<Capabilities, StoreError> {
        const OPERATION: &str = "look at the schema";
        let mut tx = self.read(OPERATION).await?;
        let columns = columns(&mut tx).await?;
        let row = query(sql!("schema/version")).fetch_one(&mut *tx).await.doing(OPERATION)?;
        let version = get(&row, "version")?;
        let is_migrated = get(&row, "has_migrations")? && migrated_to(&mut tx).await? == MIGRATIONS.len();
        let dimension = if columns.has("entities", "embedding") { dimension(&mut tx).await? } else { None };
        Ok(Capabilities {
            dialect: "postgres".to_owned(),
            version,
            is_migrated,
            chunk_tables: CHUNK_TABLES.into_iter().filter(|table| columns.has_table(table)).map(Into::into).collect(),
            has_khora_runs: columns.has_table("khora_dream_runs"),
            has_temporal_edges: columns.has_table("temporal_edges"),
            has_recall_times: columns.has("chunks", "last_accessed_at"),
            vectors: VectorsAt::Store,
            dimension,
            missing_columns: missing_columns(&columns),
        })
    }
}

/// Tables and their columns.
struct Columns(Vec<(String, String)>);

impl Columns {
    fn has_table(&self, table: &str) -> bool {
        self.0.iter().any(|(known, _)| known == table)
    }

    fn has(&self, table: &str, column: &str) -> bool {
        self.0.iter().any(|(known, name)| known == table && name == column)
    }
}

async fn columns(tx: &mut Tx) -> Result<Columns, StoreError> {
    let wanted: Vec<&str> = TABLES.into_iter().chain(CHUNK_TABLES).collect();
    let rows = query(sql!("schema/columns")).bind(wanted).fetch_all(&mut **tx).await.doing("look at the schema")?;
    rows.iter()
        .map(|row| Ok((get(row, "table_name")?, get(row, "column_name")?)))
        .collect::<Result<_, _>>()
        .map(Columns)
}

async fn migrated_to(tx: &mut Tx) -> Result<usize, StoreError> {
    let row = query(sql!("schema/migrated")).fetch_one(&mut **tx).await.doing("look at the schema")?;
    Ok(crate::records::count(&row, "count")? as usize)
}

async fn dimension(tx: &mut Tx) -> Result<Option<u32>, StoreError> {
    let row = query(sql!("schema/dimension")).fetch_one(&mut **tx).await.doing("look at the vectors")?;
    Ok(get::<Option<i32>>(&row, "dimension")?.and_then(|dimension| u32::try_from(dimension).ok()))
}

fn missing_columns(columns: &Columns) -> Vec<(String, Column)> {
    let mut missing = Vec::new();
    for table in [Table::Entities, Table::Relationships] {
        for column in table.columns() {
            if !columns.has(table.as_str(), column.as_str()) {
                missing.push((table.as_str().to_owned(), *column));
            }
        }
    }
    missing
}
