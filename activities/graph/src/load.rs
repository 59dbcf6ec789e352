//! Loading the part of a graph that a batch speaks of, locked, inside of its transaction.
//!
//! A property that is set to itself is locked, and what is returned behind that is read under the lock. Ids come in their
//! order, so that two transactions wait for each other as seldom as may be; where they do, the server ends one as busy.

use dream_core::change::Row as TableRow;
use dream_core::mirror::{GraphEdge, GraphNeeds, GraphRows};
use dream_ports::GraphError;
use neo4rs::{BoltMap, BoltType, Query, Row};
use uuid::Uuid;

use crate::property::{Properties, Property};
use crate::session::{answer, unreadable};
use crate::tx::NeoTx;
use crate::{bolt, cells, chunks, cypher, rows as as_rows};

const OPERATION: &str = "load nodes and edges";

/// Edges that one transaction takes in: some hundred megabytes. A node with more of them is none that a merge moves within
/// the time that a server gives a transaction.
const EDGES_LOADED_MAX: usize = 200_000;

/// Loads what is needed. Nodes and edges that do not exist are simply not there afterwards.
pub(crate) async fn load(tx: &mut NeoTx, needs: &GraphNeeds, rows: &mut GraphRows) -> Result<(), GraphError> {
    for ids in chunks(needs.nodes.iter().map(text)) {
        let statement = tx.statement(cypher!("nodes_load")).param("ids", ids);
        tx.session
            .each(OPERATION, statement, |row| {
                rows.load_node(node(row)?);
                Ok(())
            })
            .await?;
    }
    for ids in chunks(needs.edges_anywhere.iter().map(text)) {
        let statement = tx.statement(cypher!("edges_anywhere")).param("ids", ids);
        edges(tx, statement, rows).await?;
    }
    for ids in chunks(needs.edges_touching.iter().map(text)) {
        let statement = tx.statement(cypher!("edges_touching")).param("ids", ids);
        edges(tx, statement, rows).await?;
    }
    for pairs in chunks(needs.edges_between.iter().map(pair)) {
        let statement = tx.statement(cypher!("edges_between")).param("pairs", pairs);
        edges(tx, statement, rows).await?;
    }
    Ok(())
}

async fn edges(tx: &mut NeoTx, statement: Query, rows: &mut GraphRows) -> Result<(), GraphError> {
    // One more than may be shows that there are more; those that are loaded already may come again.
    let most = i64::try_from(EDGES_LOADED_MAX + 1).unwrap_or(i64::MAX);
    let mut skipped = 0_u64;
    tx.session
        .each(OPERATION, statement.param("most", most), |row| {
            match edge(row)? {
                Some(edge) => rows.load_edge(edge),
                None => skipped += 1,
            }
            if rows.edges_loaded() > EDGES_LOADED_MAX {
                let what = format!("more than {EDGES_LOADED_MAX} edges at the nodes of one batch");
                return Err(GraphError::Unreadable { operation: OPERATION, what });
            }
            Ok(())
        })
        .await?;
    if skipped > 0 {
        tracing::warn!(skipped, "edges without an id that is a UUID were left out");
    }
    Ok(())
}

/// A node.
pub(crate) fn node(row: &Row) -> Result<TableRow, GraphError> {
    let properties = properties(row)?;
    let id = properties.get("id").and_then(cells::id).ok_or_else(|| unreadable(OPERATION))?;
    as_rows::node(OPERATION, id, &properties)
}

/// An edge; none where an id is no UUID.
pub(crate) fn edge(row: &Row) -> Result<Option<GraphEdge>, GraphError> {
    let properties = properties(row)?;
    let id = |column| Ok(bolt::property(&answer(OPERATION, row, column)?).as_ref().and_then(cells::id));
    let (Some(id), Some(source), Some(target)) =
        (properties.get("id").and_then(cells::id), id("source")?, id("target")?)
    else {
        return Ok(None);
    };
    let label: String = row.get("label").map_err(|_| unreadable(OPERATION))?;
    as_rows::edge(OPERATION, id, (source, target), label, &properties).map(Some)
}

fn properties(row: &Row) -> Result<Properties, GraphError> {
    match bolt::property(&answer(OPERATION, row, "properties")?) {
        Some(Property::Map(properties)) => Ok(properties),
        _ => Err(unreadable(OPERATION)),
    }
}

pub(crate) fn text(id: &Uuid) -> BoltType {
    id.to_string().into()
}

pub(crate) fn pair((source, target): &(Uuid, Uuid)) -> BoltType {
    let pair: BoltMap = [("source".into(), text(source)), ("target".into(), text(target))].into_iter().collect();
    BoltType::Map(pair)
}
