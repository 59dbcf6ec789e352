//! `dream serve`, as an agent meets it: the newcomer's walk, and what it must not be able to do.

use reqwest::Method;
use serde_json::{Value, json};

use crate::spaces::answer;
use crate::support::program::Program;
use crate::support::server::{Agent, Server};

/// A program with a store for spaces, and the spaces' ids and keys.
pub(crate) fn program<const SPACES: usize>() -> (Program, [(String, String); SPACES]) {
    let program = Program::bare();
    program.run(&["migrate", "--realm", "space"]).expect(0);
    let create = || {
        let made = program.run(&["spaces", "create", "--name", "me", "--time-zone", "Europe/Vienna", "--json"]);
        let made = made.expect(0).json();
        (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
    };
    let spaces = std::array::from_fn(|_| create());
    (program, spaces)
}

/// Everything that a space holds.
pub(crate) fn content(program: &Program, space: &str) -> String {
    program.run(&["export", "space", "--space", space]).expect(0).stdout
}

/// Fills a space with something to do for each part of a dream.
async fn live(agent: &Agent<'_>) {
    for text in ["drinks green tea", "drinks tea that is green", "works at night", "lives in Graz", "lives in Linz"] {
        agent.remember(&json!({ "text": text })).await;
    }
    agent.remember(&json!({ "text": "Drinks  Green Tea" })).await;
    agent.remember(&json!({ "text": "is on holiday", "expires_at": "2026-01-01T00:00:00Z" })).await;
    agent.remember(&json!({ "text": "was told by hand", "origin": "user", "tier": "core" })).await;
}

const NEXT: &str = "/v1/dream/jobs/next?start_if_due=true";

fn run_of(job: &Value) -> String {
    job["job"]["run_id"].as_str().unwrap_or_else(|| panic!("{job:#}")).to_owned()
}

#[tokio::test]
async fn a_newcomer_walks_through_a_dream_with_nothing_but_http() {
    let (program, [(space, key)]) = program();
    let server = Server::start(&program);
    let agent = server.agent(&key);
    live(&agent).await;
    let recalled = agent.post("/v1/recall", &json!({ "query": "night" })).await.expect(200).json();
    assert_eq!(recalled["facts"][0]["text"], "works at night");
    let before = content(&program, &space);
    let none = agent.get("/v1/dream/jobs/next").await.expect(200).json();
    assert!(none["job"].is_null() && none["reason"].is_string(), "{none:#}");
    let next = agent.get(NEXT).await.expect(200).json();
    let (run, job) = (run_of(&next), &next["job"]);
    assert!(job["instructions"].is_string() && job["output_schema"]["$schema"].is_string(), "{job:#}");
    let waiting = agent.get(&format!("/v1/dream/runs/{run}")).await.expect(200).json();
    assert_eq!(waiting["status"], "awaiting_client");
    assert_eq!(waiting["report"]["housekeeping"]["duplicates"], 1);
    let answer: Value = serde_json::from_str(&answer(job)).unwrap();
    let result = format!("/v1/dream/jobs/{run}/result");
    let done = agent.post(&result, &answer).await.expect(200).json();
    assert_eq!(done["status"], "done");
    let report = &done["report"];
    let counts = ["merges", "updates", "contradictions", "proposals"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(counts, [1, 4, 1, 1], "{report:#}");
    assert_eq!(agent.post(&result, &answer).await.expect(200).json(), done, "the same answer, the same report");
    let other = agent.post(&result, &json!({})).await.expect(409).problem();
    assert_eq!(other["code"], "DREAM-1012", "{other:#}");
    let context = agent.get("/v1/context").await.expect(200).json();
    assert_eq!(context["last_dream"], done);
    assert_eq!(context["profile"]["dream_summary"], "Drinks green tea and works at night.");
    assert_eq!(context["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(agent.get("/v1/dream/runs").await.expect(200).json()["runs"], json!([done]));
    let page = agent.get(&format!("/v1/dream/runs/{run}.html")).await.expect(200);
    assert!(page.kind.starts_with("text/html") && page.text.contains("This dream is done"), "{}", page.text);
    let undo = format!("/v1/dream/runs/{run}/undo");
    let looked = agent.post(&format!("{undo}?dry_run=true"), &json!(null)).await.expect(200).json();
    assert_eq!((&looked["undone"], &looked["status"]), (&json!(8), &json!("done")), "{looked:#}");
    assert_ne!(content(&program, &space), before);
    let undone = agent.post(&undo, &json!(null)).await.expect(200).json();
    assert_eq!((&undone["undone"], &undone["status"]), (&json!(8), &json!("undone")), "{undone:#}");
    assert_eq!(content(&program, &space), before, "every cell is as it was");
    let again = agent.post(&undo, &json!(null)).await.expect(200).json();
    assert_eq!((&again["undone"], &again["message"]), (&json!(0), &json!("nothing was left to take back")));
    assert_eq!(content(&program, &space), before);
}

#[tokio::test]
async fn without_its_key_nobody_gets_into_a_space_and_no_space_sees_another() {
    let (program, [(_, key), (_, other_key)]) = program();
    let server = Server::start(&program);
    let (agent, other) = (server.agent(&key), server.agent(&other_key));
    let refused = server.open("/v1/facts").await.expect(401).problem();
    assert_eq!(refused["title"], "Unauthorized");
    server.agent("dream_00").get("/v1/facts").await.expect(401);
    let fact = agent.remember(&json!({ "text": "likes tea" })).await;
    let run = run_of(&agent.get(NEXT).await.json());
    let unknown = uuid::Uuid::now_v7();
    assert_eq!(other.get("/v1/facts").await.expect(200).json()["facts"], json!([]));
    let same_but_for_the_id = |theirs: &Value, nobodys: &Value, id: &str| {
        assert_eq!(theirs.to_string().replace(id, "ID"), nobodys.to_string().replace(&unknown.to_string(), "ID"));
    };
    for (method, path, body) in [
        (Method::PATCH, "/v1/facts/ID", json!({ "text": "mine" })),
        (Method::GET, "/v1/dream/runs/ID", json!(null)),
        (Method::GET, "/v1/dream/runs/ID.html", json!(null)),
        (Method::POST, "/v1/dream/runs/ID/undo", json!(null)),
        (Method::POST, "/v1/dream/jobs/ID/result", json!({})),
    ] {
        let id = if path.contains("facts") { &fact } else { &run };
        let theirs = other.call(method.clone(), &path.replace("ID", id), body.to_string()).await.expect(404);
        let nobodys = other.call(method, &path.replace("ID", &unknown.to_string()), body.to_string()).await;
        same_but_for_the_id(&theirs.problem(), &nobodys.expect(404).problem(), id);
    }
    let theirs = other.post("/v1/forget", &json!({ "fact_id": fact })).await.expect(404);
    let nobodys = other.post("/v1/forget", &json!({ "fact_id": unknown })).await.expect(404);
    same_but_for_the_id(&theirs.problem(), &nobodys.problem(), &fact);
    assert_eq!(run_of(&agent.get(NEXT).await.json()), run, "nothing of it was touched");
    assert_eq!(agent.get("/v1/facts").await.json()["facts"][0]["text"], "likes tea");
}

#[tokio::test]
async fn agents_that_ask_at_once_get_the_same_job() {
    let (program, [(_, key)]) = program();
    let server = Server::start(&program);
    let agent = server.agent(&key);
    live(&agent).await;
    let asked = futures::future::join_all((0..8).map(|_| agent.get(NEXT))).await;
    let asked: Vec<Value> = asked.into_iter().map(|answered| answered.expect(200).json()).collect();
    // Whoever asks of a busy machine may be told to ask again.
    let (jobs, later): (Vec<Value>, Vec<Value>) = asked.into_iter().partition(|answer| answer["job"].is_object());
    assert!(later.iter().all(|answer| answer["retry_after"].is_number()), "{later:#?}");
    let jobs = if jobs.is_empty() { vec![agent.get(NEXT).await.json()] } else { jobs };
    assert!(jobs.iter().all(|job| job == &jobs[0] && job["job"].is_object()), "{jobs:#?}");
    assert_eq!(agent.get("/v1/dream/runs").await.json()["runs"].as_array().unwrap().len(), 1);
    let body = json!({});
    let result = format!("/v1/dream/jobs/{}/result", run_of(&jobs[0]));
    let handed_in = futures::future::join_all((0..4).map(|_| agent.post(&result, &body))).await;
    let reports: Vec<Value> = handed_in.into_iter().map(|answered| answered.expect(200).json()).collect();
    assert!(reports.iter().all(|report| report == &reports[0]), "{reports:#?}");
}

#[tokio::test]
async fn a_dream_that_waits_is_named_to_whoever_starts_another() {
    let (program, [(_, key)]) = program();
    let server = Server::start(&program);
    let agent = server.agent(&key);
    agent.remember(&json!({ "text": "likes tea" })).await;
    let started = agent.call(Method::POST, "/v1/dream", String::new()).await.expect(202).json();
    assert_eq!(started["status"], "awaiting_client", "{started:#}");
    let refused = agent.post("/v1/dream", &json!({ "mode": "client" })).await.expect(409).problem();
    assert_eq!((&refused["code"], &refused["run_id"]), (&json!("DREAM-1013"), &started["run_id"]), "{refused:#}");
    let run = started["run_id"].as_str().unwrap();
    let undone = agent.post(&format!("/v1/dream/runs/{run}/undo"), &json!(null)).await.expect(200).json();
    assert_eq!(undone["undone"], 0, "{undone:#}");
    let late = agent.post(&format!("/v1/dream/jobs/{run}/result"), &json!({})).await.expect(409).problem();
    assert_eq!(late["code"], "DREAM-1012");
    let off = agent.post("/v1/dream", &json!({ "mode": "off" })).await.expect(202).json();
    assert_eq!(off["status"], "done", "housekeeping only: {off:#}");
    let not_due = agent.get(NEXT).await.expect(200).json();
    assert!(not_due["job"].is_null() && not_due["reason"].as_str().unwrap().contains("20 hours"), "{not_due:#}");
    let why = agent.get("/v1/dream/due").await.expect(200).json();
    assert!(why["reason"].is_string() && why["explanation"].is_string(), "{why:#}");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_by_its_field_and_never_repeated() {
    let (program, [(_, key)]) = program();
    let server = Server::start(&program);
    let agent = server.agent(&key);
    for (path, body, expected) in [
        ("/v1/facts", json!({ "text": "quokka", "tier": "quokka" }), "tier"),
        ("/v1/facts", json!({ "quokka": 1 }), "body"),
        ("/v1/facts", json!({ "text": "x".repeat(5_000) }), "text"),
        ("/v1/journal", json!({ "text": "quokka", "day": "quokka" }), "day"),
        ("/v1/dream", json!({ "mode": "quokka" }), "mode"),
    ] {
        let refused = agent.post(path, &body).await.expect(400).problem();
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{detail}");
        assert!(!detail.contains("quokka") || body.get("quokka").is_some(), "{detail}");
    }
    for (path, expected) in
        [("/v1/facts?limit=quokka", "limit"), ("/v1/dream/jobs/next?start_if_due=7", "start_if_due")]
    {
        let refused = agent.get(path).await.expect(400).problem();
        assert!(refused["detail"].as_str().unwrap().contains(expected), "{refused:#}");
        assert!(!refused.to_string().contains("quokka"), "{refused:#}");
    }
    let long = json!({ "text": "x".repeat(300 * 1024) });
    assert_eq!(agent.post("/v1/facts", &long).await.expect(413).problem()["status"], 413);
    agent.get("/v1/quokka").await.expect(404).problem();
    agent.call(Method::DELETE, "/v1/facts", String::new()).await.expect(405).problem();
}

#[tokio::test]
async fn answers_that_cannot_be_used_leave_the_dream_waiting_until_the_fifth() {
    let (program, [(_, key)]) = program();
    let server = Server::start(&program);
    let agent = server.agent(&key);
    live(&agent).await;
    let run = run_of(&agent.get(NEXT).await.json());
    let result = format!("/v1/dream/jobs/{run}/result");
    let long = format!("{{\"weekly_digest\": \"{}\"}}", "x".repeat(1024 * 1024));
    let bad = ["{\"merges\": [", "no JSON", &long, "{\"merges\": 1}", "[]"];
    for (answer, number) in bad.into_iter().zip(1..) {
        let refused = agent.call(Method::POST, &result, answer.to_owned()).await.expect(422).problem();
        assert!(refused["detail"].as_str().unwrap().contains(&format!("bad answer {number} of 5")), "{refused:#}");
        let status = agent.get(&format!("/v1/dream/runs/{run}")).await.json()["status"].clone();
        assert_eq!(status, if number < 5 { "awaiting_client" } else { "failed" });
    }
}

#[tokio::test]
async fn a_space_that_asks_too_often_is_told_to_wait_and_others_are_not() {
    let (program, [(_, key), (_, other_key)]) = program();
    let server = Server::start(&program);
    let agent = server.agent(&key);
    let mut asked = Vec::new();
    // Fewer at once than may come in at once, more in all than one space may ask.
    for _ in 0..12 {
        let batch = (0..30).map(|_| async {
            let answered = agent.get("/v1/space").await;
            (answered.status.as_u16(), answered.text)
        });
        asked.extend(futures::future::join_all(batch).await);
    }
    let told: Vec<&String> = asked.iter().filter(|(status, _)| *status == 429).map(|(_, text)| text).collect();
    assert!(!told.is_empty() && told.iter().all(|text| text.contains("retry_after")), "{told:?}");
    server.agent(&other_key).get("/v1/space").await.expect(200);
}

#[tokio::test]
async fn the_memory_of_a_space_has_a_journal_actions_values_and_collections() {
    let (program, [(_, key)]) = program();
    let server = Server::start(&program);
    let agent = server.agent(&key);
    let entry = json!({ "day": "2026-11-30", "text": "walked" });
    agent.post("/v1/journal", &entry).await.expect(201);
    assert_eq!(agent.get("/v1/journal").await.json()["entries"][0]["text"], "walked");
    let action = agent.post("/v1/actions", &json!({ "text": "buy tea" })).await.expect(201).json();
    let action = format!("/v1/actions/{}", action["id"].as_str().unwrap());
    let approved = agent.call(Method::PATCH, &action, json!({ "status": "approved" }).to_string()).await.expect(200);
    assert_eq!(approved.json()["status"], "approved");
    let value = json!({ "value": { "sugar": false } }).to_string();
    agent.call(Method::PUT, "/v1/kv/tea%2Fgreen", value).await.expect(200);
    assert_eq!(agent.get("/v1/kv/tea%2Fgreen").await.expect(200).json()["value"], json!({ "sugar": false }));
    agent.call(Method::DELETE, "/v1/kv/tea%2Fgreen", String::new()).await.expect(204);
    agent.get("/v1/kv/tea%2Fgreen").await.expect(404).problem();
    let record = agent.post("/v1/collections/trips", &json!({ "body": { "to": "Linz" } })).await.expect(201).json();
    let records = agent.get("/v1/collections/trips").await.expect(200).json();
    assert_eq!(records["records"], json!([record]));
    let fact = agent.remember(&json!({ "text": "likes tea", "expires_at": "2030-01-01T00:00:00Z" })).await;
    let patch = json!({ "pinned": true, "expires_at": null }).to_string();
    let fact = agent.call(Method::PATCH, &format!("/v1/facts/{fact}"), patch).await.expect(200).json();
    assert_eq!((&fact["pinned"], &fact["expires_at"]), (&json!(true), &json!(null)));
    let forgotten = agent.post("/v1/forget", &json!({ "fact_id": fact["id"] })).await.expect(200).json();
    assert_eq!(forgotten["was_there"], true);
}

#[tokio::test]
async fn the_description_names_every_call_with_its_schemas() {
    let (program, []) = program();
    let server = Server::start(&program);
    let described = server.open("/v1/openapi.json").await.expect(200).json();
    assert_eq!(described["openapi"], "3.1.0");
    let paths = described["paths"].as_object().unwrap();
    let calls: usize = paths.values().map(|path| path.as_object().unwrap().len()).sum();
    assert_eq!(calls, 26, "{:?}", paths.keys());
    let text = described.to_string();
    let schemas = described["components"]["schemas"].as_object().unwrap();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name} is named and not described");
    }
    let start_if_due = &described["paths"]["/v1/dream/jobs/next"]["get"]["parameters"][0];
    assert_eq!((&start_if_due["name"], &start_if_due["required"]), (&json!("start_if_due"), &json!(false)));
    server.open("/readyz").await.expect(200);
}
