//! How good a plan is, measured against the truth.
//!
//! All figures are over final clusters: every pair of records that ends in one cluster counts, whether or not the two
//! were ever compared.
//!
//! **Invariant:** the figures depend on the clusters and on the truth only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::plan::{DedupePlan, Score};
use super::reader::folded_key;

/// A record whose true identity is known.
#[derive(Clone, Copy, Debug)]
pub struct LabelledRecord<'a> {
    /// The id it was planned under.
    pub id: Uuid,
    /// Its name.
    pub name: &'a str,
    /// Its true identity; records with the same label are one thing.
    pub label: &'a str,
}

/// What came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalReport {
    /// Records with a label.
    pub records: u64,
    /// Clusters the plan merges.
    pub merges: u64,
    /// Pairs of records that are one thing.
    pub true_pairs: u64,
    /// Pairs of records that end in one cluster.
    pub merged_pairs: u64,
    /// Pairs that are both.
    pub correct_pairs: u64,
    /// Pairs of different things whose names fold to the same letters.
    pub homograph_pairs: u64,
    /// Those of them that end in different clusters.
    pub homograph_pairs_apart: u64,
}

impl EvalReport {
    /// Share of the merged pairs that are one thing; none where nothing was merged, which is a failure, not a success.
    pub fn precision(&self) -> Option<Score> {
        ratio(self.correct_pairs, self.merged_pairs)
    }

    /// Share of the true pairs that were merged; none where there is no true pair.
    pub fn recall(&self) -> Option<Score> {
        ratio(self.correct_pairs, self.true_pairs)
    }

    /// The harmonic mean of precision and recall; none where one of them is.
    pub fn f1(&self) -> Option<Score> {
        self.precision().and(self.recall())?;
        ratio(2 * self.correct_pairs, self.merged_pairs + self.true_pairs)
    }

    /// Share of the homograph pairs that stay two: strangers with one name that were told apart. None where the set
    /// has no homographs.
    pub fn homograph_split_rate(&self) -> Option<Score> {
        ratio(self.homograph_pairs_apart, self.homograph_pairs)
    }

    /// Whether the plan is at least this good; a plan that merges nothing never is.
    pub fn reaches(&self, precision_min: Score, recall_min: Score) -> bool {
        self.precision().is_some_and(|precision| precision >= precision_min)
            && self.recall().is_some_and(|recall| recall >= recall_min)
    }
}

/// Measures a plan.
pub fn evaluate(records: &[LabelledRecord<'_>], plan: &DedupePlan) -> EvalReport {
    let mut cluster_of: BTreeMap<Uuid, Uuid> = BTreeMap::new();
    for merge in &plan.merges {
        cluster_of.extend(merge.absorb.iter().chain([&merge.keep]).map(|&member| (member, merge.keep)));
    }
    let clusters: Vec<Uuid> =
        records.iter().map(|record| cluster_of.get(&record.id).copied().unwrap_or(record.id)).collect();
    let names: Vec<u64> = records.iter().map(|record| folded_key(record.name)).collect();
    let each =
        || records.iter().zip(&clusters).zip(&names).map(|((record, cluster), name)| (record.label, *cluster, *name));
    let with_letters = || each().filter(|(_, _, name)| *name != 0);
    let same_name = pairs(with_letters().map(|(_, _, name)| name));
    let same_name_label = pairs(with_letters().map(|(label, _, name)| (name, label)));
    let same_name_cluster = pairs(with_letters().map(|(_, cluster, name)| (name, cluster)));
    let same_name_cluster_label = pairs(with_letters().map(|(label, cluster, name)| (name, cluster, label)));
    let homograph_pairs = same_name - same_name_label;
    EvalReport {
        records: records.len() as u64,
        merges: plan.merges.len() as u64,
        true_pairs: pairs(each().map(|(label, _, _)| label)),
        merged_pairs: pairs(each().map(|(_, cluster, _)| cluster)),
        correct_pairs: pairs(each().map(|(label, cluster, _)| (label, cluster))),
        homograph_pairs,
        homograph_pairs_apart: homograph_pairs - (same_name_cluster - same_name_cluster_label),
    }
}

/// How many pairs of equal keys there are.
fn pairs<K: Ord>(keys: impl Iterator<Item = K>) -> u64 {
    let mut keys: Vec<K> = keys.collect();
    keys.sort_unstable();
    keys.chunk_by(|one, other| one == other).map(|group| (group.len() * (group.len() - 1) / 2) as u64).sum()
}

fn ratio(part: u64, whole: u64) -> Option<Score> {
    let scaled = part.checked_mul(10_000)?.checked_div(whole)?;
    i16::try_from(scaled).ok().map(Score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realm::graph::dedupe::MergeDraft;

    fn record(number: u128, name: &'static str, label: &'static str) -> LabelledRecord<'static> {
        LabelledRecord { id: Uuid::from_u128(number), name, label }
    }

    fn merging(keep: u128, absorb: &[u128]) -> DedupePlan {
        let merge = MergeDraft {
            keep: Uuid::from_u128(keep),
            absorb: absorb.iter().map(|number| Uuid::from_u128(*number)).collect(),
            entity_type: String::new(),
            pairs: Vec::new(),
            every_pair_reached_cosine_threshold: false,
        };
        DedupePlan { merges: vec![merge], ..DedupePlan::default() }
    }

    #[test]
    fn pairs_count_over_final_clusters() {
        let records = [record(1, "a", "x"), record(2, "b", "x"), record(3, "c", "x"), record(4, "d", "y")];
        let report = evaluate(&records, &merging(1, &[2, 4]));
        assert_eq!((report.true_pairs, report.merged_pairs, report.correct_pairs), (3, 3, 1));
        assert_eq!(
            (report.precision(), report.recall(), report.f1()),
            (Some(Score(3_333)), Some(Score(3_333)), Some(Score(3_333)))
        );
    }

    #[test]
    fn a_plan_that_merges_nothing_has_no_precision_and_reaches_nothing() {
        let report = evaluate(&[record(1, "a", "x"), record(2, "b", "x")], &DedupePlan::default());
        assert_eq!(report.precision(), None);
        assert!(!report.reaches(Score(0), Score(0)));
    }

    #[test]
    fn homographs_are_strangers_whose_names_fold_to_the_same_letters() {
        let records = [record(1, "Georgia", "state"), record(2, "GEORGIA", "country"), record(3, "georgia", "country")];
        assert_eq!(evaluate(&records, &merging(2, &[3])).homograph_split_rate(), Some(Score(10_000)));
        assert_eq!(evaluate(&records, &merging(1, &[2])).homograph_split_rate(), Some(Score(5_000)));
        assert_eq!(evaluate(&records[1..], &merging(2, &[3])).homograph_split_rate(), None);
    }
}
