//! The one stream of events that tells a run, in the order in which Khora tells it: started, planned, then each audit and
//! each op with what became of it, then over.
//!
//! The stream is told from the store when the run is over, or while it waits, and it can be told again: [`opening`], then
//! the audits, then the ops in the order of their places, then [`closing`].
//!
//! **Invariant:** an event says what became of an op, never only what was planned.

use crate::change::named_variants;
use crate::clock::Moment;
use crate::report::facts::{AuditFacts, OpFacts, RunFacts, millis};
use crate::run::{Mode, RunState};

named_variants! {
    /// The phases of a run, in Khora's words.
    pub enum Phase {
        /// Auditing, planning, sealing.
        Plan = "plan",
        /// Telling what would be done.
        Report = "report",
        /// Carrying out.
        Apply = "apply",
    }
}

named_variants! {
    /// How a phase ended, in Khora's words.
    pub enum PhaseOutcome {
        /// It came to its end.
        Success = "success",
        /// It was left out.
        Skipped = "skipped",
        /// It ended by an error.
        Failed = "failed",
    }
}

/// Something that happened in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// The run began.
    RunStarted,
    /// A phase began.
    PhaseStarted {
        /// Which.
        phase: Phase,
        /// When.
        at: Moment,
    },
    /// An audit told what it found.
    Audit(&'a AuditFacts),
    /// An op was decided, and this became of it.
    Op(&'a OpFacts),
    /// A phase ended.
    PhaseCompleted {
        /// Which.
        phase: Phase,
        /// How.
        outcome: PhaseOutcome,
        /// How long it took; zero where that is not known.
        duration_ms: f64,
    },
    /// The run ended, as it should or because somebody said so.
    RunCompleted,
    /// The run ended by an error.
    RunFailed,
}

/// What a run is told by before its audits and ops.
pub fn opening(run: &RunFacts) -> Vec<Event<'static>> {
    let planned = run.plan_hash.is_some();
    let mut events = vec![Event::RunStarted, Event::PhaseStarted { phase: Phase::Plan, at: run.started_at }];
    if planned {
        events.push(completed(run, Phase::Plan, PhaseOutcome::Success));
        events.push(Event::PhaseStarted { phase: second_phase(run.mode), at: run.sealed_at.unwrap_or(run.as_of) });
    } else if has_failed(run.state) {
        events.push(completed(run, Phase::Plan, PhaseOutcome::Failed));
    } else if !run.state.is_open() {
        events.push(completed(run, Phase::Plan, PhaseOutcome::Skipped));
    }
    events
}

/// What a run is told by after its audits and ops. A run that is still open has no end to tell.
pub fn closing(run: &RunFacts) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    if run.state.is_open() {
        return events;
    }
    let failed = has_failed(run.state);
    if run.plan_hash.is_some() {
        let outcome = if failed { PhaseOutcome::Failed } else { PhaseOutcome::Success };
        events.push(completed(run, second_phase(run.mode), outcome));
    }
    events.push(if failed { Event::RunFailed } else { Event::RunCompleted });
    events
}

/// Whether a run in this state ended by an error.
pub const fn has_failed(state: RunState) -> bool {
    matches!(state, RunState::Failed | RunState::AbortedSafety | RunState::Abandoned)
}

/// What follows the plan: a run that may write carries out, any other only tells.
pub const fn second_phase(mode: Mode) -> Phase {
    if mode.may_write() { Phase::Apply } else { Phase::Report }
}

fn completed(run: &RunFacts, phase: Phase, outcome: PhaseOutcome) -> Event<'static> {
    let (from, to) = match phase {
        Phase::Plan if run.plan_hash.is_some() => (Some(run.started_at), run.sealed_at),
        Phase::Plan => (Some(run.started_at), run.finished_at),
        Phase::Report | Phase::Apply => (run.sealed_at, run.finished_at),
    };
    let duration_ms = from.zip(to).map_or(0.0, |(from, to)| millis(from, to));
    Event::PhaseCompleted { phase, outcome, duration_ms }
}
