//! Every documented knob changes an outcome that a person can see.

use serde_json::Value;

use crate::support::program::{Program, count, run_id};
use crate::support::world::{NAMESPACE, World, id};

/// A world in which each knob has something to change: duplicates with close and with less close vectors, dead references,
/// an orphan.
fn world() -> World {
    let mut world = World::new(40);
    for (number, entity) in world.entities.iter_mut().enumerate() {
        if entity["id"] == id("duplicate", 10).to_string().as_str() {
            // Close, but not the same: a cosine between 0.95 and 1.
            entity["embedding"][0] = (entity["embedding"][0].as_f64().unwrap() + 0.2).into();
        }
        if number % 7 == 3 {
            entity["mention_count"] = 1.into();
        }
    }
    world
}

/// The report of a dry run, and its ops.
fn dry(program: &Program) -> (Value, Vec<Value>) {
    let report = program.dream("a.db", NAMESPACE, &[]);
    let ops = program.ops("a.db", &run_id(&report));
    (report, ops)
}

fn kinds(ops: &[Value], kind: &str) -> usize {
    ops.iter().filter(|op| op["draft"]["kind"] == kind).count()
}

fn decisions(ops: &[Value], decision: &str) -> usize {
    ops.iter().filter(|op| op["draft"]["decision"] == decision).count()
}

#[test]
fn each_switch_turns_its_op_on_and_off() {
    let switches = [
        ("KHORA_DREAM_DEDUPE_ENTITIES_ENABLED", "vectorcypher_dedupe_entities"),
        ("KHORA_DREAM_OPS_DEDUPE_ENTITIES", "vectorcypher_dedupe_entities"),
        ("KHORA_DREAM_CENTROID_RECOMPUTE_ENABLED", "vectorcypher_centroid_recompute"),
        ("KHORA_DREAM_OPS_RECOMPUTE_CENTROIDS", "vectorcypher_centroid_recompute"),
        ("KHORA_DREAM_SOURCE_CHUNK_IDS_GC_ENABLED", "vectorcypher_source_chunk_ids_gc"),
    ];
    for (switch, kind) in switches {
        let mut program = Program::bare();
        program.set("KHORA_DREAM_ENABLED", "1");
        program.import("a.db", NAMESPACE, &world().lines());
        let (_, off) = dry(&program);
        assert_eq!(kinds(&off, kind), 0, "{kind} is off by default");
        let status = program.run(&["history", "--store", "a.db", "--json"]).json();
        let skipped = status[0]["skip_reasons"].as_array().unwrap();
        let reason = skipped.iter().find(|reason| reason["op_kind"] == kind).unwrap();
        assert_eq!(reason["reason"], "op_disabled_by_config");
        if kind == "vectorcypher_centroid_recompute" {
            program.set("KHORA_DREAM_DEDUPE_ENTITIES_ENABLED", "1");
        }
        program.set(switch, "1");
        let (_, on) = dry(&program);
        assert!(kinds(&on, kind) > 0, "{switch}");
    }
}

#[test]
fn each_threshold_changes_a_decision() {
    type Count = fn(&[Value]) -> usize;
    let cases: [(&str, &str, Count); 6] = [
        ("KHORA_DREAM_DEDUPE_ENTITIES_DEFAULT_THRESHOLD", "1.0", |ops| {
            ops.iter().filter(|op| op["draft"]["evidence"]["every_pair_reached_cosine_threshold"] == true).count()
        }),
        ("KHORA_DREAM_DEDUPE_ENTITIES_PER_TYPE_THRESHOLDS", r#"{"ORGANIZATION": 1.0}"#, |ops| {
            ops.iter().filter(|op| op["draft"]["evidence"]["every_pair_reached_cosine_threshold"] == true).count()
        }),
        ("KHORA_DREAM_SOURCE_CHUNK_IDS_GC_MIN_DEAD", "3", |ops| kinds(ops, "vectorcypher_source_chunk_ids_gc")),
        ("KHORA_DREAM_CENTROID_MIN_INTRA_CLUSTER_COSINE", "1.0", |ops| decisions(ops, "skip_multimodal")),
        ("KHORA_DREAM_CENTROID_LEV_THRESHOLD", "50", |ops| decisions(ops, "centroid")),
        ("KHORA_DREAM_ENABLED", "1", |_| 0),
    ];
    for (knob, value, measure) in &cases[..5] {
        let mut program = Program::new();
        program.import("a.db", NAMESPACE, &world().lines());
        let (_, before) = dry(&program);
        program.set(knob, value);
        let (_, after) = dry(&program);
        assert_ne!(measure(&before), measure(&after), "{knob}");
    }
}

#[test]
fn each_knob_of_the_orphan_report_changes_its_candidates() {
    let orphans = |program: &Program| {
        let report = program.dream("a.db", NAMESPACE, &["--ops", "vectorcypher_orphan_report"]);
        let path = report["report_path"].as_str().unwrap().replace("summary.md", "events.jsonl");
        let events = std::fs::read_to_string(path).unwrap();
        let event = events.lines().find(|line| line.contains("vectorcypher_orphan_report")).unwrap();
        let event: Value = serde_json::from_str(event).unwrap();
        event["outputs"].as_object().unwrap().len()
    };
    let mut world = world();
    for (number, edge) in world.relationships.iter_mut().enumerate() {
        if number % 2 == 0 {
            edge["relationship_type"] = "ASSOCIATED_WITH".into();
        }
    }
    for chunk in &mut world.chunks {
        chunk["last_accessed_at"] = "2026-06-01T00:00:00Z".into();
    }
    for (knob, low, high) in
        [("KHORA_DREAM_ORPHAN_PR_PERCENTILE_THRESHOLD", "5", "90"), ("KHORA_DREAM_ORPHAN_RECALL_DAYS", "1", "20000")]
    {
        let mut program = Program::new();
        program.import("a.db", NAMESPACE, &world.lines());
        program.set("KHORA_DREAM_ORPHAN_PR_PERCENTILE_THRESHOLD", "90");
        program.set(knob, low);
        let before = orphans(&program);
        program.set(knob, high);
        assert_ne!(before, orphans(&program), "{knob}");
    }
}

#[test]
fn the_default_mode_and_the_file_sink_do_what_they_say() {
    let mut program = Program::new();
    program.import("a.db", NAMESPACE, &world().lines());
    program.set("KHORA_DREAM_REPORT_FILE_SINK_ENABLED", "false");
    program.set("KHORA_DREAM_DEFAULT_MODE", "apply");
    let report = program.dream("a.db", NAMESPACE, &[]);
    assert!(count(&report, "applied") > 0, "{report}");
    assert_eq!(report["report_path"], Value::Null);
    assert!(!program.path("reports").exists());
}

#[test]
fn the_kill_switch_of_the_environment_refuses_before_anything_is_written() {
    let mut program = Program::new();
    program.import("a.db", NAMESPACE, &world().lines());
    program.set("KHORA_DREAM_DISABLE_APPLY", "1");
    let apply = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local", "--mode", "apply"];
    let refused = program.run(&apply).expect(4);
    assert!(refused.stderr.contains("KHORA_DREAM_DISABLE_APPLY"), "{}", refused.stderr);
    program.run(&["history", "--store", "a.db"]).expect(3);
    program.dream("a.db", NAMESPACE, &[]);
}

#[test]
fn a_setting_that_contradicts_itself_is_refused_by_name() {
    let mut program = Program::new();
    program.set("KHORA_DREAM_OPS_DEDUPE_ENTITIES", "false");
    let refused = program.run(&["config", "show"]).expect(1);
    assert!(refused.stderr.contains("KHORA_DREAM_DEDUPE_ENTITIES_ENABLED"), "{}", refused.stderr);
    assert!(refused.stderr.contains("DREAM-4001"), "{}", refused.stderr);
}

#[test]
fn every_value_says_where_it_comes_from() {
    let mut program = Program::bare();
    std::fs::write(program.path("dream.toml"), "[dream]\nretention_days = 12\n").unwrap();
    program.set("KHORA_DREAM_REDACT_TEXT", "none");
    let shown = program.run(&["config", "show", "--json"]).json();
    let origin = |name: &str| {
        let row = shown.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        (row["value"].as_str().unwrap().to_owned(), row["origin"].as_str().unwrap().to_owned())
    };
    assert_eq!(origin("retention_days"), ("12".into(), "file dream.toml".into()));
    assert_eq!(origin("redact_text"), ("none".into(), "environment KHORA_DREAM_REDACT_TEXT".into()));
    assert_eq!(origin("enabled"), ("false".into(), "default".into()));
}
