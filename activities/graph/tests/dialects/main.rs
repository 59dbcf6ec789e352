//! Both dialects, on servers of our own that answer and refuse as Neo4j and Memgraph do.

#![allow(clippy::unwrap_used, reason = "a test says where it fails")]

mod manners;
mod packstream;
mod server;

use std::time::{Duration, Instant};

use dream_core::change::{Column, Value as Cell};
use dream_core::id::NamespaceId;
use dream_core::mirror::{EdgeMove, EdgeSet, GraphWrites, NodeSet};
use dream_graph::NeoGraph;
use dream_ports::{Graph, GraphError};
use uuid::Uuid;

use crate::manners::{MEMORY, frozen, memgraph, neo4j};
use crate::packstream::Value;
use crate::server::{Manner, Server};

const NAMESPACE: NamespaceId = NamespaceId(Uuid::from_u128(1));

async fn open(manner: Manner) -> (Server, NeoGraph) {
    let server = Server::start(manner).await;
    let graph = NeoGraph::open(&server.url, "user", "password", Some("memories"));
    (server, graph)
}

fn writes() -> [GraphWrites; 2] {
    let ends = (Uuid::from_u128(2), Uuid::from_u128(3));
    let cells = vec![(Column::Description, Cell::Text(MEMORY.to_owned()).into())];
    let nodes = vec![NodeSet { entity: ends.0, cells: cells.clone() }];
    let edges_set = vec![EdgeSet { id: Uuid::from_u128(4), label: "X".to_owned(), ends, cells }];
    [GraphWrites { nodes, ..GraphWrites::default() }, GraphWrites { edges_set, ..GraphWrites::default() }]
}

#[tokio::test]
async fn a_server_is_known_by_what_it_answers() {
    let (_server, graph) = open(memgraph).await;
    let found = graph.probe().await.unwrap();
    assert_eq!((found.kind.as_str(), found.version.as_str()), ("memgraph", "3.2.1"));
    let (_server, graph) = open(neo4j).await;
    let found = graph.probe().await.unwrap();
    assert_eq!((found.kind.as_str(), found.version.as_str()), ("neo4j", "5.26.0"));
}

async fn prepared_twice(manner: Manner, expected: &[&str]) -> usize {
    let (server, graph) = open(manner).await;
    graph.prepare().await.unwrap();
    graph.prepare().await.unwrap();
    let requests = server.requests();
    for text in expected {
        let asked: Vec<_> = requests.iter().filter(|request| request.statement.contains(text)).collect();
        assert!(!asked.is_empty(), "{text}");
        assert!(asked.iter().all(|request| !request.in_transaction), "{text} stands alone");
    }
    requests.iter().filter(|request| request.statement.contains("CREATE CONSTRAINT")).count()
}

#[tokio::test]
async fn each_dialect_has_its_own_schema_and_making_it_again_changes_nothing() {
    let memgraphs = ["CREATE CONSTRAINT ON", "CREATE INDEX ON :DreamMirror", "CREATE INDEX ON :Entity"];
    assert_eq!(prepared_twice(memgraph, &memgraphs).await, 2);
    // Neo4j says what is there, so that it is asked once.
    let neo4js =
        ["CREATE CONSTRAINT dream_mirror_namespace IF NOT EXISTS", "CREATE INDEX dream_entity_id IF NOT EXISTS"];
    assert_eq!(prepared_twice(neo4j, &neo4js).await, 1);
}

#[tokio::test]
async fn a_database_is_named_to_neo4j_alone() {
    let (server, graph) = open(memgraph).await;
    graph.begin(NAMESPACE, 1).await.unwrap().commit(Uuid::from_u128(9)).await.unwrap();
    assert!(server.requests().iter().all(|request| request.database.is_none()));
    assert_eq!(server.commits(), 1);

    let (server, graph) = open(neo4j).await;
    let tx = graph.begin(NAMESPACE, 3).await.unwrap();
    assert_eq!(tx.batch_committed().unwrap().to_string(), "0190a1b2-0000-7000-8000-000000000001");
    tx.commit(Uuid::from_u128(9)).await.unwrap();
    let requests = server.requests();
    let marks: Vec<_> = requests.iter().filter(|request| request.statement.contains("DreamMirror")).collect();
    assert_eq!(marks.iter().filter(|request| request.in_transaction).count(), 3);
    assert!(marks.iter().all(|request| request.database == Some("memories".into())));
    assert!(matches!(graph.begin(NAMESPACE, 2).await.err(), Some(GraphError::Fenced { namespace: NAMESPACE })));
}

#[tokio::test]
async fn a_conflict_is_busy_a_rule_is_refused_and_neither_quotes_a_memory() {
    for manner in [memgraph as Manner, neo4j] {
        let (_server, graph) = open(manner).await;
        let [nodes, _] = writes();
        let error = graph.begin(NAMESPACE, 3).await.unwrap().write(&nodes).await.unwrap_err();
        assert!(matches!(error, GraphError::Busy { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains(MEMORY), "{error}");
    }
    let (_server, graph) = open(memgraph).await;
    let [_, edges] = writes();
    let error = graph.begin(NAMESPACE, 3).await.unwrap().write(&edges).await.unwrap_err();
    assert!(matches!(error, GraphError::Refused { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains(MEMORY), "{error}");
}

#[tokio::test]
async fn text_goes_as_a_parameter_and_a_label_in_the_quotes_of_its_dialect() {
    for (manner, quoted) in
        [(memgraph as Manner, r"[old:`a``\u0060b` {id: row.id}]"), (neo4j, r"[old:`a``\u005Cu0060b` {id: row.id}]")]
    {
        let (server, graph) = open(manner).await;
        let ends = (Uuid::from_u128(2), Uuid::from_u128(3));
        let label = r"a`\u0060b".to_owned();
        let moved = EdgeMove { id: Uuid::from_u128(4), label, from: ends, to: (ends.1, ends.0) };
        let writes_moved = GraphWrites { edges_moved: vec![moved], ..GraphWrites::default() };
        let mut tx = graph.begin(NAMESPACE, 3).await.unwrap();
        tx.write(&writes_moved).await.unwrap();
        let [nodes, _] = writes();
        tx.write(&nodes).await.unwrap_err();
        let requests = server.requests();
        assert!(requests.iter().any(|request| request.statement.contains(quoted)), "{requests:#?}");
        assert!(requests.iter().all(|request| !request.statement.contains(MEMORY)));
        let Some(Value::List(rows)) = requests.last().unwrap().parameters.field("rows") else { panic!("rows") };
        assert_eq!(rows[0].field("properties").and_then(|set| set.field("description")), Some(&MEMORY.into()));
    }
}

#[tokio::test]
async fn a_server_that_freezes_in_a_transaction_is_given_up_within_seconds() {
    let (server, graph) = open(frozen).await;
    graph.probe().await.unwrap();
    let began = Instant::now();
    let error = graph.begin(NAMESPACE, 3).await.err().expect("nothing answers");
    assert!(matches!(error, GraphError::Unavailable { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(server.commits(), 0);
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_commit_and_closed_with_a_transaction_that_is_dropped() {
    let (server, graph) = open(neo4j).await;
    for _ in 0..3 {
        graph.begin(NAMESPACE, 3).await.unwrap().commit(Uuid::from_u128(9)).await.unwrap();
    }
    let open = server.connections();
    let tx = graph.begin(NAMESPACE, 3).await.unwrap();
    assert_eq!(server.connections(), open);
    drop(tx);
    let began = Instant::now();
    while server.connections() == open {
        assert!(began.elapsed() < Duration::from_secs(5), "it is still open");
        tokio::task::yield_now().await;
    }
}
