//! From pairs to clusters, without transitive swallowing.
//!
//! Pairs that merge form components. A component is a cluster when all its members agree with each other; where two
//! members disagree, the pairs that led from one to the other are refused and reported.
//!
//! **Invariant:** no cluster holds two members that disagree; the clusters depend on the pairs, not on their order.

use rayon::prelude::*;

use super::input::Claim;
use super::plan::{NameRelation, Score};
use super::settings::CLUSTER_MEMBERS_MAX;
use super::weigh::{Scale, Weighed};
use super::world::World;
use crate::algo::union_find::UnionFind;

/// Cosine below which two members of one cluster whose names both have words of their own clearly do not match.
const MEMBERS_COSINE_MIN: Score = Score(8_000);

/// A set of entities that are one thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Cluster {
    /// Sorted ranks.
    pub(super) members: Vec<u32>,
    /// The pairs that joined them, sorted.
    pub(super) pairs: Vec<Weighed>,
}

/// All clusters, and the pairs that were refused because of the clusters they would have joined.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    pub(super) clusters: Vec<Cluster>,
    pub(super) refused: Vec<Weighed>,
}

/// Whether a run may merge an entity: in scope, and not already spoken for.
pub(super) fn may_change(world: &World, rank: u32) -> bool {
    world.in_scope[rank as usize] && world.claims[rank as usize] != Some(Claim::Absorbed)
}

/// Groups the merging pairs among `weighed`, which is sorted by ranks.
pub(super) fn clusters(scale: &Scale<'_>, weighed: &[Weighed]) -> Clusters {
    let changeable = |pair: &&Weighed| may_change(scale.world, pair.left) && may_change(scale.world, pair.right);
    let merging: Vec<Weighed> = weighed
        .iter()
        .filter(|pair| pair.rule.merges())
        .filter(changeable)
        .copied()
        .collect();
    let components = components(merging, scale.world);
    let resolved: Vec<Clusters> = components
        .into_par_iter()
        .map(|component| resolve(scale, component))
        .collect();
    let mut all = Clusters::default();
    for mut part in resolved {
        all.clusters.append(&mut part.clusters);
        all.refused.append(&mut part.refused);
    }
    all.refused.sort_unstable_by_key(|pair| (pair.left, pair.right));
    all
}

/// Connected components of pairs, by their smallest member.
fn components(pairs: Vec<Weighed>, world: &World) -> Vec<Cluster> {
    let mut sets = UnionFind::new(super::input::counted(world.len()));
    for pair in &pairs {
        sets.join(pair.left, pair.right);
    }
    let mut rooted: Vec<(u32, Weighed)> = pairs.into_iter().map(|pair| (sets.root(pair.left), pair)).collect();
    rooted.sort_unstable_by_key(|(root, pair)| (*root, pair.left, pair.right));
    rooted
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| Cluster::of(group.iter().map(|(_, pair)| *pair).collect()))
        .collect()
}

impl Cluster {
    fn of(pairs: Vec<Weighed>) -> Self {
        let mut members: Vec<u32> = pairs.iter().flat_map(|pair| [pair.left, pair.right]).collect();
        members.sort_unstable();
        members.dedup();
        Self { members, pairs }
    }

    fn position(&self, rank: u32) -> usize {
        self.members.partition_point(|member| *member < rank)
    }
}

/// Which members of a component disagree.
struct Disagreements {
    count: usize,
    flags: Vec<bool>,
}

impl Disagreements {
    fn of(scale: &Scale<'_>, component: &Cluster) -> Self {
        let count = component.members.len();
        let mut table = Self {
            count,
            flags: vec![false; count * count],
        };
        for (at, &left) in component.members.iter().enumerate() {
            for (other, &right) in component.members.iter().enumerate().skip(at + 1) {
                let joined = component
                    .pairs
                    .binary_search_by_key(&(left, right), |pair| (pair.left, pair.right))
                    .is_ok();
                let apart = !joined && disagree(&scale.weigh((left, right)), scale.world);
                table.flags[at * count + other] = apart;
                table.flags[other * count + at] = apart;
            }
        }
        table
    }

    fn any(&self) -> bool {
        self.flags.contains(&true)
    }

    fn between(&self, left: usize, right: usize) -> bool {
        self.flags[left * self.count + right]
    }

    fn any_between(&self, left: &[usize], right: &[usize]) -> bool {
        left.iter()
            .any(|&one| right.iter().any(|&other| self.between(one, other)))
    }
}

/// The criterion: two members disagree when a veto stands between them, or when each name has words of its own, none
/// of them is an acronym, and the vectors do not bring them together.
fn disagree(pair: &Weighed, world: &World) -> bool {
    if !pair.vetoes.is_empty() {
        return true;
    }
    if pair.rule.merges() {
        return false;
    }
    let acronym = |rank: u32| world.facts[rank as usize].acronym != 0;
    if pair.names.relation < NameRelation::Overlapping || acronym(pair.left) || acronym(pair.right) {
        return false;
    }
    pair.cosine.score().is_none_or(|cosine| cosine < MEMBERS_COSINE_MIN)
}

/// Cuts a component until no cluster holds a disagreement.
fn resolve(scale: &Scale<'_>, component: Cluster) -> Clusters {
    if component.members.len() == 2 {
        return Clusters {
            clusters: vec![component],
            refused: Vec::new(),
        };
    }
    if component.members.len() > CLUSTER_MEMBERS_MAX {
        return Clusters {
            clusters: Vec::new(),
            refused: component.pairs,
        };
    }
    let table = Disagreements::of(scale, &component);
    if !table.any() {
        return Clusters {
            clusters: vec![component],
            refused: Vec::new(),
        };
    }
    let (kept, refused): (Vec<Weighed>, Vec<Weighed>) = {
        let bridges = bridges(&component, &table);
        let bridged = |pair: &Weighed| {
            pair.names.relation != NameRelation::Same
                && (bridges[component.position(pair.left)] || bridges[component.position(pair.right)])
        };
        component.pairs.iter().partition(|pair| !bridged(pair))
    };
    grow(&component, &table, kept, refused)
}

/// Members that are joined to two members that disagree: it cannot be told whose name they are.
fn bridges(component: &Cluster, table: &Disagreements) -> Vec<bool> {
    let mut joined: Vec<Vec<usize>> = vec![Vec::new(); component.members.len()];
    for pair in &component.pairs {
        let (left, right) = (component.position(pair.left), component.position(pair.right));
        joined[left].push(right);
        joined[right].push(left);
    }
    joined.iter().map(|others| table.any_between(others, others)).collect()
}

/// Joins the strongest pairs first, as long as nobody in the two groups disagrees.
fn grow(component: &Cluster, table: &Disagreements, mut pairs: Vec<Weighed>, mut refused: Vec<Weighed>) -> Clusters {
    pairs.sort_unstable_by_key(|pair| {
        (
            pair.rule,
            pair.names.relation,
            std::cmp::Reverse(pair.cosine.score()),
            pair.left,
            pair.right,
        )
    });
    let mut group_of: Vec<usize> = (0..component.members.len()).collect();
    let mut groups: Vec<Vec<usize>> = group_of.iter().map(|&member| vec![member]).collect();
    let mut kept = Vec::new();
    for pair in pairs {
        let (left, right) = (
            group_of[component.position(pair.left)],
            group_of[component.position(pair.right)],
        );
        if left != right && table.any_between(&groups[left], &groups[right]) {
            refused.push(pair);
            continue;
        }
        kept.push(pair);
        if left != right {
            let (into, from) = (left.min(right), left.max(right));
            let moved = std::mem::take(&mut groups[from]);
            moved.iter().for_each(|&member| group_of[member] = into);
            groups[into].extend(moved);
        }
    }
    kept.sort_unstable_by_key(|pair| (group_of[component.position(pair.left)], pair.left, pair.right));
    let clusters = kept
        .chunk_by(|a, b| group_of[component.position(a.left)] == group_of[component.position(b.left)])
        .map(|group| Cluster::of(group.to_vec()))
        .collect();
    Clusters { clusters, refused }
}
