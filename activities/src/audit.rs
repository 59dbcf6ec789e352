//! Audits: read the namespace, let the core count, keep the findings.

use dream_core::change::Table;
use dream_core::failure::Failure;
use dream_core::op::{OpKind, Reason};
use dream_core::realm::graph::drift::{self, Frequencies};
use dream_core::realm::graph::orphan::{OrphanPlanner, OrphanSettings, orphans};
use dream_core::realm::graph::references::{ReferenceAuditor, ReferenceRow};
use dream_core::realm::graph::scope::ScopeFilter;
use dream_core::report::facts::TableAudit;
use dream_ports::content::{ReferenceView, VisitRelationship};
use dream_ports::plan::{Finding, Step};
use dream_ports::run::RunRecord;
use dream_workflows::contract::{Part, PartDone};
use serde::Serialize;
use serde_json::json;

use crate::begin::{RunSettings, input_of};
use crate::edges::{Edges, edges, skipped};
use crate::failure::{ResultExt, defect};
use crate::lease::while_renewing;
use crate::world::{StoreHandle, World};

/// Runs one audit.
pub async fn audit(world: &World, part: Part) -> Result<PartDone, Failure> {
    let (handle, run, settings) = world.load(&part.run).await?;
    if let Some(done) = crate::requests::cancelled(handle, &run).await? {
        return Ok(done);
    }
    let fence = handle.store.fence(run.run, &world.holder).await.or_fail()?;
    while_renewing(handle.store.as_ref(), &fence, async {
        let name = format!("audit:{}", part.kind);
        let (findings, summary) = match look(handle, &run, &settings, part.kind).await? {
            Ok(found) => found,
            Err(reason) => {
                let step = Step { name, summary: json!({}).to_string() };
                handle.store.publish(&fence, part.kind, &step, &[skipped(part.kind, reason)]).await.or_fail()?;
                return Ok(PartDone { reason: Some(reason), ..PartDone::default() });
            }
        };
        let count = u32::try_from(findings.len()).unwrap_or(u32::MAX);
        let step = Step { name, summary: summary.to_string() };
        handle.store.write_findings(&fence, &step, &findings).await.or_fail()?;
        Ok(PartDone { count, ..PartDone::default() })
    })
    .await
}

/// What one audit found; the reason where it could not look.
async fn look(
    handle: &StoreHandle,
    run: &RunRecord,
    settings: &RunSettings,
    kind: OpKind,
) -> Result<Result<Found, Reason>, Failure> {
    let edges = match edges(handle, run.namespace).await? {
        Ok(edges) => edges,
        Err(reason) => return Ok(Err(reason)),
    };
    let found = match kind {
        OpKind::SchemaDriftReport => schema_drift(handle, run, &edges).await?,
        OpKind::OrphanReport => orphan_report(handle, run, settings, &edges).await?,
        _ => reference_audit(handle, run, &edges).await?,
    };
    Ok(found.map(|(findings, mut summary)| {
        if handle.graph.is_some() {
            summary["edges"] = edges.name().into();
        }
        (findings, summary)
    }))
}

fn finding(kind: OpKind, ordinal: usize, payload: &impl Serialize) -> Result<Finding, Failure> {
    Ok(Finding {
        kind,
        ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX),
        payload: serde_json::to_string(payload).map_err(|_| defect("a finding"))?,
    })
}

/// What an audit found, and what its step says of it.
type Found = (Vec<Finding>, serde_json::Value);

async fn schema_drift(
    handle: &StoreHandle,
    run: &RunRecord,
    edges: &Edges<'_>,
) -> Result<Result<Found, Reason>, Failure> {
    let mut snapshot = handle.store.snapshot(run.namespace).await.or_fail()?;
    let mut observed = Frequencies::default();
    snapshot.entities(&mut |entity| observed.feed_entity(entity.entity_type)).await.or_fail()?;
    let feed: VisitRelationship<'_> = &mut |edge| observed.feed_relationship(edge.relationship_type);
    if let Err(reason) = edges.visit(snapshot.as_mut(), run.namespace, feed).await? {
        return Ok(Err(reason));
    }
    drop(snapshot);
    let before = handle.store.baseline(run.namespace, OpKind::SchemaDriftReport).await.or_fail()?;
    let before: Option<Frequencies> = before
        .map(|json| serde_json::from_str(&json).map_err(|_| defect("the baseline of the schema drift report")))
        .transpose()?;
    let declared = input_of(run)?.expertise.unwrap_or_default();
    let report = drift::report(&observed, &declared, before.as_ref());
    let summary = json!({ "entities": report.entity_total, "relationships": report.relationship_total });
    Ok(Ok((vec![finding(OpKind::SchemaDriftReport, 0, &report)?], summary)))
}

async fn orphan_report(
    handle: &StoreHandle,
    run: &RunRecord,
    settings: &RunSettings,
    edges: &Edges<'_>,
) -> Result<Result<Found, Reason>, Failure> {
    let capabilities = handle.store.probe().await.or_fail()?;
    let mut snapshot = handle.store.snapshot(run.namespace).await.or_fail()?;
    let mut planner = OrphanPlanner::default();
    let (mut entities, mut relationships) = (0_u64, 0_u64);
    snapshot
        .entities(&mut |entity| {
            entities += 1;
            planner.feed_entity(entity.id, entity.mention_count);
        })
        .await
        .or_fail()?;
    let feed: VisitRelationship<'_> = &mut |edge| {
        relationships += 1;
        planner.feed_edge(edge.source, edge.target, edge.relationship_type);
    };
    if let Err(reason) = edges.visit(snapshot.as_mut(), run.namespace, feed).await? {
        return Ok(Err(reason));
    }
    let settings = OrphanSettings {
        percentile: settings.settings.orphan_pr_percentile_threshold,
        cooccurrence_weight: settings.settings.cooccurrence_edge_weight,
        recall_days: settings.settings.orphan_recall_days,
    };
    let (candidates, beyond) = planner.candidates(settings);
    let recalls = if capabilities.has_recall_times {
        let ids: Vec<_> = candidates.iter().map(|candidate| candidate.entity).collect();
        Some(snapshot.recalls(&ids).await.or_fail()?)
    } else {
        None
    };
    let orphans = orphans(&candidates, recalls.as_deref(), run.as_of, settings.recall_days);
    let findings = orphans.iter().enumerate().map(|(at, orphan)| finding(OpKind::OrphanReport, at, orphan));
    let summary = json!({ "beyond": beyond, "entities": entities, "relationships": relationships });
    Ok(Ok((findings.collect::<Result<_, _>>()?, summary)))
}

async fn reference_audit(
    handle: &StoreHandle,
    run: &RunRecord,
    edges: &Edges<'_>,
) -> Result<Result<Found, Reason>, Failure> {
    let mut snapshot = handle.store.snapshot(run.namespace).await.or_fail()?;
    let mut entities = ReferenceAuditor::default();
    let mut relationships = ReferenceAuditor::default();
    let feed: &mut (dyn for<'r> FnMut(ReferenceView<'r>, bool) + Send) = &mut |row, _is_in_graph| {
        let auditor = if row.row.table == Table::Entities { &mut entities } else { &mut relationships };
        auditor.feed(ReferenceRow {
            row: row.row,
            is_live: row.is_live,
            in_scope: true,
            references: row.references,
            dead: row.dead,
        });
    };
    if let Err(reason) = edges.references(snapshot.as_mut(), run.namespace, feed).await? {
        return Ok(Err(reason));
    }
    let audits = [(Table::Entities, entities.finish()), (Table::Relationships, relationships.finish())];
    let findings = audits
        .into_iter()
        .enumerate()
        .map(|(at, (table, audit))| finding(OpKind::SourceChunkIdsAudit, at, &TableAudit { table, audit }));
    Ok(Ok((findings.collect::<Result<_, _>>()?, json!({}))))
}

/// The scope of a run, ready to be asked.
pub fn scope_of(run: &RunRecord) -> Result<ScopeFilter, Failure> {
    Ok(ScopeFilter::of(input_of(run)?.scope.as_ref()))
}
