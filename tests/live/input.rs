//! Whatever is typed into a start, a signal or an update: the run ends with a word, or goes on.

use serde_json::{Value, json};
use temporalio_client::{
    UntypedQuery, UntypedSignal, UntypedUpdate, WorkflowExecuteUpdateOptions, WorkflowGetResultOptions,
    WorkflowQueryOptions, WorkflowSignalOptions, WorkflowTerminateOptions,
};
use temporalio_common::data_converters::RawValue;
use temporalio_common::protos::temporal::api::common::v1::Payload;

use crate::lab::{Lab, input, result};
use crate::support::world::{NAMESPACE, World};

fn payload(encoding: &str, data: &[u8]) -> Payload {
    Payload {
        metadata: [("encoding".to_owned(), encoding.as_bytes().to_vec())].into(),
        data: data.to_vec(),
        ..Payload::default()
    }
}

fn plain(value: &Value) -> Payload {
    payload("json/plain", value.to_string().as_bytes())
}

/// What a person, a script or another program might send.
fn bad_payloads() -> Vec<Vec<Payload>> {
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let mut bad: Vec<Vec<Payload>> = [
        json!(null),
        json!(42),
        json!("CANARY"),
        json!([]),
        json!({}),
        json!({ "namespace": 42 }),
        json!({ "namespace": "CANARY" }),
        json!({ "namespace": NAMESPACE, "mode": "CANARY" }),
        json!({ "namespace": NAMESPACE, "CANARY": true }),
        json!({ "namespace": NAMESPACE, "ops": ["CANARY"] }),
        json!({ "namespace": NAMESPACE, "ops": "CANARY" }),
        json!({ "namespace": NAMESPACE, "scope": { "since": "CANARY" } }),
        json!({ "namespace": NAMESPACE, "scope": { "since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z" } }),
        json!({ "namespace": NAMESPACE, "realm": "CANARY" }),
        json!({ "namespace": NAMESPACE, "store": "CANARY" }),
        json!({ "namespace": NAMESPACE, "resume_from": "CANARY" }),
        json!({ "namespace": NAMESPACE, "plan_of": NAMESPACE }),
        json!({ "namespace": NAMESPACE, "mode": "apply", "expected_plan_hash": 7 }),
        deep,
    ]
    .iter()
    .map(|value| vec![plain(value)])
    .collect();
    bad.extend([
        vec![],
        vec![plain(&json!({ "namespace": NAMESPACE })), plain(&json!(1))],
        vec![payload("json/plain", b"{\"namespace\": \"CANARY")],
        vec![payload("binary/plain", &[0, 159, 146, 150])],
        vec![payload("binary/null", b"")],
        vec![payload("json/protobuf", b"{}")],
        vec![payload("CANARY", b"CANARY")],
        vec![Payload::default()],
    ]);
    bad
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_start_ends_at_once_and_says_why() {
    let lab = Lab::with(&World::new(20).lines()).await;
    let _worker = lab.worker(&[]);
    for workflow in ["Dream", "StartDream", "UndoDream", "DreamAll", "DueDreams", "SweepRetention"] {
        for (at, payloads) in bad_payloads().into_iter().enumerate() {
            // Without input these have a default to go by, and an empty one is no fault.
            let is_lax = matches!(workflow, "DreamAll" | "DueDreams" | "SweepRetention");
            let handle = lab.start_raw(workflow, payloads).await;
            let patience = std::time::Duration::from_secs(20);
            let end = tokio::time::timeout(patience, handle.get_result(WorkflowGetResultOptions::default())).await;
            let end = end.unwrap_or_else(|_| panic!("{workflow} with bad input {at} is wedged"));
            match end {
                Ok(_) => assert!(is_lax, "{workflow} took bad input {at}"),
                Err(error) => {
                    let error = format!("{error:?}");
                    assert!(
                        ["InvalidInput", "NotFound", "NoSuchStore"].iter().any(|name| error.contains(name)),
                        "{workflow}, bad input {at}: {error}"
                    );
                    assert!(!error.contains("CANARY"), "{workflow}, bad input {at}: {error}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_signals_updates_and_queries_leave_a_run_as_it_is() {
    let lab = Lab::with(&World::new(60).lines()).await;
    let _worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "review" }))).await;
    let view = lab.reach(&handle, "the run waits for a review", |view| view.waiting_for.is_some()).await;
    let mut ignored = 0;
    for payloads in bad_payloads() {
        for name in ["approve", "reject", "pause", "unpause", "wake", "no_such_signal"] {
            let signal = UntypedSignal::new(name);
            handle.signal(signal, RawValue::new(payloads.clone()), WorkflowSignalOptions::default()).await.unwrap();
        }
        for name in ["approve", "reject", "no_such_update"] {
            let update = UntypedUpdate::new(name);
            let options = WorkflowExecuteUpdateOptions::default();
            handle.execute_update(update, RawValue::new(payloads.clone()), options).await.unwrap_err();
        }
        let query = UntypedQuery::new("no_such_query");
        handle.query(query, RawValue::new(payloads), WorkflowQueryOptions::default()).await.unwrap_err();
        // The count is one of a history, and so many bad words can lead into a new one.
        let view = lab.reach(&handle, "the run still answers", |_| true).await;
        ignored = ignored.max(view.signals_ignored);
    }
    let after = lab.reach(&handle, "the run still waits", |view| view.waiting_for.as_deref() == Some("review")).await;
    assert_eq!(after.plan_hash, view.plan_hash);
    assert!(ignored > 0);
    lab.program.run(&["approve", &view.run_id]).expect(0);
    let reported = result(&handle).await.unwrap();
    assert_eq!(reported.state.to_string(), "completed");
    assert!(reported.ops["applied"] > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_that_nobody_knows_is_listed_by_doctor() {
    let lab = Lab::with(&World::new(20).lines()).await;
    let _worker = lab.worker(&[]);
    let handle = lab.start_raw("Dreem", vec![]).await;
    let id = handle.info().workflow_id.clone();
    let doctor = crate::lab::eventually("doctor lists the workflow", || {
        let doctor = lab.program.run(&["doctor"]);
        doctor.stdout.contains(&id).then_some(doctor)
    });
    assert_ne!(doctor.code, 0, "{}", doctor.stdout);
    handle.terminate(WorkflowTerminateOptions::default()).await.unwrap();
}
