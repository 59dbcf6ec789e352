//! References to chunks: how many there are, how many are dead, and which removals to plan.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::algo::quantile::nearest_rank;
use crate::change::{RowKey, Table};
use crate::op::{Decision, Draft, Intent, OpKind, Premise};
use crate::realm::graph::evidence::{DropEvidence, Evidence};

/// Offenders that the audit lists per table.
pub const OFFENDERS_MAX: usize = 20;

/// Share of dead references, in percent, above which liveness itself is in doubt: chunks that live in a table this program
/// does not know would all look dead.
const DEAD_PERCENT_MAX: u64 = 50;

/// One row's references.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceRow<'a> {
    /// The row.
    pub row: RowKey,
    /// Whether the row is live.
    pub is_live: bool,
    /// Whether this run may change it.
    pub in_scope: bool,
    /// How many references it has.
    pub references: u32,
    /// Those that are dead.
    pub dead: &'a [Uuid],
}

/// The audit of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceAudit {
    /// Rows that have references, retired ones included.
    pub total_rows: u64,
    /// Their references.
    pub total_references: u64,
    /// References whose chunk is gone.
    pub total_dead_uuids: u64,
    /// Half of the rows have at most so many references.
    pub length_p50: u32,
    /// Nine in ten have at most so many.
    pub length_p90: u32,
    /// Ninety-nine in a hundred have at most so many.
    pub length_p99: u32,
    /// The longest list.
    pub length_max: u32,
    /// The worst rows, most dead references first.
    pub top_offenders: Vec<Offender>,
}

/// A row with dead references.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offender {
    /// The row.
    pub id: Uuid,
    /// How many references it has.
    pub length: u32,
    /// How many are dead.
    pub dead_uuid_count: u32,
}

/// Collects the references of one table for the audit.
#[derive(Debug, Default)]
pub struct ReferenceAuditor {
    lengths: Vec<u32>,
    dead: u64,
    offenders: Vec<Offender>,
}

impl ReferenceAuditor {
    /// Takes a row.
    pub fn feed(&mut self, row: ReferenceRow<'_>) {
        self.lengths.push(row.references);
        self.dead += row.dead.len() as u64;
        if !row.dead.is_empty() {
            let dead_uuid_count = u32::try_from(row.dead.len()).unwrap_or(u32::MAX);
            self.offenders.push(Offender { id: row.row.id, length: row.references, dead_uuid_count });
        }
        // Kept short while it streams, so that memory does not grow with the damage.
        if self.offenders.len() > OFFENDERS_MAX * 100 {
            self.keep_worst();
        }
    }

    fn keep_worst(&mut self) {
        self.offenders
            .sort_by_key(|offender| (std::cmp::Reverse((offender.dead_uuid_count, offender.length)), offender.id));
        self.offenders.truncate(OFFENDERS_MAX);
    }

    /// The audit.
    pub fn finish(mut self) -> ReferenceAudit {
        self.keep_worst();
        self.lengths.sort_unstable();
        ReferenceAudit {
            total_rows: self.lengths.len() as u64,
            total_references: self.lengths.iter().map(|length| u64::from(*length)).sum(),
            total_dead_uuids: self.dead,
            length_p50: nearest_rank(&self.lengths, 50),
            length_p90: nearest_rank(&self.lengths, 90),
            length_p99: nearest_rank(&self.lengths, 99),
            length_max: self.lengths.last().copied().unwrap_or(0),
            top_offenders: self.offenders,
        }
    }
}

/// Collects references and plans their removal.
#[derive(Debug, Default)]
pub struct GcPlanner {
    survivors: BTreeMap<Uuid, Uuid>,
    kept: BTreeSet<Uuid>,
    rows: BTreeMap<RowKey, Pending>,
    references: u64,
    dead: u64,
}

#[derive(Debug, Default)]
struct Pending {
    references: u32,
    dead: Vec<Uuid>,
    in_scope: bool,
    ends_in_graph: Option<Vec<(Uuid, Uuid)>>,
}

/// What the gc planner drew up.
#[derive(Debug, Default)]
pub struct GcPlan {
    /// One draft per row.
    pub drafts: Vec<Draft>,
    /// References of the namespace.
    pub references: u64,
    /// Those that look dead.
    pub dead: u64,
}

impl GcPlan {
    /// Whether so many references look dead that it is more likely that liveness is judged wrongly.
    pub fn is_suspicious(&self) -> bool {
        self.dead * 100 > self.references * DEAD_PERCENT_MAX
    }
}

impl GcPlanner {
    /// A planner that knows which entities this run merges into which survivor: what is dead on one of them will be dead on
    /// the survivor.
    pub fn new(survivors: BTreeMap<Uuid, Uuid>) -> Self {
        Self { kept: survivors.values().copied().collect(), survivors, ..Self::default() }
    }

    /// Takes an edge that the graph database alone has.
    pub fn feed_edge_in_graph(&mut self, row: ReferenceRow<'_>, ends: (Uuid, Uuid)) {
        let key = row.row;
        self.feed(row);
        let way = |end: Uuid| std::iter::once(end).chain(self.survivors.get(&end).copied());
        let ends = way(ends.0).flat_map(|source| way(ends.1).map(move |target| (source, target))).collect();
        if let Some(pending) = self.rows.get_mut(&key) {
            pending.ends_in_graph = Some(ends);
        }
    }

    /// Takes a row.
    pub fn feed(&mut self, row: ReferenceRow<'_>) {
        self.references += u64::from(row.references);
        self.dead += row.dead.len() as u64;
        let survivor = self.survivors.get(&row.row.id).filter(|_| row.row.table == Table::Entities);
        let is_merged = survivor.is_some() || self.kept.contains(&row.row.id);
        // A row that stayed retired gives its references away when it is absorbed again.
        let is_left = row.is_live || survivor.is_some();
        if row.dead.is_empty() && !is_merged || !is_left {
            return;
        }
        let key = survivor.map_or(row.row, |keep| RowKey::entity(*keep));
        let pending = self.rows.entry(key).or_default();
        pending.references += row.references;
        pending.dead.extend_from_slice(row.dead);
        pending.in_scope |= row.in_scope;
    }

    /// Drafts for the rows that have at least `dead_min` dead references.
    pub fn finish(self, dead_min: u32) -> GcPlan {
        let mut drafts = Vec::new();
        for (row, mut pending) in self.rows {
            pending.dead.sort_unstable();
            pending.dead.dedup();
            let dead = u32::try_from(pending.dead.len()).unwrap_or(u32::MAX);
            if !pending.in_scope || dead < dead_min.max(1) {
                continue;
            }
            drafts.push(Draft {
                kind: OpKind::SourceChunkIdsGc,
                decision: Decision::Planned,
                rule: "dead_references".to_owned(),
                intent: Intent::DropReferences { row, chunks: pending.dead },
                premises: vec![match pending.ends_in_graph {
                    Some(ends) => Premise::EdgeInGraph { ends },
                    None => Premise::RowLive { row },
                }],
                depends_on: Vec::new(),
                evidence: Evidence::Drop(DropEvidence { references: pending.references, dead }),
            });
        }
        GcPlan { drafts, references: self.references, dead: self.dead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    fn row(entity: u128, references: u32, dead: &[Uuid]) -> ReferenceRow<'_> {
        ReferenceRow { row: RowKey::entity(id(entity)), is_live: true, in_scope: true, references, dead }
    }

    #[test]
    fn what_is_dead_on_a_merged_entity_is_dropped_from_its_survivor() {
        let mut planner = GcPlanner::new(BTreeMap::from([(id(2), id(1))]));
        planner.feed(row(1, 4, &[id(90)]));
        planner.feed(ReferenceRow { is_live: false, ..row(2, 3, &[id(91), id(90)]) });
        planner.feed(row(3, 9, &[]));
        planner.feed(ReferenceRow { is_live: false, ..row(4, 3, &[id(92)]) });
        let plan = planner.finish(1);
        assert_eq!(plan.drafts.len(), 1);
        let expected = Intent::DropReferences { row: RowKey::entity(id(1)), chunks: vec![id(90), id(91)] };
        assert_eq!(plan.drafts[0].intent, expected);
        assert!(!plan.is_suspicious());
    }

    #[test]
    fn a_row_below_the_threshold_is_left_alone() {
        for (dead_min, expected) in [(1, 1), (2, 1), (3, 0)] {
            let mut planner = GcPlanner::default();
            planner.feed(row(1, 4, &[id(90), id(91)]));
            assert_eq!(planner.finish(dead_min).drafts.len(), expected);
        }
    }

    #[test]
    fn liveness_is_suspicious_above_one_half() {
        for (references, expected) in [(4, false), (3, true)] {
            let mut planner = GcPlanner::default();
            planner.feed(row(1, references, &[id(90), id(91)]));
            assert_eq!(planner.finish(1).is_suspicious(), expected);
        }
    }

    #[test]
    fn the_audit_counts_lengths_and_names_the_worst() {
        let mut auditor = ReferenceAuditor::default();
        auditor.feed(row(1, 10, &[]));
        auditor.feed(row(2, 3, &[id(90)]));
        auditor.feed(row(3, 2, &[id(90), id(91)]));
        let audit = auditor.finish();
        assert_eq!((audit.total_rows, audit.total_references, audit.total_dead_uuids), (3, 15, 3));
        assert_eq!((audit.length_p50, audit.length_max), (3, 10));
        assert_eq!(audit.top_offenders.iter().map(|offender| offender.id).collect::<Vec<_>>(), [id(3), id(2)]);
    }
}
