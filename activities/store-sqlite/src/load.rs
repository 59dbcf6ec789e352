//! Loading the rows that a group needs, inside of its transaction.

use dream_core::change::Table;
use dream_core::id::NamespaceId;
use dream_core::rows::{Needs, Rows};
use dream_ports::StoreError;
use uuid::Uuid;

use crate::encode::{hex, id_array, table_row, vector_cell};
use crate::error::ResultExt;
use crate::records::{id, spell_json};
use crate::schema::Shape;
use crate::sql;
use crate::tx::Tx;

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
            load_rows(tx, namespace, *table, load_statement(*table), id_array(&ids), rows).await?;
        }
    }
    if !needs.edges_touching.is_empty() {
        let ids = id_array(&needs.edges_touching);
        load_rows(tx, namespace, Table::Relationships, sql!("relationships/load_touching"), ids.clone(), rows).await?;
        if shape.has_temporal_edges {
            let statement = sql!("temporal_edges/load_touching");
            load_rows(tx, namespace, Table::TemporalEdges, statement, ids, rows).await?;
        }
    }
    if !needs.edges_between.is_empty() {
        let pairs: Vec<[String; 2]> =
            needs.edges_between.iter().map(|(source, target)| [hex(*source), hex(*target)]).collect();
        let statement = sql!("relationships/load_between");
        load_rows(tx, namespace, Table::Relationships, statement, spell_json(&pairs), rows).await?;
    }
    load_embeddings(tx, needs, rows).await?;
    load_live_chunks(tx, shape, namespace, needs, rows).await
}

const fn load_statement(table: Table) -> &'static str {
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
    namespace: NamespaceId,
    table: Table,
    statement: &'static str,
    ids: String,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    let found = sqlx::query(statement).bind(hex(namespace.0)).bind(ids).fetch_all(&mut **tx).await.doing(OPERATION)?;
    for row in &found {
        rows.load(table_row(table, row)?);
    }
    Ok(())
}

async fn load_embeddings(tx: &mut Tx, needs: &Needs, rows: &mut Rows) -> Result<(), StoreError> {
    if needs.embeddings.is_empty() {
        return Ok(());
    }
    let found = sqlx::query(sql!("embeddings/load"))
        .bind(id_array(&needs.embeddings))
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    for row in &found {
        rows.load_embedding(id(row, "id")?, vector_cell(row, "embedding")?);
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
    let found = sqlx::query(shape.over_chunks(sql!("chunks/live")))
        .bind(hex(namespace.0))
        .bind(id_array(&needs.chunks))
        .fetch_all(&mut **tx)
        .await
        .doing(OPERATION)?;
    let live = found.iter().map(|row| id(row, "id")).collect::<Result<Vec<_>, _>>()?;
    rows.load_live_chunks(live);
    Ok(())
}
