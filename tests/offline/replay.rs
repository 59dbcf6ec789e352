//! Recorded histories replay: whatever changes in workflow code, runs that are under way go on.
//!
//! A history is never edited. A change that breaks one needs a patch marker in the workflow, and a new recording beside the
//! old: `DREAM_RECORD=1 tests/run --only record`.

use temporalio_sdk::workflow_replayer::{WorkflowReplayError, WorkflowReplayFailure};

use crate::support::replay::{folder, replay};

/// Situations whose histories have to be there.
const SITUATIONS: [&str; 31] = [
    "dream_all",
    "dream_applied",
    "dream_approved",
    "dream_approved_by_signal",
    "dream_cancelled",
    "dream_dry_run",
    "dream_graph_behind",
    "dream_invalid_input",
    "dream_locked",
    "dream_mirror_left",
    "dream_mirrored",
    "dream_paused",
    "dream_rejected",
    "dream_resumed",
    "dream_stopped",
    "due_dreams",
    "due_dreams_continued",
    "reconcile_mirror",
    "space_abandoned",
    "space_answered",
    "space_cancelled",
    "space_housekeeping",
    "space_not_due",
    "space_of_night",
    "space_refused",
    "space_waiting",
    "start_dream",
    "start_dream_skipped",
    "sweep_retention",
    "undo_dream",
    "undo_dream_mirrored",
];

#[tokio::test]
async fn every_recorded_history_replays() {
    for situation in SITUATIONS {
        let path = folder().join(format!("{situation}.json"));
        let json = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        replay(&json).await.unwrap_or_else(|error| panic!("{situation}: {error}"));
    }
}

#[test]
fn every_recorded_history_is_a_named_situation() {
    for file in std::fs::read_dir(folder()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(SITUATIONS.contains(&name), "{name} is replayed by nobody");
    }
}

#[tokio::test]
async fn a_history_of_other_code_does_not_replay() {
    let json = std::fs::read_to_string(folder().join("dream_applied.json")).unwrap();
    assert!(json.contains("\"seal\""));
    let other = json.replace("\"seal\"", "\"seal_up\"");
    let failure = replay(other.as_bytes()).await.unwrap_err();
    assert!(matches!(failure, WorkflowReplayError::Replay(WorkflowReplayFailure::Nondeterminism { .. })), "{failure}");
}
