//! Snapshots: one consistent view, streamed.

use std::collections::BTreeMap;

use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::mirror::verify::IdRange;
use dream_ports::Snapshot;
use uuid::Uuid;

use crate::kit::{ChunkTable, WorldKit};
use crate::world::{INGESTED_AT, MODEL, Scene, chunk, document, edge, entity, id, vector};

async fn ids(snapshot: &mut dyn Snapshot) -> (Vec<Uuid>, Vec<Uuid>) {
    let (mut entities, mut edges) = (Vec::new(), Vec::new());
    snapshot.entities(&mut |entity| entities.push(entity.id)).await.unwrap();
    snapshot.relationships(&mut |edge| edges.push(edge.id)).await.unwrap();
    entities.sort_unstable();
    edges.sort_unstable();
    (entities, edges)
}

pub async fn a_namespace_is_streamed_as_it_is(kit: &dyn WorldKit) {
    let future = INGESTED_AT.plus_seconds(20 * 365 * 86_400);
    let mut rows = vec![
        entity(1, "Ada")
            .with(Column::Attributes, Value::Json(r#"{"age": 36}"#.to_owned()))
            .with(Column::MentionCount, Value::Int(7)),
        entity(2, "Bob").with(Column::ValidUntil, Value::Time(INGESTED_AT)),
        entity(3, "Cy").with(Column::ValidUntil, Value::Time(future)),
        edge(10, 1, 3, "KNOWS"),
        edge(11, 1, 2, "ENDED").with(Column::ValidUntil, Value::Time(INGESTED_AT)),
        edge(12, 1, 2, "PRUNED").with(Column::ValidTo, Value::Time(future)),
        edge(13, 1, 2, "RETIRED").with(Column::InvalidatedAt, Value::Time(future)),
    ];
    if kit.has_vectors() {
        rows[0].put(Column::Embedding, vector(1, 0.5));
    }
    let scene = Scene::new(kit).await.with(&rows).await;
    let _elsewhere = Scene::numbered(kit, 2).await.with(&[entity(50, "Eve")]).await;
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    assert_eq!(ids(snapshot.as_mut()).await, (vec![id(1), id(3)], vec![id(10)]));
    let mut seen = 0;
    snapshot
        .entities(&mut |entity| {
            if entity.id != id(1) {
                assert_eq!(entity.embedding_model, None, "no vector, no model");
                return;
            }
            seen += 1;
            assert_eq!((entity.name, entity.entity_type, entity.mention_count), ("Ada", "PERSON", 7));
            let attributes: serde_json::Value = serde_json::from_str(entity.attributes).unwrap();
            assert_eq!(attributes, serde_json::json!({ "age": 36 }));
            assert_eq!((entity.source_document_ids, entity.source_chunk_ids), (&[document(1)][..], &[chunk(1)][..]));
            assert_eq!(entity.embedding_model, kit.has_vectors().then_some(MODEL));
            let at = INGESTED_AT.plus_seconds(1);
            assert_eq!((entity.created_at, entity.updated_at), (at, at));
        })
        .await
        .unwrap();
    assert_eq!(seen, 1);
    snapshot
        .relationships(&mut |edge| {
            assert_eq!((edge.source, edge.target, edge.relationship_type), (id(1), id(3), "KNOWS"));
        })
        .await
        .unwrap();
}

pub async fn a_range_of_ids_is_streamed_in_its_order(kit: &dyn WorldKit) {
    let future = INGESTED_AT.plus_seconds(20 * 365 * 86_400);
    let rows = [
        entity(3, "Cy").with(Column::ValidUntil, Value::Time(future)),
        entity(1, "Ada"),
        entity(2, "Bob").with(Column::ValidUntil, Value::Time(INGESTED_AT)),
        edge(12, 1, 2, "ENDED").with(Column::ValidUntil, Value::Time(INGESTED_AT)),
        edge(10, 1, 3, "KNOWS"),
        edge(13, 1, 2, "PRUNED").with(Column::ValidTo, Value::Time(INGESTED_AT)),
        edge(11, 1, 2, "RETIRED").with(Column::InvalidatedAt, Value::Time(future)),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    let _elsewhere = Scene::numbered(kit, 2).await.with(&[entity(50, "Eve")]).await;
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let mut found = Vec::new();
    snapshot.standing(Table::Entities, IdRange::ALL, &mut |row| found.push((row.id, row.is_live))).await.unwrap();
    assert_eq!(found, [(id(1), true), (id(2), false), (id(3), true)]);
    let mut found = Vec::new();
    let ids = IdRange { first: id(10), last: id(12) };
    snapshot
        .standing(Table::Relationships, ids, &mut |row| {
            let (ends, relationship_type) = row.edge.unwrap();
            found.push((row.id, row.is_live, ends, relationship_type.to_owned()));
        })
        .await
        .unwrap();
    let expected = [(10, true, 3, "KNOWS"), (11, false, 2, "RETIRED"), (12, false, 2, "ENDED")];
    let expected = expected.map(|(edge, is_live, end, kind)| (id(edge), is_live, (id(1), id(end)), kind.to_owned()));
    assert_eq!(found, expected);
    let ids = IdRange { first: id(13), last: id(13) };
    let mut live = Vec::new();
    snapshot.standing(Table::Relationships, ids, &mut |row| live.push(row.is_live)).await.unwrap();
    assert_eq!(live, [false]);
}

pub async fn what_a_migrated_store_left_null_has_a_meaning(kit: &dyn WorldKit) {
    let bare = Row::empty(Table::Entities, id(1)).with(Column::Name, Value::Text("Ada".to_owned()));
    let ends =
        |row: Row| row.with(Column::SourceEntityId, Value::Id(id(1))).with(Column::TargetEntityId, Value::Id(id(1)));
    let bare_edge = ends(Row::empty(Table::Relationships, id(10)));
    let scene = Scene::new(kit).await.with(&[bare.clone(), bare_edge.clone()]).await;
    assert_eq!(scene.entity(1).await, bare);
    assert_eq!(scene.edge(10).await, bare_edge);
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let mut seen = Vec::new();
    snapshot
        .entities(&mut |entity| {
            seen.push((entity.entity_type.to_owned(), entity.mention_count, entity.attributes.to_owned()));
            assert!(entity.source_chunk_ids.is_empty() && entity.source_document_ids.is_empty());
        })
        .await
        .unwrap();
    snapshot.relationships(&mut |edge| seen.push((edge.relationship_type.to_owned(), 0, String::new()))).await.unwrap();
    let said = |text: &str, count, json: &str| (text.to_owned(), count, json.to_owned());
    assert_eq!(seen, [said("CONCEPT", 1, "{}"), said("RELATES_TO", 0, "")]);
    snapshot.references(&mut |row| panic!("no references: {row:?}")).await.unwrap();
}

pub async fn a_view_stays_the_same_while_somebody_writes(kit: &dyn WorldKit) {
    if !kit.reads_beside_writes() {
        return;
    }
    let rows = [entity(1, "Ada"), entity(2, "Ada L."), edge(10, 1, 2, "KNOWS")];
    let scene = Scene::new(kit).await.with(&rows).await;
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let before = ids(snapshot.as_mut()).await;
    let draft = scene.merge(1, &[2]).await;
    scene.dream(1, vec![draft]).await;
    kit.insert(scene.namespace.id, &entity(3, "Bob")).await;
    assert_eq!(ids(snapshot.as_mut()).await, before);
    let mut fresh = scene.store.snapshot(scene.namespace.id).await.unwrap();
    assert_eq!(ids(fresh.as_mut()).await, (vec![id(1), id(3)], vec![]));
}

pub async fn vectors_come_as_they_were_written(kit: &dyn WorldKit) {
    if !kit.has_vectors() {
        return;
    }
    let odd = {
        let Value::Vector(mut components) = vector(5, 0.3) else { unreachable!() };
        // Each of these is spelled in another way, and the last is the smallest there is.
        components[7..11].copy_from_slice(&[1.0e-7, -0.1, 0.333_333_34, f32::from_bits(1)]);
        Value::Vector(components)
    };
    let rows = [
        entity(1, "Ada").with(Column::Embedding, odd.clone()),
        entity(2, "Bob"),
        entity(3, "Cy").with(Column::Embedding, vector(9, 0.0)),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let mut vectors = BTreeMap::new();
    let asked = [id(1), id(2), id(3), id(77)];
    snapshot
        .vectors(&asked, &mut |id, vector| {
            vectors.insert(id, Value::Vector(vector.to_vec()));
        })
        .await
        .unwrap();
    drop(snapshot);
    assert_eq!(vectors, [(id(1), odd.clone()), (id(3), vector(9, 0.0))].into());
    assert_eq!(scene.row(RowKey::entity(id(1))).await.unwrap().get(Column::Embedding), &odd);
}

pub async fn the_newest_recall_of_an_entity_is_known(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob"), entity(3, "Cy")]).await;
    kit.insert_chunk(scene.namespace.id, chunk(1), ChunkTable::Chunks).await;
    kit.insert_chunk(scene.namespace.id, chunk(2), ChunkTable::Chunks).await;
    let recalled = kit.dialect().moment(INGESTED_AT);
    let statement =
        format!("update chunks set last_accessed_at = {recalled} where id = {}", kit.dialect().id(chunk(1)));
    assert_eq!(kit.execute(&statement).await, 1);
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let mut recalls = snapshot.recalls(&[id(1), id(2), id(3)]).await.unwrap();
    recalls.sort_unstable();
    assert_eq!(recalls, [(id(1), Some(INGESTED_AT)), (id(2), None)], "of an entity without a chunk nothing is known");
}
