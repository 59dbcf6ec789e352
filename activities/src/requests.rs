//! Requests: what people ask of a run while it runs.

use std::collections::{BTreeMap, BTreeSet};

use dream_core::apply::merged;
use dream_core::failure::{Code, Failure};
use dream_core::id::RunId;
use dream_core::op::OpState;
use dream_core::plan::PlanHash;
use dream_core::run::{Realm, RunState};
use dream_core::verdict::{Ruling, Verdict, every_pair, name_key};
use dream_ports::plan::OpFilter;
use dream_ports::run::{Request, RequestKind, RequestOutcome, RunRecord};
use dream_workflows::contract::{Halt, Look, PartDone, RequestCall, RequestDone, RunRef, SettleReview};
use uuid::Uuid;

use crate::begin::input_of;
use crate::failure::ResultExt;
use crate::world::{StoreHandle, World};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// Ops looked through at once.
const OPS_PER_PAGE: u32 = 1_000;

/// Reads what stands in a run's requests.
pub async fn look(world: &World, run: RunRef) -> Result<Look, Failure> {
    let (handle, id) = world.run(&run)?;
    let record = handle.store.run(id).await.or_fail()?;
    let requests = handle.store.requests(id).await.or_fail()?;
    let asked = |kind| requests.iter().any(|request| request.kind == kind);
    let now = handle.store.now().await.or_fail()?;
    Ok(Look {
        approved: asked(RequestKind::Approve),
        rejected: asked(RequestKind::Reject),
        cancel: asked(RequestKind::Cancel),
        pause: asked(RequestKind::Pause),
        is_over: record.review_until.is_some_and(|until| until <= now),
        is_answered: is_answered(handle, &record).await?,
        closed: record.finished_at.map(|_| record.state),
    })
}

async fn is_answered(handle: &StoreHandle, record: &RunRecord) -> Result<bool, Failure> {
    if record.realm != Realm::Space {
        return Ok(false);
    }
    Ok(handle.store.job(record.run).await.or_fail()?.is_some_and(|job| job.accepted.is_some()))
}

/// The answer of a part of planning that was cancelled before it began.
pub async fn cancelled(handle: &StoreHandle, run: &RunRecord) -> Result<Option<PartDone>, Failure> {
    let standstill = handle.store.standstill(run.run, run.namespace).await.or_fail()?;
    Ok(standstill.cancel.then(|| PartDone { halt: Some(Halt::Cancelled), ..PartDone::default() }))
}

/// Writes a request that came through the engine, and answers in words what became of it.
pub async fn record_request(world: &World, call: RequestCall) -> Result<RequestDone, Failure> {
    let (handle, run) = world.run(&call.run)?;
    let kinds =
        [RequestKind::Approve, RequestKind::Reject, RequestKind::Cancel, RequestKind::Pause, RequestKind::Unpause];
    let kind = kinds
        .into_iter()
        .find(|kind| kind.as_str() == call.kind)
        .ok_or_else(|| Failure::new(Code::InvalidInput, "kind: expected approve, reject, cancel, pause or unpause"))?;
    let by = if call.by.is_empty() { "unnamed".to_owned() } else { call.by };
    let request = Request { run, kind, by, plan_hash: call.plan_hash.map(PlanHash) };
    let outcome = match handle.store.request(&request).await.or_fail()? {
        RequestOutcome::Recorded => "recorded",
        RequestOutcome::AlreadyRecorded => "already_recorded",
        RequestOutcome::TooLate => "too_late",
        RequestOutcome::RunClosed => "run_closed",
        RequestOutcome::NotWaiting => "not_waiting",
        RequestOutcome::OtherPlan => "other_plan",
    };
    Ok(RequestDone { outcome: outcome.to_owned() })
}

/// Gives the target back until a person has looked at the plan.
pub async fn park_for_review(world: &World, run: RunRef) -> Result<(), Failure> {
    let (handle, record, _) = world.load(&run).await?;
    let default_seconds = dream_core::settings::REVIEW_DAYS * 86_400;
    let seconds = input_of(&record)?.review_wait_seconds.unwrap_or(default_seconds);
    let fence = handle.store.fence(record.run, &world.holder).await.or_fail()?;
    let now = handle.store.now().await.or_fail()?;
    let wait = i64::try_from(seconds).unwrap_or(i64::MAX / MICROS_PER_SECOND);
    let until = now.plus_seconds(wait);
    handle.store.park(&fence, RunState::AwaitingReview, "review", Some(until)).await.or_fail()
}

/// Settles what a person said of the plan: everything is rejected, or only the ops that were rejected one by one. It is
/// remembered, so that what was rejected is not proposed again.
pub async fn settle_review(world: &World, call: SettleReview) -> Result<(), Failure> {
    let (handle, id) = world.run(&call.run)?;
    let mut after_seq = 0;
    loop {
        let filter = OpFilter { after_seq, limit: OPS_PER_PAGE, states: vec![OpState::Sealed], ..OpFilter::default() };
        let ops = handle.store.ops(id, &filter).await.or_fail()?;
        let Some(last) = ops.last() else { break };
        after_seq = last.op.seq;
        let rejected = ops.iter().filter(|record| call.reject_all || record.review == Some(false));
        let merges: Vec<_> = rejected.filter_map(|record| merged(&record.op.draft.intent)).collect();
        remember(handle, id, &merges).await?;
    }
    handle.store.settle_review(id, call.reject_all).await.or_fail()?;
    Ok(())
}

async fn remember(handle: &StoreHandle, run: RunId, merges: &[Vec<Uuid>]) -> Result<(), Failure> {
    if merges.is_empty() {
        return Ok(());
    }
    let key = handle.store.text_key().await.or_fail()?;
    let record = handle.store.run(run).await.or_fail()?;
    let ids: Vec<Uuid> = merges.concat();
    let names: BTreeMap<Uuid, _> = handle
        .store
        .names(&ids)
        .await
        .or_fail()?
        .into_iter()
        .map(|(id, name, entity_type)| (id, name_key(&key, &name, &entity_type)))
        .collect();
    let mut pairs = BTreeSet::new();
    for members in merges {
        let keys: Vec<_> = members.iter().filter_map(|id| names.get(id).copied()).collect();
        pairs.extend(every_pair(&keys));
    }
    let verdict = |(low, high)| Verdict { low, high, ruling: Ruling::KeepApart };
    let verdicts: Vec<_> = pairs.into_iter().map(verdict).collect();
    handle.store.write_verdicts(record.namespace, &verdicts).await.or_fail()
}
