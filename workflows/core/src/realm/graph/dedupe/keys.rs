//! The keys of a name: what it can share with another one.
//!
//! **Invariant:** a key of zero is no key; equal keys mean equal contents, up to a chance of one in 2^64.

use super::lexicon;
use super::name::{Kind, Marks, NameFacts};
use super::reader::Reader;
use super::text::Shape;
use crate::algo::stable_hash::{hash_bytes, hash_number};

/// Seeds that keep words, keys and numbers apart.
const WORD_SEED: u64 = 1;
const FOLDED_SEED: u64 = 2;
const CORE_SEED: u64 = 3;
const LETTERS_SEED: u64 = 4;
const BAG_SEED: u64 = 5;
const NUMBER_SEED: u64 = 6;
const SERIES_SEED: u64 = 7;

/// Longest acronym, in letters: longer all-capital words are shouted names.
const ACRONYM_LETTERS_MAX: usize = 8;

impl Reader {
    /// The hash of the word that stands for all spellings of a token.
    pub(super) fn lemma_hash(&self, at: usize) -> u64 {
        let word = self.core_word(at);
        let is_roman = self.kinds[at] == Kind::Number && !self.shape(at).has(Shape::DIGIT);
        match lexicon::roman(word).filter(|_| is_roman) {
            Some(value) => hash_bytes(WORD_SEED, value.to_string().as_bytes()),
            None => hash_bytes(WORD_SEED, lexicon::lemma(word.trim_start_matches('0')).as_bytes()),
        }
    }

    /// The keys made of whole words.
    pub(super) fn name_keys(&mut self, facts: &mut NameFacts) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        for at in 0..self.kinds.len() {
            let word = self.word(at);
            let word = if word == "and" && at > 0 { "&" } else { word };
            scratch.extend(word.chars().filter(|&letter| letter != '.'));
        }
        facts.folded = key_of(FOLDED_SEED, &scratch);
        scratch.clear();
        for at in (0..self.kinds.len()).filter(|&at| self.kinds[at].is_content()) {
            scratch.push_str(self.core_word(at));
            facts.content_count = facts.content_count.saturating_add(1);
        }
        facts.core = key_of(CORE_SEED, &scratch);
        facts.core_letters = u8::try_from(scratch.chars().count()).unwrap_or(u8::MAX);
        let kinds = &self.kinds;
        let mut bag: Vec<u64> =
            self.hashes.iter().zip(kinds).filter(|(_, kind)| kind.is_content()).map(|(hash, _)| *hash).collect();
        bag.sort_unstable();
        facts.bag = bag_key(&bag);
        self.scratch = scratch;
    }

    /// The numbers in a name, as a set; leading zeros do not count.
    pub(super) fn number_keys(&self, facts: &mut NameFacts) {
        let mut digits = Vec::new();
        let mut romans = Vec::new();
        for at in 0..self.kinds.len() {
            if self.shape(at).has(Shape::DIGIT) {
                let groups = self.word(at).split(|letter: char| !letter.is_numeric() && letter != '.');
                digits.extend(
                    groups
                        .map(|group| group.trim_start_matches('0').trim_matches('.'))
                        .filter(|g| !g.is_empty())
                        .map(number_hash),
                );
            } else if self.kinds[at] == Kind::Number {
                romans.extend(lexicon::roman(self.word(at)).map(|value| number_hash(&value.to_string())));
            }
        }
        digits.sort_unstable();
        facts.digits = bag_key(&digits);
        digits.extend(romans);
        digits.sort_unstable();
        facts.numbers = bag_key(&digits);
    }

    /// The key of a name without what tells the members of a series apart.
    pub(super) fn series_key(&mut self, facts: &mut NameFacts) {
        let last = (0..self.kinds.len()).rev().find(|&at| self.kinds[at].is_content());
        self.scratch.clear();
        let mut dropped = facts.generation != 0;
        for at in (0..self.kinds.len()).filter(|&at| self.kinds[at].is_content()) {
            let letter_at_end = Some(at) == last && self.kinds[at] == Kind::Initial;
            let whole = !letter_at_end && self.kinds[at] != Kind::Number;
            dropped |= !whole;
            let word = self.tokens.word(self.tokens.list[at]);
            let stays =
                |letter: &char| whole || (self.tokens.list[at].shape.has(Shape::DIGIT) && letter.is_alphabetic());
            self.scratch.extend(word.chars().filter(stays));
        }
        facts.series = key_of(SERIES_SEED, &self.scratch);
        if dropped {
            facts.marks.set(Marks::IN_SERIES);
        }
    }

    /// The keys made of first letters.
    pub(super) fn short_keys(&mut self, facts: &mut NameFacts) {
        let content: Vec<usize> = (0..self.kinds.len()).filter(|&at| self.kinds[at].is_content()).collect();
        let (Some(&first), Some(&last)) = (content.first(), content.last()) else {
            return;
        };
        if self.kinds[last] == Kind::Initial && content.len() > 1 {
            facts.marks.set(Marks::LETTER_END);
        }
        let single =
            content.len() == 1 && (self.shape(first).has(Shape::UPPER) || self.shape(first).has(Shape::DOTTED));
        let spelled = content.len() > 1 && content.iter().all(|&at| self.kinds[at] == Kind::Initial);
        let letters = usize::from(facts.core_letters);
        if (single || spelled) && (2..=ACRONYM_LETTERS_MAX).contains(&letters) && facts.numbers == 0 {
            facts.acronym = self.letters_key(&content, usize::MAX);
        }
        if content.len() < 2 || spelled {
            return;
        }
        facts.initials = self.letters_key(&content, 1);
        let all: Vec<usize> = (0..self.kinds.len())
            .filter(|&at| self.kinds[at].is_content() || self.kinds[at] == Kind::Function)
            .filter(|&at| !self.shape(at).has(Shape::AMPERSAND))
            .collect();
        facts.initials_all = self.letters_key(&all, 1);
        if self.kinds[first] == Kind::Initial {
            facts.marks.set(Marks::STARTS_WITH_INITIAL);
        }
        if let Some(letter) = self.word(first).chars().next() {
            facts.first_letter_last_word = hash_number(u64::from(u32::from(letter)), self.hashes[last]);
        }
    }

    /// The key of the first `take` letters of each token.
    fn letters_key(&self, tokens: &[usize], take: usize) -> u64 {
        let letters: String = tokens.iter().flat_map(|&at| self.word(at).chars().take(take)).collect();
        key_of(LETTERS_SEED, &letters)
    }
}

fn number_hash(digits: &str) -> u64 {
    hash_bytes(NUMBER_SEED, digits.as_bytes())
}

/// The key of a text; nothing has no key, and no text has the key zero.
fn key_of(seed: u64, text: &str) -> u64 {
    if text.is_empty() { 0 } else { hash_bytes(seed, text.as_bytes()).max(1) }
}

/// The key of sorted hashes.
fn bag_key(sorted: &[u64]) -> u64 {
    if sorted.is_empty() {
        return 0;
    }
    sorted.iter().fold(BAG_SEED, |key, &hash| hash_number(key, hash)).max(1)
}
