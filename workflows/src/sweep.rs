//! `SweepRetention`: runs that are too old, or too many for their namespace, go with everything they left. Input:
//! `{"store": "…"}`, or nothing for the store `default`.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use temporalio_macros::{workflow, workflow_methods};
use temporalio_workflow::{WorkflowContext, WorkflowContextView, WorkflowResult};

use crate::activities::DreamActivities;
use crate::contract::{SweepInput, Swept};
use crate::dream::refuse;
use crate::lenient::Lenient;
use crate::policy;
use crate::steps::StepError;
use crate::telling::{step_error, workflow_failure};

/// Sweeps of one workflow; what is left then goes the next night.
const SWEEPS_MAX: u32 = 500;

/// A sweep.
#[workflow]
pub struct SweepRetention {
    input: Lenient<Option<SweepInput>>,
}

#[workflow_methods]
impl SweepRetention {
    #[init]
    fn new(_context: &WorkflowContextView, input: Lenient<Option<SweepInput>>) -> Self {
        Self { input }
    }

    #[run(name = "SweepRetention")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<Swept> {
        let store = match ctx.state(|sweep| sweep.input.clone()).get() {
            Ok(input) => input.unwrap_or_default().store,
            Err(invalid) => return Err(refuse(invalid).into()),
        };
        let mut swept = Swept::default();
        for _sweep in 0..SWEEPS_MAX {
            let options = policy::long("sweep old runs");
            let done = ctx.execute_activity(DreamActivities::sweep, store.clone(), options).await;
            match done.map_err(|error| step_error(&error)) {
                Ok(more) => {
                    swept.runs += more.runs;
                    swept.is_more = more.is_more;
                }
                Err(StepError::Failed { name, message }) => return Err(workflow_failure(&name, &message).into()),
                Err(_) => return Err(temporalio_workflow::WorkflowTermination::cancelled()),
            }
            if !swept.is_more {
                break;
            }
        }
        ctx.set_current_details(format!("### {} runs swept", swept.runs));
        Ok(swept)
    }
}
