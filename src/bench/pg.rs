//! PostgreSQL as a scratch store: a database per place, made as a copy of the base and dropped again.
//!
//! What a run left is fetched as arrays in the server's own binary form and bound again as it came, so that the bare
//! statements are measured and not the way there.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use async_trait::async_trait;
use dream_core::change::{Column, Table, ValueKind};
use dream_ports::RunStore as _;
use dream_store_pg::PgStore;
use futures::TryStreamExt as _;
use indicatif::ProgressBar;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgConnection, PgRow, PgTypeInfo};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Connection as _, Encode, Postgres, Row as _, Type, TypeInfo as _, ValueRef as _};
use uuid::Uuid;

use super::scratch::{BASE, Bare, Effect, Effects, Scratch};
use super::world::World;

/// Connections of the store that is filled.
const CONNECTIONS_MAX: u32 = 2;

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("queries/pg/", $name, ".sql"))
    };
}

/// A server on which databases may be made.
pub(super) struct PgScratch {
    url: String,
    /// What the names of this bench's databases begin with.
    prefix: String,
}

impl PgScratch {
    pub(super) fn new(url: &str) -> Self {
        Self { url: url.to_owned(), prefix: format!("dream_bench_{}", Uuid::now_v7().simple()) }
    }

    fn database(&self, place: &str) -> String {
        format!("{}_{place}", self.prefix)
    }

    async fn administer(&self, statement: String) -> anyhow::Result<()> {
        let mut connection = connect(&self.url).await?;
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    async fn connect(&self, place: &str) -> anyhow::Result<PgConnection> {
        connect(&self.address(place)).await
    }
}

async fn connect(url: &str) -> anyhow::Result<PgConnection> {
    PgConnection::connect(url).await.context("the PostgreSQL server of the bench does not answer")
}

/// The address of another database on the same server.
fn with_database(url: &str, database: &str) -> String {
    let (address, options) = url.split_once('?').map_or((url, ""), |(address, options)| (address, options));
    let after_scheme = address.find("://").map_or(0, |place| place + 3);
    let authority = address[after_scheme..].find('/').map_or(address.len(), |place| after_scheme + place);
    let separator = if options.is_empty() { "" } else { "?" };
    format!("{}/{database}{separator}{options}", &address[..authority])
}

#[async_trait]
impl Scratch for PgScratch {
    async fn version(&self) -> anyhow::Result<String> {
        let row =
            sqlx::query("select current_setting('server_version')").fetch_one(&mut connect(&self.url).await?).await?;
        Ok(format!("PostgreSQL {}", row.try_get::<String, _>(0)?))
    }

    fn address(&self, place: &str) -> String {
        with_database(&self.url, &self.database(place))
    }

    async fn create(&self, world: World, bar: &ProgressBar) -> anyhow::Result<()> {
        self.administer(format!("create database {}", self.database(BASE))).await?;
        let store = PgStore::open(&self.address(BASE), CONNECTIONS_MAX).await?;
        store.migrate(true).await?;
        world.write(&store, bar).await?;
        store.close().await;
        let mut connection = self.connect(BASE).await?;
        sqlx::raw_sql("vacuum (analyze)").execute(&mut connection).await?;
        // Only some roles may ask for it; without it the server does it when it likes.
        let _may_not = sqlx::raw_sql("checkpoint").execute(&mut connection).await;
        Ok(connection.close().await?)
    }

    async fn read(&self) -> anyhow::Result<Duration> {
        let mut connection = self.connect(BASE).await?;
        let started = Instant::now();
        for statement in [sql!("copy_entities"), sql!("copy_relationships")] {
            let mut pieces = connection.copy_out_raw(statement).await?;
            while pieces.try_next().await?.is_some() {}
        }
        Ok(started.elapsed())
    }

    async fn copy(&self, place: &str) -> anyhow::Result<()> {
        let (to, from) = (self.database(place), self.database(BASE));
        self.administer(format!("create database {to} template {from}")).await
    }

    async fn bare(&self, effects: &Effects, from: &str, to: &str) -> anyhow::Result<Bare> {
        let mut source = self.connect(from).await?;
        let mut statements = Vec::new();
        for (table, effect) in &effects.tables {
            statements.push(content(&mut source, *table, effect).await?);
        }
        let run = effects.run.0;
        let ops = fetch(&mut source, sqlx::query(sql!("ops")).bind(run)).await?;
        let undo = fetch(&mut source, sqlx::query(sql!("undo")).bind(run)).await?;
        let outbox = fetch(&mut source, sqlx::query(sql!("outbox")).bind(run)).await?;
        let mut target = self.connect(to).await?;
        // seq, op_id, content_key, cluster, kind, draft
        bound(sqlx::query(sql!("seal")).bind(run), &ops[..6]).execute(&mut target).await?;
        sqlx::raw_sql("analyze dream.op").execute(&mut target).await?;
        // seq; state, reason, numbers, applied_at
        let settled = std::iter::once(&ops[0]).chain(&ops[6..]);
        statements.push((sql!("settle").to_owned(), Some(run), settled.cloned().collect()));
        statements.push((sql!("insert_undo").to_owned(), Some(run), undo));
        statements.push((sql!("insert_outbox").to_owned(), Some(run), outbox));
        let mut bare = Bare::default();
        let started = Instant::now();
        let mut transaction = target.begin().await?;
        for (statement, run, arrays) in statements.iter().filter(|(_, _, arrays)| !arrays.is_empty()) {
            let mut query = sqlx::query(AssertSqlSafe(statement.clone()));
            if let Some(run) = run {
                query = query.bind(run);
            }
            bare.rows += bound(query, arrays).execute(&mut *transaction).await?.rows_affected();
        }
        transaction.commit().await?;
        bare.took = started.elapsed();
        Ok(bare)
    }

    async fn remove(&self, place: &str) -> anyhow::Result<()> {
        self.administer(format!("drop database if exists {} with (force)", self.database(place))).await
    }
}

/// A statement with what is bound to it: the run, where it asks for it, and arrays.
type Statement = (String, Option<Uuid>, Vec<Array>);

/// An array as the server sent it.
#[derive(Clone)]
struct Array {
    oid: Oid,
    bytes: Vec<u8>,
}

impl Type<Postgres> for Array {
    fn type_info() -> PgTypeInfo {
        // What counts is what `produces` says.
        <Vec<u8> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Array {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode_by_ref(&self.bytes.as_slice(), buffer)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(PgTypeInfo::with_oid(self.oid))
    }
}

fn bound<'q>(query: Query<'q, Postgres, PgArguments>, arrays: &[Array]) -> Query<'q, Postgres, PgArguments> {
    arrays.iter().fold(query, |query, array| query.bind(array.clone()))
}

/// Runs a statement whose row is arrays.
async fn fetch(
    connection: &mut PgConnection,
    query: Query<'static, Postgres, PgArguments>,
) -> anyhow::Result<Vec<Array>> {
    let row: PgRow = query.fetch_one(connection).await?;
    let array = |place| {
        let value = row.try_get_raw(place)?;
        let type_info = value.type_info();
        let oid = type_info.oid().with_context(|| format!("type {} has no number", type_info.name()))?;
        Ok(Array { oid, bytes: value.as_bytes().map_err(anyhow::Error::from_boxed)?.to_vec() })
    };
    // Over no rows there is no array, only null.
    if row.try_get_raw(0)?.is_null() {
        return Ok(Vec::new());
    }
    (0..row.len()).map(array).collect()
}

/// A table under its name in the database, with the name of its key.
const fn names(table: Table) -> (&'static str, &'static str) {
    match table {
        Table::Entities => ("entities", "id"),
        Table::Relationships => ("relationships", "id"),
        Table::TemporalEdges => ("temporal_edges", "id"),
        Table::Aliases => ("dream.alias", "absorbed_id"),
        // A dream over a namespace changes no space.
        other => (other.as_str(), "id"),
    }
}

/// The statement that writes what a run did to one table: exactly the columns it changed.
async fn content(source: &mut PgConnection, table: Table, effect: &Effect) -> anyhow::Result<Statement> {
    let (name, key) = names(table);
    // Lists of lists would have to be rectangular, so each of several lists is text.
    let is_list = |column: &Column| column.kind() == ValueKind::Ids;
    let mut selected = vec![format!("array_agg({key} order by {key})")];
    selected.extend(effect.columns.iter().map(|column| {
        let cast = if is_list(column) { "::text" } else { "" };
        format!("array_agg({column}{cast} order by {key})")
    }));
    let mut columns: Vec<String> = effect.columns.iter().map(ToString::to_string).collect();
    if effect.is_created && table == Table::Aliases {
        selected.push(format!("array_agg(namespace_id order by {key})"));
        columns.push("namespace_id".to_owned());
    }
    let select = format!("select {} from {name} where {key} = any ($1)", selected.join(", "));
    let ids: Vec<Uuid> = effect.ids.iter().copied().collect();
    let arrays = fetch(source, sqlx::query(AssertSqlSafe(select)).bind(ids)).await?;
    let places: Vec<String> = (1..=arrays.len()).map(|place| format!("${place}")).collect();
    let rows = format!("unnest({}) as x ({key}, {})", places.join(", "), columns.join(", "));
    let statement = if effect.is_created {
        let values: Vec<String> = columns.iter().map(|column| format!("x.{column}")).collect();
        format!("insert into {name} ({key}, {}) select x.{key}, {} from {rows}", columns.join(", "), values.join(", "))
    } else {
        let sets: Vec<String> = effect
            .columns
            .iter()
            .map(|column| format!("{column} = x.{column}{}", if is_list(column) { "::uuid[]" } else { "" }))
            .collect();
        format!("update {name} t set {} from {rows} where t.{key} = x.{key}", sets.join(", "))
    };
    Ok((statement, None, arrays))
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn the_address_of_another_database_keeps_everything_else() {
        for (url, other) in [
            ("postgres://u:p@h:5/db", "postgres://u:p@h:5/x"),
            ("postgres://h", "postgres://h/x"),
            ("postgres:///db?host=/run/pg", "postgres:///x?host=/run/pg"),
        ] {
            assert_eq!(with_database(url, "x"), other);
        }
    }
}
