//! Every statement against three schemas: Khora's, ours, and Khora's with a column more and an index less.

use dream_ports::RunStore as _;
use dream_store_sqlite::SqliteStore;
use dream_store_suite::statements;
use sqlx::{AssertSqlSafe, Executor as _, SqlSafeStr as _};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a later version of Khora, or its operator, may do to the tables.
const MUTATION: &str = "
    alter table entities add column added text not null default 'x';
    alter table relationships add column added text not null default 'x';
    alter table chunks add column added text not null default 'x';
    alter table khora_chunks add column added text not null default 'x';
    alter table documents add column added text not null default 'x';
    alter table memory_namespaces add column added text not null default 'x';
    alter table temporal_edges add column added text not null default 'x';
    alter table khora_dream_runs add column added text not null default 'x';
    drop index ix_relationships_source_entity_id;
    drop index ix_entities_namespace_id;";

#[test]
fn every_statement_is_well_formed_and_used() {
    let statements = statements::all(ROOT);
    statements::assert_well_formed(&statements);
    statements::assert_used(&statements, ROOT);
    statements::assert_writes_what_ops_may_change(&statements);
}

/// Prepares every statement on a store whose schema is the given one, without tables that it lacks.
async fn assert_prepares(schema: Option<&'static str>, mutation: &'static str, missing: &[&str]) {
    let store = SqliteStore::in_memory().await.unwrap();
    if let Some(schema) = schema {
        sqlx::raw_sql(schema).execute(store.pool()).await.unwrap();
    }
    sqlx::raw_sql(mutation).execute(store.pool()).await.unwrap();
    store.migrate(true).await.unwrap();
    let chunk_tables: Vec<&str> =
        ["chunks", "khora_chunks"].into_iter().filter(|table| !missing.contains(table)).collect();
    for (name, statement) in statements::all(ROOT) {
        for variant in statements::variants(&statement, &chunk_tables) {
            if statements::needs_other_table(&variant, missing) {
                continue;
            }
            let prepared = store.pool().prepare(AssertSqlSafe(variant).into_sql_str()).await;
            assert!(prepared.is_ok(), "{name}: {:?}", prepared.err());
        }
    }
    store.close().await;
}

#[tokio::test]
async fn every_statement_prepares_on_khoras_schema() {
    assert_prepares(Some(dream_store_suite::KHORA_SQLITE), "", &[]).await;
}

#[tokio::test]
async fn every_statement_prepares_on_our_own_schema() {
    assert_prepares(None, "", &["khora_chunks", "temporal_edges", "khora_dream_runs"]).await;
}

#[tokio::test]
async fn every_statement_prepares_with_a_column_more_and_an_index_less() {
    assert_prepares(Some(dream_store_suite::KHORA_SQLITE), MUTATION, &[]).await;
}
