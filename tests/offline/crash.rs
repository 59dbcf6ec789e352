//! kill -9 of the local engine, anywhere: the run goes on where it was, and the store ends as an undisturbed run's.

use std::time::Duration;

use crate::support::program::{Program, count};
use crate::support::world::{Chance, NAMESPACE, World, timeless};

/// The id of the run, so that both stores get the same op ids.
const RUN: &str = "01900000-0000-7000-8000-000000000001";

/// Kills per round at most; a run that is killed more often than this makes no progress.
const KILLS_MAX: u64 = 200;

fn rounds() -> u64 {
    if std::env::var("DREAM_TEST_PROFILE").is_ok_and(|profile| profile == "long") { 40 } else { 6 }
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_like_one_that_was_left_alone() {
    let program = Program::new();
    let lines = World::new(1_500).lines();
    program.import("calm.db", NAMESPACE, &lines);
    let calm = program.dream("calm.db", NAMESPACE, &["--mode", "apply", "--run-id", RUN]);
    let expected = timeless(&program.content("calm.db", NAMESPACE));
    let mut kills = 0;
    for seed in 0..rounds() {
        let store = format!("{seed}.db");
        program.import(&store, NAMESPACE, &lines);
        kills += disturbed(&program, &store, seed);
        let status = program.run(&["status", RUN, "--store", &store, "--json"]).json();
        assert_eq!(status["run"]["state"], "completed", "seed {seed}");
        assert_eq!(timeless(&program.content(&store, NAMESPACE)), expected, "seed {seed}");
        let applied: u64 =
            status["ops"].as_object().unwrap().values().map(|states| states["applied"].as_u64().unwrap_or(0)).sum();
        assert_eq!(applied, count(&calm, "applied"), "seed {seed}: no op twice, none lost");
        program.run(&["undo", "--run", RUN, "--store", &store]).expect(0);
    }
    assert!(kills > rounds(), "the runs were really disturbed");
}

/// Runs to the end, with kills at moments given by the seed; answers how often it was killed.
fn disturbed(program: &Program, store: &str, seed: u64) -> u64 {
    let mut chance = Chance(seed);
    let mut is_begun = false;
    for kills in 0..KILLS_MAX {
        let mut arguments =
            vec!["run", "graph", "--namespace", NAMESPACE, "--store", store, "--on", "local", "--mode", "apply"];
        arguments.extend(if is_begun { ["--resume", RUN] } else { ["--run-id", RUN] });
        let mut child = program.start(&arguments);
        let patience = Duration::from_millis(20 + chance.below(250));
        let started = std::time::Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "seed {seed}: {:?}", child.wait_with_output().unwrap());
                return kills;
            }
            if started.elapsed() >= patience {
                break;
            }
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        is_begun = program.run(&["status", RUN, "--store", store]).code == 0;
    }
    panic!("seed {seed}: the run made no progress under {KILLS_MAX} kills");
}
