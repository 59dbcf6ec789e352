//! SQLite as a scratch store: a file per place in a temporary folder.
//!
//! What a run left is read from its file, which is attached to the other one: nothing is carried to and fro.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dream_core::change::{Column, Table};
use dream_core::mirror::Verb;
use dream_ports::RunStore as _;
use dream_store_sqlite::SqliteStore;
use futures::TryStreamExt as _;
use indicatif::ProgressBar;
use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, SqliteConnection};
use tempfile::TempDir;
use uuid::Uuid;

use super::graph::Merges;
use super::scratch::{BASE, Bare, Effect, Effects, Scratch};
use super::world::World;

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("queries/sqlite/", $name, ".sql"))
    };
}

/// Ops that one statement inserts: some hundred kilobytes of JSON.
const OPS_PER_STATEMENT: u64 = 2_000;

/// A temporary folder.
pub(super) struct SqliteScratch {
    folder: TempDir,
}

impl SqliteScratch {
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self { folder: tempfile::tempdir()? })
    }

    /// An empty store in a place.
    pub(super) async fn empty(&self, place: &str) -> anyhow::Result<SqliteStore> {
        let store = SqliteStore::open(&self.path(place), true).await?;
        store.migrate(true).await?;
        Ok(store)
    }

    /// Writes a run that has carried merges out, and the outbox rows that it left.
    pub(super) async fn queue(&self, place: &str, merges: Merges) -> anyhow::Result<()> {
        let mut connection = self.connect(place).await?;
        let hex = |id: Uuid| id.simple().to_string();
        let (run, namespace) = (hex(merges.op(merges.count).0), hex(merges.namespace.0));
        sqlx::query(sql!("insert_run")).bind(&run).bind(&namespace).execute(&mut connection).await?;
        let ops_max = usize::try_from(OPS_PER_STATEMENT)?;
        for start in (0..merges.count).step_by(ops_max) {
            let ops = (start..(start + OPS_PER_STATEMENT).min(merges.count)).map(|number| {
                let verbs = serde_json::to_string(&merges.verbs(number))?;
                let rows: Vec<String> = merges.verbs(number).iter().flat_map(Verb::ids).map(hex).collect();
                Ok(json!({ "seq": number + 1, "op_id": hex(merges.op(number).0), "verbs": verbs, "rows": rows }))
            });
            let ops = serde_json::to_string(&ops.collect::<serde_json::Result<Vec<_>>>()?)?;
            for statement in [sql!("insert_ops"), sql!("insert_touched"), sql!("insert_queue")] {
                sqlx::query(statement).bind(&run).bind(&namespace).bind(&ops).execute(&mut connection).await?;
            }
        }
        sqlx::raw_sql("analyze; pragma wal_checkpoint(truncate)").execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    fn path(&self, place: &str) -> PathBuf {
        self.folder.path().join(format!("{place}.db"))
    }

    /// A connection that is set up as the store sets up its own.
    async fn connect(&self, place: &str) -> anyhow::Result<SqliteConnection> {
        let options = SqliteConnectOptions::new()
            .filename(self.path(place))
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .pragma("cache_size", "-64000")
            .pragma("temp_store", "memory");
        Ok(options.connect().await?)
    }
}

#[async_trait]
impl Scratch for SqliteScratch {
    async fn version(&self) -> anyhow::Result<String> {
        let mut connection = SqliteConnectOptions::new().in_memory(true).connect().await?;
        let row = sqlx::query("select sqlite_version()").fetch_one(&mut connection).await?;
        Ok(format!("SQLite {}", row.try_get::<String, _>(0)?))
    }

    fn address(&self, place: &str) -> String {
        self.path(place).display().to_string()
    }

    async fn create(&self, world: World, bar: &ProgressBar) -> anyhow::Result<()> {
        let store = self.empty(BASE).await?;
        world.write(&store, bar).await?;
        store.close().await;
        let mut connection = self.connect(BASE).await?;
        sqlx::raw_sql("analyze; pragma wal_checkpoint(truncate)").execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    async fn read(&self) -> anyhow::Result<Duration> {
        let mut connection = self.connect(BASE).await?;
        let started = Instant::now();
        for statement in [sql!("read_entities"), sql!("read_relationships")] {
            let mut rows = sqlx::query(statement).fetch(&mut connection);
            while rows.try_next().await?.is_some() {}
        }
        Ok(started.elapsed())
    }

    async fn copy(&self, place: &str) -> anyhow::Result<()> {
        tokio::fs::copy(self.path(BASE), self.path(place)).await?;
        Ok(())
    }

    async fn bare(&self, effects: &Effects, from: &str, to: &str) -> anyhow::Result<Bare> {
        let mut connection = self.connect(to).await?;
        let run = effects.run.0.simple().to_string();
        let done = self.path(from).display().to_string();
        sqlx::query("attach database ?1 as done").bind(done).execute(&mut connection).await?;
        // The run's own row is no part of what is measured, so the ops stand here without it.
        sqlx::raw_sql("pragma foreign_keys = off").execute(&mut connection).await?;
        sqlx::query(sql!("seal")).bind(&run).execute(&mut connection).await?;
        sqlx::raw_sql("pragma foreign_keys = on").execute(&mut connection).await?;
        let mut statements: Vec<String> = Vec::new();
        for (table, effect) in &effects.tables {
            statements.extend(content(*table, effect));
        }
        statements.extend([sql!("settle"), sql!("insert_undo"), sql!("insert_outbox")].map(str::to_owned));
        let mut bare = Bare::default();
        let started = Instant::now();
        let mut transaction = connection.begin_with("begin immediate").await?;
        for statement in statements {
            let written = sqlx::query(AssertSqlSafe(statement)).bind(&run).execute(&mut *transaction).await?;
            bare.rows += written.rows_affected();
        }
        transaction.commit().await?;
        bare.took = started.elapsed();
        Ok(bare)
    }

    async fn remove(&self, place: &str) -> anyhow::Result<()> {
        for ending in ["db", "db-wal", "db-shm"] {
            // Not all of them are there.
            let _gone = std::fs::remove_file(self.path(place).with_extension(ending));
        }
        Ok(())
    }
}

/// The statements that write what a run did to one table: exactly the columns it changed.
fn content(table: Table, effect: &Effect) -> Vec<String> {
    let (name, key) = match table {
        Table::Entities => ("entities", "id"),
        Table::Relationships => ("relationships", "id"),
        Table::TemporalEdges => ("temporal_edges", "id"),
        Table::Aliases => ("dream_alias", "absorbed_id"),
        // A dream over a namespace changes no space.
        other => (other.as_str(), "id"),
    };
    let touched = format!("(select row_id from done.dream_touched where run_id = ?1 and table_name = '{table}')");
    let columns: Vec<&str> =
        effect.columns.iter().filter(|column| **column != Column::Embedding).map(|column| column.as_str()).collect();
    if effect.is_created {
        let columns = columns.join(", ");
        return vec![format!(
            "insert into {name} ({key}, namespace_id, {columns}) select {key}, namespace_id, {columns} from done.{name} where {key} in {touched}"
        )];
    }
    let sets: Vec<String> = columns.iter().map(|column| format!("{column} = d.{column}")).collect();
    let mut statements = vec![format!(
        "update {name} set {} from done.{name} d where d.{key} = {name}.{key} and {name}.{key} in {touched}",
        sets.join(", ")
    )];
    if effect.columns.contains(&Column::Embedding) {
        statements.push(format!(
            "update dream_embedding set vector = d.vector from done.dream_embedding d \
             where d.entity_id = dream_embedding.entity_id and d.vector <> dream_embedding.vector \
             and dream_embedding.entity_id in {touched}"
        ));
    }
    statements
}
