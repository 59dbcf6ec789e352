//! The check for due dreams over very many spaces: what it costs, and that a kill -9 in the middle loses and doubles nothing.
//!
//! In the long profile with 100,000 spaces, 5,000 of them due; the figures go to the standard error.

use std::time::{Duration, Instant};

use temporalio_client::{Client, UntypedWorkflow, WorkflowExecutionInfo, WorkflowFetchHistoryOptions, WorkflowHandle};
use temporalio_common::protos::temporal::api::history::v1::HistoryEvent;
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;

use crate::lab::{Lab, completed};
use crate::space_due::{Check, OVER, dreamed, end, lab, make, start_check, stop, until};
use crate::support::zones::night;

type UntypedHandle = WorkflowHandle<Client, UntypedWorkflow>;

/// Events of one history; the server allows for 51,200, and warns from 10,240 on.
const EVENTS_MAX: usize = 1_000;

/// How many spaces there are, how many of them are due, and over how many seconds their dreams are spread.
struct Size {
    spaces: i64,
    due: i64,
    spread_seconds: u32,
}

impl Size {
    fn of_profile() -> Self {
        if std::env::var("DREAM_TEST_PROFILE").is_ok_and(|profile| profile == "long") {
            Self { spaces: 100_000, due: 5_000, spread_seconds: 600 }
        } else {
            Self { spaces: 45_000, due: 150, spread_seconds: 10 }
        }
    }

    /// Spaces of which some are due, one of these fails always, and two carry a zone that nobody knows.
    async fn make(&self) -> Lab {
        let lab = lab().await;
        make(&lab, &night(), "off", self.spaces - self.due - 2).await;
        make(&lab, "Mars/Olympus", "client", 2).await;
        let due = make(&lab, &night(), "client", self.due).await;
        stop(&lab, due[0]).await;
        lab
    }
}

/// The parts of a check, one behind the other, each with its history.
pub async fn parts(lab: &Lab, check: &Check) -> Vec<(UntypedHandle, Vec<HistoryEvent>)> {
    let mut parts = Vec::new();
    let mut next = Some(check.first.clone());
    while let Some(run) = next {
        let info = WorkflowExecutionInfo::builder()
            .namespace("default")
            .workflow_id(check.handle.info().workflow_id.clone())
            .run_id(run)
            .build();
        let handle = info.bind_untyped(lab.client.clone());
        let events = handle.fetch_history(WorkflowFetchHistoryOptions::default()).into_events().await.unwrap();
        next = events.last().and_then(|event| match &event.attributes {
            Some(Attributes::WorkflowExecutionContinuedAsNewEventAttributes(continued)) => {
                Some(continued.new_execution_run_id.clone())
            }
            _ => None,
        });
        parts.push((handle, events));
    }
    parts
}

async fn histories(lab: &Lab, check: &Check) -> Vec<Vec<HistoryEvent>> {
    parts(lab, check).await.into_iter().map(|(_, events)| events).collect()
}

fn pages_done(histories: &[Vec<HistoryEvent>]) -> usize {
    histories.iter().map(|events| completed(events)).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_is_killed_in_the_middle_starts_each_of_very_many_spaces_once() {
    let size = Size::of_profile();
    let lab = size.make().await;
    let pages = usize::try_from(size.spaces).unwrap() / 500;
    let worker = lab.worker(&[]);
    let begun = Instant::now();
    let check = start_check(&lab, size.spread_seconds).await;
    while pages_done(&histories(&lab, &check).await) < pages / 3 {
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let peak = worker.peak_megabytes();
    worker.kill();
    assert!(pages_done(&histories(&lab, &check).await) < pages, "the check was over before it was disturbed");
    let worker = lab.worker(&[]);
    let done = end(&check).await;
    let took = begun.elapsed();
    let all = u64::try_from(size.spaces).unwrap();
    assert_eq!(done.started + done.under_way + done.not_due + done.unknown_zone, all, "{done:?}");
    assert_eq!((done.unknown_zone, done.failed, done.waiting), (2, 0, 0), "{done:?}");
    let histories = histories(&lab, &check).await;
    let events: Vec<usize> = histories.iter().map(Vec::len).collect();
    assert!(events.len() > 1 && events.iter().all(|events| *events <= EVENTS_MAX), "{events:?}");
    until(&lab, OVER, size.due - 1).await;
    assert_eq!(dreamed(&lab).await, (size.due - 1, size.due - 1), "each once, but for the one that fails always");
    eprintln!(
        "{} spaces, {} due, killed in the middle: {took:.1?}, {} MB and {} MB at most, events {events:?}; {:.1?} until all had dreamed",
        size.spaces,
        size.due,
        peak,
        worker.peak_megabytes(),
        begun.elapsed(),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_of_very_many_spaces_has_a_small_history() {
    let size = Size::of_profile();
    let lab = size.make().await;
    let worker = lab.worker(&[]);
    let idle = worker.peak_megabytes();
    let begun = Instant::now();
    // As the schedule starts it: the dreams come over the hour.
    let check = start_check(&lab, 3_600).await;
    let done = end(&check).await;
    let took = begun.elapsed();
    let due = u64::try_from(size.due).unwrap();
    assert_eq!((done.started, done.under_way, done.failed, done.unknown_zone), (due, 0, 0, 2), "{done:?}");
    let events: Vec<usize> = histories(&lab, &check).await.iter().map(Vec::len).collect();
    assert!(events.len() > 1 && events.iter().all(|events| *events <= EVENTS_MAX), "{events:?}");
    eprintln!(
        "{} spaces, {} due: {took:.1?}, {} MB at most ({idle} MB at first), events {events:?}",
        size.spaces,
        size.due,
        worker.peak_megabytes(),
    );
}
