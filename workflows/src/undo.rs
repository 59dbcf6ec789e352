//! `UndoDream`: takes a run, or one op of it, back. Input: `{"run_id": "…"}` or `{"op_id": "…"}`.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use temporalio_macros::{workflow, workflow_methods};
use temporalio_workflow::{WorkflowContext, WorkflowContextView, WorkflowResult};

use crate::activities::DreamActivities;
use crate::contract::{RunRef, UndoInput, Undone};
use crate::dream::refuse;
use crate::lenient::Lenient;
use crate::policy;
use crate::reconcile::hand_over;
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
        let store = input.store.clone();
        let what = if input.op_id.is_some() { "one op" } else { "the run, newest op first" };
        ctx.set_current_details(format!("### taking back {what}"));
        let done = ctx.execute_activity(DreamActivities::undo, input, policy::long(format!("take back {what}"))).await;
        match done.map_err(|error| step_error(&error)) {
            Ok(undone) => {
                let told = if undone.has_graph && undone.undone > 0 {
                    mirror(ctx, &store, &undone.run_id).await
                } else {
                    None
                };
                let told = told.map_or_else(String::new, |(done, left)| {
                    format!("\n- the graph database was told of {done}, and is owed {left}")
                });
                ctx.set_current_details(format!(
                    "### done\n\n- **{}** ops taken back\n- {} had nothing left to take back\n- {} fields were changed since{told}",
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

/// Drains, each bounded in time; what is left then is the reconciler's.
const MIRROR_ROUNDS_MAX: u32 = 500;

/// Tells the graph database; answers the rows that were told and those that are left.
async fn mirror(ctx: &WorkflowContext<UndoDream>, store: &str, run_id: &str) -> Option<(u64, u64)> {
    let mut told = 0;
    for _round in 0..MIRROR_ROUNDS_MAX {
        let run = RunRef { store: store.to_owned(), run_id: run_id.to_owned() };
        let options = policy::stretch("tell the graph database");
        let Ok(mirrored) = ctx.execute_activity(DreamActivities::mirror, run, options).await else {
            hand_over(ctx).await;
            return None;
        };
        told += mirrored.done;
        if mirrored.is_more {
            continue;
        }
        if mirrored.left > 0 {
            hand_over(ctx).await;
        }
        return Some((told, mirrored.left));
    }
    None
}
