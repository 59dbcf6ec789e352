//! Drainers against each other.

use std::env;
use std::time::{Duration, Instant};

use dream_core::change::{Column, Value};
use dream_core::mirror::{GraphNeeds, GraphRows, GraphWrites, NodeSet};
use dream_ports::GraphError;
use uuid::Uuid;

use crate::kit::{Kit, kit, needs_nodes, needs_touching};

async fn refused(kit: &Kit, epoch: i64) -> GraphError {
    let begun = kit.begin(epoch).await;
    begun.err().expect("there is a newer epoch")
}

#[tokio::test]
async fn a_drainer_that_was_given_up_for_dead_is_kept_out() {
    let kit = kit().await;
    kit.begin(7).await.unwrap().commit(Uuid::now_v7()).await.unwrap();
    assert!(matches!(refused(&kit, 6).await, GraphError::Fenced { namespace } if namespace == kit.namespace));
    kit.begin(7).await.unwrap().commit(Uuid::now_v7()).await.unwrap();
    kit.begin(8).await.unwrap().commit(Uuid::now_v7()).await.unwrap();
    assert!(matches!(refused(&kit, 7).await, GraphError::Fenced { .. }));
}

#[tokio::test]
async fn the_batch_that_was_committed_last_is_known() {
    let kit = kit().await;
    let [first, second] = [Uuid::now_v7(), Uuid::now_v7()];
    let tx = kit.begin(1).await.unwrap();
    assert_eq!(tx.batch_committed(), None);
    tx.commit(first).await.unwrap();
    let tx = kit.begin(2).await.unwrap();
    assert_eq!(tx.batch_committed(), Some(first));
    tx.commit(second).await.unwrap();
    drop(kit.begin(2).await.unwrap());
    assert_eq!(kit.begin(2).await.unwrap().batch_committed(), Some(second));
}

fn described(entity: Uuid, text: &str) -> GraphWrites {
    let cells = vec![(Column::Description, Value::Text(text.to_owned()).into())];
    GraphWrites { nodes: vec![NodeSet { entity, cells }], ..GraphWrites::default() }
}

#[tokio::test]
async fn a_transaction_that_is_dropped_leaves_nothing_and_holds_nobody_up() {
    let kit = kit().await;
    let node = kit.node("Ada").await;
    let before = kit.nodes().await;
    for _ in 0..3 {
        let mut tx = kit.begin(5).await.unwrap();
        tx.load(&needs_nodes(&[node]), &mut GraphRows::default()).await.unwrap();
        tx.write(&described(node, "never")).await.unwrap();
        drop(tx);
    }
    let began = Instant::now();
    let tx = kit.begin(1).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(tx.batch_committed(), None);
    drop(tx);
    assert_eq!(kit.nodes().await, before);
}

/// How often a deadlock is tried: which one is ended is the server's to choose, most often the one that holds less.
const DEADLOCKS: u32 = 10;

/// Nodes that the other holds besides.
const MUCH: usize = 20;

/// The other waits already when this one begins to.
const HEAD_START: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_drainer_that_loses_a_deadlock_is_busy() {
    let kit = kit().await;
    let [a, b] = [kit.node("a").await, kit.node("b").await];
    let mut much = Vec::new();
    for number in 0..MUCH {
        much.push(kit.node(&number.to_string()).await);
    }
    for _ in 0..DEADLOCKS {
        let mut drainer = kit.begin(1).await.unwrap();
        let mut ingestion = kit.ingestion().await;
        drainer.load(&needs_nodes(&[a]), &mut GraphRows::default()).await.unwrap();
        for node in much.iter().chain([&b]) {
            ingestion.touch(*node).await.unwrap();
        }
        let drains = async {
            tokio::time::sleep(HEAD_START).await;
            let mut rows = GraphRows::default();
            // The locks that the other waits for go with the transaction.
            drainer.load(&needs_nodes(&[b]), &mut rows).await.inspect_err(|_| drop(drainer))
        };
        let (drained, _) = tokio::join!(drains, ingestion.touch(a));
        if let Err(error) = drained {
            assert!(matches!(error, GraphError::Busy { .. }), "{error}");
            assert!(error.to_string().contains("DeadlockDetected"), "{error}");
            return;
        }
    }
    panic!("the server never ended the drainer");
}

#[tokio::test]
async fn what_is_loaded_is_locked_until_the_end() {
    let kit = kit().await;
    let [a, b] = [kit.node("a").await, kit.node("b").await];
    kit.edge("KNOWS", a, b, "{}").await;
    let mut tx = kit.begin(1).await.unwrap();
    let needs = GraphNeeds { nodes: [a].into(), edges_between: [(a, b)].into(), ..GraphNeeds::default() };
    let mut rows = GraphRows::default();
    tx.load(&needs, &mut rows).await.unwrap();
    assert_eq!(rows.edges_loaded(), 1);
    tx.load(&needs, &mut rows).await.unwrap();
    assert_eq!(rows.edges_loaded(), 1);

    for text in [
        "MATCH (n:Entity {name: 'a'}) WHERE n.namespace_id = $ns SET n.x = 1",
        "MATCH (:Entity)-[r]->(:Entity) WHERE r.namespace_id = $ns SET r.x = 1",
    ] {
        let waits = tokio::time::timeout(Duration::from_millis(500), kit.run(text)).await;
        assert!(waits.is_err(), "{text}");
    }
    drop(tx);
    kit.run("MATCH (n:Entity {name: 'a'}) WHERE n.namespace_id = $ns SET n.x = 1").await;
}

#[tokio::test]
async fn the_ends_of_an_edge_have_a_direction() {
    let kit = kit().await;
    let [a, b, c] = [kit.node("a").await, kit.node("b").await, kit.node("c").await];
    for (source, target) in [(a, b), (b, a), (a, a), (b, c)] {
        kit.edge("KNOWS", source, target, "{valid_until: datetime('2020-01-01T00:00:00Z')}").await;
    }
    let loaded = async |needs: GraphNeeds| {
        let mut rows = GraphRows::default();
        kit.begin(1).await.unwrap().load(&needs, &mut rows).await.unwrap();
        rows.edges_loaded()
    };
    let touching = |id| GraphNeeds { edges_touching: [id].into(), ..GraphNeeds::default() };
    let between = |pair| GraphNeeds { edges_between: [pair].into(), ..GraphNeeds::default() };
    assert_eq!(loaded(touching(a)).await, 3);
    assert_eq!(loaded(touching(b)).await, 3);
    assert_eq!(loaded(between((a, b))).await, 1);
    assert_eq!(loaded(between((c, b))).await, 0);
    assert_eq!(loaded(between((a, a))).await, 1);
}

/// Edges that one transaction takes in, and how many statements make so many: the server has little memory for each.
const EDGES_LOADED_MAX: usize = 200_000;
const STATEMENTS: usize = 20;

#[tokio::test]
async fn a_node_with_more_edges_than_a_batch_can_hold_is_unreadable() {
    if env::var("DREAM_TEST_PROFILE").is_ok_and(|profile| profile == "long") {
        let kit = kit().await;
        let [hub, other] = [kit.node("hub").await, kit.node("other").await];
        let make = "MATCH (a:Entity {id: $id[0]}), (b:Entity {id: $id[1]}) UNWIND range(1, toInteger($id[2])) AS i
                    CREATE (a)-[:KNOWS {id: randomUUID(), namespace_id: $ns, description: 'd', source_chunk_ids: [a.id]}]->(b)";
        let number = (EDGES_LOADED_MAX / STATEMENTS).to_string();
        for _ in 0..STATEMENTS {
            kit.run_with(make, "id", vec![hub.to_string(), other.to_string(), number.clone()]).await;
        }
        let load = async || {
            let mut rows = GraphRows::default();
            kit.begin(1).await.unwrap().load(&needs_touching(&[hub]), &mut rows).await.map(|()| rows.edges_loaded())
        };
        assert_eq!(load().await.unwrap(), EDGES_LOADED_MAX);
        kit.edge("KNOWS", other, hub, "{}").await;
        let error = load().await.unwrap_err();
        assert!(matches!(&error, GraphError::Unreadable { what, .. } if what.contains("200000")), "{error}");
    }
}
