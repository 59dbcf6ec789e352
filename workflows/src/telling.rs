//! The Temporal side of the story: each step is an activity, progress is what the Temporal UI shows.

use std::time::Duration;

use dream_core::failure::Code;
use temporalio_common::error::{ActivityExecutionError, ApplicationFailure, IncomingError};
use temporalio_common::search_attributes::SearchAttributeKey;
use temporalio_workflow::{MemoValue, TimerOptions, WorkflowCancellationToken, WorkflowContext};

use crate::activities::DreamActivities;
use crate::contract::{
    Applied, ApplyStretch, Asked, Begin, Begun, Judged, Look, Mirrored, Part, PartDone, Report, Reported, RunRef,
    Sealed, SettleReview, Stretch,
};
use crate::dream::Dream;
use crate::policy;
use crate::steps::{Progress, StepError, Steps, WaitFor};

const REALM: SearchAttributeKey<String> = SearchAttributeKey::keyword("DreamRealm");
const TARGET: SearchAttributeKey<String> = SearchAttributeKey::keyword("DreamTarget");
const MODE: SearchAttributeKey<String> = SearchAttributeKey::keyword("DreamMode");
const STATE: SearchAttributeKey<String> = SearchAttributeKey::keyword("DreamState");

/// The steps over a workflow's context.
pub(crate) struct Telling {
    context: WorkflowContext<Dream>,
    has_search_attributes: bool,
}

impl Telling {
    pub(crate) const fn new(context: WorkflowContext<Dream>) -> Self {
        Self { context, has_search_attributes: false }
    }

    fn introduce(&mut self, begun: &Begun) {
        self.has_search_attributes = begun.has_search_attributes;
        self.context.state_mut(|dream| {
            dream.view.run_id.clone_from(&begun.run.run_id);
            dream.run = Some(begun.run.clone());
            dream.view.plan_hash = begun.sealed.as_ref().map(|sealed| sealed.plan_hash.clone());
        });
        if self.has_search_attributes {
            self.context.upsert_search_attributes([
                REALM.value_set(begun.realm.clone()),
                TARGET.value_set(begun.target.clone()),
                MODE.value_set(begun.mode.to_string()),
            ]);
        }
    }

    /// Ends this history before it is too long for the server: a review may wait for days, and looks every minute.
    fn turn_the_page(&self) -> Result<(), StepError> {
        if self.context.continue_as_new_suggested() { Err(StepError::Suspended) } else { Ok(()) }
    }

    fn say_state(&self, state: &str) {
        if self.has_search_attributes {
            self.context.upsert_search_attributes([STATE.value_set(state.to_owned())]);
        }
    }

    fn remember(&self, key: &'static str, value: String) {
        // A memo that cannot be written costs the run nothing.
        let _written = self.context.upsert_memo([(key, Some(MemoValue::new(value)))]);
    }
}

/// The failure of an activity, as the story knows it.
pub(crate) fn step_error(error: &ActivityExecutionError) -> StepError {
    match error {
        ActivityExecutionError::Cancelled(_) => StepError::Cancelled,
        ActivityExecutionError::Failed(_) => match error.cause() {
            Some(IncomingError::Application(failure)) => StepError::Failed {
                name: failure.type_name().unwrap_or(Code::Defect.name()).to_owned(),
                message: failure.to_string(),
            },
            _ => StepError::Failed {
                name: Code::StoreUnavailable.name().to_owned(),
                message: "an activity was tried until its time was over".to_owned(),
            },
        },
        _ => StepError::Failed {
            name: Code::Defect.name().to_owned(),
            message: "an activity answered in a shape that this workflow does not know".to_owned(),
        },
    }
}

/// The failure that ends a workflow.
pub(crate) fn workflow_failure(name: &str, message: &str) -> ApplicationFailure {
    ApplicationFailure::builder(message.to_owned()).type_name(name.to_owned()).non_retryable(true).build()
}

macro_rules! activity {
    ($self:ident, $activity:ident, $input:expr, $options:expr) => {
        $self
            .context
            .execute_activity(DreamActivities::$activity, $input, $options)
            .await
            .map_err(|error| step_error(&error))
    };
}

impl Steps for Telling {
    async fn begin(&mut self, begin: Begin) -> Result<Begun, StepError> {
        let begun = activity!(self, begin, begin, policy::short("take the namespace"))?;
        self.introduce(&begun);
        Ok(begun)
    }

    async fn audit(&mut self, part: Part) -> Result<PartDone, StepError> {
        let summary = part.kind.title();
        activity!(self, audit, part, policy::long(summary))
    }

    async fn plan(&mut self, part: Part) -> Result<PartDone, StepError> {
        let summary = part.kind.title();
        activity!(self, plan, part, policy::long(summary))
    }

    async fn seal(&mut self, run: RunRef) -> Result<Sealed, StepError> {
        activity!(self, seal, run, policy::long("seal the plan"))
    }

    async fn prepare(&mut self, run: RunRef) -> Result<PartDone, StepError> {
        activity!(self, prepare, run, policy::long("fetch vectors"))
    }

    async fn park_for_review(&mut self, run: RunRef) -> Result<(), StepError> {
        activity!(self, park_for_review, run, policy::short("give the namespace back until a person has looked"))
    }

    async fn look(&mut self, run: RunRef) -> Result<Look, StepError> {
        activity!(self, look, run, policy::short("read requests"))
    }

    async fn apply(&mut self, run: RunRef, stretch: Stretch) -> Result<Applied, StepError> {
        self.turn_the_page()?;
        let summary = stretch.label.clone();
        activity!(self, apply, ApplyStretch { run, stretch }, policy::stretch(summary))
    }

    async fn settle_review(&mut self, settle: SettleReview) -> Result<(), StepError> {
        activity!(self, settle_review, settle, policy::long("settle the review"))
    }

    async fn mirror(&mut self, run: RunRef) -> Result<Mirrored, StepError> {
        let mirrored = activity!(self, mirror, run, policy::stretch("tell the graph database"));
        let left = mirrored.as_ref().map_or(1, |mirrored| mirrored.left);
        self.context.state_mut(|dream| dream.graph_left = left);
        mirrored
    }

    async fn tidy(&mut self, run: RunRef) -> Result<Sealed, StepError> {
        activity!(self, tidy, run, policy::long("plan housekeeping"))
    }

    async fn ask(&mut self, run: RunRef) -> Result<Asked, StepError> {
        activity!(self, ask, run, policy::long("write the question"))
    }

    async fn judge(&mut self, run: RunRef) -> Result<Judged, StepError> {
        activity!(self, judge, run, policy::long("judge the answer"))
    }

    async fn report(&mut self, report: Report) -> Result<Reported, StepError> {
        let reported = activity!(self, report, report, policy::long("write the report"))?;
        let counts: Vec<String> = reported.ops.iter().map(|(state, count)| format!("{count} {state}")).collect();
        self.remember("ops", counts.join(", "));
        self.say_state(reported.state.as_str());
        Ok(reported)
    }

    async fn wait(&mut self, wait: WaitFor, patience: Duration) -> Result<(), StepError> {
        self.turn_the_page()?;
        let (summary, may_wake) = match wait {
            WaitFor::Review => ("wait for approve or reject", true),
            WaitFor::Unpause => ("wait for unpause", true),
            WaitFor::Target => ("wait for the namespace", false),
            WaitFor::Graph => ("wait for the graph database", false),
            WaitFor::Client => ("wait for an answer", true),
        };
        let options = TimerOptions::builder(patience)
            .summary(summary.to_owned())
            .cancellation_token(WorkflowCancellationToken::new())
            .build();
        let mut timer = self.context.timer(options);
        let waiter = self.context.clone();
        let mut woken = std::pin::pin!(
            waiter.wait_condition_with_options(
                |dream| may_wake && dream.is_woken,
                temporalio_workflow::WaitConditionOptions::builder()
                    .cancellation_token(WorkflowCancellationToken::new())
                    .build(),
            )
        );
        temporalio_workflow::select! {
            _ = woken => {}
            _ = timer => {}
        }
        self.context.state_mut(|dream| dream.is_woken = false);
        Ok(())
    }

    fn progress(&mut self, progress: Progress) {
        if let Progress::Sealed(sealed) = &progress {
            self.remember("plan_hash", sealed.plan_hash.clone());
        }
        let state = state_word(&progress);
        self.context.state_mut(|dream| dream.look(progress));
        if let Some(state) = state {
            self.say_state(state);
        }
        let details = self.context.state(Dream::details);
        self.context.set_current_details(details);
    }
}

/// The state that a search finds; none where it stays what it was.
fn state_word(progress: &Progress) -> Option<&'static str> {
    Some(match progress {
        Progress::Auditing { .. } | Progress::Planning { .. } | Progress::Sealing | Progress::Sealed(_) => "planning",
        Progress::Waiting(WaitFor::Review) => "awaiting_review",
        Progress::Waiting(WaitFor::Client) => "awaiting_client",
        Progress::Waiting(WaitFor::Unpause) => "paused",
        Progress::Waiting(WaitFor::Target) | Progress::Applying { .. } => "applying",
        Progress::Waiting(WaitFor::Graph) | Progress::Mirroring => return None,
        Progress::Reporting(state) => state.as_str(),
    })
}
