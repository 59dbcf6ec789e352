//! What two names say about each other, in keys, a relation and a similarity.
//!
//! Words are aligned: equal words first, then one slip of a finger, then initials, abbreviations and words written
//! together. What is left on either side decides the relation.
//!
//! **Invariant:** comparing is symmetric but for the side of `left_only` and `right_only`, and allocates nothing.
//! A new way for two words to match is a variant of [`Match`] and a line in [`match_words`].

use super::name::Kind;
use super::plan::{NameKey, NameRelation, Score};
use super::text::TOKENS_MAX;
use super::world::{Word, World};
use crate::algo::edit::{OneEdit, one_edit};

/// Letters a word must have before one slip of a finger in it is a slip and not another word: "ING" is not "ANG".
const SLIP_LETTERS_MIN: usize = 5;

/// Letters an abbreviation must have: "Cal" is short for "California", "Ca" is not.
const ABBREVIATION_LETTERS_MIN: usize = 3;

/// Most words that are tried as one: "Open AI" / "OpenAI", "Rock n Roll" / "RocknRoll".
const JOINED_WORDS_MAX: usize = 3;

/// What two names say about each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameMatch {
    pub(super) keys: KeySet,
    pub(super) relation: NameRelation,
    pub(super) similarity: Score,
    pub(super) left_only: u8,
    pub(super) right_only: u8,
    /// Letters of the shortest word that a slip was found in; zero without a slip.
    pub(super) slip_letters: u8,
    /// Whether the slip only doubled a letter.
    pub(super) slip_doubled: bool,
    /// Words that are the same on both sides.
    pub(super) equal_words: u8,
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

/// How two words match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    Slip(OneEdit),
    Initial,
    Abbreviation,
}

impl Match {
    /// What the match is worth, in tenths of an equal word.
    fn tenths(self) -> u32 {
        match self {
            Self::Slip(_) => 9,
            Self::Abbreviation => 7,
            Self::Initial => 5,
        }
    }
}

/// Compares the names of two entities.
pub(super) fn compare(world: &World, left: u32, right: u32) -> NameMatch {
    let (left, right) = (left as usize, right as usize);
    let keys = shared_keys(world, left, right);
    let mut alignment = Alignment::new(world, world.words.row(left), world.words.row(right));
    if keys.has(NameKey::Folded) || keys.has(NameKey::Core) || keys.has(NameKey::Bag) {
        let relation = if keys.has(NameKey::Folded) {
            NameRelation::Same
        } else {
            NameRelation::SameWords
        };
        return NameMatch {
            relation,
            similarity: Score::ONE,
            ..alignment.finish(keys)
        };
    }
    alignment.align();
    alignment.finish(keys)
}

fn shared_keys(world: &World, left: usize, right: usize) -> KeySet {
    let (a, b) = (&world.facts[left], &world.facts[right]);
    let same = |one: u64, two: u64| one != 0 && one == two;
    let mut keys = KeySet::default();
    keys.insert_if(world.lower[left] == world.lower[right], NameKey::Exact);
    keys.insert_if(same(a.folded, b.folded), NameKey::Folded);
    keys.insert_if(same(a.core, b.core), NameKey::Core);
    keys.insert_if(same(a.bag, b.bag), NameKey::Bag);
    let spells = |one: u64, initials: u64, all: u64| same(one, initials) || same(one, all);
    let acronym = spells(a.acronym, b.initials, b.initials_all) || spells(b.acronym, a.initials, a.initials_all);
    keys.insert_if(acronym, NameKey::Acronym);
    keys
}

/// Two rows of words while they are being aligned; bit `i` of a mask is word `i`.
struct Alignment<'a> {
    world: &'a World,
    left: &'a [Word],
    right: &'a [Word],
    left_open: u32,
    right_open: u32,
    /// Twice the weight of what matched, in tenths.
    matched: u32,
    equal_words: u8,
    slips: u8,
    slip_letters: usize,
    slip_doubled: bool,
    shortened: bool,
}

impl<'a> Alignment<'a> {
    fn new(world: &'a World, left: &'a [Word], right: &'a [Word]) -> Self {
        let (left, right) = (
            &left[..left.len().min(TOKENS_MAX)],
            &right[..right.len().min(TOKENS_MAX)],
        );
        let mut alignment = Self {
            world,
            left,
            right,
            left_open: mask(left.len()),
            right_open: mask(right.len()),
            matched: 0,
            equal_words: 0,
            slips: 0,
            slip_letters: usize::MAX,
            slip_doubled: true,
            shortened: false,
        };
        alignment.take_equal();
        alignment
    }

    /// Matches equal words.
    fn take_equal(&mut self) {
        for (at, word) in self.left.iter().enumerate() {
            let equal = bits(self.right_open).find(|&other| self.right[other].hash == word.hash);
            if let Some(other) = equal {
                self.close(at, other, 10);
                self.equal_words += 1;
            }
        }
    }

    /// Matches what is left in all other ways.
    fn align(&mut self) {
        self.take_joined();
        self.take_whole_slip();
        for at in bits(self.left_open) {
            let best = bits(self.right_open)
                .filter_map(|other| Some((self.match_at(at, other)?, other)))
                .max_by_key(|(found, other)| (found.tenths(), usize::MAX - other));
            if let Some((found, other)) = best {
                self.record(found, at, other);
            }
        }
    }

    fn match_at(&self, at: usize, other: usize) -> Option<Match> {
        let (left, right) = (self.left[at], self.right[other]);
        match_words(left, self.world.text(left), right, self.world.text(right))
    }

    fn record(&mut self, found: Match, at: usize, other: usize) {
        match found {
            Match::Slip(edit) => {
                let letters = usize::from(self.left[at].length.min(self.right[other].length));
                self.note_slip(edit, letters);
            }
            Match::Initial | Match::Abbreviation => self.shortened = true,
        }
        self.close(at, other, found.tenths());
    }

    fn note_slip(&mut self, edit: OneEdit, letters: usize) {
        self.slips += 1;
        self.slip_letters = self.slip_letters.min(letters);
        self.slip_doubled &= edit == OneEdit::Doubled;
    }

    /// Matches neighbouring words of one side with one word of the other that writes them together.
    fn take_joined(&mut self) {
        for at in bits(self.right_open) {
            if let Some(run) = joined_run(self.world, self.left, self.left_open, self.right[at]) {
                self.left_open &= !run;
                self.close_right_joined(at, run);
            }
        }
        for at in bits(self.left_open) {
            if let Some(run) = joined_run(self.world, self.right, self.right_open, self.left[at]) {
                self.right_open &= !run;
                self.left_open &= !(1 << at);
                self.matched += weight_of(self.right, run) * 10 + u32::from(self.left[at].weight) * 10;
            }
        }
    }

    fn close_right_joined(&mut self, at: usize, run: u32) {
        self.right_open &= !(1 << at);
        self.matched += weight_of(self.left, run) * 10 + u32::from(self.right[at].weight) * 10;
    }

    /// One slip of a finger in names whose words are not cut alike: "TodisenPemux" / "Todisen Pemu".
    fn take_whole_slip(&mut self) {
        if self.left_open.count_ones() == self.right_open.count_ones() || self.left_open == 0 || self.right_open == 0 {
            return;
        }
        let (left, right) = (
            open_text(self.world, self.left, self.left_open),
            open_text(self.world, self.right, self.right_open),
        );
        if left.len.min(right.len) < SLIP_LETTERS_MIN || left.bytes[0] != right.bytes[0] {
            return;
        }
        if let Some(edit) = one_edit(&left.bytes[..left.len], &right.bytes[..right.len]) {
            self.note_slip(edit, left.len.min(right.len));
            self.matched += (weight_of(self.left, self.left_open) + weight_of(self.right, self.right_open)) * 9;
            self.left_open = 0;
            self.right_open = 0;
        }
    }

    fn close(&mut self, at: usize, other: usize, tenths: u32) {
        self.left_open &= !(1 << at);
        self.right_open &= !(1 << other);
        self.matched += (u32::from(self.left[at].weight) + u32::from(self.right[other].weight)) * tenths;
    }

    fn finish(self, mut keys: KeySet) -> NameMatch {
        let total = weight_of(self.left, mask(self.left.len())) + weight_of(self.right, mask(self.right.len()));
        let similarity = Score::from_ratio(self.matched, total * 10);
        let (left_only, right_only) = (self.left_open.count_ones(), self.right_open.count_ones());
        keys.insert_if(self.slips == 1 && left_only + right_only == 0, NameKey::Slip);
        keys.insert_if(self.shortened && self.equal_words > 0, NameKey::Initials);
        NameMatch {
            keys,
            relation: self.relation(keys, left_only, right_only),
            similarity,
            left_only: small(left_only),
            right_only: small(right_only),
            slip_letters: if self.slips == 0 {
                0
            } else {
                u8::try_from(self.slip_letters).unwrap_or(u8::MAX)
            },
            slip_doubled: self.slips > 0 && self.slip_doubled,
            equal_words: self.equal_words,
        }
    }

    fn relation(&self, keys: KeySet, left_only: u32, right_only: u32) -> NameRelation {
        let one_sided = left_only == 0 || right_only == 0;
        if self.matched == 0 {
            return if keys.has(NameKey::Acronym) {
                NameRelation::Acronym
            } else {
                NameRelation::Silent
            };
        }
        match (left_only + right_only, self.slips, self.shortened) {
            (0, 0, false) => NameRelation::SameWords,
            (0, 1, false) => NameRelation::Slip,
            (_, 0, true) if one_sided && self.equal_words > 0 => NameRelation::Shortened,
            _ if keys.has(NameKey::Acronym) => NameRelation::Acronym,
            (_, 0, _) if one_sided && self.equal_words > 0 => NameRelation::Extended,
            _ => NameRelation::Overlapping,
        }
    }
}

/// How two words that differ match.
fn match_words(left: Word, left_text: &str, right: Word, right_text: &str) -> Option<Match> {
    if left.ideographic || right.ideographic || left.kind == Kind::Number || right.kind == Kind::Number {
        return None;
    }
    let (short, long) = if left_text.len() <= right_text.len() {
        (left, right)
    } else {
        (right, left)
    };
    let (short_text, long_text) = if left_text.len() <= right_text.len() {
        (left_text, right_text)
    } else {
        (right_text, left_text)
    };
    if short_text.chars().next() != long_text.chars().next() {
        return None;
    }
    if short.kind == Kind::Initial || long.kind == Kind::Initial {
        let fits = short.kind == Kind::Initial && long.kind == Kind::Word && short_text.chars().count() == 1;
        return fits.then_some(Match::Initial);
    }
    if short_text.len() >= SLIP_LETTERS_MIN {
        if let Some(edit) = one_edit(short_text.as_bytes(), long_text.as_bytes()) {
            return Some(Match::Slip(edit));
        }
    }
    (short_text.len() >= ABBREVIATION_LETTERS_MIN && long_text.starts_with(short_text)).then_some(Match::Abbreviation)
}

/// The run of neighbouring open words whose texts, one after another, are the text of `word`.
fn joined_run(world: &World, words: &[Word], open: u32, word: Word) -> Option<u32> {
    let text = world.text(word);
    for start in bits(open) {
        let mut rest = text;
        let mut run = 0_u32;
        for at in start..words.len().min(start + JOINED_WORDS_MAX) {
            let Some(shorter) = rest
                .strip_prefix(world.text(words[at]))
                .filter(|_| open & (1 << at) != 0)
            else {
                break;
            };
            rest = shorter;
            run |= 1 << at;
            if rest.is_empty() {
                return (run.count_ones() > 1).then_some(run);
            }
        }
    }
    None
}

/// A short text on the stack.
struct OpenText {
    bytes: [u8; OPEN_BYTES_MAX],
    len: usize,
}

/// Longest text in which a slip across word boundaries is looked for.
const OPEN_BYTES_MAX: usize = 64;

/// The open words, one after another; empty when they are too long or in a script whose letters are words.
fn open_text(world: &World, words: &[Word], open: u32) -> OpenText {
    let mut text = OpenText {
        bytes: [0; OPEN_BYTES_MAX],
        len: 0,
    };
    for at in bits(open) {
        let bytes = world.text(words[at]).as_bytes();
        if words[at].ideographic || words[at].kind == Kind::Number || text.len + bytes.len() > OPEN_BYTES_MAX {
            return OpenText {
                bytes: [0; OPEN_BYTES_MAX],
                len: 0,
            };
        }
        text.bytes[text.len..text.len + bytes.len()].copy_from_slice(bytes);
        text.len += bytes.len();
    }
    text
}

fn mask(count: usize) -> u32 {
    (1_u32 << count) - 1
}

fn bits(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let at = rest.trailing_zeros();
        (rest != 0).then(|| {
            rest &= rest - 1;
            at as usize
        })
    })
}

fn weight_of(words: &[Word], mask: u32) -> u32 {
    bits(mask).map(|at| u32::from(words[at].weight)).sum()
}

fn small(count: u32) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}
