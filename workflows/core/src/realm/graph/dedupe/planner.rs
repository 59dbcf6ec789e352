//! The planner: fed with rows, then with vectors, then asked for the plan.
//!
//! **Invariant:** the same rows, edges, verdicts and vectors give the same plan, in whatever order and pages they are
//! fed and on however many threads.

use uuid::Uuid;

use super::DedupeError;
use super::block::{Candidates, Pair, name_candidates};
use super::cluster::clusters;
use super::compare::compare;
use super::input::{Claim, Columns, EntityInput, FedEdge};
use super::outcome;
use super::plan::DedupePlan;
use super::settings::DedupeSettings;
use super::vectors::{NearestGroups, Vectors, nearest_groups};
use super::veto::name_vetoes;
use super::weigh::{Expansions, Scale, Weighed};
use super::world::World;
use rayon::prelude::*;

/// Collects rows, edges and verdicts.
#[derive(Debug, Default)]
pub struct DedupePlanner {
    settings: DedupeSettings,
    columns: Columns,
    edges: Vec<FedEdge>,
    verdicts: Vec<([u8; 16], [u8; 16])>,
    claims: Vec<(Uuid, Claim)>,
}

impl DedupePlanner {
    /// An empty planner.
    pub fn new(settings: DedupeSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Takes a live entity.
    pub fn feed_entity(&mut self, entity: &EntityInput<'_>) {
        self.columns.push(entity);
    }

    /// Takes a live edge. Edges of type `ASSOCIATED_WITH`, in any case, are co-occurrence: they are no evidence.
    pub fn feed_edge(&mut self, source: Uuid, target: Uuid, relationship_type: &str) {
        self.edges.push(FedEdge::new(source, target, relationship_type));
    }

    /// Takes a `keep_apart` verdict on two names, by the keys that their rows are fed with.
    pub fn feed_keep_apart(&mut self, one: [u8; 16], other: [u8; 16]) {
        self.verdicts.push((one.min(other), one.max(other)));
    }

    /// Takes a row that `dream_reabsorb` plans with in this run.
    pub fn feed_claimed(&mut self, id: Uuid, claim: Claim) {
        self.claims.push((id, claim));
    }

    /// Sorts what was fed and finds the candidates.
    pub fn propose(self) -> Result<DedupeScorer, DedupeError> {
        let Self { settings, columns, edges, mut verdicts, claims } = self;
        verdicts.sort_unstable();
        verdicts.dedup();
        let world = World::build(&columns, &edges, &claims)?;
        drop((columns, edges));
        let candidates = name_candidates(&world);
        let expansions = Expansions::build(&world);
        let nearest = nearest_groups(&world);
        let vectors = Vectors::for_ranks(ranks_in_need(&world, &candidates, &nearest));
        let need = vectors.needed().iter().map(|&rank| world.ids[rank as usize]).collect();
        Ok(DedupeScorer { settings, world, verdicts, candidates, expansions, nearest, vectors, need })
    }
}

/// Entities that have a vector and are in a pair that no name forbids, or in a group compared by vectors.
fn ranks_in_need(world: &World, candidates: &Candidates, nearest: &NearestGroups) -> Vec<u32> {
    let comparable = |&&(left, right): &&Pair| {
        let (one, other) = (left as usize, right as usize);
        world.vector_kinds[one] == world.vector_kinds[other]
            && world.same_type(left, right)
            && name_vetoes(&world.facts[one], &world.facts[other], &compare(world, left, right)).is_empty()
    };
    let mut needed: Vec<u32> =
        candidates.pairs.iter().filter(comparable).flat_map(|&(left, right)| [left, right]).collect();
    needed.extend(nearest.groups.iter().flatten());
    needed.retain(|&rank| world.vector_kinds[rank as usize] != 0);
    needed.par_sort_unstable();
    needed.dedup();
    needed
}

/// Holds the candidates and waits for vectors.
#[derive(Debug)]
pub struct DedupeScorer {
    settings: DedupeSettings,
    world: World,
    verdicts: Vec<([u8; 16], [u8; 16])>,
    candidates: Candidates,
    expansions: Expansions,
    nearest: NearestGroups,
    vectors: Vectors,
    need: Vec<Uuid>,
}

impl DedupeScorer {
    /// The entities whose vectors are wanted, sorted.
    pub fn need_vectors(&self) -> &[Uuid] {
        &self.need
    }

    /// Takes a vector; one that was not asked for or has the wrong length is ignored and shows as missing.
    pub fn feed_vector(&mut self, id: Uuid, vector: &[f32]) {
        if let Some(rank) = self.world.rank(&id) {
            let kind = self.world.vector_kinds[rank as usize];
            self.vectors.feed(rank, self.world.dimensions[kind as usize], vector);
        }
    }

    /// Weighs all candidates and draws up the plan.
    pub fn finish(mut self) -> DedupePlan {
        let mut pairs = std::mem::take(&mut self.candidates.pairs);
        let scale = Scale::new(&self.world, &self.settings, &self.vectors, &self.expansions, &self.verdicts);
        let found_by_names = pairs.len();
        for group in &self.nearest.groups {
            pairs.extend(self.vectors.nearest(group, scale.threshold(group[0])));
        }
        pairs.par_sort_unstable();
        pairs.dedup();
        let found_by_vectors = pairs.len() - found_by_names;
        let weighed: Vec<Weighed> = pairs.par_iter().map(|pair| scale.weigh(*pair)).collect();
        let clusters = clusters(&scale, &weighed);
        let blocks = outcome::block_report(&self.candidates, &self.nearest, found_by_vectors);
        outcome::plan(&scale, &self.settings, &weighed, &clusters, blocks)
    }
}
