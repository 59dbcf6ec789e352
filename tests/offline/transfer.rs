//! Import and export.

use half::f16;
use serde_json::Value;

use crate::support::program::Program;
use crate::support::world::{DIMENSION, NAMESPACE, World, id, vector};

#[test]
fn an_export_imports_into_a_store_with_the_same_content() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(100).lines());
    program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    let content = program.content("a.db", NAMESPACE);
    program.import("b.db", NAMESPACE, &content);
    assert_eq!(program.content("b.db", NAMESPACE), content);
}

#[test]
fn a_bad_line_is_named_by_its_number_and_its_neighbours_are_imported() {
    let program = Program::new();
    let world = World::new(3);
    let mut lines: Vec<String> = world.entities.iter().map(ToString::to_string).collect();
    let good = lines.len();
    lines.insert(1, r#"{"kind": "entity", "id": "cut in the mid"#.to_owned());
    lines.insert(2, String::new());
    lines.insert(3, "42".to_owned());
    lines.push(r#"{"kind": "entity", "id": "48140776-f36b-40e5-8e98-a60e4a594578", "name": "x\u0000y"}"#.to_owned());
    lines.push(
        r#"{"kind": "entity", "id": "48140776-f36b-40e5-8e98-a60e4a594579", "name": "x", "mention_count": "many"}"#
            .to_owned(),
    );
    lines.push(r#"{"kind": "dream"}"#.to_owned());
    lines.push(
        r#"{"kind": "entity", "id": "48140776-f36b-40e5-8e98-a60e4a594570", "name": "z", "canary": 1}"#.to_owned(),
    );
    lines.push(format!(
        r#"{{"kind": "relationship", "id": "{}", "source_entity_id": "{}", "target_entity_id": "{}"}}"#,
        id("edge", 9),
        id("entity", 0),
        id("nobody", 0)
    ));
    let file = program.path("bad.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    program.run(&["migrate", "--realm", "graph", "--store", "a.db"]).expect(0);
    let answer = program
        .run(&["import", "graph", file.to_str().unwrap(), "--namespace", NAMESPACE, "--store", "a.db"])
        .expect(5);
    assert!(
        answer.stdout.contains(&format!("imported {good} entities, 0 relationships, 0 chunks")),
        "{}",
        answer.stdout
    );
    let last = good + 3;
    for expected in [
        "line 2, 4: no JSON object".to_owned(),
        format!("line {}: name: no NUL character", last + 1),
        format!("line {}: mention_count: a value of another kind", last + 2),
        format!("line {}: kind: expected", last + 3),
        format!("line {}: a field is not known", last + 4),
        format!("line {}: there is no entity {}", last + 5, id("nobody", 0)),
    ] {
        assert!(answer.stderr.contains(&expected), "{expected} is missing in\n{}", answer.stderr);
    }
    assert!(!answer.stderr.contains("canary") && !answer.stderr.contains("many"), "{}", answer.stderr);
}

#[test]
fn a_name_and_type_that_exist_under_another_id_are_left_out_or_get_a_number() {
    let program = Program::new();
    let mut world = World::new(2);
    program.import("a.db", NAMESPACE, &world.lines());
    let taken = id("entity", 1);
    let twin = world.entities.iter_mut().find(|row| row["id"] == taken.to_string().as_str()).unwrap();
    twin["id"] = id("twin", 1).to_string().into();
    let file = program.path("twin.jsonl");
    std::fs::write(&file, twin.to_string()).unwrap();
    let import = ["import", "graph", file.to_str().unwrap(), "--namespace", NAMESPACE, "--store", "a.db"];
    let skipped = program.run(&import).expect(5);
    assert!(skipped.stderr.contains(&format!("under id {taken}")), "{}", skipped.stderr);
    program.run(&[&import[..], &["--on-name-clash", "suffix"]].concat()).expect(0);
    let names: Vec<String> = program
        .content("a.db", NAMESPACE)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["kind"] == "entity")
        .map(|row| row["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.iter().any(|name| name.ends_with(" (2)")), "{names:?}");
}

#[test]
fn vectors_of_a_file_of_their_own_stand_in_the_order_of_the_entity_lines() {
    let program = Program::new();
    let mut world = World::new(5);
    for entity in &mut world.entities {
        entity.as_object_mut().unwrap().retain(|field, _| !field.starts_with("embedding"));
    }
    let lines = program.path("w.jsonl");
    std::fs::write(&lines, world.lines()).unwrap();
    let bytes: Vec<u8> = (0..world.entities.len())
        .flat_map(|number| vector(number, DIMENSION))
        .flat_map(|number| f16::from_f32(number).to_le_bytes())
        .collect();
    let vectors = program.path("v.f16");
    std::fs::write(&vectors, &bytes).unwrap();
    program.run(&["migrate", "--realm", "graph", "--store", "a.db"]).expect(0);
    let import = |vectors: &std::path::Path, store: &str| {
        program.run(&[
            "import",
            "graph",
            lines.to_str().unwrap(),
            "--namespace",
            NAMESPACE,
            "--store",
            store,
            "--embeddings",
            vectors.to_str().unwrap(),
            "--dimension",
            "16",
            "--model",
            "test-16",
        ])
    };
    import(&vectors, "a.db").expect(0);
    let content = program.content("a.db", NAMESPACE);
    for (number, entity) in world.entities.iter().enumerate() {
        let row = content.lines().find(|line| line.contains(entity["id"].as_str().unwrap())).unwrap();
        let row: Value = serde_json::from_str(row).unwrap();
        assert_eq!(row["embedding_model"], "test-16");
        let expected = f64::from(f16::from_f32(vector(number, DIMENSION)[3]).to_f32());
        assert!((row["embedding"][3].as_f64().unwrap() - expected).abs() < 1e-6);
    }
    let short = program.path("short.f16");
    std::fs::write(&short, &bytes[..bytes.len() - DIMENSION * 2]).unwrap();
    program.run(&["migrate", "--realm", "graph", "--store", "b.db"]).expect(0);
    let refused = import(&short, "b.db").expect(1);
    assert!(refused.stderr.contains("and there are"), "{}", refused.stderr);
}

#[test]
fn an_export_never_takes_the_place_of_the_store_and_a_broken_one_never_that_of_a_whole_one() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(20).lines());
    std::os::unix::fs::symlink(program.path("a.db"), program.path("link.db")).unwrap();
    let before = program.content("a.db", NAMESPACE);
    for out in ["a.db", "./a.db", "a.db-wal", "a.db-shm", "link.db"] {
        let export = ["export", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--out", out];
        let refused = program.run(&export).expect(1);
        assert!(refused.stderr.contains("the store itself"), "{out}: {}", refused.stderr);
    }
    assert_eq!(program.content("a.db", NAMESPACE), before);
    let export = ["export", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--out", "whole.jsonl"];
    program.run(&export).expect(0);
    assert_eq!(std::fs::read_to_string(program.path("whole.jsonl")).unwrap(), before);
    assert!(!program.path("whole.jsonl.part").exists());
}

#[test]
fn what_can_be_read_only_once_is_not_imported_by_halves() {
    let program = Program::new();
    program.run(&["migrate", "--realm", "graph", "--store", "a.db"]).expect(0);
    let refused = program.run(&["import", "graph", "/dev/null", "--namespace", NAMESPACE, "--store", "a.db"]).expect(1);
    assert!(refused.stderr.contains("no regular file"), "{}", refused.stderr);
}

#[test]
fn a_vector_that_cannot_be_compared_is_named_by_its_line() {
    let program = Program::new();
    let world = World::new(3);
    let lines: Vec<String> = world.entities.iter().map(ToString::to_string).collect();
    std::fs::write(program.path("w.jsonl"), lines.join("\n")).unwrap();
    let numbers = [1.0, 0.0, f32::NAN, 1.0, f32::INFINITY, 0.0, 1.0, 1.0].map(f16::from_f32);
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(program.path("w.f16"), bytes).unwrap();
    program.run(&["migrate", "--realm", "graph", "--store", "a.db"]).expect(0);
    let file = program.path("w.jsonl");
    let vectors = program.path("w.f16");
    let import = ["import", "graph", file.to_str().unwrap(), "--embeddings", vectors.to_str().unwrap()];
    let more = ["--dimension", "2", "--model", "m", "--namespace", NAMESPACE, "--store", "a.db"];
    let partly = program.run(&[&import[..], &more].concat()).expect(5);
    assert!(partly.stderr.contains("line 2, 3: embedding: a number is infinite or none"), "{}", partly.stderr);
    assert_eq!(program.content("a.db", NAMESPACE).lines().count(), 2);
}
