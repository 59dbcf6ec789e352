//! Our tables, and what the file has besides.

use std::borrow::Cow;

use dream_core::change::{Column, Table};
use dream_core::digest::TextKey;
use dream_ports::StoreError;
use dream_ports::run::{Capabilities, VectorsAt};
use sqlx::AssertSqlSafe;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnection;

use crate::error::{ResultExt, store_error};
use crate::records::{get, number, text, unreadable};
use crate::tx::Tx;
use crate::{SqliteStore, sql};

/// Tables of which chunks are looked up.
const CHUNK_TABLES: [&str; 2] = ["chunks", "khora_chunks"];

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

fn migrator() -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .map(|(version, description, sql)| {
            let sql = sqlx::SqlSafeStr::into_sql_str(*sql);
            Migration::new(*version, Cow::Borrowed(*description), MigrationType::ReversibleUp, sql, false)
        })
        .collect();
    let mut migrator = Migrator::with_migrations(migrations);
    migrator.dangerous_set_table_name("dream_migrations");
    migrator
}

/// Which of the tables that not every file has are there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) has_chunks: bool,
    pub(crate) has_khora_chunks: bool,
    pub(crate) has_temporal_edges: bool,
    pub(crate) has_khora_runs: bool,
}

impl Shape {
    /// The statement with the chunk tables that this file has in place of `chunks_of_store`. Only constants are put in.
    pub(crate) fn over_chunks(self, statement: &str) -> AssertSqlSafe<String> {
        let tables = match (self.has_chunks, self.has_khora_chunks) {
            (true, true) => "(select id, namespace_id from chunks union all select id, namespace_id from khora_chunks)",
            (true, false) => "chunks",
            (false, true) => "khora_chunks",
            (false, false) => "(select null as id, null as namespace_id where false)",
        };
        AssertSqlSafe(statement.replace("chunks_of_store c", &format!("{tables} c")))
    }
}

/// Looks up, inside of a transaction, what it is about to rely on.
pub(crate) async fn shape(tx: &mut Tx) -> Result<Shape, StoreError> {
    let rows = sqlx::query(sql!("schema/shape")).fetch_all(&mut **tx).await.doing("look at the schema")?;
    let tables = rows.iter().map(|row| text(row, "name")).collect::<Result<Vec<_>, _>>()?;
    let has = |table: &str| tables.iter().any(|known| known == table);
    Ok(Shape {
        has_chunks: has("chunks"),
        has_khora_chunks: has("khora_chunks"),
        has_temporal_edges: has("temporal_edges"),
        has_khora_runs: has("khora_dream_runs"),
    })
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

impl SqliteStore {
    pub(crate) async fn migrate_tables(&self, content: bool) -> Result<(), StoreError> {
        const OPERATION: &str = "create the tables of Dream Worker";
        // Where Khora is, its own migrations make its tables, and nothing of theirs is touched.
        if content && !self.columns().await?.has_table("khora_alembic_version") {
            sqlx::raw_sql(CONTENT).execute(&self.writer).await.doing("create the content tables")?;
        }
        migrator().run(&self.writer).await.map_err(|error| match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => store_error(OPERATION, &error),
            // A newer program has been here, or another one that uses the same names.
            _ => StoreError::Unfit { operation: OPERATION, code: "migration".to_owned() },
        })?;
        sqlx::query(sql!("runs/make_text_key")).execute(&self.writer).await.doing("make the store's key")?;
        Ok(())
    }

    pub(crate) async fn read_text_key(&self) -> Result<TextKey, StoreError> {
        let mut connection = self.reader.acquire().await.doing("read the store's key")?;
        text_key(&mut connection).await
    }

    async fn columns(&self) -> Result<Columns, StoreError> {
        let rows = sqlx::query(sql!("schema/columns")).fetch_all(&self.reader).await.doing("look at the schema")?;
        let column = |row| Ok((text(row, "table_name")?, text(row, "column_name")?));
        rows.iter().map(column).collect::<Result<_, _>>().map(Columns)
    }

    /// What the file has. Never asked inside of a transaction: in memory there is but one connection.
    pub(crate) async fn look(&self) -> Result<Capabilities, StoreError> {
        const OPERATION: &str = "look at the schema";
        let columns = self.columns().await?;
        let row = sqlx::query(sql!("schema/version")).fetch_one(&self.reader).await.doing(OPERATION)?;
        let is_migrated = columns.has_table("dream_migrations") && self.migrated_to().await? == MIGRATIONS.len();
        let is_khoras = columns.has_table("khora_alembic_version");
        Ok(Capabilities {
            dialect: "sqlite".to_owned(),
            version: text(&row, "version")?,
            is_migrated,
            chunk_tables: CHUNK_TABLES.into_iter().filter(|table| columns.has_table(table)).map(Into::into).collect(),
            has_khora_runs: columns.has_table("khora_dream_runs"),
            has_temporal_edges: columns.has_table("temporal_edges"),
            has_recall_times: columns.has("chunks", "last_accessed_at"),
            vectors: if is_khoras { VectorsAt::Lancedb } else { VectorsAt::Store },
            dimension: if is_migrated { self.dimension().await? } else { None },
            missing_columns: missing_columns(&columns),
        })
    }

    async fn migrated_to(&self) -> Result<usize, StoreError> {
        let row = sqlx::query(sql!("schema/migrated")).fetch_one(&self.reader).await.doing("look at the schema")?;
        Ok(number(&row, "count")? as usize)
    }

    async fn dimension(&self) -> Result<Option<u32>, StoreError> {
        const OPERATION: &str = "look at the vectors";
        let row = sqlx::query(sql!("embeddings/length")).fetch_optional(&self.reader).await.doing(OPERATION)?;
        row.map(|row| Ok(number(&row, "bytes")? / 4)).transpose()
    }
}

pub(crate) async fn text_key(connection: &mut SqliteConnection) -> Result<TextKey, StoreError> {
    let row = sqlx::query(sql!("runs/text_key")).fetch_optional(connection).await.doing("read the store's key")?;
    let bytes: Vec<u8> = get(&row.ok_or(StoreError::NotMigrated)?, "text_key")?;
    bytes.try_into().map(TextKey).map_err(|_| unreadable("dream_meta.text_key"))
}

fn missing_columns(columns: &Columns) -> Vec<(String, Column)> {
    let mut missing = Vec::new();
    for table in [Table::Entities, Table::Relationships] {
        for column in table.columns() {
            let elsewhere = *column == Column::Embedding;
            if !elsewhere && !columns.has(table.as_str(), column.as_str()) {
                missing.push((table.as_str().to_owned(), *column));
            }
        }
    }
    missing
}
