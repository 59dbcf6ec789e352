//! Spaces in server mode: the worker asks its own model, in the dialect of its provider, within its budget, and says what that
//! took.

use serde_json::{Value, json};

use crate::spaces::{
    add, answer, content, create, dream, job, lived_in, lived_in_again, program, submit, timeless_content,
};
use crate::support::model::{Asked, Dialect, INPUT_TOKENS, Model, OUTPUT_TOKENS, Say};
use crate::support::program::Program;
use crate::support::server::Server;

/// A key that must be seen nowhere.
pub(crate) const KEY: &str = "sk-canary-key";

/// Tells a program of a model.
pub(crate) fn know(program: &mut Program, model: &Model, provider: &str, path: &str) {
    program.set("DREAM_MIND_PROVIDER", provider);
    program.set("DREAM_MIND_MODEL", "a-model");
    program.set("DREAM_MIND_URL", &format!("{}{path}", model.address));
    program.set("DREAM_MIND_KEY", KEY);
}

/// A program that knows a model with `OpenAI`'s dialect.
pub(crate) fn knowing(model: &Model) -> Program {
    let mut program = program();
    know(&mut program, model, "openai", "/v1");
    program
}

/// An answer to a question that does one of each thing.
pub(crate) fn good(asked: &Asked) -> Say {
    Say::Words(words(asked))
}

pub(crate) fn words(asked: &Asked) -> String {
    answer(&json!({ "input": asked.input() }))
}

pub(crate) fn notes(run: &Value) -> String {
    let notes = run["report"]["notes"].as_array();
    notes
        .map(|notes| notes.iter().map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("\n"))
        .unwrap_or_default()
}

/// The only question that a model was asked.
#[track_caller]
fn only(model: &Model) -> Asked {
    let mut asked = model.asked();
    assert_eq!(asked.len(), 1);
    asked.remove(0)
}

/// What a report says of the model, by name.
#[track_caller]
fn assert_took(run: &Value, calls: u64, answers: u64) {
    let model = &run["report"]["model"];
    assert_eq!((&model["model"], &model["calls"]), (&json!("openai/a-model"), &json!(calls)), "{run:#}");
    assert_eq!(model["tokens_input"], answers * INPUT_TOKENS, "{run:#}");
    assert_eq!(model["tokens_output"], answers * OUTPUT_TOKENS, "{run:#}");
}

#[test]
fn a_space_in_server_mode_dreams_without_its_agent_and_says_who_answered_and_what_it_took() {
    let model = Model::start(Dialect::OpenAi, |_, asked| good(asked));
    let program = knowing(&model);
    let space = lived_in(&program);
    let before = content(&program, &space);
    let done = dream(&program, &space, &["--mode", "server"]).expect(0).json();
    assert_eq!(done["status"], "done", "{done:#}");
    let counts =
        ["merges", "updates", "contradictions", "proposals"].map(|name| done["report"][name].as_u64().unwrap());
    assert_eq!(counts, [1, 4, 1, 1], "{done:#}");
    assert_took(&done, 1, 1);
    assert_eq!(notes(&done), "");
    let run = done["run_id"].as_str().unwrap();
    assert_eq!(program.run(&["report", run, "--json"]).expect(0).json(), done);
    let shown = program.run(&["report", run]).expect(0).stdout;
    assert!(shown.contains("openai/a-model: 1 call, 120 tokens in, 30 out"), "{shown}");
    assert_ne!(content(&program, &space), before);
    program.run(&["undo", "--run", run]).expect(0);
    assert_eq!(content(&program, &space), before);
    let asked = only(&model);
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some("Bearer sk-canary-key"));
    let format = &asked.body["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
    assert_eq!(format["json_schema"]["schema"]["type"], "object", "{format:#}");
    assert_eq!((&asked.body["model"], &asked.body["max_tokens"]), (&json!("a-model"), &json!(16_384)));
    assert_eq!(asked.body["messages"][0]["role"], "system");
}

#[test]
fn the_answer_of_a_model_comes_to_what_the_same_answer_of_an_agent_comes_to() {
    let model = Model::start(Dialect::OpenAi, |_, asked| good(asked));
    let program = knowing(&model);
    let server = lived_in_again(&program, "server.db");
    // The same run id, as what a run writes has ids that are made of it.
    let run = "01900000-0000-7000-8000-000000000003";
    dream(&program, &server, &["--mode", "server", "--store", "server.db", "--run-id", run]).expect(0);
    let client = lived_in_again(&program, "dream.db");
    dream(&program, &client, &["--mode", "client", "--run-id", run]).expect(6);
    submit(&program, run, &answer(&job(&program, &client))).expect(0);
    let contents = [("server.db", &server), ("dream.db", &client)];
    let [one, other] = contents.map(|(store, space)| timeless_content(&program, space, store));
    assert_eq!(one, other);
}

#[test]
fn an_answer_that_cannot_be_used_is_asked_for_again_and_paid_for_again() {
    let model = Model::start(Dialect::OpenAi, |before, asked| match before {
        0 => Say::CutOff(words(asked)),
        1 => Say::Words("{\"merges\": [".to_owned()),
        2 => Say::Words("{\"quokka\": 1}".to_owned()),
        3 => Say::Words("I would rather not.".to_owned()),
        _ => good(asked),
    });
    let program = knowing(&model);
    let space = lived_in(&program);
    let done = dream(&program, &space, &["--mode", "server"]).expect(0).json();
    assert_eq!((&done["status"], &done["report"]["merges"]), (&json!("done"), &json!(1)), "{done:#}");
    assert_took(&done, 5, 5);
    let notes = notes(&done);
    for said in [
        "answer 1 could not be used: it was cut off after 16384 tokens",
        "breaks off at line 1",
        "not have",
        "not JSON",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    assert!(!notes.contains("quokka") && !notes.contains("rather"), "{notes}");
}

#[test]
fn the_fifth_answer_that_cannot_be_used_ends_the_run_and_leaves_its_housekeeping() {
    // The same words each time: every answer counts, not every different one.
    let model = Model::start(Dialect::OpenAi, |_, _| Say::Words("{\"quokka\": 1}".to_owned()));
    let program = knowing(&model);
    let space = lived_in(&program);
    let failed = dream(&program, &space, &["--mode", "server"]).expect(1);
    assert!(failed.stderr.contains("DREAM-1018") && !failed.stderr.contains("quokka"), "{}", failed.stderr);
    assert_eq!(model.asked().len(), 5);
    let runs = program.run(&["history", "--store", "dream.db", "--json"]).json();
    let run = runs[0]["run"].as_str().unwrap();
    let report = program.run(&["report", run, "--json"]).json();
    assert_eq!((&report["status"], &report["failure"]), (&json!("failed"), &json!("ModelUnfit")), "{report:#}");
    assert_eq!(report["report"]["housekeeping"]["duplicates"], 1);
    assert_took(&report, 5, 5);
    program.run(&["undo", "--run", run]).expect(0);
}

#[test]
fn a_budget_that_is_spent_leaves_housekeeping_and_says_so() {
    let limits = [("CALLS_PER_RUN_MAX", "1", 1), ("TOKENS_PER_RUN_MAX", "100", 0), ("TOKENS_PER_DAY_MAX", "100", 0)];
    for (limit, value, asked) in limits {
        let model = Model::start(Dialect::OpenAi, |_, _| Say::Words("{".to_owned()));
        let mut program = knowing(&model);
        program.set(&format!("DREAM_MIND_{limit}"), value);
        let space = lived_in(&program);
        let done = dream(&program, &space, &["--mode", "server"]).expect(0).json();
        assert_eq!((&done["status"], &done["report"]["merges"]), (&json!("done"), &json!(0)), "{done:#}");
        assert_eq!(done["report"]["housekeeping"]["duplicates"], 1);
        let said = format!(
            "the budget for openai/a-model is spent ({}), so there was housekeeping only",
            limit.to_lowercase()
        );
        assert!(notes(&done).contains(&said), "{}", notes(&done));
        assert_eq!(model.asked().len(), asked, "{limit}");
    }
}

#[test]
fn the_budget_of_a_day_is_one_for_all_runs_of_a_space_and_each_space_has_its_own() {
    let model = Model::start(Dialect::OpenAi, |_, _| Say::Words("{}".to_owned()));
    let mut program = knowing(&model);
    program.set("DREAM_MIND_CALLS_PER_DAY_MAX", "2");
    let spaces = [create(&program, "server"), create(&program, "server")];
    spaces.iter().for_each(|space| drop(add(&program, space, "likes tea", &[])));
    for (space, asked) in [(&spaces[0], 1), (&spaces[0], 2), (&spaces[0], 2), (&spaces[1], 3)] {
        let done = dream(&program, space, &[]).expect(0).json();
        assert_eq!(model.asked().len(), asked, "{done:#}");
    }
}

#[test]
fn anthropic_is_asked_in_its_own_dialect() {
    let model = Model::start(Dialect::Anthropic, |_, asked| good(asked));
    let mut program = program();
    know(&mut program, &model, "anthropic", "/v1");
    let space = lived_in(&program);
    let done = dream(&program, &space, &["--mode", "server"]).expect(0).json();
    assert_eq!((&done["status"], &done["report"]["merges"]), (&json!("done"), &json!(1)), "{done:#}");
    let taken = &done["report"]["model"];
    assert_eq!((&taken["model"], &taken["tokens_input"]), (&json!("anthropic/a-model"), &json!(INPUT_TOKENS)));
    let asked = only(&model);
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!((asked.header("x-api-key"), asked.header("authorization")), (Some(KEY), None));
    assert!(asked.header("anthropic-version").is_some());
    let body = &asked.body;
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("a-model"), &json!(16_384)));
    assert!(body["system"].to_string().contains("JSON") && body.to_string().contains("json_schema"), "{body:#}");
}

#[test]
fn ollama_is_asked_in_its_own_dialect_and_told_the_schema() {
    let model = Model::start(Dialect::Ollama, |_, asked| good(asked));
    let mut program = program();
    know(&mut program, &model, "ollama", "");
    program.unset("DREAM_MIND_KEY");
    let space = lived_in(&program);
    let done = dream(&program, &space, &["--mode", "server"]).expect(0).json();
    assert_eq!((&done["status"], &done["report"]["merges"]), (&json!("done"), &json!(1)), "{done:#}");
    let taken = &done["report"]["model"];
    assert_eq!((&taken["model"], &taken["tokens_output"]), (&json!("ollama/a-model"), &json!(OUTPUT_TOKENS)));
    let asked = only(&model);
    assert_eq!((asked.path.as_str(), asked.header("authorization")), ("/api/chat", None));
    let body = &asked.body;
    assert_eq!((&body["stream"], &body["format"]), (&json!(false), &json!("json")), "{body:#}");
    assert_eq!(body["options"]["num_predict"], 16_384);
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("weekly_digest"), "the schema is told");
}

/// What `dream doctor` says of the model.
fn verdict(program: &Program) -> String {
    let findings = program.run(&["doctor", "--json"]).json();
    let findings = findings.as_array().unwrap();
    findings.iter().find(|finding| finding["what"] == "model").unwrap()["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn a_model_that_cannot_work_is_refused_by_the_name_of_what_to_set() {
    let mut program = program();
    let space = create(&program, "server");
    program.set("DREAM_MIND_MODEL", "a-model");
    for (name, value, lacks) in [
        ("DREAM_MIND_KEY_FILE", "", "DREAM_MIND_PROVIDER"),
        ("DREAM_MIND_PROVIDER", "quokka", "expected openai, anthropic or ollama"),
        ("DREAM_MIND_PROVIDER", "openai", "DREAM_MIND_KEY"),
        ("DREAM_MIND_KEY_FILE", "/nowhere/key", "/nowhere/key"),
    ] {
        program.set(name, value);
        let refused = dream(&program, &space, &[]).expect(1).stderr;
        assert!(refused.contains(lacks) && !refused.contains("quokka"), "{refused}");
        assert_eq!(verdict(&program), "fault", "{lacks}");
    }
    std::fs::write(program.path("key"), format!("{KEY}\n")).unwrap();
    program.set("DREAM_MIND_KEY_FILE", "key");
    assert_eq!(verdict(&program), "ok");
    let shown = program.run(&["config", "show"]).expect(0).stdout + &program.run(&["doctor"]).stdout;
    assert!(shown.contains("openai/a-model") && !shown.contains(KEY), "{shown}");
}

#[test]
fn the_file_names_a_model_and_the_variable_of_its_key() {
    let model = Model::start(Dialect::OpenAi, |_, asked| good(asked));
    let mut program = program();
    let file = format!(
        "[mind]\nprovider = \"openai\"\nmodel = \"from-the-file\"\nbase_url = \"{}/v1/\"\nkey_env = \"SOME_KEY\"\noutput_tokens_max = 1000\n",
        model.address
    );
    std::fs::write(program.path("dream.toml"), file).unwrap();
    program.set("SOME_KEY", KEY);
    let space = lived_in(&program);
    let done = dream(&program, &space, &["--mode", "server"]).expect(0).json();
    assert_eq!(done["report"]["model"]["model"], "openai/from-the-file", "{done:#}");
    let asked = &model.asked()[0];
    assert_eq!((asked.path.as_str(), &asked.body["max_tokens"]), ("/v1/chat/completions", &json!(1_000)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dream_in_server_mode_is_started_and_read_over_http() {
    let model = Model::start(Dialect::OpenAi, |_, asked| good(asked));
    let (mut program, [(space, key)]) = crate::serve::program::<1>();
    know(&mut program, &model, "openai", "/v1");
    for text in ["drinks green tea", "drinks tea that is green", "works at night", "lives in Graz", "lives in Linz"] {
        add(&program, &space, text, &[]);
    }
    let server = Server::start(&program);
    let agent = server.agent(&key);
    let started = agent.post("/v1/dream", &json!({ "mode": "server" })).await.expect(202).json();
    let path = format!("/v1/dream/runs/{}", started["run_id"].as_str().unwrap());
    let mut run = agent.get(&path).await.expect(200).json();
    while run["status"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        run = agent.get(&path).await.expect(200).json();
    }
    assert_eq!(run["status"], "done", "{run:#}");
    assert_took(&run, 1, 1);
    let page = server.agent(&key).get(&format!("{path}.html")).await.expect(200).text;
    assert!(page.contains("openai/a-model: 1 call"), "{page}");
}
