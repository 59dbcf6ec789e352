//! From what a store says of a run to the facts that reports are told.

use std::collections::BTreeMap;

use dream_core::failure::{Code, Failure};
use dream_core::id::{OpId, RunId};
use dream_core::op::{OpKind, OpState};
use dream_core::realm::graph::dedupe::KeptApartReason;
use dream_core::report::{AuditFacts, Finding, OpFacts, RunFacts};
use dream_core::undo::UndoRecord;
use dream_ports::plan::{OpFilter, OpRecord};
use dream_ports::run::RunRecord;
use serde::Deserialize;

use crate::begin::{RunSettings, input_of};
use crate::failure::{ResultExt, defect};
use crate::world::StoreHandle;

/// Ops read at once, with their undo records.
pub const OPS_PER_PAGE: u32 = 500;

/// What a planner's step says, as far as reports want it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PlannerSummary {
    details: PlannerDetails,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlannerDetails {
    kept_apart_unlisted: BTreeMap<KeptApartReason, u64>,
}

/// What any step says of where it read edges.
#[derive(Deserialize)]
struct EdgeSummary {
    #[serde(default)]
    edges: Option<String>,
}

/// What an audit's step says, as far as reports want it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AuditSummary {
    beyond: u64,
    entities: Option<u64>,
    relationships: Option<u64>,
}

/// The facts of a run.
pub async fn run_facts(handle: &StoreHandle, store: &str, record: &RunRecord) -> Result<RunFacts, Failure> {
    let input = input_of(record)?;
    let steps = handle.store.steps(record.run).await.or_fail()?;
    let dedupe = steps.iter().find(|step| step.name == format!("plan:{}", OpKind::DedupeEntities));
    // A plan that was sealed before was drawn up by the run that sealed it.
    let drawn_up_by = match input.plan_of {
        Some(dry_run) => &handle.store.steps(RunId(dry_run)).await.or_fail()?,
        None => &steps,
    };
    let edge_source =
        drawn_up_by.iter().find_map(|step| serde_json::from_str::<EdgeSummary>(&step.summary).ok()?.edges);
    let planner: PlannerSummary = dedupe.and_then(|step| serde_json::from_str(&step.summary).ok()).unwrap_or_default();
    Ok(RunFacts {
        run: record.run,
        realm: record.realm,
        namespace: record.stable_namespace,
        namespace_row: record.namespace,
        store: store.to_owned(),
        store_argument: handle.argument.clone(),
        mode: record.mode,
        trigger: record.trigger,
        is_resumed: input.resume_from.is_some(),
        plan_of: input.plan_of.map(RunId),
        state: record.state,
        as_of: record.as_of,
        started_at: record.started_at,
        sealed_at: record.sealed_at,
        edge_source,
        graph_left: record.graph_left,
        finished_at: record.finished_at,
        plan_hash: record.plan_hash.clone(),
        audit_hash: record.audit_hash.clone(),
        ops_total: record.ops_total,
        counts: handle.store.counts(record.run).await.or_fail()?,
        skip_reasons: record.skip_reasons.clone(),
        kept_apart_unlisted: planner.details.kept_apart_unlisted,
        failure: record.error_code.as_deref().map(|name| Code::named(name).unwrap_or(Code::Defect)),
        settings: RunSettings::read(record)?.settings,
    })
}

/// What the audits of a run found, in the order in which they ran.
pub async fn audit_facts(handle: &StoreHandle, run: RunId) -> Result<Vec<AuditFacts>, Failure> {
    let steps = handle.store.steps(run).await.or_fail()?;
    let mut found: BTreeMap<OpKind, Vec<Finding>> = BTreeMap::new();
    for finding in handle.store.findings(run).await.or_fail()? {
        let read = Finding::read(finding.kind, &finding.payload).map_err(|_| defect("a finding"))?;
        found.entry(finding.kind).or_default().push(read);
    }
    let audits = OpKind::ALL.iter().filter(|kind| kind.is_audit()).filter_map(|kind| {
        let step = steps.iter().find(|step| step.name == format!("audit:{kind}"))?;
        let summary: AuditSummary = serde_json::from_str(&step.summary).unwrap_or_default();
        let mut facts = AuditFacts::of(*kind, found.remove(kind).unwrap_or_default());
        facts.beyond = summary.beyond;
        facts.entities = summary.entities;
        facts.relationships = summary.relationships;
        Some(facts)
    });
    Ok(audits.collect())
}

/// A page of a run's ops after a place, with their undo records.
pub async fn op_facts(handle: &StoreHandle, run: RunId, after_seq: u32) -> Result<Vec<OpFacts>, Failure> {
    let filter = OpFilter { after_seq, limit: OPS_PER_PAGE, ..OpFilter::default() };
    let ops = handle.store.ops(run, &filter).await.or_fail()?;
    let Some(last) = ops.last().map(|record| record.op.seq) else { return Ok(Vec::new()) };
    let records = handle.store.undo_records(run, after_seq, OPS_PER_PAGE).await.or_fail()?;
    let mut records: BTreeMap<OpId, UndoRecord> =
        records.into_iter().filter(|(_, seq, _)| *seq <= last).map(|(op, _, record)| (op, record)).collect();
    ops.into_iter()
        .map(|record| {
            let undo = records.remove(&record.op.id);
            one(record, undo)
        })
        .collect()
}

/// The facts of one op.
pub fn one(record: OpRecord, undo: Option<UndoRecord>) -> Result<OpFacts, Failure> {
    let numbers = record.numbers.as_deref().map(serde_json::from_str).transpose();
    Ok(OpFacts {
        numbers: numbers.map_err(|_| defect("the numbers of an op"))?,
        accepted: record.review,
        applied_at: record.applied_at.filter(|_| record.op.state != OpState::Sealed),
        undone_at: record.undone_at,
        undo,
        op: record.op,
    })
}
