//! Steps, findings, drafts, sealed plans, reviews, and what one run leaves for the next.

use dream_core::change::RowKey;
use dream_core::id::ContentKey;
use dream_core::op::{Decision, Draft, OpKind, OpState, Reason};
use dream_core::plan::{PlanHash, seal};
use dream_core::run::{RunState, SkipReason};
use dream_ports::plan::{Finding, OpFilter, Step};

use crate::actor::{centroid, drop_references, kept_apart, merge, run, step};
use crate::kit::WorldKit;
use crate::world::{Scene, id};

const PLANNER: OpKind = OpKind::SourceChunkIdsGc;

fn drop_of(number: u128) -> Draft {
    drop_references(RowKey::entity(id(number)), &[number])
}

fn keys(drafts: &[Draft]) -> Vec<ContentKey> {
    let mut keys: Vec<ContentKey> = drafts.iter().map(Draft::content_key).collect();
    keys.sort_unstable();
    keys
}

pub async fn drafts_of_an_attempt_that_was_given_up_count_for_nothing(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let store = &scene.store;
    let first = scene.begin(1).await;
    store.write_drafts(&first, PLANNER, &[drop_of(1), drop_of(2)]).await.unwrap();
    assert_eq!(store.drafts(run(1), None).await.unwrap(), [], "not published yet");

    let second = store.fence(run(1), "w").await.unwrap();
    store.write_drafts(&second, PLANNER, &[drop_of(2)]).await.unwrap();
    store.write_drafts(&second, PLANNER, &[drop_of(2), drop_of(3)]).await.unwrap();
    let published = Step { name: format!("plan:{PLANNER}"), summary: r#"{"drafts":2}"#.to_owned() };
    let skipped = SkipReason { op_kind: PLANNER, reason: Reason::MissingEntityEmbedding, count: Some(1) };
    store.publish(&second, PLANNER, &published, std::slice::from_ref(&skipped)).await.unwrap();
    let drafts = store.drafts(run(1), None).await.unwrap();
    assert_eq!(keys(&drafts), keys(&[drop_of(2), drop_of(3)]));
    assert_eq!(keys(&store.drafts(run(1), Some(PLANNER)).await.unwrap()), keys(&drafts));
    assert_eq!(store.drafts(run(1), Some(OpKind::DedupeEntities)).await.unwrap(), []);

    let again = SkipReason { count: Some(7), ..skipped };
    store.publish(&second, PLANNER, &published, std::slice::from_ref(&again)).await.unwrap();
    assert_eq!(store.run(run(1)).await.unwrap().skip_reasons, [again], "said once");
    assert_eq!(store.steps(run(1)).await.unwrap(), [published]);
}

pub async fn a_plan_that_is_written_twice_is_written_once(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let store = &scene.store;
    let fence = scene.begin(1).await;
    store.write_drafts(&fence, PLANNER, &[drop_of(1), drop_of(2)]).await.unwrap();
    store.publish(&fence, PLANNER, &step(&format!("plan:{PLANNER}")), &[]).await.unwrap();
    let plan = seal(run(1), store.drafts(run(1), None).await.unwrap());
    let audit = PlanHash("a".repeat(64));
    store.write_plan(&fence, &plan, &audit, &step("seal")).await.unwrap();
    let ops = scene.ops(1).await;
    let fence = store.fence(run(1), "retry").await.unwrap();
    let of_a_retry = seal(run(1), store.drafts(run(1), None).await.unwrap());
    store.write_plan(&fence, &of_a_retry, &audit, &step("seal")).await.unwrap();
    assert_eq!(scene.ops(1).await, ops);
    assert_eq!(ops.iter().map(|record| record.op.clone()).collect::<Vec<_>>(), plan.ops);
    let record = store.run(run(1)).await.unwrap();
    assert_eq!((record.plan_hash, record.audit_hash, record.ops_total), (Some(plan.hash), Some(audit), 2));
    assert_eq!(kit.count("draft").await, 0, "the plan has them now");
}

pub async fn ops_are_read_by_place_kind_and_state(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let drafts = vec![drop_of(1), drop_of(2), drop_of(3), kept_apart(&[4, 5])];
    let (_, plan) = scene.planned(1, drafts).await;
    let read = async |filter: OpFilter| {
        let ops = scene.store.ops(run(1), &filter).await.unwrap();
        ops.iter().map(|record| record.op.seq).collect::<Vec<_>>()
    };
    let all = || OpFilter { limit: 100, ..OpFilter::default() };
    assert_eq!(read(all()).await, [1, 2, 3, 4]);
    assert_eq!(read(OpFilter { after_seq: 1, limit: 2, ..OpFilter::default() }).await, [2, 3]);
    assert_eq!(read(OpFilter { kind: Some(PLANNER), ..all() }).await, [1, 2, 3]);
    assert_eq!(read(OpFilter { states: vec![OpState::KeptApart], ..all() }).await, [4]);
    assert_eq!(read(OpFilter { states: vec![OpState::KeptApart, OpState::Sealed], ..all() }).await.len(), 4);
    assert!(read(OpFilter { states: vec![OpState::Failed], ..all() }).await.is_empty());
    let counts = scene.store.counts(run(1)).await.unwrap();
    assert_eq!(counts[&PLANNER], [(OpState::Sealed, 3)].into());
    assert_eq!(counts[&OpKind::DedupeEntities], [(OpState::KeptApart, 1)].into());
    let (owner, found) = scene.store.op(plan.ops[0].id).await.unwrap().unwrap();
    assert_eq!((owner, found.op), (run(1), plan.ops[0].clone()));
    assert!(scene.store.op(dream_core::id::OpId(id(9))).await.unwrap().is_none());
}

pub async fn a_stretch_is_cut_between_clusters(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let joined = merge(2, &[3], vec![]);
    let vector = centroid(&joined, Decision::Centroid);
    let (_, plan) = scene.planned(1, vec![drop_of(1), joined, vector, drop_of(5)]).await;
    assert_eq!(plan.ops.len(), 4);
    let stretch = scene.store.next_stretch(run(1), 2).await.unwrap().unwrap();
    assert_eq!((stretch.seq_from, stretch.seq_to, stretch.left), (1, 3, 4));
    assert_eq!(stretch.kinds, [(OpKind::DedupeEntities, 1), (OpKind::CentroidRecompute, 1), (PLANNER, 1)].into());
    let all = scene.store.next_stretch(run(1), 100).await.unwrap().unwrap();
    assert_eq!((all.seq_from, all.seq_to), (1, 4));
    assert_eq!(scene.store.next_stretch(run(9), 100).await.unwrap(), None);
}

pub async fn a_review_is_taken_while_the_run_waits_for_it(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let (fence, _) = scene.planned(1, vec![drop_of(1), drop_of(2), drop_of(3)]).await;
    let store = &scene.store;
    assert_eq!(store.review(run(1), &[1, 2], true).await.unwrap(), 0, "nobody asked yet");
    store.park(&fence, RunState::AwaitingReview, "review", None).await.unwrap();
    assert_eq!(store.review(run(1), &[1, 2, 77], true).await.unwrap(), 2);
    assert_eq!(store.review(run(1), &[2], false).await.unwrap(), 1);
    let said = scene.ops(1).await.iter().map(|record| record.review).collect::<Vec<_>>();
    assert_eq!(said, [Some(true), Some(false), None]);

    store.settle_review(run(1), false).await.unwrap();
    let fates: Vec<_> = scene.ops(1).await.iter().map(|record| (record.op.state, record.op.reason)).collect();
    let (sealed, rejected) = ((OpState::Sealed, None), (OpState::Skipped, Some(Reason::Rejected)));
    assert_eq!(fates, [sealed, rejected, sealed]);
    store.settle_review(run(1), true).await.unwrap();
    assert_eq!(store.next_stretch(run(1), 100).await.unwrap(), None, "all of it was rejected");
}

pub async fn an_audit_that_is_repeated_replaces_its_findings(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let fence = scene.begin(1).await;
    let finding = |kind, ordinal, payload: &str| Finding { kind, ordinal, payload: payload.to_owned() };
    let (orphans, drift) = (OpKind::OrphanReport, OpKind::SchemaDriftReport);
    let audit = |kind: OpKind| step(&format!("audit:{kind}"));
    let store = &scene.store;
    let first = [finding(orphans, 1, "1"), finding(orphans, 2, "2")];
    store.write_findings(&fence, &audit(orphans), &first).await.unwrap();
    let other = finding(drift, 1, r#"{"new":["PLANET"]}"#);
    store.write_findings(&fence, &audit(drift), std::slice::from_ref(&other)).await.unwrap();
    let second = finding(orphans, 1, "again");
    store.write_findings(&fence, &audit(orphans), std::slice::from_ref(&second)).await.unwrap();
    assert_eq!(store.findings(run(1)).await.unwrap(), [second, other]);
    let names: Vec<String> = store.steps(run(1)).await.unwrap().into_iter().map(|step| step.name).collect();
    assert_eq!(names, [audit(orphans).name, audit(drift).name]);
}

pub async fn what_a_run_remembers_is_there_for_the_next(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await;
    let (store, namespace) = (&scene.store, scene.namespace.id);
    let kind = OpKind::SchemaDriftReport;
    assert_eq!(store.baseline(namespace, kind).await.unwrap(), None);
    store.write_baseline(namespace, kind, run(1), r#"{"PERSON":1}"#).await.unwrap();
    store.write_baseline(namespace, kind, run(2), r#"{"PERSON":2}"#).await.unwrap();
    assert_eq!(store.baseline(namespace, kind).await.unwrap().as_deref(), Some(r#"{"PERSON":2}"#));
    assert_eq!(store.baseline(namespace, OpKind::OrphanReport).await.unwrap(), None);

    let (asked, unasked) = (ContentKey([1; 32]), ContentKey([2; 32]));
    store.write_answer(asked, "m", &[0.1, -3.5e-9, 1.0]).await.unwrap();
    store.write_answer(asked, "m", &[9.0]).await.unwrap();
    let answers = store.answers(&[asked, unasked]).await.unwrap();
    assert_eq!(answers, [(asked, "m".to_owned(), vec![0.1, -3.5e-9, 1.0])], "the first answer stands");
    assert_eq!(store.text_key().await.unwrap().0, kit.other_worker().await.text_key().await.unwrap().0);
}
