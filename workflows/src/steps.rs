//! What a dream asks of the engine that runs it.
//!
//! Every step means "do what is left of this": it is bounded in time, may be done twice, and answers what is left then.

use std::time::Duration;

use dream_core::op::OpKind;
use dream_core::run::RunState;

use crate::contract::{
    Applied, Asked, Begin, Begun, Judged, Look, Mirrored, Part, PartDone, Report, Reported, RunRef, Sealed,
    SettleReview, Stretch,
};

/// Why a step did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// It failed, and trying again will not help.
    Failed {
        /// The failure type.
        name: String,
        /// What happened, and to which id.
        message: String,
    },
    /// Somebody cancelled the run through the engine.
    Cancelled,
    /// The run outlives this process or this history; telling its story again goes on with it.
    Suspended,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// A person's word on the plan.
    Review,
    /// The end of a pause.
    Unpause,
    /// The target, which somebody else works on.
    Target,
    /// The graph database, which is behind.
    Graph,
    /// Somebody else's model.
    Client,
}

/// Where the story is, for people who look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Looking at what there is.
    Auditing {
        /// The audit.
        kind: OpKind,
    },
    /// Drawing up a plan.
    Planning {
        /// The planner.
        kind: OpKind,
    },
    /// Checking and ordering the plan.
    Sealing,
    /// The plan is sealed.
    Sealed(Sealed),
    /// Waiting.
    Waiting(WaitFor),
    /// Carrying out.
    Applying {
        /// Ops done.
        done: u32,
        /// Ops of the plan.
        total: u32,
        /// What is being done.
        label: String,
    },
    /// Telling the graph database.
    Mirroring,
    /// Writing the report.
    Reporting(RunState),
}

/// The engine under a story.
#[expect(async_fn_in_trait, reason = "the story is generic over its engine and never boxed")]
pub trait Steps {
    /// Takes the target and says what is left.
    async fn begin(&mut self, begin: Begin) -> Result<Begun, StepError>;
    /// Runs one audit.
    async fn audit(&mut self, part: Part) -> Result<PartDone, StepError>;
    /// Runs one planner.
    async fn plan(&mut self, part: Part) -> Result<PartDone, StepError>;
    /// Seals the plan.
    async fn seal(&mut self, run: RunRef) -> Result<Sealed, StepError>;
    /// Fetches what sealed ops need of others: vectors of an embedder.
    async fn prepare(&mut self, run: RunRef) -> Result<PartDone, StepError>;
    /// Gives the target back until a person has looked at the plan.
    async fn park_for_review(&mut self, run: RunRef) -> Result<(), StepError>;
    /// Reads what stands in the run's requests.
    async fn look(&mut self, run: RunRef) -> Result<Look, StepError>;
    /// Carries out a stretch of ops.
    async fn apply(&mut self, run: RunRef, stretch: Stretch) -> Result<Applied, StepError>;
    /// Carries a person's word on the plan into its ops.
    async fn settle_review(&mut self, settle: SettleReview) -> Result<(), StepError>;
    /// Tells the graph database of what was done. What it does not take is counted and left.
    async fn mirror(&mut self, run: RunRef) -> Result<Mirrored, StepError>;
    /// Plans and seals the housekeeping of a space.
    async fn tidy(&mut self, run: RunRef) -> Result<Sealed, StepError>;
    /// Writes the question of a space for a model, and gives the target back where a client answers it.
    async fn ask(&mut self, run: RunRef) -> Result<Asked, StepError>;
    /// Judges the answer and seals what came of it.
    async fn judge(&mut self, run: RunRef) -> Result<Judged, StepError>;
    /// Closes the run and writes its report. Runs to its end also where the run was cancelled.
    async fn report(&mut self, report: Report) -> Result<Reported, StepError>;
    /// Waits until something may have changed, at most for `patience`.
    async fn wait(&mut self, wait: WaitFor, patience: Duration) -> Result<(), StepError>;
    /// Says where the story is.
    fn progress(&mut self, progress: Progress);
}
