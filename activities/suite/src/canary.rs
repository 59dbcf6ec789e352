//! Canaries: text planted where a store may stumble over it, looked for in everything the store says.

use dream_core::change::{Column, RowKey};
use dream_core::undo::OnChanged;
use dream_ports::StoreError;
use dream_ports::apply::UndoRequest;
use dream_ports::mirror::OutboxFilter;

use crate::actor::{drop_references, run};
use crate::kit::{Dialect, WorldKit};
use crate::world::{Scene, chunk, edge, entity, id};

/// Text that must not be seen.
const CANARY: &str = "CANARY-3f1c";

/// Expects an error that names `place` and tells nothing.
fn assert_named<T: std::fmt::Debug>(result: Result<T, StoreError>, place: &str) {
    let error = result.expect_err(place);
    assert!(matches!(error, StoreError::Unreadable { .. }), "{place}: {error:?}");
    assert!(error.to_string().contains(place), "{place}: {error}");
    assert_silent(&error);
}

fn assert_silent(error: &StoreError) {
    let said = format!("{error} {error:?} {error:#?}");
    assert!(!said.contains(CANARY), "{said}");
}

async fn streamed(scene: &Scene<'_>) -> Result<(), StoreError> {
    let mut snapshot = scene.store.snapshot(scene.namespace.id).await?;
    snapshot.entities(&mut |_| ()).await?;
    snapshot.relationships(&mut |_| ()).await?;
    snapshot.references(&mut |_| ()).await
}

pub async fn unreadable_content_is_named_and_never_told(kit: &dyn WorldKit) {
    let spoiled: &[(&str, &str, String)] = &match kit.dialect() {
        // Nearly everything is typed there; an array of arrays is what is left.
        Dialect::Postgres => vec![(
            "entities",
            "source_chunk_ids",
            format!("array[array['{}'::uuid], array['{}'::uuid]]", chunk(1), chunk(2)),
        )],
        Dialect::Sqlite => vec![
            ("entities", "source_chunk_ids", format!("'[\"{CANARY}\"]'")),
            ("entities", "source_document_ids", format!("'{CANARY}'")),
            ("entities", "created_at", format!("'{CANARY}'")),
            ("entities", "updated_at", format!("'{CANARY}'")),
            ("entities", "mention_count", format!("'{CANARY}'")),
            ("entities", "confidence", format!("'{CANARY}'")),
            ("relationships", "updated_at", format!("'{CANARY}'")),
            ("relationships", "invalidated_by", format!("'{CANARY}'")),
            ("relationships", "weight", format!("'{CANARY}'")),
        ],
    };
    let rows = [entity(1, CANARY), entity(2, "Bob"), edge(10, 1, 2, "KNOWS")];
    let scene = Scene::new(kit).await.with(&rows).await;
    for ((table, column, value), number) in spoiled.iter().zip(1..) {
        let (key, target) = match *table {
            "entities" => (RowKey::entity(id(1)), id(1)),
            _ => (RowKey::relationship(id(10)), id(10)),
        };
        let literal = kit.dialect().id(target);
        let old = kit.rows(&format!("select {column} from {table} where id = {literal}")).await.remove(0).remove(0);
        kit.execute(&format!("update {table} set {column} = {value} where id = {literal}")).await;
        let place = format!("{table}.{column}");
        assert_named(scene.store.row(key).await, &place);
        if let Err(error) = streamed(&scene).await {
            assert!(error.to_string().contains(column), "{place}: {error}");
            assert_silent(&error);
        }
        let (fence, _) = scene.planned(number, vec![drop_references(key, &[99])]).await;
        assert_named(scene.apply_group(&fence, 500).await, &place);
        scene.close(&fence).await;
        let old = old.map_or("null".to_owned(), |old| format!("'{old}'"));
        kit.execute(&format!("update {table} set {column} = {old} where id = {literal}")).await;
    }
    streamed(&scene).await.unwrap();
    assert_eq!(scene.entity(1).await.get(Column::Name).text(), Some(CANARY));
}

pub async fn a_refused_write_tells_nothing(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, CANARY)]).await;
    let (fence, _) = scene.planned(1, vec![drop_references(RowKey::entity(id(1)), &[1])]).await;
    kit.refuse_entity(id(1), CANARY).await;
    let error = scene.apply_group(&fence, 500).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    assert_silent(&error);
    kit.mend().await;
    kit.break_commits().await;
    assert_silent(&scene.apply_group(&fence, 500).await.unwrap_err());
    kit.mend().await;
    let long = entity(2, &CANARY.repeat(100));
    let rows = [long.with(Column::Attributes, dream_core::change::Value::Json(CANARY.to_owned()))];
    let imported =
        scene.store.import_entities(scene.namespace.id, &rows, dream_ports::transfer::OnNameClash::Skip).await;
    if let Err(error) = imported {
        assert_silent(&error);
    }
}

pub async fn unreadable_records_are_named_and_never_told(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada")]).await;
    scene.dream(1, vec![drop_references(RowKey::entity(id(1)), &[1])]).await;
    let op = scene.ops(1).await[0].op.id;
    let spoil = async |table: &str, column: &str| {
        let own = kit.dialect().own(table);
        let old = kit.rows(&format!("select {column} from {own}")).await.remove(0).remove(0).unwrap();
        kit.execute(&format!("update {own} set {column} = '{{\"{CANARY}\": 1}}'")).await;
        old
    };
    let mend = async |table: &str, column: &str, old: String| {
        let own = kit.dialect().own(table);
        kit.execute(&format!("update {own} set {column} = '{}'", old.replace('\'', "''"))).await;
    };
    let old = spoil("undo", "record").await;
    assert_named(scene.store.undo_records(run(1), 0, 10).await, "undo.record");
    assert_named(scene.store.touches(RowKey::entity(id(1)), 10).await, "undo.record");
    let fence = scene.store.fence_for_undo(run(1), "u").await.unwrap();
    let undo = UndoRequest { run: run(1), ops: vec![op], on_changed: OnChanged::Keep, dry_run: false, has_graph: true };
    assert_named(scene.store.undo_group(&fence, &undo).await, "undo.record");
    scene.store.end_undo(&fence).await.unwrap();
    mend("undo", "record", old).await;

    let old = spoil("op", "draft").await;
    assert_named(scene.store.op(op).await, "op.draft");
    mend("op", "draft", old).await;
    let old = spoil("outbox", "verbs").await;
    let all = OutboxFilter { limit: 10, ..OutboxFilter::default() };
    assert_named(scene.store.outbox(&all).await, "outbox.verbs");
    mend("outbox", "verbs", old).await;
    let (outbox, held) = (kit.dialect().own("outbox"), kit.dialect().own("graph_record"));
    kit.execute(&format!(
        "insert into {held} (op_id, direction, namespace_id, run_id, record, written_at)
         select op_id, direction, namespace_id, run_id, '{{}}', written_at from {outbox}"
    ))
    .await;
    spoil("graph_record", "record").await;
    assert_named(scene.store.graph_records(&[op]).await, "graph_record.record");
    let old = spoil("run", "skip_reasons").await;
    assert_named(scene.store.run(run(1)).await, "run.skip_reasons");
    mend("run", "skip_reasons", old).await;
    let old = spoil("run", "state").await;
    assert_named(scene.store.run(run(1)).await, "state");
    mend("run", "state", old).await;
    scene.undo(1, OnChanged::Keep).await;
}
