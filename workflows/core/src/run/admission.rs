//! Whether a run may start.
//!
//! **Invariant:** that is decided here, from what the store says of the run's target and the time by the store's clock;
//! stores and engines only carry the decision out.

use super::RunState;
use crate::clock::Moment;
use crate::id::RunId;

/// How long the lease on a target lasts from its last renewal. Long against a group (at most a few hundred milliseconds)
/// and against the 15 seconds between renewals, short against the patience of somebody whose worker died.
pub const LEASE_TERM_SECONDS: i64 = 60;

/// Without a sign of life for this long an open run counts as stuck.
pub const STUCK_AFTER_SECONDS: i64 = 600;

/// How long a question waits for somebody else's model before the next start gives it up: a day.
pub const CLIENT_WAIT_SECONDS: i64 = 86_400;

/// Who holds a target, as the store says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The worker.
    pub holder: String,
    /// When it ends unless renewed.
    pub expires_at: Moment,
}

/// A run of the target that was not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRun {
    /// The run.
    pub run: RunId,
    /// Where it stands.
    pub state: RunState,
    /// Whether it waits for a person or a client; such a run holds no lease and blocks nobody.
    pub is_waiting: bool,
    /// Its last sign of life.
    pub heartbeat_at: Moment,
}

/// What a target looks like to a run that wants to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The time by the store's clock.
    pub now: Moment,
    /// Who holds it.
    pub lease: Option<Lease>,
    /// Runs that were not closed, this one included.
    pub open_runs: Vec<OpenRun>,
}

/// Whether a run may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may, once these dead runs are closed.
    Admit {
        /// Runs that died while they planned; nothing of them is left to lose.
        abandon: Vec<RunId>,
    },
    /// Somebody works on the target.
    Locked {
        /// The run.
        run: RunId,
        /// The worker, where known.
        holder: Option<String>,
    },
    /// A run waits for somebody else's model, and may still be answered.
    Waiting {
        /// The run.
        run: RunId,
    },
    /// A run died while it applied; a person decides.
    Stuck {
        /// The run.
        run: RunId,
        /// Since its last sign of life.
        silent_seconds: i64,
    },
}

/// Decides whether `run` may take the target; `given_up` is a run that a person gives up, which closes it if it is silent.
pub fn admit(run: RunId, given_up: Option<RunId>, standing: &Standing) -> Admission {
    if let Some(lease) = &standing.lease
        && lease.run != run
        && lease.expires_at > standing.now
    {
        return Admission::Locked { run: lease.run, holder: Some(lease.holder.clone()) };
    }
    let waits = |open: &&OpenRun| open.is_waiting && given_up == Some(open.run);
    let mut abandon: Vec<RunId> = standing.open_runs.iter().filter(waits).map(|open| open.run).collect();
    let asks = |open: &&OpenRun| {
        open.is_waiting && open.state == RunState::AwaitingClient && open.run != run && given_up != Some(open.run)
    };
    for open in standing.open_runs.iter().filter(asks) {
        // A run that waits gives no sign of life: its last one is the moment at which it asked.
        if standing.now.seconds_since(open.heartbeat_at) < CLIENT_WAIT_SECONDS {
            return Admission::Waiting { run: open.run };
        }
        abandon.push(open.run);
    }
    for open in standing.open_runs.iter().filter(|open| open.run != run && !open.is_waiting) {
        let silent_seconds = standing.now.seconds_since(open.heartbeat_at);
        if silent_seconds < STUCK_AFTER_SECONDS {
            return Admission::Locked { run: open.run, holder: None };
        }
        if open.state == RunState::Applying && given_up != Some(open.run) {
            return Admission::Stuck { run: open.run, silent_seconds };
        }
        abandon.push(open.run);
    }
    Admission::Admit { abandon }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Moment = Moment::from_micros(1_000_000_000_000_000);

    fn id(number: u128) -> RunId {
        RunId(Uuid::from_u128(number))
    }

    fn standing(lease_for_seconds: Option<i64>, open: &[(u128, RunState, bool, i64)]) -> Standing {
        Standing {
            now: NOW,
            lease: lease_for_seconds.map(|seconds| Lease {
                run: id(1),
                holder: "w".into(),
                expires_at: NOW.plus_seconds(seconds),
            }),
            open_runs: open
                .iter()
                .map(|(run, state, is_waiting, silent)| OpenRun {
                    run: id(*run),
                    state: *state,
                    is_waiting: *is_waiting,
                    heartbeat_at: NOW.plus_seconds(-silent),
                })
                .collect(),
        }
    }

    #[test]
    fn a_held_target_refuses_every_other_run_and_takes_its_holder_back() {
        let held = standing(Some(5), &[]);
        assert_eq!(admit(id(2), None, &held), Admission::Locked { run: id(1), holder: Some("w".into()) });
        assert_eq!(admit(id(1), None, &held), Admission::Admit { abandon: vec![] });
    }

    #[test]
    fn a_silent_run_locks_for_ten_minutes_then_is_abandoned_or_stuck() {
        use RunState::{Applying, AwaitingReview, Planning};
        let check = |open, expected: &Admission| assert_eq!(&admit(id(9), None, &standing(Some(-1), open)), expected);
        check(&[(1, Planning, false, 599)], &Admission::Locked { run: id(1), holder: None });
        check(&[(1, Planning, false, 600)], &Admission::Admit { abandon: vec![id(1)] });
        check(&[(1, Applying, false, 599)], &Admission::Locked { run: id(1), holder: None });
        check(&[(1, Applying, false, 600)], &Admission::Stuck { run: id(1), silent_seconds: 600 });
        check(&[(1, AwaitingReview, true, 1)], &Admission::Admit { abandon: vec![] });
        check(&[(1, Applying, true, 1)], &Admission::Admit { abandon: vec![] });
    }

    #[test]
    fn a_question_that_waits_for_a_day_is_given_up_by_the_next_start() {
        use RunState::AwaitingClient;
        let check = |open, expected: &Admission| assert_eq!(&admit(id(9), None, &standing(None, open)), expected);
        check(&[(1, AwaitingClient, true, 86_399)], &Admission::Waiting { run: id(1) });
        check(&[(1, AwaitingClient, true, 86_400)], &Admission::Admit { abandon: vec![id(1)] });
        let own = standing(None, &[(9, AwaitingClient, true, 5)]);
        assert_eq!(admit(id(9), None, &own), Admission::Admit { abandon: vec![] });
        let given_up = standing(None, &[(1, AwaitingClient, true, 5)]);
        assert_eq!(admit(id(9), Some(id(1)), &given_up), Admission::Admit { abandon: vec![id(1)] });
    }

    #[test]
    fn a_run_is_given_up_only_if_it_is_silent_or_waits() {
        use RunState::{Applying, AwaitingReview};
        let check = |open, expected: &Admission| {
            assert_eq!(&admit(id(9), Some(id(1)), &standing(Some(-1), open)), expected);
        };
        check(&[(1, Applying, false, 600)], &Admission::Admit { abandon: vec![id(1)] });
        check(&[(1, Applying, false, 599)], &Admission::Locked { run: id(1), holder: None });
        check(
            &[(1, AwaitingReview, true, 1), (2, AwaitingReview, true, 1)],
            &Admission::Admit { abandon: vec![id(1)] },
        );
    }
}
