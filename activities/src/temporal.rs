//! The activity bodies as a Temporal worker runs them: failures with their type and whether they are tried again, signs of
//! life, and nothing else.

#![expect(missing_docs, reason = "the SDK's macros generate the markers")]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dream_core::failure::Failure;
use dream_ports::Starter;
use dream_workflows::activities::markers;
use dream_workflows::contract::{
    Applied, ApplyStretch, Asked, Begin, Begun, DuePage, DuePageDone, Judged, Look, Mirrored, Namespaces,
    NamespacesPage, Part, PartDone, Reconciled, Report, Reported, RequestCall, RequestDone, RunRef, Sealed,
    SettleReview, Swept, UndoInput, Undone,
};
use temporalio_macros::activities;
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{ActivityContext, ActivityError};

use crate::observed;
use crate::world::World;

/// How often a long activity gives a sign of life; an engine gives it up after six of them.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(5);

/// The activities of a worker.
pub struct Activities {
    /// What they have at hand.
    pub world: Arc<World>,
    /// Who starts dreams on the engine that this worker works for.
    pub starter: Arc<dyn Starter>,
}

fn engine_error(failure: &Failure) -> ActivityError {
    tracing::warn!(code = %failure.code, kind = failure.code.name(), "an activity failed: {failure}");
    let failure = ApplicationFailure::builder(failure.to_string())
        .type_name(failure.code.name().to_owned())
        .non_retryable(!failure.code.is_retryable())
        .build();
    ActivityError::application(failure)
}

/// Works and gives signs of life beside. Work that nobody waits for any more, or that outlasts the end of its worker, is cut
/// off where it stands: what its last transaction did stays, and the next attempt does what is left.
async fn alive<T>(
    world: &World,
    context: &ActivityContext,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, ActivityError> {
    let signs = async {
        loop {
            tokio::time::sleep(SIGN_OF_LIFE_EVERY).await;
            // A sign that cannot be given is the engine's to notice.
            let _given = context.record_heartbeat(()).await;
        }
    };
    tokio::select! {
        done = work => done.map_err(|failure| engine_error(&failure)),
        () = signs => unreachable!("signs of life do not end"),
        () = context.cancelled() => {
            world.cut_off.fetch_add(1, Ordering::Relaxed);
            let failure = ApplicationFailure::builder("this worker ends; another attempt goes on".to_owned());
            Err(ActivityError::application(failure.type_name("WorkerStopping".to_owned()).build()))
        }
    }
}

fn done<T>(outcome: Result<T, Failure>) -> Result<T, ActivityError> {
    outcome.map_err(|failure| engine_error(&failure))
}

#[activities]
impl Activities {
    #[activity(definition = markers::Begin)]
    pub async fn begin(self: Arc<Self>, _context: ActivityContext, call: Begin) -> Result<Begun, ActivityError> {
        done(observed::begin(&self.world, call).await)
    }

    #[activity(definition = markers::Audit)]
    pub async fn audit(self: Arc<Self>, context: ActivityContext, part: Part) -> Result<PartDone, ActivityError> {
        alive(&self.world, &context, observed::audit(&self.world, part)).await
    }

    #[activity(definition = markers::Plan)]
    pub async fn plan(self: Arc<Self>, context: ActivityContext, part: Part) -> Result<PartDone, ActivityError> {
        alive(&self.world, &context, observed::plan(&self.world, part)).await
    }

    #[activity(definition = markers::Seal)]
    pub async fn seal(self: Arc<Self>, context: ActivityContext, run: RunRef) -> Result<Sealed, ActivityError> {
        alive(&self.world, &context, observed::seal(&self.world, run)).await
    }

    #[activity(definition = markers::Prepare)]
    pub async fn prepare(self: Arc<Self>, context: ActivityContext, run: RunRef) -> Result<PartDone, ActivityError> {
        alive(&self.world, &context, observed::prepare(&self.world, run)).await
    }

    #[activity(definition = markers::ParkForReview)]
    pub async fn park_for_review(self: Arc<Self>, _context: ActivityContext, run: RunRef) -> Result<(), ActivityError> {
        done(observed::park_for_review(&self.world, run).await)
    }

    #[activity(definition = markers::Look)]
    pub async fn look(self: Arc<Self>, _context: ActivityContext, run: RunRef) -> Result<Look, ActivityError> {
        done(observed::look(&self.world, run).await)
    }

    #[activity(definition = markers::RecordRequest)]
    pub async fn record_request(
        self: Arc<Self>,
        _context: ActivityContext,
        call: RequestCall,
    ) -> Result<RequestDone, ActivityError> {
        done(observed::record_request(&self.world, call).await)
    }

    #[activity(definition = markers::SettleReview)]
    pub async fn settle_review(
        self: Arc<Self>,
        context: ActivityContext,
        call: SettleReview,
    ) -> Result<(), ActivityError> {
        alive(&self.world, &context, observed::settle_review(&self.world, call)).await
    }

    #[activity(definition = markers::Apply)]
    pub async fn apply(
        self: Arc<Self>,
        context: ActivityContext,
        call: ApplyStretch,
    ) -> Result<Applied, ActivityError> {
        alive(&self.world, &context, observed::apply(&self.world, call, &|_seq| {})).await
    }

    #[activity(definition = markers::Mirror)]
    pub async fn mirror(self: Arc<Self>, context: ActivityContext, run: RunRef) -> Result<Mirrored, ActivityError> {
        alive(&self.world, &context, observed::mirror(&self.world, run)).await
    }

    #[activity(definition = markers::Reconcile)]
    pub async fn reconcile(self: Arc<Self>, context: ActivityContext) -> Result<Reconciled, ActivityError> {
        alive(&self.world, &context, observed::reconcile(&self.world)).await
    }

    #[activity(definition = markers::Tidy)]
    pub async fn tidy(self: Arc<Self>, context: ActivityContext, run: RunRef) -> Result<Sealed, ActivityError> {
        alive(&self.world, &context, observed::tidy(&self.world, run)).await
    }

    #[activity(definition = markers::Ask)]
    pub async fn ask(self: Arc<Self>, context: ActivityContext, run: RunRef) -> Result<Asked, ActivityError> {
        alive(&self.world, &context, observed::ask(&self.world, run)).await
    }

    #[activity(definition = markers::Judge)]
    pub async fn judge(self: Arc<Self>, context: ActivityContext, run: RunRef) -> Result<Judged, ActivityError> {
        alive(&self.world, &context, observed::judge(&self.world, run)).await
    }

    #[activity(definition = markers::Report)]
    pub async fn report(self: Arc<Self>, context: ActivityContext, call: Report) -> Result<Reported, ActivityError> {
        Box::pin(alive(&self.world, &context, observed::report(&self.world, call))).await
    }

    #[activity(definition = markers::Undo)]
    pub async fn undo(self: Arc<Self>, context: ActivityContext, input: UndoInput) -> Result<Undone, ActivityError> {
        alive(&self.world, &context, observed::undo(&self.world, input)).await
    }

    #[activity(definition = markers::Sweep)]
    pub async fn sweep(self: Arc<Self>, context: ActivityContext, store: String) -> Result<Swept, ActivityError> {
        alive(&self.world, &context, observed::sweep(&self.world, store)).await
    }

    #[activity(definition = markers::StartDue)]
    pub async fn start_due(
        self: Arc<Self>,
        context: ActivityContext,
        call: DuePage,
    ) -> Result<DuePageDone, ActivityError> {
        alive(&self.world, &context, observed::start_due(&self.world, self.starter.as_ref(), call)).await
    }

    #[activity(definition = markers::Namespaces)]
    pub async fn namespaces(
        self: Arc<Self>,
        _context: ActivityContext,
        call: Namespaces,
    ) -> Result<NamespacesPage, ActivityError> {
        done(observed::namespaces(&self.world, call).await)
    }
}
