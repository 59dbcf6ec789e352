//! `summary.md`: the page a person opens first.
//!
//! A fold: feed it every event of the run, look up the names of [`Summary::entities`], and write [`Summary::page`]. It keeps
//! sums, and of everything it shows by name a few examples, so that it is as small after a million ops as after ten.
//!
//! **Invariant:** memory text stands in code spans, outside of tables, and nowhere else on the page: whatever a name holds,
//! it is a name. What is left out is counted.

mod notes;
mod opening;
mod ops;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::apply::EffectNumbers;
use crate::op::{Intent, OpKind, OpState, Reason};
use crate::realm::graph::dedupe::PairEvidence;
use crate::realm::graph::drift::DriftReport;
use crate::realm::graph::evidence::Evidence;
use crate::realm::graph::orphan::{Orphan, Recall};
use crate::report::event::Event;
use crate::report::facts::{AuditFacts, Finding, OpFacts, RunFacts, TableAudit};
use crate::report::lens::Lens;
use crate::run::Counts;

/// Ops that the page shows one by one. More are in `events.jsonl`; a person reads about as many.
pub const OPS_SHOWN_MAX: usize = 10;

/// Examples shown for each reason to stay two.
pub const EXAMPLES_MAX: usize = 3;

/// Findings of one audit shown one by one.
pub const FINDINGS_SHOWN_MAX: usize = 5;

/// Names shown of one op.
const NAMES_SHOWN_MAX: usize = 5;

/// Columns that a name may take on the page.
const NAME_WIDTH_MAX: usize = 80;

/// Folds a run into a page.
#[derive(Clone, Debug)]
pub struct Summary<'a> {
    run: &'a RunFacts,
    counts: Counts,
    planned: Totals,
    done: Totals,
    heaviest: Vec<Heavy>,
    effective: u64,
    not_done: BTreeMap<(OpKind, OpState, Option<Reason>), u64>,
    apart: BTreeMap<String, Apart>,
    audits: Vec<AuditNote>,
}

/// What ops do, in sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    ops: u64,
    merges: u64,
    absorbed: u64,
    reabsorbed: u64,
    mentions: u64,
    edges_moved: u64,
    edges_folded: u64,
    edges_kept_parallel: u64,
    self_loops_retired: u64,
    temporal_moved: u64,
    alternatives: u64,
    sources_dropped: u64,
    references: u64,
    vectors: u64,
    repairs: u64,
}

/// An op of great impact.
#[derive(Clone, Debug)]
struct Heavy {
    impact: u64,
    op: OpFacts,
}

/// Pairs that stayed two for one reason.
#[derive(Clone, Debug, Default)]
struct Apart {
    pairs: u64,
    examples: Vec<PairEvidence>,
}

/// What the page keeps of an audit.
#[derive(Clone, Debug)]
struct AuditNote {
    kind: OpKind,
    findings: u64,
    recalls: BTreeMap<&'static str, u64>,
    orphans: Vec<Orphan>,
    drift: Option<Box<DriftReport>>,
    tables: Vec<TableAudit>,
}

impl<'a> Summary<'a> {
    /// A page about a run of which nothing was told yet.
    pub const fn new(run: &'a RunFacts) -> Self {
        Self {
            run,
            counts: Counts::new(),
            planned: Totals::NONE,
            done: Totals::NONE,
            heaviest: Vec::new(),
            effective: 0,
            not_done: BTreeMap::new(),
            apart: BTreeMap::new(),
            audits: Vec::new(),
        }
    }

    /// Takes the next event of the run.
    pub fn feed(&mut self, event: &Event<'_>) {
        match event {
            Event::Op(op) => self.feed_op(op),
            Event::Audit(audit) => self.audits.push(AuditNote::of(audit)),
            Event::RunStarted
            | Event::PhaseStarted { .. }
            | Event::PhaseCompleted { .. }
            | Event::RunCompleted
            | Event::RunFailed => {}
        }
    }

    fn feed_op(&mut self, facts: &OpFacts) {
        let op = &facts.op;
        *self.counts.entry(op.draft.kind).or_default().entry(op.state).or_default() += 1;
        match op.state {
            OpState::Sealed => {
                self.planned.add(&Totals::planned(facts));
                self.keep_if_heavy(facts, Totals::planned(facts).impact());
            }
            OpState::Applied => {
                self.done.add(&Totals::done(facts));
                self.keep_if_heavy(facts, Totals::done(facts).impact());
            }
            OpState::KeptApart => self.keep_apart(facts),
            OpState::Skipped | OpState::Stale | OpState::Failed | OpState::Noop => {
                *self.not_done.entry((op.draft.kind, op.state, op.reason)).or_default() += 1;
            }
            OpState::Undone => {}
        }
    }

    fn keep_if_heavy(&mut self, facts: &OpFacts, impact: u64) {
        self.effective += 1;
        let rank = |impact: u64, seq: u32| (Reverse(impact), seq);
        let found = rank(impact, facts.op.seq);
        let place = self.heaviest.partition_point(|heavy| rank(heavy.impact, heavy.op.op.seq) < found);
        if place < OPS_SHOWN_MAX {
            let op = OpFacts { numbers: facts.numbers.clone(), ..OpFacts::of(facts.op.clone()) };
            self.heaviest.insert(place, Heavy { impact, op });
            self.heaviest.truncate(OPS_SHOWN_MAX);
        }
    }

    fn keep_apart(&mut self, facts: &OpFacts) {
        let apart = self.apart.entry(facts.op.draft.rule.clone()).or_default();
        apart.pairs += 1;
        if let Evidence::Apart(pair) = &facts.op.draft.evidence {
            let rank = |pair: &PairEvidence| (Reverse(pair.names.similarity), pair.left, pair.right);
            let place = apart.examples.partition_point(|known| rank(known) < rank(pair));
            if place < EXAMPLES_MAX {
                apart.examples.insert(place, (**pair).clone());
                apart.examples.truncate(EXAMPLES_MAX);
            }
        }
    }

    /// The entities whose names the page shows.
    pub fn entities(&self) -> BTreeSet<Uuid> {
        let heavy = self.heaviest.iter().flat_map(|heavy| heavy.op.entities());
        let apart = self.apart.values().flat_map(|apart| &apart.examples).flat_map(|pair| [pair.left, pair.right]);
        let orphans = self.audits.iter().flat_map(|note| &note.orphans).map(|orphan| orphan.entity_id);
        let tables = self.audits.iter().flat_map(|note| &note.tables);
        let offenders = tables.flat_map(|table| &table.audit.top_offenders).map(|offender| offender.id);
        heavy.chain(apart).chain(orphans).chain(offenders).collect()
    }

    /// The page.
    pub fn page(&self, lens: &Lens<'_>) -> String {
        let mut page = String::new();
        opening::write(self, lens, &mut page);
        ops::write(self, lens, &mut page);
        notes::write(self, lens, &mut page);
        page
    }

    /// Ops of the plan that came to this.
    fn count(&self, state: OpState) -> u64 {
        self.counts.values().filter_map(|states| states.get(&state)).map(|count| u64::from(*count)).sum()
    }
}

impl Totals {
    const NONE: Self = Self {
        ops: 0,
        merges: 0,
        absorbed: 0,
        reabsorbed: 0,
        mentions: 0,
        edges_moved: 0,
        edges_folded: 0,
        edges_kept_parallel: 0,
        self_loops_retired: 0,
        temporal_moved: 0,
        alternatives: 0,
        sources_dropped: 0,
        references: 0,
        vectors: 0,
        repairs: 0,
    };

    /// What the op would do, as far as the plan says.
    fn planned(facts: &OpFacts) -> Self {
        let mut totals = Self { ops: 1, ..Self::default() };
        match (&facts.op.draft.intent, &facts.op.draft.evidence) {
            (Intent::MergeEntities { absorb, .. }, _) => {
                totals.merges = 1;
                totals.absorbed = absorb.len() as u64;
            }
            (Intent::Reabsorb { .. }, Evidence::Reabsorb(evidence)) => {
                totals.reabsorbed = 1;
                totals.mentions = evidence.mentions_new.max(0).unsigned_abs();
                totals.edges_moved = u64::from(evidence.edges_live);
            }
            (Intent::Centroid { .. }, _) => totals.vectors = 1,
            (Intent::Repair { .. }, _) => totals.repairs = 1,
            (Intent::DropReferences { chunks, .. }, _) => totals.references = chunks.len() as u64,
            _ => {}
        }
        totals
    }

    /// What the op did.
    fn done(facts: &OpFacts) -> Self {
        let none = EffectNumbers::default();
        let numbers = facts.numbers.as_ref().unwrap_or(&none);
        let is_merge = matches!(facts.op.draft.intent, Intent::MergeEntities { .. });
        let absorbed = u64::from(numbers.absorbed);
        Self {
            ops: 1,
            merges: u64::from(is_merge),
            absorbed: if is_merge { absorbed } else { 0 },
            reabsorbed: if is_merge { 0 } else { absorbed },
            mentions: numbers.mentions_added.max(0).unsigned_abs(),
            edges_moved: u64::from(numbers.edges.moved),
            edges_folded: u64::from(numbers.edges.parallels_folded),
            edges_kept_parallel: u64::from(numbers.edges.parallels_kept),
            self_loops_retired: u64::from(numbers.edges.self_loops_retired),
            temporal_moved: u64::from(numbers.edges.temporal_moved),
            alternatives: u64::from(numbers.attributes_conflicting),
            sources_dropped: u64::from(numbers.sources_dropped),
            references: u64::from(numbers.references_removed),
            vectors: u64::from(numbers.vectors_set),
            repairs: u64::from(matches!(facts.op.draft.intent, Intent::Repair { .. })),
        }
    }

    fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.merges += other.merges;
        self.absorbed += other.absorbed;
        self.reabsorbed += other.reabsorbed;
        self.mentions += other.mentions;
        self.edges_moved += other.edges_moved;
        self.edges_folded += other.edges_folded;
        self.edges_kept_parallel += other.edges_kept_parallel;
        self.self_loops_retired += other.self_loops_retired;
        self.temporal_moved += other.temporal_moved;
        self.alternatives += other.alternatives;
        self.sources_dropped += other.sources_dropped;
        self.references += other.references;
        self.vectors += other.vectors;
        self.repairs += other.repairs;
    }

    /// How much an op changes, in one number. [`ops::IMPACT_FORMULA`] says the same in words.
    fn impact(&self) -> u64 {
        let edges = self.edges_moved + self.edges_folded + self.self_loops_retired + self.temporal_moved;
        10 * (self.absorbed + self.reabsorbed) + self.mentions + edges + self.references + self.vectors
    }
}

impl AuditNote {
    fn of(audit: &AuditFacts) -> Self {
        let mut note = Self {
            kind: audit.kind,
            findings: audit.findings.len() as u64 + audit.beyond,
            recalls: BTreeMap::new(),
            orphans: Vec::new(),
            drift: None,
            tables: Vec::new(),
        };
        for finding in &audit.findings {
            match finding {
                Finding::Drift(report) => note.drift = Some(report.clone()),
                Finding::References(found) => {
                    let mut kept = found.clone();
                    kept.audit.top_offenders.truncate(FINDINGS_SHOWN_MAX);
                    note.tables.push(kept);
                }
                Finding::Orphan(orphan) => note.keep_orphan(orphan),
            }
        }
        note
    }

    fn keep_orphan(&mut self, orphan: &Orphan) {
        let recall = match orphan.recalled {
            Recall::Unknown => "recalls unknown to the store",
            Recall::Never => "never recalled",
            Recall::LongAgo => "not recalled lately",
        };
        *self.recalls.entry(recall).or_default() += 1;
        let before =
            |known: &Orphan| known.pr_score.total_cmp(&orphan.pr_score).then(known.entity_id.cmp(&orphan.entity_id));
        let place = self.orphans.partition_point(|known| before(known).is_lt());
        if place < FINDINGS_SHOWN_MAX {
            self.orphans.insert(place, orphan.clone());
            self.orphans.truncate(FINDINGS_SHOWN_MAX);
        }
    }
}

/// An entity as the page names it: its name in a code span, else its id.
fn label(entity: Uuid, lens: &Lens<'_>) -> String {
    match lens.name(entity).as_ref().and_then(|name| name.shown()) {
        Some(name) => crate::report::plain::code_span(name, NAME_WIDTH_MAX),
        None => format!("entity `{entity}`"),
    }
}
