//! Sealing: the drafts of all planners become ops in an order, with a hash.

use dream_core::digest::Digester;
use dream_core::failure::{Code, Failure};
use dream_core::id::{RunId, hex};
use dream_core::op::{Draft, OpState};
use dream_core::plan::{PlanHash, seal as seal_drafts};
use dream_ports::plan::{Finding, OpFilter, Step};
use dream_workflows::contract::{RunRef, Sealed, Stretch};
use serde_json::json;

use crate::begin::input_of;
use crate::failure::ResultExt;
use crate::lease::while_renewing;
use crate::world::{StoreHandle, World};

/// Ops that one activity carries out. Long enough that what an activity costs, and the small groups it begins with, do not
/// show; on a slow store its time ends it before its ops do, and people see progress group by group all the same.
pub const STRETCH_OPS_MAX: u32 = 5_000;

/// Ops of another run's plan that are read at once.
const OPS_PER_PAGE: u32 = 5_000;

/// Seals the plan of a run; answers the one that is sealed, if one is.
pub async fn seal(world: &World, run: RunRef) -> Result<Sealed, Failure> {
    let (handle, record, _) = world.load(&run).await?;
    let input = input_of(&record)?;
    let fence = handle.store.fence(record.run, &world.holder).await.or_fail()?;
    while_renewing(handle.store.as_ref(), &fence, async {
        // Asked under the fence: what an attempt that was given up has sealed is seen by now.
        if let Some(sealed) = sealed(handle, record.run).await? {
            return Ok(sealed);
        }
        let drafts = match input.plan_of {
            Some(plan_of) => drafts_of(handle, RunId(plan_of)).await?,
            None => handle.store.drafts(record.run, None).await.or_fail()?,
        };
        let plan = seal_drafts(record.run, drafts);
        let audit = audit_hash(&handle.store.findings(record.run).await.or_fail()?);
        let expected = input.expected_plan_hash.as_ref().filter(|_| record.mode.may_write());
        if let Some(expected) = expected.filter(|expected| **expected != plan.hash.0) {
            return Err(Failure::new(
                Code::PlanChanged,
                format!("the plan of run {} is {}, and {expected} was expected", record.run, plan.hash),
            ));
        }
        let summary = json!({ "ops": plan.ops.len(), "dropped": plan.dropped }).to_string();
        let step = Step { name: "seal".to_owned(), summary };
        handle.store.write_plan(&fence, &plan, &audit, &step).await.or_fail()?;
        let sealed = sealed(handle, record.run).await?;
        sealed.ok_or_else(|| Failure::new(Code::Defect, format!("the plan of run {} was not kept", record.run)))
    })
    .await
}

/// The sealed plan of a run, if it is sealed.
pub async fn sealed(handle: &StoreHandle, run: RunId) -> Result<Option<Sealed>, Failure> {
    let record = handle.store.run(run).await.or_fail()?;
    let Some(hash) = record.plan_hash else { return Ok(None) };
    let next = next_stretch(handle, run).await?;
    Ok(Some(Sealed {
        plan_hash: hash.0,
        ops_total: record.ops_total,
        ops_left: next.as_ref().map_or(0, |(_, left)| *left),
        next: next.map(|(stretch, _)| stretch),
    }))
}

/// What a dry run drew up, to be carried out by another run.
async fn drafts_of(handle: &StoreHandle, run: RunId) -> Result<Vec<Draft>, Failure> {
    let mut drafts = Vec::new();
    let mut after_seq = 0;
    loop {
        let filter = OpFilter { after_seq, limit: OPS_PER_PAGE, ..OpFilter::default() };
        let ops = handle.store.ops(run, &filter).await.or_fail()?;
        let Some(last) = ops.last() else { return Ok(drafts) };
        after_seq = last.op.seq;
        drafts
            .extend(ops.into_iter().filter(|record| record.op.state != OpState::Undone).map(|record| record.op.draft));
    }
}

/// SHA-256 over the findings, which have no part in the plan's hash.
fn audit_hash(findings: &[Finding]) -> PlanHash {
    let digester = findings.iter().fold(Digester::new("dream/findings/1"), |digester, finding| {
        digester.text(finding.kind.as_str()).number(u64::from(finding.ordinal)).text(&finding.payload)
    });
    PlanHash(hex(&digester.finish()))
}

/// The next stretch of a run's plan, and how many ops are left with it.
pub async fn next_stretch(handle: &StoreHandle, run: RunId) -> Result<Option<(Stretch, u32)>, Failure> {
    let record = handle.store.run(run).await.or_fail()?;
    let Some(ops) = handle.store.next_stretch(run, STRETCH_OPS_MAX).await.or_fail()? else { return Ok(None) };
    let kinds: Vec<String> = ops.kinds.iter().map(|(kind, count)| format!("{} {count}", kind.title())).collect();
    let label = format!("{} · ops {}–{} of {}", kinds.join(", "), ops.seq_from, ops.seq_to, record.ops_total);
    Ok(Some((Stretch { seq_from: ops.seq_from, seq_to: ops.seq_to, label }, ops.left)))
}
