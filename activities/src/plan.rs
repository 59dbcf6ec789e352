//! Planners: stream rows into the core, stream vectors it asks for, keep the drafts.

mod centroid;
mod dedupe;
mod gc;
mod reabsorb;
mod repair;

use dream_core::failure::Failure;
use dream_core::op::{Draft, OpKind, Reason};
use dream_core::run::SkipReason;
use dream_ports::plan::Step;
use dream_ports::run::RunRecord;
use dream_workflows::contract::{Part, PartDone};
use serde_json::json;

use crate::begin::RunSettings;
use crate::edges::edges;
use crate::failure::ResultExt;
use crate::lease::while_renewing;
use crate::world::{StoreHandle, World};

/// What a planner drew up.
#[derive(Default)]
struct Drawn {
    drafts: Vec<Draft>,
    skip_reasons: Vec<SkipReason>,
    /// Bounds that bit and totals, as JSON; no text.
    summary: serde_json::Value,
    /// Where the edges were read, in a word.
    edges: Option<&'static str>,
}

impl Drawn {
    fn skipped(kind: OpKind, reason: Reason, count: Option<u64>) -> Self {
        Self { skip_reasons: vec![SkipReason { op_kind: kind, reason, count }], ..Self::default() }
    }
}

/// Runs one planner.
pub async fn plan(world: &World, part: Part) -> Result<PartDone, Failure> {
    let (handle, run, settings) = world.load(&part.run).await?;
    if let Some(done) = crate::requests::cancelled(handle, &run).await? {
        return Ok(done);
    }
    let fence = handle.store.fence(run.run, &world.holder).await.or_fail()?;
    while_renewing(handle.store.as_ref(), &fence, async {
        let drawn = draw(handle, &run, &settings, part.kind).await?;
        let count = u32::try_from(drawn.drafts.len()).unwrap_or(u32::MAX);
        handle.store.write_drafts(&fence, part.kind, &drawn.drafts).await.or_fail()?;
        let summary = json!({ "drafts": count, "details": drawn.summary, "edges": drawn.edges }).to_string();
        let step = Step { name: format!("plan:{}", part.kind), summary };
        handle.store.publish(&fence, part.kind, &step, &drawn.skip_reasons).await.or_fail()?;
        let reason = drawn.skip_reasons.first().map(|skipped| skipped.reason);
        Ok(PartDone { count, reason, halt: None })
    })
    .await
}

async fn draw(handle: &StoreHandle, run: &RunRecord, settings: &RunSettings, kind: OpKind) -> Result<Drawn, Failure> {
    if kind == OpKind::CentroidRecompute {
        return centroid::draw(handle, run, settings).await;
    }
    let edges = match edges(handle, run.namespace).await? {
        Ok(edges) => edges,
        Err(reason) => return Ok(Drawn::skipped(kind, reason, None)),
    };
    let drawn = match kind {
        OpKind::Reabsorb => reabsorb::draw(handle, run, &edges).await,
        OpKind::MirrorRepair => repair::draw(handle, run).await,
        OpKind::DedupeEntities => dedupe::draw(handle, run, settings, &edges).await,
        _ => gc::draw(handle, run, settings, &edges).await,
    };
    match drawn {
        Err(NotDrawn::Skipped(reason)) => Ok(Drawn::skipped(kind, reason, None)),
        Err(NotDrawn::Failed(failure)) => Err(failure),
        Ok(drawn) => Ok(Drawn { edges: handle.graph.is_some().then(|| edges.name()), ..drawn }),
    }
}

/// Why a planner drew nothing up.
enum NotDrawn {
    /// It needs what cannot be had now.
    Skipped(Reason),
    Failed(Failure),
}

impl From<Failure> for NotDrawn {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Reason> for NotDrawn {
    fn from(reason: Reason) -> Self {
        Self::Skipped(reason)
    }
}
