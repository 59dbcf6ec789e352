//! `StartDream` is what a schedule starts: it starts one `Dream` and says what became of it. `DreamAll` does so for every
//! namespace of a store.
//!
//! A namespace that somebody else works on is no failure of a schedule: it is skipped and said.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use std::collections::BTreeMap;

use dream_core::failure::Code;
use dream_core::run::{DreamInput, Mode, Scope, Trigger};
use serde::{Deserialize, Serialize};
use temporalio_common::error::IncomingError;
use temporalio_macros::{workflow, workflow_methods};
use temporalio_workflow::{
    ChildWorkflowOptions, ContinueAsNewOptions, ParentClosePolicy, WorkflowContext, WorkflowContextView,
    WorkflowResult, WorkflowTermination,
};

use crate::activities::DreamActivities;
use crate::contract::{Namespaces, Reported};
use crate::dream::{Dream, refuse};
use crate::lenient::Lenient;
use crate::policy;
use crate::steps::StepError;
use crate::telling::{step_error, workflow_failure};

/// Dreams that one `DreamAll` has under way. More would only wait for the workers' slots.
const DREAMS_AT_ONCE_MAX: usize = 8;

/// What became of a dream that a schedule asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The namespace, as it was named.
    pub namespace: String,
    /// What the run did; none if it was skipped.
    #[serde(default)]
    pub reported: Option<Reported>,
    /// Why it was skipped, as a failure type.
    #[serde(default)]
    pub skipped: Option<String>,
}

/// One dream, for a schedule.
#[workflow]
pub struct StartDream {
    input: Lenient<DreamInput>,
}

#[workflow_methods]
impl StartDream {
    #[init]
    fn new(_context: &WorkflowContextView, input: Lenient<DreamInput>) -> Self {
        Self { input }
    }

    #[run(name = "StartDream")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<Started> {
        let mut input = match ctx.state(|start| start.input.clone()).get() {
            Ok(input) => input,
            Err(invalid) => return Err(refuse(invalid).into()),
        };
        input.trigger = Trigger::Schedule;
        let child = format!("{}/dream", ctx.workflow_id());
        let outcome = start(ctx, input.clone(), child).await;
        settle(input.namespace, outcome)
    }
}

/// What a cancelled dream is counted as.
const CANCELLED: &str = "cancelled";

/// Why a dream that was started has no report.
struct NoReport {
    name: String,
    message: String,
}

async fn start<W>(ctx: &WorkflowContext<W>, input: DreamInput, id: String) -> Result<Reported, NoReport> {
    let no_report = |name: &str, message: String| NoReport { name: name.to_owned(), message };
    let options = ChildWorkflowOptions::builder()
        .workflow_id(id)
        .parent_close_policy(ParentClosePolicy::RequestCancel)
        .static_summary(format!("dream over {} {}", input.realm, input.namespace))
        .build();
    let child = ctx.start_child_workflow(Dream::run, Lenient::Ok(input), options).await;
    let child = child.map_err(|_| no_report(Code::Locked.name(), "a dream of this id is under way".to_owned()))?;
    child.result().await.map_err(|error| match error.cause() {
        Some(IncomingError::Application(failure)) => {
            no_report(failure.type_name().unwrap_or(Code::Defect.name()), failure.to_string())
        }
        Some(IncomingError::Cancelled(_)) => no_report(CANCELLED, "the dream was cancelled".to_owned()),
        _ => no_report(Code::Defect.name(), "the dream ended without a word".to_owned()),
    })
}

fn settle(namespace: String, outcome: Result<Reported, NoReport>) -> WorkflowResult<Started> {
    match outcome {
        Ok(reported) => Ok(Started { namespace, reported: Some(reported), skipped: None }),
        Err(no) if no.name == Code::Locked.name() => Ok(Started { namespace, reported: None, skipped: Some(no.name) }),
        Err(no) if no.name == CANCELLED => Err(WorkflowTermination::cancelled()),
        Err(no) => Err(workflow_failure(&no.name, &no.message).into()),
    }
}

/// What `DreamAll` is asked to do: the input of each dream, without a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DreamAllInput {
    /// The store, by its name in the worker's configuration.
    #[serde(default = "default_store")]
    pub store: String,
    /// What each dream may do.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// The ops to run; all that are switched on if absent.
    #[serde(default)]
    pub ops: Option<Vec<String>>,
    /// Which rows each dream may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Dreams although the realm is switched off.
    #[serde(default)]
    pub enable: bool,
    /// Namespaces after this stable id; carried from one part of the work to the next.
    #[serde(default)]
    pub after: Option<String>,
    /// Dreams by what became of them; carried likewise.
    #[serde(default)]
    pub outcomes: BTreeMap<String, u32>,
}

fn default_store() -> String {
    "default".to_owned()
}

/// One dream for every namespace of a store.
#[workflow]
pub struct DreamAll {
    input: Lenient<DreamAllInput>,
}

#[workflow_methods]
impl DreamAll {
    #[init]
    fn new(_context: &WorkflowContextView, input: Lenient<DreamAllInput>) -> Self {
        Self { input }
    }

    #[run(name = "DreamAll")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<BTreeMap<String, u32>> {
        let mut input = match ctx.state(|all| all.input.clone()).get() {
            Ok(input) => input,
            Err(invalid) => return Err(refuse(invalid).into()),
        };
        loop {
            let call = Namespaces { store: input.store.clone(), after: input.after.clone() };
            let page = ctx.execute_activity(DreamActivities::namespaces, call, policy::short("list namespaces")).await;
            let page = match page.map_err(|error| step_error(&error)) {
                Ok(page) => page,
                Err(StepError::Failed { name, message }) => return Err(workflow_failure(&name, &message).into()),
                Err(_) => return Err(WorkflowTermination::cancelled()),
            };
            for namespaces in page.namespaces.chunks(DREAMS_AT_ONCE_MAX) {
                let dreams = namespaces.iter().map(|namespace| {
                    let mut dream = DreamInput::of_namespace(namespace.clone());
                    dream.store.clone_from(&input.store);
                    dream.mode = input.mode;
                    dream.ops.clone_from(&input.ops);
                    dream.scope.clone_from(&input.scope);
                    dream.enable = input.enable;
                    dream.trigger = Trigger::Schedule;
                    start(ctx, dream, format!("{}/{namespace}", ctx.workflow_id()))
                });
                // One namespace that fails never stops the others; each has its own history to look at.
                for outcome in temporalio_workflow::join_all(dreams).await {
                    let word = outcome.map_or_else(|no| no.name, |reported| reported.state.to_string());
                    *input.outcomes.entry(word).or_default() += 1;
                }
                input.after = namespaces.last().cloned();
                ctx.set_current_details(details(&input.outcomes));
            }
            if !page.is_more {
                return Ok(input.outcomes);
            }
            if ctx.continue_as_new_suggested() {
                ctx.continue_as_new(Lenient::Ok(input.clone()), ContinueAsNewOptions::default())?;
            }
        }
    }
}

fn details(outcomes: &BTreeMap<String, u32>) -> String {
    let mut details = "### dreams so far\n\n".to_owned();
    for (word, count) in outcomes {
        details.push_str(&format!("- {word}: **{count}**\n"));
    }
    details
}
