//! Import and export.

use dream_core::change::{Column, Row, Table, Value};
use dream_ports::transfer::{Imported, NewChunk, OnNameClash};
use uuid::Uuid;

use crate::kit::{WorldKit, assert_same};
use crate::world::{INGESTED_AT, MODEL, Scene, chunk, document, edge, entity, id, vector};

async fn exported(scene: &Scene<'_>, table: Table) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    snapshot.rows(table, &mut |row| rows.push(row)).await.unwrap();
    rows.sort_by_key(|row| row.id);
    rows
}

pub async fn what_is_exported_is_what_was_imported(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let namespace = scene.namespace.id;
    let mut ada = entity(1, "Ada 'the' \"Countess\" \\ Łovelace\n")
        .with(Column::Attributes, Value::Json(r#"{"big": 12345678901234567890, "born": 1815}"#.to_owned()))
        .with(Column::MentionCount, Value::Int(7))
        .with(Column::Confidence, Value::Float(0.514_024_269_129_619_7))
        .with(Column::ValidUntil, Value::Time(INGESTED_AT));
    if kit.has_vectors() {
        ada.put(Column::Embedding, vector(2, 0.7));
    }
    let entities = vec![ada, entity(2, "Bob")];
    let full = edge(10, 1, 2, "KNOWS")
        .with(Column::ValidFrom, Value::Time(INGESTED_AT))
        .with(Column::ValidTo, Value::Time(INGESTED_AT.plus_seconds(1)))
        .with(Column::InvalidatedAt, Value::Time(INGESTED_AT.plus_seconds(2)))
        .with(Column::InvalidatedBy, Value::Id(id(5)))
        .with(Column::Properties, Value::Json(r#"{"since": 1833.50}"#.to_owned()));
    let edges = vec![full, edge(11, 2, 1, "LIKES")];
    let store = &scene.store;
    let written = vec![Imported::Written; 2];
    assert_eq!(store.import_entities(namespace, &entities, OnNameClash::Skip).await.unwrap(), written);
    assert_eq!(store.import_relationships(namespace, &edges).await.unwrap(), written);
    assert_eq!(exported(&scene, Table::Entities).await, entities);
    assert_eq!(exported(&scene, Table::Relationships).await, edges);
    assert_eq!(exported(&scene, Table::TemporalEdges).await, []);
    assert_eq!(exported(&scene, Table::Aliases).await, []);

    let exists = vec![Imported::Exists; 2];
    let again: Vec<Row> = [entity(1, "Another"), entity(2, "Bob")].into();
    assert_eq!(store.import_entities(namespace, &again, OnNameClash::Skip).await.unwrap(), exists);
    assert_eq!(store.import_relationships(namespace, &edges).await.unwrap(), exists);
    assert_eq!(exported(&scene, Table::Entities).await, entities, "left as they are");
    assert_eq!(store.import_entities(namespace, &[], OnNameClash::Skip).await.unwrap(), []);
}

pub async fn a_name_that_is_taken_is_left_out_or_numbered(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada (2)")]).await;
    let namespace = scene.namespace.id;
    let rows = [entity(3, "Ada"), entity(4, "Bob"), entity(5, "Bob"), entity(4, "Cy")];
    let skipped = scene.store.import_entities(namespace, &rows, OnNameClash::Skip).await.unwrap();
    let clash = |number| Imported::NameClash { owner: id(number) };
    assert_eq!(skipped, [clash(1), Imported::Written, clash(4), Imported::Exists]);
    let rows =
        [entity(6, "Ada"), entity(7, "Ada"), entity(8, "Ada").with(Column::EntityType, Value::Text("CITY".into()))];
    let numbered = scene.store.import_entities(namespace, &rows, OnNameClash::Suffix).await.unwrap();
    assert_eq!(numbered, [Imported::Suffixed, Imported::Suffixed, Imported::Written]);
    for (number, name) in [(6, "Ada (3)"), (7, "Ada (4)"), (8, "Ada")] {
        assert_eq!(scene.entity(number).await.get(Column::Name).text(), Some(name));
    }
    let elsewhere = Scene::numbered(kit, 2).await;
    let other = elsewhere.store.import_entities(elsewhere.namespace.id, &[entity(9, "Ada")], OnNameClash::Skip).await;
    assert_eq!(other.unwrap(), [Imported::Written], "another namespace's names are its own");
}

pub async fn an_edge_without_its_ends_is_left_out(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob")]).await;
    let _elsewhere = Scene::numbered(kit, 2).await.with(&[entity(3, "Eve")]).await;
    let edges = [edge(10, 1, 2, "KNOWS"), edge(11, 1, 9, "KNOWS"), edge(12, 3, 1, "KNOWS")];
    let outcomes = scene.store.import_relationships(scene.namespace.id, &edges).await.unwrap();
    let no_end = |number| Imported::NoEnd { end: id(number) };
    assert_eq!(outcomes, [Imported::Written, no_end(9), no_end(3)]);
    assert_eq!(exported(&scene, Table::Relationships).await, edges[..1]);
}

pub async fn ids_of_another_namespace_are_left_out_and_named(kit: &dyn WorldKit) {
    let here = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob"), edge(10, 1, 2, "KNOWS")]).await;
    let elsewhere = Scene::numbered(kit, 2).await;
    let before = kit.content().await;
    let imported = async |scene: &Scene<'_>, row| {
        scene.store.import_entities(scene.namespace.id, &[row], OnNameClash::Suffix).await.unwrap()
    };
    assert_eq!(imported(&elsewhere, entity(1, "Ada")).await, [Imported::Elsewhere]);
    assert_eq!(imported(&here, entity(1, "Ada")).await, [Imported::Exists]);
    assert_same(&kit.content().await, &before, "content");
}

pub async fn a_vector_of_another_length_is_left_out(kit: &dyn WorldKit) {
    if !kit.has_vectors() {
        return;
    }
    let scene = Scene::new(kit).await;
    let namespace = scene.namespace.id;
    let short = entity(2, "Bob").with(Column::Embedding, Value::Vector(vec![1.0, 2.0]));
    let rows = [entity(1, "Ada").with(Column::Embedding, vector(1, 0.1)), short];
    let outcomes = scene.store.import_entities(namespace, &rows, OnNameClash::Skip).await.unwrap();
    assert_eq!(outcomes, [Imported::Written, Imported::WrongDimension]);
    assert_eq!(scene.entity(2).await.get(Column::Embedding), &Value::Null);
    assert_eq!(scene.entity(2).await.get(Column::EmbeddingModel).text(), Some(MODEL));
    assert_eq!(scene.store.probe().await.unwrap().dimension, Some(384));
}

pub async fn chunks_are_imported_with_their_documents(kit: &dyn WorldKit) {
    let store = kit.store();
    let stable = Uuid::from_u128(0xabc);
    let namespace = store.ensure_namespace(stable).await.unwrap();
    assert_eq!(store.ensure_namespace(stable).await.unwrap(), namespace);
    let chunk_of = |number, document: Option<Uuid>| NewChunk {
        id: chunk(number),
        document,
        content: format!("chunk {number}"),
        created_at: INGESTED_AT,
        last_accessed_at: document.map(|_| INGESTED_AT.plus_seconds(5)),
    };
    let chunks = [chunk_of(1, Some(document(1))), chunk_of(2, None), chunk_of(1, None)];
    let outcomes = store.import_chunks(namespace.id, &chunks).await.unwrap();
    assert_eq!(outcomes, [Imported::Written, Imported::Written, Imported::Exists]);
    let mut told = Vec::new();
    let mut snapshot = store.snapshot(namespace.id).await.unwrap();
    snapshot
        .chunks(&mut |chunk| {
            told.push((chunk.id, chunk.content.to_owned(), chunk.created_at, chunk.last_accessed_at, chunk.document));
        })
        .await
        .unwrap();
    told.sort_by_key(|(id, ..)| *id);
    assert_eq!(told[0].4, Some(document(1)));
    let facts: Vec<_> =
        told.into_iter().map(|(id, content, created, recalled, _)| (id, content, created, recalled)).collect();
    let at = INGESTED_AT;
    assert_eq!(
        facts,
        [(chunk(1), "chunk 1".to_owned(), at, Some(at.plus_seconds(5))), (chunk(2), "chunk 2".to_owned(), at, None)]
    );
}
