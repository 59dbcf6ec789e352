//! Undo, seen from outside: content by content.

use crate::support::program::{Program, count, run_id};
use crate::support::world::{NAMESPACE, World, id, name};

#[test]
fn a_run_that_is_taken_back_leaves_the_content_as_it_was_and_taking_it_back_again_does_nothing() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(300).lines());
    let before = program.content("a.db", NAMESPACE);
    let applied = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    assert!(count(&applied, "applied") > 50, "{applied}");
    assert_ne!(program.content("a.db", NAMESPACE), before);
    let run = run_id(&applied);
    program.run(&["undo", "--run", &run, "--dry-run", "--store", "a.db"]).expect(0);
    assert_ne!(program.content("a.db", NAMESPACE), before, "a dry run changes nothing");
    program.run(&["undo", "--run", &run, "--store", "a.db"]).expect(0);
    assert_eq!(program.content("a.db", NAMESPACE), before);
    program.run(&["undo", "--run", &run, "--store", "a.db"]).expect(3);
    assert_eq!(program.content("a.db", NAMESPACE), before);
    let status = program.run(&["status", &run, "--store", "a.db", "--json"]).json();
    assert_eq!(status["run"]["state"], "undone");
}

#[test]
fn a_merge_that_was_taken_back_is_not_proposed_again() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(40).lines());
    let applied = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    let ops = program.ops("a.db", &run_id(&applied));
    let merge = ops.iter().find(|op| op["draft"]["intent"]["intent"] == "merge_entities").unwrap();
    let op = merge["op_id"].as_str().unwrap();
    program.run(&["undo", "--op", op, "--store", "a.db"]).expect(0);
    let again = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    let ops = program.ops("a.db", &run_id(&again));
    assert!(ops.iter().all(|op| op["draft"]["intent"] != merge["draft"]["intent"]), "it came back");
    assert!(ops.iter().any(|op| op["draft"]["rule"] == "verdict_keep_apart"), "and the plan says why");
    let status = program.run(&["status", &run_id(&applied), "--store", "a.db", "--json"]).json();
    assert_eq!(status["run"]["state"], "partly_undone");
}

#[test]
fn an_op_goes_with_those_of_its_run_that_depend_on_it() {
    let program = Program::new();
    let mut world = World::new(20);
    // Two members whose names are close and whose vectors differ a little, so that their mean is neither of them.
    let duplicate = id("duplicate", 0).to_string();
    let row = world.entities.iter_mut().find(|row| row["id"] == duplicate.as_str()).unwrap();
    row["embedding"][0] = (row["embedding"][0].as_f64().unwrap() + 0.1).into();
    row["name"] = name(0).replace(' ', "-").into();
    program.import("a.db", NAMESPACE, &world.lines());
    let before = program.content("a.db", NAMESPACE);
    let applied = program.dream(
        "a.db",
        NAMESPACE,
        &["--mode", "apply", "--ops", "vectorcypher_dedupe_entities,vectorcypher_centroid_recompute"],
    );
    let ops = program.ops("a.db", &run_id(&applied));
    let of = |kind: &str| ops.iter().filter(|op| op["draft"]["kind"] == kind && op["state"] == "applied").count();
    assert_eq!(of("vectorcypher_centroid_recompute"), 1, "{ops:?}");
    for op in ops.iter().filter(|op| op["draft"]["kind"] == "vectorcypher_dedupe_entities" && op["state"] == "applied")
    {
        program.run(&["undo", "--op", op["op_id"].as_str().unwrap(), "--store", "a.db"]).expect(0);
    }
    assert_eq!(program.content("a.db", NAMESPACE), before);
}

#[test]
fn what_a_later_run_builds_on_is_not_taken_back_under_it() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(30).lines());
    let first = program.dream("a.db", NAMESPACE, &["--mode", "apply", "--ops", "vectorcypher_dedupe_entities"]);
    let second = program.dream("a.db", NAMESPACE, &["--mode", "apply", "--ops", "vectorcypher_source_chunk_ids_gc"]);
    assert!(count(&second, "applied") > 0);
    let refused = program.run(&["undo", "--run", &run_id(&first), "--store", "a.db"]).expect(4);
    assert!(refused.stderr.contains(&run_id(&second)), "{}", refused.stderr);
    program.run(&["undo", "--run", &run_id(&second), "--store", "a.db"]).expect(0);
    program.run(&["undo", "--run", &run_id(&first), "--store", "a.db"]).expect(0);
}

#[test]
fn an_entity_can_be_seen_as_it_was() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(20).lines());
    let entity = id("entity", 0).to_string();
    program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    let show = |more: &[&str]| {
        program.run(&[&["show", "entity", &entity, "--store", "a.db", "--json"][..], more].concat()).expect(0).json()
    };
    assert_eq!(show(&[])["mention_count"], 5);
    let before = show(&["--as-of", "2026-06-01T00:00:00Z"]);
    assert_eq!(before["mention_count"], 3);
    assert_eq!(before["metadata"], serde_json::json!({}));
    assert_eq!(show(&[])["metadata"]["aliases"].as_array().unwrap().len(), 1);
}
