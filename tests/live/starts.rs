//! Many starts, one run; and a worker that slept writes nothing.

use std::time::Duration;

use dream_core::run::{DreamInput, LEASE_TERM_SECONDS};
use dream_workflows::lenient::Lenient;
use dream_workflows::start::StartDream;
use serde_json::json;
use temporalio_client::schedules::{CreateScheduleOptions, DeleteScheduleOptions, ScheduleAction, ScheduleSpec};

use crate::lab::{Lab, eventually, input, result};
use crate::support::world::{World, timeless};

#[tokio::test(flavor = "multi_thread")]
async fn starts_by_schedule_and_by_hand_under_both_ids_of_a_namespace_are_one_run() {
    let lab = Lab::with(&World::new(3_000).lines()).await;
    let _worker = lab.worker(&[]);
    let row: uuid::Uuid =
        sqlx::query_scalar("SELECT id FROM memory_namespaces").fetch_one(&mut lab.database().await).await.unwrap();
    let by_stable_id = input(json!({ "mode": "apply" }));
    let by_row_id = DreamInput { namespace: row.to_string(), ..by_stable_id.clone() };

    let action =
        ScheduleAction::start_workflow(StartDream::run, Lenient::Ok(by_row_id.clone()), lab.queue.clone(), "nightly");
    let options =
        CreateScheduleOptions::builder().action(action).spec(ScheduleSpec::default()).trigger_immediately(true);
    let nightly = lab.client.create_schedule(lab.queue.clone(), options.build());
    let (nightly, first, second) = tokio::join!(nightly, lab.start(by_stable_id), lab.start(by_row_id));
    let (first, second) = tokio::join!(result(&first), result(&second));
    let refusals: Vec<String> =
        [&first, &second].into_iter().filter_map(|end| end.as_ref().err()).map(describe).collect();
    assert!(refusals.iter().all(|refusal| refusal.contains("DreamLockUnavailable")), "{refusals:?}");

    let runs = eventually("the scheduled start is settled", || {
        let history = lab.program.run(&["history", "--json"]).expect(0).json();
        let runs = history.as_array().unwrap().clone();
        runs.iter().all(|run| run["state"] != "planning" && run["state"] != "applying").then_some(runs)
    });
    assert_eq!(runs.len() + refusals.len(), if refusals.len() == 2 { 3 } else { 2 }, "{runs:?} {refusals:?}");
    assert_eq!(runs.len(), 1, "{runs:?}");
    nightly.unwrap().delete(DeleteScheduleOptions::default()).await.unwrap();
}

fn describe(error: &temporalio_client::errors::WorkflowGetResultError) -> String {
    format!("{error:?}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_sleeps_past_its_lease_writes_nothing_when_it_wakes() {
    let world = World::new(4_000);
    let calm = Lab::with(&world.lines()).await;
    let lab = Lab::with(&world.lines()).await;
    let worker = calm.worker(&[]);
    calm.dream(input(json!({ "mode": "apply" }))).await;
    drop(worker);

    let sleeper = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "apply" }))).await;
    lab.reach(&handle, "the run applies", |view| view.phase == "applying").await;
    sleeper.signal("STOP");
    // The row's lease has to be over before somebody else may go on.
    let _other = lab.worker(&[]);
    let reported = result(&handle).await.unwrap();
    let after = lab.content();
    assert_eq!(timeless(&after), timeless(&calm.content()), "the run was carried out once");
    let epochs: i64 =
        sqlx::query_scalar("SELECT max(epoch) FROM dream.lease").fetch_one(&mut lab.database().await).await.unwrap();
    assert!(epochs >= 2, "somebody else took the lease");

    sleeper.signal("CONT");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(lab.content(), after, "what woke up after {LEASE_TERM_SECONDS} s wrote nothing");
    assert_eq!(lab.status(&reported.run_id)["run"]["state"], "completed");
}
