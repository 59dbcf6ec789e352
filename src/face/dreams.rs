//! The calls about dreams, as every face for agents makes them.
//!
//! A dream is told on a task of its own: whoever asked for it may hang up, and it goes on. With a Temporal server in the
//! environment its workflow tells it, otherwise this process does.
//!
//! **Invariant:** however many agents ask at once, one dream starts, and all of them get its job.

use std::time::Duration;

use dream_activities::failure::ResultExt as _;
use dream_activities::space::answer::waiting_job;
use dream_activities::space::due::explain;
use dream_activities::space::report::{space_run, space_runs};
use dream_activities::undo;
use dream_core::failure::{Code, Failure};
use dream_core::id::{NamespaceId, RunId};
use dream_core::realm::space::due::HOURS_BETWEEN_MIN;
use dream_core::realm::space::fact::DreamMode;
use dream_core::realm::space::report::SpaceRun;
use dream_core::run::{DreamInput, Realm, RunState};
use dream_ports::run::{RunFilter, RunRecord};
use dream_workflows::contract::UndoInput;
use indicatif::ProgressBar;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::report::{JobView, NextJob, RunView, Runs, StartDream, Started, UndoHow, UndoneView, WhyView};
use super::{Face, Refusal};
use crate::exit::Fault;
use crate::outcome::Outcome;
use crate::{engine, remote, spaces};

/// How long a call waits for the dream that it started, or for another's. The public description promises ten seconds.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// How often somebody who waits looks. Housekeeping of a small space takes a fraction of a second.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Seconds after which it is worth asking again for a job that was not ready.
const RETRY_AFTER_SECONDS: u64 = 10;

const SECONDS_PER_HOUR: i64 = 3_600;

/// A job that waited for so long gives way to a new dream. The public description says a day.
const WAITING_SECONDS_MAX: i64 = 24 * SECONDS_PER_HOUR;

/// Runs on one page where nobody says how many, and at most: each is a fold over its ops.
const RUNS_DEFAULT: u32 = 20;
const RUNS_MAX: u32 = 100;

/// Runs that a space may have open: one that waits, and one that works.
const OPEN_RUNS_MAX: u32 = 10;

impl Face {
    /// Tells a dream on a task of its own.
    fn tell(&self, mut input: DreamInput) -> JoinHandle<Result<(), Fault>> {
        let (world, space) = (self.world.clone(), input.namespace.clone());
        self.store.as_ref().clone_into(&mut input.store);
        self.dreams.spawn(async move {
            if !engine::is_configured() {
                return spaces::tell(world, input).await.map(drop);
            }
            let workflow = format!("dream/space/{space}/{}", input.run_id.unwrap_or_default());
            match remote::run(input, &workflow, &ProgressBar::hidden()).await? {
                Outcome::Unreported(how) => Err(Fault::new(Code::EngineUnavailable, how)),
                _ => Ok(()),
            }
        })
    }

    async fn open_runs(&self, space: NamespaceId) -> Result<Vec<RunRecord>, Refusal> {
        let filter = RunFilter { namespace: Some(space), open_only: true, limit: OPEN_RUNS_MAX };
        let mut runs = self.store()?.runs(&filter).await.or_fail()?;
        runs.retain(|run| run.realm == Realm::Space);
        Ok(runs)
    }

    async fn is_dreaming(&self, space: NamespaceId) -> Result<bool, Refusal> {
        let works = |run: &RunRecord| matches!(run.state, RunState::Planning | RunState::Applying);
        Ok(self.open_runs(space).await?.iter().any(works))
    }

    /// Names the run that stands in the way of a dream.
    async fn in_the_way(&self, space: NamespaceId, failure: Failure) -> Refusal {
        if !matches!(failure.code, Code::AwaitingClient | Code::Locked | Code::Stuck) {
            return failure.into();
        }
        match self.open_runs(space).await {
            Ok(runs) => match runs.first() {
                Some(run) => Refusal::InTheWay { failure, run: run.run },
                None => failure.into(),
            },
            Err(_) => failure.into(),
        }
    }

    /// A run of the space; one of another space is as good as none.
    pub(crate) async fn run_of(&self, space: NamespaceId, run: Uuid) -> Result<RunRecord, Refusal> {
        let absent = || Refusal::Absent { what: "run", id: run.to_string() };
        match self.store()?.run(RunId(run)).await.or_fail() {
            Ok(record) if record.namespace == space && record.realm == Realm::Space => Ok(record),
            Ok(_) => Err(absent()),
            Err(failure) if failure.code == Code::NoRun => Err(absent()),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Starts a dream by hand.
    pub(crate) async fn start(&self, space: NamespaceId, how: StartDream) -> Result<Started, Refusal> {
        let run = Uuid::now_v7();
        let mut input = DreamInput::of_space(space.to_string());
        input.run_id = Some(run);
        input.mind = how.mode;
        let mut dream = self.tell(input);
        match timeout(WAIT_MAX, &mut dream).await {
            Ok(Ok(Ok(()))) | Err(_) => {}
            Ok(Ok(Err(fault))) => return Err(self.in_the_way(space, fault.into_failure()).await),
            Ok(Err(_)) => return Err(died().into()),
        }
        let begun = match self.run_of(space, run).await {
            Ok(_) => Some(RunView::from(space_run(self.handle()?, RunId(run)).await?)),
            Err(Refusal::Absent { .. }) => None,
            Err(refusal) => return Err(refusal),
        };
        let status = begun.as_ref().map_or_else(|| "running".to_owned(), |run| run.status.clone());
        Ok(Started { run_id: run, status, run: begun })
    }

    /// The job that the space waits with; with `start_if_due` a dream is started first, if one is due.
    pub(crate) async fn next_job(&self, space: NamespaceId, start_if_due: bool) -> Result<NextJob, Refusal> {
        let because = |reason: String| NextJob { reason: Some(reason), ..NextJob::default() };
        let handle = self.handle()?;
        let record = handle.store.space(space).await.or_fail()?;
        if record.mode != DreamMode::Client {
            return Ok(because(format!("the dream mode of the space is {}: nobody asks a client", record.mode)));
        }
        let now = handle.store.now().await.or_fail()?;
        if let Some(job) = self.job(space).await? {
            let asked_at = handle.store.job(job.run_id).await.or_fail()?.map_or(now, |job| job.asked_at);
            if !start_if_due || now.seconds_since(asked_at) < WAITING_SECONDS_MAX {
                return Ok(NextJob { job: Some(job.into()), ..NextJob::default() });
            }
        } else if !start_if_due {
            return Ok(because("no dream of the space waits for an answer".to_owned()));
        }
        let dream = if self.is_dreaming(space).await? {
            None
        } else {
            let record = handle.store.space(space).await.or_fail()?;
            let due_from = record.last_dream_started_at.map(|at| at.plus_seconds(HOURS_BETWEEN_MIN * SECONDS_PER_HOUR));
            if let Some(due_from) = due_from.filter(|due_from| now < *due_from) {
                // Another agent's dream may have come to its question since this call looked.
                return Ok(match self.job(space).await? {
                    Some(job) => NextJob { job: Some(job.into()), ..NextJob::default() },
                    None => because(format!(
                        "the last dream started less than {HOURS_BETWEEN_MIN} hours ago; the next is due from {due_from}"
                    )),
                });
            }
            let mut input = DreamInput::of_space(space.to_string());
            input.run_id = Some(Uuid::now_v7());
            Some(self.tell(input))
        };
        match timeout(WAIT_MAX, self.job_of(space, dream)).await {
            Ok(job) => Ok(match job? {
                Some(job) => NextJob { job: Some(job), ..NextJob::default() },
                None => because("the dream had no question".to_owned()),
            }),
            Err(_) => Ok(NextJob {
                retry_after: Some(RETRY_AFTER_SECONDS),
                ..because("a dream has started, and its question is not ready yet".to_owned())
            }),
        }
    }

    async fn job(&self, space: NamespaceId) -> Result<Option<dream_activities::space::answer::JobFace>, Refusal> {
        Ok(waiting_job(self.handle()?, space).await?)
    }

    /// The job of the dream that begins now, whoever tells it.
    async fn job_of(
        &self,
        space: NamespaceId,
        dream: Option<JoinHandle<Result<(), Fault>>>,
    ) -> Result<Option<JobView>, Refusal> {
        if let Some(dream) = dream {
            match dream.await.map_err(|_| died())? {
                Ok(()) => return Ok(self.job(space).await?.map(JobView::from)),
                // Somebody else was quicker.
                Err(fault) if matches!(fault.code(), Code::Locked | Code::AwaitingClient) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        loop {
            // Asked before the job is looked for: a dream that has just come to its question is then found waiting.
            let is_dreaming = self.is_dreaming(space).await?;
            if let Some(job) = self.job(space).await? {
                return Ok(Some(job.into()));
            }
            if !is_dreaming {
                return Ok(None);
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Hands an answer in, and goes on with its dream.
    pub(crate) async fn submit(&self, space: NamespaceId, run: Uuid, answer: Vec<u8>) -> Result<RunView, Refusal> {
        self.run_of(space, run).await?;
        let _turn = self.answering(run).lock().await;
        let until = Instant::now() + WAIT_MAX;
        loop {
            let (world, store, answer) = (self.world.clone(), self.store.clone(), answer.clone());
            let submitted = self.dreams.spawn(async move { spaces::submit(&world, &store, RunId(run), &answer).await });
            match submitted.await.map_err(|_| died())? {
                Ok(run) => return Ok(run.into()),
                // Another process carries the same answer out; its report is this one's too.
                Err(fault) if is_carried_out(&fault) && Instant::now() < until => sleep(LOOK_EVERY).await,
                Err(fault) => return Err(self.in_the_way(space, fault.into_failure()).await),
            }
        }
    }

    /// Dreams of the space, newest first.
    pub(crate) async fn runs(&self, space: NamespaceId, limit: Option<u32>) -> Result<Runs, Refusal> {
        let limit = limit.unwrap_or(RUNS_DEFAULT).clamp(1, RUNS_MAX);
        let runs = space_runs(self.handle()?, space, limit).await?;
        Ok(Runs { runs: runs.into_iter().map(RunView::from).collect() })
    }

    /// A dream with its report.
    pub(crate) async fn run(&self, space: NamespaceId, run: Uuid) -> Result<RunView, Refusal> {
        self.run_of(space, run).await?;
        Ok(RunView::from(self.told(run).await?))
    }

    async fn told(&self, run: Uuid) -> Result<SpaceRun, Refusal> {
        Ok(space_run(self.handle()?, RunId(run)).await?)
    }

    /// Takes a dream back.
    pub(crate) async fn undo(&self, space: NamespaceId, run: Uuid, how: UndoHow) -> Result<UndoneView, Refusal> {
        let before = self.run_of(space, run).await?;
        let input = UndoInput {
            store: self.store.to_string(),
            run_id: Some(run.to_string()),
            op_id: None,
            dry_run: how.dry_run,
            overwrite: false,
            keep: how.keep_changed,
            without_graph: false,
        };
        let world = self.world.clone();
        let undone = self.dreams.spawn(async move { undo::undo(&world, input).await });
        let undone = match undone.await.map_err(|_| died())? {
            Ok(undone) => undone,
            Err(failure) => return Err(self.in_the_way(space, failure).await),
        };
        if before.state == RunState::AwaitingClient && !how.dry_run {
            spaces::wake_closed(self.store()?, &[before.run]).await?;
        }
        Ok(UndoneView::new(undone, self.told(run).await?.status, &how))
    }

    /// Why the space did or did not dream last night.
    pub(crate) async fn why(&self, space: NamespaceId) -> Result<WhyView, Refusal> {
        Ok(explain(self.handle()?, space).await?.into())
    }
}

fn is_carried_out(fault: &Fault) -> bool {
    matches!(fault.code(), Code::Locked | Code::LeaseLost)
}

fn died() -> Failure {
    Failure::new(Code::Defect, "the task of the dream died")
}
