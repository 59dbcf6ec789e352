//! `DueDreams`: looks through the spaces of a store, and starts the dreams that are due. A schedule starts it every hour.
//! Input: `{"store": "…"}`, or nothing for the store `default`.
//!
//! It starts dreams and does not wait for them: each is a workflow of its own, named after its space and night, and the engine
//! keeps the time until it begins. So however many are due, this history has a few events per page of spaces.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use temporalio_macros::{workflow, workflow_methods};
use temporalio_workflow::{
    ContinueAsNewOptions, WorkflowContext, WorkflowContextView, WorkflowResult, WorkflowTermination,
};

use crate::activities::DreamActivities;
use crate::contract::{DueChecked, DueInput, DuePage};
use crate::dream::refuse;
use crate::lenient::Lenient;
use crate::policy;
use crate::steps::StepError;
use crate::telling::{step_error, workflow_failure};

/// Pages of one history. A page has six events, so that a history stays at a few hundred where servers allow for thousands.
const PAGES_PER_HISTORY: u32 = 100;

/// A check for due dreams.
#[workflow]
pub struct DueDreams {
    input: Lenient<Option<DueInput>>,
}

#[workflow_methods]
impl DueDreams {
    #[init]
    fn new(_context: &WorkflowContextView, input: Lenient<Option<DueInput>>) -> Self {
        Self { input }
    }

    #[run(name = "DueDreams")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<DueChecked> {
        let mut check = match ctx.state(|due| due.input.clone()).get() {
            Ok(input) => input.unwrap_or_default(),
            Err(invalid) => return Err(refuse(invalid).into()),
        };
        for page in 1.. {
            let call = DuePage {
                store: check.store.clone(),
                spread_seconds: check.spread_seconds,
                checked_at: check.checked_at,
                after: check.after.clone(),
            };
            let options = policy::stretch("start the dreams of a page of spaces");
            let done = ctx.execute_activity(DreamActivities::start_due, call, options).await;
            let done = match done.map_err(|error| step_error(&error)) {
                Ok(done) => done,
                Err(StepError::Failed { name, message }) => return Err(workflow_failure(&name, &message).into()),
                Err(_) => return Err(WorkflowTermination::cancelled()),
            };
            check.checked_at = Some(done.checked_at);
            check.after = done.last;
            check.so_far.add(done.came_to);
            ctx.set_current_details(details(&check));
            if !done.is_more {
                break;
            }
            if ctx.cancellation_token().is_cancelled() {
                return Err(WorkflowTermination::cancelled());
            }
            if page == PAGES_PER_HISTORY || ctx.continue_as_new_suggested() {
                ctx.continue_as_new(Lenient::Ok(Some(check.clone())), ContinueAsNewOptions::default())?;
            }
        }
        Ok(check.so_far)
    }
}

/// What the Temporal UI shows as current details.
fn details(check: &DueInput) -> String {
    let DueChecked { pages, started, under_way, waiting, not_due, failed, failures, unknown_zone, unknown_zones } =
        &check.so_far;
    let mut details = format!(
        "### {started} dreams started\n\n- {under_way} had been started before\n- {waiting} wait for an answer\n- {not_due} \
         not due\n- **{failed}** could not be started\n- **{unknown_zone}** carry a time zone that nobody knows\n- {pages} \
         pages of spaces looked at\n"
    );
    if let Some(at) = check.checked_at {
        details.push_str(&format!("- judged by {at}\n"));
    }
    for failure in failures {
        details.push_str(&format!("- space `{}`: {}\n", failure.space, failure.reason));
    }
    for space in unknown_zones {
        details.push_str(&format!("- space `{space}`: nobody knows its time zone\n"));
    }
    details
}
