//! Reading a whole namespace, row by row.
//!
//! Each stream is one transaction, and a page of rows is all that is ever held. Whether something is live is judged against
//! the clock of this program, and here: what another tool wrote as text compares with no time in a statement.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use dream_core::change::{Column, Value};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use dream_ports::GraphError;
use dream_ports::content::VisitRow;
use dream_ports::graph::{EdgeReferences, EdgeView, NodeView, Stray, VisitEdge, VisitEdgeReferences, VisitNode};
use neo4rs::{Query, Row};
use uuid::Uuid;

use crate::session::{Session, answer, unreadable};
use crate::tx::statement;
use crate::{bolt, cells, chunks, cypher, load};

pub(crate) const PROBE: &str = "answer";
pub(crate) const HAS_EDGES: &str = "look for edges";
pub(crate) const NODES: &str = "stream nodes";
pub(crate) const EDGES: &str = "stream edges";
pub(crate) const REFERENCES: &str = "stream references";
pub(crate) const STRAYS: &str = "look for retired nodes that have edges";

/// Whether statements run at all.
pub(crate) async fn try_out(mut session: Session) -> Result<(), GraphError> {
    session.run(PROBE, Query::new(cypher!("probe").to_owned())).await?;
    session.close(PROBE).await
}

pub(crate) async fn has_edges(mut session: Session, namespace: NamespaceId) -> Result<bool, GraphError> {
    let mut found = false;
    session
        .each(HAS_EDGES, statement(cypher!("edges_any"), namespace), |_| {
            found = true;
            Ok(())
        })
        .await?;
    session.close(HAS_EDGES).await?;
    Ok(found)
}

/// The statement over a range of ids. The ends of all ids are those of all texts, however somebody spelled an id.
fn ranged(statement: Query, ids: IdRange) -> Query {
    let text = |id: Uuid, end: Uuid, beyond: &str| if id == end { beyond.to_owned() } else { id.to_string() };
    let first = text(ids.first, IdRange::ALL.first, "");
    statement.param("first", first).param("last", text(ids.last, IdRange::ALL.last, "g"))
}

pub(crate) async fn nodes(
    session: Session,
    namespace: NamespaceId,
    ids: IdRange,
    visit: VisitNode<'_>,
) -> Result<(), GraphError> {
    each(session, NODES, ranged(statement(cypher!("nodes_stream"), namespace), ids), |row, now| {
        let Some(id) = id(NODES, row, "id")? else { return Ok(false) };
        visit(NodeView { id, is_live: is_live(NODES, row, ("node", id), "valid_until", now)? });
        Ok(true)
    })
    .await
}

pub(crate) async fn edges(
    session: Session,
    namespace: NamespaceId,
    ids: IdRange,
    visit: VisitEdge<'_>,
) -> Result<(), GraphError> {
    each(session, EDGES, ranged(statement(cypher!("edges_stream"), namespace), ids), |row, now| {
        let Some((id, (source, target))) = edge(EDGES, row)? else { return Ok(false) };
        let label: &str = row.get("label").map_err(|_| unreadable(EDGES))?;
        let is_stranded = !(is_live(EDGES, row, ("node", source), "source_valid_until", now)?
            && is_live(EDGES, row, ("node", target), "target_valid_until", now)?);
        let is_live = is_live(EDGES, row, ("edge", id), "valid_until", now)?;
        visit(EdgeView { id, source, target, label, is_live, is_stranded });
        Ok(true)
    })
    .await
}

pub(crate) async fn edge_rows(session: Session, namespace: NamespaceId, visit: VisitRow<'_>) -> Result<(), GraphError> {
    each(session, EDGES, statement(cypher!("edges_export"), namespace), |row, _now| {
        let Some(edge) = load::edge(row)? else { return Ok(false) };
        visit(edge.row);
        Ok(true)
    })
    .await
}

pub(crate) async fn nodes_at(
    mut session: Session,
    namespace: NamespaceId,
    nodes: &[Uuid],
    visit: VisitRow<'_>,
) -> Result<(), GraphError> {
    for ids in chunks(nodes.iter().map(load::text)) {
        let statement = statement(cypher!("nodes_at"), namespace).param("ids", ids);
        session.each(NODES, statement, |row| load::node(row).map(&mut *visit)).await?;
    }
    session.close(NODES).await
}

pub(crate) async fn edges_at(
    mut session: Session,
    namespace: NamespaceId,
    ends: &[(Uuid, Uuid)],
    visit: VisitRow<'_>,
) -> Result<(), GraphError> {
    for pairs in chunks(ends.iter().map(load::pair)) {
        let statement = statement(cypher!("edges_at"), namespace).param("pairs", pairs);
        let each = |row: &Row| {
            if let Some(edge) = load::edge(row)? {
                visit(edge.row);
            }
            Ok(())
        };
        session.each(EDGES, statement, each).await?;
    }
    session.close(EDGES).await
}

pub(crate) async fn references(
    session: Session,
    namespace: NamespaceId,
    visit: VisitEdgeReferences<'_>,
) -> Result<(), GraphError> {
    each(session, REFERENCES, statement(cypher!("references_stream"), namespace), |row, now| {
        let Some((id, ends)) = edge(REFERENCES, row)? else { return Ok(false) };
        let is_live = is_live(REFERENCES, row, ("edge", id), "valid_until", now)?;
        let documents = ids(row, id, Column::SourceDocumentIds)?;
        let chunks = ids(row, id, Column::SourceChunkIds)?;
        if !(documents.ids().is_empty() && chunks.ids().is_empty()) {
            let (source_document_ids, source_chunk_ids) = (documents.ids(), chunks.ids());
            visit(EdgeReferences { id, ends, is_live, source_document_ids, source_chunk_ids });
        }
        Ok(true)
    })
    .await
}

pub(crate) async fn strays(session: Session, namespace: NamespaceId, limit: u32) -> Result<Vec<Stray>, GraphError> {
    let mut strays: BTreeMap<Uuid, u32> = BTreeMap::new();
    each(session, STRAYS, statement(cypher!("strays_stream"), namespace), |row, now| {
        let (Some(node), Some(edge)) = (id(STRAYS, row, "node")?, id(STRAYS, row, "id")?) else { return Ok(false) };
        let is_stray = !is_live(STRAYS, row, ("node", node), "node_valid_until", now)?
            && is_live(STRAYS, row, ("edge", edge), "valid_until", now)?;
        let has_place = strays.len() < limit as usize || strays.contains_key(&node);
        if is_stray && has_place {
            *strays.entry(node).or_default() += 1;
        }
        Ok(true)
    })
    .await?;
    Ok(strays.into_iter().map(|(node, edges_live)| Stray { node, edges_live }).collect())
}

/// Hands each row on, with the moment at which the stream began. `visit` answers whether its ids were UUIDs.
async fn each(
    mut session: Session,
    operation: &'static str,
    statement: Query,
    mut visit: impl FnMut(&Row, Moment) -> Result<bool, GraphError> + Send,
) -> Result<(), GraphError> {
    let now = now();
    let mut skipped = 0_u64;
    session
        .each(operation, statement, |row| {
            skipped += u64::from(!visit(row, now)?);
            Ok(())
        })
        .await?;
    if skipped > 0 {
        tracing::warn!(skipped, operation, "nodes or edges without an id that is a UUID were left out");
    }
    session.close(operation).await
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The id in a column; none where it is no UUID.
fn id(operation: &'static str, row: &Row, column: &str) -> Result<Option<Uuid>, GraphError> {
    Ok(bolt::property(&answer(operation, row, column)?).as_ref().and_then(cells::id))
}

type Ends = (Uuid, Uuid);

/// The id and the ends of an edge; none where one of them is no UUID.
fn edge(operation: &'static str, row: &Row) -> Result<Option<(Uuid, Ends)>, GraphError> {
    let ids = [id(operation, row, "id")?, id(operation, row, "source")?, id(operation, row, "target")?];
    let [Some(id), Some(source), Some(target)] = ids else { return Ok(None) };
    Ok(Some((id, (source, target))))
}

fn is_live(
    operation: &'static str,
    row: &Row,
    (what, id): (&str, Uuid),
    column: &str,
    now: Moment,
) -> Result<bool, GraphError> {
    let Some(until) = bolt::property(&answer(operation, row, column)?) else { return Ok(true) };
    let unreadable =
        || GraphError::Unreadable { operation, what: format!("valid_until of {what} {id} is of another type") };
    Ok(cells::moment(&until).ok_or_else(unreadable)? > now)
}

fn ids(row: &Row, edge: Uuid, column: Column) -> Result<Value, GraphError> {
    let Some(found) = bolt::property(&answer(REFERENCES, row, column.as_str())?) else { return Ok(Value::Null) };
    let unreadable = || GraphError::Unreadable {
        operation: REFERENCES,
        what: format!("{column} of edge {edge} is of another type"),
    };
    Ok(cells::read(column, &found).ok_or_else(unreadable)?.value)
}
