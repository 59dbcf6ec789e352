//! Undo: what came back, what was left alone, and what is told of it.

use dream_core::change::{Column, RowKey, Table, Value};
use dream_core::id::OpId;
use dream_core::op::OpState;
use dream_core::run::RunState;
use dream_core::undo::{ChangedSince, OnChanged};
use dream_ports::apply::{UndoOutcome, UndoRequest};

use crate::actor::{drop_references, kept_apart, run};
use crate::kit::{WorldKit, assert_same};
use crate::world::{Scene, chunk, edge, entity, id};

/// A namespace in which a run merged entity 2 into entity 1, which had no description.
async fn merged(kit: &dyn WorldKit) -> (Scene<'_>, OpId) {
    let bare = entity(1, "Ada").with(Column::Description, Value::Text(String::new()));
    let scene = Scene::new(kit).await.with(&[bare, entity(2, "Ada L."), edge(10, 2, 1, "IS")]).await;
    let draft = scene.merge(1, &[2]).await;
    scene.dream(1, vec![draft]).await;
    let op = scene.ops(1).await[0].op.id;
    (scene, op)
}

pub async fn what_somebody_changed_since_is_listed_and_kept(kit: &dyn WorldKit) {
    let (scene, op) = merged(kit).await;
    kit.change_entity(id(1), "description = 'theirs', mention_count = 40").await;
    let listed = |column| (op, ChangedSince { key: RowKey::entity(id(1)), column: Some(column) });
    let outcome = scene.undo(1, OnChanged::Keep).await;
    let changed = vec![listed(Column::Description), listed(Column::MentionCount)];
    assert_eq!(outcome, UndoOutcome { undone: 1, nothing: 0, changed: changed.clone() });
    let row = scene.entity(1).await;
    assert_eq!(row.get(Column::Description).text(), Some("theirs"));
    assert_eq!(row.get(Column::MentionCount), &Value::Int(40));
    assert_eq!(row.get(Column::SourceChunkIds), &Value::Ids(vec![chunk(1)]), "the rest came back");
    assert!(scene.entity(2).await.get(Column::ValidUntil).is_null());
}

pub async fn what_somebody_changed_since_is_overwritten_on_demand(kit: &dyn WorldKit) {
    let (scene, op) = merged(kit).await;
    kit.change_entity(id(1), "mention_count = 50").await;
    let outcome = scene.undo(1, OnChanged::Overwrite).await;
    let since = ChangedSince { key: RowKey::entity(id(1)), column: Some(Column::MentionCount) };
    assert_eq!(outcome.changed, [(op, since)]);
    assert_eq!(scene.entity(1).await.get(Column::MentionCount), &Value::Int(1));
}

pub async fn ids_that_others_added_since_survive(kit: &dyn WorldKit) {
    let references = |chunks: &[u128]| Value::Ids(chunks.iter().copied().map(chunk).collect());
    let row = entity(1, "Ada").with(Column::SourceChunkIds, references(&[1, 2, 3]));
    let scene = Scene::new(kit).await.with(&[row]).await.with_chunks([1, 3]).await;
    scene.dream(1, vec![drop_references(RowKey::entity(id(1)), &[2])]).await;
    let added = kit.dialect().ids(&[chunk(1), chunk(3), chunk(9)]);
    kit.change_entity(id(1), &format!("source_chunk_ids = {added}")).await;
    assert_eq!(scene.undo(1, OnChanged::Keep).await.changed, []);
    assert_eq!(scene.entity(1).await.get(Column::SourceChunkIds), &references(&[2, 1, 3, 9]));
}

pub async fn looking_only_writes_nothing(kit: &dyn WorldKit) {
    let (scene, op) = merged(kit).await;
    kit.change_entity(id(1), "description = 'theirs'").await;
    let (content, ops, outbox) = (kit.content().await, scene.ops(1).await, kit.outbox().await);
    let verdicts = scene.store.verdicts(scene.namespace.id).await.unwrap();
    let fence = scene.store.fence_for_undo(run(1), "looker").await.unwrap();
    let request =
        UndoRequest { run: run(1), ops: vec![op], on_changed: OnChanged::Keep, dry_run: true, has_graph: true };
    let outcome = scene.store.undo_group(&fence, &request).await.unwrap();
    scene.store.end_undo(&fence).await.unwrap();
    assert_eq!((outcome.undone, outcome.changed.len()), (1, 1));
    assert_same(&kit.content().await, &content, "content");
    assert_eq!(scene.ops(1).await, ops);
    assert_eq!(kit.outbox().await, outbox);
    assert_eq!(scene.store.verdicts(scene.namespace.id).await.unwrap(), verdicts);
    assert_eq!(scene.store.run(run(1)).await.unwrap().state, RunState::Completed);
}

pub async fn what_was_never_applied_is_nothing_to_take_back(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob")]).await.with_chunks([2]).await;
    let live = drop_references(RowKey::entity(id(2)), &[2]);
    scene.dream(1, vec![kept_apart(&[1, 2]), live]).await;
    let states: Vec<OpState> = scene.ops(1).await.iter().map(|record| record.op.state).collect();
    assert_eq!(states, [OpState::KeptApart, OpState::Noop]);
    let outcome = scene.undo(1, OnChanged::Keep).await;
    assert_eq!(outcome, UndoOutcome { undone: 0, nothing: 2, changed: vec![] });
    assert_eq!(scene.store.run(run(1)).await.unwrap().state, RunState::Completed, "nothing of it was taken back");
}

pub async fn a_run_says_how_much_of_it_was_taken_back(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob")]).await;
    let drafts = (1..=2).map(|number| drop_references(RowKey::entity(id(number)), &[number])).collect();
    scene.dream(1, drafts).await;
    let ops: Vec<OpId> = scene.ops(1).await.iter().map(|record| record.op.id).collect();
    let state = async || scene.store.run(run(1)).await.unwrap().state;
    scene.undo_ops(1, vec![ops[1]], OnChanged::Keep).await;
    assert_eq!(state().await, RunState::PartlyUndone);
    let directions: Vec<String> = kit.outbox().await.into_iter().map(|(_, _, direction, _)| direction).collect();
    assert_eq!(directions, ["apply", "apply", "undo"], "undo goes through the same queue");
    scene.undo_ops(1, vec![ops[0]], OnChanged::Keep).await;
    assert_eq!(state().await, RunState::Undone);
    if kit.is_khoras() {
        let words = kit.rows("select state from khora_dream_runs").await;
        assert_eq!(words, [[Some("completed".to_owned())]]);
    }
}

pub async fn a_later_run_that_builds_on_it_is_named(kit: &dyn WorldKit) {
    let rows = [entity(1, "Ada"), entity(2, "Ada L."), entity(3, "Ada K."), entity(4, "Bob"), entity(5, "Rob")];
    let scene = Scene::new(kit).await.with(&rows).await;
    let store = &scene.store;
    let drafts = vec![scene.merge(1, &[2]).await, scene.merge(4, &[5]).await];
    scene.dream(1, drafts).await;
    let draft = scene.merge(1, &[3]).await;
    scene.dream(2, vec![draft]).await;
    let ops: Vec<OpId> = scene.ops(1).await.iter().map(|record| record.op.id).collect();
    assert_eq!(store.built_upon_by(run(1), None).await.unwrap(), [run(2)]);
    assert_eq!(store.built_upon_by(run(1), Some(ops[0])).await.unwrap(), [run(2)]);
    assert_eq!(store.built_upon_by(run(1), Some(ops[1])).await.unwrap(), []);
    assert_eq!(store.built_upon_by(run(2), None).await.unwrap(), [], "an earlier run stands in nobody's way");
    scene.undo(2, OnChanged::Keep).await;
    assert_eq!(store.built_upon_by(run(1), None).await.unwrap(), [], "what was taken back no longer stands");
}

pub async fn an_earlier_run_that_went_on_later_is_later(kit: &dyn WorldKit) {
    let rows = [entity(1, "Ada"), entity(2, "Ada L."), entity(3, "Ada K."), entity(4, "Ada M.")];
    let scene = Scene::new(kit).await.with(&rows).await;
    let drafts = vec![scene.merge(1, &[2]).await, scene.merge(1, &[3]).await];
    let (fence, _) = scene.planned(1, drafts).await;
    scene.apply_group(&fence, 1).await.unwrap();
    scene.store.park(&fence, RunState::Applying, "pause", None).await.unwrap();
    let draft = scene.merge(1, &[4]).await;
    scene.dream(2, vec![draft]).await;
    let fence = scene.store.fence(run(1), "w").await.unwrap();
    scene.apply_all(&fence).await;
    scene.close(&fence).await;
    let built_upon = async |number| scene.store.built_upon_by(run(number), None).await.unwrap();
    assert_eq!(built_upon(2).await, [run(1)], "its second op stands on what the other run left");
    assert_eq!(built_upon(1).await, [run(2)], "and that on its first");
}

pub async fn the_history_of_a_row_is_told_newest_first(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Ada L."), entity(3, "Ada K.")]).await;
    let draft = scene.merge(1, &[2]).await;
    scene.dream(1, vec![draft]).await;
    let draft = scene.merge(1, &[3]).await;
    scene.dream(2, vec![draft]).await;
    let told = async |row, limit| {
        let touches = scene.store.touches(row, limit).await.unwrap();
        touches.iter().map(|touch| touch.run).collect::<Vec<_>>()
    };
    let row = RowKey::entity(id(1));
    assert_eq!(told(row, 10).await, [run(2), run(1)]);
    assert_eq!(told(row, 1).await, [run(2)]);
    assert_eq!(told(RowKey { table: Table::Aliases, id: id(1) }, 10).await, [], "another table's row");
    scene.undo(2, OnChanged::Keep).await;
    assert_eq!(told(row, 10).await, [run(1)]);
}

pub async fn what_an_op_did_is_remembered_after_it_was_taken_back(kit: &dyn WorldKit) {
    let (scene, op) = merged(kit).await;
    let before = scene.ops(1).await.remove(0);
    scene.undo(1, OnChanged::Keep).await;
    let after = scene.ops(1).await.remove(0);
    assert_eq!(after.op.state, OpState::Undone);
    assert_eq!(after.numbers, before.numbers);
    assert!(before.numbers.is_some());
    let records = scene.store.undo_records(run(1), 0, 10).await.unwrap();
    assert_eq!(records.iter().map(|(op, seq, _)| (*op, *seq)).collect::<Vec<_>>(), [(op, 1)]);
    assert_eq!(scene.store.undo_records(run(1), 1, 10).await.unwrap(), []);
}
