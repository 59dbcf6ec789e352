//! Export: the rows of a namespace as lines, in the order of their ids, retired ones included.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use dream_core::change::Table;
use dream_core::failure::Code;
use dream_core::id::NamespaceId;
use dream_ports::content::VisitRow;
use dream_ports::{Graph, Store};

use crate::exit::{Fault, OrFile as _};

use super::format::{ChunkLine, EntityLine, RelationshipLine};

/// Where an export goes.
pub(crate) struct Out<'a> {
    pub(crate) to: &'a mut (dyn Write + Send),
    /// As people know it.
    pub(crate) path: &'a Path,
}

/// Writes a namespace, with the edges that its graph database alone has; answers how many lines.
pub(crate) async fn export(
    store: &dyn Store,
    graph: Option<&dyn Graph>,
    namespace: NamespaceId,
    with_embeddings: bool,
    out: Out<'_>,
) -> Result<u64, Fault> {
    let mut lines = 0;
    let mut failed = Ok(());
    let mut put = |line: serde_json::Result<String>| {
        if failed.is_ok() {
            failed = line.map_err(std::io::Error::from).and_then(|line| writeln!(out.to, "{line}"));
            lines += 1;
        }
    };
    let mut snapshot = store.snapshot(namespace).await?;
    snapshot
        .rows(Table::Entities, &mut |row| put(serde_json::to_string(&EntityLine::of(&row, with_embeddings))))
        .await?;
    // Edges are where the store keeps them; one that the tables know is told by them.
    let mut in_tables = BTreeSet::new();
    let relationships: VisitRow<'_> = &mut |row| {
        in_tables.insert(row.id);
        put(serde_json::to_string(&RelationshipLine::of(&row)));
    };
    snapshot.rows(Table::Relationships, relationships).await?;
    if let Some(graph) = graph {
        let edges: VisitRow<'_> = &mut |row| {
            if !in_tables.contains(&row.id) {
                put(serde_json::to_string(&RelationshipLine::of(&row)));
            }
        };
        let streamed = graph.edge_rows(namespace, edges).await;
        streamed.map_err(|error| Fault::new(Code::GraphUnavailable, error.to_string()))?;
    }
    snapshot.chunks(&mut |chunk| put(serde_json::to_string(&ChunkLine::of(chunk)))).await?;
    drop(snapshot);
    failed.and_then(|()| out.to.flush()).or_file(out.path, "written")?;
    Ok(lines)
}
