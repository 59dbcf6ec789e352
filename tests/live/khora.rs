//! Databases that Khora made, with what stands in them: they are dreamt over as they are, and their tables stay as they were.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use crate::lab::{Lab, STORE, input};
use crate::support::program::{count, run_id};
use crate::support::real_data;
use crate::support::world::{NAMESPACE, World};

/// The tables that Khora's migrations make, without rows.
const SCHEMA: &str = include_str!("../../activities/suite/fixtures/khora_postgres.sql");

/// The stable id of the namespace in the real store.
pub const REAL_NAMESPACE: &str = "ae804557-6025-4e6f-b526-38e7c27c5f06";

/// A database that Khora made stays Khora's: whatever a dream needs stands in a schema of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_tables_that_khora_made_are_the_same_before_and_after_a_dream() {
    let lab = Lab::new().await;
    let mut database = lab.database().await;
    let schema_of_16 = SCHEMA.replace("(384)", "(16)");
    sqlx::raw_sql(AssertSqlSafe(schema_of_16)).execute(&mut database).await.unwrap();
    let before = schema(&mut database).await;
    assert!(before.len() > 100, "{before:?}");
    lab.program.import(STORE, NAMESPACE, &World::new(100).lines());
    let _worker = lab.worker(&[]);
    let applied = lab.dream(input(json!({ "mode": "apply" }))).await;
    assert!(applied.ops["applied"] > 10, "{:?}", applied.ops);
    lab.program.run(&["undo", "--run", &applied.run_id]).expect(0);
    assert_eq!(schema(&mut database).await, before);
    let words: Vec<String> =
        sqlx::query_scalar("select state from khora_dream_runs").fetch_all(&mut database).await.unwrap();
    assert_eq!(words, ["completed"], "Khora reads words of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_store_of_khoras_loses_its_duplicates_and_nothing_else() {
    let Some(data) = real_data("a_real_store_of_khoras_loses_its_duplicates_and_nothing_else") else { return };
    let lab = Lab::new().await;
    let mut database = lab.database().await;
    restore(&mut database, &std::fs::read_to_string(data.join("khora_store/postgres_k1000.sql")).unwrap()).await;
    let before = schema(&mut database).await;
    let twins = twins(&mut database).await;
    assert_eq!(twins.len(), 100, "as many duplicates were planted");

    lab.program.run(&["migrate", "--realm", "graph"]).expect(0);
    let more = ["--mode", "apply", "--ops", "vectorcypher_dedupe_entities"];
    let done = lab.program.dream(STORE, REAL_NAMESPACE, &more);
    assert_eq!(count(&done, "failed") + count(&done, "stale"), 0, "{done}");
    assert_eq!(schema(&mut database).await, before);

    let ops = lab.program.ops(STORE, &run_id(&done));
    let merged = retired_by(&ops);
    let apart: BTreeSet<String> = ops
        .iter()
        .filter(|op| op["state"] == "kept_apart" && op["draft"]["rule"] == "generational_suffix")
        .flat_map(|op| pair_of(&op["draft"]["intent"]))
        .collect();
    let (mut joined, mut kept) = (0, 0);
    for (twin, original) in &twins {
        let survivor = |id: &String| merged.get(id).unwrap_or(id).clone();
        if survivor(twin) == survivor(original) {
            joined += 1;
        } else {
            assert!(apart.contains(twin), "{twin} was neither merged nor kept apart for its suffix");
            kept += 1;
        }
    }
    assert_eq!((joined, kept), (95, 5));
    let root = |id: &str| twins.get(id).cloned().unwrap_or_else(|| id.to_owned());
    for (absorbed, survivor) in &merged {
        assert_eq!(root(absorbed), root(survivor), "nothing else merges");
    }
}

/// Duplicates by their ids, with the entities that they are duplicates of.
async fn twins(database: &mut PgConnection) -> BTreeMap<String, String> {
    let query = "select id::text as id, metadata ->> 'dup_of' as original from entities where metadata ? 'dup_of'";
    let rows = sqlx::query(query).fetch_all(database).await.unwrap();
    rows.iter().map(|row| (row.get("id"), row.get("original"))).collect()
}

/// Absorbed entities with their survivors.
fn retired_by(ops: &[Value]) -> BTreeMap<String, String> {
    let mut merged = BTreeMap::new();
    for op in ops.iter().filter(|op| op["state"] == "applied") {
        let intent = &op["draft"]["intent"];
        for absorbed in intent["absorb"].as_array().unwrap() {
            merged.insert(absorbed.as_str().unwrap().to_owned(), intent["keep"].as_str().unwrap().to_owned());
        }
    }
    merged
}

fn pair_of(intent: &Value) -> Vec<String> {
    let mut ids = Vec::new();
    for field in intent.as_object().unwrap().values() {
        ids.extend(field.as_str().map(ToOwned::to_owned));
        ids.extend(field.as_array().into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned));
    }
    ids
}

/// Everything that says what Khora's tables look like, as lines.
async fn schema(database: &mut PgConnection) -> Vec<String> {
    let query = "
        select 'column ' || table_name || '.' || column_name || ' ' || udt_name || ' ' || is_nullable || ' '
               || coalesce(column_default, '') as line
          from information_schema.columns where table_schema = 'public'
        union all
        select 'index ' || indexdef from pg_indexes where schemaname = 'public'
        union all
        select 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
          from pg_constraint where connamespace = 'public'::regnamespace
        union all
        select 'trigger ' || pg_get_triggerdef(t.oid)
          from pg_trigger t join pg_class c on c.oid = t.tgrelid
         where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
        union all
        select 'type ' || typname from pg_type where typnamespace = 'public'::regnamespace
        order by 1";
    sqlx::query_scalar(query).fetch_all(database).await.unwrap()
}

/// Restores a plain dump, as `psql` would.
pub async fn restore(database: &mut PgConnection, dump: &str) {
    let mut statements = String::new();
    let mut lines = dump.lines();
    while let Some(line) = lines.next() {
        // What begins so is for `psql` alone.
        if line.starts_with('\\') || line.contains("transaction_timeout") {
            continue;
        }
        if !line.starts_with("COPY ") {
            statements.push_str(line);
            statements.push('\n');
            continue;
        }
        sqlx::raw_sql(AssertSqlSafe(std::mem::take(&mut statements))).execute(&mut *database).await.unwrap();
        let rows: String = lines.by_ref().take_while(|line| *line != "\\.").flat_map(|line| [line, "\n"]).collect();
        let mut copy = database.copy_in_raw(line.trim_end_matches(';')).await.unwrap();
        copy.send(rows.as_bytes()).await.unwrap();
        copy.finish().await.unwrap();
    }
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *database).await.unwrap();
    sqlx::query("select set_config('search_path', 'public', false)").execute(database).await.unwrap();
}
