//! What a report is told of a run: the run itself, its ops, its findings. The caller fills these from its store.
//!
//! **Invariant:** facts hold ids, numbers, kinds, moments and undo records. Of memory text they hold names of types, in
//! the findings, and the old cells of the undo records; both reach a report through a redaction only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::apply::EffectNumbers;
use crate::change::Table;
use crate::clock::Moment;
use crate::digest::Digester;
use crate::failure::Code;
use crate::id::{ContentKey, NamespaceId, OpId, RunId, StableNamespaceId};
use crate::op::{Intent, Op, OpKind};
use crate::plan::PlanHash;
use crate::realm::graph::dedupe::{KeptApartReason, PairEvidence};
use crate::realm::graph::drift::DriftReport;
use crate::realm::graph::evidence::Evidence;
use crate::realm::graph::orphan::Orphan;
use crate::realm::graph::references::ReferenceAudit;
use crate::run::{Counts, Mode, Realm, RunState, SkipReason, Trigger};
use crate::settings::Settings;
use crate::undo::UndoRecord;

/// A run, as a report tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFacts {
    /// The run.
    pub run: RunId,
    /// Its realm.
    pub realm: Realm,
    /// Its target, as callers know it.
    pub namespace: StableNamespaceId,
    /// Its target, as rows carry it.
    pub namespace_row: NamespaceId,
    /// The store, by its name in the configuration.
    pub store: String,
    /// What `--store` has to say for a command to reach it; none where commands find it by themselves. The path of a file
    /// or a name; never an address with a password in it.
    pub store_argument: Option<String>,
    /// What it may do.
    pub mode: Mode,
    /// Who started it.
    pub trigger: Trigger,
    /// Whether it went on where an earlier attempt stopped.
    pub is_resumed: bool,
    /// The dry run whose plan it carries out.
    pub plan_of: Option<RunId>,
    /// Where it stands.
    pub state: RunState,
    /// The run's one clock.
    pub as_of: Moment,
    /// When it started.
    pub started_at: Moment,
    /// When its plan was sealed, where that is known.
    pub sealed_at: Option<Moment>,
    /// When it was closed.
    pub finished_at: Option<Moment>,
    /// The sealed plan.
    pub plan_hash: Option<PlanHash>,
    /// The findings.
    pub audit_hash: Option<PlanHash>,
    /// Ops of the sealed plan.
    pub ops_total: u32,
    /// Ops by kind and by what became of them.
    pub counts: Counts,
    /// What was not done, and why.
    pub skip_reasons: Vec<SkipReason>,
    /// Pairs kept apart beyond those the plan lists.
    pub kept_apart_unlisted: BTreeMap<KeptApartReason, u64>,
    /// Where edges were read: of the tables, `sql`, or of the graph database, `graph`; none where there is no graph database.
    pub edge_source: Option<String>,
    /// Outbox rows of it that its graph database had not been told of when it was closed.
    pub graph_left: u32,
    /// Why it failed.
    pub failure: Option<Code>,
    /// The settings that held for it.
    pub settings: Settings,
}

impl RunFacts {
    /// Whether the run may have changed memories: it was allowed to, and came as far as carrying a plan out.
    pub fn has_applied(&self) -> bool {
        self.mode.may_write() && self.plan_hash.is_some()
    }

    /// From its start to its end; none while it is open.
    pub fn duration_ms(&self) -> Option<f64> {
        self.finished_at.map(|end| millis(self.started_at, end))
    }
}

/// Milliseconds from one moment to another; never less than none.
#[expect(clippy::cast_precision_loss, reason = "a run of 2^53 microseconds lasts 285 years")]
pub(super) fn millis(from: Moment, to: Moment) -> f64 {
    to.micros().saturating_sub(from.micros()).max(0) as f64 / 1_000.0
}

/// An op with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpFacts {
    /// The op.
    pub op: Op,
    /// What it did; none if it did nothing yet.
    pub numbers: Option<EffectNumbers>,
    /// A person's word on it: accepted or rejected.
    pub accepted: Option<bool>,
    /// When it was carried out.
    pub applied_at: Option<Moment>,
    /// When it was taken back.
    pub undone_at: Option<Moment>,
    /// What it changed; none if it changed nothing, or where the caller wants no undo export.
    pub undo: Option<UndoRecord>,
}

impl OpFacts {
    /// An op of which nothing is known but itself.
    pub const fn of(op: Op) -> Self {
        Self { op, numbers: None, accepted: None, applied_at: None, undone_at: None, undo: None }
    }

    /// The entities whose names a report may want.
    pub fn entities(&self) -> Vec<uuid::Uuid> {
        let mut entities = match &self.op.draft.intent {
            Intent::MergeEntities { keep, absorb } => {
                let mut all = vec![*keep];
                all.extend(absorb);
                all
            }
            Intent::Reabsorb { keep, absorbed } => vec![*keep, *absorbed],
            Intent::Centroid { entity, .. } => vec![*entity],
            Intent::DropReferences { row, .. } | Intent::Repair { row, .. } if row.table == Table::Entities => {
                vec![row.id]
            }
            Intent::Observe { rows } => rows.clone(),
            _ => Vec::new(),
        };
        if let Evidence::Collision(collision) = &self.op.draft.evidence {
            entities.push(collision.with);
        }
        entities
    }

    /// The pairs that were weighed for it.
    pub(super) fn pairs(&self) -> &[PairEvidence] {
        match &self.op.draft.evidence {
            Evidence::Merge(merge) => &merge.pairs,
            Evidence::Apart(pair) => std::slice::from_ref(pair.as_ref()),
            _ => &[],
        }
    }
}

/// What an audit found.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditFacts {
    /// The audit.
    pub kind: OpKind,
    /// What it found, in its order.
    pub findings: Vec<Finding>,
    /// Findings beyond those it lists.
    pub beyond: u64,
    /// Live entities it looked at, where it says.
    pub entities: Option<u64>,
    /// Live relationships it looked at, where it says.
    pub relationships: Option<u64>,
    /// When it began, where that is known.
    pub started_at: Option<Moment>,
    /// How long it took, where that is known.
    pub duration_ms: Option<f64>,
}

impl AuditFacts {
    /// An audit of which nothing is known but its findings.
    pub const fn of(kind: OpKind, findings: Vec<Finding>) -> Self {
        Self { kind, findings, beyond: 0, entities: None, relationships: None, started_at: None, duration_ms: None }
    }

    /// The id under which a run reports this audit. An audit has no effect, so this is nobody else's id.
    pub fn id(&self, run: RunId) -> OpId {
        OpId::of(run, &ContentKey(Digester::new("dream/audit/1").text(self.kind.as_str()).finish()))
    }

    /// The entities whose names a report may want.
    pub fn entities_named(&self) -> Vec<uuid::Uuid> {
        let mut entities = Vec::new();
        for finding in &self.findings {
            match finding {
                Finding::Orphan(orphan) => entities.push(orphan.entity_id),
                Finding::References(TableAudit { table: Table::Entities, audit }) => {
                    entities.extend(audit.top_offenders.iter().map(|offender| offender.id));
                }
                Finding::References(_) | Finding::Drift(_) => {}
            }
        }
        entities
    }
}

/// What an audit found about one subject.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Types, observed against declared.
    Drift(Box<DriftReport>),
    /// An entity that may go to an archive.
    Orphan(Orphan),
    /// The references of one table.
    References(TableAudit),
}

/// The references of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableAudit {
    /// The table.
    pub table: Table,
    /// Its references.
    pub audit: ReferenceAudit,
}

/// A finding that cannot be read. It names the audit and repeats nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a finding of {kind} is not in the form this program writes")]
pub struct FindingError {
    /// The audit.
    pub kind: OpKind,
}

impl Finding {
    /// The JSON under which a store keeps it.
    pub fn payload(&self) -> String {
        let json = match self {
            Self::Drift(report) => serde_json::to_string(report),
            Self::Orphan(orphan) => serde_json::to_string(orphan),
            Self::References(audit) => serde_json::to_string(audit),
        };
        json.unwrap_or_else(|_| unreachable!("findings are plain data"))
    }

    /// Reads what [`Finding::payload`] wrote for an audit of this kind.
    pub fn read(kind: OpKind, payload: &str) -> Result<Self, FindingError> {
        let read = match kind {
            OpKind::SchemaDriftReport => serde_json::from_str(payload).map(Self::Drift),
            OpKind::OrphanReport => serde_json::from_str(payload).map(Self::Orphan),
            OpKind::SourceChunkIdsAudit => serde_json::from_str(payload).map(Self::References),
            _ => {
                return Err(FindingError { kind });
            }
        };
        read.map_err(|_| FindingError { kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realm::graph::orphan::Recall;

    #[test]
    fn a_finding_reads_back_from_its_payload() {
        let orphan = Orphan {
            entity_id: uuid::Uuid::from_u128(7),
            pr_score: 0.1,
            mention_count: 1,
            recalled: Recall::Never,
            archive_candidate: true,
        };
        let findings = [
            (OpKind::SchemaDriftReport, Finding::Drift(Box::default())),
            (OpKind::OrphanReport, Finding::Orphan(orphan)),
            (
                OpKind::SourceChunkIdsAudit,
                Finding::References(TableAudit { table: Table::Relationships, audit: ReferenceAudit::default() }),
            ),
        ];
        for (kind, finding) in findings {
            assert_eq!(Finding::read(kind, &finding.payload()), Ok(finding));
            assert_eq!(Finding::read(kind, "[]"), Err(FindingError { kind }));
        }
    }
}
