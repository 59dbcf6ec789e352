//! What a graph says otherwise than its store is found, repaired by a run like any other, and given back by its undo.

use dream_core::run::Mode;
use serde_json::{Value, json};

use crate::graph::{GraphLab, Held};
use crate::lab::STORE;
use crate::support::program::{count, run_id};
use crate::support::world::World;

const NOTHING: [&str; 0] = [];

/// Draws up a repair, and answers the report of that dry run.
fn repair(lab: &GraphLab) -> Value {
    let namespace = lab.namespace.to_string();
    lab.lab
        .program
        .run(&["verify", "mirror", "--namespace", &namespace, "--repair", "--on", "local", "--json"])
        .expect(0)
        .json()
}

/// How many differences of each kind there are.
fn differences(lab: &GraphLab) -> Value {
    let answer = lab.verify();
    let verified = answer.json();
    assert_eq!(answer.code, if verified["clean"] == true { 0 } else { 7 }, "{verified:#}");
    let all = verified["differences"].as_object().unwrap().iter();
    all.map(|(kind, differing)| (kind.clone(), differing["count"].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// Repairs under Temporal what was drawn up, sees that nothing differs, and takes it back.
async fn repaired_and_given_back(lab: &GraphLab, repairs: u64) -> Held {
    let before = lab.held().await;
    let dry = repair(lab);
    assert_eq!(lab.held().await.other_than(&before), NOTHING, "a dry run writes nothing");
    let _worker = lab.lab.worker(&[]);
    let reported = lab.lab.dream(lab.input(json!({ "mode": Mode::Apply, "plan_of": run_id(&dry) }))).await;
    assert_eq!((u64::from(reported.ops["applied"]), reported.graph_left), (repairs, 0), "{:?}", reported.ops);
    lab.is_clean("after the repair");
    let repaired = lab.held().await;
    assert_eq!(count(&repair_of_nothing(lab), "applied"), 0);
    lab.lab.program.run(&["undo", "--run", &reported.run_id]).expect(0);
    assert_eq!(lab.held().await.other_than(&before), NOTHING, "every id, end, type and property is as it was");
    repaired
}

/// Where nothing differs nothing is drawn up.
fn repair_of_nothing(lab: &GraphLab) -> Value {
    lab.dream(&["--mode", "apply", "--ops", "dream_mirror_repair"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_lost_everything_is_made_anew_from_the_tables() {
    let lab = GraphLab::with_edges_in_tables(&World::new(60).lines()).await;
    assert_eq!(differences(&lab), json!({ "edge_missing": 60 }));
    let whole = repaired_and_given_back(&lab, 60).await;
    assert_eq!(whole.edges.len(), 60);
    lab.write("MATCH (n:Entity {namespace_id: $ns}) DETACH DELETE n", &[]).await;
    let nodes = whole.nodes.len();
    assert_eq!(differences(&lab), json!({ "edge_missing": 60, "node_missing": nodes }));
    let again = repaired_and_given_back(&lab, 60 + nodes as u64).await;
    assert_eq!(again.other_than(&whole), NOTHING, "nodes come back as import had made them");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_and_edges_that_somebody_changed_go_back_to_what_the_store_says() {
    let mut world = World::new(100);
    world.relationships.truncate(80); // so that some nodes have none
    let lab = GraphLab::with(&world.lines()).await;
    lab.dream(&["--mode", "apply"]);
    let sound = lab.held().await;
    // A retired node lives, a live one is retired, one is gone, and an edge that an op led over runs elsewhere.
    let one = |condition: &str| {
        format!("MATCH (n:Entity {{namespace_id: $ns}}) WHERE {condition} WITH n ORDER BY n.id LIMIT 1")
    };
    lab.write(&(one("n.valid_until IS NOT NULL") + " REMOVE n.valid_until, n.version_valid_to"), &[]).await;
    lab.write(&(one("n.valid_until IS NULL AND NOT (n)--()") + " DELETE n"), &[]).await;
    lab.write(
        &(one("n.valid_until IS NULL AND NOT (n)--()") + " SET n.valid_until = datetime('2026-01-01T00:00:00Z'), n.version_valid_to = '2026-01-01T00:00:00+00:00'"),
        &[],
    )
    .await;
    let moved =
        "MATCH (a:Entity {namespace_id: $ns})-[r]->(b) WHERE r.updated_at > r.created_at AND a.valid_until IS NULL
                 WITH a, r, b ORDER BY r.id LIMIT 1
                 MATCH (c:Entity {namespace_id: $ns}) WHERE c.valid_until IS NULL AND c.id <> a.id AND c.id <> b.id
                 WITH a, r, c ORDER BY c.id LIMIT 1
                 CREATE (a)-[x:SUPPLIES]->(c) SET x = properties(r) DELETE r";
    lab.write(moved, &[]).await;
    let found = differences(&lab);
    assert_eq!(
        found,
        json!({ "node_missing": 1, "node_not_live": 1, "node_not_retired": 1, "edge_not_as_told": 1 }),
        "{found:#}"
    );
    let table = lab.lab.program.run(&["verify", "mirror", "--namespace", &lab.namespace.to_string(), "--store", STORE]);
    assert!(table.stdout.contains("entity without a node"), "{}", table.stdout);
    let repaired = repaired_and_given_back(&lab, 4).await;
    assert_eq!(repaired.nodes.keys().collect::<Vec<_>>(), sound.nodes.keys().collect::<Vec<_>>());
    let ends = |held: &Held| held.edges.values().map(|edge| (edge.0.clone(), edge.2.clone())).collect::<Vec<_>>();
    assert_eq!(ends(&repaired), ends(&sound));
}

#[tokio::test(flavor = "multi_thread")]
async fn properties_that_somebody_changed_go_back_to_what_an_op_left() {
    let lab = GraphLab::with(&World::new(100).lines()).await;
    lab.dream(&["--mode", "apply"]);
    let sound = lab.held().await;
    let looked_at = lab.verify().json()["properties_told"].as_u64().unwrap();
    assert!(looked_at > 10, "survivors, absorbed ones and moved edges: {looked_at}");
    // A survivor's count, and the time of an absorbed one's end.
    lab.write(
        "MATCH (n:Entity {namespace_id: $ns}) WHERE n.valid_until IS NULL AND n.metadata CONTAINS 'aliases'
         WITH n ORDER BY n.id LIMIT 1 SET n.mention_count = n.mention_count + 1000",
        &[],
    )
    .await;
    lab.write(
        "MATCH (n:Entity {namespace_id: $ns}) WHERE n.valid_until IS NOT NULL
         WITH n ORDER BY n.id LIMIT 1 SET n.valid_until = datetime('2020-01-01T00:00:00Z'),
         n.version_valid_to = '2020-01-01T00:00:00+00:00'",
        &[],
    )
    .await;
    assert_eq!(differences(&lab), json!({ "node_properties_differ": 2 }));
    assert_eq!(repaired_and_given_back(&lab, 2).await.other_than(&sound), NOTHING);
    // What somebody says to have written is theirs.
    lab.write(
        "MATCH (n:Entity {namespace_id: $ns}) SET n.description = 'as ingestion has it', n.mention_count = 1,
         n.updated_at = '2999-01-01T00:00:00+00:00'",
        &[],
    )
    .await;
    assert_eq!(differences(&lab), json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_property_of_an_edge_that_an_op_folded_is_looked_at() {
    let mut world = World::new(100);
    // Every entity that has a duplicate has an edge of its own where its duplicate has one, so that one of them is folded.
    let of_duplicate = |entity: &&Value| entity["attributes"]["duplicate"] == true;
    for duplicate in world.entities.iter().filter(of_duplicate) {
        let number = &duplicate["attributes"]["number"];
        let twin = |entity: &&Value| entity["attributes"]["number"] == *number && !of_duplicate(entity);
        let entity = world.entities.iter().find(twin).unwrap();
        let chunk = duplicate["source_chunk_ids"][0].clone();
        let edge = world.relationships.iter_mut().find(|edge| edge["source_entity_id"] == duplicate["id"]);
        let Some(edge) = edge else { continue };
        let mut twin = edge.clone();
        // The one that goes brings evidence to the one that stays.
        edge["source_chunk_ids"] = json!([chunk]);
        twin["id"] = json!(uuid::Uuid::now_v7());
        twin["source_entity_id"] = entity["id"].clone();
        world.relationships.push(twin);
    }
    let lab = GraphLab::with(&world.lines()).await;
    lab.dream(&["--mode", "apply"]);
    lab.write(
        "MATCH (:Entity {namespace_id: $ns})-[r]->(:Entity) SET r.source_chunk_ids = [r.id], r.weight = 99.0, r.confidence = 0.01",
        &[],
    )
    .await;
    let found = differences(&lab);
    let kinds: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["edge_properties_differ"], "{found:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_graph_has_is_never_taken_away() {
    let lab = GraphLab::with_edges_in_tables(&World::new(20).lines()).await;
    lab.write(
        "MATCH (a:Entity {namespace_id: $ns}) WITH a ORDER BY a.id LIMIT 1
         CREATE (a)-[:KNOWS {id: '0198c0de-0000-7000-8000-000000000001', namespace_id: $ns}]->
                (:Entity {id: '0198c0de-0000-7000-8000-000000000002', namespace_id: $ns})",
        &[],
    )
    .await;
    let unknown = json!({ "edge_unknown": 1, "node_unknown": 1 });
    let dry = repair(&lab);
    let apply = ["--mode", "apply", "--plan-of", &run_id(&dry)];
    assert_eq!(count(&lab.dream(&apply), "applied"), 20);
    assert_eq!(differences(&lab), unknown);
    lab.write("MATCH (n:Entity {namespace_id: $ns}) DETACH DELETE n", &[]).await;
}
