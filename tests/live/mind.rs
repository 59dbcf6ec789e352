//! A dream over a space in server mode, on Temporal and PostgreSQL: the worker asks its own model, and neither the history nor
//! the log holds memory or the key.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dream_core::realm::space::fact::DreamMode;
use dream_core::run::DreamInput;
use prost::Message as _;
use serde_json::json;
use temporalio_client::WorkflowFetchHistoryOptions;

use crate::lab::{Lab, eventually, result};
use crate::support::model::{Dialect, Model, Say};

/// Texts that must be in no history and no log.
const SECRETS: [&str; 3] = ["canary-quokka", "works at night", "sk-canary-key"];

/// A lab whose workers know a model, and a space in server mode.
async fn lab(model: &Model) -> (Lab, String) {
    let mut lab = Lab::new().await;
    lab.program.set("DREAM_MIND_PROVIDER", "openai");
    lab.program.set("DREAM_MIND_MODEL", "a-model");
    lab.program.set("DREAM_MIND_URL", &format!("{}/v1", model.address));
    lab.program.set("DREAM_MIND_KEY", SECRETS[2]);
    lab.program.set("RUST_LOG", "debug");
    lab.program.run(&["migrate", "--realm", "space"]).expect(0);
    let made = lab.program.run(&["spaces", "create", "--name", "me", "--time-zone", "Europe/Vienna"]).expect(0);
    let space = made.stdout.trim().to_owned();
    for text in [SECRETS[0], "Canary-Quokka", SECRETS[1]] {
        lab.program.run(&["facts", "add", "--space", &space, text]).expect(0);
    }
    (lab, space)
}

/// An answer that moves a fact and writes a text.
fn answer(asked: &crate::support::model::Asked) -> Say {
    let input = asked.input();
    let facts = input["memory"]["facts"].as_array().unwrap();
    let id = &facts.iter().find(|fact| fact["text"] == SECRETS[1]).unwrap()["id"];
    let profile = format!("Knows a {}.", SECRETS[0]);
    Say::Words(json!({ "promotions": [{ "fact_id": id, "tier": "core" }], "profile": profile }).to_string())
}

fn input(space: &str) -> DreamInput {
    DreamInput { mind: Some(DreamMode::Server), ..DreamInput::of_space(space.to_owned()) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workers_own_model_answers_and_the_history_holds_neither_memory_nor_key() {
    let model = Model::start(Dialect::OpenAi, |before, asked| match before {
        0 => Say::Status(500, vec![]),
        1 => Say::Words(format!("[{}]", asked.input())),
        _ => answer(asked),
    });
    let (lab, space) = lab(&model).await;
    let worker = lab.worker(&[]);
    let handle = lab.start(input(&space)).await;
    let reported = result(&handle).await.unwrap();
    assert_eq!(reported.state.to_string(), "completed");
    let run = lab.program.run(&["report", &reported.run_id, "--json"]).expect(0).json();
    assert_eq!((&run["report"]["updates"], &run["report"]["model"]["calls"]), (&json!(2), &json!(3)), "{run:#}");
    assert_eq!(run["report"]["model"]["tokens_input"], 240, "{run:#}");
    let events = handle.fetch_history(WorkflowFetchHistoryOptions::default()).into_events().await.unwrap();
    // Payloads are bytes; what they say stands in the encoded event as it is.
    let encoded = events.iter().map(|event| String::from_utf8_lossy(&event.encode_to_vec()).to_lowercase());
    let told = encoded.collect::<String>() + &worker.log().to_lowercase();
    for secret in SECRETS {
        assert!(!told.contains(secret), "{secret} is told");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_while_its_model_thinks_is_followed_by_one_that_asks_again() {
    let is_free = Arc::new(AtomicBool::new(false));
    let known = is_free.clone();
    let model = Model::start(
        Dialect::OpenAi,
        move |_, asked| {
            if known.load(Ordering::SeqCst) { answer(asked) } else { Say::Nothing }
        },
    );
    let (lab, space) = lab(&model).await;
    let worker = lab.worker(&[]);
    let handle = lab.start(input(&space)).await;
    eventually("the model is asked", || (model.asked().len() == 1).then_some(()));
    worker.kill();
    is_free.store(true, Ordering::SeqCst);
    let _other = lab.worker(&[]);
    let reported = result(&handle).await.unwrap();
    assert_eq!((reported.state.to_string(), model.asked().len()), ("completed".to_owned(), 2));
    let run = lab.program.run(&["report", &reported.run_id, "--json"]).expect(0).json();
    assert_eq!((&run["report"]["updates"], &run["report"]["model"]["calls"]), (&json!(2), &json!(2)), "{run:#}");
    assert!(run["report"]["model"]["tokens_reserved"].as_u64().unwrap() > 16_384, "the call that died counts: {run:#}");
}
