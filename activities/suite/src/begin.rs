//! Who may take a target, and who may not.

use std::sync::Arc;

use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::run::{Admission, Mode, RunState};
use dream_ports::StoreError;
use dream_ports::run::{BeginRun, Begun, Closing, Request, RequestKind, RunFilter};
use uuid::Uuid;

use crate::actor::{kept_apart, run};
use crate::kit::{NamespaceSeed, WorldKit};
use crate::world::Scene;

/// Runs that start in the same second.
const STARTS: u128 = 16;

/// Longer than a run may be silent.
const LONG_AGO_SECONDS: i64 = 601;

pub async fn both_ids_lead_to_one_namespace(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let by_row = scene.store.resolve_namespace(scene.namespace.id.0).await.unwrap();
    assert_eq!(by_row, scene.namespace);
    assert!(!by_row.is_read_only);

    let inactive = NamespaceId(Uuid::from_u128(0xa0ff));
    let old = NamespaceSeed {
        id: inactive,
        stable_id: scene.namespace.stable_id,
        version: 2,
        is_active: false,
        config_overrides: "{}".to_owned(),
    };
    kit.insert_namespace(&old).await;
    let guarded = StableNamespaceId(Uuid::from_u128(0xb0ff));
    let read_only = NamespaceSeed {
        id: NamespaceId(Uuid::from_u128(0xa0fe)),
        stable_id: guarded,
        version: 1,
        is_active: true,
        config_overrides: r#"{"read_only": true}"#.to_owned(),
    };
    kit.insert_namespace(&read_only).await;

    let refused = scene.store.resolve_namespace(inactive.0).await.unwrap_err();
    assert!(matches!(refused, StoreError::NoNamespace { id } if id == inactive.0));
    assert_eq!(scene.store.resolve_namespace(scene.namespace.stable_id.0).await.unwrap(), scene.namespace);
    assert!(scene.store.resolve_namespace(guarded.0).await.unwrap().is_read_only);
    let listed = scene.store.namespaces(None, 10).await.unwrap();
    assert_eq!(
        listed.iter().map(|namespace| namespace.stable_id).collect::<Vec<_>>(),
        [guarded, scene.namespace.stable_id]
    );
    assert_eq!(scene.store.namespaces(Some(guarded), 10).await.unwrap(), [scene.namespace]);
}

pub async fn of_many_that_start_at_once_exactly_one_holds(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let mut starts = tokio::task::JoinSet::new();
    for number in 1..=STARTS {
        // Each by its own worker, half of them by each of the two ids.
        let store = kit.other_worker().await;
        let id = if number % 2 == 0 { scene.namespace.id.0 } else { scene.namespace.stable_id.0 };
        let namespace = store.resolve_namespace(id).await.unwrap();
        let begin = BeginRun { namespace, ..scene.beginning(number) };
        starts.spawn(async move { store.begin(&begin).await.unwrap() });
    }
    let begun = starts.join_all().await;
    let holds: Vec<RunId> = begun.iter().filter(|&begun| matches!(begun, Begun::Holds { .. })).map(held).collect();
    assert_eq!(holds.len(), 1);
    for other in begun.iter().filter(|begun| !matches!(begun, Begun::Holds { .. })) {
        let Begun::Refused(Admission::Locked { run, holder: Some(_) }) = other else { panic!("{other:?}") };
        assert_eq!(*run, holds[0]);
    }
    let open = scene.store.runs(&RunFilter { open_only: true, limit: 100, ..RunFilter::default() }).await.unwrap();
    assert_eq!(open.len(), 1, "the others left no row");
}

fn held(begun: &Begun) -> RunId {
    let Begun::Holds { fence, .. } = begun else { panic!("{begun:?}") };
    fence.run
}

pub async fn a_run_that_begins_twice_at_once_is_one_run(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let begin = Arc::new(scene.beginning(1));
    let mut attempts = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (store, begin) = (kit.other_worker().await, Arc::clone(&begin));
        attempts.spawn(async move { store.begin(&begin).await.unwrap() });
    }
    let mut epochs: Vec<i64> = attempts
        .join_all()
        .await
        .iter()
        .map(|begun| {
            let Begun::Holds { fence, .. } = begun else { panic!("{begun:?}") };
            fence.epoch
        })
        .collect();
    epochs.sort_unstable();
    epochs.dedup();
    assert_eq!(epochs.len(), 4, "each attempt is a stranger to the others");
    assert_eq!(kit.count("run").await, 1);
}

pub async fn a_resumed_run_must_exist(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let resume = BeginRun { is_resume: true, ..scene.beginning(1) };
    assert!(matches!(scene.store.begin(&resume).await, Err(StoreError::NoRun { id }) if id == run(1).0));
    scene.begin(1).await;
    assert!(matches!(scene.store.begin(&resume).await.unwrap(), Begun::Holds { .. }));
}

pub async fn a_closed_run_can_only_be_reported_again(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    scene.dream(1, vec![kept_apart(&[1, 2])]).await;
    let Begun::Closed(record) = scene.store.begin(&scene.beginning(1)).await.unwrap() else { panic!("it is closed") };
    assert_eq!(record.state, RunState::Completed);
    let resume = BeginRun { is_resume: true, ..scene.beginning(1) };
    let resumed = scene.store.begin(&resume).await.unwrap();
    assert!(matches!(resumed, Begun::Closed(_)), "its plan was done: {resumed:?}");
    scene.begin(2).await;
}

pub async fn a_run_that_ended_early_is_opened_again(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let (fence, plan) = scene.planned(1, vec![kept_apart(&[1, 2])]).await;
    let cancel = Request { run: run(1), kind: RequestKind::Cancel, by: "x".to_owned(), plan_hash: None };
    scene.store.request(&cancel).await.unwrap();
    scene.store.close(fence.run, RunState::Cancelled, &Closing::default()).await.unwrap();
    assert!(matches!(scene.store.begin(&scene.beginning(1)).await.unwrap(), Begun::Closed(_)), "not unless asked");
    let resume = BeginRun { is_resume: true, ..scene.beginning(1) };
    let Begun::Holds { run: record, fence, .. } = scene.store.begin(&resume).await.unwrap() else {
        panic!("it goes on")
    };
    assert_eq!((record.finished_at, record.state, record.plan_hash), (None, RunState::Planning, Some(plan.hash)));
    assert_eq!(scene.store.requests(run(1)).await.unwrap(), [], "what stopped it is asked no more");
    if kit.is_khoras() {
        let row = kit.rows("select state, finished_at from khora_dream_runs").await.remove(0);
        assert_eq!(row, [Some("planning".to_owned()), None]);
    }
    scene.close(&fence).await;
}

pub async fn a_run_of_another_target_is_refused(kit: &dyn WorldKit) {
    let (one, two) = (Scene::new(kit).await, Scene::numbered(kit, 2).await);
    one.begin(1).await;
    let refused = two.store.begin(&two.beginning(1)).await;
    assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
    two.begin(2).await;
}

pub async fn a_silent_run_locks_then_is_abandoned_or_stuck(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let fence = scene.begin(1).await;
    kit.expire_leases().await;
    let refused = scene.store.begin(&scene.beginning(2)).await.unwrap();
    assert!(matches!(refused, Begun::Refused(Admission::Locked { holder: None, .. })), "{refused:?}");

    kit.silence(fence.run, LONG_AGO_SECONDS).await;
    let Begun::Holds { fence, abandoned, .. } = scene.store.begin(&scene.beginning(2)).await.unwrap() else {
        panic!("nothing of a run that died while it planned is left to lose")
    };
    assert_eq!(abandoned, [run(1)]);
    assert_eq!(scene.store.run(run(1)).await.unwrap().state, RunState::Abandoned);

    scene.store.set_state(&fence, RunState::Applying).await.unwrap();
    kit.expire_leases().await;
    kit.silence(fence.run, LONG_AGO_SECONDS).await;
    let refused = scene.store.begin(&scene.beginning(3)).await.unwrap();
    assert!(matches!(refused, Begun::Refused(Admission::Stuck { run, .. }) if run == self::run(2)), "{refused:?}");
    let resumed = scene.store.begin(&BeginRun { is_resume: true, ..scene.beginning(2) }).await.unwrap();
    assert!(matches!(resumed, Begun::Holds { .. }), "the run itself may go on");
}

pub async fn a_stuck_run_is_closed_on_demand(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let fence = scene.begin(1).await;
    scene.store.set_state(&fence, RunState::Applying).await.unwrap();
    kit.expire_leases().await;
    kit.silence(fence.run, LONG_AGO_SECONDS).await;

    let elsewhere = Scene::numbered(kit, 2).await;
    let foreign = BeginRun { abandon: Some(run(1)), ..elsewhere.beginning(3) };
    let Begun::Holds { abandoned, .. } = elsewhere.store.begin(&foreign).await.unwrap() else { panic!("it is free") };
    assert_eq!(abandoned, []);
    assert_eq!(scene.store.run(run(1)).await.unwrap().finished_at, None, "a run of another target is left alone");

    let begin = BeginRun { abandon: Some(run(1)), ..scene.beginning(2) };
    let Begun::Holds { abandoned, .. } = scene.store.begin(&begin).await.unwrap() else { panic!("it takes over") };
    assert_eq!(abandoned, [run(1)]);
    assert!(matches!(scene.store.renew(&fence).await, Err(StoreError::LeaseLost { .. })));
}

pub async fn khoras_own_run_row_is_kept_true(kit: &dyn WorldKit) {
    if !kit.is_khoras() {
        return;
    }
    let scene = Scene::new(kit).await;
    let fence = scene.begin(1).await;
    let row = async || {
        let columns = "run_id, namespace_id, mode, state, plan_hash, last_committed_op_seq, total_ops, \
                       finished_at is null, graph_mirror_pending is null, \"trigger\"";
        kit.rows(&format!("select {columns} from khora_dream_runs")).await.remove(0)
    };
    let text = |values: &[&str]| values.iter().map(|value| Some((*value).to_owned())).collect::<Vec<_>>();
    let started = row().await;
    assert_eq!(started[..4], text(&[&run(1).to_string(), &scene.namespace.stable_id.to_string(), "apply", "planning"]));
    let is_true = started[7].clone();
    assert_eq!(started[9].as_deref(), Some("manual"));

    let plan = scene.seal(&fence, vec![kept_apart(&[1, 2])]).await;
    scene.store.set_state(&fence, RunState::Applying).await.unwrap();
    let sealed = row().await;
    assert_eq!(sealed[3..7], text(&["applying", &plan.hash.0, "-1", "1"]));

    let closing = Closing { error_code: Some("DREAM-1234".to_owned()) };
    scene.store.close(fence.run, RunState::Cancelled, &closing).await.unwrap();
    let closed = row().await;
    assert_eq!(closed[3].as_deref(), Some("completed"), "Khora has no word for cancelled");
    assert_ne!(closed[7], is_true, "it has an end");
    assert_eq!(closed[8], is_true, "Khora would carry out what it finds there");
    let dry = BeginRun { mode: Mode::DryRun, ..scene.beginning(2) };
    scene.store.begin(&dry).await.unwrap();
    let modes = kit.rows("select mode from khora_dream_runs order by mode").await;
    assert_eq!(modes, [text(&["apply"]), text(&["dry-run"])]);
}
