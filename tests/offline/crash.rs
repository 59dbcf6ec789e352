//! kill -9 of the local engine, anywhere: the run goes on where it was, and the store ends as an undisturbed run's.

use std::time::{Duration, Instant};

use crate::spaces;
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
        let started = Instant::now();
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

/// Runs a command that is killed at moments given by the seed, within what it took when it was left alone, and given again
/// until it ends; answers how often it was killed.
fn insist(program: &Program, chance: &mut Chance, took: Duration, arguments: &[&str], code: i32) -> u64 {
    // A little beyond its end, so that it comes to it.
    let micros = u64::try_from(took.as_micros()).unwrap() * 5 / 4;
    for kills in 0..KILLS_MAX {
        let mut child = program.start(arguments);
        let patience = Duration::from_micros(chance.below(micros));
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(code), "{arguments:?}: {:?}", child.wait_with_output().unwrap());
                return kills;
            }
            if started.elapsed() >= patience {
                break;
            }
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    panic!("{arguments:?} made no progress under {KILLS_MAX} kills");
}

/// A dream over a space from begin to report: its two commands, each carried out by `end` up to the exit code that it names.
fn dream_over_space(program: &Program, store: &str, space: &str, mut end: impl FnMut(usize, &[&str], i32)) {
    let run = ["run", "space", "--space", space, "--store", store, "--on", "local", "--run-id", RUN];
    let file = program.path("answer.json");
    let submit = ["job", "submit", RUN, "--result", file.to_str().unwrap(), "--store", store];
    // The same command with the same id goes on with the run; 6: it waits for an answer.
    end(0, &run, 6);
    let job = program.run(&["job", "next", "--space", space, "--store", store]).expect(0).json();
    std::fs::write(&file, spaces::answer(&job["job"])).unwrap();
    end(1, &submit, 0);
}

#[test]
fn a_dream_over_a_space_that_is_killed_again_and_again_ends_like_one_that_was_left_alone() {
    let program = Program::bare();
    let space = spaces::lived_in_again(&program, "calm-space.db");
    let before = spaces::timeless_content(&program, &space, "calm-space.db");
    let mut took = [Duration::ZERO; 2];
    dream_over_space(&program, "calm-space.db", &space, |which, arguments, code| {
        let started = Instant::now();
        program.run(arguments).expect(code);
        took[which] = started.elapsed();
    });
    let expected = spaces::timeless_content(&program, &space, "calm-space.db");
    assert_ne!(expected, before);
    let mut kills = 0;
    for seed in 0..rounds() {
        let store = format!("space-{seed}.db");
        let space = spaces::lived_in_again(&program, &store);
        let mut chance = Chance(seed + 77);
        dream_over_space(&program, &store, &space, |which, arguments, code| {
            kills += insist(&program, &mut chance, took[which], arguments, code);
        });
        assert_eq!(spaces::timeless_content(&program, &space, &store), expected, "seed {seed}");
        program.run(&["undo", "--run", RUN, "--store", &store]).expect(0);
        assert_eq!(spaces::timeless_content(&program, &space, &store), before, "seed {seed}");
    }
    assert!(kills > rounds(), "the dreams were really disturbed: {kills}");
}
