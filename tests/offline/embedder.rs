//! Vectors of survivors that are not to be averaged: from an embedder, or not at all; a run never fails for one.

use serde_json::{Value, json};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::support::program::{Program, run_id};
use crate::support::world::{DIMENSION, NAMESPACE, World, vector};

/// What the embedder answers for any name.
const ANSWER: usize = 7_000;

/// A program over a world whose duplicates have the names of their originals in another spelling, and other vectors.
fn program() -> Program {
    let program = Program::new();
    let mut world = World::new(30);
    for (number, entity) in world.entities.iter_mut().enumerate() {
        entity["embedding"] = json!(vector(1_000 + number, DIMENSION));
    }
    program.import("a.db", NAMESPACE, &world.lines());
    program
}

/// Dreams, and answers the ops that wanted a vector from an embedder.
fn re_embedded(program: &Program) -> Vec<Value> {
    let done = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    assert_eq!(done["state"], "completed", "{done}");
    let ops = program.ops("a.db", &run_id(&done));
    let wanted: Vec<Value> = ops.into_iter().filter(|op| op["draft"]["decision"] == "re_embed").collect();
    assert_eq!(wanted.len(), 3);
    wanted
}

async fn serve(answer: impl Fn(&Request) -> ResponseTemplate + Send + Sync + 'static) -> (MockServer, Program) {
    let server = MockServer::start().await;
    let asks = Mock::given(method("POST")).and(path("/v1/embeddings")).and(header("authorization", "Bearer secret"));
    asks.respond_with(answer).mount(&server).await;
    let mut program = program();
    program.set("DREAM_EMBEDDER_URL", &format!("{}/v1", server.uri()));
    program.set("DREAM_EMBEDDER_MODEL", "another-model");
    program.set("DREAM_EMBEDDER_KEY", "secret");
    (server, program)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_survivor_gets_the_vector_that_the_embedder_makes_of_its_name_and_undo_takes_it_back() {
    let (server, program) = serve(|request| {
        let asked: Value = request.body_json().unwrap();
        let names = asked["input"].as_array().unwrap().len();
        let data: Vec<Value> =
            (0..names).map(|at| json!({ "index": at, "embedding": vector(ANSWER, DIMENSION) })).collect();
        ResponseTemplate::new(200).set_body_json(json!({ "data": data }))
    })
    .await;
    let before = program.content("a.db", NAMESPACE);
    let wanted = re_embedded(&program);
    assert!(wanted.iter().all(|op| op["state"] == "applied"), "{wanted:#?}");
    let content = program.content("a.db", NAMESPACE);
    let rows: Vec<Value> = content.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let remade: Vec<&Value> = rows.iter().filter(|row| row["embedding_model"] == "another-model").collect();
    assert_eq!(remade.len(), 3);
    let expected = f64::from(vector(ANSWER, DIMENSION)[0]);
    assert!(remade.iter().all(|row| (row["embedding"][0].as_f64().unwrap() - expected).abs() < 1e-6));
    assert_eq!(server.received_requests().await.unwrap().len(), 1, "all names in one call");
    let run = program.run(&["history", "--store", "a.db", "--json"]).json()[0]["run"].as_str().unwrap().to_owned();
    program.run(&["undo", "--run", &run, "--store", "a.db"]).expect(0);
    assert_eq!(program.content("a.db", NAMESPACE), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_refuses_or_answers_nonsense_leaves_the_vectors_as_they_are() {
    let nonsense: [fn(&Request) -> ResponseTemplate; 3] = [
        |_| ResponseTemplate::new(403),
        |_| ResponseTemplate::new(200).set_body_json(json!({ "data": [] })),
        |_| ResponseTemplate::new(200).set_body_string("[[["),
    ];
    for answer in nonsense {
        let (_server, program) = serve(answer).await;
        let wanted = re_embedded(&program);
        let is_skipped = |op: &Value| op["state"] == "skipped" && op["reason"] == "no_embedding";
        assert!(wanted.iter().all(is_skipped), "{wanted:#?}");
    }
}

#[test]
fn without_an_embedder_survivors_keep_the_vectors_they_have() {
    let wanted = re_embedded(&program());
    assert!(wanted.iter().all(|op| op["state"] == "skipped" && op["reason"] == "no_embedding"), "{wanted:#?}");
}
