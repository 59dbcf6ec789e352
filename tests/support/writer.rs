//! Somebody who edits, pins, unpins, adds and forgets facts all the time while a space dreams, and remembers what must be there.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::program::Program;
use super::server::{Agent, Server};
use super::world::{Chance, name};

/// The id of the run.
const RUN: &str = "01900000-0000-7000-8000-000000000002";

/// Facts of the space at its start; the first ones are there twice, others are over, and some nobody ever recalled.
const FACTS: usize = 48;
const TWINS: usize = 12;

/// Calls of the writer in each part of the dream: fewer in all than one space may make at once.
const CALLS_PER_PART: usize = 40;

/// Kills of one command at most; each attempt is given more time than the one before.
const KILLS_MAX: u64 = 100;

/// What the writer knows of a fact.
enum Known {
    /// It wrote these words, and nobody but it may change them.
    Written(Value),
    /// It pinned the fact as it was.
    Pinned(Value),
    /// It forgot the fact.
    Forgotten,
}

/// The writer.
struct Writer<'s> {
    agent: Agent<'s>,
    chance: Chance,
    known: BTreeMap<String, Known>,
    ids: Vec<String>,
    calls: usize,
}

impl Writer<'_> {
    fn is_ours(&self, id: &str) -> bool {
        matches!(self.known.get(id), Some(Known::Written(_) | Known::Pinned(_)))
    }

    /// Changes a fact. One that a dream took away is gone, and the writer is told so; one of its own is there.
    async fn patch(&mut self, id: &str, patch: &Value) -> Option<Value> {
        let answered = self.agent.call(Method::PATCH, &format!("/v1/facts/{id}"), patch.to_string()).await;
        if answered.status == 404 {
            assert!(!self.is_ours(id), "fact {id} of the writer is lost");
            return None;
        }
        Some(answered.expect(200).json())
    }

    /// Makes one call.
    async fn call(&mut self, may_forget: bool) {
        self.calls += 1;
        let at = usize::try_from(self.chance.below(self.ids.len() as u64)).unwrap();
        let id = self.ids[at].clone();
        if matches!(self.known.get(&id), Some(Known::Forgotten)) {
            assert_eq!(self.patch(&id, &json!({ "pinned": true })).await, None, "fact {id} was forgotten");
            return;
        }
        // No dream writes a text like this one, and none may take it.
        let text = format!("wrote {} call {}", self.agent.key_end(), self.calls);
        match self.chance.below(10) {
            0..4 => {
                let written = self.patch(&id, &json!({ "text": text, "expires_at": null, "tier": "long" })).await;
                self.known.extend(written.map(|row| (id, Known::Written(row))));
            }
            4..6 => {
                if let Some(row) = self.patch(&id, &json!({ "pinned": true })).await {
                    let is_written = matches!(self.known.get(&id), Some(Known::Written(_)));
                    self.known.insert(id, if is_written { Known::Written(row) } else { Known::Pinned(row) });
                }
            }
            6 => {
                let Some(row) = self.patch(&id, &json!({ "pinned": false })).await else { return };
                // What it only pinned, a dream may take from now on.
                if let Some(Known::Written(_)) = self.known.remove(&id) {
                    self.known.insert(id, Known::Written(row));
                }
            }
            7 if may_forget => {
                let answered = self.agent.post("/v1/forget", &json!({ "fact_id": id })).await;
                assert!(answered.status == 200 || (answered.status == 404 && !self.is_ours(&id)), "{}", answered.text);
                self.known.insert(id, Known::Forgotten);
            }
            _ => {
                let row = self.agent.post("/v1/facts", &json!({ "text": text })).await.expect(201).json();
                let id = row["id"].as_str().unwrap().to_owned();
                self.ids.push(id.clone());
                self.known.insert(id, Known::Written(row));
            }
        }
    }

    /// Checks that all of its work is there.
    fn check(&self, program: &Program, space: &str, when: &str) {
        let facts = program.run(&["export", "space", "--space", space]).expect(0).stdout;
        let facts: BTreeMap<String, Value> = facts
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|row| row["table"] == "facts")
            .map(|row| (row["id"].as_str().unwrap().to_owned(), row))
            .collect();
        for (id, known) in &self.known {
            let row = facts.get(id);
            match known {
                Known::Forgotten => assert!(row.is_none(), "{when}: forgotten fact {id} is there: {row:?}"),
                Known::Written(written) | Known::Pinned(written) => {
                    let row = row.unwrap_or_else(|| panic!("{when}: fact {id} is lost: {written}"));
                    // A dream may promote what is pinned.
                    let may_move = matches!(known, Known::Pinned(_));
                    for field in
                        ["text", "tier", "pinned", "subject"].into_iter().filter(|it| !may_move || *it != "tier")
                    {
                        assert_eq!(row[field], written[field], "{when}: {field} of {id}");
                    }
                }
            }
        }
    }
}

/// Gives a command again and again, killed at moments given by chance, until it ends; answers its code.
fn insist(program: &Program, chance: &mut Chance, arguments: &[&str]) -> i32 {
    for kills in 0..KILLS_MAX {
        let mut child = program.start(arguments);
        let patience = Duration::from_millis(chance.below(40 + 40 * kills));
        let started = Instant::now();
        loop {
            if child.try_wait().unwrap().is_some() {
                let ended = child.wait_with_output().unwrap();
                let said = String::from_utf8_lossy(&ended.stderr);
                assert!(!said.contains("DREAM-9001") && !said.contains("panicked"), "{arguments:?}: {said}");
                return ended.status.code().unwrap();
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

/// The facts of a space at its start, as lines of an import.
fn lines() -> (String, Vec<String>) {
    let fact = |number: usize| {
        let id = Uuid::from_u128(number as u128 + 1);
        let words = if number < 2 * TWINS { number % TWINS } else { number };
        let is_scratch = (2 * TWINS..2 * TWINS + 4).contains(&number);
        let is_over = (2 * TWINS + 4..2 * TWINS + 8).contains(&number);
        let line = json!({
            "table": "facts", "id": id, "subject": "user", "text": format!("likes {}", name(words).to_lowercase()),
            "tier": if is_scratch { "scratch" } else { "long" }, "origin": "agent", "pinned": false, "recall_count": 0,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
            "expires_at": is_over.then_some("2026-02-01T00:00:00Z"),
        });
        (format!("{line}\n"), id.to_string())
    };
    (0..FACTS).map(fact).unzip()
}

/// An answer that merges, promotes and writes, but leaves alone what the writer wrote before the question was cut.
fn answer(job: &Value) -> String {
    let facts = job["input"]["memory"]["facts"].as_array().unwrap();
    let free: Vec<&Value> = facts.iter().filter(|fact| fact["text"].as_str().unwrap().starts_with("likes")).collect();
    let (merged, moved) = free.split_at(free.len() / 2);
    let merge = |pair: &[&Value]| {
        let text = |fact: &Value| fact["text"].as_str().unwrap().to_owned();
        json!({
            "keep_id": pair[0]["id"], "remove_ids": [pair[1]["id"]],
            "wording": format!("{} and {}", text(pair[0]), text(pair[1])),
        })
    };
    let merges: Vec<Value> = merged.chunks_exact(2).map(merge).collect();
    let promotions: Vec<Value> = moved.iter().map(|fact| json!({ "fact_id": fact["id"], "tier": "core" })).collect();
    json!({ "merges": merges, "promotions": promotions, "profile": "Likes much.", "weekly_digest": "A week." })
        .to_string()
}

/// Lets somebody write all through a dream over a fresh space, from its start to its undo, with kills; every seed is another
/// order of things.
pub fn writes_all_through_a_dream(program: &Program, seed: u64) {
    let made = program.run(&["spaces", "create", "--name", "me", "--json"]).expect(0).json();
    let (space, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let (lines, ids) = lines();
    std::fs::write(program.path("space.jsonl"), lines).unwrap();
    program.run(&["import", "space", "space.jsonl", "--space", space]).expect(0);
    let server = Server::start(program);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut writer = Writer { agent: server.agent(key), chance: Chance(seed), known: BTreeMap::new(), ids, calls: 0 };
    let mut kills = Chance(seed + 1_000);
    // Forgetting ends a dream that waits, so one seed in three forgets all the time, and the others before it waits only.
    let always_forgets = seed.is_multiple_of(3);
    let beside = |writer: &mut Writer<'_>, may_forget: bool, part: &mut (dyn FnMut() + Send)| {
        std::thread::scope(|scope| {
            let dream = scope.spawn(part);
            runtime.block_on(async {
                for _ in 0..CALLS_PER_PART {
                    writer.call(may_forget).await;
                }
            });
            dream.join().unwrap();
        });
    };
    let check = |writer: &Writer<'_>, when: &str| writer.check(program, space, &format!("seed {seed}, {when}"));
    let run = ["run", "space", "--space", space, "--on", "local", "--run-id", RUN];
    let forgets_first = always_forgets || seed.is_multiple_of(2);
    beside(&mut writer, forgets_first, &mut || {
        insist(program, &mut kills, &run);
    });
    check(&writer, "tidied");
    let job = program.run(&["job", "next", "--space", space]).json()["job"].clone();
    beside(&mut writer, always_forgets, &mut || {});
    if !job.is_null() {
        let file = program.path("answer.json");
        std::fs::write(&file, answer(&job)).unwrap();
        let submit = ["job", "submit", RUN, "--result", file.to_str().unwrap()];
        beside(&mut writer, always_forgets, &mut || {
            insist(program, &mut kills, &submit);
        });
        check(&writer, "consolidated");
    }
    let undo = ["undo", "--run", RUN, "--keep"];
    beside(&mut writer, true, &mut || {
        insist(program, &mut kills, &undo);
    });
    // A pin holds a fact against dreams; who takes a dream back takes its words back, whoever pinned them since.
    writer.known.retain(|_, known| !matches!(known, Known::Pinned(_)));
    check(&writer, "taken back");
    insist(program, &mut kills, &undo);
    check(&writer, "taken back twice");
}
