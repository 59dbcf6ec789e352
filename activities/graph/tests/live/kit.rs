//! What the tests begin with: the server, a namespace of their own, and a look at what is really stored.

use std::env;

use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, OpId};
use dream_core::mirror::{Answer, GraphNeeds, GraphRecord, GraphRows, GraphWrites, Telling, Verb, tell};
use dream_graph::NeoGraph;
use dream_ports::{Graph, GraphError, GraphTx};
use neo4rs::{BoltMap, BoltType, Query};
use uuid::Uuid;

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set; tests/services env prints it"))
}

pub(crate) fn url() -> String {
    variable("DREAM_TEST_NEO4J_URL")
}

pub(crate) fn user() -> String {
    variable("DREAM_TEST_NEO4J_USER")
}

pub(crate) fn password() -> String {
    variable("DREAM_TEST_NEO4J_PASSWORD")
}

/// A namespace that nobody else has, and two ways to its server.
pub(crate) struct Kit {
    pub(crate) namespace: NamespaceId,
    pub(crate) graph: NeoGraph,
    driver: neo4rs::Graph,
}

pub(crate) async fn kit() -> Kit {
    let graph = NeoGraph::open(&url(), &user(), &password(), None);
    graph.prepare().await.unwrap();
    let driver = neo4rs::Graph::new(url(), user(), password()).unwrap();
    Kit { namespace: NamespaceId(Uuid::now_v7()), graph, driver }
}

impl Kit {
    pub(crate) async fn run(&self, statement: &str) {
        self.driver.run(self.query(statement)).await.unwrap();
    }

    pub(crate) async fn run_with(&self, statement: &str, name: &str, value: impl Into<BoltType>) {
        self.driver.run(self.query(statement).param(name, value)).await.unwrap();
    }

    fn query(&self, statement: &str) -> Query {
        Query::new(statement.to_owned()).param("ns", self.namespace.to_string())
    }

    /// The rows that a statement answers, each as the driver reads it.
    pub(crate) async fn rows(&self, statement: &str) -> Vec<neo4rs::Row> {
        let mut stream = self.driver.execute(self.query(statement)).await.unwrap();
        let mut rows = Vec::new();
        while let Some(row) = stream.next().await.unwrap() {
            rows.push(row);
        }
        rows
    }

    /// The properties of everything of a kind in the namespace, by id.
    pub(crate) async fn properties(&self, pattern: &str) -> Vec<BoltMap> {
        let statement = format!("MATCH {pattern} WHERE x.namespace_id = $ns RETURN properties(x) AS p ORDER BY x.id");
        self.rows(&statement).await.iter().map(|row| row.get("p").unwrap()).collect()
    }

    pub(crate) async fn nodes(&self) -> Vec<BoltMap> {
        self.properties("(x:Entity)").await
    }

    pub(crate) async fn edges(&self) -> Vec<BoltMap> {
        self.properties("(:Entity)-[x]->(:Entity)").await
    }

    pub(crate) async fn count(&self, statement: &str) -> i64 {
        self.rows(statement).await[0].get("count").unwrap()
    }

    /// A node with nothing but what it must have.
    pub(crate) async fn node(&self, name: &str) -> Uuid {
        let id = Uuid::now_v7();
        let text = "CREATE (:Entity {id: $id[0], namespace_id: $ns, name: $id[1], entity_type: 'CONCEPT'})";
        self.run_with(text, "id", vec![id.to_string(), name.to_owned()]).await;
        id
    }

    pub(crate) async fn edge(&self, label: &str, source: Uuid, target: Uuid, properties: &str) -> Uuid {
        let id = Uuid::now_v7();
        let text = format!(
            "MATCH (a:Entity {{id: $id[1]}}), (b:Entity {{id: $id[2]}})
             CREATE (a)-[r:`{label}` {{id: $id[0], namespace_id: $ns}}]->(b) SET r += {properties}"
        );
        self.run_with(&text, "id", [id, source, target].map(|id| id.to_string()).to_vec()).await;
        id
    }

    /// A transaction as ingestion has them.
    pub(crate) async fn ingestion(&self) -> Ingestion {
        Ingestion(self.driver.start_txn().await.unwrap())
    }

    pub(crate) async fn begin(&self, epoch: i64) -> Result<Box<dyn GraphTx>, GraphError> {
        self.graph.begin(self.namespace, epoch).await
    }

    /// What a drainer does with one op.
    pub(crate) async fn tell(&self, verbs: &[Verb], applied: Option<&GraphRecord>) -> GraphRecord {
        let telling = Telling { op: OpId(Uuid::now_v7()), verbs, at: at("2026-06-01T12:00:00.5Z"), applied };
        let batch = [telling];
        let mut rows = GraphRows::default();
        let needs = GraphNeeds::of(&batch);
        let mut tx = self.begin(1).await.unwrap();
        tx.load(&needs, &mut rows).await.unwrap();
        tx.load(&needs.second(&batch, &rows), &mut rows).await.unwrap();
        let told = tell(&mut rows, &telling);
        assert_eq!(told.answer, Answer::Done);
        tx.write(&GraphWrites::of(&rows, &[(&told.record, applied)])).await.unwrap();
        tx.commit(Uuid::now_v7()).await.unwrap();
        told.record
    }

    pub(crate) async fn write(&self, writes: &GraphWrites) {
        let mut tx = self.begin(1).await.unwrap();
        tx.write(writes).await.unwrap();
        tx.commit(Uuid::now_v7()).await.unwrap();
    }
}

pub(crate) struct Ingestion(neo4rs::Txn);

impl Ingestion {
    pub(crate) async fn touch(&mut self, node: Uuid) -> Result<(), neo4rs::Error> {
        let text = "MATCH (n:Entity {id: $id}) SET n.mention_count = 1";
        self.0.run(Query::new(text.to_owned()).param("id", node.to_string())).await
    }
}

pub(crate) fn needs_nodes(ids: &[Uuid]) -> GraphNeeds {
    GraphNeeds { nodes: ids.iter().copied().collect(), ..GraphNeeds::default() }
}

pub(crate) fn needs_touching(ids: &[Uuid]) -> GraphNeeds {
    GraphNeeds { edges_touching: ids.iter().copied().collect(), ..GraphNeeds::default() }
}

pub(crate) fn at(text: &str) -> Moment {
    text.parse().unwrap()
}
