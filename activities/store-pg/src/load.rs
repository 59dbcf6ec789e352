//! Loading the rows that a group needs, locked, inside of its transaction.
//!
//! Tables come in one order and rows of a table in the order of their ids, so that two groups never wait for each other. With
//! ingestion that alone would not do, hence its lock, see [`crate::locks`].

use dream_core::change::Table;
use dream_core::id::NamespaceId;
use dream_core::rows::{Needs, Rows};
use dream_ports::StoreError;
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use uuid::Uuid;

use crate::encode::{table_row, vector_cell};
use crate::error::ResultExt;
use crate::records::get;
use crate::schema::Shape;
use crate::tx::Tx;
use crate::{query, sql};

const OPERATION: &str = "load rows";

/// Loads what is needed. Rows that do not exist are simply not there afterwards.
pub(crate) async fn load(
    tx: &mut Tx,
    shape: Shape,
    namespace: NamespaceId,
    needs: &Needs,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    for table in Table::ALL {
        if *table == Table::TemporalEdges && !shape.has_temporal_edges {
            continue;
        }
        let ids: Vec<Uuid> = needs.rows.iter().filter(|key| key.table == *table).map(|key| key.id).collect();
        if !ids.is_empty() {
            let statement = query(by_id(*table)).bind(namespace.0).bind(ids);
            load_rows(tx, *table, statement, rows).await?;
        }
    }
    load_edges(tx, shape, namespace, needs, rows).await?;
    load_embeddings(tx, namespace, needs, rows).await?;
    load_live_chunks(tx, shape, namespace, needs, rows).await
}

const fn by_id(table: Table) -> &'static str {
    match table {
        Table::Entities => sql!("entities/load"),
        Table::Relationships => sql!("relationships/load"),
        Table::TemporalEdges => sql!("temporal_edges/load"),
        Table::Aliases => sql!("aliases/load"),
        Table::Facts => sql!("facts/load"),
        Table::Journal => sql!("journal/load"),
        Table::Actions => sql!("actions/load"),
        Table::KeyValues => sql!("key_values/load"),
        Table::Records => sql!("records/load"),
        Table::Profiles => sql!("profiles/load"),
    }
}

async fn load_rows(
    tx: &mut Tx,
    table: Table,
    statement: Query<'static, Postgres, PgArguments>,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    let found: Vec<PgRow> = statement.fetch_all(&mut **tx).await.doing(OPERATION)?;
    for row in &found {
        rows.load(table_row(table, row)?);
    }
    Ok(())
}

async fn load_edges(
    tx: &mut Tx,
    shape: Shape,
    namespace: NamespaceId,
    needs: &Needs,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    if !needs.edges_touching.is_empty() {
        let ids: Vec<Uuid> = needs.edges_touching.iter().copied().collect();
        let statement = query(sql!("relationships/load_touching")).bind(namespace.0).bind(&ids);
        load_rows(tx, Table::Relationships, statement, rows).await?;
        if shape.has_temporal_edges {
            let statement = query(sql!("temporal_edges/load_touching")).bind(namespace.0).bind(&ids);
            load_rows(tx, Table::TemporalEdges, statement, rows).await?;
        }
    }
    if !needs.edges_between.is_empty() {
        let (sources, targets): (Vec<Uuid>, Vec<Uuid>) = needs.edges_between.iter().copied().unzip();
        let statement = query(sql!("relationships/load_between")).bind(namespace.0).bind(sources).bind(targets);
        load_rows(tx, Table::Relationships, statement, rows).await?;
    }
    Ok(())
}

async fn load_embeddings(
    tx: &mut Tx,
    namespace: NamespaceId,
    needs: &Needs,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    if needs.embeddings.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = needs.embeddings.iter().copied().collect();
    let found =
        query(sql!("entities/vectors")).bind(namespace.0).bind(ids).fetch_all(&mut **tx).await.doing(OPERATION)?;
    for row in &found {
        rows.load_embedding(get(row, "id")?, vector_cell(row)?);
    }
    Ok(())
}

async fn load_live_chunks(
    tx: &mut Tx,
    shape: Shape,
    namespace: NamespaceId,
    needs: &Needs,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    if needs.chunks.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = needs.chunks.iter().copied().collect();
    let found = query(shape.over_chunks(sql!("chunks/live")))
        .bind(namespace.0)
        .bind(ids)
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    let live = found.iter().map(|row| get(row, "id")).collect::<Result<Vec<Uuid>, _>>()?;
    rows.load_live_chunks(live);
    Ok(())
}
