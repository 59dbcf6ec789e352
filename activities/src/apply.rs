//! Apply: groups of ops, one transaction each, until the stretch is done.
//!
//! Groups are bounded by time: their size follows how long the last one took, so that ingestion, which waits for the same
//! lock, is never shut out for long.

use std::time::{Duration, Instant};

use dream_core::failure::Failure;
use dream_core::op::Reason;
use dream_core::run::RunState;
use dream_ports::apply::{GroupOutcome, GroupRequest};
use dream_ports::run::{Fence, RunRecord, Standstill};
use dream_ports::{Store, StoreError};
use dream_workflows::contract::{Applied, ApplyStretch, Halt};
use tokio_util::sync::CancellationToken;

use crate::embed::answers;
use crate::failure::ResultExt;
use crate::lease::while_renewing;
use crate::observe;
use crate::seal::next_stretch;
use crate::world::{StoreHandle, World};

/// How long a group should take at most. A writer that waits for it waits as long.
const GROUP_TIME_AIM: Duration = Duration::from_millis(200);

/// Ops of the first group, before anything is known of the store's speed.
const GROUP_OPS_START: u32 = 32;

/// Most ops in a group: beyond this a transaction costs no less per op.
const GROUP_OPS_MAX: u32 = 500;

/// How long an activity works on its stretch before it lets the story go on.
const STRETCH_TIME_MAX: Duration = Duration::from_secs(45);

/// How often a busy store is asked again within one activity, and how long between.
const BUSY_RETRIES_MAX: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// Told after every group: the last op that is done.
pub type OnGroup<'a> = &'a (dyn Fn(u32) + Send + Sync);

/// Carries out a stretch of a run's plan.
pub async fn apply(world: &World, call: ApplyStretch, on_group: OnGroup<'_>) -> Result<Applied, Failure> {
    let (handle, record, settings) = world.load(&call.run).await?;
    let fence = match handle.store.fence(record.run, &world.holder).await {
        Ok(fence) => fence,
        Err(StoreError::LeaseLost { .. }) => return busy(handle, &record, "another run").await,
        Err(error) => return Err::<_, StoreError>(error).or_fail(),
    };
    if record.state != RunState::Applying || record.waiting_for.is_some() {
        handle.store.set_state(&fence, RunState::Applying).await.or_fail()?;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a cosine")]
    let request = GroupRequest {
        seq_to: call.stretch.seq_to,
        ops_max: GROUP_OPS_START,
        centroid_cosine_min: settings.settings.centroid_min_intra_cluster_cosine as f32,
        answers: answers(world, handle, record.run, call.stretch.seq_from.saturating_sub(1), call.stretch.seq_to)
            .await?,
        has_graph: handle.graph.is_some(),
    };
    let groups = groups(handle.store.as_ref(), &fence, request, on_group, &world.stopping);
    let halt = while_renewing(handle.store.as_ref(), &fence, groups).await?;
    if matches!(halt, Some(Halt::Paused)) {
        handle.store.park(&fence, RunState::Applying, "pause", None).await.or_fail()?;
    }
    so_far(handle, &record, halt).await
}

/// Nothing could be done, because somebody else works on the target.
async fn busy(handle: &StoreHandle, record: &RunRecord, by: &str) -> Result<Applied, Failure> {
    let halt = Halt::TargetBusy { by: by.to_owned() };
    so_far(handle, record, Some(halt)).await
}

async fn so_far(handle: &StoreHandle, record: &RunRecord, halt: Option<Halt>) -> Result<Applied, Failure> {
    let next = next_stretch(handle, record.run).await?;
    let left = next.as_ref().map_or(0, |(_, left)| *left);
    Ok(Applied {
        ops_done: record.ops_total.saturating_sub(left),
        ops_total: record.ops_total,
        next: next.map(|(stretch, _)| stretch),
        halt,
    })
}

async fn groups(
    store: &dyn Store,
    fence: &Fence,
    mut request: GroupRequest,
    on_group: OnGroup<'_>,
    stopping: &CancellationToken,
) -> Result<Option<Halt>, Failure> {
    let started = Instant::now();
    let mut busy = 0;
    while started.elapsed() < STRETCH_TIME_MAX && !stopping.is_cancelled() {
        let group_started = Instant::now();
        match store.apply_group(fence, &request).await {
            Ok(GroupOutcome::Committed { seq, ops }) => {
                busy = 0;
                on_group(seq);
                observe::group_committed(group_started.elapsed(), &ops);
                request.ops_max = next_size(request.ops_max, group_started.elapsed());
            }
            Ok(GroupOutcome::Nothing) => return Ok(None),
            Ok(GroupOutcome::KhoraDreams) => return Ok(Some(Halt::TargetBusy { by: "Khora".to_owned() })),
            Ok(GroupOutcome::Standing(standstill)) => return Ok(Some(halt(standstill))),
            Err(StoreError::Refused { .. }) if request.ops_max > 1 => request.ops_max /= 2,
            Err(StoreError::Refused { code, .. }) => {
                tracing::warn!(run.id = %fence.run, code, "the store refused an op of run {}, which is marked failed", fence.run);
                store.fail_next(fence, Reason::StoreRefused).await.or_fail()?;
                observe::op_refused();
            }
            Err(error) if error.is_transient() && busy < BUSY_RETRIES_MAX => {
                busy += 1;
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            Err(error) => return Err::<_, StoreError>(error).or_fail(),
        }
    }
    Ok(None)
}

/// Twice as many ops after a group that took less than half of its time, half as many after one that took too long.
fn next_size(ops: u32, took: Duration) -> u32 {
    if took > GROUP_TIME_AIM {
        (ops / 2).max(1)
    } else if took < GROUP_TIME_AIM / 2 {
        (ops * 2).min(GROUP_OPS_MAX)
    } else {
        ops
    }
}

fn halt(standstill: Standstill) -> Halt {
    if let Some(stop) = standstill.stopped {
        return Halt::Stopped { by: stop.by };
    }
    if standstill.cancel { Halt::Cancelled } else { Halt::Paused }
}
