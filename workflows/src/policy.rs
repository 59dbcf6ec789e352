//! Time-outs and retries of all activities: one table.
//!
//! What must not be tried again says so itself, by its failure. Everything else is tried again until the store is back, for
//! as long as a night is.

use std::time::Duration;

use temporalio_common::RetryPolicy;
use temporalio_workflow::{ActivityOptions, WorkflowCancellationToken};

/// How long a step may be retried in all. A store that is away for longer is away for good, and the run fails.
const STEP_TIME_MAX: Duration = Duration::from_hours(12);

/// How long an attempt may take that reads or writes a few rows.
const SHORT_ATTEMPT_MAX: Duration = Duration::from_secs(30);

/// How long an attempt may take that reads a whole namespace, or writes its report.
const LONG_ATTEMPT_MAX: Duration = Duration::from_hours(2);

/// How long an attempt may take on a stretch: its own limit of 45 seconds, and a last group.
const STRETCH_ATTEMPT_MAX: Duration = Duration::from_mins(2);

/// An attempt that gives no sign of life for this long is given up; long attempts give one every five seconds.
const SIGN_OF_LIFE_MAX: Duration = Duration::from_secs(30);

fn retry() -> RetryPolicy {
    RetryPolicy::builder()
        .initial_interval(Duration::from_millis(500))
        .backoff_coefficient(2.0)
        .maximum_interval(Duration::from_secs(30))
        .build()
}

/// An activity of a kind, with what people read beside it.
///
/// Activities do not inherit the workflow's cancellation: a cancel is a row that they read at their next group, so that
/// nothing is cut off half-way and everything is reported.
fn options(attempt_max: Duration, sign_of_life: bool, summary: String) -> ActivityOptions {
    let timeouts = temporalio_workflow_timeouts(attempt_max);
    let heartbeat = sign_of_life.then_some(SIGN_OF_LIFE_MAX);
    ActivityOptions::with_close_timeouts(timeouts)
        .maybe_heartbeat_timeout(heartbeat)
        .retry_policy(retry())
        .cancellation_token(WorkflowCancellationToken::new())
        .summary(summary)
        .build()
}

fn temporalio_workflow_timeouts(attempt_max: Duration) -> temporalio_common::ActivityCloseTimeouts {
    temporalio_common::ActivityCloseTimeouts::ScheduleAndStartToClose {
        schedule_to_close: STEP_TIME_MAX,
        start_to_close: attempt_max,
    }
}

/// An activity that reads or writes a few rows.
pub fn short(summary: impl Into<String>) -> ActivityOptions {
    options(SHORT_ATTEMPT_MAX, false, summary.into())
}

/// An activity that reads a whole namespace, or writes its report.
pub fn long(summary: impl Into<String>) -> ActivityOptions {
    options(LONG_ATTEMPT_MAX, true, summary.into())
}

/// An activity that carries out a stretch.
pub fn stretch(summary: impl Into<String>) -> ActivityOptions {
    options(STRETCH_ATTEMPT_MAX, true, summary.into())
}
