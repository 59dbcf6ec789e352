//! Whole files of small made-up runs, and what must hold of any report.

mod canary;
mod formats;
mod markdown;
mod terminal;

use expect_test::expect_file;

use super::fixture::{World, applied, cancelled, dry_run, failed, waiting};
use crate::redact::{RedactText, Redaction};

const WHOLE: Redaction = Redaction::new(RedactText::None);

/// Compares the files of a run with those in `snapshots/`.
macro_rules! snapshot {
    ($world:expr, $name:literal, $redaction:expr) => {
        let files = World::files(&$world, $redaction);
        expect_file![concat!("snapshots/", $name, ".summary.md")].assert_eq(&files.summary);
        expect_file![concat!("snapshots/", $name, ".events.jsonl")].assert_eq(&files.events);
        expect_file![concat!("snapshots/", $name, ".undo.json")].assert_eq(&files.undo);
        expect_file![concat!("snapshots/", $name, ".manifest.json")].assert_eq(&files.manifest);
    };
}

#[test]
fn a_dry_run_tells_what_would_be_done_and_how_to_do_it() {
    snapshot!(dry_run(), "dry_run", &WHOLE);
}

#[test]
fn an_apply_tells_what_became_of_each_op_and_how_to_take_it_back() {
    snapshot!(applied(), "applied", &WHOLE);
}

#[test]
fn a_report_without_memory_text_still_tells_what_was_done() {
    snapshot!(applied(), "applied_redacted", &Redaction::new(RedactText::All));
}

#[test]
fn a_cancelled_run_tells_how_far_it_came() {
    snapshot!(cancelled(), "cancelled", &WHOLE);
}

#[test]
fn a_failed_run_tells_why_and_what_to_do() {
    snapshot!(failed(), "failed", &WHOLE);
}

#[test]
fn a_waiting_plan_tells_how_to_decide() {
    snapshot!(waiting(), "waiting", &WHOLE);
}
