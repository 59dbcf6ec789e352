//! One pair with everything known about it, and what the rule says.
//!
//! **Invariant:** weighing looks at two entities and at the rarity of words and acronyms in the store, at no other pair.

use super::block::Pair;
use super::compare::{NameMatch, compare};
use super::input::counted;
use super::name::{Kind, Marks, NameFacts};
use super::plan::{
    AttributeEvidence, CosineEvidence, NameEvidence, NameKey, NeighbourEvidence, PairEvidence, Rule, Score,
    SharedEvidence, Veto,
};
use super::rule::{self, Facts, Supports};
use super::settings::DedupeSettings;
use super::vectors::Vectors;
use super::veto::{VetoSet, context_vetoes, name_vetoes};
use super::world::{World, typed};
use crate::algo::ragged::shared_count;

/// A pair, weighed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weighed {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) names: NameMatch,
    pub(super) vetoes: VetoSet,
    pub(super) cosine: CosineEvidence,
    pub(super) rule: Rule,
}

/// What weighing needs besides the pair.
#[derive(Debug)]
pub(super) struct Scale<'a> {
    pub(super) world: &'a World,
    pub(super) vectors: &'a Vectors,
    pub(super) expansions: &'a Expansions,
    pub(super) verdicts: &'a [([u8; 16], [u8; 16])],
    pub(super) thresholds: Vec<Score>,
}

impl<'a> Scale<'a> {
    pub(super) fn new(
        world: &'a World,
        settings: &DedupeSettings,
        vectors: &'a Vectors,
        expansions: &'a Expansions,
        verdicts: &'a [([u8; 16], [u8; 16])],
    ) -> Self {
        let thresholds = world.types.iter().map(|name| settings.threshold(name)).collect();
        Self { world, vectors, expansions, verdicts, thresholds }
    }

    /// The threshold of an entity's type.
    pub(super) fn threshold(&self, rank: u32) -> Score {
        self.thresholds[self.world.type_of[rank as usize] as usize]
    }

    /// Weighs one pair.
    pub(super) fn weigh(&self, (left, right): Pair) -> Weighed {
        let (facts, vetoes, cosine) = self.facts((left, right));
        Weighed { left, right, names: facts.names, vetoes, cosine, rule: rule::decide(&facts) }
    }

    fn facts(&self, (left, right): Pair) -> (Facts, VetoSet, CosineEvidence) {
        let world = self.world;
        let names = compare(world, left, right);
        let (neighbours, attributes) = (world.neighbourhood.compare(left, right), self.attributes(left, right));
        let (left_facts, right_facts) = (&world.facts[left as usize], &world.facts[right as usize]);
        let mut vetoes = name_vetoes(left_facts, right_facts, &names).with(context_vetoes(neighbours, attributes));
        vetoes.insert_if(!world.same_type(left, right), Veto::DifferentType);
        vetoes.insert_if(self.has_verdict(left, right), Veto::VerdictKeepApart);
        let cosine = self.vectors.compare(world, left, right);
        let supports = Supports {
            neighbour: neighbours.telling > 0,
            chunk: self.shared_chunks(left, right) > 0,
            attribute: attributes.shared > attributes.conflicting,
        };
        let facts = Facts {
            names,
            vetoed: !vetoes.is_empty(),
            letters: left_facts.core_letters.min(right_facts.core_letters),
            only_article: left_facts.countries | right_facts.countries == 0
                && left_facts.marks.has(Marks::ARTICLE) != right_facts.marks.has(Marks::ARTICLE),
            cosine: cosine.score(),
            threshold: self.threshold(left),
            supports,
            bare_title: left_facts.content_count.min(right_facts.content_count) < 2
                && left_facts.marks.has(Marks::TITLED) != right_facts.marks.has(Marks::TITLED),
            linked: neighbours.linked,
            only_expansion: names.keys.has(NameKey::Acronym) && self.expansions.is_only(world, left, right),
        };
        (facts, vetoes, cosine)
    }

    fn attributes(&self, left: u32, right: u32) -> AttributeEvidence {
        let (left, right) = (self.world.attributes.row(left as usize), self.world.attributes.row(right as usize));
        let mut evidence = AttributeEvidence::default();
        for one in left {
            let start = right.partition_point(|other| other.key < one.key);
            let others = || right[start..].iter().take_while(|other| other.key == one.key);
            if others().any(|other| other.value == one.value) {
                evidence.shared += 1;
            } else if others().next().is_some() && others().all(|other| other.contradicts(*one)) {
                evidence.conflicting += 1;
            }
        }
        evidence
    }

    fn shared_chunks(&self, left: u32, right: u32) -> u32 {
        counted(shared_count(self.world.chunks.row(left as usize), self.world.chunks.row(right as usize)))
    }

    fn has_verdict(&self, left: u32, right: u32) -> bool {
        let keys = (self.world.verdict_keys[left as usize], self.world.verdict_keys[right as usize]);
        let (Some(one), Some(other)) = keys else { return false };
        self.verdicts.binary_search(&(one.min(other), one.max(other))).is_ok()
    }

    /// The evidence of a weighed pair, spelled out.
    pub(super) fn evidence(&self, pair: &Weighed) -> PairEvidence {
        let (left, right) = (pair.left, pair.right);
        let (facts, _, _) = self.facts((left, right));
        let world = self.world;
        let mut keys = pair.names.keys;
        keys.insert_if(shares_prefix(world, left, right), NameKey::TokenPrefix);
        let lengths = |rows: &crate::algo::ragged::Ragged<u64>| {
            (counted(rows.row(left as usize).len()), counted(rows.row(right as usize).len()))
        };
        let chunks = lengths(&world.chunks);
        let neighbours: NeighbourEvidence = world.neighbourhood.compare(left, right);
        PairEvidence {
            left: world.ids[left as usize],
            right: world.ids[right as usize],
            names: NameEvidence {
                keys: keys.list(),
                relation: pair.names.relation,
                similarity: pair.names.words.similarity,
                left_only: pair.names.words.left_only,
                right_only: pair.names.words.right_only,
            },
            cosine: pair.cosine,
            attributes: self.attributes(left, right),
            neighbours,
            chunks: SharedEvidence { shared: self.shared_chunks(left, right), left: chunks.0, right: chunks.1 },
            rule: pair.rule,
            vetoes: pair.vetoes.list(),
            missing: rule::missing(&facts, pair.rule),
        }
    }
}

/// Whether two names have a word that begins alike.
fn shares_prefix(world: &World, left: u32, right: u32) -> bool {
    let beginning = |word| {
        let text: &str = world.text(word);
        text.char_indices().nth(2).map(|(at, last)| &text[..at + last.len_utf8()])
    };
    let (left, right) = (world.words.row(left as usize), world.words.row(right as usize));
    left.iter().filter(|word| word.kind == Kind::Word).any(|word| {
        let prefix = beginning(*word);
        prefix.is_some() && right.iter().any(|other| beginning(*other) == prefix)
    })
}

/// Acronyms that exactly one name of their type spells out.
#[derive(Debug, Default)]
pub(super) struct Expansions {
    /// Typed keys, sorted.
    only: Vec<u64>,
}

impl Expansions {
    pub(super) fn build(world: &World) -> Self {
        let mut wanted: Vec<u64> = Vec::new();
        let mut spelled: Vec<(u64, u64)> = Vec::new();
        for (rank, facts) in world.facts.iter().enumerate() {
            let entity_type = world.type_of[rank];
            if facts.acronym != 0 {
                wanted.push(typed(entity_type, facts.acronym));
            }
            for initials in [facts.initials, facts.initials_all] {
                if initials != 0 {
                    spelled.push((typed(entity_type, initials), facts.bag));
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        spelled.retain(|(key, _)| wanted.binary_search(key).is_ok());
        spelled.sort_unstable();
        spelled.dedup();
        let only =
            spelled.chunk_by(|a, b| a.0 == b.0).filter(|names| names.len() == 1).map(|names| names[0].0).collect();
        Self { only }
    }

    /// Whether one of the two is an acronym that only the other spells out.
    fn is_only(&self, world: &World, left: u32, right: u32) -> bool {
        let is_only = |short: &NameFacts, long: &NameFacts| {
            let key = typed(world.type_of[left as usize], short.acronym);
            let spells = short.acronym != 0 && (short.acronym == long.initials || short.acronym == long.initials_all);
            spells && self.only.binary_search(&key).is_ok()
        };
        let (left_facts, right_facts) = (&world.facts[left as usize], &world.facts[right as usize]);
        is_only(left_facts, right_facts) || is_only(right_facts, left_facts)
    }
}
