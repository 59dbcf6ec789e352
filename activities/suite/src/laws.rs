//! The laws of every kind of op: nobody writes fault code by hand.

use dream_core::change::{Column, RowKey, Value};
use dream_core::id::OpId;
use dream_core::op::{OpKind, OpState};
use dream_core::undo::OnChanged;
use dream_ports::apply::GroupOutcome;

use crate::actor::{drop_references, run};
use crate::kit::{WorldKit, assert_same};
use crate::saga::{Saga, one_of_each_op_kind};
use crate::world::{Scene, edge, entity, id};

/// Carries a saga out, and checks that it went as foreseen.
async fn apply(saga: &Saga<'_>) {
    let (fence, _) = saga.scene.planned(saga.run, saga.drafts.clone()).await;
    let fates = saga.scene.apply_all(&fence).await;
    let last = fates.iter().rfind(|(kind, ..)| *kind == saga.kind).unwrap();
    assert_eq!(last.1, saga.state, "{}: {last:?}", saga.kind);
    saga.scene.close(&fence).await;
}

pub async fn applying_twice_equals_applying_once(kit: &dyn WorldKit) {
    for saga in one_of_each_op_kind(kit).await {
        let (fence, _) = saga.scene.planned(saga.run, saga.drafts.clone()).await;
        saga.scene.apply_all(&fence).await;
        let (content, ops) = (kit.content().await, saga.scene.ops(saga.run).await);
        let (undo, outbox) = (kit.count("undo").await, kit.outbox().await);
        // The attempt did not hear of its own commit, and another one comes.
        let fence = saga.scene.store.fence(fence.run, "next attempt").await.unwrap();
        assert_eq!(saga.scene.apply_group(&fence, 500).await.unwrap(), GroupOutcome::Nothing, "{}", saga.kind);
        assert_same(&kit.content().await, &content, saga.kind);
        assert_eq!(saga.scene.ops(saga.run).await, ops);
        assert_eq!((kit.count("undo").await, kit.outbox().await), (undo, outbox));
    }
}

pub async fn failing_before_commit_leaves_the_world_untouched(kit: &dyn WorldKit) {
    for saga in one_of_each_op_kind(kit).await {
        let (fence, _) = saga.scene.planned(saga.run, saga.drafts.clone()).await;
        let (content, ops) = (kit.content().await, saga.scene.ops(saga.run).await);
        let mut counts = Vec::new();
        for table in ["undo", "touched", "outbox", "verdict", "alias"] {
            counts.push((table, kit.count(table).await));
        }
        kit.break_commits().await;
        saga.scene.apply_group(&fence, 500).await.expect_err("the commit is broken");
        assert_same(&kit.content().await, &content, saga.kind);
        assert_eq!(saga.scene.ops(saga.run).await, ops);
        for (table, count) in counts {
            assert_eq!(kit.count(table).await, count, "{}: {table}", saga.kind);
        }
        kit.mend().await;
        saga.scene.apply_all(&fence).await;
        let states: Vec<OpState> = saga.scene.ops(saga.run).await.iter().map(|record| record.op.state).collect();
        assert!(states.contains(&saga.state) && !states.contains(&OpState::Sealed), "{}: {states:?}", saga.kind);
    }
}

pub async fn crashing_between_commit_and_mirror_leaves_an_open_outbox_row(kit: &dyn WorldKit) {
    for saga in one_of_each_op_kind(kit).await {
        apply(&saga).await;
        // The worker is gone; the next one finds what is still to be told, in order.
        let store = kit.other_worker().await;
        let open: Vec<_> = kit.outbox().await.into_iter().filter(|row| row.0 == run(saga.run).0).collect();
        assert!(open.iter().all(|(_, _, direction, state)| direction == "apply" && state == "open"));
        let ops = saga.scene.ops(saga.run).await;
        let op = ops.iter().find(|record| record.op.draft == *saga.drafts.last().unwrap()).unwrap();
        assert_eq!(open.iter().any(|row| row.1 == op.op.id.0), saga.is_mirrored, "{}", saga.kind);
        let told: Vec<u32> =
            open.iter().map(|row| ops.iter().find(|record| record.op.id.0 == row.1).unwrap().op.seq).collect();
        assert!(told.is_sorted(), "{told:?}");
        let (waiting, oldest) = store.outbox_open().await.unwrap();
        assert_eq!(oldest.is_some(), waiting > 0);
        assert!(waiting >= open.len() as u64);
    }
}

pub async fn undoing_twice_equals_undoing_once(kit: &dyn WorldKit) {
    for saga in one_of_each_op_kind(kit).await {
        apply(&saga).await;
        let once = saga.scene.undo(saga.run, OnChanged::Keep).await;
        let (content, ops, outbox) = (kit.content().await, saga.scene.ops(saga.run).await, kit.outbox().await);
        let twice = saga.scene.undo(saga.run, OnChanged::Keep).await;
        assert_eq!((twice.undone, twice.nothing), (0, once.undone + once.nothing), "{}", saga.kind);
        assert_same(&kit.content().await, &content, saga.kind);
        assert_eq!(saga.scene.ops(saga.run).await, ops);
        assert_eq!(kit.outbox().await, outbox, "nothing is told twice");
    }
}

pub async fn apply_then_undo_restores_every_byte(kit: &dyn WorldKit) {
    for saga in one_of_each_op_kind(kit).await {
        let before = kit.content().await;
        let aliases = kit.count("alias").await;
        apply(&saga).await;
        // A repair changes the graph alone.
        let changes = saga.state == OpState::Applied && saga.kind != OpKind::MirrorRepair;
        assert!(!changes || kit.content().await != before, "{} changed nothing", saga.kind);
        let outcome = saga.scene.undo(saga.run, OnChanged::Keep).await;
        assert_eq!(outcome.changed, [], "{}", saga.kind);
        assert_same(&kit.content().await, &before, saga.kind);
        assert_eq!(kit.count("alias").await, aliases);
    }
}

/// People in the world of spellings.
const PEOPLE: u128 = 16;

pub async fn every_spelling_comes_back(kit: &dyn WorldKit) {
    let mut rows: Vec<_> = (1..=PEOPLE).map(|number| entity(number, &format!("Person {number}"))).collect();
    for (row, confidence) in
        rows.iter_mut().zip([0.1, 0.123_456_789_012_345_67, 0.3, 1.0 / 3.0, 1e-6, 0.7, 0.000_1 / 3.0, 0.9])
    {
        row.put(Column::Confidence, Value::Float(confidence));
    }
    rows.extend((1..PEOPLE).map(|number| edge(100 + number, number, number + 1, "KNOWS")));
    let scene = Scene::new(kit).await.with(&rows).await;
    let variants = kit.respell(&(1..=PEOPLE).map(id).collect::<Vec<_>>()).await;
    assert!(variants > 1);
    let before = kit.content().await;
    let mut drafts = Vec::new();
    for number in (1..=PEOPLE / 2).step_by(2) {
        drafts.push(scene.merge(number, &[number + 1]).await);
    }
    drafts.extend((PEOPLE / 2 + 1..=PEOPLE).map(|number| drop_references(RowKey::entity(id(number)), &[number])));
    scene.dream(1, drafts).await;
    let states: Vec<OpState> = scene.ops(1).await.iter().map(|record| record.op.state).collect();
    assert_eq!(states, vec![OpState::Applied; states.len()]);
    assert_ne!(kit.content().await, before);
    // In two goes, so that an undo stands beside what is still applied.
    let mut ops: Vec<OpId> = scene.ops(1).await.iter().map(|record| record.op.id).collect();
    ops.reverse();
    let (newer, older) = ops.split_at(ops.len() / 2);
    for ops in [newer, older] {
        assert_eq!(scene.undo_ops(1, ops.to_vec(), OnChanged::Keep).await.changed, []);
    }
    assert_same(&kit.content().await, &before, "content");
}
