//! Review: a person's word on a plan, with the local engine.

use crate::support::program::{Program, count, run_id};
use crate::support::world::{NAMESPACE, World};

/// A run that waits for a review: its id.
fn waiting(program: &Program) -> String {
    let run = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local", "--mode", "review"];
    program.run(&run).expect(6);
    program.run(&["history", "--store", "a.db", "--json"]).json()[0]["run"].as_str().unwrap().to_owned()
}

fn resume(program: &Program, run: &str) -> serde_json::Value {
    program.dream("a.db", NAMESPACE, &["--resume", run])
}

/// Goes on with a run that was rejected: it closes, and is no success.
fn close(program: &Program, run: &str) -> serde_json::Value {
    let arguments =
        ["run", "graph", "--namespace", NAMESPACE, "--resume", run, "--on", "local", "--json", "--store", "a.db"];
    program.run(&arguments).expect(8).json()
}

#[test]
fn a_plan_is_carried_out_after_a_person_approved_it_and_without_what_was_rejected() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(40).lines());
    let run = waiting(&program);
    let shown = program.run(&["review", &run, "--store", "a.db"]).expect(0).stdout;
    assert!(shown.contains("rule: ") && shown.contains("    + "), "{shown}");
    let ops = program.ops("a.db", &run);
    let merge = ops.iter().find(|op| op["draft"]["intent"]["intent"] == "merge_entities").unwrap();
    let seq = merge["seq"].to_string();
    program.run(&["review", &run, "--reject", &seq, "--store", "a.db"]).expect(0);
    program.run(&["approve", &run, "--store", "a.db", "--by", "me"]).expect(0);
    let done = resume(&program, &run);
    assert!(count(&done, "applied") > 3, "{done}");
    let after = program.ops("a.db", &run);
    let rejected = after.iter().find(|op| op["seq"] == merge["seq"]).unwrap();
    assert_eq!((&rejected["state"], &rejected["reason"]), (&"skipped".into(), &"rejected".into()));
    let again = program.dream("a.db", NAMESPACE, &[]);
    let ops = program.ops("a.db", &run_id(&again));
    assert!(ops.iter().all(|op| op["draft"]["intent"] != merge["draft"]["intent"]), "a rejection is remembered");
}

#[test]
fn a_plan_that_is_rejected_changes_nothing_and_is_not_proposed_again() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(40).lines());
    let before = program.content("a.db", NAMESPACE);
    let run = waiting(&program);
    program.run(&["reject", &run, "--store", "a.db"]).expect(0);
    let approve = program.run(&["approve", &run, "--store", "a.db"]).expect(4);
    assert!(approve.stderr.contains("opposite"), "the second word loses: {}", approve.stderr);
    let done = close(&program, &run);
    assert_eq!(done["state"], "cancelled");
    assert_eq!(program.content("a.db", NAMESPACE), before);
    let again = program.dream("a.db", NAMESPACE, &["--ops", "vectorcypher_dedupe_entities"]);
    assert_eq!(count(&again, "sealed"), 0, "{again}");
}

#[test]
fn a_word_on_another_plan_is_refused() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(20).lines());
    let run = waiting(&program);
    let refused = program.run(&["approve", &run, "--plan-hash", &"0".repeat(64), "--store", "a.db"]).expect(4);
    assert!(refused.stderr.contains("another plan"), "{}", refused.stderr);
}

#[test]
fn a_waiting_run_blocks_nobody_and_what_others_did_meanwhile_is_stale() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(40).lines());
    let run = waiting(&program);
    let other = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    assert!(count(&other, "applied") > 3, "{other}");
    program.run(&["approve", &run, "--store", "a.db"]).expect(0);
    let late = resume(&program, &run);
    assert_eq!(count(&late, "applied"), 0, "{late}");
    assert!(count(&late, "stale") > 0, "{late}");
}
