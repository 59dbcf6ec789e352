//! The mirror on real data: companies whose edges the graph alone has, and a store that Khora made with its graph.

use serde_json::json;

use crate::graph::GraphLab;
use crate::khora::{REAL_NAMESPACE, restore};
use crate::support::program::run_id;
use crate::support::real_data;

#[tokio::test(flavor = "multi_thread")]
async fn real_companies_dream_over_edges_that_the_graph_alone_has() {
    let Some(data) = real_data("real_companies_dream_over_edges_that_the_graph_alone_has") else { return };
    let lines = std::fs::read_to_string(data.join("companies_dev.jsonl")).unwrap();
    let lab = GraphLab::with(&lines).await;
    dreams_and_comes_back(&lab, 100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_store_of_khoras_dreams_with_its_real_graph() {
    let Some(data) = real_data("a_real_store_of_khoras_dreams_with_its_real_graph") else { return };
    let folder = data.join("khora_store/neo4j_k1000_data");
    let lab = GraphLab::of_khora(&folder, REAL_NAMESPACE.parse().unwrap()).await;
    restore(
        &mut lab.lab.database().await,
        &std::fs::read_to_string(data.join("khora_store/postgres_k1000.sql")).unwrap(),
    )
    .await;
    lab.lab.program.run(&["migrate", "--realm", "graph"]).expect(0);
    dreams_and_comes_back(&lab, 50).await;
}

/// A run that applies leaves both stores saying the same, and its undo leaves the graph as it was.
async fn dreams_and_comes_back(lab: &GraphLab, merges_min: u32) {
    lab.is_clean("before anything");
    let before = lab.held().await;
    let dry = lab.dream(&["--mode", "dry-run", "--ops", "vectorcypher_dedupe_entities"]);
    let _worker = lab.lab.worker(&[]);
    let apply = json!({ "mode": "apply", "plan_of": run_id(&dry), "ops": ["vectorcypher_dedupe_entities"] });
    let reported = lab.lab.dream(lab.input(apply)).await;
    assert_eq!(reported.graph_left, 0);
    assert!(reported.ops["applied"] >= merges_min, "{:?}", reported.ops);
    let verified = lab.is_clean("after the run");
    eprintln!("applied {}, {} edges told of", reported.ops["applied"], verified["edges_told"]);
    lab.lab.program.run(&["undo", "--run", &reported.run_id]).expect(0);
    let after = lab.held().await;
    assert_eq!(after.other_than(&before), Vec::<String>::new(), "nodes and edges are as they were");
    lab.is_clean("after the undo");
}
