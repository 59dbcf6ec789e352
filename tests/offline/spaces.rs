//! Spaces, as a newcomer meets them: make one, add facts, dream in client mode, look at the report, take it back.

use serde_json::{Value, json};

use crate::support::program::{Answer, Program};

/// A program with a store for spaces.
pub(crate) fn program() -> Program {
    let program = Program::bare();
    program.run(&["migrate", "--realm", "space"]).expect(0);
    program
}

pub(crate) fn create(program: &Program, mode: &str) -> String {
    let created =
        program.run(&["spaces", "create", "--name", "me", "--time-zone", "Europe/Vienna", "--mode", mode, "--json"]);
    created.expect(0).json()["id"].as_str().unwrap().to_owned()
}

pub(crate) fn add(program: &Program, space: &str, text: &str, more: &[&str]) -> String {
    let mut arguments = vec!["facts", "add", "--space", space, text];
    arguments.extend(more);
    program.run(&arguments).expect(0).stdout.trim().to_owned()
}

/// Everything that a space holds.
pub(crate) fn content(program: &Program, space: &str) -> String {
    program.run(&["export", "space", "--space", space]).expect(0).stdout
}

pub(crate) fn dream(program: &Program, space: &str, more: &[&str]) -> Answer {
    let mut arguments = vec!["run", "space", "--space", space, "--on", "local", "--json"];
    arguments.extend(more);
    program.run(&arguments)
}

pub(crate) fn job(program: &Program, space: &str) -> Value {
    program.run(&["job", "next", "--space", space]).json()["job"].clone()
}

pub(crate) fn submit(program: &Program, run: &str, answer: &str) -> Answer {
    let file = program.path("answer.json");
    std::fs::write(&file, answer).unwrap();
    program.run(&["job", "submit", run, "--result", file.to_str().unwrap(), "--json"])
}

/// The lines of a space that was lived in, always the same.
fn lines() -> String {
    let texts = [
        ("drinks green tea", "long", Value::Null),
        ("drinks tea that is green", "long", Value::Null),
        ("works at night", "long", Value::Null),
        ("lives in Graz", "long", Value::Null),
        ("lives in Linz", "scratch", Value::Null),
        ("Drinks  Green Tea", "long", Value::Null),
        ("is on holiday", "long", json!("2026-01-01T00:00:00Z")),
    ];
    let line = |((text, tier, expires_at), number): ((&str, &str, Value), u32)| {
        let id = uuid::Uuid::from_u128(u128::from(number));
        let at = format!("2026-11-{:02}T10:00:00Z", 20 + number);
        let line = json!({
            "table": "facts", "id": id, "subject": "user", "text": text, "tier": tier, "origin": "agent",
            "pinned": false, "recall_count": number, "created_at": at, "updated_at": at, "expires_at": expires_at,
        });
        format!("{line}\n")
    };
    texts.into_iter().zip(1..).map(line).collect()
}

/// A space that was lived in, in a store of its own; its facts are the same in every store.
pub(crate) fn lived_in_again(program: &Program, store: &str) -> String {
    program.run(&["migrate", "--realm", "space", "--store", store]).expect(0);
    let made = program.run(&["spaces", "create", "--name", "me", "--store", store]).expect(0);
    let space = made.stdout.trim().to_owned();
    std::fs::write(program.path("space.jsonl"), lines()).unwrap();
    program.run(&["import", "space", "space.jsonl", "--space", &space, "--store", store]).expect(0);
    space
}

/// What a space holds, without the moments at which a dream wrote and without what is made of the space's own id.
pub(crate) fn timeless_content(program: &Program, space: &str, store: &str) -> Vec<Value> {
    // The space is the only one of its store, but each store has made its own.
    let spaces = program.run(&["spaces", "list", "--store", store, "--json"]).json();
    let own = spaces[0]["id"].as_str().unwrap_or(space).to_owned();
    let lines = program.run(&["export", "space", "--space", &own, "--store", store]).expect(0).stdout;
    let timeless = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        for field in ["created_at", "updated_at"] {
            row.as_object_mut().unwrap().remove(field);
        }
        if matches!(row["table"].as_str(), Some("journal" | "profiles")) {
            row.as_object_mut().unwrap().remove("id");
        }
        row
    };
    lines.lines().map(timeless).collect()
}

/// The short id that a job has for the fact with this text.
fn short_id<'j>(job: &'j Value, text: &str) -> &'j str {
    let facts = job["input"]["memory"]["facts"].as_array().unwrap();
    facts.iter().find(|fact| fact["text"] == text).unwrap()["id"].as_str().unwrap()
}

/// An answer that does one of each thing.
pub(crate) fn answer(job: &Value) -> String {
    let id = |text: &str| short_id(job, text);
    json!({
        "merges": [{
            "keep_id": id("drinks green tea"),
            "remove_ids": [id("drinks tea that is green")],
            "wording": "drinks tea, green tea that is",
        }],
        "promotions": [{ "fact_id": id("works at night"), "tier": "core" }],
        "contradictions": [{ "fact_ids": [id("lives in Graz"), id("lives in Linz")], "note": "Nobody lives in two towns." }],
        "weekly_digest": "A quiet week.",
        "proposals": [{ "title": "Ask where home is", "fact_ids": [id("lives in Graz")] }],
        "profile": "Drinks green tea and works at night.",
    })
    .to_string()
}

/// A space with something to do for each part of a dream.
pub(crate) fn lived_in(program: &Program) -> String {
    let space = create(program, "client");
    for text in ["drinks green tea", "drinks tea that is green", "works at night", "lives in Graz", "lives in Linz"] {
        add(program, &space, text, &[]);
    }
    add(program, &space, "Drinks  Green Tea", &[]);
    add(program, &space, "is on holiday", &["--expires-at", "2026-01-01T00:00:00Z"]);
    add(program, &space, "was told by hand", &["--origin", "user", "--tier", "core"]);
    space
}

#[test]
fn a_newcomer_dreams_in_client_mode_looks_at_the_report_and_takes_it_back() {
    let program = program();
    let space = lived_in(&program);
    let before = content(&program, &space);
    let waiting = dream(&program, &space, &[]).expect(6).json();
    let run = waiting["run_id"].as_str().unwrap();
    assert_eq!(waiting["status"], "awaiting_client");
    let housekeeping = &waiting["report"]["housekeeping"];
    assert_eq!((&housekeeping["expired"], &housekeeping["duplicates"]), (&json!(1), &json!(1)));
    let job = job(&program, &space);
    assert_eq!(job["run_id"], run);
    assert_eq!(job["input"]["memory"]["facts"].as_array().unwrap().len(), 6, "housekeeping comes first");
    let answer = answer(&job);
    let done = submit(&program, run, &answer).expect(0).json();
    assert_eq!(done["status"], "done", "{done:#}");
    let report = &done["report"];
    let counts = ["merges", "updates", "contradictions", "proposals"].map(|name| report[name].as_u64().unwrap());
    // The wording, the promotion, the digest and the profile are updates.
    assert_eq!(counts, [1, 4, 1, 1], "{report:#}");
    assert_eq!(report["skipped"], json!([]));
    assert_eq!(program.run(&["report", run, "--json"]).expect(0).json(), done);
    assert_ne!(content(&program, &space), before);
    // The same answer again gives the same report, and another one is refused.
    assert_eq!(submit(&program, run, &answer).expect(0).json(), done);
    let refused = submit(&program, run, "{}").expect(4);
    assert!(refused.stderr.contains("DREAM-1012"), "{}", refused.stderr);
    let undone = program.run(&["undo", "--run", run, "--json"]).expect(0).json();
    assert_eq!((&undone["undone"], &undone["changed"]), (&json!(8), &json!([])));
    assert_eq!(content(&program, &space), before);
    program.run(&["undo", "--run", run]).expect(3);
    assert_eq!(content(&program, &space), before);
    assert_eq!(program.run(&["report", run, "--json"]).json()["status"], "undone");
}

#[test]
fn a_mode_that_is_off_or_has_no_model_means_housekeeping_only() {
    let program = program();
    for (mode, notes) in [("off", 0), ("server", 1)] {
        let space = create(&program, mode);
        add(&program, &space, "likes tea", &[]);
        add(&program, &space, "Likes tea", &[]);
        let done = dream(&program, &space, &[]).expect(0).json();
        assert_eq!((&done["status"], &done["report"]["housekeeping"]["duplicates"]), (&json!("done"), &json!(1)));
        assert_eq!(done["report"]["notes"].as_array().map_or(0, Vec::len), notes, "{done:#}");
        let next = program.run(&["job", "next", "--space", &space]).expect(3).json();
        assert!(next["job"].is_null() && next["reason"].as_str().unwrap().contains(mode));
    }
    let space = create(&program, "client");
    add(&program, &space, "likes tea", &[]);
    let done = dream(&program, &space, &["--mode", "off"]).expect(0).json();
    assert_eq!(done["status"], "done");
}

#[test]
fn a_run_that_waits_lets_no_other_start_until_it_is_given_up() {
    let program = program();
    let space = lived_in(&program);
    let first = dream(&program, &space, &[]).expect(6).json();
    let run = first["run_id"].as_str().unwrap();
    let refused = dream(&program, &space, &[]).expect(4);
    assert!(refused.stderr.contains("DREAM-1013") && refused.stderr.contains(run), "{}", refused.stderr);
    let second = dream(&program, &space, &["--abandon", run]).expect(6).json();
    assert_ne!(second["run_id"], first["run_id"]);
    assert_eq!(program.run(&["report", run, "--json"]).json()["status"], "abandoned");
    submit(&program, run, "{}").expect(4);
    submit(&program, second["run_id"].as_str().unwrap(), "{}").expect(0);
}

#[test]
fn the_fifth_answer_that_cannot_be_used_ends_the_run() {
    let program = program();
    let space = lived_in(&program);
    let run = dream(&program, &space, &[]).expect(6).json()["run_id"].as_str().unwrap().to_owned();
    let after_housekeeping = content(&program, &space);
    for (answer, number) in ["{\"merges\": [", "no JSON", "{\"merges\": 1}", "{\"quokka\": 1}", "[]"].iter().zip(1..) {
        let refused = submit(&program, &run, answer).expect(4);
        assert!(refused.stderr.contains(&format!("bad answer {number} of 5")), "{}", refused.stderr);
        assert!(!refused.stderr.contains("quokka"), "{}", refused.stderr);
    }
    assert_eq!(program.run(&["report", &run, "--json"]).json()["status"], "failed");
    assert_eq!(content(&program, &space), after_housekeeping);
    submit(&program, &run, "{}").expect(4);
}

#[test]
fn forgetting_abandons_what_waits_and_undo_does_not_bring_it_back() {
    let program = program();
    let space = create(&program, "client");
    let kept = add(&program, &space, "likes tea", &[]);
    let gone = add(&program, &space, "Likes  tea", &[]);
    let run = dream(&program, &space, &[]).expect(6).json()["run_id"].as_str().unwrap().to_owned();
    let forgotten = program.run(&["facts", "forget", &gone, "--space", &space]).expect(0);
    assert!(forgotten.stderr.contains(&run) && forgotten.stderr.contains("abandoned"), "{}", forgotten.stderr);
    assert_eq!(program.run(&["report", &run, "--json"]).json()["status"], "abandoned");
    program.run(&["undo", "--run", &run]).expect(0);
    let content = content(&program, &space);
    assert!(content.contains(&kept) && !content.contains(&gone), "{content}");
}

#[test]
fn a_fact_that_is_edited_or_pinned_while_an_answer_is_awaited_is_left_alone() {
    let program = program();
    let space = lived_in(&program);
    let run = dream(&program, &space, &[]).expect(6).json()["run_id"].as_str().unwrap().to_owned();
    let job = job(&program, &space);
    let facts = program.run(&["facts", "list", "--space", &space, "--json"]).json();
    let id_of = |text: &str| {
        let facts = facts.as_array().unwrap();
        facts.iter().find(|fact| fact["text"] == text).unwrap()["id"].as_str().unwrap().to_owned()
    };
    program.run(&["facts", "set", &id_of("works at night"), "--pinned", "true", "--space", &space]).expect(0);
    program
        .run(&["facts", "set", &id_of("drinks tea that is green"), "--text", "drinks mate", "--space", &space])
        .expect(0);
    let done = submit(&program, &run, &answer(&job)).expect(0).json();
    let skipped: Vec<&str> =
        done["report"]["skipped"].as_array().unwrap().iter().map(|line| line["reason"].as_str().unwrap()).collect();
    assert!(skipped.iter().any(|reason| reason.starts_with("pinned_since_job")), "{skipped:?}");
    assert!(skipped.iter().any(|reason| reason.starts_with("changed_since_job")), "{skipped:?}");
    assert!(content(&program, &space).contains("drinks mate"));
}

#[test]
fn undo_puts_old_content_back_over_later_edits_and_lists_them_or_keeps_them() {
    for (flag, expected) in [("", "likes tea"), ("--keep", "likes mate")] {
        let program = program();
        let space = create(&program, "client");
        let fact = add(&program, &space, "likes tea", &[]);
        let run = dream(&program, &space, &[]).expect(6).json()["run_id"].as_str().unwrap().to_owned();
        let job = job(&program, &space);
        let id = short_id(&job, "likes tea");
        let promote = json!({ "promotions": [{ "fact_id": id, "tier": "core" }] }).to_string();
        submit(&program, &run, &promote).expect(0);
        program.run(&["facts", "set", &fact, "--tier", "scratch", "--text", "likes mate", "--space", &space]).expect(0);
        let looked = program.run(&["undo", "--run", &run, "--dry-run", "--json"]).expect(0).json();
        assert_eq!(looked["changed"][0]["column"], "tier", "{looked:#}");
        let arguments = ["undo", "--run", &run, flag];
        program.run(&arguments[..arguments.len() - usize::from(flag.is_empty())]).expect(0);
        let facts = program.run(&["facts", "list", "--space", &space, "--json"]).json();
        let tier = if flag.is_empty() { "long" } else { "scratch" };
        assert_eq!((&facts[0]["tier"], facts[0]["text"].as_str()), (&json!(tier), Some("likes mate")), "{expected}");
    }
}

#[test]
fn an_unknown_zone_is_refused_and_what_is_due_is_explained() {
    let program = program();
    let refused = program.run(&["spaces", "create", "--name", "x", "--time-zone", "Europe/Nowhere"]).expect(1);
    assert!(refused.stderr.contains("time_zone") && !refused.stderr.contains("Nowhere"), "{}", refused.stderr);
    let space = create(&program, "off");
    program.run(&["due"]).expect(3);
    let why = program.run(&["due", "--explain", &space]).expect(0);
    assert!(why.stdout.contains("off"), "{}", why.stdout);
}

#[test]
fn what_is_exported_of_a_space_is_imported_to_the_last_cell() {
    let program = program();
    let space = lived_in(&program);
    let lines = content(&program, &space);
    std::fs::write(program.path("space.jsonl"), &lines).unwrap();
    program.run(&["migrate", "--realm", "space", "--store", "other.db"]).expect(0);
    let made = program.run(&["spaces", "create", "--name", "copy", "--store", "other.db"]).expect(0);
    let copy = made.stdout.trim();
    program.run(&["import", "space", "space.jsonl", "--space", copy, "--store", "other.db"]).expect(0);
    let copied = program.run(&["export", "space", "--space", copy, "--store", "other.db"]).expect(0).stdout;
    assert_eq!(copied, lines);
}
