//! The vectors that were asked for, and the exact nearest neighbours within small types.
//!
//! **Invariant:** only vectors of one model and dimension are compared; a vector without direction is never compared.

use rayon::prelude::*;

use super::block::Pair;
use super::input::counted;
use super::plan::{CosineEvidence, NotScored, Score};
use super::settings::{NEAREST_COSINES_MAX, NEAREST_FLOATS_MAX, NEAREST_KEPT_MAX, NEAREST_TYPE_SIZE_MAX};
use super::world::World;
use crate::algo::cosine::{cosine, inverse_norm};

/// The vectors of the ranks that need one.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    /// Ranks that need a vector, sorted.
    needed: Vec<u32>,
    /// Where the vector of each of them begins, and its inverse norm.
    slots: Vec<Slot>,
    numbers: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    NotNeeded,
    Empty,
    NoDirection,
    At { start: usize, length: usize, inverse_norm: f32 },
}

impl Vectors {
    /// Room for the vectors of `needed`, which is sorted and holds only entities that have one.
    pub(super) fn for_ranks(needed: Vec<u32>) -> Self {
        Self { slots: vec![Slot::Empty; needed.len()], needed, numbers: Vec::new() }
    }

    pub(super) fn needed(&self) -> &[u32] {
        &self.needed
    }

    /// Takes a vector, if it is needed, has the length it should have, and was not fed before.
    pub(super) fn feed(&mut self, rank: u32, dimension: u32, vector: &[f32]) {
        let Ok(at) = self.needed.binary_search(&rank) else {
            return;
        };
        if !matches!(self.slots[at], Slot::Empty) || vector.len() != dimension as usize {
            return;
        }
        self.slots[at] = match inverse_norm(vector) {
            None => Slot::NoDirection,
            Some(inverse_norm) => {
                let start = self.numbers.len();
                self.numbers.extend_from_slice(vector);
                Slot::At { start, length: vector.len(), inverse_norm }
            }
        };
    }

    pub(super) fn missing_count(&self) -> u64 {
        self.slots.iter().filter(|slot| matches!(slot, Slot::Empty)).count() as u64
    }

    pub(super) fn without_direction_count(&self) -> u64 {
        self.slots.iter().filter(|slot| matches!(slot, Slot::NoDirection)).count() as u64
    }

    fn slot(&self, rank: u32) -> Slot {
        self.needed.binary_search(&rank).map_or(Slot::NotNeeded, |at| self.slots[at])
    }

    /// The cosine of two entities, or why there is none.
    pub(super) fn compare(&self, world: &World, left: u32, right: u32) -> CosineEvidence {
        let kinds = (world.vector_kinds[left as usize], world.vector_kinds[right as usize]);
        if kinds.0 == 0 || kinds.1 == 0 {
            return CosineEvidence::NotScored(NotScored::Absent);
        }
        if kinds.0 != kinds.1 {
            return CosineEvidence::NotScored(NotScored::DifferentModel);
        }
        match (self.slot(left), self.slot(right)) {
            (Slot::NotNeeded, _) | (_, Slot::NotNeeded) => CosineEvidence::NotScored(NotScored::NotNeeded),
            (Slot::Empty, _) | (_, Slot::Empty) => CosineEvidence::NotScored(NotScored::Absent),
            (Slot::NoDirection, _) | (_, Slot::NoDirection) => CosineEvidence::NotScored(NotScored::NoDirection),
            (one, other) => {
                self.score(one, other).map_or(CosineEvidence::NotScored(NotScored::NoDirection), CosineEvidence::Scored)
            }
        }
    }

    fn score(&self, left: Slot, right: Slot) -> Option<Score> {
        let ((left, left_norm), (right, right_norm)) = (self.numbers_of(left)?, self.numbers_of(right)?);
        Some(cosine(left, left_norm, right, right_norm))
    }

    fn numbers_of(&self, slot: Slot) -> Option<(&[f32], f32)> {
        match slot {
            Slot::At { start, length, inverse_norm } => Some((&self.numbers[start..start + length], inverse_norm)),
            Slot::NotNeeded | Slot::Empty | Slot::NoDirection => None,
        }
    }

    /// The pairs of one group whose cosine reaches the threshold, for each member its nearest ones.
    pub(super) fn nearest(&self, group: &[u32], threshold: Score) -> Vec<Pair> {
        let slots: Vec<Slot> = group.iter().map(|&rank| self.slot(rank)).collect();
        let rows: Vec<usize> = (0..group.len()).collect();
        let scored: Vec<Vec<(Score, usize, usize)>> = rows
            .par_iter()
            .map(|&row| {
                let others = (row + 1..group.len())
                    .filter_map(|other| Some((self.score(slots[row], slots[other])?, row, other)));
                others.filter(|(score, _, _)| *score >= threshold).collect()
            })
            .collect();
        let mut all: Vec<(Score, usize, usize)> = scored.concat();
        all.sort_unstable_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut kept = vec![0_usize; group.len()];
        let mut pairs = Vec::new();
        for (_, left, right) in all {
            if kept[left].min(kept[right]) < NEAREST_KEPT_MAX {
                kept[left] += 1;
                kept[right] += 1;
                pairs.push((group[left], group[right]));
            }
        }
        pairs
    }
}

/// Which groups of one type and model are compared each with each.
#[derive(Debug, Default)]
pub(super) struct NearestGroups {
    /// Their members, sorted.
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) types_beyond: u32,
    pub(super) entities_beyond: u64,
}

/// Groups entities with a vector by type and model; the smallest groups first, as long as the bounds allow.
pub(super) fn nearest_groups(world: &World) -> NearestGroups {
    let mut keyed: Vec<(u32, u32, u32)> = (0..counted(world.len()))
        .map(|rank| (world.type_of[rank as usize], world.vector_kinds[rank as usize], rank))
        .filter(|(_, kind, _)| *kind != 0)
        .collect();
    keyed.par_sort_unstable();
    let mut groups: Vec<&[(u32, u32, u32)]> =
        keyed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|group| group.len() > 1).collect();
    groups.sort_by_key(|group| (group.len(), group[0]));
    let mut nearest = NearestGroups::default();
    let (mut cosines, mut floats) = (0, 0);
    for group in groups {
        let more_cosines = group.len() * (group.len() - 1) / 2;
        let more_floats = group.len() * world.dimensions[group[0].1 as usize] as usize;
        let fits = group.len() <= NEAREST_TYPE_SIZE_MAX
            && cosines + more_cosines <= NEAREST_COSINES_MAX
            && floats + more_floats <= NEAREST_FLOATS_MAX;
        if fits {
            cosines += more_cosines;
            floats += more_floats;
            nearest.groups.push(group.iter().map(|(_, _, rank)| *rank).collect());
        } else {
            nearest.types_beyond += 1;
            nearest.entities_beyond += group.len() as u64;
        }
    }
    nearest
}
