//! Somebody who writes nodes and edges all the while, to both stores, as Khora's ingestion does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use neo4rs::{BoltType, Graph, Query};
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::graph::{GraphLab, Held};
use crate::support::world::Chance;

/// A breath between two writes: ingestion waits for models most of its time.
const PACE: Duration = Duration::from_millis(4);

/// The writer.
pub struct Ingestion {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<Written>,
}

/// What it wrote, as far as it was told that it was written.
#[derive(Debug, Default)]
pub struct Written {
    nodes: BTreeSet<String>,
    /// Ends and evidence by id.
    edges: BTreeMap<String, (String, String, BTreeSet<String>)>,
}

impl Ingestion {
    /// Begins to write beside what the lab's graph holds.
    pub async fn begin(lab: &GraphLab, held: &Held, seed: u64) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            store: lab.lab.database().await,
            graph: lab.driver().clone(),
            namespace: lab.row_id,
            known: held.nodes.keys().cloned().collect(),
            chance: Chance(seed),
            written: Written::default(),
        };
        let task = tokio::spawn(writer.run(Arc::clone(&is_over)));
        Self { is_over, task }
    }

    /// Ends it; answers what it wrote.
    pub async fn end(self) -> Written {
        self.is_over.store(true, Ordering::Relaxed);
        self.task.await.unwrap()
    }
}

struct Writer {
    store: PgConnection,
    graph: Graph,
    namespace: Uuid,
    known: Vec<String>,
    chance: Chance,
    written: Written,
}

impl Writer {
    async fn run(mut self, is_over: Arc<AtomicBool>) -> Written {
        while !is_over.load(Ordering::Relaxed) {
            let edge = self.node_and_edge().await;
            tokio::time::sleep(PACE).await;
            // Evidence for this edge or an earlier one, which may have been led over meanwhile.
            let places = self.written.edges.len() as u64;
            let place = usize::try_from(self.chance.below(places.max(1))).unwrap();
            let edge = self.written.edges.keys().nth(place).cloned().unwrap_or(edge);
            self.evidence(&edge).await;
            tokio::time::sleep(PACE).await;
        }
        self.store.close().await.unwrap();
        self.written
    }

    async fn node_and_edge(&mut self) -> String {
        let (node, edge) = (Uuid::now_v7(), Uuid::now_v7().to_string());
        let name = format!("Written {}", node.simple());
        sqlx::query("insert into entities (id, namespace_id, name, entity_type, mention_count, updated_at) values ($1, $2, $3, 'PERSON', 1, clock_timestamp())")
            .bind(node)
            .bind(self.namespace)
            .bind(&name)
            .execute(&mut self.store)
            .await
            .unwrap();
        let make = "MERGE (n:Entity {id: $id})
                    ON CREATE SET n.namespace_id = $ns, n.name = $name, n.entity_type = 'PERSON', n.mention_count = 1";
        let node = node.to_string();
        self.tell(make, &[("id", &node), ("name", &name)]).await.expect("nobody else knows this node");
        self.written.nodes.insert(node.clone());
        let place = usize::try_from(self.chance.below(self.known.len() as u64)).unwrap();
        let known = self.known[place].clone();
        let join = "MATCH (a:Entity {id: $a}), (b:Entity {id: $b})
                    CREATE (a)-[r:KNOWS {id: $id, namespace_id: $ns, source_chunk_ids: [], weight: 1.0}]->(b)
                    RETURN count(r) AS count";
        if self.tell(join, &[("a", &node), ("b", &known), ("id", &edge)]).await == Some(1) {
            self.written.edges.insert(edge.clone(), (node, known, BTreeSet::new()));
        }
        edge
    }

    async fn evidence(&mut self, edge: &str) {
        let chunk = Uuid::now_v7().to_string();
        // Locked before it is read: the server reads what is committed, and a list that was read before somebody else's
        // commit would be written over theirs.
        let add = "MATCH (:Entity {namespace_id: $ns})-[r:KNOWS {id: $id}]->(:Entity)
                   SET r.id = r.id
                   WITH r
                   SET r.source_chunk_ids = r.source_chunk_ids + $chunk, r.updated_at = toString(datetime())
                   RETURN count(r) AS count";
        if self.tell(add, &[("id", edge), ("chunk", &chunk)]).await == Some(1)
            && let Some((.., evidence)) = self.written.edges.get_mut(edge)
        {
            evidence.insert(chunk);
        }
    }

    /// Runs a statement; the count that it answers, none where it was refused: then nothing was written.
    async fn tell(&self, statement: &str, parameters: &[(&str, &str)]) -> Option<i64> {
        let query = Query::new(statement.to_owned()).param("ns", self.namespace.to_string());
        let query = parameters.iter().fold(query, |query, (name, value)| query.param(name, BoltType::from(*value)));
        let mut transaction = self.graph.start_txn().await.unwrap();
        let mut stream = transaction.execute(query).await.ok()?;
        let mut count = 0;
        while let Some(row) = stream.next(transaction.handle()).await.ok()? {
            count = row.get("count").unwrap_or(0);
        }
        transaction.commit().await.ok()?;
        Some(count)
    }
}

impl Written {
    /// Panics unless all of it is in the graph, where it was written. Answers what else the graph holds.
    #[track_caller]
    pub fn is_in(&self, mut held: Held, what: &str) -> Held {
        for node in &self.nodes {
            assert!(held.nodes.remove(node).is_some(), "{what}: node {node} is lost");
        }
        for (id, (source, target, evidence)) in &self.edges {
            let edge = held.edges.remove(id).unwrap_or_else(|| panic!("{what}: edge {id} is lost"));
            assert_eq!((&edge.0, &edge.2), (source, target), "{what}: edge {id} runs elsewhere");
            assert!(evidence.iter().all(|chunk| edge.3.contains(chunk)), "{what}: evidence of edge {id} is lost");
        }
        held
    }

    /// How much it is.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }
}
