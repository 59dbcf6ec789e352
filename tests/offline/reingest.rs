//! Ingestion mentions again what a merge absorbed, on the embedded store: there the row stays retired, and its count grows.

use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

use crate::support::program::{Program, count, run_id};
use crate::support::world::{NAMESPACE, World};

const MENTION_AGAIN: &str = "update entities set mention_count = mention_count + 1 where valid_until is not null";

/// Mentions of the entities that live.
fn mentions(program: &Program) -> i64 {
    let content = program.content("a.db", NAMESPACE);
    let rows = content.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let live = rows.filter(|row| row["kind"] == "entity" && row["valid_until"].is_null());
    live.map(|row| row["mention_count"].as_i64().unwrap()).sum()
}

#[tokio::test]
async fn what_ingestion_adds_to_an_absorbed_entity_goes_to_its_survivor_once() {
    let program = Program::new();
    program.import("a.db", NAMESPACE, &World::new(100).lines());
    let before = mentions(&program);
    let first = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    assert_eq!(mentions(&program), before, "a merge loses no mention");

    let file = SqliteConnectOptions::new().filename(program.path("a.db"));
    let mut database = SqliteConnection::connect_with(&file).await.unwrap();
    assert_eq!(sqlx::query(MENTION_AGAIN).execute(&mut database).await.unwrap().rows_affected(), 10);
    database.close().await.unwrap();
    let second = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    assert_eq!(mentions(&program), before + 10, "the new mentions, and no old one twice");
    let ops = program.ops("a.db", &run_id(&second));
    let absorbed = ops.iter().filter(|op| op["draft"]["kind"] == "dream_reabsorb" && op["state"] == "applied");
    assert_eq!(absorbed.count(), 10);

    let third = program.dream("a.db", NAMESPACE, &["--mode", "apply"]);
    assert_eq!(count(&third, "applied"), 0, "{third}");
    for run in [&second, &first] {
        program.run(&["undo", "--run", &run_id(run), "--store", "a.db"]).expect(0);
    }
    assert_eq!(mentions(&program), before + 10, "each mention stands where it was made");
}
