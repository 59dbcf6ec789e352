//! The local engine: the same story and the same activity bodies, in this process. One machine, no server.
//!
//! A wait that only a person can end does not keep the process: the run is parked in the store, and going on with it is
//! telling the story again with its id.

use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use dream_activities::World;
use dream_activities::{observed, requests};
use dream_core::failure::Failure;
use dream_ports::run::RequestKind;
use dream_workflows::contract::{
    Applied, ApplyStretch, Asked, Begin, Begun, Judged, Look, Mirrored, Part, PartDone, Report, Reported, RequestCall,
    RunRef, Sealed, SettleReview, Stretch,
};
use dream_workflows::steps::{Progress, StepError, Steps, WaitFor};
use dream_workflows::story::story;
use tokio::task::JoinSet;

use crate::signals::told_to_stop;
use crate::term;

/// How long a pause sleeps between looks. Somebody who lifts it should not wait for longer.
const UNPAUSE_EVERY: Duration = Duration::from_secs(1);

/// Retries of a step whose store or embedder is briefly away: about half a minute in all.
const RETRIES_MAX: usize = 8;

/// Told where the story is.
pub(crate) type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// Tells the story of a run in this process.
pub(crate) async fn run(world: Arc<World>, begin: Begin, on_progress: OnProgress) -> Result<Reported, StepError> {
    let mut steps = Local { world, on_progress, total: 0, watchers: JoinSet::new() };
    story(&mut steps, begin).await
}

struct Local {
    world: Arc<World>,
    on_progress: OnProgress,
    total: u32,
    /// Who watches for a signal. It ends with the story: a process that tells many must not cancel one that waits.
    watchers: JoinSet<()>,
}

async fn retrying<T, F>(work: impl Fn() -> F) -> Result<T, StepError>
where
    F: Future<Output = Result<T, Failure>>,
{
    let backoff = ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(10))
        .with_max_times(RETRIES_MAX);
    let outcome = work.retry(backoff).when(|failure: &Failure| failure.code.is_retryable()).await;
    outcome.map_err(|failure| StepError::Failed { name: failure.code.name().to_owned(), message: failure.message })
}

impl Steps for Local {
    async fn begin(&mut self, call: Begin) -> Result<Begun, StepError> {
        let begun = retrying(|| observed::begin(&self.world, call.clone())).await?;
        self.watchers.spawn(cancel_when_told_to_stop(self.world.clone(), begun.run.clone()));
        Ok(begun)
    }

    async fn audit(&mut self, part: Part) -> Result<PartDone, StepError> {
        retrying(|| observed::audit(&self.world, part.clone())).await
    }

    async fn plan(&mut self, part: Part) -> Result<PartDone, StepError> {
        retrying(|| observed::plan(&self.world, part.clone())).await
    }

    async fn seal(&mut self, run: RunRef) -> Result<Sealed, StepError> {
        retrying(|| observed::seal(&self.world, run.clone())).await
    }

    async fn prepare(&mut self, run: RunRef) -> Result<PartDone, StepError> {
        retrying(|| observed::prepare(&self.world, run.clone())).await
    }

    async fn park_for_review(&mut self, run: RunRef) -> Result<(), StepError> {
        retrying(|| observed::park_for_review(&self.world, run.clone())).await
    }

    async fn look(&mut self, run: RunRef) -> Result<Look, StepError> {
        retrying(|| observed::look(&self.world, run.clone())).await
    }

    async fn apply(&mut self, run: RunRef, stretch: Stretch) -> Result<Applied, StepError> {
        let call = ApplyStretch { run, stretch };
        let (on_progress, total, label) = (self.on_progress.clone(), self.total, call.stretch.label.clone());
        let on_group = move |seq: u32| on_progress(Progress::Applying { done: seq, total, label: label.clone() });
        retrying(|| observed::apply(&self.world, call.clone(), &on_group)).await
    }

    async fn settle_review(&mut self, settle: SettleReview) -> Result<(), StepError> {
        retrying(|| observed::settle_review(&self.world, settle.clone())).await
    }

    async fn mirror(&mut self, run: RunRef) -> Result<Mirrored, StepError> {
        retrying(|| observed::mirror(&self.world, run.clone())).await
    }

    async fn tidy(&mut self, run: RunRef) -> Result<Sealed, StepError> {
        retrying(|| observed::tidy(&self.world, run.clone())).await
    }

    async fn ask(&mut self, run: RunRef) -> Result<Asked, StepError> {
        retrying(|| observed::ask(&self.world, run.clone())).await
    }

    async fn judge(&mut self, run: RunRef) -> Result<Judged, StepError> {
        retrying(|| observed::judge(&self.world, run.clone())).await
    }

    async fn report(&mut self, call: Report) -> Result<Reported, StepError> {
        retrying(|| observed::report(&self.world, call.clone())).await
    }

    async fn wait(&mut self, wait: WaitFor, patience: Duration) -> Result<(), StepError> {
        match wait {
            WaitFor::Review | WaitFor::Client => return Err(StepError::Suspended),
            WaitFor::Unpause => tokio::time::sleep(UNPAUSE_EVERY).await,
            WaitFor::Target | WaitFor::Graph => tokio::time::sleep(patience).await,
        }
        Ok(())
    }

    fn progress(&mut self, progress: Progress) {
        if let Progress::Sealed(sealed) = &progress {
            self.total = sealed.ops_total;
        }
        (self.on_progress)(progress);
    }
}

/// Being told to stop asks the run to stop at the next group, through the same row as everybody else's request.
async fn cancel_when_told_to_stop(world: Arc<World>, run: RunRef) {
    let Ok(signal) = told_to_stop().await else { return };
    term::note(&format!("{signal}: stopping at the next group; run {} is reported and can be resumed", run.run_id));
    let kind = RequestKind::Cancel.as_str().to_owned();
    let call = RequestCall { run, kind, by: signal.to_owned(), plan_hash: None };
    if let Err(failure) = requests::record_request(&world, call).await {
        term::error(&failure.to_string());
    }
}
