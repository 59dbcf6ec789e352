//! Ingestion mentions again what a merge absorbed: the next dream leads it to the survivor, and every mention counts once.

use serde_json::json;

use crate::lab::{Lab, STORE, input};
use crate::support::world::World;

/// What Khora does on PostgreSQL with a name that it has: the row is overwritten, and lives again.
const UPSERT: &str = "
    insert into entities (id, namespace_id, name, entity_type, description, mention_count, embedding, embedding_model, updated_at)
    select gen_random_uuid(), namespace_id, name, entity_type, 'mentioned again', 1, embedding, embedding_model,
           clock_timestamp()
      from entities where valid_until is not null
    on conflict (namespace_id, name, entity_type) do update
       set description = excluded.description, mention_count = excluded.mention_count, embedding = excluded.embedding,
           embedding_model = excluded.embedding_model, valid_until = excluded.valid_until, updated_at = excluded.updated_at";

#[tokio::test(flavor = "multi_thread")]
async fn what_ingestion_brings_back_is_absorbed_again_and_every_mention_counts_once() {
    let lab = Lab::with(&World::new(100).lines()).await;
    let _worker = lab.worker(&[]);
    let mut database = lab.database().await;
    let mut mentions = async || -> (i64, i64) {
        let query = "select coalesce(sum(mention_count), 0)::bigint, count(*) from entities where valid_until is null";
        sqlx::query_as(query).fetch_one(&mut lab.database().await).await.unwrap()
    };
    let (before, entities) = mentions().await;
    let first = lab.dream(input(json!({ "mode": "apply" }))).await;
    assert_eq!(mentions().await, (before, entities - 10), "a merge loses no mention");

    let again = sqlx::query(UPSERT).execute(&mut database).await.unwrap().rows_affected();
    assert_eq!(again, 10);
    let second = lab.dream(input(json!({ "mode": "apply" }))).await;
    assert_eq!(mentions().await, (before + 10, entities - 10), "the new mentions, and no old one twice");
    let ops = lab.program.ops(STORE, &second.run_id);
    let absorbed = ops.iter().filter(|op| op["draft"]["kind"] == "dream_reabsorb" && op["state"] == "applied");
    assert_eq!(absorbed.count(), 10);

    let third = lab.dream(input(json!({ "mode": "apply" }))).await;
    assert_eq!(third.ops.get("applied"), None, "{:?}", third.ops);
    for run in [&second, &first] {
        lab.program.run(&["undo", "--run", &run.run_id]).expect(0);
    }
    assert_eq!(
        mentions().await,
        (before + 10 - 20, entities),
        "the mentions of the second upsert stand where it put them"
    );
}
