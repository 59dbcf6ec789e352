//! `Dream`: one run over one namespace.
//!
//! Start it by hand in the Temporal UI with plain JSON, for example `{"namespace": "6f0c…", "mode": "dry-run"}`.
//! A person's word comes as an update (`approve`, `reject`, `pause`, `unpause`) or, where updates cannot be sent, as a signal
//! of the same name. It has effect only through its row in the store.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use std::error::Error;

use dream_core::failure::{Code, Failure};
use dream_core::run::{DreamInput, InvalidInput};
use futures::FutureExt as _;
use temporalio_macros::{workflow, workflow_methods};
use temporalio_workflow::{
    ContinueAsNewOptions, SyncWorkflowContext, WorkflowContext, WorkflowContextView, WorkflowResult,
    WorkflowTermination,
};

use crate::activities::DreamActivities;
use crate::contract::{Begin, PauseWord, PlanWord, ProgressView, Reported, RequestCall, RequestDone, RunRef};
use crate::lenient::Lenient;
use crate::policy;
use crate::reconcile::hand_over;
use crate::steps::{Progress, StepError, WaitFor};
use crate::story::story;
use crate::telling::{Telling, workflow_failure};

/// A run.
#[workflow]
pub struct Dream {
    input: Lenient<DreamInput>,
    pub(crate) run: Option<RunRef>,
    pub(crate) view: ProgressView,
    pub(crate) is_woken: bool,
    /// Rows that the graph database was not told of when it was last tried.
    pub(crate) graph_left: u64,
    requests: Turns,
}

/// Requests are recorded one after the other, in the order in which they came: a pause and its end must not overtake each
/// other.
#[derive(Default)]
struct Turns {
    given: u64,
    served: u64,
}

#[workflow_methods]
impl Dream {
    #[init]
    fn new(_context: &WorkflowContextView, input: Lenient<DreamInput>) -> Self {
        Self {
            input,
            run: None,
            view: ProgressView::default(),
            is_woken: false,
            graph_left: 0,
            requests: Turns::default(),
        }
    }

    #[run(name = "Dream")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<Reported> {
        let input = match ctx.state(|dream| dream.input.clone()).get() {
            Ok(input) => input,
            Err(invalid) => return Err(refuse(invalid).into()),
        };
        let begin = Begin {
            input,
            run_id: ctx.info().first_execution_run_id().to_owned(),
            engine: "temporal".to_owned(),
            workflow_id: Some(ctx.workflow_id().to_owned()),
        };
        let mut telling = Telling::new(ctx.clone());
        let outcome = {
            let mut told = std::pin::pin!(story(&mut telling, begin).fuse());
            let mut cancelled = std::pin::pin!(Self::heed_cancel(ctx.clone()).fuse());
            temporalio_workflow::select! {
                outcome = told => outcome,
                () = cancelled => told.await,
            }
        };
        if !matches!(outcome, Err(StepError::Suspended)) && ctx.state(|dream| dream.graph_left > 0) {
            hand_over(ctx).await;
        }
        match outcome {
            Ok(reported) if ctx.cancellation_token().is_cancelled() => {
                Err(WorkflowTermination::cancelled_with_details(reported))
            }
            Ok(reported) => Ok(reported),
            Err(StepError::Failed { name, message }) => Err(workflow_failure(&name, &message).into()),
            // The store is the memory of the run: the same story, told again, goes on where this history ends.
            Err(StepError::Suspended) => {
                let _idle = ctx.wait_condition(|dream| dream.requests.served == dream.requests.given).await;
                let input = ctx.state(|dream| dream.input.clone());
                match ctx.continue_as_new(input, ContinueAsNewOptions::default())? {}
            }
            Err(StepError::Cancelled) => Err(WorkflowTermination::cancelled()),
        }
    }

    #[query]
    pub fn progress(&self, _ctx: &WorkflowContextView) -> ProgressView {
        self.view.clone()
    }

    #[update]
    pub async fn approve(ctx: &mut WorkflowContext<Self>, word: Lenient<PlanWord>) -> RequestDone {
        Self::say_plan_word(ctx, "approve", word).await
    }

    #[update_validator(approve)]
    pub fn check_approve(
        &self,
        _ctx: &WorkflowContextView,
        word: &Lenient<PlanWord>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.check_plan_word(word)
    }

    #[update]
    pub async fn reject(ctx: &mut WorkflowContext<Self>, word: Lenient<PlanWord>) -> RequestDone {
        Self::say_plan_word(ctx, "reject", word).await
    }

    #[update_validator(reject)]
    pub fn check_reject(
        &self,
        _ctx: &WorkflowContextView,
        word: &Lenient<PlanWord>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.check_plan_word(word)
    }

    #[update]
    pub async fn pause(ctx: &mut WorkflowContext<Self>, word: Lenient<Option<PauseWord>>) -> RequestDone {
        Self::say_pause_word(ctx, "pause", word).await
    }

    #[update_validator(pause)]
    pub fn check_pause(
        &self,
        _ctx: &WorkflowContextView,
        word: &Lenient<Option<PauseWord>>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.check_pause_word(word)
    }

    #[update]
    pub async fn unpause(ctx: &mut WorkflowContext<Self>, word: Lenient<Option<PauseWord>>) -> RequestDone {
        Self::say_pause_word(ctx, "unpause", word).await
    }

    #[update_validator(unpause)]
    pub fn check_unpause(
        &self,
        _ctx: &WorkflowContextView,
        word: &Lenient<Option<PauseWord>>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.check_pause_word(word)
    }

    #[signal(name = "approve")]
    pub async fn approve_by_signal(ctx: &mut WorkflowContext<Self>, word: Lenient<PlanWord>) {
        if Self::heed(ctx, |dream| dream.check_plan_word(&word)) {
            Self::say_plan_word(ctx, "approve", word).await;
        }
    }

    #[signal(name = "reject")]
    pub async fn reject_by_signal(ctx: &mut WorkflowContext<Self>, word: Lenient<PlanWord>) {
        if Self::heed(ctx, |dream| dream.check_plan_word(&word)) {
            Self::say_plan_word(ctx, "reject", word).await;
        }
    }

    #[signal(name = "pause")]
    pub async fn pause_by_signal(ctx: &mut WorkflowContext<Self>, word: Lenient<Option<PauseWord>>) {
        if Self::heed(ctx, |dream| dream.check_pause_word(&word)) {
            Self::say_pause_word(ctx, "pause", word).await;
        }
    }

    #[signal(name = "unpause")]
    pub async fn unpause_by_signal(ctx: &mut WorkflowContext<Self>, word: Lenient<Option<PauseWord>>) {
        if Self::heed(ctx, |dream| dream.check_pause_word(&word)) {
            Self::say_pause_word(ctx, "unpause", word).await;
        }
    }

    /// Wakes a waiting run: its requests were changed in the store.
    #[signal(name = "wake")]
    pub fn wake(&mut self, _ctx: &mut SyncWorkflowContext<Self>, _nothing: Lenient<Option<()>>) {
        self.is_woken = true;
    }
}

impl Dream {
    /// A cancel through the engine becomes the same row as every other request, and the story heeds that.
    async fn heed_cancel(ctx: WorkflowContext<Self>) {
        ctx.cancelled().await;
        let detached = temporalio_workflow::WaitConditionOptions::builder()
            .cancellation_token(temporalio_workflow::WorkflowCancellationToken::new())
            .build();
        if ctx.wait_condition_with_options(|dream| dream.run.is_some(), detached).await.is_ok() {
            Self::record(&ctx, "cancel", String::new(), None).await;
        }
    }

    /// Whether a signal is heeded. One that cannot be read, or comes at the wrong time, is counted and left: unlike an
    /// update it has nobody to answer to.
    fn heed(ctx: &WorkflowContext<Self>, check: impl Fn(&Self) -> Result<(), Box<dyn Error + Send + Sync>>) -> bool {
        let is_heeded = ctx.state(|dream| check(dream).is_ok());
        if !is_heeded {
            ctx.state_mut(|dream| dream.view.signals_ignored += 1);
        }
        is_heeded
    }

    async fn say_plan_word(ctx: &WorkflowContext<Self>, kind: &str, word: Lenient<PlanWord>) -> RequestDone {
        let word = word.get().unwrap_or_default();
        Self::record(ctx, kind, word.by, Some(word.plan_hash)).await
    }

    async fn say_pause_word(ctx: &WorkflowContext<Self>, kind: &str, word: Lenient<Option<PauseWord>>) -> RequestDone {
        let word = word.get().unwrap_or_default().unwrap_or_default();
        Self::record(ctx, kind, word.by, None).await
    }

    async fn record(ctx: &WorkflowContext<Self>, kind: &str, by: String, plan_hash: Option<String>) -> RequestDone {
        let Some(run) = ctx.state(|dream| dream.run.clone()) else {
            return RequestDone { outcome: "not_waiting".to_owned() };
        };
        let turn = ctx.state_mut(|dream| {
            dream.requests.given += 1;
            dream.requests.given
        });
        let detached = temporalio_workflow::WaitConditionOptions::builder()
            .cancellation_token(temporalio_workflow::WorkflowCancellationToken::new())
            .build();
        let _mine = ctx.wait_condition_with_options(|dream| dream.requests.served + 1 == turn, detached).await;
        let call = RequestCall { run, kind: kind.to_owned(), by, plan_hash };
        let options = policy::short(format!("record a request: {kind}"));
        let done = ctx.execute_activity(DreamActivities::record_request, call, options).await;
        ctx.state_mut(|dream| {
            dream.requests.served = turn;
            dream.is_woken = true;
        });
        done.unwrap_or_else(|_| RequestDone { outcome: "store_unavailable".to_owned() })
    }

    fn check_plan_word(&self, word: &Lenient<PlanWord>) -> Result<(), Box<dyn Error + Send + Sync>> {
        let word = word.clone().get().map_err(|_| "expected {\"plan_hash\": \"…\"}")?;
        if self.view.waiting_for.as_deref() != Some("review") {
            return Err("this run does not wait for a review".into());
        }
        if self.view.plan_hash.as_deref() != Some(word.plan_hash.as_str()) {
            return Err("this run has another plan; its hash stands in the current details".into());
        }
        Ok(())
    }

    fn check_pause_word(&self, word: &Lenient<Option<PauseWord>>) -> Result<(), Box<dyn Error + Send + Sync>> {
        word.clone().get().map_err(|_| "expected nothing, or {\"by\": \"…\"}")?;
        if self.run.is_none() {
            return Err("this run has not begun".into());
        }
        Ok(())
    }

    /// Takes in where the story is.
    pub(crate) fn look(&mut self, progress: Progress) {
        let view = &mut self.view;
        view.waiting_for = None;
        match progress {
            Progress::Auditing { kind } => {
                "auditing".clone_into(&mut view.phase);
                kind.title().clone_into(&mut view.what);
            }
            Progress::Planning { kind } => {
                "planning".clone_into(&mut view.phase);
                kind.title().clone_into(&mut view.what);
            }
            Progress::Sealing => {
                "planning".clone_into(&mut view.phase);
                "sealing the plan".clone_into(&mut view.what);
            }
            Progress::Sealed(sealed) => {
                "sealed".clone_into(&mut view.phase);
                view.what = String::new();
                view.plan_hash = Some(sealed.plan_hash);
                view.ops_total = sealed.ops_total;
                view.ops_done = sealed.ops_total - sealed.ops_left;
            }
            Progress::Waiting(wait) => {
                "waiting".clone_into(&mut view.phase);
                let (what, waiting_for) = match wait {
                    WaitFor::Review => ("for a person's word on the plan: update `approve` or `reject`", "review"),
                    WaitFor::Unpause => ("for update `unpause`", "pause"),
                    WaitFor::Target => ("for somebody else's work on the namespace", "target"),
                    WaitFor::Graph => ("for the graph database, which is behind", "graph"),
                    WaitFor::Client => ("for an answer: `dream job next` has the question", "answer"),
                };
                what.clone_into(&mut view.what);
                view.waiting_for = Some(waiting_for.to_owned());
            }
            Progress::Applying { done, total, label } => {
                "applying".clone_into(&mut view.phase);
                view.what = label;
                view.ops_done = done;
                view.ops_total = total;
            }
            Progress::Mirroring => {
                "mirroring".clone_into(&mut view.phase);
                "telling the graph database".clone_into(&mut view.what);
            }
            Progress::Reporting(state) => {
                state.as_str().clone_into(&mut view.phase);
                view.what = String::new();
            }
        }
    }

    /// What the Temporal UI shows as current details.
    pub(crate) fn details(&self) -> String {
        let view = &self.view;
        let mut details = format!("### {}", view.phase);
        if !view.what.is_empty() {
            details.push(' ');
            details.push_str(&view.what);
        }
        details.push_str("\n\n");
        if view.ops_total > 0 {
            details.push_str(&format!("- **{}** of {} ops settled\n", view.ops_done, view.ops_total));
        }
        if let Some(hash) = &view.plan_hash {
            details.push_str(&format!("- plan `{hash}`\n"));
        }
        details.push_str(&format!("- run `{}`: `dream plan {}` shows the plan\n", view.run_id, view.run_id));
        details
    }
}

/// The failure of a start that cannot be used.
pub(crate) fn refuse(invalid: InvalidInput) -> temporalio_common::error::ApplicationFailure {
    let failure = Failure::from(invalid);
    workflow_failure(Code::InvalidInput.name(), &failure.to_string())
}
