//! Leases: an attempt that lost its target is a stranger when it wakes.

use dream_core::op::{OpKind, Reason};
use dream_core::plan::{PlanHash, seal};
use dream_core::run::{Admission, RunState, STUCK_AFTER_SECONDS};
use dream_core::undo::OnChanged;
use dream_ports::StoreError;
use dream_ports::apply::UndoRequest;
use dream_ports::run::{BeginRun, Begun, Closing, Fence};
use dream_ports::space::{NewJob, Round};

use crate::actor::{drop_references, run, step};
use crate::kit::{WorldKit, assert_same};
use crate::world::{Scene, entity, id};

/// Seconds of silence after which nobody waits for a run any more.
const LONG_AGO_SECONDS: i64 = STUCK_AFTER_SECONDS + 1;

/// A namespace in which every reference is dead, and the draft that removes one.
async fn scene(kit: &dyn WorldKit) -> Scene<'_> {
    Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob")]).await
}

fn drop_of(number: u128) -> dream_core::op::Draft {
    drop_references(dream_core::change::RowKey::entity(id(number)), &[number])
}

/// Every way of writing with a fence.
async fn assert_stranger(scene: &Scene<'_>, fence: &Fence) {
    let lost = |what: &str, result: Result<(), StoreError>| {
        assert!(matches!(&result, Err(StoreError::LeaseLost { run }) if *run == fence.run), "{what}: {result:?}");
    };
    let store = &scene.store;
    let draft = drop_of(2);
    let plan = seal(fence.run, vec![draft.clone()]);
    let undo =
        UndoRequest { run: fence.run, ops: vec![], on_changed: OnChanged::Keep, dry_run: false, has_graph: true };
    lost("renew", store.renew(fence).await);
    lost("set_state", store.set_state(fence, RunState::Completed).await);
    lost("park", store.park(fence, RunState::AwaitingReview, "review", None).await);
    lost("write_findings", store.write_findings(fence, &step("audit:x"), &[]).await);
    lost("write_drafts", store.write_drafts(fence, OpKind::DedupeEntities, &[draft]).await);
    lost("publish", store.publish(fence, OpKind::DedupeEntities, &step("plan:x"), &[]).await);
    lost("write_plan", store.write_plan(fence, &plan, &PlanHash(String::new()), &step("seal")).await);
    let round = Round {
        plan: &plan,
        run_hash: &plan.hash,
        step: &step("round"),
        texts: &[],
        skip_reasons: &[],
        is_answer: false,
    };
    lost("append_round", store.append_round(fence, &round).await.map(drop));
    lost("ask", store.ask(fence, &NewJob { body: "{}", facts: &[], waits_for_client: true }).await.map(drop));
    lost("tidy", store.tidy(fence, "tidy", crate::world::INGESTED_AT).await.map(|_| ()));
    lost("apply_group", scene.apply_group(fence, 500).await.map(|_| ()));
    lost("fail_next", store.fail_next(fence, Reason::StoreRefused).await);
    lost("undo_group", store.undo_group(fence, &undo).await.map(|_| ()));
    lost("end_undo", store.end_undo(fence).await);
}

pub async fn an_attempt_with_an_old_epoch_writes_nothing(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    let (old, _) = scene.planned(1, vec![drop_of(1)]).await;
    let new = scene.store.fence(run(1), "next attempt").await.unwrap();
    assert!(new.epoch > old.epoch);
    let (content, before) = (kit.content().await, scene.ops(1).await);
    let record = scene.store.run(run(1)).await.unwrap();
    assert_stranger(&scene, &old).await;
    assert_same(&kit.content().await, &content, "content");
    assert_eq!(scene.ops(1).await, before);
    assert_eq!(scene.store.run(run(1)).await.unwrap(), record);
    assert_eq!(scene.apply_all(&new).await.len(), 1);
}

pub async fn an_attempt_that_slept_past_its_lease_writes_nothing(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    let (asleep, _) = scene.planned(1, vec![drop_of(1)]).await;
    kit.expire_leases().await;
    kit.silence(run(1), LONG_AGO_SECONDS).await;
    let begin = BeginRun { abandon: Some(run(1)), ..scene.beginning(2) };
    let Begun::Holds { .. } = scene.store.begin(&begin).await.unwrap() else { panic!("the target is free") };
    let content = kit.content().await;
    assert_stranger(&scene, &asleep).await;
    assert_same(&kit.content().await, &content, "content");
    assert_eq!(scene.store.run(run(1)).await.unwrap().state, RunState::Abandoned);
}

pub async fn an_expired_lease_that_nobody_took_is_renewed(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    let (fence, _) = scene.planned(1, vec![drop_of(1)]).await;
    kit.expire_leases().await;
    scene.store.renew(&fence).await.unwrap();
    let refused = scene.store.begin(&scene.beginning(2)).await.unwrap();
    assert!(matches!(refused, Begun::Refused(Admission::Locked { holder: Some(_), .. })), "{refused:?}");
    kit.expire_leases().await;
    assert_eq!(scene.apply_all(&fence).await.len(), 1, "a group renews as well");
    let refused = scene.store.begin(&scene.beginning(2)).await.unwrap();
    assert!(matches!(refused, Begun::Refused(Admission::Locked { holder: Some(_), .. })), "{refused:?}");
}

pub async fn a_lease_is_taken_for_open_runs_only(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    let fence = scene.begin(1).await;
    assert!(matches!(scene.store.fence(run(9), "w").await, Err(StoreError::NoRun { id }) if id == run(9).0));
    scene.close(&fence).await;
    assert!(matches!(scene.store.fence(run(1), "w").await, Err(StoreError::LeaseLost { .. })));
    let held = scene.begin(2).await;
    assert!(matches!(scene.store.fence(run(1), "w").await, Err(StoreError::LeaseLost { .. })));
    scene.store.renew(&held).await.unwrap();
}

pub async fn a_parked_run_blocks_nobody_and_goes_on_later(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    let (fence, _) = scene.planned(1, vec![drop_of(1)]).await;
    let until = scene.store.now().await.unwrap().plus_seconds(3_600);
    scene.store.park(&fence, RunState::AwaitingReview, "review", Some(until)).await.unwrap();
    let parked = scene.store.run(run(1)).await.unwrap();
    assert_eq!((parked.state, parked.waiting_for.as_deref()), (RunState::AwaitingReview, Some("review")));
    assert_eq!(parked.review_until, Some(until));
    assert!(matches!(scene.store.renew(&fence).await, Err(StoreError::LeaseLost { .. })), "it holds no lease");

    let other = scene.begin(2).await;
    assert!(matches!(scene.store.fence(run(1), "w").await, Err(StoreError::LeaseLost { .. })));
    scene.close(&other).await;
    let fence = scene.store.fence(run(1), "w").await.unwrap();
    scene.store.set_state(&fence, RunState::Applying).await.unwrap();
    assert_eq!(scene.store.run(run(1)).await.unwrap().waiting_for, None);
    assert_eq!(scene.apply_all(&fence).await.len(), 1);
}

pub async fn closing_twice_is_closing_once(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    let fence = scene.begin(1).await;
    let closing = Closing { error_code: Some("DREAM-1".to_owned()) };
    scene.store.close(run(1), RunState::Cancelled, &closing).await.unwrap();
    scene.store.set_report(run(1), "here", "abc").await.unwrap();
    let closed = scene.store.run(run(1)).await.unwrap();
    scene.store.close(run(1), RunState::Failed, &Closing::default()).await.unwrap();
    assert_eq!(scene.store.run(run(1)).await.unwrap(), closed);
    assert_eq!((closed.state, closed.error_code.as_deref()), (RunState::Cancelled, Some("DREAM-1")));
    assert_eq!((closed.report_path.as_deref(), closed.manifest_sha256.as_deref()), (Some("here"), Some("abc")));
    assert!(matches!(scene.store.renew(&fence).await, Err(StoreError::LeaseLost { .. })));

    let other = scene.begin(2).await;
    scene.store.close(run(1), RunState::Failed, &Closing::default()).await.unwrap();
    scene.store.renew(&other).await.unwrap();
    let unknown = scene.store.close(run(9), RunState::Failed, &Closing::default()).await;
    assert!(matches!(unknown, Err(StoreError::NoRun { .. })));
}

pub async fn an_undo_takes_over_from_its_own_dead_attempt_only(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    scene.dream(1, vec![drop_of(1)]).await;
    scene.dream(2, vec![drop_of(2)]).await;
    let dead = scene.store.fence_for_undo(run(1), "first").await.unwrap();
    let other = scene.store.fence_for_undo(run(2), "second").await;
    assert!(matches!(other, Err(StoreError::LeaseLost { .. })), "{other:?}");
    let alive = scene.store.fence_for_undo(run(1), "first").await.unwrap();
    assert!(matches!(scene.store.renew(&dead).await, Err(StoreError::LeaseLost { .. })));
    scene.store.end_undo(&alive).await.unwrap();
    scene.store.fence_for_undo(run(2), "second").await.unwrap();
}

pub async fn an_undo_waits_for_whoever_works(kit: &dyn WorldKit) {
    let scene = scene(kit).await;
    scene.dream(1, vec![drop_of(1)]).await;
    let fence = scene.begin(2).await;
    let refused = async || matches!(scene.store.fence_for_undo(run(1), "u").await, Err(StoreError::LeaseLost { .. }));
    assert!(refused().await, "a run holds the target");
    kit.expire_leases().await;
    assert!(refused().await, "a run that was heard of just now will come back");
    let fence = scene.store.fence(fence.run, "w").await.unwrap();
    scene.store.park(&fence, RunState::AwaitingReview, "review", None).await.unwrap();
    assert!(!refused().await, "a run that waits blocks nobody");
}
