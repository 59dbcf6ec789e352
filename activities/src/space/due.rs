//! Which spaces dream now, and why the others do not.
//!
//! **Invariant:** a space has one dream a night, whichever engine starts it and however often: the dream, its run and its
//! workflow are named after the space and the night ([`dream_of_night`]), and what begins it asks once more whether it is due.

use std::time::Duration;

use dream_core::clock::Moment;
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_core::realm::space::day::Day;
use dream_core::realm::space::due::{Due, NotDue, judge, run_of_night};
use dream_core::realm::space::explain::{Explanation, Records, explain as explain_space};
use dream_core::run::{CLIENT_WAIT_SECONDS, DreamInput, Realm, RunState, Trigger};
use dream_ports::Starter;
use dream_ports::run::RunFilter;
use dream_ports::starter::{NewDream, Start};
use dream_workflows::contract::{DueChecked, DuePage, DuePageDone};
use futures::StreamExt as _;

use super::undo::UNDO_DAYS;
use crate::failure::ResultExt;
use crate::world::{StoreHandle, World};

/// Spaces on one page.
pub const SPACES_PER_PAGE: u32 = 500;

/// Dreams that one page starts at a time. Each is a call to the engine; more would only wait in its queues.
const STARTS_AT_ONCE: usize = 16;

/// Runs that a space may have open: one that waits, and one that works.
const OPEN_RUNS_MAX: u32 = 10;

/// Runs that an explanation looks back over: more than a week of nights, with starts by hand between.
const RUNS_EXPLAINED: u32 = 50;

const SECONDS_PER_DAY: i64 = 86_400;

/// A space and whether it dreams now.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The space.
    pub space: NamespaceId,
    /// Whether it dreams, and when; else why not.
    pub due: Result<Due, NotDue>,
}

/// A page of spaces behind `after`, each with whether it dreams now; answers whether there are more.
pub async fn due_page(
    handle: &StoreHandle,
    after: Option<NamespaceId>,
    now: Moment,
    spread_seconds: u32,
) -> Result<(Vec<Judgement>, bool), Failure> {
    let page = handle.store.spaces(after, SPACES_PER_PAGE).await.or_fail()?;
    let is_more = page.len() == SPACES_PER_PAGE as usize;
    let judged =
        page.iter().map(|space| Judgement { space: space.id, due: judge(now, &space.of_due(), spread_seconds) });
    Ok((judged.collect(), is_more))
}

/// The dream of a space in a night.
pub fn dream_of_night(store: &str, space: NamespaceId, night: Day) -> DreamInput {
    DreamInput {
        store: store.to_owned(),
        trigger: Trigger::Schedule,
        run_id: Some(run_of_night(space.0, night).0),
        night: Some(night),
        ..DreamInput::of_space(space.to_string())
    }
}

/// What became of a space that is due.
enum Met {
    Start(Start),
    /// A younger dream waits for its answer.
    Waiting,
}

/// Judges a page of spaces, and has the dreams that are due started. A space whose dream cannot be started is counted and
/// left to the next check; done again, a page starts nothing twice.
pub async fn start_page(world: &World, starter: &dyn Starter, call: DuePage) -> Result<DuePageDone, Failure> {
    let handle = world.store(&call.store)?;
    let after = call.after.as_deref().map(str::parse).transpose();
    let after = after.map_err(|_| Failure::new(Code::InvalidInput, "after: expected a UUID"))?;
    let now = handle.store.now().await.or_fail()?;
    let checked_at = call.checked_at.unwrap_or(now);
    let (page, is_more) = due_page(handle, after.map(NamespaceId), checked_at, call.spread_seconds).await?;
    let last = page.last().map(|judged| judged.space.to_string());
    let mut came_to = DueChecked { pages: 1, ..DueChecked::default() };
    let mut starts = Vec::new();
    for Judgement { space, due } in page {
        match due {
            Ok(due) => {
                let dream = new_dream(&call.store, space, due, checked_at, now);
                starts.push(async move { (space, start_one(handle, starter, space, due.start_at, &dream).await) });
            }
            Err(NotDue::UnknownZone) => came_to.count_unknown_zone(space.to_string()),
            Err(_) => came_to.not_due += 1,
        }
    }
    let mut starts = futures::stream::iter(starts).buffered(STARTS_AT_ONCE);
    while let Some((space, met)) = starts.next().await {
        match met {
            Ok(Met::Start(Start::Started)) => came_to.started += 1,
            Ok(Met::Start(Start::UnderWay)) => came_to.under_way += 1,
            Ok(Met::Waiting) => came_to.waiting += 1,
            Err(failure) => came_to.count_failure(space.to_string(), failure.message),
        }
    }
    Ok(DuePageDone { checked_at, last, is_more, came_to })
}

fn new_dream(store: &str, space: NamespaceId, due: Due, checked_at: Moment, now: Moment) -> NewDream {
    let workflow_id = format!("dream/space/{space}/{}", due.night);
    let wait = due.start_at.micros().saturating_sub(now.micros());
    NewDream {
        // Of one check; the next may start what has failed before it began.
        request_id: format!("{workflow_id}/{checked_at}"),
        workflow_id,
        input: dream_of_night(store, space, due.night),
        delay: Duration::from_micros(u64::try_from(wait).unwrap_or_default()),
    }
}

async fn start_one(
    handle: &StoreHandle,
    starter: &dyn Starter,
    space: NamespaceId,
    start_at: Moment,
    dream: &NewDream,
) -> Result<Met, Failure> {
    if is_waiting(handle, space, start_at).await? {
        return Ok(Met::Waiting);
    }
    let started = starter.start(dream).await;
    started.map(Met::Start).map_err(|error| Failure::new(Code::EngineUnavailable, error.to_string()))
}

/// Whether a dream of the space will still wait for its answer at this moment, and be too young to be given up.
async fn is_waiting(handle: &StoreHandle, space: NamespaceId, at: Moment) -> Result<bool, Failure> {
    let filter = RunFilter { namespace: Some(space), open_only: true, limit: OPEN_RUNS_MAX };
    let runs = handle.store.runs(&filter).await.or_fail()?;
    for run in runs.iter().filter(|run| run.realm == Realm::Space && run.state == RunState::AwaitingClient) {
        let job = handle.store.job(run.run).await.or_fail()?;
        let asked_at = job.map_or(run.heartbeat_at, |job| job.asked_at);
        if at.seconds_since(asked_at) < CLIENT_WAIT_SECONDS {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Why a space did or did not dream last night.
pub async fn explain(handle: &StoreHandle, space: NamespaceId) -> Result<Explanation, Failure> {
    let record = handle.store.space(space).await.or_fail()?;
    let now = handle.store.now().await.or_fail()?;
    let filter = RunFilter { namespace: Some(space), limit: RUNS_EXPLAINED, ..RunFilter::default() };
    let runs = handle.store.runs(&filter).await.or_fail()?;
    let mut records = Records { started_at: Vec::new(), awaiting_client_since: None };
    for run in runs.iter().filter(|run| run.realm == Realm::Space) {
        records.started_at.push(run.started_at);
        if run.state == RunState::AwaitingClient {
            records.awaiting_client_since = handle.store.job(run.run).await.or_fail()?.map(|job| job.asked_at);
        }
    }
    Ok(explain_space(now, &record.of_due(), &records))
}

/// Deletes what undo needs of runs that can no longer be taken back; answers how many records went.
pub async fn purge(handle: &StoreHandle) -> Result<u32, Failure> {
    super::mind::purge(handle).await?;
    let now = handle.store.now().await.or_fail()?;
    handle.store.purge_space_undo(now.plus_seconds(-UNDO_DAYS * SECONDS_PER_DAY)).await.or_fail()
}
