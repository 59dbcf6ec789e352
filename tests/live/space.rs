//! A dream over a space, on Temporal and PostgreSQL: it waits for its answer holding nothing, and its history holds no memory.

use dream_core::run::DreamInput;
use serde_json::{Value, json};

use crate::lab::{Lab, history, result};

/// Text that must be in no history.
const CANARY: &str = "canary-quokka";

/// A lab with a space that has something to do for each part of a dream.
pub async fn lab() -> (Lab, String) {
    let lab = Lab::new().await;
    lab.program.run(&["migrate", "--realm", "space"]).expect(0);
    let made = lab.program.run(&["spaces", "create", "--name", "me", "--time-zone", "Europe/Vienna"]).expect(0);
    let space = made.stdout.trim().to_owned();
    for text in [CANARY, "Canary-Quokka", "works at night", "is over"] {
        let mut arguments = vec!["facts", "add", "--space", &space, text];
        if text == "is over" {
            arguments.extend(["--expires-at", "2026-01-01T00:00:00Z"]);
        }
        lab.program.run(&arguments).expect(0);
    }
    (lab, space)
}

/// Everything that a space holds.
pub fn content(lab: &Lab, space: &str) -> String {
    lab.program.run(&["export", "space", "--space", space]).expect(0).stdout
}

/// An answer that moves a fact and writes two texts.
pub fn answer(job: &Value) -> String {
    let facts = job["input"]["memory"]["facts"].as_array().unwrap();
    let id = &facts.iter().find(|fact| fact["text"] == "works at night").unwrap()["id"];
    let profile = format!("Knows a {CANARY}.");
    json!({ "promotions": [{ "fact_id": id, "tier": "core" }], "profile": profile, "weekly_digest": CANARY })
        .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dream_over_a_space_waits_holding_nothing_and_another_worker_goes_on_with_its_answer() {
    let (lab, space) = lab().await;
    let before = content(&lab, &space);
    let worker = lab.worker(&[]);
    let handle = lab.start(DreamInput::of_space(space.clone())).await;
    let view = lab.reach(&handle, "the run asks", |view| view.waiting_for.as_deref() == Some("answer")).await;
    let free: bool = sqlx::query_scalar("SELECT bool_and(run_id IS NULL) FROM dream.lease")
        .fetch_one(&mut lab.database().await)
        .await
        .unwrap();
    assert!(free, "a run that waits holds no lease");
    let job = lab.program.run(&["job", "next", "--space", &space]).expect(0).json()["job"].clone();
    assert_eq!(job["run_id"], view.run_id.as_str());
    worker.kill();
    let _other = lab.worker(&[]);
    let file = lab.program.path("answer.json");
    std::fs::write(&file, answer(&job)).unwrap();
    let submit = ["job", "submit", &view.run_id, "--result", file.to_str().unwrap(), "--json"];
    let done = lab.program.run(&submit).expect(0).json();
    assert_eq!(done["status"], "done", "{done:#}");
    assert_eq!((&done["report"]["updates"], &done["report"]["skipped"]), (&json!(3), &json!([])));
    assert_eq!(result(&handle).await.unwrap().state.to_string(), "completed");
    let told = format!("{:?}", history(&handle).await);
    assert!(!told.contains("quokka") && !told.contains("works at night"), "memory text is in the history");
    assert_eq!(lab.program.run(&submit).expect(0).json(), done, "the same answer again gives the same report");
    assert_ne!(content(&lab, &space), before);
    lab.program.run(&["undo", "--run", &view.run_id]).expect(0);
    assert_eq!(content(&lab, &space), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_ends_a_workflow_that_waits() {
    let (lab, space) = lab().await;
    let _worker = lab.worker(&[]);
    let handle = lab.start(DreamInput::of_space(space.clone())).await;
    let view = lab.reach(&handle, "the run asks", |view| view.waiting_for.as_deref() == Some("answer")).await;
    let facts = lab.program.run(&["facts", "list", "--space", &space, "--json"]).json();
    let fact = facts[0]["id"].as_str().unwrap();
    lab.program.run(&["facts", "forget", fact, "--space", &space]).expect(0);
    assert_eq!(result(&handle).await.unwrap().state.to_string(), "abandoned");
    assert_eq!(lab.program.run(&["report", &view.run_id, "--json"]).json()["status"], "abandoned");
}
