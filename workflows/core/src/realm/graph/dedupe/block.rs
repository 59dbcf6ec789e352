//! Candidates: which pairs are worth comparing, one family of keys at a time.
//!
//! A family gives every entity a few keys; entities that share a key are a block. Blocks are read off one sorted
//! array, every block is bounded, and a pair goes on only when its names have something to say.
//!
//! **Invariant:** the pairs depend on names, types and ids only; a bound that bites is counted in the report.
//! A new family is a variant of [`Family`], a function that emits its keys, and a line in [`name_candidates`].

use rayon::prelude::*;

use super::compare::{NameMatch, compare};
use super::input::counted;
use super::name::{Kind, Marks};
use super::plan::{Family, FamilyReport, NameRelation};
use super::rule::EXTENDED_SIMILARITY_MIN;
use super::settings::{BLOCK_MEMBERS_MAX, PAIRS_PER_ENTITY_MAX, PREFIX_BLOCK_MEMBERS_MAX, SERIES_MEMBERS_MAX};
use super::world::{World, typed};
use crate::algo::stable_hash::{hash_bytes, hash_number};

const HALF_SEED: u64 = 31;
const PREFIX_SEED: u64 = 32;

/// Letters of the shortest name in which a slip is looked for.
const HALVED_LETTERS_MIN: usize = 6;

/// Bytes of a word that make a prefix block, and the longer ones that split an oversized block. The last is the word.
const PREFIX_BYTES: [usize; 5] = [3, 4, 6, 8, usize::MAX];

/// Sizes of sampled blocks that a report lists.
const SAMPLED_LISTED_MAX: usize = 10;

/// Two ranks, the smaller one first.
pub(super) type Pair = (u32, u32);

/// What blocking found.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Sorted, each pair once.
    pub(super) pairs: Vec<Pair>,
    pub(super) families: Vec<FamilyReport>,
    pub(super) truncated: u64,
}

/// Runs all families of name keys.
pub(super) fn name_candidates(world: &World) -> Candidates {
    let mut candidates = Candidates::default();
    // Across types, so that it can be said why the company Apple and the person Apple stay two.
    candidates.run(world, Family::FoldedName, same_key(world, |rank| world.facts[rank as usize].folded));
    let core = |rank| typed_key(world, rank, world.facts[rank as usize].core);
    candidates.run(world, Family::CoreName, same_key(world, core));
    let bag = |rank| typed_key(world, rank, world.facts[rank as usize].bag);
    candidates.run(world, Family::WordBag, same_key(world, bag));
    candidates.run(world, Family::Series, series(world));
    candidates.run(world, Family::Acronym, acronyms(world));
    candidates.run(world, Family::Initials, initials(world));
    candidates.run(world, Family::Halves, halves(world));
    candidates.run(world, Family::TokenPrefix, prefixes(world));
    candidates
}

fn typed_key(world: &World, rank: u32, key: u64) -> u64 {
    if key == 0 { 0 } else { typed(world.type_of[rank as usize], key) }
}

/// An entity under a key. In a two-sided family only members of different sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    key: u64,
    rank: u32,
    side: Side,
}

/// On which side of a family an entity stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// It is compared with everybody.
    Both,
    /// It has the short form, the acronym or the initial: it is compared with long ones.
    Short,
    /// It has the long form.
    Long,
}

/// The blocks of one family: ranges of members that are compared each with each, and what the bounds did.
#[derive(Debug, Default)]
struct Blocks {
    members: Vec<Member>,
    split: u64,
    sampled: Vec<u32>,
}

impl Candidates {
    /// Compares the pairs of all blocks and adds those whose names have something to say.
    fn run(&mut self, world: &World, family: Family, blocks: Blocks) {
        let groups: Vec<&[Member]> =
            blocks.members.chunk_by(|a, b| a.key == b.key).filter(|block| block.len() > 1).collect();
        let compared: Vec<(u64, Vec<Pair>)> =
            groups.par_iter().map(|block| speaking_pairs(world, family, block)).collect();
        let mut sampled_sizes = blocks.sampled;
        sampled_sizes.sort_unstable_by(|a, b| b.cmp(a));
        let blocks_sampled = sampled_sizes.len() as u64;
        sampled_sizes.truncate(SAMPLED_LISTED_MAX);
        let blocks_compared = groups.len() as u64;
        let pairs_compared = compared.iter().map(|(count, _)| count).sum();
        let pairs_found = self.add(world, compared.into_iter().flat_map(|(_, pairs)| pairs).collect());
        self.families.push(FamilyReport {
            family,
            blocks: blocks_compared,
            pairs_compared,
            pairs_found,
            blocks_split: blocks.split,
            blocks_sampled,
            sampled_sizes,
        });
    }

    /// Adds the pairs that no earlier family found, as far as the bound on all pairs allows; returns how many. Beyond
    /// it, the new pairs are sampled by the hashes of their ids, so that closer families come first.
    fn add(&mut self, world: &World, mut pairs: Vec<Pair>) -> u64 {
        pairs.par_sort_unstable();
        pairs.dedup();
        pairs.retain(|pair| self.pairs.binary_search(pair).is_err());
        let room = world.len().saturating_mul(PAIRS_PER_ENTITY_MAX).saturating_sub(self.pairs.len());
        if pairs.len() > room {
            self.truncated += (pairs.len() - room) as u64;
            let drawn = |&(left, right): &Pair| hash_number(world.sample_order(left), world.sample_order(right));
            pairs.par_sort_by_cached_key(|pair| (drawn(pair), *pair));
            pairs.truncate(room);
        }
        let found = pairs.len() as u64;
        self.pairs.append(&mut pairs);
        self.pairs.par_sort_unstable();
        found
    }
}

/// The pairs of one block whose names have something to say, and how many were compared.
fn speaking_pairs(world: &World, family: Family, block: &[Member]) -> (u64, Vec<Pair>) {
    let mut compared = 0;
    let mut pairs = Vec::new();
    for (at, one) in block.iter().enumerate() {
        for other in &block[at + 1..] {
            let faces = one.side == Side::Both || other.side == Side::Both || one.side != other.side;
            if !faces || one.rank == other.rank {
                continue;
            }
            compared += 1;
            let pair = (one.rank.min(other.rank), one.rank.max(other.rank));
            if family == Family::TokenPrefix && !may_speak(world, pair) {
                continue;
            }
            if matches!(family, Family::FoldedName | Family::Series) || speaks(&compare(world, pair.0, pair.1)) {
                pairs.push(pair);
            }
        }
    }
    (compared, pairs)
}

/// A cheap look before the alignment: two names of equally many words, and more than one, need a word in common.
fn may_speak(world: &World, (left, right): Pair) -> bool {
    let (left, right) = (world.words.row(left as usize), world.words.row(right as usize));
    left.len() != right.len()
        || left.len() < 2
        || left.iter().any(|word| right.iter().any(|other| word.hash == other.hash))
}

/// Whether names have something to say for a pair: the one place where candidates are dropped unseen.
pub(super) fn speaks(names: &NameMatch) -> bool {
    names.relation < NameRelation::Extended
        || (names.relation == NameRelation::Extended && names.words.similarity >= EXTENDED_SIMILARITY_MIN)
}

/// Blocks of entities with the same key.
fn same_key(world: &World, key_of: impl Fn(u32) -> u64) -> Blocks {
    let members = (0..counted(world.len())).map(|rank| Member { key: key_of(rank), rank, side: Side::Both });
    bounded(world, members.filter(|member| member.key != 0).collect(), BLOCK_MEMBERS_MAX)
}

/// Members of a series with each other, and with the name that has no number.
fn series(world: &World) -> Blocks {
    let members = (0..counted(world.len())).filter_map(|rank| {
        let facts = &world.facts[rank as usize];
        let side = if facts.marks.has(Marks::IN_SERIES) { Side::Both } else { Side::Long };
        (facts.series != 0).then(|| Member { key: typed_key(world, rank, facts.series), rank, side })
    });
    let mut members: Vec<Member> = members.collect();
    members.par_sort_unstable();
    let in_series = |block: &&[Member]| block.iter().any(|member| member.side == Side::Both);
    let members = members.chunk_by(|a, b| a.key == b.key).filter(in_series).flatten().copied().collect();
    bounded(world, members, SERIES_MEMBERS_MAX)
}

/// Acronyms against the names that spell them out.
fn acronyms(world: &World) -> Blocks {
    let mut members = Vec::new();
    for rank in 0..counted(world.len()) {
        let facts = &world.facts[rank as usize];
        let mut emit = |key: u64, side| {
            if key != 0 {
                members.push(Member { key: typed_key(world, rank, key), rank, side });
            }
        };
        emit(facts.acronym, Side::Short);
        emit(facts.initials, Side::Long);
        if facts.initials_all != facts.initials {
            emit(facts.initials_all, Side::Long);
        }
    }
    bounded(world, two_sided(members), BLOCK_MEMBERS_MAX)
}

/// Names that begin with an initial against names that begin with the word.
fn initials(world: &World) -> Blocks {
    let members = (0..counted(world.len())).filter_map(|rank| {
        let facts = &world.facts[rank as usize];
        let side = if facts.marks.has(Marks::STARTS_WITH_INITIAL) { Side::Short } else { Side::Long };
        (facts.first_letter_last_word != 0).then(|| Member {
            key: typed_key(world, rank, facts.first_letter_last_word),
            rank,
            side,
        })
    });
    bounded(world, two_sided(members.collect()), BLOCK_MEMBERS_MAX)
}

/// Drops the blocks that have one side only; they are most of them.
fn two_sided(mut members: Vec<Member>) -> Vec<Member> {
    members.par_sort_unstable();
    let blocks = members.chunk_by(|a, b| a.key == b.key);
    let faced = blocks
        .filter(|block| block.iter().any(|m| m.side == Side::Short) && block.iter().any(|m| m.side == Side::Long));
    faced.flatten().copied().collect()
}

/// Halves of the letters: two names one slip apart share their first or their second half.
///
/// A name of `n` letters may be the shorter or the longer of the two, so it emits its halves as one of `n` letters
/// and as one of `n - 1` with one letter too many.
fn halves(world: &World) -> Blocks {
    let ranks: Vec<u32> = (0..counted(world.len())).collect();
    let emitted: Vec<Vec<Member>> = ranks.par_chunks(4_096).map(|ranks| half_members(world, ranks)).collect();
    bounded(world, emitted.concat(), BLOCK_MEMBERS_MAX)
}

fn half_members(world: &World, ranks: &[u32]) -> Vec<Member> {
    let mut members = Vec::new();
    let mut text = String::new();
    for &rank in ranks {
        text.clear();
        let words = world.words.row(rank as usize);
        if words.iter().any(|word| word.solid && word.kind != Kind::Number) {
            continue;
        }
        for word in words {
            text.push_str(world.text(*word));
        }
        let letters = text.len();
        if letters < HALVED_LETTERS_MIN {
            continue;
        }
        let entity_type = world.type_of[rank as usize];
        for total in [letters - 1, letters] {
            let half = total / 2;
            let (head, tail) = (&text.as_bytes()[..half], &text.as_bytes()[letters - (total - half)..]);
            for (side, part) in [(0, head), (1, tail)] {
                let seed = hash_number(HALF_SEED + side, total as u64);
                members.push(Member { key: typed(entity_type, hash_bytes(seed, part)), rank, side: Side::Both });
            }
        }
    }
    members
}

/// Words that begin alike, within a type. A block that is too large is split by a longer beginning.
fn prefixes(world: &World) -> Blocks {
    let mut blocks = Blocks::default();
    let mut open: Vec<(u32, u16)> = Vec::new();
    for rank in 0..counted(world.len()) {
        let words = world.words.row(rank as usize).iter().enumerate();
        let telling = words.filter(|(_, word)| word.kind == Kind::Word && usize::from(word.length) >= PREFIX_BYTES[0]);
        open.extend(telling.map(|(at, _)| (rank, u16::try_from(at).unwrap_or(u16::MAX))));
    }
    for bytes in PREFIX_BYTES {
        let mut keyed: Vec<(Member, u16)> =
            open.par_iter().map(|&(rank, at)| (prefix_member(world, rank, at, bytes), at)).collect();
        keyed.par_sort_unstable();
        open.clear();
        for block in keyed.chunk_by(|a, b| a.0.key == b.0.key) {
            if block.len() <= PREFIX_BLOCK_MEMBERS_MAX {
                blocks.members.extend(block.iter().map(|(member, _)| *member));
            } else if bytes == usize::MAX {
                blocks.sample(world, block.iter().map(|(member, _)| *member).collect(), PREFIX_BLOCK_MEMBERS_MAX);
            } else {
                blocks.split += 1;
                open.extend(block.iter().map(|(member, at)| (member.rank, *at)));
            }
        }
    }
    blocks.members.par_sort_unstable();
    blocks
}

fn prefix_member(world: &World, rank: u32, at: u16, bytes: usize) -> Member {
    let text = world.text(world.words.row(rank as usize)[usize::from(at)]).as_bytes();
    let prefix = &text[..text.len().min(bytes)];
    let seed = hash_number(PREFIX_SEED, bytes.min(u8::MAX.into()) as u64);
    Member { key: typed(world.type_of[rank as usize], hash_bytes(seed, prefix)), rank, side: Side::Both }
}

/// Sorts members into blocks and samples the blocks that are too large.
fn bounded(world: &World, mut members: Vec<Member>, members_max: usize) -> Blocks {
    members.par_sort_unstable();
    members.dedup();
    let mut blocks = Blocks::default();
    for block in members.chunk_by(|a, b| a.key == b.key) {
        if block.len() > members_max {
            blocks.sample(world, block.to_vec(), members_max);
        } else if block.len() > 1 {
            blocks.members.extend_from_slice(block);
        }
    }
    blocks
}

impl Blocks {
    /// Keeps the members whose ids hash smallest, of each side its share.
    fn sample(&mut self, world: &World, mut block: Vec<Member>, members_max: usize) {
        self.sampled.push(counted(block.len()));
        block.sort_by_cached_key(|member| (member.side, world.sample_order(member.rank)));
        let sides = block.chunk_by(|a, b| a.side == b.side).count();
        let mut kept: Vec<Member> = block
            .chunk_by(|a, b| a.side == b.side)
            .flat_map(|side| &side[..side.len().min(members_max / sides)])
            .copied()
            .collect();
        kept.sort_unstable();
        self.members.append(&mut kept);
    }
}
