//! One client of the server that writes what merges come to in bare batches: it reads nothing, locks nothing, keeps nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use dream_core::change::{Cell, Column, Value};
use dream_core::id::NamespaceId;
use dream_core::mirror::GraphWrites;
use neo4rs::{BoltMap, BoltNull, BoltType, ConfigBuilder, Graph as Driver, Query};
use uuid::Uuid;

use super::merges::Merges;
use crate::wiring::GraphLogin;

/// Merges of one batch, and of one transaction.
const BATCH: u64 = 1_000;

/// Nodes that one statement removes: below the memory that a server grants a transaction.
const REMOVED_MAX: i64 = 10_000;

macro_rules! cypher {
    ($name:literal) => {
        include_str!(concat!("../queries/graph/", $name, ".cypher"))
    };
}

/// A client.
pub(super) struct Client {
    driver: Driver,
}

/// The rows of one batch, by statement.
type Batch = Vec<(String, Vec<BoltType>)>;

impl Client {
    pub(super) fn connect(login: &GraphLogin) -> anyhow::Result<Self> {
        let mut config = ConfigBuilder::default().uri(&login.url).user(&login.user).password(&login.password);
        if let Some(database) = login.database.as_deref() {
            config = config.db(database);
        }
        Ok(Self { driver: Driver::connect(config.max_connections(1).build()?)? })
    }

    /// Writes what some merges come to; how long that took. The time in which it is made up counts for nothing.
    pub(super) async fn write(&self, merges: Merges, numbers: Range<u64>) -> anyhow::Result<Duration> {
        let mut took = Duration::ZERO;
        for start in numbers.clone().step_by(usize::try_from(BATCH)?) {
            let batch = batch(&merges.writes(start..(start + BATCH).min(numbers.end)));
            let started = Instant::now();
            let mut txn = self.driver.start_txn().await?;
            for (statement, rows) in batch {
                txn.run(Query::new(statement).param("rows", rows)).await?;
            }
            txn.commit().await?;
            took += started.elapsed();
        }
        Ok(took)
    }

    /// Removes everything that the graph holds of a namespace.
    pub(super) async fn remove(&self, namespace: NamespaceId) -> anyhow::Result<()> {
        for statement in [cypher!("remove_entities"), cypher!("remove_versions"), cypher!("remove_mark")] {
            loop {
                let query = Query::new(statement.to_owned())
                    .param("namespace", namespace.to_string())
                    .param("most", REMOVED_MAX);
                let mut removed = self.driver.execute(query).await?;
                let row = removed.next().await?;
                if row.map_or(Ok(0), |row| row.get::<i64>("count"))? < REMOVED_MAX {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn batch(writes: &GraphWrites) -> Batch {
    let mut batch = Batch::new();
    let versions = writes.versions.iter().map(|version| {
        row([("entity", text(version.entity)), ("version", text(version.version)), ("at", iso(version.at).into())])
    });
    batch.push((cypher!("versions_create").to_owned(), versions.collect()));
    let removed = writes.edges_removed.iter().map(|edge| (&edge.label, placed(edge.id, edge.ends, [])));
    labelled(&mut batch, cypher!("edges_remove"), removed);
    let moved = writes.edges_moved.iter().map(|edge| {
        let after = [("source_after", text(edge.to.0)), ("target_after", text(edge.to.1))];
        (&edge.label, placed(edge.id, edge.from, after))
    });
    labelled(&mut batch, cypher!("edges_move"), moved);
    let set = writes.edges_set.iter().map(|edge| {
        let properties = BoltType::Map(edge.cells.iter().map(property).collect());
        (&edge.label, placed(edge.id, edge.ends, [("properties", properties)]))
    });
    labelled(&mut batch, cypher!("edges_set"), set);
    let nodes = writes.nodes.iter().map(|node| {
        let mut properties: BoltMap = node.cells.iter().map(property).collect();
        if let Some((_, until)) = node.cells.iter().find(|(column, _)| *column == Column::ValidUntil) {
            let end = until.value.time().map_or(BoltType::Null(BoltNull), |at| iso(at).into());
            properties.put("version_valid_to".into(), end);
        }
        row([("id", text(node.entity)), ("properties", BoltType::Map(properties))])
    });
    let nodes: Vec<BoltType> = nodes.collect();
    let size = usize::try_from(BATCH).unwrap_or(usize::MAX);
    batch.extend(nodes.chunks(size).map(|nodes| (cypher!("nodes_set").to_owned(), nodes.to_vec())));
    batch
}

/// The label of an edge is the one thing that cannot be bound; those of a bench are two of its own words.
fn labelled<'a>(batch: &mut Batch, statement: &str, edges: impl Iterator<Item = (&'a String, BoltType)>) {
    let mut labels: BTreeMap<&String, Vec<BoltType>> = BTreeMap::new();
    edges.for_each(|(label, row)| labels.entry(label).or_default().push(row));
    batch.extend(labels.into_iter().map(|(label, rows)| (statement.replace("LABEL", label), rows)));
}

fn placed<const N: usize>(id: Uuid, (source, target): (Uuid, Uuid), more: [(&'static str, BoltType); N]) -> BoltType {
    row([("id", text(id)), ("source", text(source)), ("target", text(target))].into_iter().chain(more))
}

fn row(fields: impl IntoIterator<Item = (&'static str, BoltType)>) -> BoltType {
    BoltType::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn text(id: Uuid) -> BoltType {
    id.to_string().into()
}

/// A cell as the graph holds it. A made-up world has none in another spelling.
fn property((column, cell): &(Column, Cell)) -> (neo4rs::BoltString, BoltType) {
    let value = match &cell.value {
        Value::Null | Value::Vector(_) => BoltType::Null(BoltNull),
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) | Value::Json(text) => text.as_str().into(),
        Value::Id(id) => text(*id),
        Value::Ids(ids) => ids.iter().map(ToString::to_string).collect::<Vec<_>>().into(),
        Value::Time(at) if *column == Column::ValidUntil => dream_graph::validity(*at),
        Value::Time(at) => iso(*at).into(),
    };
    (column.as_str().into(), value)
}

fn iso(at: dream_core::clock::Moment) -> String {
    at.to_string().replace('Z', "+00:00")
}
