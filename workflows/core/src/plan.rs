//! Sealing a plan: from the drafts of all planners to ops in an order, with a hash.
//!
//! Ops are ordered by cluster, then by stage, so that all ops on one entity stand next to each other and fall into one
//! group. The hash says what will be done and by which rule, and nothing else.
//!
//! **Invariant:** the same drafts give the same ops and the same hash, in whatever order they come.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::Digester;
use crate::id::{ContentKey, RunId, hex};
use crate::op::{Draft, Op, OpKind, Reason};
use crate::run::SkipReason;

/// Most ops one run may hold. A namespace that needs more is consolidated over several nights; beyond this the plan of one
/// run is nothing a person could look through, and its undo nothing anybody could take back in an evening.
pub const OPS_PER_RUN_MAX: usize = 250_000;

/// SHA-256 over a plan, as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanHash(pub String);

impl std::fmt::Display for PlanHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A sealed plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// In the order of their places, which begin at 1.
    pub ops: Vec<Op>,
    /// What the ops will do, as a hash.
    pub hash: PlanHash,
    /// Drafts that found no room under [`OPS_PER_RUN_MAX`].
    pub dropped: BTreeMap<OpKind, u64>,
}

impl Plan {
    /// What found no room, as reasons.
    pub fn skip_reasons(&self) -> Vec<SkipReason> {
        let reason = |(kind, count): (&OpKind, &u64)| SkipReason {
            op_kind: *kind,
            reason: Reason::PlanCapReached,
            count: Some(*count),
        };
        self.dropped.iter().map(reason).collect()
    }
}

/// Seals the drafts of a run.
pub fn seal(run: RunId, drafts: Vec<Draft>) -> Plan {
    seal_capped(run, drafts, OPS_PER_RUN_MAX)
}

/// Seals the drafts of one round behind the ops of the rounds before it, in the order in which they stand: what comes first
/// was decided to come first.
pub fn seal_round(run: RunId, seq_from: u32, drafts: Vec<Draft>) -> Plan {
    let mut sealed = BTreeSet::new();
    let fresh = drafts.into_iter().filter(|draft| sealed.insert(draft.content_key()));
    let ops: Vec<Op> = fresh.zip(seq_from..).map(|(draft, seq)| Op::seal(run, seq, draft)).collect();
    Plan { hash: plan_hash(&sealed), ops, dropped: BTreeMap::new() }
}

/// The hash of a run of several rounds: that of the hashes of its rounds.
pub fn rounds_hash<'a>(rounds: impl IntoIterator<Item = &'a PlanHash>) -> PlanHash {
    let digester = rounds.into_iter().fold(Digester::new("dream/rounds/1"), |digester, hash| digester.text(&hash.0));
    PlanHash(hex(&digester.finish()))
}

fn seal_capped(run: RunId, drafts: Vec<Draft>, ops_max: usize) -> Plan {
    let mut keyed: Vec<(ContentKey, Draft)> = drafts.into_iter().map(|draft| (draft.content_key(), draft)).collect();
    keyed.sort_by(|(one_key, one), (two_key, two)| {
        let place = |draft: &Draft| (draft.intent.cluster(), draft.kind.stage());
        place(one).cmp(&place(two)).then(one_key.cmp(two_key))
    });
    keyed.dedup_by(|(one, _), (two, _)| one == two);
    let mut dropped = BTreeMap::new();
    for (_, draft) in keyed.split_off(cut_between_clusters(&keyed, ops_max)) {
        *dropped.entry(draft.kind).or_default() += 1;
    }
    let sealed: BTreeSet<ContentKey> = keyed.iter().map(|(key, _)| *key).collect();
    let ops =
        keyed.into_iter().map(|(_, draft)| draft).zip(1..).map(|(draft, seq)| Op::seal(run, seq, draft)).collect();
    Plan { ops, hash: plan_hash(&sealed), dropped }
}

/// Where a plan ends that may hold `ops_max` ops: a cluster is planned as a whole or not at all.
fn cut_between_clusters(keyed: &[(ContentKey, Draft)], ops_max: usize) -> usize {
    if keyed.len() <= ops_max {
        return keyed.len();
    }
    let cluster = |position: usize| keyed[position].1.intent.cluster();
    let mut end = ops_max;
    while end > 0 && cluster(end - 1) == cluster(end) {
        end -= 1;
    }
    end
}

/// SHA-256 over the content keys of a plan in their order.
pub fn plan_hash(content: &BTreeSet<ContentKey>) -> PlanHash {
    let digester = content.iter().fold(Digester::new("dream/plan/1"), |digester, key| digester.bytes(&key.0));
    PlanHash(hex(&digester.finish()))
}
