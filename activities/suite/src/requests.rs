//! Requests and the kill switch: rows first, and the second of two that exclude each other loses.

use dream_core::plan::PlanHash;
use dream_core::run::RunState;
use dream_ports::StoreError;
use dream_ports::apply::GroupOutcome;
use dream_ports::run::{Fence, Request, RequestKind, RequestOutcome, Standstill};

use crate::actor::{drop_references, run};
use crate::kit::{WorldKit, assert_same};
use crate::world::{Scene, entity, id};

/// Words said at the same moment by each side.
const WORDS: usize = 8;

fn request(kind: RequestKind, plan_hash: Option<&PlanHash>) -> Request {
    Request { run: run(1), kind, by: "somebody".to_owned(), plan_hash: plan_hash.cloned() }
}

async fn planned(kit: &dyn WorldKit) -> (Scene<'_>, Fence, PlanHash) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada")]).await;
    let draft = drop_references(dream_core::change::RowKey::entity(id(1)), &[1]);
    let (fence, plan) = scene.planned(1, vec![draft]).await;
    (scene, fence, plan.hash)
}

async fn in_review(kit: &dyn WorldKit) -> (Scene<'_>, PlanHash) {
    let (scene, fence, hash) = planned(kit).await;
    scene.store.park(&fence, RunState::AwaitingReview, "review", None).await.unwrap();
    (scene, hash)
}

pub async fn of_two_that_exclude_each_other_the_second_loses(kit: &dyn WorldKit) {
    let (scene, hash) = in_review(kit).await;
    let say = async |kind| scene.store.request(&request(kind, Some(&hash))).await.unwrap();
    assert_eq!(say(RequestKind::Approve).await, RequestOutcome::Recorded);
    assert_eq!(say(RequestKind::Reject).await, RequestOutcome::TooLate);
    assert_eq!(say(RequestKind::Approve).await, RequestOutcome::AlreadyRecorded);
    let standing = scene.store.requests(run(1)).await.unwrap();
    assert_eq!(standing, [request(RequestKind::Approve, Some(&hash))]);
}

pub async fn of_many_at_once_one_side_wins(kit: &dyn WorldKit) {
    let (scene, hash) = in_review(kit).await;
    let mut words = tokio::task::JoinSet::new();
    for number in 0..2 * WORDS {
        let kind = if number % 2 == 0 { RequestKind::Approve } else { RequestKind::Reject };
        let (store, request) = (kit.other_worker().await, request(kind, Some(&hash)));
        words.spawn(async move { store.request(&request).await.unwrap() });
    }
    let outcomes = words.join_all().await;
    let count = |outcome| outcomes.iter().filter(|other| **other == outcome).count();
    assert_eq!(count(RequestOutcome::Recorded), 1);
    assert_eq!(count(RequestOutcome::TooLate), WORDS);
    assert_eq!(scene.store.requests(run(1)).await.unwrap().len(), 1);
}

pub async fn a_word_that_nobody_waits_for_is_refused(kit: &dyn WorldKit) {
    let (scene, fence, hash) = planned(kit).await;
    let say = async |kind, hash: Option<&PlanHash>| scene.store.request(&request(kind, hash)).await.unwrap();
    assert_eq!(say(RequestKind::Approve, Some(&hash)).await, RequestOutcome::NotWaiting);
    assert_eq!(say(RequestKind::Unpause, None).await, RequestOutcome::NotWaiting);
    scene.store.park(&fence, RunState::AwaitingReview, "review", None).await.unwrap();
    let other = PlanHash("f".repeat(64));
    assert_eq!(say(RequestKind::Approve, Some(&other)).await, RequestOutcome::OtherPlan);
    assert_eq!(say(RequestKind::Reject, None).await, RequestOutcome::OtherPlan);
    scene.close(&fence).await;
    assert_eq!(say(RequestKind::Cancel, None).await, RequestOutcome::RunClosed);
    let unknown = Request { run: run(9), ..request(RequestKind::Cancel, None) };
    assert!(matches!(scene.store.request(&unknown).await, Err(StoreError::NoRun { .. })));
}

pub async fn pause_and_cancel_bite_at_the_next_group(kit: &dyn WorldKit) {
    let (scene, fence, _) = planned(kit).await;
    let say = async |kind| scene.store.request(&request(kind, None)).await.unwrap();
    let content = kit.content().await;
    assert_eq!(say(RequestKind::Pause).await, RequestOutcome::Recorded);
    let paused = Standstill { pause: true, ..Standstill::default() };
    assert_eq!(scene.store.standstill(run(1), scene.namespace.id).await.unwrap(), paused);
    assert_eq!(scene.apply_group(&fence, 500).await.unwrap(), GroupOutcome::Standing(paused));

    assert_eq!(say(RequestKind::Unpause).await, RequestOutcome::Recorded);
    assert!(scene.store.standstill(run(1), scene.namespace.id).await.unwrap().is_clear());
    assert_eq!(say(RequestKind::Pause).await, RequestOutcome::Recorded, "it may pause again");
    assert_eq!(say(RequestKind::Cancel).await, RequestOutcome::Recorded);
    let both = Standstill { pause: true, cancel: true, stopped: None };
    assert_eq!(scene.apply_group(&fence, 500).await.unwrap(), GroupOutcome::Standing(both));
    assert_same(&kit.content().await, &content, "content");
}

pub async fn the_kill_switch_bites_at_the_next_group(kit: &dyn WorldKit) {
    let (scene, fence, _) = planned(kit).await;
    let elsewhere = Scene::numbered(kit, 2).await;
    let (store, here) = (&scene.store, Some(scene.namespace.id));
    let content = kit.content().await;
    let stopped_by = async || match scene.apply_group(&fence, 500).await.unwrap() {
        GroupOutcome::Standing(standstill) => standstill.stopped.map(|stop| (stop.by, stop.why, stop.namespace)),
        other => panic!("it should stand: {other:?}"),
    };
    let said = |by: &str, why: &str, namespace| Some((by.to_owned(), why.to_owned(), namespace));

    store.set_stop(here, Some(("ann", "first"))).await.unwrap();
    store.set_stop(here, Some(("ann", "second"))).await.unwrap();
    assert_eq!(stopped_by().await, said("ann", "second", here));
    store.set_stop(None, Some(("bob", "everything"))).await.unwrap();
    assert_eq!(stopped_by().await, said("bob", "everything", None), "the store's own switch comes first");
    assert_eq!(store.stops().await.unwrap().len(), 2);
    store.set_stop(here, None).await.unwrap();
    assert_eq!(stopped_by().await, said("bob", "everything", None));
    let other = elsewhere.store.standstill(run(1), elsewhere.namespace.id).await.unwrap();
    assert_eq!(other.stopped.map(|stop| stop.by).as_deref(), Some("bob"), "it holds for every namespace");
    assert_same(&kit.content().await, &content, "content");

    store.set_stop(None, None).await.unwrap();
    store.set_stop(None, None).await.unwrap();
    store.set_stop(Some(elsewhere.namespace.id), Some(("eve", "not here"))).await.unwrap();
    assert_eq!(scene.apply_all(&fence).await.len(), 1);
}
