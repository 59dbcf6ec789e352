//! From pairs to clusters, without transitive swallowing.
//!
//! Pairs that merge form components. A component is a cluster when all its members agree with each other; where two
//! members disagree, the pairs that led from one to the other are refused and reported.
//!
//! **Invariant:** no cluster holds two members that disagree; the clusters depend on the pairs, not on their order.

use rayon::prelude::*;

use super::input::Claim;
use super::plan::NameRelation;
use super::settings::CLUSTER_MEMBERS_MAX;
use super::weigh::{Scale, Weighed};
use super::world::World;
use crate::algo::union_find::UnionFind;

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

impl Clusters {
    fn append(&mut self, mut more: Self) {
        self.clusters.append(&mut more.clusters);
        self.refused.append(&mut more.refused);
    }
}

/// Whether a run may merge an entity: in scope, and not already spoken for.
pub(super) fn may_change(world: &World, rank: u32) -> bool {
    world.in_scope[rank as usize] && world.claims[rank as usize] != Some(Claim::Absorbed)
}

/// Groups the merging pairs among `weighed`, which is sorted by ranks.
pub(super) fn clusters(scale: &Scale<'_>, weighed: &[Weighed]) -> Clusters {
    let changeable = |pair: &&Weighed| may_change(scale.world, pair.left) && may_change(scale.world, pair.right);
    let merging: Vec<Weighed> = weighed.iter().filter(|pair| pair.rule.merges()).filter(changeable).copied().collect();
    let components = components(merging, scale.world);
    let resolved: Vec<Clusters> =
        components.into_par_iter().map(|component| resolve(scale, component, Cut::Whole)).collect();
    let mut all = Clusters::default();
    for part in resolved {
        all.append(part);
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
    rooted.chunk_by(|a, b| a.0 == b.0).map(|group| Cluster::of(group.iter().map(|(_, pair)| *pair).collect())).collect()
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
        let mut table = Self { count, flags: vec![false; count * count] };
        for (at, &left) in component.members.iter().enumerate() {
            for (other, &right) in component.members.iter().enumerate().skip(at + 1) {
                let joined =
                    component.pairs.binary_search_by_key(&(left, right), |pair| (pair.left, pair.right)).is_ok();
                let apart = !joined && disagree(&scale.weigh((left, right)), scale);
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
}

/// The criterion: two members disagree when a veto stands between them, or when each name has words of its own, none
/// of them is an acronym, and their cosine does not reach the threshold.
fn disagree(pair: &Weighed, scale: &Scale<'_>) -> bool {
    if !pair.vetoes.is_empty() {
        return true;
    }
    if pair.rule.merges() {
        return false;
    }
    let acronym = |rank: u32| scale.world.facts[rank as usize].acronym != 0;
    let words = &pair.names.words;
    let own_words = (words.left_only > 0 && words.right_only > 0) || pair.names.relation == NameRelation::Narrowed;
    if !own_words || acronym(pair.left) || acronym(pair.right) {
        return false;
    }
    pair.cosine.score().is_none_or(|cosine| cosine < scale.threshold(pair.left))
}

/// What is done to a component in which two members disagree, one step after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Nothing yet.
    Whole,
    /// Pairs that lead to two sides at once are gone.
    Torn,
    /// Only pairs of the same letters are left.
    SameLetters,
}

/// Turns a component into clusters.
///
/// 1. All members agree: it is a cluster.
/// 2. Otherwise a pair is refused when one of the two is also joined with a third that the other disagrees with: whose
///    name that is cannot be told. What hangs together after that and agrees is a cluster.
/// 3. A part that still disagrees ("A~B~C~D" with A against D) is not merged, except for members of the same letters
///    that agree.
fn resolve(scale: &Scale<'_>, component: Cluster, cut: Cut) -> Clusters {
    if component.members.len() == 2 {
        return Clusters { clusters: vec![component], refused: Vec::new() };
    }
    if component.members.len() > CLUSTER_MEMBERS_MAX {
        return Clusters { clusters: Vec::new(), refused: component.pairs };
    }
    let table = Disagreements::of(scale, &component);
    if !table.any() {
        return Clusters { clusters: vec![component], refused: Vec::new() };
    }
    let same_letters = |pair: &Weighed| pair.names.relation == NameRelation::Same;
    let (kept, refused): (Vec<Weighed>, Vec<Weighed>) = match cut {
        Cut::Whole => {
            let joined = joined_with(&component);
            component.pairs.iter().partition(|pair| same_letters(pair) || !is_torn(pair, &component, &joined, &table))
        }
        Cut::Torn => component.pairs.iter().partition(|pair| same_letters(pair)),
        Cut::SameLetters => {
            return Clusters { clusters: Vec::new(), refused: component.pairs };
        }
    };
    let next = if cut == Cut::Whole { Cut::Torn } else { Cut::SameLetters };
    let mut clusters = Clusters { clusters: Vec::new(), refused };
    for part in components(kept, scale.world) {
        clusters.append(resolve(scale, part, next));
    }
    clusters
}

/// For each member, the members it is joined with.
fn joined_with(component: &Cluster) -> Vec<Vec<usize>> {
    let mut joined = vec![Vec::new(); component.members.len()];
    for pair in &component.pairs {
        let (left, right) = (component.position(pair.left), component.position(pair.right));
        joined[left].push(right);
        joined[right].push(left);
    }
    joined
}

/// Whether one of the two is also joined with a third that the other disagrees with.
fn is_torn(pair: &Weighed, component: &Cluster, joined: &[Vec<usize>], table: &Disagreements) -> bool {
    let (left, right) = (component.position(pair.left), component.position(pair.right));
    let tears = |hub: usize, other: usize| joined[hub].iter().any(|&third| table.between(third, other));
    tears(left, right) || tears(right, left)
}
