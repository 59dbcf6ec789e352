//! `UndoDream`: takes a run, or one op of it, back. Input: `{"run_id": "…"}` or `{"op_id": "…"}`.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use temporalio_macros::{workflow, workflow_methods};
use temporalio_workflow::{WorkflowContext, WorkflowContextView, WorkflowResult};

use crate::activities::DreamActivities;
use crate::contract::{UndoInput, Undone};
use crate::dream::refuse;
use crate::lenient::Lenient;
use crate::policy;
use crate::steps::StepError;
use crate::telling::{step_error, workflow_failure};

/// An undo.
#[workflow]
pub struct UndoDream {
    input: Lenient<UndoInput>,
}

#[workflow_methods]
impl UndoDream {
    #[init]
    fn new(_context: &WorkflowContextView, input: Lenient<UndoInput>) -> Self {
        Self { input }
    }

    #[run(name = "UndoDream")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<Undone> {
        let input = match ctx.state(|undo| undo.input.clone()).get() {
            Ok(input) => input,
            Err(invalid) => return Err(refuse(invalid).into()),
        };
        let what = if input.op_id.is_some() { "one op" } else { "the run, newest op first" };
        ctx.set_current_details(format!("### taking back {what}"));
        let done = ctx.execute_activity(DreamActivities::undo, input, policy::long(format!("take back {what}"))).await;
        match done.map_err(|error| step_error(&error)) {
            Ok(undone) => {
                ctx.set_current_details(format!(
                    "### done\n\n- **{}** ops taken back\n- {} had nothing left to take back\n- {} fields were changed since",
                    undone.undone,
                    undone.nothing,
                    undone.changed.len() + undone.changed_unlisted as usize,
                ));
                Ok(undone)
            }
            Err(StepError::Failed { name, message }) => Err(workflow_failure(&name, &message).into()),
            Err(_) => Err(temporalio_workflow::WorkflowTermination::cancelled()),
        }
    }
}
