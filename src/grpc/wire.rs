//! Between the types of the protocol and those of the domain: the one place where the two meet.
//!
//! **Invariant:** the matches are total, so that a state that is new must be given its number here, and a field that cannot be
//! read is named and not repeated.

use dream_core::clock::Moment;
use dream_core::id::{ContentKey, RunId};
use dream_core::op::OpState;
use dream_core::plan::PlanHash;
use dream_core::run::{Counts, Mode, RunState};
use dream_ports::run::{RequestKind, RunRecord};
use prost_types::Timestamp;
use uuid::Uuid;

use super::proto;
use super::status::invalid;
use crate::exit::Fault;
use crate::requests::UNNAMED;

const MICROS_PER_SECOND: i64 = 1_000_000;
const NANOS_PER_MICRO: i64 = 1_000;

/// Longest name of whoever asks: it stands in a row and in every list of requests.
const BY_CHARS_MAX: usize = 200;

/// Longest reason of a kill switch: a paragraph.
const WHY_CHARS_MAX: usize = 2_000;

/// The run that is meant.
pub(super) fn run_id(text: &str) -> Result<RunId, Fault> {
    text.parse().map_err(|_| invalid("run_id", "a UUID"))
}

/// The namespace that is meant, by either of its ids; none if the field is empty.
pub(super) fn namespace(text: &str) -> Result<Option<Uuid>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    Uuid::parse_str(text).map(Some).map_err(|_| invalid("namespace", "a UUID, or nothing"))
}

/// The plan that is meant; none if the field is empty.
pub(super) fn plan_hash(text: &str) -> Result<Option<PlanHash>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse::<ContentKey>().map_err(|_| invalid("plan_hash", "64 hexadecimal digits"))?;
    Ok(Some(PlanHash(text.to_ascii_lowercase())))
}

/// Who asks.
pub(super) fn by(text: String) -> Result<String, Fault> {
    if text.chars().count() > BY_CHARS_MAX {
        return Err(invalid("by", &format!("at most {BY_CHARS_MAX} characters")));
    }
    Ok(if text.is_empty() { UNNAMED.to_owned() } else { text })
}

/// Why the kill switch is set.
pub(super) fn why(text: String) -> Result<String, Fault> {
    if text.is_empty() || text.chars().count() > WHY_CHARS_MAX {
        return Err(invalid("why", &format!("1 to {WHY_CHARS_MAX} characters")));
    }
    Ok(text)
}

/// What is asked of a run.
pub(super) fn kind(number: i32) -> Result<RequestKind, Fault> {
    match proto::RequestKind::try_from(number).unwrap_or_default() {
        proto::RequestKind::Unspecified => Err(invalid("kind", "one of the kinds of request")),
        proto::RequestKind::Cancel => Ok(RequestKind::Cancel),
        proto::RequestKind::Pause => Ok(RequestKind::Pause),
        proto::RequestKind::Unpause => Ok(RequestKind::Unpause),
        proto::RequestKind::Approve => Ok(RequestKind::Approve),
        proto::RequestKind::Reject => Ok(RequestKind::Reject),
    }
}

/// A run, for a client.
pub(super) fn run(record: RunRecord) -> proto::Run {
    proto::Run {
        run_id: record.run.to_string(),
        realm: record.realm.to_string(),
        namespace: record.stable_namespace.to_string(),
        mode: mode(record.mode).into(),
        state: state(record.state).into(),
        waiting_for: record.waiting_for.unwrap_or_default(),
        plan_hash: record.plan_hash.map(|hash| hash.0).unwrap_or_default(),
        ops_total: record.ops_total,
        seq: record.last_committed_seq,
        engine: record.engine,
        workflow_id: record.workflow_id.unwrap_or_default(),
        started_at: Some(timestamp(record.started_at)),
        heartbeat_at: Some(timestamp(record.heartbeat_at)),
        finished_at: record.finished_at.map(timestamp),
        failure: record.error_code.unwrap_or_default(),
    }
}

/// Ops by kind and state, for a client.
pub(super) fn ops(counts: &Counts) -> Vec<proto::OpCount> {
    let of_kind = counts.iter().flat_map(|(kind, states)| states.iter().map(move |state| (kind, state)));
    of_kind
        .map(|(kind, (state, count))| proto::OpCount {
            kind: kind.to_string(),
            state: op_state(*state).into(),
            count: *count,
        })
        .collect()
}

/// Where a run is, for somebody who watches it.
pub(super) fn progress(record: RunRecord, counts: &Counts) -> proto::WatchResponse {
    let left: u32 = counts.values().filter_map(|states| states.get(&OpState::Sealed)).sum();
    proto::WatchResponse {
        state: state(record.state).into(),
        waiting_for: record.waiting_for.unwrap_or_default(),
        ops_done: record.ops_total.saturating_sub(left),
        ops_total: record.ops_total,
        seq: record.last_committed_seq,
        is_over: record.finished_at.is_some(),
    }
}

fn timestamp(moment: Moment) -> Timestamp {
    let micros = moment.micros();
    let nanos = micros.rem_euclid(MICROS_PER_SECOND) * NANOS_PER_MICRO;
    Timestamp { seconds: micros.div_euclid(MICROS_PER_SECOND), nanos: i32::try_from(nanos).unwrap_or_default() }
}

const fn mode(mode: Mode) -> proto::Mode {
    match mode {
        Mode::DryRun => proto::Mode::DryRun,
        Mode::Apply => proto::Mode::Apply,
        Mode::Review => proto::Mode::Review,
    }
}

const fn state(state: RunState) -> proto::RunState {
    match state {
        RunState::Planning => proto::RunState::Planning,
        RunState::AwaitingReview => proto::RunState::AwaitingReview,
        RunState::AwaitingClient => proto::RunState::AwaitingClient,
        RunState::Applying => proto::RunState::Applying,
        RunState::Completed => proto::RunState::Completed,
        RunState::Failed => proto::RunState::Failed,
        RunState::Cancelled => proto::RunState::Cancelled,
        RunState::AbortedSafety => proto::RunState::AbortedSafety,
        RunState::Abandoned => proto::RunState::Abandoned,
        RunState::Undone => proto::RunState::Undone,
        RunState::PartlyUndone => proto::RunState::PartlyUndone,
    }
}

const fn op_state(state: OpState) -> proto::OpState {
    match state {
        OpState::Sealed => proto::OpState::Sealed,
        OpState::Applied => proto::OpState::Applied,
        OpState::Noop => proto::OpState::Noop,
        OpState::KeptApart => proto::OpState::KeptApart,
        OpState::Skipped => proto::OpState::Skipped,
        OpState::Stale => proto::OpState::Stale,
        OpState::Failed => proto::OpState::Failed,
        OpState::Undone => proto::OpState::Undone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_before_the_epoch_keeps_its_microseconds() {
        let moment = timestamp(Moment::from_micros(-1));
        assert_eq!((moment.seconds, moment.nanos), (-1, 999_999_000));
    }

    #[test]
    fn states_have_the_names_of_the_domain() {
        for domain in RunState::ALL {
            let expected = format!("RUN_STATE_{}", domain.as_str().to_uppercase());
            assert_eq!(state(*domain).as_str_name(), expected);
        }
        for domain in OpState::ALL {
            assert_eq!(op_state(*domain).as_str_name(), format!("OP_STATE_{}", domain.as_str().to_uppercase()));
        }
        for domain in Mode::ALL {
            let expected = format!("MODE_{}", domain.as_str().to_uppercase().replace('-', "_"));
            assert_eq!(mode(*domain).as_str_name(), expected);
        }
    }

    #[test]
    fn a_kind_of_request_that_is_not_known_is_refused_and_not_guessed() {
        for number in [0, -1, 99] {
            assert!(kind(number).unwrap_err().to_string().starts_with("kind: expected"));
        }
    }
}
