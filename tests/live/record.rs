//! Records a history of every workflow in every situation that it can meet, and replays it at once.
//!
//! With `DREAM_RECORD=1` the histories are kept in `tests/replay/`, where each later change is replayed against them.

use dream_workflows::contract::{PauseWord, PlanWord};
use dream_workflows::dream::Dream;
use dream_workflows::lenient::Lenient;
use serde_json::{Value, json};
use temporalio_client::{
    Client, UntypedWorkflow, WorkflowCancelOptions, WorkflowExecuteUpdateOptions, WorkflowFetchHistoryOptions,
    WorkflowGetResultOptions, WorkflowHandle, WorkflowSignalOptions,
};
use temporalio_common::protos::temporal::api::common::v1::Payload;

use crate::graph::GraphLab;
use crate::lab::{Lab, input};
use crate::support::replay::{folder, replay};
use crate::support::world::{NAMESPACE, World};

/// Ends a workflow, replays its history and keeps it where that is asked for.
pub async fn record<W>(situation: &str, handle: &WorkflowHandle<Client, W>)
where
    W: temporalio_common::HasWorkflowDefinition,
{
    let untyped = handle.client().get_workflow_handle::<UntypedWorkflow>(handle.info().workflow_id.clone());
    let _end = untyped.get_result(WorkflowGetResultOptions::default()).await;
    record_so_far(situation, &untyped).await;
}

/// Replays the history of a workflow as far as it has come, and keeps it where that is asked for.
pub async fn record_so_far(situation: &str, handle: &WorkflowHandle<Client, UntypedWorkflow>) {
    let json = replayed(situation, handle).await;
    if std::env::var_os("DREAM_RECORD").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(folder().join(format!("{situation}.json")), json).unwrap();
    }
}

/// Replays the history of a workflow as far as it has come, and answers it.
pub async fn replayed(situation: &str, handle: &WorkflowHandle<Client, UntypedWorkflow>) -> Vec<u8> {
    let history = handle.fetch_history(WorkflowFetchHistoryOptions::default()).to_json().await.unwrap();
    let mut history: Value = serde_json::from_slice(&history).unwrap();
    forget_machines(&mut history);
    let json = serde_json::to_vec_pretty(&history).unwrap();
    replay(&json).await.unwrap_or_else(|error| panic!("{situation}: {error}"));
    json
}

/// Takes the names of machines out.
fn forget_machines(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match (name.as_str(), &value) {
            ("identity", Value::String(_)) => *value = json!("recorded"),
            _ => forget_machines(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(forget_machines),
        _ => {}
    }
}

fn payload(value: &Value) -> Vec<Payload> {
    let metadata = [("encoding".to_owned(), b"json/plain".to_vec())].into();
    vec![Payload { metadata, data: value.to_string().into_bytes(), ..Payload::default() }]
}

fn word(view: &dream_workflows::contract::ProgressView) -> Lenient<PlanWord> {
    Lenient::Ok(PlanWord { plan_hash: view.plan_hash.clone().unwrap(), by: "ada".to_owned() })
}

/// A run that waits for a review, and where it is.
async fn reviewed(lab: &Lab) -> (WorkflowHandle<Client, Dream>, dream_workflows::contract::ProgressView) {
    let handle = lab.start(input(json!({ "mode": "review" }))).await;
    let view = lab.reach(&handle, "the run waits for a review", |view| view.waiting_for.is_some()).await;
    (handle, view)
}

fn undo(lab: &Lab, run: &str) {
    lab.program.run(&["undo", "--run", run]).expect(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_of_dreams_replay() {
    let lab = Lab::with(&World::new(60).lines()).await;
    let _worker = lab.worker(&[]);
    record("dream_invalid_input", &lab.start_raw("Dream", payload(&json!({ "namespace": 42 }))).await).await;
    record("dream_dry_run", &lab.start(input(json!({}))).await).await;

    let (approved, view) = reviewed(&lab).await;
    let options = WorkflowExecuteUpdateOptions::default();
    approved.execute_update(Dream::approve, word(&view), options).await.unwrap();
    record("dream_approved", &approved).await;
    undo(&lab, &view.run_id);
    sqlx::query("DELETE FROM dream.verdict").execute(&mut lab.database().await).await.unwrap();

    let (by_signal, view) = reviewed(&lab).await;
    by_signal.signal(Dream::approve_by_signal, word(&view), WorkflowSignalOptions::default()).await.unwrap();
    record("dream_approved_by_signal", &by_signal).await;
    undo(&lab, &view.run_id);
    sqlx::query("DELETE FROM dream.verdict").execute(&mut lab.database().await).await.unwrap();

    // A pause that stands before the first group is met by the first group, however fast the machine is.
    let (paused, view) = reviewed(&lab).await;
    let nobody = || Lenient::Ok(Some(PauseWord { by: "ada".to_owned() }));
    paused.execute_update(Dream::pause, nobody(), WorkflowExecuteUpdateOptions::default()).await.unwrap();
    paused.execute_update(Dream::approve, word(&view), WorkflowExecuteUpdateOptions::default()).await.unwrap();
    lab.reach(&paused, "the run pauses", |view| view.waiting_for.as_deref() == Some("pause")).await;
    paused.execute_update(Dream::unpause, nobody(), WorkflowExecuteUpdateOptions::default()).await.unwrap();
    record("dream_paused", &paused).await;
    undo(&lab, &view.run_id);
    sqlx::query("DELETE FROM dream.verdict").execute(&mut lab.database().await).await.unwrap();

    let (cancelled, _) = reviewed(&lab).await;
    cancelled.cancel(WorkflowCancelOptions::default()).await.unwrap();
    record("dream_cancelled", &cancelled).await;

    let (stopped, view) = reviewed(&lab).await;
    lab.program.run(&["stop", "--why", "a recording"]).expect(0);
    stopped.execute_update(Dream::approve, word(&view), WorkflowExecuteUpdateOptions::default()).await.unwrap();
    record("dream_stopped", &stopped).await;
    lab.program.run(&["go"]).expect(0);
    record("dream_resumed", &lab.start(input(json!({ "mode": "review", "resume_from": view.run_id }))).await).await;
    undo(&lab, &view.run_id);
    sqlx::query("DELETE FROM dream.verdict").execute(&mut lab.database().await).await.unwrap();

    let (rejected, view) = reviewed(&lab).await;
    rejected.execute_update(Dream::reject, word(&view), WorkflowExecuteUpdateOptions::default()).await.unwrap();
    record("dream_rejected", &rejected).await;
    record("dream_applied", &lab.start(input(json!({ "mode": "apply" }))).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_of_the_other_workflows_replay() {
    let lab = Lab::with(&World::new(40).lines()).await;
    let _worker = lab.worker(&[]);
    let typed = json!({ "namespace": NAMESPACE, "mode": "apply" });
    record("start_dream", &lab.start_raw("StartDream", payload(&typed)).await).await;
    let run: uuid::Uuid =
        sqlx::query_scalar("SELECT run_id FROM dream.run").fetch_one(&mut lab.database().await).await.unwrap();
    record("undo_dream", &lab.start_raw("UndoDream", payload(&json!({ "run_id": run }))).await).await;
    record("dream_all", &lab.start_raw("DreamAll", payload(&json!({}))).await).await;
    record("sweep_retention", &lab.start_raw("SweepRetention", payload(&json!({}))).await).await;

    let hold = "UPDATE dream.lease SET run_id = gen_random_uuid(), holder = 'somebody else', purpose = 'run', \
                expires_at = now() + interval '1 hour'";
    sqlx::query(hold).execute(&mut lab.database().await).await.unwrap();
    record("start_dream_skipped", &lab.start_raw("StartDream", payload(&typed)).await).await;
    record("dream_locked", &lab.start_raw("Dream", payload(&typed)).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_of_mirrored_dreams_replay() {
    let lab = GraphLab::with_own_server(&World::new(40).lines()).await;
    let _worker = lab.lab.worker(&[]);
    let apply = json!({ "mode": "apply" });
    record("dream_mirrored", &lab.lab.start(lab.input(apply.clone())).await).await;
    let run: uuid::Uuid =
        sqlx::query_scalar("SELECT run_id FROM dream.run").fetch_one(&mut lab.lab.database().await).await.unwrap();
    let input = json!({ "run_id": run });
    record("undo_dream_mirrored", &lab.lab.start_raw("UndoDream", payload(&input)).await).await;
    sqlx::query("DELETE FROM dream.verdict").execute(&mut lab.lab.database().await).await.unwrap();

    let dry = crate::support::program::run_id(&lab.dream(&["--mode", "dry-run"]));
    lab.server().disturb("stop");
    let left = json!({ "mode": "apply", "plan_of": dry });
    record("dream_mirror_left", &lab.lab.start(lab.input(left)).await).await;
    record("dream_graph_behind", &lab.lab.start(lab.input(json!({ "graph_wait_seconds": 6 }))).await).await;
    let waiting = lab.lab.start_raw("ReconcileMirror", Vec::new()).await;
    lab.server().disturb("start");
    record("reconcile_mirror", &waiting).await;
}
