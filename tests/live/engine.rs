//! One dream on the real engine and PostgreSQL does what it does in one process on the embedded store.

use dream_workflows::contract::Reported;
use dream_workflows::lenient::Lenient;
use dream_workflows::undo::UndoDream;
use serde_json::json;
use temporalio_client::{WorkflowGetResultOptions, WorkflowStartOptions};

use crate::lab::{Lab, STORE, input};
use crate::support::program::{Program, count, run_id};
use crate::support::real_data;
use crate::support::world::{NAMESPACE, World, timeless};

/// The run on both, as folded edges name the op that did it.
const RUN: &str = "01900000-0000-7000-8000-000000000003";

#[tokio::test(flavor = "multi_thread")]
async fn a_dream_leaves_the_same_on_temporal_and_postgresql_as_locally_on_sqlite() {
    let world = World::new(400);
    let lab = Lab::with(&world.shuffled(7)).await;
    let local = Program::new();
    local.import("a.db", NAMESPACE, &world.lines());
    same_story(&lab, &local).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn real_companies_dream_alike_on_both() {
    let Some(data) = real_data("real_companies_dream_alike_on_both") else { return };
    let lab = Lab::new().await;
    let local = Program::new();
    for (program, store) in [(&lab.program, STORE), (&local, "a.db")] {
        program.run(&["migrate", "--realm", "graph", "--store", store]).expect(0);
        let file = data.join("companies_dev.jsonl");
        let vectors = data.join("companies_dev_embeddings.f16");
        let import = ["import", "graph", file.to_str().unwrap(), "--embeddings", vectors.to_str().unwrap()];
        let more = ["--dimension", "384", "--model", "all-MiniLM-L6-v2", "--namespace", NAMESPACE, "--store", store];
        program.run(&[&import[..], &more].concat()).expect(0);
    }
    same_story(&lab, &local).await;
}

/// Dry run, apply and undo on both, with the same plan, the same content and the same end.
async fn same_story(lab: &Lab, local: &Program) {
    let _worker = lab.worker(&[]);
    let before = lab.content();
    let before_local = local.content("a.db", NAMESPACE);

    let dry = lab.dream(input(json!({}))).await;
    let dry_local = local.dream("a.db", NAMESPACE, &[]);
    assert_eq!(json!(dry.plan_hash), dry_local["plan_hash"], "the same data gives the same plan");
    assert!(lab.content() == before, "a dry run writes no content");

    let applied =
        lab.dream(input(json!({ "mode": "apply", "expected_plan_hash": dry.plan_hash, "run_id": RUN }))).await;
    let applied_local = local.dream("a.db", NAMESPACE, &["--mode", "apply", "--run-id", RUN]);
    assert_eq!(json!(applied.ops), applied_local["ops"]);
    assert!(count(&applied_local, "applied") > 50, "{applied_local}");
    assert_eq!(count(&applied_local, "failed") + count(&applied_local, "stale"), 0, "{applied_local}");
    // Not shown where they differ: real content is large.
    assert!(timeless(&lab.content()) == timeless(&local.content("a.db", NAMESPACE)), "the content is not the same");

    let undone = undo(lab, &applied).await;
    assert_eq!(undone["undone"], json!(applied.ops["applied"]), "{undone}");
    assert!(lab.content() == before, "undo brings everything back");
    local.run(&["undo", "--run", &run_id(&applied_local), "--store", "a.db"]).expect(0);
    assert!(local.content("a.db", NAMESPACE) == before_local, "and there too");
    assert_eq!(lab.status(&applied.run_id)["run"]["state"], "undone");
}

/// Takes a run back by a workflow.
async fn undo(lab: &Lab, reported: &Reported) -> serde_json::Value {
    let id = format!("test/undo/{}", reported.run_id);
    let options = WorkflowStartOptions::new(lab.queue.clone(), id).build();
    let call = serde_json::from_value(json!({ "run_id": reported.run_id })).unwrap();
    let handle = lab.client.start_workflow(UndoDream::run, Lenient::Ok(call), options).await.unwrap();
    let done = handle.get_result(WorkflowGetResultOptions::default()).await.unwrap();
    serde_json::to_value(done).unwrap()
}
