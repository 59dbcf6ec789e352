//! From clusters and weighed pairs to the plan that is stored.
//!
//! **Invariant:** everything listed is sorted by ids; what a bound leaves out is counted.

use super::block::{Candidates, speaks};
use super::cluster::{Cluster, Clusters, may_change};
use super::input::{Claim, counted};
use super::plan::{
    BlockReport, Collision, CollisionKind, DedupeCounts, DedupePlan, Family, FamilyReport, KeptApart, KeptApartReason,
    MergeDraft, NameKey, NameRelation, Rule,
};
use super::settings::DedupeSettings;
use super::vectors::NearestGroups;
use super::weigh::{Scale, Weighed};
use super::world::World;

/// How the candidates were found.
pub(super) fn block_report(candidates: &Candidates, nearest: &NearestGroups, found_by_vectors: usize) -> BlockReport {
    let mut families = candidates.families.clone();
    families.push(FamilyReport {
        family: Family::NearestVectors,
        blocks: nearest.groups.len() as u64,
        pairs_compared: nearest.groups.iter().map(|group| (group.len() * (group.len() - 1) / 2) as u64).sum(),
        pairs_found: found_by_vectors as u64,
        blocks_split: 0,
        blocks_sampled: 0,
        sampled_sizes: Vec::new(),
    });
    BlockReport {
        families,
        types_beyond_nearest: nearest.types_beyond,
        entities_beyond_nearest: nearest.entities_beyond,
        pairs_truncated: candidates.truncated,
    }
}

/// Draws up the plan.
pub(super) fn plan(
    scale: &Scale<'_>,
    settings: &DedupeSettings,
    weighed: &[Weighed],
    clusters: &Clusters,
    blocks: BlockReport,
) -> DedupePlan {
    let mut plan = DedupePlan { blocks, counts: counts(scale, weighed), ..DedupePlan::default() };
    let owners = exact_owners(scale.world);
    let mut merged = Merged::none(scale.world);
    for cluster in &clusters.clusters {
        if let Some(collision) = collision(scale.world, &owners, cluster) {
            plan.collisions.push(collision);
        } else {
            plan.merges.push(draft(scale, cluster));
            merged.take(cluster);
        }
    }
    plan.merges.sort_unstable_by_key(|merge| merge.keep);
    plan.collisions.sort_unstable_by_key(|collision| (collision.keep, collision.with));
    plan.counts.entities_absorbed = plan.merges.iter().map(|merge| merge.absorb.len() as u64).sum();
    let refused = clusters.refused.iter().map(|pair| (KeptApartReason::ClusterDisagrees, pair));
    let apart = refused.chain(weighed.iter().filter_map(|pair| Some((reason(scale, pair)?, pair))));
    list_kept_apart(scale, settings, apart.filter(|(_, pair)| !merged.has(pair)).collect(), &mut plan);
    plan
}

/// Which cluster each entity merges into: a pair that others bring together is not kept apart.
struct Merged(Vec<Option<u32>>);

impl Merged {
    fn none(world: &World) -> Self {
        Self(vec![None; world.len()])
    }

    fn take(&mut self, cluster: &Cluster) {
        for &member in &cluster.members {
            self.0[member as usize] = cluster.members.first().copied();
        }
    }

    fn has(&self, pair: &Weighed) -> bool {
        let (left, right) = (self.0[pair.left as usize], self.0[pair.right as usize]);
        left.is_some() && left == right
    }
}

fn counts(scale: &Scale<'_>, weighed: &[Weighed]) -> DedupeCounts {
    let world = scale.world;
    DedupeCounts {
        entities: world.len() as u64,
        edges: world.neighbourhood.edges,
        edges_dangling: world.neighbourhood.dangling,
        pairs_weighed: weighed.len() as u64,
        vectors_absent: world.vector_kinds.iter().filter(|kind| **kind == 0).count() as u64,
        vectors_needed: scale.vectors.needed().len() as u64,
        vectors_missing: scale.vectors.missing_count(),
        vectors_without_direction: scale.vectors.without_direction_count(),
        names_folding_to_nothing: world.facts.iter().filter(|facts| facts.folded == 0).count() as u64,
        entities_absorbed: 0,
    }
}

/// The survivor: most mentioned, then oldest, then smallest id.
fn survivor(world: &World, members: &[u32]) -> u32 {
    let order = |&&rank: &&u32| {
        let at = rank as usize;
        (std::cmp::Reverse(world.mention_counts[at]), world.created_at_us[at], rank)
    };
    *members.iter().min_by_key(order).unwrap_or(&0)
}

fn absorbed(world: &World, members: &[u32], keep: u32) -> Vec<uuid::Uuid> {
    members.iter().filter(|&&rank| rank != keep).map(|&rank| world.ids[rank as usize]).collect()
}

fn draft(scale: &Scale<'_>, cluster: &Cluster) -> MergeDraft {
    let world = scale.world;
    let keep = survivor(world, &cluster.members);
    let threshold = scale.threshold(keep);
    MergeDraft {
        keep: world.ids[keep as usize],
        absorb: absorbed(world, &cluster.members, keep),
        entity_type: world.types[world.type_of[keep as usize] as usize].clone(),
        every_pair_reached_cosine_threshold: cluster
            .pairs
            .iter()
            .all(|pair| pair.cosine.score().is_some_and(|cosine| cosine >= threshold)),
        pairs: cluster.pairs.iter().map(|pair| scale.evidence(pair)).collect(),
    }
}

/// Hashes of exact name and type with their owners, sorted.
fn exact_owners(world: &World) -> Vec<(u64, u32)> {
    let mut owners: Vec<(u64, u32)> =
        world.exact.iter().enumerate().map(|(rank, hash)| (*hash, counted(rank))).collect();
    owners.sort_unstable();
    owners
}

/// What the cluster would collide with: a row outside of it that owns the survivor's name, or one that is already
/// absorbing others.
fn collision(world: &World, owners: &[(u64, u32)], cluster: &Cluster) -> Option<Collision> {
    let keep = survivor(world, &cluster.members);
    let hash = world.exact[keep as usize];
    let start = owners.partition_point(|(other, _)| *other < hash);
    let same_name = owners[start..].iter().take_while(|(other, _)| *other == hash).map(|(_, rank)| *rank);
    let outside = same_name.into_iter().find(|rank| cluster.members.binary_search(rank).is_err());
    let claimed = cluster.members.iter().copied().find(|&rank| world.claims[rank as usize] == Some(Claim::Canonical));
    let (kind, with) = match (outside, claimed) {
        (Some(owner), _) => (CollisionKind::SkipUniqueCollision, owner),
        (None, Some(canonical)) => (CollisionKind::SkipCollision, canonical),
        (None, None) => return None,
    };
    Some(Collision {
        kind,
        keep: world.ids[keep as usize],
        absorb: absorbed(world, &cluster.members, keep),
        with: world.ids[with as usize],
    })
}

/// Lists the pairs worth explaining, the strongest first, and counts the rest.
fn list_kept_apart(
    scale: &Scale<'_>,
    settings: &DedupeSettings,
    mut apart: Vec<(KeptApartReason, &Weighed)>,
    plan: &mut DedupePlan,
) {
    apart.sort_unstable_by_key(|(reason, pair)| (worth(scale, pair), *reason, pair.left, pair.right));
    let (listed, unlisted) = apart.split_at(apart.len().min(settings.kept_apart_listed_max));
    for (reason, _) in unlisted {
        *plan.kept_apart_unlisted.entry(*reason).or_insert(0) += 1;
    }
    let explained =
        |(reason, pair): &(KeptApartReason, &Weighed)| KeptApart { reason: *reason, evidence: scale.evidence(pair) };
    plan.kept_apart = listed.iter().map(explained).collect();
    plan.kept_apart.sort_unstable_by_key(|kept| (kept.evidence.left, kept.evidence.right, kept.reason));
}

/// Why a pair stays two, unless it merges or is not worth a word.
fn reason(scale: &Scale<'_>, pair: &Weighed) -> Option<KeptApartReason> {
    let world = scale.world;
    let free = |rank: u32| world.claims[rank as usize] != Some(Claim::Absorbed);
    match pair.rule {
        Rule::Veto => Some(KeptApartReason::Vetoed),
        Rule::VectorsAlone => Some(KeptApartReason::NamesSilent),
        Rule::NoSupport => (speaks(&pair.names) || reached(scale, pair)).then_some(KeptApartReason::Unsupported),
        _ if may_change(world, pair.left) && may_change(world, pair.right) => None,
        _ if free(pair.left) && free(pair.right) => Some(KeptApartReason::OutOfScope),
        _ => Some(KeptApartReason::Claimed),
    }
}

/// Pairs that a person would ask about come first: the same letters, then a cosine at the threshold, then the rest by
/// how close the names are.
fn worth(scale: &Scale<'_>, pair: &Weighed) -> (bool, bool, NameRelation) {
    (!pair.names.keys.has(NameKey::Folded), !reached(scale, pair), pair.names.relation)
}

/// Whether the cosine of a pair reaches the threshold of its type.
fn reached(scale: &Scale<'_>, pair: &Weighed) -> bool {
    pair.cosine.score().is_some_and(|cosine| cosine >= scale.threshold(pair.left))
}
