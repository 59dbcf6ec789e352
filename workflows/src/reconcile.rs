//! `ReconcileMirror`: what graph databases were not told yet, they are told now. It takes no input: a schedule, a run that
//! left rows, and a person all start the same.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use std::time::Duration;

use temporalio_macros::{workflow, workflow_methods};
use temporalio_workflow::{
    ChildWorkflowOptions, ParentClosePolicy, TimerOptions, WorkflowCancellationToken, WorkflowContext,
    WorkflowContextView, WorkflowResult, WorkflowTermination,
};

use crate::activities::DreamActivities;
use crate::contract::Reconciled;
use crate::lenient::Lenient;
use crate::policy;
use crate::steps::StepError;
use crate::telling::{step_error, workflow_failure};

/// The id under which runs and undos that left rows start it, with their task queue behind it: one for all of a queue's
/// workers, which know the same stores, is enough.
const HANDED_OVER: &str = "dream/reconcile";

/// Waits between rounds that left rows; the last one is repeated. A server that comes back is met within seconds at first.
const WAITS: [Duration; 6] = [
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(30),
    Duration::from_mins(1),
    Duration::from_mins(2),
    Duration::from_mins(5),
];

/// Rounds of one workflow: a few hours of a server that is away. Then the schedule's next one goes on.
const ROUNDS_MAX: usize = 60;

/// Rounds without a wait in between, of a queue that its time does not suffice for.
const BUSY_ROUNDS_MAX: usize = 1_000;

/// The reconciler.
#[workflow]
pub struct ReconcileMirror {}

#[workflow_methods]
impl ReconcileMirror {
    #[init]
    fn new(_context: &WorkflowContextView, _nothing: Lenient<Option<()>>) -> Self {
        Self {}
    }

    #[run(name = "ReconcileMirror")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<Reconciled> {
        let mut all = Reconciled::default();
        let (mut rounds, mut busy) = (0, 0);
        loop {
            let options = policy::stretch("tell graph databases what they are owed");
            let done = ctx.execute_activity(DreamActivities::reconcile, (), options).await;
            let round = match done.map_err(|error| step_error(&error)) {
                Ok(round) => round,
                Err(StepError::Failed { name, message }) => return Err(workflow_failure(&name, &message).into()),
                Err(_) => return Err(WorkflowTermination::cancelled()),
            };
            all.done += round.done;
            all.missing += round.missing;
            all = Reconciled { done: all.done, missing: all.missing, ..round };
            ctx.set_current_details(details(&all));
            if all.is_more && busy < BUSY_ROUNDS_MAX {
                busy += 1;
                continue;
            }
            if all.left == 0 || rounds == ROUNDS_MAX {
                return Ok(all);
            }
            let wait = WAITS[rounds.min(WAITS.len() - 1)];
            rounds += 1;
            let timer = TimerOptions::builder(wait).summary("wait for a graph database".to_owned()).build();
            if ctx.timer(timer).await == temporalio_workflow::TimerResult::Cancelled {
                return Err(WorkflowTermination::cancelled());
            }
        }
    }
}

/// Leaves what is owed to a reconciler. That one is under way already is as good.
pub(crate) async fn hand_over<W>(ctx: &WorkflowContext<W>) {
    let options = ChildWorkflowOptions::builder()
        .workflow_id(format!("{HANDED_OVER}/{}", ctx.task_queue()))
        .parent_close_policy(ParentClosePolicy::Abandon)
        // A workflow that is cancelled hands over all the same.
        .cancellation_token(WorkflowCancellationToken::new())
        .static_summary("tell graph databases what they are owed".to_owned())
        .build();
    let _started = ctx.start_child_workflow(ReconcileMirror::run, Lenient::Ok(None), options).await;
}

fn details(all: &Reconciled) -> String {
    let reasons: Vec<&str> = all.reasons.iter().map(String::as_str).collect();
    let why = if reasons.is_empty() { String::new() } else { format!("\n\nwhy rows are left: {}", reasons.join(", ")) };
    format!(
        "### {} rows told\n\n- {} missed something in the graph\n- **{}** left in {} namespaces\n- {} set aside{why}",
        all.done, all.missing, all.left, all.namespaces, all.parked
    )
}
