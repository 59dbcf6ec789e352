//! Replay of recorded histories against today's workflow code.

use std::path::PathBuf;

use dream_workflows::dream::Dream;
use dream_workflows::due::DueDreams;
use dream_workflows::reconcile::ReconcileMirror;
use dream_workflows::start::{DreamAll, StartDream};
use dream_workflows::sweep::SweepRetention;
use dream_workflows::undo::UndoDream;
use temporalio_client::WorkflowHistory;
use temporalio_sdk::workflow_replayer::{WorkflowReplayError, WorkflowReplayer, WorkflowReplayerOptions};

/// Where recorded histories lie, in the JSON of the SDK (the UI's and the CLI's is another one).
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/replay")
}

/// Replays a history; fails if the workflow code would have done something else.
pub async fn replay(json: &[u8]) -> Result<(), WorkflowReplayError> {
    // A workflow knows its queue, and may name others after it.
    let history: serde_json::Value = serde_json::from_slice(json).unwrap();
    let started = &history["events"][0]["attributes"]["WorkflowExecutionStartedEventAttributes"];
    let queue = started["task_queue"]["name"].as_str().unwrap_or_default();
    let options = WorkflowReplayerOptions::new()
        .register_workflow::<Dream>()
        .unwrap()
        .register_workflow::<DreamAll>()
        .unwrap()
        .register_workflow::<DueDreams>()
        .unwrap()
        .register_workflow::<ReconcileMirror>()
        .unwrap()
        .register_workflow::<StartDream>()
        .unwrap()
        .register_workflow::<SweepRetention>()
        .unwrap()
        .register_workflow::<UndoDream>()
        .unwrap()
        .task_queue(queue.to_owned())
        .build();
    WorkflowReplayer::new(options)?.replay_workflow(WorkflowHistory::from_json(json).unwrap()).await
}
