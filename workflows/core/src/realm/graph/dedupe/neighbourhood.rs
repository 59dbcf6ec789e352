//! Who is linked to whom, co-occurrence left out: what the graph says about two names.
//!
//! A neighbour counts by its core name and type, not by its id, because the edges of one thing are spread over its
//! spellings too.
//!
//! **Invariant:** rows are sorted and free of repetition, so that two neighbourhoods are compared by one merge.

use rayon::prelude::*;
use uuid::Uuid;

use super::input::{FedEdge, counted};
use super::name::NameFacts;
use super::plan::NeighbourEvidence;
use super::settings::NEIGHBOUR_DEGREE_MAX;
use super::world::{IdIndex, typed};
use crate::algo::ragged::Ragged;

/// The neighbours of every entity.
#[derive(Debug)]
pub(super) struct Neighbourhood {
    /// Ranks of the neighbours.
    linked: Ragged<u32>,
    /// Classes of the neighbours.
    classes: Ragged<u32>,
    /// The class of an entity: the smallest rank with its core name and type.
    class_of: Vec<u32>,
    /// How many entities a class is linked to, by class.
    degrees: Vec<u32>,
    pub(super) edges: u64,
    pub(super) dangling: u64,
}

impl Neighbourhood {
    /// Resolves the edges and groups the neighbours.
    pub(super) fn build(
        edges: &[FedEdge],
        index: &IdIndex,
        ids: &[Uuid],
        facts: &[NameFacts],
        type_of: &[u32],
    ) -> Self {
        let class_of = classes(facts, type_of);
        let ends: Vec<Option<(u32, u32)>> = edges
            .par_iter()
            .map(|edge| Some((index.rank(ids, &edge.source)?, index.rank(ids, &edge.target)?)))
            .collect();
        let dangling = ends.iter().filter(|ends| ends.is_none()).count();
        let mut pairs = Vec::with_capacity(edges.len() * 2);
        for (edge, ends) in edges.iter().zip(&ends) {
            let telling = ends.filter(|(source, target)| edge.relates && source != target);
            pairs.extend(telling.into_iter().flat_map(|(source, target)| [(source, target), (target, source)]));
        }
        pairs.par_sort_unstable();
        pairs.dedup();
        let mut degrees = vec![0; ids.len()];
        for (_, neighbour) in &pairs {
            degrees[class_of[*neighbour as usize] as usize] += 1;
        }
        let by_class = pairs.iter().map(|&(rank, neighbour)| (rank, class_of[neighbour as usize])).collect();
        Self {
            classes: Ragged::from_pairs(ids.len(), by_class),
            linked: Ragged::from_pairs(ids.len(), pairs),
            class_of,
            degrees,
            edges: (edges.len() - dangling) as u64,
            dangling: dangling as u64,
        }
    }

    /// What two neighbourhoods share; the two themselves do not count.
    pub(super) fn compare(&self, left: u32, right: u32) -> NeighbourEvidence {
        let (left_row, right_row) = (self.classes.row(left as usize), self.classes.row(right as usize));
        let own = [self.class_of[left as usize], self.class_of[right as usize]];
        let linked = self.linked.row(left as usize).binary_search(&right).is_ok();
        let mut evidence = NeighbourEvidence {
            linked,
            left: counted(left_row.len()),
            right: counted(right_row.len()),
            ..NeighbourEvidence::default()
        };
        let mut at = 0;
        for class in left_row {
            at += right_row[at..].partition_point(|other| other < class);
            if right_row.get(at) == Some(class) && !own.contains(class) {
                evidence.shared += 1;
                evidence.telling += u32::from(self.degrees[*class as usize] as usize <= NEIGHBOUR_DEGREE_MAX);
            }
        }
        evidence
    }
}

/// Entities of one core name and type are one class; a name without a core is a class of its own.
fn classes(facts: &[NameFacts], type_of: &[u32]) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> = facts
        .iter()
        .zip(type_of)
        .enumerate()
        .filter(|(_, (facts, _))| facts.core != 0)
        .map(|(rank, (facts, entity_type))| (typed(*entity_type, facts.core), counted(rank)))
        .collect();
    keyed.par_sort_unstable();
    let mut class_of: Vec<u32> = (0..counted(facts.len())).collect();
    for group in keyed.chunk_by(|a, b| a.0 == b.0) {
        for (_, rank) in group {
            class_of[*rank as usize] = group[0].1;
        }
    }
    class_of
}
