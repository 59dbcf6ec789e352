//! Which spaces dream now, and why the others do not.

use dream_core::clock::Moment;
use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_core::realm::space::due::{Due, NotDue, judge};
use dream_core::realm::space::explain::{Explanation, Records, explain as explain_space};
use dream_core::run::{Realm, RunState};
use dream_ports::run::RunFilter;

use super::undo::UNDO_DAYS;
use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Spaces on one page.
pub const SPACES_PER_PAGE: u32 = 500;

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
) -> Result<(Vec<Judgement>, bool), Failure> {
    let page = handle.store.spaces(after, SPACES_PER_PAGE).await.or_fail()?;
    let is_more = page.len() == SPACES_PER_PAGE as usize;
    let judged = page.iter().map(|space| Judgement { space: space.id, due: judge(now, &space.of_due()) });
    Ok((judged.collect(), is_more))
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
