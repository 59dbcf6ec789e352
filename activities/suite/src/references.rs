//! References: alive is what any chunk table of this store holds in this namespace.

use std::collections::BTreeMap;

use dream_core::change::{Column, RowKey, Value};
use dream_core::op::OpState;
use uuid::Uuid;

use crate::actor::drop_references;
use crate::kit::{ChunkTable, Dialect, WorldKit};
use crate::world::{INGESTED_AT, Scene, chunk, document, edge, entity, id};

/// A row as the stream tells of it: live, number of references, dead ones.
type Told = (bool, u32, Vec<Uuid>);

async fn told(scene: &Scene<'_>) -> BTreeMap<RowKey, Told> {
    let mut told = BTreeMap::new();
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    snapshot
        .references(&mut |row| {
            told.insert(row.row, (row.is_live, row.references, row.dead.to_vec()));
        })
        .await
        .unwrap();
    told
}

fn references(chunks: &[u128]) -> Value {
    Value::Ids(chunks.iter().copied().map(chunk).collect())
}

pub async fn a_chunk_in_either_table_is_alive(kit: &dyn WorldKit) {
    if !kit.is_khoras() {
        return;
    }
    let row = entity(1, "Ada").with(Column::SourceChunkIds, references(&[1, 2, 3]));
    let scene = Scene::new(kit).await.with(&[row]).await;
    kit.insert_chunk(scene.namespace.id, chunk(1), ChunkTable::Chunks).await;
    kit.insert_chunk(scene.namespace.id, chunk(2), ChunkTable::KhoraChunks).await;
    assert_eq!(told(&scene).await[&RowKey::entity(id(1))], (true, 3, vec![chunk(3)]));
    scene.dream(1, vec![drop_references(RowKey::entity(id(1)), &[1, 2, 3])]).await;
    assert_eq!(scene.entity(1).await.get(Column::SourceChunkIds), &references(&[1, 2]));
}

pub async fn a_chunk_table_that_appears_later_is_seen(kit: &dyn WorldKit) {
    if kit.is_khoras() {
        return;
    }
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada")]).await;
    let key = RowKey::entity(id(1));
    assert_eq!(told(&scene).await[&key].2, [chunk(1)]);
    // Khora makes this table when it connects, which may be long after a worker did.
    let id_type = if kit.dialect() == Dialect::Postgres { "uuid" } else { "text" };
    kit.execute(&format!(
        "create table khora_chunks (id {id_type} primary key, namespace_id {id_type}, document_id {id_type}, \
         content text, created_at text)"
    ))
    .await;
    kit.insert_chunk(scene.namespace.id, chunk(1), ChunkTable::KhoraChunks).await;
    assert!(told(&scene).await[&key].2.is_empty());
    let fates = scene.dream(1, vec![drop_references(key, &[1])]).await;
    assert_eq!(fates[0].1, OpState::Noop);
}

pub async fn a_chunk_of_another_namespace_is_dead(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada")]).await;
    let elsewhere = Scene::numbered(kit, 2).await;
    kit.insert_chunk(elsewhere.namespace.id, chunk(1), ChunkTable::Chunks).await;
    assert_eq!(told(&scene).await[&RowKey::entity(id(1))].2, [chunk(1)]);
    let fates = scene.dream(1, vec![drop_references(RowKey::entity(id(1)), &[1])]).await;
    assert_eq!(fates[0].1, OpState::Applied);
}

pub async fn references_are_told_row_by_row(kit: &dyn WorldKit) {
    let rows = [
        entity(1, "Ada").with(Column::SourceChunkIds, references(&[5, 1, 4, 5])),
        entity(2, "Bob").with(Column::SourceChunkIds, references(&[])),
        entity(3, "Cy").with(Column::SourceChunkIds, Value::Null),
        entity(4, "Di").with(Column::ValidUntil, Value::Time(INGESTED_AT)),
        edge(10, 1, 2, "KNOWS"),
        edge(11, 1, 2, "KNEW").with(Column::InvalidatedAt, Value::Time(INGESTED_AT)),
    ];
    let scene = Scene::new(kit).await.with(&rows).await.with_chunks([1, 10]).await;
    let expected: BTreeMap<RowKey, Told> = [
        (RowKey::entity(id(1)), (true, 4, vec![chunk(5), chunk(4)])),
        (RowKey::entity(id(4)), (false, 1, vec![chunk(4)])),
        (RowKey::relationship(id(10)), (true, 1, vec![])),
        (RowKey::relationship(id(11)), (false, 1, vec![chunk(11)])),
    ]
    .into();
    assert_eq!(told(&scene).await, expected);
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let mut ends = Vec::new();
    snapshot
        .references(&mut |row| {
            ends.push((row.row.id, row.ends, row.source_document_ids.to_vec(), row.updated_at));
        })
        .await
        .unwrap();
    let edge = ends.iter().find(|(row, ..)| *row == id(10)).unwrap();
    let updated_at = INGESTED_AT.plus_seconds(10);
    assert_eq!(*edge, (id(10), Some((id(1), id(2))), vec![document(10)], updated_at));
}
