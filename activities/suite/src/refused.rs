//! Rows that the store refuses: the group is as if it had never been, and the op at fault is found.

use dream_core::change::RowKey;
use dream_core::op::{OpState, Reason};
use dream_ports::StoreError;
use dream_ports::apply::GroupOutcome;
use dream_ports::run::Fence;

use crate::actor::drop_references;
use crate::kit::{WorldKit, assert_same};
use crate::world::{Scene, entity, id};

/// Ops of the plan; the one of entity 3 will be refused.
const OPS: u128 = 5;

async fn scene(kit: &dyn WorldKit) -> (Scene<'_>, Fence) {
    let rows: Vec<_> = (1..=OPS).map(|number| entity(number, &format!("Person {number}"))).collect();
    let scene = Scene::new(kit).await.with(&rows).await;
    let drafts = (1..=OPS).map(|number| drop_references(RowKey::entity(id(number)), &[number])).collect();
    let (fence, _) = scene.planned(1, drafts).await;
    kit.refuse_entity(id(3), "no").await;
    (scene, fence)
}

pub async fn a_refused_row_leaves_everything_as_it_was(kit: &dyn WorldKit) {
    let (scene, fence) = scene(kit).await;
    let (content, ops) = (kit.content().await, scene.ops(1).await);
    let refused = scene.apply_group(&fence, 500).await;
    assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
    assert_same(&kit.content().await, &content, "content");
    assert_eq!(scene.ops(1).await, ops);
    for table in ["undo", "touched", "outbox", "verdict", "alias"] {
        assert_eq!(kit.count(table).await, 0, "{table}");
    }
    kit.mend().await;
    assert_eq!(scene.apply_all(&fence).await.len(), 5);
}

pub async fn the_op_at_fault_is_found_by_asking_for_fewer(kit: &dyn WorldKit) {
    let (scene, fence) = scene(kit).await;
    let mut ops_max = 500;
    loop {
        match scene.apply_group(&fence, ops_max).await {
            Ok(GroupOutcome::Committed { .. }) => {}
            Ok(GroupOutcome::Nothing) => break,
            Err(StoreError::Refused { .. }) if ops_max > 1 => ops_max /= 2,
            Err(StoreError::Refused { .. }) => {
                scene.store.fail_next(&fence, Reason::StoreRefused).await.unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    let fates: Vec<_> = scene.ops(1).await.iter().map(|record| (record.op.state, record.op.reason)).collect();
    let applied = (OpState::Applied, None);
    let failed = (OpState::Failed, Some(Reason::StoreRefused));
    assert_eq!(fates, [applied, applied, failed, applied, applied]);
}
