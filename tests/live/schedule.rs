//! What schedules start: one dream, one for every namespace, the sweep of what is old.

use dream_workflows::lenient::Lenient;
use dream_workflows::start::{DreamAll, StartDream};
use dream_workflows::sweep::SweepRetention;
use serde_json::{Value, json};
use temporalio_client::{WorkflowGetResultOptions, WorkflowStartOptions};

use crate::lab::{Lab, STORE, input};
use crate::support::world::{NAMESPACE, World};

/// Starts a workflow and answers its result as JSON.
macro_rules! outcome {
    ($lab:expr, $workflow:expr, $call:expr) => {{
        let options = WorkflowStartOptions::new($lab.queue.clone(), format!("test/{}", uuid::Uuid::now_v7())).build();
        let handle = $lab.client.start_workflow($workflow, Lenient::Ok($call), options).await.unwrap();
        let done = handle.get_result(WorkflowGetResultOptions::default()).await.unwrap();
        serde_json::to_value(done).unwrap()
    }};
}

fn call<T: serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_dream_says_what_became_of_it() {
    let lab = Lab::with(&World::new(40).lines()).await;
    let _worker = lab.worker(&[]);
    let done = outcome!(lab, StartDream::run, input(json!({ "mode": "apply" })));
    assert_eq!(done["reported"]["state"], "completed");
    let waiting = lab.start(input(json!({ "mode": "apply" }))).await;
    let skipped = outcome!(lab, StartDream::run, input(json!({})));
    let is_skipped = skipped["skipped"] == "DreamLockUnavailable";
    assert!(is_skipped || skipped["reported"]["state"] == "completed", "{skipped}");
    drop(waiting);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_namespace_of_a_store_dreams_and_one_that_fails_stops_no_other() {
    let lab = Lab::with(&World::new(40).lines()).await;
    let others: Vec<String> = (2..5).map(|at| NAMESPACE.replace("1111-1111", &format!("111{at}-1111"))).collect();
    for (namespace, digit) in others.iter().zip(6..) {
        lab.program.import(STORE, namespace, &World::new(20).lines().replace("-5", &format!("-{digit}")));
    }
    sqlx::query(
        "UPDATE memory_namespaces SET config_overrides = '{\"read_only\": true}' WHERE namespace_id = $1::uuid",
    )
    .bind(&others[0])
    .execute(&mut lab.database().await)
    .await
    .unwrap();
    let _worker = lab.worker(&[]);
    let done = outcome!(lab, DreamAll::run, call(json!({ "mode": "apply" })));
    assert_eq!(done, json!({ "completed": 3, "DreamForbiddenOpError": 1 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_old_is_swept() {
    let mut lab = Lab::with(&World::new(40).lines()).await;
    lab.program.set("KHORA_DREAM_RETENTION_DAYS", "1");
    let _worker = lab.worker(&[]);
    let old = lab.dream(input(json!({ "mode": "apply" }))).await;
    let young = lab.dream(input(json!({}))).await;
    let age = "UPDATE dream.run SET started_at = started_at - interval '9 days', \
               finished_at = finished_at - interval '9 days' WHERE run_id = $1::uuid";
    sqlx::query(age).bind(&old.run_id).execute(&mut lab.database().await).await.unwrap();
    let swept = outcome!(lab, SweepRetention::run, call(json!({})));
    assert_eq!(swept["runs"], 1, "{swept}");
    assert!(!std::path::Path::new(&old.report_path.unwrap()).exists());
    assert!(std::path::Path::new(&young.report_path.unwrap()).exists());
    lab.program.run(&["status", &old.run_id]).expect(1);
}
