//! The orphan report: entities that little points at, that were mentioned once at most, and that nobody recalled lately.
//!
//! It marks candidates for an archive. Nothing is ever archived by it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::algo::pagerank::pagerank;
use crate::algo::quantile::percentile_cut;
use crate::clock::Moment;

/// The relationship type, in capitals, of edges that only say that two names stood in one text.
const CO_OCCURRENCE: &str = "ASSOCIATED_WITH";

/// Candidates that one report lists. More are counted; nobody reads them.
pub const CANDIDATES_MAX: usize = 10_000;

const SECONDS_PER_DAY: i64 = 86_400;

/// Knobs of the report.
#[derive(Clone, Copy, Debug)]
pub struct OrphanSettings {
    /// Percentile of the rank at or below which an entity may be a candidate.
    pub percentile: f64,
    /// Weight of a co-occurrence edge.
    pub cooccurrence_weight: f64,
    /// Days within which a recall keeps an entity.
    pub recall_days: u32,
}

/// Collects entities and edges.
#[derive(Debug, Default)]
pub struct OrphanPlanner {
    entities: Vec<(Uuid, i64)>,
    edges: Vec<(Uuid, Uuid, bool)>,
}

/// An entity that is a candidate by rank and mentions; whether it was recalled is still to be asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The entity.
    pub entity: Uuid,
    /// Its rank.
    pub score: f64,
    /// Its mentions.
    pub mention_count: i64,
}

/// What is known of recalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recall {
    /// The store does not say.
    Unknown,
    /// Never, as far as the store says.
    Never,
    /// Before the window.
    LongAgo,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orphan {
    /// The entity.
    pub entity_id: Uuid,
    /// Its rank.
    pub pr_score: f64,
    /// Its mentions.
    pub mention_count: i64,
    /// What is known of recalls.
    pub recalled: Recall,
    /// Always true: the report marks, it does not archive.
    pub archive_candidate: bool,
}

impl OrphanPlanner {
    /// Takes a live entity.
    pub fn feed_entity(&mut self, entity: Uuid, mention_count: i64) {
        self.entities.push((entity, mention_count));
    }

    /// Takes a live edge.
    pub fn feed_edge(&mut self, source: Uuid, target: Uuid, relationship_type: &str) {
        self.edges.push((source, target, relationship_type.eq_ignore_ascii_case(CO_OCCURRENCE)));
    }

    /// Ranks everything; answers the candidates by id, and how many more there are than may be listed.
    pub fn candidates(mut self, settings: OrphanSettings) -> (Vec<Candidate>, usize) {
        self.entities.sort_unstable();
        self.edges.sort_unstable();
        let rank = |id: &Uuid| {
            self.entities.binary_search_by(|(known, _)| known.cmp(id)).ok().and_then(|at| u32::try_from(at).ok())
        };
        let mut edges = Vec::with_capacity(self.edges.len() * 2);
        for (source, target, co_occurrence) in &self.edges {
            if let (Some(source), Some(target)) = (rank(source), rank(target))
                && source != target
            {
                let weight = if *co_occurrence { settings.cooccurrence_weight } else { 1.0 };
                edges.push((source, target, weight));
                edges.push((target, source, weight));
            }
        }
        let scores = pagerank(self.entities.len(), &edges);
        let Some(cut) = percentile_cut(&scores, settings.percentile) else { return (Vec::new(), 0) };
        let mut candidates: Vec<Candidate> = self
            .entities
            .iter()
            .zip(&scores)
            .filter(|((_, mention_count), score)| **score <= cut && *mention_count <= 1)
            .map(|((entity, mention_count), score)| Candidate {
                entity: *entity,
                score: *score,
                mention_count: *mention_count,
            })
            .collect();
        let beyond = candidates.len().saturating_sub(CANDIDATES_MAX);
        candidates.truncate(CANDIDATES_MAX);
        (candidates, beyond)
    }
}

/// The candidates that nobody recalled within the window. `recalls` says for each entity when it was last recalled; it is
/// none where the store does not know recalls at all.
pub fn orphans(
    candidates: &[Candidate],
    recalls: Option<&[(Uuid, Option<Moment>)]>,
    as_of: Moment,
    recall_days: u32,
) -> Vec<Orphan> {
    let window_start = as_of.plus_seconds(-i64::from(recall_days) * SECONDS_PER_DAY);
    candidates
        .iter()
        .filter_map(|candidate| {
            let recalled = match recalls {
                None => Recall::Unknown,
                Some(recalls) => {
                    let last =
                        recalls.iter().find(|(entity, _)| *entity == candidate.entity).and_then(|(_, last)| *last);
                    match last {
                        None => Recall::Never,
                        Some(last) if last >= window_start => return None,
                        Some(_) => Recall::LongAgo,
                    }
                }
            };
            Some(Orphan {
                entity_id: candidate.entity,
                pr_score: candidate.score,
                mention_count: candidate.mention_count,
                recalled,
                archive_candidate: true,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    fn candidates(percentile: f64, cooccurrence_weight: f64) -> Vec<u128> {
        let mut planner = OrphanPlanner::default();
        for (entity, mentions) in [(1, 1), (2, 1), (3, 1), (4, 5), (5, 1)] {
            planner.feed_entity(id(entity), mentions);
        }
        planner.feed_edge(id(1), id(2), "KNOWS");
        planner.feed_edge(id(2), id(3), "associated_with");
        let settings = OrphanSettings { percentile, cooccurrence_weight, recall_days: 30 };
        planner.candidates(settings).0.into_iter().map(|candidate| candidate.entity.as_u128()).collect()
    }

    #[test]
    fn who_stands_alone_and_was_mentioned_once_is_a_candidate() {
        assert_eq!(candidates(5.0, 0.2), [5]);
    }

    #[test]
    fn percentile_and_edge_weight_each_change_the_answer() {
        assert_eq!(candidates(50.0, 0.2), [3, 5]);
        assert_eq!(candidates(50.0, 1.0), [1, 3, 5]);
    }

    #[test]
    fn a_recent_recall_keeps_an_entity_and_ignorance_is_said() {
        let candidate = Candidate { entity: id(1), score: 0.1, mention_count: 1 };
        let now = Moment::from_micros(1_800_000_000_000_000);
        let recalled = |days: i64| Some(now.plus_seconds(-days * SECONDS_PER_DAY));
        let verdict = |recalls: Option<&[(Uuid, Option<Moment>)]>| {
            orphans(&[candidate], recalls, now, 30).first().map(|orphan| orphan.recalled)
        };
        assert_eq!(verdict(None), Some(Recall::Unknown));
        assert_eq!(verdict(Some(&[])), Some(Recall::Never));
        assert_eq!(verdict(Some(&[(id(1), recalled(31))])), Some(Recall::LongAgo));
        assert_eq!(verdict(Some(&[(id(1), recalled(29))])), None);
    }
}
