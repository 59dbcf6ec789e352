//! Aliases, and what ingestion brings back of absorbed names.

use dream_core::change::{Column, Value};
use dream_ports::content::Resurfaced;

use crate::kit::{Mention, WorldKit};
use crate::world::{INGESTED_AT, Scene, chunk, document, edge, entity, id};

/// What came back of absorbed entities.
async fn resurfaced(scene: &Scene<'_>) -> Vec<Resurfaced> {
    scene.store.snapshot(scene.namespace.id).await.unwrap().resurfaced(&[]).await.unwrap()
}

pub async fn what_ingestion_brings_back_resurfaces(kit: &dyn WorldKit) {
    let rows = [
        entity(1, "Ada"),
        entity(2, "Ada L.").with(Column::MentionCount, Value::Int(4)),
        entity(3, "Countess"),
        entity(4, "Bob"),
    ];
    let scene = Scene::new(kit).await.with(&rows).await;
    let draft = scene.merge(1, &[2, 3]).await;
    scene.dream(1, vec![draft]).await;
    assert_eq!(resurfaced(&scene).await, [], "a merge brings nothing back");
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let mut aliases = snapshot.aliases().await.unwrap();
    aliases.sort_unstable();
    assert_eq!(aliases, [(id(2), id(1)), (id(3), id(1))]);
    drop(snapshot);

    let mention = Mention {
        id: id(99),
        name: "Ada L.".to_owned(),
        entity_type: "PERSON".to_owned(),
        mention_count: 3,
        chunk: chunk(50),
    };
    kit.ingest(scene.namespace.id, &mention).await;
    kit.insert(scene.namespace.id, &edge(30, 4, 3, "MET")).await;
    let mut back = resurfaced(&scene).await;
    back.sort_by_key(|row| row.absorbed);
    let names: Vec<_> = back.iter().map(|row| (row.absorbed, row.canonical, row.name.as_str())).collect();
    assert_eq!(names, [(id(2), id(1), "Ada L."), (id(3), id(1), "Countess")]);
    let (mentioned, linked) = (&back[0], &back[1]);
    // One store overwrites the row and makes it live, the other adds to the one that stays retired; either way three are new.
    let seen = if mentioned.is_live { 0 } else { mentioned.mention_count_seen };
    assert_eq!(mentioned.mention_count - seen, 3);
    assert_eq!((mentioned.mention_count_seen, mentioned.edges_live), (4, 0));
    assert_eq!((linked.is_live, linked.edges_live), (false, 1));
    assert_eq!(linked.source_document_ids, [document(3)]);
}

pub async fn names_are_told_of_those_that_are_there(kit: &dyn WorldKit) {
    let retired = entity(2, "Bob").with(Column::ValidUntil, Value::Time(INGESTED_AT));
    let typeless = entity(3, "Cy").with(Column::EntityType, Value::Null);
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), retired, typeless]).await;
    let named = |number, name: &str, entity_type: &str| (id(number), name.to_owned(), entity_type.to_owned());
    let mut all = scene.store.names(&[id(1), id(2), id(3), id(9)]).await.unwrap();
    all.sort_unstable();
    let (ada, cy) = (named(1, "Ada", "PERSON"), named(3, "Cy", "CONCEPT"));
    assert_eq!(all, [ada.clone(), named(2, "Bob", "PERSON"), cy.clone()]);
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await.unwrap();
    let mut live = snapshot.live_names(&[id(1), id(2), id(3), id(9)]).await.unwrap();
    live.sort_unstable();
    assert_eq!(live, [ada, cy]);
    assert_eq!(snapshot.live_names(&[]).await.unwrap(), []);
}
