//! Records histories of dreams over spaces, and of the check that starts them.

use dream_core::run::DreamInput;
use dream_workflows::dream::Dream;
use serde_json::Value;
use temporalio_client::{Client, UntypedWorkflow, WorkflowCancelOptions, WorkflowHandle};

use crate::lab::Lab;
use crate::record::{record, record_so_far, replayed};
use crate::space::{answer, lab};
use crate::space_due::{self, end, make, start_check, workflow_of};
use crate::space_many::parts;
use crate::support::zones::night;

/// A dream that waits for its answer, and its run.
async fn asking(lab: &Lab, space: &str) -> (WorkflowHandle<Client, Dream>, String) {
    let handle = lab.start(DreamInput::of_space(space)).await;
    let view = lab.reach(&handle, "the dream asks", |view| view.waiting_for.as_deref() == Some("answer")).await;
    (handle, view.run_id)
}

fn job(lab: &Lab, space: &str) -> Value {
    lab.program.run(&["job", "next", "--space", space]).expect(0).json()["job"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_of_dreams_over_spaces_replay() {
    let (lab, space) = lab().await;
    let _worker = lab.worker(&[]);
    let (answered, run) = asking(&lab, &space).await;
    let untyped = lab.client.get_workflow_handle::<UntypedWorkflow>(answered.info().workflow_id.clone());
    record_so_far("space_waiting", &untyped).await;
    record("space_refused", &lab.start(DreamInput::of_space(space.clone())).await).await;
    let file = lab.program.path("answer.json");
    std::fs::write(&file, answer(&job(&lab, &space))).unwrap();
    lab.program.run(&["job", "submit", &run, "--result", file.to_str().unwrap()]).expect(0);
    record("space_answered", &answered).await;

    let (cancelled, _) = asking(&lab, &space).await;
    cancelled.cancel(WorkflowCancelOptions::default()).await.unwrap();
    record("space_cancelled", &cancelled).await;

    let off = DreamInput { mind: Some("off".parse().unwrap()), ..DreamInput::of_space(space.clone()) };
    record("space_housekeeping", &lab.start(off).await).await;

    let (abandoned, _) = asking(&lab, &space).await;
    let facts = lab.program.run(&["facts", "list", "--space", &space, "--json"]).json();
    lab.program.run(&["facts", "forget", facts[0]["id"].as_str().unwrap(), "--space", &space]).expect(0);
    record("space_abandoned", &abandoned).await;

    let night = Some("2026-11-29".parse().unwrap());
    record("space_not_due", &lab.start(DreamInput { night, ..DreamInput::of_space(space) }).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_of_checks_for_due_dreams_replay() {
    let lab = space_due::lab().await;
    let due = make(&lab, &night(), "client", 2).await;
    make(&lab, "Mars/Olympus", "client", 1).await;
    let _worker = lab.worker(&[]);
    let check = start_check(&lab, 0).await;
    record("due_dreams", &check.handle).await;
    record("space_of_night", &lab.client.get_workflow_handle::<Dream>(workflow_of(due[0]))).await;
    // More pages than one history has.
    make(&lab, &night(), "off", 36_000).await;
    let check = start_check(&lab, 0).await;
    end(&check).await;
    let parts = parts(&lab, &check).await;
    assert_eq!(parts.len(), 2);
    replayed("the part that is continued", &parts[0].0).await;
    record_so_far("due_dreams_continued", &parts[1].0).await;
}
