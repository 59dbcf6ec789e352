//! Runs: what a person starts, and what refuses.

use crate::support::program::{Program, count, run_id};
use crate::support::world::{NAMESPACE, World};

#[test]
fn the_demo_works_twice_in_one_folder_and_says_how_to_go_on() {
    let program = Program::bare();
    for _ in 0..2 {
        let demo = program.run(&["demo"]).expect(0);
        for expected in ["Marie Skłodowska-Curie", "undo --run", "undo --op", "run graph", "report:", "kept apart"] {
            assert!(demo.stdout.contains(expected), "{expected} is missing in\n{}", demo.stdout);
        }
        assert!(!demo.stdout.contains("failed"), "{}", demo.stdout);
    }
}

#[test]
fn every_command_that_the_demo_prints_works_as_it_stands() {
    let program = Program::bare();
    let demo = program.run(&["demo"]).expect(0).stdout;
    let commands: Vec<Vec<&str>> = demo
        .lines()
        .filter_map(|line| line.split_once("dream ").map(|(_, command)| command))
        .filter(|command| command.contains("--store dream-demo"))
        .map(|command| command.split_whitespace().collect())
        .collect();
    assert!(commands.len() >= 4, "{demo}");
    for command in commands {
        program.run(&command).expect(0);
    }
}

#[test]
fn a_run_is_switched_off_until_somebody_switches_it_on() {
    let program = Program::bare();
    program.import("a.db", NAMESPACE, &World::new(20).lines());
    let run = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local"];
    let refused = program.run(&run).expect(4);
    assert!(refused.stderr.contains("DREAM-1001 DreamDisabledError"), "{}", refused.stderr);
    let enabled = program.run(&[&run[..], &["--enable"]].concat()).expect(0);
    assert!(enabled.stderr.contains("switched off"), "--enable is said aloud: {}", enabled.stderr);
}

#[test]
fn the_same_data_gives_the_same_plan_whatever_the_order_of_the_rows() {
    let program = Program::new();
    let world = World::new(300);
    let hashes: Vec<String> = (0..3)
        .map(|seed| {
            let store = format!("{seed}.db");
            let lines = if seed == 0 { world.lines() } else { world.shuffled(seed) };
            program.import(&store, NAMESPACE, &lines);
            program.dream(&store, NAMESPACE, &[])["plan_hash"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

#[test]
fn a_sealed_plan_is_carried_out_and_another_one_is_refused() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(100).lines());
    let dry = program.dream("a.db", NAMESPACE, &[]);
    let other = "0".repeat(64);
    let arguments = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local", "--mode", "apply"];
    let refused = program.run(&[&arguments[..], &["--expected-plan-hash", &other]].concat()).expect(4);
    assert!(refused.stderr.contains("DreamPlanChanged"), "{}", refused.stderr);
    let hash = dry["plan_hash"].as_str().unwrap();
    let more = ["--mode", "apply", "--plan-of", &run_id(&dry), "--expected-plan-hash", hash];
    let applied = program.dream("a.db", NAMESPACE, &more);
    assert_eq!(applied["plan_hash"], dry["plan_hash"]);
    assert!(count(&applied, "applied") > 10, "{applied}");
    let again = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    assert_eq!(count(&again, "applied"), 0, "a second run finds nothing left: {again}");
}

#[test]
fn runs_that_start_together_never_overlap() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(400).lines());
    let row_id =
        program.run(&["namespaces", "--store", "a.db", "--json"]).json()[0]["row_id"].as_str().unwrap().to_owned();
    let children: Vec<_> = (0..6)
        .map(|number| {
            let namespace = if number % 2 == 0 { NAMESPACE } else { row_id.as_str() };
            program.start(&[
                "run",
                "graph",
                "--namespace",
                namespace,
                "--store",
                "a.db",
                "--on",
                "local",
                "--mode",
                "apply",
            ])
        })
        .collect();
    let mut refused = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(4) => {
                assert!(stderr.contains("DreamLockUnavailable") && stderr.contains("run "), "{stderr}");
                refused += 1;
            }
            other => panic!("{other:?}: {stderr}"),
        }
    }
    let runs = program.run(&["history", "--store", "a.db", "--json"]).json();
    let runs = runs.as_array().unwrap();
    assert_eq!(runs.len() + refused, 6);
    let mut spans: Vec<(&str, &str)> =
        runs.iter().map(|run| (run["started_at"].as_str().unwrap(), run["finished_at"].as_str().unwrap())).collect();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
}

#[test]
fn the_kill_switch_stops_applying_and_nothing_else() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(50).lines());
    program.run(&["stop", "--why", "ingest is being moved", "--by", "ops", "--store", "a.db"]).expect(0);
    let apply = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local", "--mode", "apply"];
    let refused = program.run(&apply).expect(4);
    assert!(refused.stderr.contains("DreamApplyDisabled") && refused.stderr.contains("by ops"), "{}", refused.stderr);
    program.dream("a.db", NAMESPACE, &[]);
    assert!(program.run(&["history", "--store", "a.db", "--json"]).json().as_array().unwrap().len() == 1);
    program.run(&["go", "--store", "a.db"]).expect(0);
    program.run(&apply).expect(0);
}

#[test]
fn a_namespace_that_must_not_be_written_is_dreamt_over_and_not_changed() {
    let mut program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(50).lines());
    program.set("KHORA_DREAM_READ_ONLY_NAMESPACES", NAMESPACE);
    let before = program.content("a.db", NAMESPACE);
    let apply = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local", "--mode", "apply"];
    let refused = program.run(&apply).expect(4);
    assert!(refused.stderr.contains("DreamForbiddenOpError"), "{}", refused.stderr);
    program.dream("a.db", NAMESPACE, &[]);
    assert_eq!(program.content("a.db", NAMESPACE), before);
}

#[test]
fn bad_input_is_named_by_its_field_and_never_repeated() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(10).lines());
    let cases: [(&[&str], &str); 6] = [
        (&["--namespace", "canary-namespace"], "namespace: expected a UUID"),
        (&["--namespace", "22222222-2222-4222-8222-222222222222"], "no active namespace"),
        (&["--namespace", NAMESPACE, "--ops", "dream_reabsorb,canary-op"], "ops: entry 2"),
        (
            &["--namespace", NAMESPACE, "--since", "2026-02-02T00:00:00Z", "--until", "2026-02-01T00:00:00Z"],
            "since must lie before until",
        ),
        (&["--namespace", NAMESPACE, "--plan-of", NAMESPACE], "plan_of: "),
        (&["--namespace", NAMESPACE, "--mode", "apply", "--plan-of", NAMESPACE], "no run has the id"),
    ];
    for (arguments, expected) in cases {
        let answer = program.run(&[&["run", "graph", "--store", "a.db", "--on", "local"][..], arguments].concat());
        assert_ne!(answer.code, 0);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
        assert!(!answer.stderr.contains("canary"), "{}", answer.stderr);
    }
}

#[test]
fn no_memory_text_reaches_the_log_or_a_redacted_report() {
    let mut program = Program::new();
    let mut world = World::new(60);
    for (number, entity) in world.entities.iter_mut().enumerate() {
        entity["description"] = format!("CANARY description {number}").into();
        entity["attributes"] = serde_json::json!({ "secret": format!("CANARY attribute {number}") });
        let name = format!("{} CANARY", entity["name"].as_str().unwrap());
        entity["name"] = name.into();
    }
    program.import("a.db", NAMESPACE, &world.lines());
    program.set("KHORA_DREAM_REDACT_TEXT", "all");
    program.set("RUST_LOG", "debug");
    let run = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local", "--mode", "apply"];
    let answer = program.run(&run).expect(0);
    assert!(!answer.stderr.contains("CANARY") && !answer.stdout.contains("CANARY"));
    let mut files = 0;
    let mut folders = vec![program.path("reports")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains("CANARY"), "{}", path.display());
            }
        }
    }
    assert_eq!(files, 4);
}

#[test]
fn old_runs_go_with_their_reports() {
    let mut program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(20).lines());
    for _ in 0..4 {
        program.dream("a.db", NAMESPACE, &[]);
    }
    program.set("KHORA_DREAM_RETENTION_RUNS_PER_NAMESPACE", "1");
    program.run(&["sweep", "--store", "a.db"]).expect(0);
    let left = program.run(&["history", "--store", "a.db", "--json"]).json();
    assert_eq!(left.as_array().unwrap().len(), 1);
    let report = left[0]["report_path"].as_str().unwrap();
    let folder = std::path::Path::new(report).parent().unwrap();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 4, "one report is left");
    program.run(&["sweep", "--store", "a.db"]).expect(3);
}

#[test]
fn the_demo_leaves_alone_what_is_not_its_own() {
    let program = Program::new();
    std::fs::create_dir(program.path("mine")).unwrap();
    program.import("mine/memories.db", NAMESPACE, &World::new(5).lines());
    let before = program.content("mine/memories.db", NAMESPACE);
    let refused = program.run(&["demo", "--dir", "mine"]).expect(1);
    assert!(refused.stderr.contains("is left alone"), "{}", refused.stderr);
    assert_eq!(program.content("mine/memories.db", NAMESPACE), before);
}

#[test]
fn a_run_goes_on_as_it_was_begun_or_not_at_all() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(40).lines());
    let review = ["run", "graph", "--namespace", NAMESPACE, "--store", "a.db", "--on", "local", "--json"];
    let waiting = program.run(&[&review[..], &["--mode", "review"]].concat()).expect(6).json();
    let run = run_id(&waiting);
    program.run(&["approve", &run, "--store", "a.db"]).expect(0);
    let before = program.content("a.db", NAMESPACE);
    let resume = [&review[..], &["--resume", &run]].concat();
    let refused = program.run(&[&resume[..], &["--mode", "dry-run"]].concat()).expect(4);
    assert!(refused.stderr.contains("was begun in the mode review"), "{}", refused.stderr);
    let refused = program.run(&[&resume[..], &["--expected-plan-hash", &"0".repeat(64)]].concat()).expect(4);
    assert!(refused.stderr.contains("DREAM-1006"), "{}", refused.stderr);
    assert_eq!(program.content("a.db", NAMESPACE), before);
    program.run(&resume).expect(0);
}
