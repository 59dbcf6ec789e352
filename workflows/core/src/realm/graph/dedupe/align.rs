//! Two names, word by word.
//!
//! Equal words are matched first, then words written together or apart, then the best of what is left: a slip of a
//! finger, a near spelling, an initial, an abbreviation. What stays open on either side decides the relation.
//!
//! **Invariant:** an alignment depends on the two names and on which one is the left; nothing is allocated.
//! A new way for two words to match is a variant of [`Match`] and a line in [`match_words`].

use rapidfuzz::distance::osa;

use super::name::Kind;
use super::plan::{NameRelation, Score};
use super::text::TOKENS_MAX;
use super::world::{Word, World};
use crate::algo::edit::{OneEdit, one_edit};

/// Letters a word must have before one slip of a finger in it is a slip and not another word: "Pan" is not "Fan".
const SLIP_LETTERS_MIN: usize = 4;

/// Letters a word must have before two slips still leave it recognisable.
const NEAR_LETTERS_MIN: usize = 5;

/// Most slips in a near spelling.
const NEAR_EDITS_MAX: usize = 2;

/// Letters an abbreviation must have: "Cal" is short for "California", "Ca" is not.
const ABBREVIATION_LETTERS_MIN: usize = 3;

/// Letters that are left of a legal form that a slip hit; one or two letters more are an initial.
const FORM_LETTERS_MIN: usize = 3;

/// Most words that are tried as one: `Open AI` / `OpenAI`, `Rock n Roll` / `RocknRoll`.
const JOINED_WORDS_MAX: usize = 3;

/// Longest run of words in which a slip across word boundaries is looked for.
const RUN_BYTES_MAX: usize = 64;

/// What an equal word is worth; other matches are worth fewer tenths of the word's weight.
const EQUAL_TENTHS: u32 = 10;

/// How two words that differ match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    /// One slip of a finger.
    Slip(OneEdit),
    /// Two slips.
    Near,
    /// A letter that stands for the word.
    Initial,
    /// The beginning of the word.
    Abbreviation,
}

impl Match {
    /// What the match is worth, in tenths of an equal word.
    fn tenths(self) -> u32 {
        match self {
            Self::Slip(_) => 9,
            Self::Near | Self::Abbreviation => 7,
            Self::Initial => 5,
        }
    }
}

/// What an alignment found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aligned {
    pub(super) relation: NameRelation,
    /// How alike the words are, each weighed by its rarity.
    pub(super) similarity: Score,
    pub(super) left_only: u8,
    pub(super) right_only: u8,
    pub(super) equal_words: u8,
    /// Words that match by an initial.
    pub(super) initials: u8,
    /// Whether all that one name has more is an initial between its first and its last word.
    pub(super) middle_initial: bool,
    /// Words that match by an abbreviation.
    pub(super) abbreviations: u8,
    /// The last slip that was found, and the letters of the shorter word it is in.
    pub(super) slip: Option<(OneEdit, u8)>,
}

/// Aligns the names of two entities.
pub(super) fn align(world: &World, left: u32, right: u32) -> Aligned {
    let mut alignment = Alignment::new(world, world.words.row(left as usize), world.words.row(right as usize));
    alignment.take_equal();
    if alignment.left_open != 0 && alignment.right_open != 0 {
        alignment.take_joined();
        alignment.take_run_slip();
        alignment.take_alike();
    }
    let aligned = alignment.finish();
    match alignment.only_open_word() {
        Some(only) if world.text(only).len() >= FORM_LETTERS_MIN => form_slip(world, left, right, aligned),
        _ => aligned,
    }
}

/// A name may only seem to have a word more because a slip hit its legal form: "Webol Corp" / "Webol Cor".
fn form_slip(world: &World, left: u32, right: u32, aligned: Aligned) -> Aligned {
    let (left, right) = (world.folded_text(left), world.folded_text(right));
    match one_edit(left.as_bytes(), right.as_bytes()) {
        Some(edit) if aligned.relation == NameRelation::Extended => Aligned {
            relation: NameRelation::Slip,
            left_only: 0,
            right_only: 0,
            slip: Some((edit, small(left.len().min(right.len())))),
            ..aligned
        },
        _ => aligned,
    }
}

/// Two rows of words while they are being aligned; bit `i` of a mask is word `i`.
struct Alignment<'a> {
    world: &'a World,
    left: &'a [Word],
    right: &'a [Word],
    left_open: u32,
    right_open: u32,
    /// The weight of what matched, on both sides, in tenths.
    matched: u32,
    equal_words: u8,
    initials: u8,
    abbreviations: u8,
    nears: u8,
    slips: u8,
    slip: Option<(OneEdit, u8)>,
}

impl<'a> Alignment<'a> {
    fn new(world: &'a World, left: &'a [Word], right: &'a [Word]) -> Self {
        let (left, right) = (&left[..left.len().min(TOKENS_MAX)], &right[..right.len().min(TOKENS_MAX)]);
        Self {
            world,
            left,
            right,
            left_open: all(left.len()),
            right_open: all(right.len()),
            matched: 0,
            equal_words: 0,
            initials: 0,
            abbreviations: 0,
            nears: 0,
            slips: 0,
            slip: None,
        }
    }

    /// Matches equal words.
    fn take_equal(&mut self) {
        for (at, word) in self.left.iter().enumerate() {
            let equal = bits(self.right_open).find(|&other| self.right[other].hash == word.hash);
            if let Some(other) = equal {
                self.close(1 << at, 1 << other, EQUAL_TENTHS);
                self.equal_words += 1;
            }
        }
    }

    /// Matches neighbouring words of one side with one word of the other that writes them together.
    fn take_joined(&mut self) {
        for other in bits(self.right_open) {
            if let Some(run) = joined_run(self.world, self.left, self.left_open, self.right[other]) {
                self.close(run, 1 << other, EQUAL_TENTHS);
                self.equal_words += 1;
            }
        }
        for at in bits(self.left_open) {
            if let Some(run) = joined_run(self.world, self.right, self.right_open, self.left[at]) {
                self.close(1 << at, run, EQUAL_TENTHS);
                self.equal_words += 1;
            }
        }
    }

    /// Matches everything open at once when it is one slip apart and only cut differently:
    /// `TodisenPemux` / `Todisen Pemu`.
    fn take_run_slip(&mut self) {
        if self.left_open.count_ones() == self.right_open.count_ones() {
            return;
        }
        let (left, right) =
            (Run::of(self.world, self.left, self.left_open), Run::of(self.world, self.right, self.right_open));
        let letters = left.bytes().len().min(right.bytes().len());
        if letters < SLIP_LETTERS_MIN || left.bytes()[0] != right.bytes()[0] {
            return;
        }
        if let Some(edit) = one_edit(left.bytes(), right.bytes()) {
            self.note_slip(edit, letters);
            self.close(self.left_open, self.right_open, Match::Slip(edit).tenths());
        }
    }

    /// Matches the open words that are alike, each with the one it is most alike to.
    fn take_alike(&mut self) {
        for at in bits(self.left_open) {
            let best = bits(self.right_open)
                .filter_map(|other| Some((self.match_at(at, other)?, other)))
                .max_by_key(|(found, other)| (found.tenths(), usize::MAX - other));
            let Some((found, other)) = best else { continue };
            match found {
                Match::Slip(edit) => {
                    self.note_slip(edit, usize::from(self.left[at].length.min(self.right[other].length)));
                }
                Match::Near => self.nears += 1,
                Match::Initial => self.initials += 1,
                Match::Abbreviation => self.abbreviations += 1,
            }
            self.close(1 << at, 1 << other, found.tenths());
        }
    }

    fn match_at(&self, at: usize, other: usize) -> Option<Match> {
        let (left, right) = (self.left[at], self.right[other]);
        let (left_text, right_text) = (self.world.text(left), self.world.text(right));
        if left_text.len() <= right_text.len() {
            match_words(left, left_text, right, right_text)
        } else {
            match_words(right, right_text, left, left_text)
        }
    }

    fn note_slip(&mut self, edit: OneEdit, letters: usize) {
        self.slips += 1;
        self.slip = Some((edit, small(letters)));
    }

    /// Closes the words of two masks, worth `tenths` of their weights.
    fn close(&mut self, left: u32, right: u32, tenths: u32) {
        self.left_open &= !left;
        self.right_open &= !right;
        self.matched += (weight_of(self.left, left) + weight_of(self.right, right)) * tenths;
    }

    /// The word that is open when it is the only one.
    fn only_open_word(&self) -> Option<Word> {
        match (self.left_open.count_ones(), self.right_open.count_ones()) {
            (1, 0) => bits(self.left_open).next().map(|at| self.left[at]),
            (0, 1) => bits(self.right_open).next().map(|at| self.right[at]),
            _ => None,
        }
    }

    fn has_middle_initial(&self) -> bool {
        let between = |words: &[Word], open: u32| {
            let at = open.trailing_zeros() as usize;
            at > 0 && at + 1 < words.len() && words[at].kind == Kind::Initial
        };
        match (self.left_open.count_ones(), self.right_open.count_ones()) {
            (1, 0) => between(self.left, self.left_open),
            (0, 1) => between(self.right, self.right_open),
            _ => false,
        }
    }

    fn finish(&self) -> Aligned {
        let total = weight_of(self.left, all(self.left.len())) + weight_of(self.right, all(self.right.len()));
        Aligned {
            relation: self.relation(),
            similarity: Score::from_ratio(self.matched, total * EQUAL_TENTHS),
            left_only: small(self.left_open.count_ones() as usize),
            right_only: small(self.right_open.count_ones() as usize),
            equal_words: self.equal_words,
            initials: self.initials,
            middle_initial: self.has_middle_initial(),
            abbreviations: self.abbreviations,
            slip: self.slip,
        }
    }

    fn relation(&self) -> NameRelation {
        let open = self.left_open.count_ones() + self.right_open.count_ones();
        let one_sided = self.left_open == 0 || self.right_open == 0;
        let shortened = self.initials + self.abbreviations > 0;
        if self.matched == 0 {
            return NameRelation::Silent;
        }
        match (open, self.slips + self.nears, shortened) {
            (0, 0, false) => NameRelation::SameWords,
            (0, 1, false) if self.slips == 1 => NameRelation::Slip,
            (1, 0, false) if self.equal_words > 1 && self.has_middle_initial() => NameRelation::Shortened,
            (_, 0, true) if one_sided && self.equal_words > 0 && (open == 0 || self.initials > 0) => {
                NameRelation::Shortened
            }
            (_, 0, _) if one_sided && self.equal_words > 0 => self.extension(),
            _ => NameRelation::Overlapping,
        }
    }

    /// Whether the words that only one name has make it a branch of the other.
    fn extension(&self) -> NameRelation {
        let narrows = |words: &[Word], open: u32| bits(open).any(|at| words[at].narrowing);
        if narrows(self.left, self.left_open) || narrows(self.right, self.right_open) {
            NameRelation::Narrowed
        } else {
            NameRelation::Extended
        }
    }
}

/// How two words that differ match, the shorter one first.
fn match_words(short: Word, short_text: &str, long: Word, long_text: &str) -> Option<Match> {
    if [short, long].iter().any(|word| word.solid) {
        return None;
    }
    if short_text.chars().next() != long_text.chars().next() {
        return None;
    }
    if short.kind == Kind::Initial || long.kind == Kind::Initial {
        let fits = short.kind == Kind::Initial && long.kind == Kind::Word && short_text.chars().count() == 1;
        return fits.then_some(Match::Initial);
    }
    let slip = one_edit(short_text.as_bytes(), long_text.as_bytes());
    if let Some(edit) = slip.filter(|_| short_text.len() >= SLIP_LETTERS_MIN && !short.acronym && !long.acronym) {
        return Some(Match::Slip(edit));
    }
    if short_text.len() >= ABBREVIATION_LETTERS_MIN && long_text.starts_with(short_text) {
        return Some(Match::Abbreviation);
    }
    let near = short_text.len() >= NEAR_LETTERS_MIN
        && long_text.len() - short_text.len() <= NEAR_EDITS_MAX
        && osa::distance(short_text.chars(), long_text.chars()) <= NEAR_EDITS_MAX;
    near.then_some(Match::Near)
}

/// The run of neighbouring open words whose texts, one after another, are the text of `whole`.
fn joined_run(world: &World, words: &[Word], open: u32, whole: Word) -> Option<u32> {
    for start in bits(open) {
        let mut rest = world.text(whole);
        let mut run = 0_u32;
        for (at, part) in words.iter().enumerate().skip(start).take(JOINED_WORDS_MAX) {
            let shorter = rest.strip_prefix(world.text(*part)).filter(|_| open & (1 << at) != 0);
            let Some(shorter) = shorter else { break };
            rest = shorter;
            run |= 1 << at;
            if rest.is_empty() {
                return (run.count_ones() > 1).then_some(run);
            }
        }
    }
    None
}

/// The texts of some words, one after another, on the stack.
struct Run {
    buffer: [u8; RUN_BYTES_MAX],
    length: usize,
}

impl Run {
    /// Empty when the words are too long, or in a script whose letters are words, or hold a number.
    fn of(world: &World, words: &[Word], mask: u32) -> Self {
        let mut run = Self { buffer: [0; RUN_BYTES_MAX], length: 0 };
        for at in bits(mask) {
            let bytes = world.text(words[at]).as_bytes();
            if words[at].solid || run.length + bytes.len() > RUN_BYTES_MAX {
                return Self { buffer: [0; RUN_BYTES_MAX], length: 0 };
            }
            run.buffer[run.length..run.length + bytes.len()].copy_from_slice(bytes);
            run.length += bytes.len();
        }
        run
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// A mask of the first `count` words.
fn all(count: usize) -> u32 {
    (1_u32 << count) - 1
}

/// The words of a mask.
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

fn small(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}
