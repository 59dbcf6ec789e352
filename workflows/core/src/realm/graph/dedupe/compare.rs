//! What two names say about each other: the keys they share and how their words align.
//!
//! **Invariant:** comparing looks at the two names and at the rarity of their words, at nothing else.
//! A new key is a variant of [`NameKey`] and a line in [`compare`].

use super::align::{Aligned, align};
use super::plan::{NameKey, NameRelation, Score};
use super::world::World;

/// What two names say about each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameMatch {
    pub(super) keys: KeySet,
    pub(super) relation: NameRelation,
    pub(super) words: Aligned,
}

/// A set of shared keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KeySet(u8);

impl KeySet {
    const ALL: [NameKey; 8] = [
        NameKey::Exact,
        NameKey::Folded,
        NameKey::Core,
        NameKey::Bag,
        NameKey::Acronym,
        NameKey::Initials,
        NameKey::Slip,
        NameKey::TokenPrefix,
    ];

    pub(super) fn has(self, key: NameKey) -> bool {
        self.0 & (1 << key as u8) != 0
    }

    pub(super) fn insert_if(&mut self, condition: bool, key: NameKey) {
        self.0 |= u8::from(condition) << key as u8;
    }

    /// The keys in the order of their closeness.
    pub(super) fn list(self) -> Vec<NameKey> {
        Self::ALL.into_iter().filter(|key| self.has(*key)).collect()
    }
}

/// Compares the names of two entities.
pub(super) fn compare(world: &World, left: u32, right: u32) -> NameMatch {
    let mut words = align(world, left, right);
    let mut keys = shared_keys(world, left as usize, right as usize);
    let same_words = keys.has(NameKey::Core) || keys.has(NameKey::Bag);
    let relation = match words.relation {
        _ if keys.has(NameKey::Folded) => NameRelation::Same,
        _ if same_words => NameRelation::SameWords,
        relation if relation > NameRelation::Acronym && keys.has(NameKey::Acronym) => NameRelation::Acronym,
        relation => relation,
    };
    if relation <= NameRelation::SameWords {
        words = Aligned { similarity: Score::ONE, left_only: 0, right_only: 0, ..words };
    }
    keys.insert_if(relation == NameRelation::Slip, NameKey::Slip);
    keys.insert_if(words.initials > 0 && words.equal_words > 0, NameKey::Initials);
    NameMatch { keys, relation, words }
}

fn shared_keys(world: &World, left: usize, right: usize) -> KeySet {
    let (a, b) = (&world.facts[left], &world.facts[right]);
    let same = |one: u64, two: u64| one != 0 && one == two;
    let mut keys = KeySet::default();
    keys.insert_if(world.lower[left] == world.lower[right], NameKey::Exact);
    keys.insert_if(same(a.folded, b.folded), NameKey::Folded);
    keys.insert_if(same(a.core, b.core), NameKey::Core);
    keys.insert_if(same(a.bag, b.bag), NameKey::Bag);
    let spells =
        |one: u64, initials: u64, with_function_words: u64| same(one, initials) || same(one, with_function_words);
    let acronym = spells(a.acronym, b.initials, b.initials_all) || spells(b.acronym, a.initials, a.initials_all);
    keys.insert_if(acronym, NameKey::Acronym);
    keys
}
