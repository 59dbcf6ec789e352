//! People: review, pause, cancel and the kill switch, from the Temporal UI and from a terminal.

use std::time::Duration;

use dream_workflows::contract::{PauseWord, PlanWord};
use dream_workflows::dream::Dream;
use dream_workflows::lenient::Lenient;
use serde_json::json;
use temporalio_client::errors::WorkflowGetResultError;
use temporalio_client::{
    WorkflowCancelOptions, WorkflowDescribeOptions, WorkflowExecuteUpdateOptions, WorkflowSignalOptions,
};

use crate::lab::{Lab, PATIENCE, completed, history, input, result};
use crate::support::world::World;

fn word(plan_hash: &str) -> Lenient<PlanWord> {
    Lenient::Ok(PlanWord { plan_hash: plan_hash.to_owned(), by: "ada".to_owned() })
}

fn pause_word() -> Lenient<Option<PauseWord>> {
    Lenient::Ok(Some(PauseWord { by: "ada".to_owned() }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_approved_by_its_hash_and_what_was_rejected_does_not_come_back() {
    let lab = Lab::with(&World::new(60).lines()).await;
    let _worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "review" }))).await;
    let view = lab.reach(&handle, "the run waits for a review", |view| view.waiting_for.is_some()).await;
    let hash = view.plan_hash.clone().unwrap();
    let free: bool = sqlx::query_scalar("SELECT bool_and(run_id IS NULL) FROM dream.lease")
        .fetch_one(&mut lab.database().await)
        .await
        .unwrap();
    assert!(free, "a review holds no lease");

    let ops = lab.program.ops("default", &view.run_id);
    let merges: Vec<&serde_json::Value> = ops
        .iter()
        .filter(|op| op["draft"]["kind"] == "vectorcypher_dedupe_entities" && op["state"] == "sealed")
        .collect();
    let rejected = merges[0]["draft"]["intent"].clone();
    let place = merges[0]["seq"].to_string();
    lab.program.run(&["review", &view.run_id, "--reject", &place]).expect(0);

    let update =
        |hash: &str| handle.execute_update(Dream::approve, word(hash), WorkflowExecuteUpdateOptions::default());
    let refused = update("0000").await.unwrap_err();
    assert!(format!("{refused:?}").contains("another plan"), "{refused:?}");
    assert_eq!(update(&hash).await.unwrap().outcome, "recorded");
    let reported = result(&handle).await.unwrap();
    assert_eq!(reported.state.to_string(), "completed");
    let state = lab.program.ops("default", &view.run_id);
    let state = state.iter().find(|op| op["seq"] == merges[0]["seq"]).unwrap();
    assert_ne!(state["state"], "applied");

    let again = lab.dream(input(json!({}))).await;
    let ops = lab.program.ops("default", &again.run_id);
    assert!(ops.iter().all(|op| op["draft"]["intent"] != rejected), "a rejection is remembered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_can_be_approved_or_rejected_by_a_signal() {
    let lab = Lab::with(&World::new(40).lines()).await;
    let _worker = lab.worker(&[]);
    let before = lab.content();
    for (signal, state) in [("reject", "cancelled"), ("approve", "completed")] {
        let handle = lab.start(input(json!({ "mode": "review" }))).await;
        let view = lab.reach(&handle, "the run waits for a review", |view| view.waiting_for.is_some()).await;
        let word = word(view.plan_hash.as_deref().unwrap());
        let options = WorkflowSignalOptions::default();
        match signal {
            "reject" => handle.signal(Dream::reject_by_signal, word, options).await.unwrap(),
            _ => handle.signal(Dream::approve_by_signal, word, options).await.unwrap(),
        }
        let reported = result(&handle).await.unwrap();
        assert_eq!(reported.state.to_string(), state);
        if signal == "reject" {
            assert_eq!(lab.content(), before);
            // What was rejected is gone for good, so that the second round has the references alone to remove.
            assert_eq!(reported.ops.get("applied"), None);
        }
    }
    assert_ne!(lab.content(), before);
}

/// Entities of a run that applies for some seconds.
const LONG: usize = 12_000;

/// Seconds from the moment a request stands in the store to the last op that was applied in spite of it.
async fn overrun(lab: &Lab, moment: &'static str) -> f64 {
    let mut database = lab.database().await;
    let query = format!("SELECT coalesce(extract(epoch FROM max(applied_at) - ({moment})), 0)::float8 FROM dream.op");
    sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&mut database).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn pause_holds_a_run_within_a_second_and_unpause_lets_it_go_on() {
    let lab = Lab::with(&World::new(LONG).lines()).await;
    let _worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "apply" }))).await;
    lab.reach(&handle, "the run applies", |view| view.phase == "applying").await;
    let done =
        handle.execute_update(Dream::pause, pause_word(), WorkflowExecuteUpdateOptions::default()).await.unwrap();
    assert_eq!(done.outcome, "recorded");
    let view = lab.reach(&handle, "the run pauses", |view| view.waiting_for.as_deref() == Some("pause")).await;
    assert!(view.ops_done < view.ops_total, "{view:?}");
    assert!(overrun(&lab, "SELECT max(requested_at) FROM dream.request").await < 1.0);
    let held = lab.status(&view.run_id);
    // It looks again, and stays where it is.
    let looks = completed(&history(&handle).await);
    handle.signal(Dream::wake, Lenient::Ok(None), WorkflowSignalOptions::default()).await.unwrap();
    let looked = async { while completed(&history(&handle).await) == looks {} };
    tokio::time::timeout(PATIENCE, looked).await.expect("a paused run looks when it is woken");
    lab.reach(&handle, "the run pauses still", |view| view.waiting_for.as_deref() == Some("pause")).await;
    assert_eq!(lab.status(&view.run_id)["ops"], held["ops"], "nothing happens in a pause");
    handle.execute_update(Dream::unpause, pause_word(), WorkflowExecuteUpdateOptions::default()).await.unwrap();
    assert_eq!(result(&handle).await.unwrap().state.to_string(), "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_in_the_ui_stops_at_the_next_group_and_still_reports() {
    let lab = Lab::with(&World::new(LONG).lines()).await;
    let _worker = lab.worker(&[]);
    let before = lab.content();
    let handle = lab.start(input(json!({ "mode": "apply" }))).await;
    let view = lab.reach(&handle, "the run applies", |view| view.phase == "applying").await;
    handle.cancel(WorkflowCancelOptions::default()).await.unwrap();
    let end = result(&handle).await.unwrap_err();
    assert!(matches!(end, WorkflowGetResultError::Cancelled { .. }), "{end:?}");
    assert!(overrun(&lab, "SELECT max(requested_at) FROM dream.request").await < 1.0);
    let status = lab.status(&view.run_id);
    assert_eq!(status["run"]["state"], "cancelled");
    let report = status["run"]["report_path"].as_str().unwrap();
    assert!(std::fs::read_to_string(report).unwrap().contains("cancelled"));

    let resumed = lab.dream(input(json!({ "mode": "apply", "resume_from": view.run_id }))).await;
    assert_eq!((resumed.run_id.as_str(), resumed.state.to_string().as_str()), (view.run_id.as_str(), "completed"));
    lab.program.run(&["undo", "--run", &view.run_id]).expect(0);
    assert_eq!(lab.content(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kill_switch_stops_a_run_within_a_second() {
    let lab = Lab::with(&World::new(LONG).lines()).await;
    let _worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "apply" }))).await;
    let view = lab.reach(&handle, "the run applies", |view| view.phase == "applying").await;
    lab.program.run(&["stop", "--why", "a look first", "--by", "ada"]).expect(0);
    let end = result(&handle).await.unwrap_err();
    assert!(format!("{end:?}").contains("DreamApplyDisabled"), "{end:?}");
    assert!(overrun(&lab, "SELECT max(set_at) FROM dream.control").await < 1.0);
    assert_eq!(lab.status(&view.run_id)["run"]["state"], "failed");
    let refused = result(&lab.start(input(json!({ "mode": "apply" }))).await).await.unwrap_err();
    assert!(format!("{refused:?}").contains("DreamApplyDisabled"), "{refused:?}");
    lab.program.run(&["go"]).expect(0);
    let resumed = lab.dream(input(json!({ "mode": "apply", "resume_from": view.run_id }))).await;
    assert_eq!(resumed.state.to_string(), "completed");
}

/// Wake-ups after which any server has suggested a new history; each adds some ten events, and no server allows more than
/// some thousands before.
const WAKES_MAX: usize = 1_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_is_looked_at_again_and_again_goes_on_in_a_new_history() {
    let lab = Lab::with(&World::new(60).lines()).await;
    let _worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "review" }))).await;
    let view = lab.reach(&handle, "the run waits for a review", |view| view.waiting_for.is_some()).await;
    let execution = async || {
        let described = handle.describe(WorkflowDescribeOptions::default()).await.unwrap();
        described.run_id().to_owned()
    };
    let first = execution().await;
    let mut wakes = 0;
    while execution().await == first {
        assert!(wakes < WAKES_MAX, "the history only grows");
        wakes += 1;
        let woken = handle.signal(Dream::wake, Lenient::Ok(None), WorkflowSignalOptions::default()).await;
        woken.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    let later = lab.reach(&handle, "the run waits again", |view| view.waiting_for.is_some()).await;
    assert_eq!((&later.run_id, &later.plan_hash), (&view.run_id, &view.plan_hash), "it is the same run");
    let hash = later.plan_hash.unwrap();
    let approve = WorkflowExecuteUpdateOptions::default();
    assert_eq!(handle.execute_update(Dream::approve, word(&hash), approve).await.unwrap().outcome, "recorded");
    let reported = result(&handle).await.unwrap();
    assert_eq!(reported.run_id, view.run_id);
    assert!(reported.ops["applied"] > 3, "{:?}", reported.ops);
}
