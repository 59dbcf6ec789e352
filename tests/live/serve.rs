//! `dream serve` whose dreams a Temporal server carries out: an agent's walk, with a worker that comes and goes.

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::space::{answer, content};
use crate::support::server::{Agent, Server};

const NEXT: &str = "/v1/dream/jobs/next?start_if_due=true";

/// A lab with a space, its id and its key.
async fn lab() -> (Lab, String, String) {
    let lab = Lab::new().await;
    lab.program.run(&["migrate", "--realm", "space"]).expect(0);
    let made = lab.program.run(&["spaces", "create", "--name", "me", "--json"]).expect(0).json();
    let word = |name: &str| made[name].as_str().unwrap().to_owned();
    let (space, key) = (word("id"), word("key"));
    (lab, space, key)
}

async fn live(agent: &Agent<'_>) {
    for text in ["drinks green tea", "Drinks  Green Tea", "works at night"] {
        agent.remember(&json!({ "text": text })).await;
    }
}

/// Asks for the job until it is there: whoever asks of a busy machine may be told to ask again.
async fn next_job(agent: &Agent<'_>) -> Value {
    for _ in 0..12 {
        let next = agent.get(NEXT).await.expect(200).json();
        if next["job"].is_object() {
            return next["job"].clone();
        }
        assert!(next["retry_after"].is_number(), "{next:#}");
    }
    panic!("the dream never came to its question");
}

async fn workflow_of(lab: &Lab, run: &str) -> (String, Option<String>) {
    let query = "SELECT engine, workflow_id FROM dream.run WHERE run_id = $1::uuid";
    sqlx::query_as(query).bind(run).fetch_one(&mut lab.database().await).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_walks_through_a_dream_that_temporal_carries_out() {
    let (lab, space, key) = lab().await;
    let worker = lab.worker(&[]);
    let server = Server::start(&lab.program);
    let agent = server.agent(&key);
    live(&agent).await;
    let before = content(&lab, &space);
    let none = agent.get("/v1/dream/jobs/next").await.expect(200).json();
    assert!(none["job"].is_null(), "{none:#}");
    let job = next_job(&agent).await;
    let run = job["run_id"].as_str().unwrap();
    let (engine, workflow) = workflow_of(&lab, run).await;
    assert_eq!((engine.as_str(), workflow), ("temporal", Some(format!("dream/space/{space}/{run}"))));
    let in_the_way = agent.post("/v1/dream", &json!({})).await.expect(409).problem();
    assert_eq!((&in_the_way["run_id"], &in_the_way["code"]), (&json!(run), &json!("DREAM-1013")), "{in_the_way:#}");
    assert_eq!(next_job(&agent).await, job, "whoever asks again gets the same job");

    // The dream waits through the end of its worker, and goes on with the next one.
    worker.kill();
    let _other = lab.worker(&[]);
    let result = format!("/v1/dream/jobs/{run}/result");
    agent.post(&result, &json!({ "merges": 7 })).await.expect(422);
    let good: Value = serde_json::from_str(&answer(&job)).unwrap();
    let done = agent.post(&result, &good).await.expect(200).json();
    assert_eq!((&done["status"], &done["report"]["updates"]), (&json!("done"), &json!(3)), "{done:#}");
    assert_eq!(agent.post(&result, &good).await.expect(200).json(), done, "the same answer, the same report");
    agent.post(&result, &json!({})).await.expect(409);
    assert_ne!(content(&lab, &space), before);
    let again = agent.get(NEXT).await.expect(200).json();
    assert!(again["job"].is_null() && again["reason"].as_str().unwrap().contains("20 hours"), "{again:#}");

    let undo = format!("/v1/dream/runs/{run}/undo");
    let looked = agent.post(&format!("{undo}?dry_run=true"), &json!(null)).await.expect(200).json();
    let undone = agent.post(&undo, &json!(null)).await.expect(200).json();
    assert_eq!((&undone["status"], &undone["undone"]), (&json!("undone"), &looked["undone"]), "{undone:#}");
    assert_eq!(content(&lab, &space), before, "every cell is as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dream_that_is_started_by_hand_is_answered_whatever_its_mode() {
    let (lab, _, key) = lab().await;
    let _worker = lab.worker(&[]);
    let server = Server::start(&lab.program);
    let agent = server.agent(&key);
    live(&agent).await;
    let off = agent.post("/v1/dream", &json!({ "mode": "off" })).await.json();
    let run = off["run_id"].as_str().unwrap();
    let done = agent.get(&format!("/v1/dream/runs/{run}")).await.expect(200).json();
    assert_eq!(
        (&done["status"], &done["report"]["housekeeping"]["duplicates"]),
        (&json!("done"), &json!(1)),
        "{done:#}"
    );
    let client = agent.post("/v1/dream", &json!({})).await.json();
    assert_eq!(client["status"], "awaiting_client", "{client:#}");
    let run = client["run_id"].as_str().unwrap();
    let undone = agent.post(&format!("/v1/dream/runs/{run}/undo"), &json!(null)).await.expect(200).json();
    assert_eq!(undone["status"], "abandoned", "a dream that waits is given up: {undone:#}");
    let job = agent.get("/v1/dream/jobs/next").await.expect(200).json();
    assert!(job["job"].is_null(), "{job:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_ask_at_once_get_the_one_job_that_a_workflow_asks() {
    let (lab, _, key) = lab().await;
    let _worker = lab.worker(&[]);
    let server = Server::start(&lab.program);
    let agent = server.agent(&key);
    live(&agent).await;
    let jobs = futures::future::join_all((0..4).map(|_| next_job(&agent))).await;
    assert!(jobs.iter().all(|job| job == &jobs[0]), "{jobs:#?}");
    assert_eq!(agent.get("/v1/dream/runs").await.json()["runs"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_worker_an_agent_is_told_to_ask_again() {
    let (lab, _, key) = lab().await;
    let server = Server::start(&lab.program);
    let agent = server.agent(&key);
    live(&agent).await;
    let later = agent.get(NEXT).await.expect(200).json();
    assert!(later["job"].is_null() && later["retry_after"].is_number(), "{later:#}");
    let _worker = lab.worker(&[]);
    next_job(&agent).await;
    assert_eq!(agent.get("/v1/dream/runs").await.json()["runs"].as_array().unwrap().len(), 1);
}
