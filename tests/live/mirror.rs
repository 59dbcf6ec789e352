//! The graph database beside the store: after any run, any crash and any outage both say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::graph::GraphLab;
use crate::ingestion::Ingestion;
use crate::lab::{completed, eventually, history, result};
use crate::support::program::{count, run_id};
use crate::support::world::{Chance, World};

/// Who absorbed whom, as the plan of a run says.
fn survivors(plan: &Value) -> BTreeMap<String, String> {
    let mut survivors = BTreeMap::new();
    for op in plan["ops"].as_array().unwrap() {
        let intent = &op["draft"]["intent"];
        if intent["intent"] == "merge_entities" && op["state"] == "applied" {
            for absorbed in intent["absorb"].as_array().unwrap() {
                survivors.insert(absorbed.as_str().unwrap().to_owned(), intent["keep"].as_str().unwrap().to_owned());
            }
        }
    }
    survivors
}

/// What the neighbours must be once these are merged.
fn united(
    before: &BTreeMap<String, Vec<String>>,
    survivors: &BTreeMap<String, String>,
) -> BTreeMap<String, BTreeSet<String>> {
    let map = |id: &String| survivors.get(id).unwrap_or(id).clone();
    let mut united: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (node, neighbours) in before {
        let node = map(node);
        united.entry(node.clone()).or_default().extend(neighbours.iter().map(map).filter(|other| *other != node));
    }
    united.retain(|_, neighbours| !neighbours.is_empty());
    united
}

#[tokio::test(flavor = "multi_thread")]
async fn edges_that_only_the_graph_has_follow_their_merges_and_undo_gives_the_graph_back() {
    let lab = GraphLab::with(&World::new(300).lines()).await;
    let before = lab.held().await;
    assert_eq!(before.edges.len(), 300);
    lab.is_clean("before anything");
    let neighbours = lab.neighbours().await;

    let dry = lab.dream(&["--mode", "dry-run"]);
    assert_eq!(lab.held().await, before, "a dry run writes nothing");
    let _worker = lab.lab.worker(&[]);
    let reported = lab.lab.dream(lab.input(json!({ "mode": "apply", "plan_of": run_id(&dry) }))).await;
    assert_eq!(reported.graph_left, 0);
    assert!(reported.ops["applied"] > 30);
    let report = lab.lab.program.run(&["report", &reported.run_id]).expect(0).stdout;
    assert!(report.contains("- edges: read from the graph database"), "{report}");
    let verified = lab.is_clean("after the run");
    assert!(verified["edges_told"].as_u64().unwrap() > 10, "{verified:#}");
    let plan = lab.lab.program.run(&["plan", &reported.run_id, "--json", "--limit", "100000"]).expect(0).json();
    let expected = united(&neighbours, &survivors(&plan));
    let found = lab.neighbours().await.into_iter().map(|(node, others)| (node, others.into_iter().collect()));
    assert_eq!(found.collect::<BTreeMap<_, BTreeSet<_>>>(), expected, "no neighbour is lost, none is new");

    lab.lab.program.run(&["undo", "--run", &reported.run_id]).expect(0);
    assert_eq!(lab.held().await, before, "every id, end, type and property is as it was");
    lab.is_clean("after the undo");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_op_that_is_taken_back_leaves_the_others_in_the_graph() {
    let lab = GraphLab::with(&World::new(100).lines()).await;
    let report = lab.dream(&["--mode", "apply"]);
    let after = lab.held().await;
    let ops = lab.lab.program.ops(crate::lab::STORE, &run_id(&report));
    let merge =
        ops.iter().find(|op| op["draft"]["intent"]["intent"] == "merge_entities" && op["state"] == "applied").unwrap();
    lab.lab.program.run(&["undo", "--op", merge["op_id"].as_str().unwrap()]).expect(0);
    let held = lab.held().await;
    assert_ne!(held, after);
    assert_eq!(held.versions, after.versions - 1);
    lab.is_clean("after the undo of one op");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_that_the_graph_would_not_hear_of_is_refused() {
    let mut lab = GraphLab::with(&World::new(60).lines()).await;
    let before = lab.held().await;
    let run = run_id(&lab.dream(&["--mode", "apply"]));
    let url = crate::lab::variable("DREAM_TEST_NEO4J_URL");
    lab.lab.program.unset("DREAM_GRAPH");
    for more in [&["--dry-run"][..], &[]] {
        let refused = lab.lab.program.run(&[&["undo", "--run", &run], more].concat());
        assert!(refused.code != 0 && refused.stderr.contains("DREAM_GRAPH"), "{}", refused.stderr);
    }
    lab.lab.program.set("DREAM_GRAPH", &url);
    lab.lab.program.run(&["undo", "--run", &run]).expect(0);
    assert_eq!(lab.held().await.other_than(&before), Vec::<String>::new());

    let again = run_id(&lab.dream(&["--mode", "apply", "--ops", "vectorcypher_source_chunk_ids_gc"]));
    lab.lab.program.unset("DREAM_GRAPH");
    lab.lab.program.run(&["undo", "--run", &again, "--without-graph"]).expect(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_says_that_the_graph_lacks_what_it_would_put_back() {
    let lab = GraphLab::with(&World::new(60).lines()).await;
    let run = run_id(&lab.dream(&["--mode", "apply"]));
    let survivor =
        "MATCH (n:Entity {namespace_id: $ns}) WHERE n.metadata CONTAINS 'aliases' WITH n LIMIT 1 DETACH DELETE n";
    lab.write(survivor, &[]).await;
    let undone = lab.lab.program.run(&["undo", "--run", &run]).expect(0);
    assert!(undone.stderr.contains("dream verify mirror"), "{}", undone.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_graph_is_away_goes_on_and_the_reconciler_catches_up() {
    let lab = GraphLab::with_own_server(&World::new(200).lines()).await;
    let before = lab.held().await;
    let dry = run_id(&lab.dream(&["--mode", "dry-run"]));
    let _worker = lab.lab.worker(&[]);
    lab.server().disturb("stop");
    let reported = lab.lab.dream(lab.input(json!({ "mode": "apply", "plan_of": dry }))).await;
    assert_eq!(reported.state.to_string(), "completed");
    assert!(reported.graph_left > 0);
    let status = lab.lab.program.run(&["status", &reported.run_id, "--json"]).expect(0).json();
    assert_eq!(status["graph_mirror"]["left"], reported.graph_left);
    let owed = lab.lab.program.run(&["status", "--json"]).expect(0).json();
    assert_eq!(owed["graph_mirror"]["namespaces"][0]["open"], reported.graph_left);

    let skipped = lab.dream(&["--mode", "dry-run"]);
    let reasons = skipped["skip_reasons"].to_string();
    assert!(reasons.contains("mirror_pending"), "nobody knows all edges now: {reasons}");

    lab.server().disturb("start");
    // The run has started a reconciler, which tries again by itself.
    let begun = Instant::now();
    while lab.verify().json()["clean"] != true {
        assert!(begun.elapsed() < crate::lab::PATIENCE, "{:#}", lab.verify().json());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    lab.lab.program.run(&["undo", "--run", &reported.run_id]).expect(0);
    assert_eq!(lab.held().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_is_killed_frozen_and_restarted_while_a_run_applies_ends_like_the_store() {
    let lab = GraphLab::with_own_server(&World::new(1_500).lines()).await;
    let before = lab.held().await;
    let worker = lab.lab.worker(&[]);
    let handle = lab.lab.start(lab.input(json!({ "mode": "apply" }))).await;
    lab.lab.reach(&handle, "the run applies", |view| view.phase == "applying" || view.phase == "mirroring").await;
    lab.server().disturb("kill9");
    lab.server().disturb("start");
    lab.server().disturb("pause");
    let reported = result(&handle).await.unwrap();
    assert_eq!(reported.state.to_string(), "completed");
    drop(worker);
    lab.server().disturb("resume");
    lab.server().disturb("stop");
    lab.server().disturb("start");
    lab.reconcile();
    lab.is_clean("after all of it");
    lab.server().disturb("stop");
    let undone = lab.lab.program.run(&["undo", "--run", &reported.run_id]).expect(0);
    assert!(undone.stderr.contains("dream reconcile"), "{}", undone.stderr);
    lab.server().disturb("start");
    lab.reconcile();
    assert_eq!(lab.held().await, before);
    lab.is_clean("after the undo");
}

/// Labs that are disturbed at once; each waits most of its time for a silent drainer to be given up.
const AT_ONCE: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_process_that_is_killed_while_it_tells_the_graph_loses_and_doubles_nothing() {
    let rounds = if std::env::var("DREAM_TEST_PROFILE").is_ok_and(|profile| profile == "long") { 200 } else { 20 };
    let mut disturbed = 0;
    for some in (0..rounds).collect::<Vec<u64>>().chunks(AT_ONCE) {
        let some: Vec<_> = some.iter().map(|seed| tokio::spawn(killed(*seed))).collect();
        for round in some {
            disturbed += u64::from(round.await.unwrap());
        }
    }
    assert!(disturbed > rounds / 4, "the runs were really disturbed: {disturbed} of {rounds}");
}

/// Kills a run and its undo at moments given by the seed; answers whether the kill met the run.
async fn killed(seed: u64) -> bool {
    let mut chance = Chance(seed);
    let lab = GraphLab::with(&World::new(400).lines()).await;
    let before = lab.held().await;
    // Beside every other one somebody writes all the while.
    let ingestion = if seed % 2 == 1 { Some(Ingestion::begin(&lab, &before, seed).await) } else { None };
    let run = Uuid::now_v7().to_string();
    let namespace = lab.namespace.to_string();
    let arguments = ["run", "graph", "--namespace", &namespace, "--on", "local", "--mode", "apply", "--json"];
    let mut child = lab.lab.program.start(&[&arguments[..], &["--run-id", &run]].concat());
    let applied = || lab.lab.program.run(&["status", &run, "--json"]).stdout.contains("\"applied\"");
    eventually("the run applies", || (applied() || child.try_wait().unwrap().is_some()).then_some(()));
    tokio::time::sleep(Duration::from_millis(chance.below(600))).await;
    let is_disturbed = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = lab.lab.program.run(&[&arguments[..], &["--resume", &run]].concat());
    assert_eq!(resumed.code, 0, "seed {seed}: {}", resumed.stderr);
    lab.reconcile();
    if ingestion.is_none() {
        lab.is_clean(&format!("seed {seed}"));
    }

    // An undo that is killed goes on too, beside two reconcilers at once.
    let mut undo = lab.lab.program.start(&["undo", "--run", &run]);
    let others = [lab.lab.program.start(&["reconcile"]), lab.lab.program.start(&["reconcile"])];
    tokio::time::sleep(Duration::from_millis(chance.below(400))).await;
    undo.kill().unwrap();
    undo.wait().unwrap();
    for mut other in others {
        other.wait().unwrap();
    }
    eventually("the undo is done", || {
        let code = lab.lab.program.run(&["undo", "--run", &run]).code;
        (code == 0 || code == 3).then_some(())
    });
    lab.reconcile();
    let held = match ingestion {
        Some(ingestion) => {
            let written = ingestion.end().await;
            assert!(written.edges() > 0, "seed {seed}: nothing was written");
            written.is_in(lab.held().await, &format!("seed {seed}"))
        }
        None => lab.held().await,
    };
    assert_eq!(held.other_than(&before), Vec::<String>::new(), "seed {seed}");
    lab.is_clean(&format!("seed {seed}, undone"));
    is_disturbed
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ingestion_writes_to_the_graph_meanwhile_is_not_lost() {
    let lab = GraphLab::with(&World::new(200).lines()).await;
    let report = lab.dream(&["--mode", "apply"]);
    let run = run_id(&report);
    let absorbed =
        lab.rows("MATCH (n:Entity {namespace_id: $ns}) WHERE n.valid_until IS NOT NULL RETURN [n.id] AS row");
    let absorbed = absorbed.await[0][0].clone();
    let other = lab.rows("MATCH (n:Entity {namespace_id: $ns}) WHERE n.valid_until IS NULL RETURN [n.id] AS row").await;
    let other = other.last().unwrap()[0].clone();
    // An edge to a node that was absorbed, and evidence for an edge that was led over.
    lab.write(
        "MATCH (a:Entity {id: $absorbed}), (b:Entity {id: $other})
         CREATE (a)-[:KNOWS {id: $id, namespace_id: $ns, source_chunk_ids: [], weight: 1.0}]->(b)",
        &[("absorbed", absorbed.clone().into()), ("other", other.into()), ("id", Uuid::now_v7().to_string().into())],
    )
    .await;
    let moved = lab.rows(
        "MATCH (a:Entity {namespace_id: $ns})-[r]->() WHERE r.updated_at > r.created_at AND a.valid_until IS NULL
         RETURN [r.id] AS row",
    );
    let moved = moved.await[0][0].clone();
    let evidence = Uuid::now_v7().to_string();
    lab.write(
        "MATCH (:Entity {namespace_id: $ns})-[r {id: $id}]->() SET r.source_chunk_ids = coalesce(r.source_chunk_ids, []) + $chunk",
        &[("id", moved.clone().into()), ("chunk", evidence.clone().into())],
    )
    .await;
    let verified = lab.verify().json();
    assert_eq!(verified["differences"]["edge_stranded"]["count"], 1, "{verified:#}");

    // No chunk of that evidence is there, so that gc, which looks at edges of the graph too, is left out.
    let again = lab.dream(&["--mode", "apply", "--ops", "dream_reabsorb"]);
    assert!(count(&again, "applied") > 0);
    lab.is_clean("the next run has taken it in");
    let chunks = "MATCH (:Entity {namespace_id: $ns})-[r]->() RETURN [r.id, r.source_chunk_ids] AS row";
    let has_evidence = async || lab.rows(chunks).await.iter().any(|row| row[0] == moved && row[1].contains(&evidence));
    assert!(has_evidence().await);
    lab.lab.program.run(&["undo", "--run", &run_id(&again)]).expect(0);
    lab.lab.program.run(&["undo", "--run", &run]).expect(0);
    assert!(has_evidence().await, "undo takes back what the op did and nothing else");
    assert!(lab.held().await.edges.values().any(|edge| edge.0 == absorbed && edge.1 == "KNOWS"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_memories_stands_in_the_history_of_a_mirrored_run() {
    let lab = GraphLab::with(&World::new(60).lines()).await;
    let _worker = lab.lab.worker(&[]);
    let handle = lab.lab.start(lab.input(json!({ "mode": "apply" }))).await;
    result(&handle).await.unwrap();
    let events = history(&handle).await;
    assert!(completed(&events) > 8);
    let text = format!("{events:?}");
    for word in [crate::support::world::name(1), crate::support::world::name(10)] {
        assert!(!text.contains(&word));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn references_of_edges_that_only_the_graph_has_are_dropped_where_they_are_dead_and_come_back() {
    let mut world = World::new(40);
    let live = world.chunks[0]["id"].clone();
    for edge in &mut world.relationships {
        edge["source_chunk_ids"] = json!([live, Uuid::from_u128(7)]);
    }
    let lab = GraphLab::with(&world.lines()).await;
    let before = lab.held().await;
    let report = lab.dream(&["--mode", "apply", "--ops", "vectorcypher_source_chunk_ids_gc", "--force-liveness"]);
    assert!(count(&report, "applied") >= 40, "{report:#}");
    let references = "MATCH (:Entity {namespace_id: $ns})-[r]->() RETURN [toString(size(r.source_chunk_ids))] AS row";
    assert!(lab.rows(references).await.iter().all(|row| row[0] == "1"), "what lives stays");
    lab.is_clean("after the run");
    lab.lab.program.run(&["undo", "--run", &run_id(&report)]).expect(0);
    assert_eq!(lab.held().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_gives_back_the_edges_that_only_the_graph_has() {
    let lab = GraphLab::with(&World::new(30).lines()).await;
    let namespace = lab.namespace.to_string();
    let export = lab.lab.program.content(crate::lab::STORE, &namespace);
    let edges = |text: &str| text.lines().filter(|line| line.contains("\"kind\":\"relationship\"")).count();
    assert_eq!(edges(&export), 30);
    let other = GraphLab::with(&export).await;
    let again = other.lab.program.content(crate::lab::STORE, &other.namespace.to_string());
    assert_eq!(edges(&again), 30);
    other.is_clean("after the import of an export");
}
