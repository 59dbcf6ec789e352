//! Retention.

use dream_core::change::RowKey;
use dream_core::clock::Moment;
use dream_ports::plan::Finding;
use dream_ports::run::{Request, RequestKind};

use crate::actor::{drop_references, run, step};
use crate::kit::{WorldKit, assert_same};
use crate::world::{Scene, entity, id};

/// Tables of which nothing may be left of a run that was swept.
const TABLES: [&str; 9] = ["run", "step", "finding", "draft", "op", "request", "undo", "touched", "outbox"];

/// Runs of one namespace, each with something in every table; all closed, no outbox row waits.
async fn runs(kit: &dyn WorldKit, numbers: std::ops::RangeInclusive<u128>) -> Scene<'_> {
    let rows: Vec<_> = numbers.clone().map(|number| entity(number, &format!("Person {number}"))).collect();
    let scene = Scene::new(kit).await.with(&rows).await;
    for number in numbers {
        let fence = scene.begin(number).await;
        let kind = dream_core::op::OpKind::OrphanReport;
        let finding = Finding { kind, ordinal: 1, payload: "{}".to_owned() };
        scene.store.write_findings(&fence, &step("audit:x"), &[finding]).await.unwrap();
        let draft = drop_references(RowKey::entity(id(number)), &[number]);
        scene.seal(&fence, vec![draft.clone()]).await;
        scene.store.write_drafts(&fence, draft.kind, &[draft]).await.unwrap();
        let pause = Request { run: fence.run, kind: RequestKind::Pause, by: "x".to_owned(), plan_hash: None };
        scene.apply_all(&fence).await;
        scene.store.request(&pause).await.unwrap();
        scene.close(&fence).await;
    }
    let outbox = kit.dialect().own("outbox");
    kit.execute(&format!("update {outbox} set state = 'done'")).await;
    scene
}

async fn started(kit: &dyn WorldKit, number: u128, at: Moment) {
    let (table, id) = (kit.dialect().own("run"), kit.dialect().id(run(number).0));
    kit.execute(&format!("update {table} set started_at = {} where run_id = {id}", kit.dialect().moment(at))).await;
}

pub async fn old_runs_go_with_everything_they_left(kit: &dyn WorldKit) {
    let scene = runs(kit, 1..=4).await;
    let now = scene.store.now().await.unwrap();
    let day = |days: i64| now.plus_seconds(-86_400 * days);
    for (number, days) in [(1, 40), (2, 3), (3, 2), (4, 1)] {
        started(kit, number, day(days)).await;
    }
    let content = kit.content().await;
    let mut counts = Vec::new();
    for table in TABLES {
        counts.push((table, kit.count(table).await));
    }
    scene.store.set_report(run(1), "/reports/1", "abc").await.unwrap();
    assert_eq!(scene.store.sweep(day(50), 10).await.unwrap(), []);
    assert_eq!(scene.store.sweep(day(30), 10).await.unwrap(), [(run(1), Some("/reports/1".to_owned()))], "too old");
    assert_eq!(scene.store.sweep(day(30), 2).await.unwrap(), [(run(2), None)], "too many");
    for (table, count) in counts {
        assert!(count > 0, "{table}");
        assert_eq!(kit.count(table).await, count / 2, "{table}");
    }
    let _open = scene.begin(5).await;
    started(kit, 5, day(99)).await;
    assert_eq!(scene.store.sweep(now, 0).await.unwrap(), [(run(3), None), (run(4), None)], "an open run stays");
    assert_eq!(kit.count("run").await, 1);
    assert_same(&kit.content().await, &content, "memories have nothing to do with it");
}

pub async fn a_run_whose_outbox_waits_is_kept(kit: &dyn WorldKit) {
    let scene = runs(kit, 1..=2).await;
    let outbox = kit.dialect().own("outbox");
    let waits = kit.dialect().id(run(1).0);
    kit.execute(&format!("update {outbox} set state = 'parked' where run_id = {waits}")).await;
    let tomorrow = scene.store.now().await.unwrap().plus_seconds(86_400);
    assert_eq!(scene.store.sweep(tomorrow, 10).await.unwrap(), [(run(2), None)]);
    assert_eq!(scene.store.sweep(tomorrow, 10).await.unwrap(), []);
}
