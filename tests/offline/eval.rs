//! `dream eval dedupe`: figures straight from files, on a small set of our own and on the real ones.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::program::{Answer, Program};
use crate::support::real_data;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/graph").join(name)
}

fn eval(file: &Path, arguments: &[&str]) -> Answer {
    let file = file.display().to_string();
    let mut all = vec!["eval", "dedupe", &file, "--json"];
    all.extend(arguments);
    Program::bare().run(&all)
}

fn eval_table(arguments: &[&str]) -> Answer {
    let mut all = vec!["--name", "name", "--type", "type", "--truth", "thing", "--id", "number", "--attribute", "city"];
    all.extend(arguments);
    eval(&fixture("eval.csv"), &all)
}

#[track_caller]
fn check(figures: &Value, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        assert_eq!(figures[name].as_f64(), Some(*value), "{name} in {figures:#}");
    }
}

#[test]
fn a_table_is_measured_over_its_final_clusters() {
    // One row has no name: it is named by its line and left out, and the exit code says so.
    let answer = eval_table(&[]).expect(5);
    assert!(answer.stderr.contains("line 18: a name and a type are expected"), "{}", answer.stderr);
    let figures = answer.json();
    check(
        &figures,
        &[("records", 15.0), ("true_pairs", 4.0), ("merged_pairs", 3.0), ("precision", 1.0), ("recall", 0.75)],
    );
    // Two Georgias stay two; of the pairs that stay two a person sees why.
    check(&figures, &[("f1", 0.8571), ("homograph_split_rate", 1.0)]);
    check(&figures["kept_apart"], &[("vetoed", 3.0), ("unsupported", 1.0)]);
}

#[test]
fn json_lines_are_measured_with_their_edges_and_without_what_is_retired() {
    let truth = fixture("eval_truth.tsv").display().to_string();
    let figures = eval(&fixture("eval.jsonl"), &["--truth", &truth]).expect(0).json();
    // "M. Curie" meets "Marie Skłodowska-Curie" by a neighbour that both have.
    check(&figures, &[("records", 8.0), ("merged_pairs", 2.0), ("precision", 1.0), ("recall", 1.0)]);
}

#[test]
fn vectors_in_a_file_of_their_own_must_be_whole_and_one_per_entity() {
    let program = Program::bare();
    let truth = fixture("eval_truth.tsv").display().to_string();
    let lines = fixture("eval.jsonl").display().to_string();
    let vectors = program.path("v.f16");
    for (vectors_written, code) in [(9, 0), (8, 1), (10, 1)] {
        std::fs::write(&vectors, [0, 60, 0, 0].repeat(vectors_written)).unwrap();
        let vectors = vectors.display().to_string();
        let arguments =
            ["eval", "dedupe", &lines, "--truth", &truth, "--embeddings", &vectors, "--dimension", "2", "--model", "m"];
        program.run(&arguments).expect(code);
    }
}

#[test]
fn a_floor_that_is_not_reached_fails_the_check() {
    eval_table(&["--precision-min", "1", "--recall-min", "0.75"]).expect(5);
    eval_table(&["--recall-min", "0.76"]).expect(7);
}

#[test]
fn a_set_where_nothing_is_merged_fails() {
    // With the number as its type no record is like another.
    let answer = eval(&fixture("eval.csv"), &["--name", "name", "--type", "number", "--truth", "thing"]).expect(7);
    check(&answer.json(), &[("merged_pairs", 0.0)]);
    assert_eq!(answer.json()["precision"], Value::Null);
}

#[test]
fn the_configured_threshold_is_the_one_that_is_measured_with() {
    let program = Program::bare();
    let lines: Vec<String> = (1..=2)
        .map(|number| {
            let name = if number == 1 { "Henrietta Vance" } else { "H. Vance" };
            let id = format!("48140776-f36b-40e5-8e98-a60e4a59457{number}");
            let vector = if number == 1 { "[1.0, 0.0]" } else { "[0.95, 0.3]" };
            format!(r#"{{"kind": "entity", "id": "{id}", "name": "{name}", "entity_type": "PERSON", "embedding": {vector}, "embedding_model": "m"}}"#)
        })
        .collect();
    let (file, truth) = (program.path("two.jsonl"), program.path("two.tsv"));
    std::fs::write(&file, lines.join("\n")).unwrap();
    std::fs::write(&truth, "48140776-f36b-40e5-8e98-a60e4a594571\ta\n48140776-f36b-40e5-8e98-a60e4a594572\ta\n")
        .unwrap();
    for (threshold, code) in [("0.90", 0), ("0.99", 7)] {
        let mut program = Program::bare();
        program.set("KHORA_DREAM_DEDUPE_ENTITIES_DEFAULT_THRESHOLD", threshold);
        let arguments = ["eval", "dedupe", file.to_str().unwrap(), "--truth", truth.to_str().unwrap()];
        program.run(&arguments).expect(code);
    }
}

#[test]
fn two_tables_are_measured_by_the_pairs_between_them() {
    let program = Program::bare();
    for (name, text) in [
        ("one.csv", "id%title\n0%Cargo of the Night Trains\n1%A Study in Rust\n"),
        ("two.csv", "id%title\n0%A study in rust.\n1%Letters from the Coast\n"),
        ("pairs.csv", "one%two\n1%0\n"),
        ("wrong.csv", "one%two\n1%7\n"),
    ] {
        std::fs::write(program.path(name), text).unwrap();
    }
    let run = |pairs: &str| {
        let base =
            ["eval", "dedupe", "one.csv", "--also", "two.csv", "--delimiter", "%", "--id", "id", "--name", "title"];
        program.run(&[&base[..], &["--fixed-type", "PAPER", "--json", "--pairs", pairs]].concat())
    };
    check(
        &run("pairs.csv").expect(0).json(),
        &[("records", 4.0), ("true_pairs", 1.0), ("precision", 1.0), ("recall", 1.0)],
    );
    assert!(run("wrong.csv").expect(1).stderr.contains("row 1: expected an id of each table"));
}

#[test]
fn the_real_sets_reach_their_floors_under_the_defaults() {
    let Some(folder) = real_data("the floors of dedupe") else { return };
    let companies = folder.join("companies_dev.jsonl");
    let truth = folder.join("companies_dev_truth.tsv").display().to_string();
    let vectors = folder.join("companies_dev_embeddings.f16").display().to_string();
    let with_vectors = ["--embeddings", &vectors, "--dimension", "384", "--model", "all-MiniLM-L6-v2"];
    let floors = ["--truth", &truth, "--precision-min", "0.95", "--recall-min", "0.12"];
    eval(&companies, &[&floors[..], &with_vectors].concat()).expect(0);
    let columns = ["--name", "mention", "--type", "entity_type", "--truth", "entity_id"];
    let floors = ["--precision-min", "0.85", "--recall-min", "0.30"];
    eval(&folder.join("er_kg_bench.csv"), &[&columns[..], &floors].concat()).expect(0);
}
