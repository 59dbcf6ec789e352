//! A model that answers late, broken or never, and processes that die while it is asked: nothing is counted for less than it
//! took, nothing is repeated without end, and neither memory nor key is told.

use std::process::Child;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::SqlitePool;

use crate::mind::{KEY, good, knowing, notes, words};
use crate::spaces::{add, content, create, dream, lived_in};
use crate::support::model::{Dialect, Model, Say};
use crate::support::program::Program;

/// The id of the run, so that it is known before it ends.
const RUN: &str = "01900000-0000-7000-8000-000000000002";

/// How long a test waits for what should come soon.
const PATIENCE: Duration = Duration::from_mins(2);

/// Dreams in server mode over a space that was lived in, and answers the run.
fn dream_with(model: &Model, settings: &[(&str, &str)]) -> Value {
    let mut program = knowing(model);
    settings.iter().for_each(|(name, value)| program.set(name, value));
    let space = lived_in(&program);
    let done = dream(&program, &space, &["--mode", "server"]).expect(0).json();
    assert_eq!(done["report"]["housekeeping"]["duplicates"], 1, "{done:#}");
    done
}

/// A run that came to its housekeeping and no further.
#[track_caller]
fn assert_housekeeping_only(run: &Value, why: &str) {
    assert_eq!((&run["status"], &run["report"]["updates"]), (&json!("done"), &json!(0)), "{run:#}");
    let notes = notes(run);
    assert!(notes.contains(why) && notes.contains("so there was housekeeping only"), "{notes}");
}

fn counted_for_nothing(run: &Value) -> u64 {
    run["report"]["model"]["tokens_reserved"].as_u64().unwrap()
}

#[test]
fn an_answer_that_comes_late_is_waited_for_within_its_time() {
    let model = Model::start(Dialect::OpenAi, |_, asked| Say::Late(Duration::from_millis(700), words(asked)));
    let done = dream_with(&model, &[("DREAM_MIND_TIMEOUT_SECONDS", "60")]);
    assert_eq!((&done["report"]["merges"], model.asked().len()), (&json!(1), 1), "{done:#}");
}

#[test]
fn a_model_that_never_answers_is_asked_three_times_and_counts_as_if_it_had() {
    let model = Model::start(Dialect::OpenAi, |_, _| Say::Nothing);
    let done = dream_with(&model, &[("DREAM_MIND_TIMEOUT_SECONDS", "1")]);
    assert_housekeeping_only(&done, "the model did not answer within 1 s; it was asked 3 times");
    assert_eq!(model.asked().len(), 3);
    assert!(counted_for_nothing(&done) > 3 * 16_384, "{done:#}");
}

#[test]
fn an_answer_that_breaks_off_on_its_way_is_asked_for_again() {
    let model = Model::start(Dialect::OpenAi, |before, asked| match before {
        0 => Say::HangUp(words(asked)),
        1 => Say::Document(json!({ "quokka": 1 })),
        _ => good(asked),
    });
    let done = dream_with(&model, &[]);
    assert_eq!((&done["report"]["merges"], model.asked().len()), (&json!(1), 3), "{done:#}");
    assert!(counted_for_nothing(&done) > 2 * 16_384, "what broke off may have been paid for: {done:#}");
    assert!(!notes(&done).contains("quokka"), "{}", notes(&done));
}

#[test]
fn a_model_that_fails_is_asked_three_times_in_all() {
    let model = Model::start(Dialect::OpenAi, |_, _| Say::Status(503, vec![]));
    let done = dream_with(&model, &[]);
    assert_housekeeping_only(&done, "the model failed (status 503); it was asked 3 times");
    assert_eq!(model.asked().len(), 3);
}

#[test]
fn a_model_that_is_busy_is_left_alone_for_as_long_as_it_says() {
    let asked_at = Arc::new(Mutex::new(Vec::new()));
    let known = asked_at.clone();
    let model = Model::start(Dialect::OpenAi, move |before, asked| {
        known.lock().unwrap().push(Instant::now());
        if before == 0 { Say::Status(429, vec![("retry-after", "2".to_owned())]) } else { good(asked) }
    });
    let done = dream_with(&model, &[]);
    assert_eq!((&done["report"]["merges"], counted_for_nothing(&done)), (&json!(1), 0), "{done:#}");
    let asked_at = asked_at.lock().unwrap();
    assert!(asked_at[1] - asked_at[0] >= Duration::from_secs(2), "it was asked again before it said");
}

#[test]
fn a_model_that_is_busy_and_does_not_say_for_how_long_is_asked_again_soon() {
    let model =
        Model::start(Dialect::OpenAi, |before, asked| if before == 0 { Say::Status(429, vec![]) } else { good(asked) });
    let done = dream_with(&model, &[]);
    assert_eq!((&done["report"]["merges"], model.asked().len()), (&json!(1), 2), "{done:#}");
}

#[test]
fn a_model_that_wants_to_be_left_alone_for_long_is_asked_tomorrow() {
    let model = Model::start(Dialect::OpenAi, |_, _| Say::Status(429, vec![("retry-after", "3600".to_owned())]));
    let done = dream_with(&model, &[]);
    assert_housekeeping_only(&done, "wants to be left alone for 3600 s");
    assert_eq!((model.asked().len(), counted_for_nothing(&done)), (1, 0));
}

#[test]
fn a_refusal_is_taken_at_its_word_and_a_redirect_is_not_followed() {
    for status in [401, 404, 307] {
        let elsewhere = Model::start(Dialect::OpenAi, |_, asked| good(asked));
        let location = format!("{}/v1/chat/completions", elsewhere.address);
        let model =
            Model::start(Dialect::OpenAi, move |_, _| Say::Status(status, vec![("location", location.clone())]));
        let done = dream_with(&model, &[]);
        assert_housekeeping_only(&done, &format!("the model refused (status {status})"));
        assert_eq!((model.asked().len(), elsewhere.asked().len()), (1, 0));
    }
}

#[test]
fn a_model_that_nobody_serves_costs_nothing() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = Model::start(Dialect::OpenAi, |_, asked| good(asked));
    let done = dream_with(&model, &[("DREAM_MIND_URL", &format!("http://{gone}/v1"))]);
    assert_housekeeping_only(&done, "the model cannot be reached; it was asked 3 times");
    assert_eq!(counted_for_nothing(&done), 0, "{done:#}");
}

#[test]
fn neither_memory_nor_key_is_in_what_a_command_says_whatever_the_model_does() {
    let model = Model::start(Dialect::OpenAi, |before, asked| match before {
        // A server that repeats the question in its refusal, as many do.
        0 => Say::Status(500, vec![("retry-after", "0".to_owned())]),
        1 => Say::Words(format!("[{}]", asked.input())),
        2 => Say::Document(asked.input()),
        _ => Say::Status(400, vec![]),
    });
    let program = knowing(&model);
    let space = lived_in(&program);
    let done = dream(&program, &space, &["--mode", "server"]).expect(0);
    assert_eq!(model.asked().len(), 4);
    for secret in [KEY, "green tea", "works at night"] {
        assert!(!done.stderr.contains(secret) && !done.stdout.contains(secret), "{secret} is told");
    }
    assert!(done.stdout.contains("status 500"), "trouble is told: {}", done.stdout);
}

/// Waits until something is so.
#[track_caller]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

fn start(program: &Program, space: &str) -> Child {
    program.start(&["run", "space", "--space", space, "--on", "local", "--mode", "server", "--run-id", RUN, "--json"])
}

/// The same command with the same id goes on with the run.
fn go_on(program: &Program, space: &str) -> Value {
    dream(program, space, &["--mode", "server", "--run-id", RUN]).expect(0).json()
}

async fn database(program: &Program) -> SqlitePool {
    let path = program.path("dream.db");
    SqlitePool::connect(&format!("sqlite://{}", path.display())).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_kept_before_its_process_was_killed_is_paid_for_once() {
    let model = Model::start(Dialect::OpenAi, |_, asked| good(asked));
    let program = knowing(&model);
    let space = lived_in(&program);
    // Taking the answer in lasts for ever from here on, so that the kill hits between the two.
    let database = database(&program).await;
    for statement in [
        "create view endless as with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) as x from n",
        "create trigger block before insert on dream_job_answer begin select x from endless; end",
    ] {
        sqlx::query(statement).execute(&database).await.unwrap();
    }
    let mut child = start(&program, &space);
    let mut kept = 0;
    let begun = Instant::now();
    while kept == 0 {
        assert!(begun.elapsed() < PATIENCE, "the answer is kept");
        kept = sqlx::query_scalar("select count(*) from dream_mind_answer").fetch_one(&database).await.unwrap();
        tokio::task::yield_now().await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    for statement in ["drop trigger block", "drop view endless"] {
        sqlx::query(statement).execute(&database).await.unwrap();
    }
    let done = go_on(&program, &space);
    assert_eq!((&done["status"], &done["report"]["merges"]), (&json!("done"), &json!(1)), "{done:#}");
    assert_eq!(model.asked().len(), 1, "it is not asked again");
    let taken = &done["report"]["model"];
    assert_eq!((&taken["calls"], &taken["reused"], &taken["tokens_reserved"]), (&json!(1), &json!(1), &json!(0)));
    let left: i64 = sqlx::query_scalar("select count(*) from dream_mind_answer").fetch_one(&database).await.unwrap();
    assert_eq!(left, 0, "what was kept goes with its run");
}

#[test]
fn a_call_whose_process_was_killed_goes_on_counting_and_is_made_again() {
    // Whether the provider was paid for what nobody received, nobody can say: it counts.
    let model = Model::start(Dialect::OpenAi, |before, asked| if before == 0 { Say::Nothing } else { good(asked) });
    let program = knowing(&model);
    let space = lived_in(&program);
    let mut child = start(&program, &space);
    eventually("the model is asked", || model.asked().len() == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let done = go_on(&program, &space);
    assert_eq!((&done["report"]["merges"], model.asked().len()), (&json!(1), 2), "{done:#}");
    let taken = &done["report"]["model"];
    assert_eq!((&taken["calls"], &taken["reused"]), (&json!(2), &json!(0)), "{done:#}");
    assert!(counted_for_nothing(&done) > 16_384, "{done:#}");
}

#[test]
fn what_is_forgotten_while_the_model_thinks_is_not_brought_back_by_its_answer() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let held = gate.clone();
    let model = Model::start(Dialect::OpenAi, move |_, asked| {
        let open = held.0.lock().unwrap();
        drop(held.1.wait_timeout_while(open, PATIENCE, |is_open| !*is_open).unwrap());
        good(asked)
    });
    let program = knowing(&model);
    let space = lived_in(&program);
    let fact = add(&program, &space, "has a quokka", &[]);
    let child = start(&program, &space);
    eventually("the model is asked", || model.asked().len() == 1);
    program.run(&["facts", "forget", &fact, "--space", &space]).expect(0);
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    let output = child.wait_with_output().unwrap();
    let done: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_housekeeping_only(&done, "something was forgotten while the model was asked");
    assert_eq!(done["report"]["model"]["tokens_input"], 120, "it was paid for: {done:#}");
    assert!(!content(&program, &space).contains("quokka"));
}

#[test]
fn a_run_that_is_cancelled_while_the_model_thinks_ends_at_once() {
    let model = Model::start(Dialect::OpenAi, |_, _| Say::Nothing);
    let mut program = knowing(&model);
    program.set("DREAM_MIND_TIMEOUT_SECONDS", "600");
    let space = create(&program, "server");
    add(&program, &space, "likes tea", &[]);
    let child = start(&program, &space);
    eventually("the model is asked", || model.asked().len() == 1);
    program.run(&["cancel", RUN]).expect(0);
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let report = program.run(&["report", RUN, "--json"]).json();
    assert_eq!(report["status"], "abandoned", "{report:#}");
    assert_eq!(model.asked().len(), 1);
    assert!(counted_for_nothing(&report) > 16_384, "{report:#}");
}
