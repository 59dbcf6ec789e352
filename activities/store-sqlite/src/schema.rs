//! Our tables, and what the file has besides.

use std::borrow::Cow;

use dream_core::change::{Column, Table};
use dream_core::digest::TextKey;
use dream_ports::StoreError;
use dream_ports::run::{Capabilities, VectorsAt};
use sqlx::Row as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnection;

use crate::error::ResultExt;
use crate::{SqliteStore, sql};

/// Our migrations, in order. A new one is two files under `migrations/` and a line here.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "create runs", include_str!("../migrations/0001_create_runs.up.sql")),
    (2, "create effects", include_str!("../migrations/0002_create_effects.up.sql")),
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

impl SqliteStore {
    pub(crate) async fn migrate_tables(&self, content: bool) -> Result<(), StoreError> {
        if content {
            sqlx::raw_sql(CONTENT).execute(&self.writer).await.doing("create the content tables")?;
        }
        migrator().run(&self.writer).await.map_err(|_| StoreError::Refused {
            operation: "create the tables of Dream Worker",
            code: "migration".to_owned(),
        })?;
        sqlx::query(sql!("runs/make_text_key")).execute(&self.writer).await.doing("make the store's key")?;
        Ok(())
    }

    pub(crate) async fn read_text_key(&self) -> Result<TextKey, StoreError> {
        let mut connection = self.reader.acquire().await.doing("read the store's key")?;
        text_key(&mut connection).await
    }

    /// What the file has; looked up once our tables are there, as a schema does not change under a worker.
    pub(crate) async fn capabilities(&self) -> Result<Capabilities, StoreError> {
        if let Some(capabilities) = self.capabilities.get() {
            return Ok(capabilities.clone());
        }
        let capabilities = self.look().await?;
        if capabilities.is_migrated {
            let _raced = self.capabilities.set(capabilities.clone());
        }
        Ok(capabilities)
    }

    /// What the file has, looked up anew.
    pub(crate) async fn look(&self) -> Result<Capabilities, StoreError> {
        const OPERATION: &str = "look at the schema";
        let rows = sqlx::query(sql!("runs/schema")).fetch_all(&self.reader).await.doing(OPERATION)?;
        let mut columns = Vec::new();
        for row in rows {
            let table: String = row.try_get(0).doing(OPERATION)?;
            let column: String = row.try_get(1).doing(OPERATION)?;
            columns.push((table, column));
        }
        let has_table = |table: &str| columns.iter().any(|(known, _)| known == table);
        let has = |table: &str, column: &str| columns.iter().any(|(t, c)| t == table && c == column);
        let version: String =
            sqlx::query_scalar("select sqlite_version()").fetch_one(&self.reader).await.doing(OPERATION)?;
        let is_khora = has_table("khora_alembic_version");
        let is_migrated = has_table("dream_migrations") && self.migrated_to().await? == MIGRATIONS.len();
        let dimension = if is_migrated { self.dimension().await? } else { None };
        Ok(Capabilities {
            dialect: "sqlite".to_owned(),
            version,
            is_migrated,
            chunk_tables: ["chunks", "khora_chunks"]
                .into_iter()
                .filter(|table| has_table(table))
                .map(Into::into)
                .collect(),
            has_khora_runs: has_table("khora_dream_runs"),
            has_temporal_edges: has_table("temporal_edges"),
            has_recall_times: has("chunks", "last_accessed_at"),
            vectors: if is_khora { VectorsAt::Lancedb } else { VectorsAt::Store },
            dimension,
            missing_columns: missing_columns(has),
        })
    }

    async fn migrated_to(&self) -> Result<usize, StoreError> {
        let count: i64 = sqlx::query_scalar("select count(*) from dream_migrations where success")
            .fetch_one(&self.reader)
            .await
            .doing("look at the schema")?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    async fn dimension(&self) -> Result<Option<u32>, StoreError> {
        let bytes: Option<i64> = sqlx::query_scalar(sql!("embeddings/length"))
            .fetch_optional(&self.reader)
            .await
            .doing("look at the vectors")?;
        Ok(bytes.and_then(|bytes| u32::try_from(bytes / 4).ok()))
    }
}

pub(crate) async fn text_key(connection: &mut SqliteConnection) -> Result<TextKey, StoreError> {
    const OPERATION: &str = "read the store's key";
    let row = sqlx::query(sql!("runs/text_key")).fetch_optional(connection).await.doing(OPERATION)?;
    let bytes: Vec<u8> = row.ok_or(StoreError::NotMigrated)?.try_get(0).doing(OPERATION)?;
    bytes
        .try_into()
        .map(TextKey)
        .map_err(|_| StoreError::Unreadable { operation: OPERATION, what: "dream_meta.text_key".to_owned() })
}

fn missing_columns(has: impl Fn(&str, &str) -> bool) -> Vec<(String, Column)> {
    let mut missing = Vec::new();
    for table in [Table::Entities, Table::Relationships] {
        for column in table.columns() {
            let elsewhere = *column == Column::Embedding;
            if !elsewhere && !has(table.as_str(), column.as_str()) {
                missing.push((table.as_str().to_owned(), *column));
            }
        }
    }
    missing
}
