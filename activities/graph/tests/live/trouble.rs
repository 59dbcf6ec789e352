//! What goes wrong, and what is said of it.

use std::time::{Duration, Instant};

use dream_core::mirror::verify::IdRange;
use dream_core::mirror::{EdgeCreate, GraphRows, GraphWrites};
use dream_graph::NeoGraph;
use dream_ports::{Graph, GraphError};
use uuid::Uuid;

use crate::kit::{kit, needs_nodes, needs_touching, password, url, user};

#[tokio::test]
async fn the_server_says_what_it_is() {
    let found = kit().await.graph.probe().await.unwrap();
    assert_eq!(found.kind, "neo4j");
    assert!(found.version.starts_with(|digit: char| digit.is_ascii_digit()), "{}", found.version);
}

#[tokio::test]
async fn preparing_again_changes_nothing() {
    let kit = kit().await;
    let rules = "SHOW INDEXES YIELD labelsOrTypes, properties
                 WHERE labelsOrTypes = ['DreamMirror'] OR labelsOrTypes = ['Entity'] AND properties = ['id']
                 RETURN count(*) AS count";
    assert_eq!(kit.count(rules).await, 2);
    kit.graph.prepare().await.unwrap();
    assert_eq!(kit.count(rules).await, 2);
}

#[tokio::test]
async fn a_wrong_password_and_a_database_that_is_not_there_are_unfit() {
    let graph = NeoGraph::open(&url(), &user(), "not the password", None);
    let error = graph.probe().await.unwrap_err();
    assert!(matches!(error, GraphError::Unfit { .. }), "{error}");
    let graph = NeoGraph::open(&url(), &user(), &password(), Some("atlantis"));
    let error = graph.probe().await.unwrap_err();
    assert!(matches!(error, GraphError::Unfit { .. }), "{error}");
    let graph = NeoGraph::open(&url(), &user(), &password(), Some("neo4j"));
    graph.probe().await.unwrap();
    graph.prepare().await.unwrap();
    graph.begin(kit().await.namespace, 1).await.unwrap();
    let graph = NeoGraph::open("gopher://localhost", &user(), &password(), None);
    let error = graph.probe().await.unwrap_err();
    assert!(matches!(error, GraphError::Unfit { .. }), "{error}");
}

#[tokio::test]
async fn where_nobody_listens_or_nobody_answers_the_graph_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("bolt://{}", listener.local_addr().unwrap());
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("bolt://{}", listener.local_addr().unwrap())
    };
    for address in [silent, closed] {
        let began = Instant::now();
        let error = NeoGraph::open(&address, &user(), &password(), None).probe().await.unwrap_err();
        assert!(matches!(error, GraphError::Unavailable { .. }), "{error}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_named_without_its_content() {
    let kit = kit().await;
    let [a, b] = [kit.node("a").await, kit.node("b").await];
    kit.run("MATCH (n:Entity {name: 'a'}) WHERE n.namespace_id = $ns SET n.mention_count = 'secret'").await;
    let edge = kit.edge("KNOWS", a, b, "{valid_until: 'secret'}").await;
    let mut rows = GraphRows::default();

    let error = kit.begin(1).await.unwrap().load(&needs_nodes(&[a]), &mut rows).await.unwrap_err();
    assert!(matches!(error, GraphError::Unreadable { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("mention_count") && text.contains(&a.to_string()) && !text.contains("secret"), "{text}");

    let error = kit.begin(1).await.unwrap().load(&needs_touching(&[b]), &mut rows).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("valid_until") && text.contains(&edge.to_string()) && !text.contains("secret"), "{text}");
    let error = kit.graph.edges(kit.namespace, IdRange::ALL, &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, GraphError::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn what_the_server_cannot_store_is_refused() {
    let kit = kit().await;
    let [a, b] = [kit.node("a").await, kit.node("b").await];
    // No server stores a list of lists.
    let properties = r#"{"x":{"list":[{"list":[]}]}}"#.to_owned();
    let edges_created = vec![EdgeCreate { id: Uuid::now_v7(), label: "X".to_owned(), ends: (a, b), properties }];
    let writes = GraphWrites { edges_created, ..GraphWrites::default() };
    let error = kit.begin(1).await.unwrap().write(&writes).await.unwrap_err();
    assert!(matches!(error, GraphError::Refused { .. }), "{error}");
}
