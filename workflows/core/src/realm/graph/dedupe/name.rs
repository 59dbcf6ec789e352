//! What the tokens of a name mean: words, initials, numbers, legal forms, titles, generations; and the name's keys.
//!
//! **Invariant:** facts depend on the name and on whether its type is a person's, on nothing else.
//! A new kind of token is a variant of [`Kind`], given in [`Reader::assign`]; a new key is a field of [`NameFacts`].

use super::lexicon::{self, Countries};
use super::text::{Shape, Tokens};
use crate::algo::stable_hash::{hash_bytes, hash_number};

/// Separates the hashes of words from those of keys.
const WORD_SEED: u64 = 1;
const KEY_SEED: u64 = 2;
const NUMBER_SEED: u64 = 3;

/// Longest acronym, in letters: longer all-capital words are shouted names.
const ACRONYM_LETTERS_MAX: usize = 8;

/// Longest word in capitals in which a single letter makes another word.
const ACRONYM_WORD_LETTERS_MAX: usize = 5;

/// What a token is in its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A word that says whose name this is.
    Word,
    /// A letter that stands for a word: "M. Curie".
    Initial,
    /// A token with digits, or a Roman numeral.
    Number,
    /// An article, preposition or ampersand.
    Function,
    /// A legal form: Inc, GmbH, 株式会社.
    Legal,
    /// A title in front of a person's name.
    Title,
    /// Jr, Sr, father, son.
    Generation,
    /// The acronym of the rest of the same name: "World Health Organization (WHO)".
    Alias,
}

impl Kind {
    /// Whether the token helps to say whose name this is.
    pub(super) fn is_content(self) -> bool {
        matches!(self, Self::Word | Self::Initial | Self::Number)
    }
}

/// One token as it is stored: equal hashes mean equal words, up to a chance of one in 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredToken {
    /// Of the word that stands for all its spellings ("université" is "university", "II" is "2").
    pub(super) hash: u64,
    /// Where the folded text begins in the arena of all names.
    pub(super) start: u32,
    /// Bytes of folded text.
    pub(super) length: u16,
    pub(super) kind: Kind,
    /// Whether it makes a name that of a branch.
    pub(super) narrowing: bool,
    /// What the source looked like.
    pub(super) shape: Shape,
}

impl StoredToken {
    /// Whether a letter of it is a syllable or a word.
    pub(super) fn is_ideographic(&self) -> bool {
        self.shape.has(Shape::IDEOGRAPHIC)
    }

    /// Whether it is so short and capital that one letter makes another acronym of it.
    pub(super) fn is_acronym(&self) -> bool {
        (self.shape.has(Shape::UPPER) || self.shape.has(Shape::DOTTED))
            && usize::from(self.length) <= ACRONYM_WORD_LETTERS_MAX
    }
}

/// The keys and marks of one name. A key of zero is no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameFacts {
    /// All letters without spacing and punctuation.
    pub(super) folded: u64,
    /// The content words in order, without legal forms, articles and titles.
    pub(super) core: u64,
    /// The content words in any order, by their lemmas.
    pub(super) bag: u64,
    /// The letters of a name that is an acronym.
    pub(super) acronym: u64,
    /// The first letters of the content words.
    pub(super) initials: u64,
    /// The first letters of the content words and the function words between them.
    pub(super) initials_all: u64,
    /// First letter and last word of a name whose first word may be written as an initial.
    pub(super) first_letter_last_word: u64,
    /// Every number in it, sorted; Roman numerals included.
    pub(super) numbers: u64,
    /// Every number written with digits, sorted.
    pub(super) digits: u64,
    /// Countries of its legal forms.
    pub(super) countries: Countries,
    /// Letters of the core, at most 255.
    pub(super) core_letters: u8,
    /// Content tokens, at most 255.
    pub(super) content_count: u8,
    /// The generation it says; zero when it says none.
    pub(super) generation: u8,
    pub(super) marks: Marks,
}

/// Yes-or-no facts of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u8);

impl Marks {
    /// The first content token is an initial.
    pub(super) const STARTS_WITH_INITIAL: Self = Self(1);
    /// Ends in a Roman numeral.
    pub(super) const ROMAN_END: Self = Self(1 << 1);
    /// A title was set aside.
    pub(super) const TITLED: Self = Self(1 << 2);
    /// Begins with an article.
    pub(super) const ARTICLE: Self = Self(1 << 4);
    /// The last content token is a single letter.
    pub(super) const LETTER_END: Self = Self(1 << 3);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Reads names one after another, reusing its buffers.
#[derive(Debug, Default)]
pub(super) struct Reader {
    tokens: Tokens,
    kinds: Vec<Kind>,
    phrases: Vec<(usize, &'static str)>,
    scratch: String,
    hashes: Vec<u64>,
}

impl Reader {
    /// Reads a name; its folded text goes to `arena`, its tokens to `stored`.
    pub(super) fn read(
        &mut self,
        name: &str,
        person: bool,
        arena: &mut String,
        stored: &mut Vec<StoredToken>,
    ) -> NameFacts {
        self.tokens.read(name);
        let mut facts = NameFacts::default();
        self.assign(person, &mut facts);
        let base = arena.len();
        arena.push_str(&self.tokens.text);
        self.hashes.clear();
        for at in 0..self.tokens.list.len() {
            let token = self.tokens.list[at];
            let hash = self.lemma_hash(at);
            self.hashes.push(hash);
            stored.push(StoredToken {
                hash,
                narrowing: lexicon::is_narrowing(self.core_word(at)),
                start: u32::try_from(base + token.start).unwrap_or(u32::MAX),
                length: u16::try_from(token.end - token.start).unwrap_or(u16::MAX),
                kind: self.kinds[at],
                shape: token.shape,
            });
        }
        self.name_keys(&mut facts);
        self.number_keys(&mut facts);
        self.short_keys(&mut facts);
        facts
    }

    /// The lower-cased name, in a buffer that is reused.
    pub(super) fn lower(&mut self, name: &str) -> &str {
        self.scratch.clear();
        self.scratch.extend(name.chars().flat_map(char::to_lowercase));
        &self.scratch
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.word(self.tokens.list[at])
    }

    fn shape(&self, at: usize) -> Shape {
        self.tokens.list[at].shape
    }

    /// Decides what each token is.
    fn assign(&mut self, person: bool, facts: &mut NameFacts) {
        self.kinds.clear();
        for at in 0..self.tokens.list.len() {
            let kind = self.plain_kind(at);
            self.kinds.push(kind);
        }
        let end = self.body_end();
        let end = self.take_tail(end, facts);
        self.take_head(end, person, facts);
        self.take_alias();
        self.take_phrases();
        self.mark_roman(end, facts);
    }

    /// The kind of a token by itself.
    fn plain_kind(&self, at: usize) -> Kind {
        let (word, shape) = (self.word(at), self.shape(at));
        let shouted = shape.has(Shape::UPPER) && self.tokens.has_lower;
        if shape.has(Shape::AMPERSAND) || (lexicon::is_function_word(word) && !shouted && !shape.has(Shape::DOT_AFTER))
        {
            Kind::Function
        } else if shape.has(Shape::DIGIT) {
            Kind::Number
        } else if shape.has(Shape::DOTTED) || (word.chars().count() == 1 && !shape.has(Shape::IDEOGRAPHIC)) {
            Kind::Initial
        } else {
            Kind::Word
        }
    }

    /// Where the name ends when brackets at its end are left out.
    fn body_end(&self) -> usize {
        let count = self.tokens.list.len();
        let bracketed = (0..count)
            .rev()
            .take_while(|&at| self.shape(at).has(Shape::BRACKETED))
            .count();
        if bracketed == count { count } else { count - bracketed }
    }

    /// Sets aside legal forms and generations at the end; returns where the rest ends.
    fn take_tail(&mut self, mut end: usize, facts: &mut NameFacts) -> usize {
        while end > 1 {
            let last = end - 1;
            if let Some((start, countries)) = self.form_ending_at(last) {
                facts.countries = narrowed(facts.countries, countries);
                self.kinds[start..end].fill(Kind::Legal);
                end = start;
            } else if self.shape(last).has(Shape::AMPERSAND) && end < self.kinds.len() && self.kinds[end] == Kind::Legal
            {
                end = last;
            } else if let Some(generation) = self.generation_at(last) {
                facts.generation = generation;
                self.kinds[last] = Kind::Generation;
                end = last;
            } else {
                break;
            }
        }
        end
    }

    /// A legal form whose last token is `last`: its first token and its countries. It never takes the whole name.
    fn form_ending_at(&self, last: usize) -> Option<(usize, Countries)> {
        for count in [4, 3, 2] {
            let Some(start) = (last + 1).checked_sub(count).filter(|&start| start > 0) else {
                continue;
            };
            let letters: String = (start..=last).map(|at| self.word(at)).collect();
            if letters.chars().count() == count {
                if let Some(countries) = lexicon::legal_form(&letters) {
                    return Some((start, countries));
                }
            }
        }
        let glued = lexicon::GLUED_FORMS.iter().find(|(form, _)| *form == self.word(last));
        if let Some((_, countries)) = glued {
            return Some((last, *countries));
        }
        let countries = lexicon::legal_form(self.word(last))?;
        self.reads_as_form(last).then_some((last, countries))
    }

    /// Short forms are also words ("Spa", "As", "Too"): written as one, only the common ones count.
    fn reads_as_form(&self, at: usize) -> bool {
        const COMMON: [&str; 12] = [
            "bhd", "co", "inc", "llc", "ltd", "oy", "oyj", "plc", "pte", "pty", "pvt", "sdn",
        ];
        let word = self.word(at);
        let ordinary = self.shape(at).has(Shape::CAPITALISED) && !self.shape(at).has(Shape::DOT_AFTER);
        let dotted_only = matches!(word, "ad" | "eg" | "ev") && !self.shape(at).has(Shape::DOTTED);
        word.chars().count() > 3 || !(ordinary || dotted_only) || COMMON.contains(&word)
    }

    /// The generation that the token at the end says, when a name is left in front of it.
    fn generation_at(&self, last: usize) -> Option<u8> {
        let before = last - 1;
        if self.shape(before).has(Shape::AMPERSAND) || !self.kinds[..last].contains(&Kind::Word) {
            return None;
        }
        lexicon::generation(self.word(last))
    }

    /// Sets aside legal forms and titles at the beginning.
    fn take_head(&mut self, end: usize, person: bool, facts: &mut NameFacts) {
        let mut at = 0;
        while at + 1 < end {
            let (word, shape) = (self.word(at), self.shape(at));
            let form = lexicon::legal_form(word).filter(|_| lexicon::is_leading_form(word));
            let glued = lexicon::GLUED_FORMS
                .iter()
                .find(|(form, _)| *form == word)
                .map(|(_, countries)| *countries);
            if let Some(countries) = glued.or(form.filter(|_| shape.has(Shape::UPPER) && self.tokens.has_lower)) {
                facts.countries = narrowed(facts.countries, countries);
                self.kinds[at] = Kind::Legal;
            } else if person && lexicon::is_title(word) {
                facts.marks.set(Marks::TITLED);
                self.kinds[at] = Kind::Title;
            } else if self.kinds[at] == Kind::Function {
                facts.marks.set(Marks::ARTICLE);
            } else {
                break;
            }
            at += 1;
        }
    }

    /// An acronym that the other words of the same name spell out says nothing new.
    fn take_alias(&mut self) {
        const LETTERS_MIN: usize = 3;
        let count = self.kinds.len();
        if count <= LETTERS_MIN {
            return;
        }
        let candidate = (0..count).find(|&at| {
            let shape = self.shape(at);
            self.kinds[at].is_content()
                && (shape.has(Shape::UPPER) || shape.has(Shape::DOTTED))
                && self.word(at).chars().count() >= LETTERS_MIN
                && (self.spells(at, false) || self.spells(at, true))
        });
        if let Some(at) = candidate {
            self.kinds[at] = Kind::Alias;
        }
    }

    /// Makes one word of a phrase; its other words are grammar from then on.
    fn take_phrases(&mut self) {
        self.phrases.clear();
        for start in 0..self.kinds.len() {
            let phrase = lexicon::PHRASES.iter().find(|(words, _)| {
                let end = start + words.len();
                end <= self.kinds.len() && (start..end).all(|at| self.word(at) == words[at - start])
            });
            if let Some((words, one)) = phrase {
                self.phrases.push((start, one));
                self.kinds[start + 1..start + words.len()].fill(Kind::Function);
            }
        }
    }

    /// The word at `at`, or the one that stands for the phrase that begins there.
    fn core_word(&self, at: usize) -> &str {
        let phrase = self.phrases.iter().find(|(start, _)| *start == at);
        phrase.map_or_else(|| self.word(at), |(_, one)| one)
    }

    /// Whether the first letters of the other tokens are the letters of the token at `at`.
    fn spells(&self, at: usize, with_function_words: bool) -> bool {
        let others = (0..self.kinds.len()).filter(|&other| {
            other != at
                && (self.kinds[other].is_content() || (with_function_words && self.kinds[other] == Kind::Function))
                && !self.shape(other).has(Shape::AMPERSAND)
        });
        others
            .filter_map(|other| self.word(other).chars().next())
            .eq(self.word(at).chars())
    }

    /// A Roman numeral after the first word is a number; a single letter only at the very end.
    fn mark_roman(&mut self, end: usize, facts: &mut NameFacts) {
        for at in 1..self.kinds.len() {
            let shape = self.shape(at);
            let written = shape.has(Shape::UPPER) || !self.has_upper();
            let closes = at + 1 == end && !shape.has(Shape::DOT_AFTER);
            let long = self.word(at).len() > 1;
            let eligible =
                matches!(self.kinds[at], Kind::Word | Kind::Initial | Kind::Function) && !shape.has(Shape::DOTTED);
            if eligible && written && (long || closes) && lexicon::roman(self.word(at)).is_some() {
                self.kinds[at] = Kind::Number;
                if closes {
                    facts.marks.set(Marks::ROMAN_END);
                }
            }
        }
    }

    fn has_upper(&self) -> bool {
        self.tokens
            .list
            .iter()
            .any(|token| token.shape.has(Shape::UPPER) || token.shape.has(Shape::CAPITALISED))
    }

    /// The hash of the word that stands for all spellings of a token.
    fn lemma_hash(&self, at: usize) -> u64 {
        let word = self.core_word(at);
        if self.kinds[at] == Kind::Number && !self.shape(at).has(Shape::DIGIT) {
            if let Some(value) = lexicon::roman(word) {
                return hash_bytes(WORD_SEED, value.to_string().as_bytes());
            }
        }
        hash_bytes(WORD_SEED, lexicon::lemma(word.trim_start_matches('0')).as_bytes())
    }

    /// The keys made of whole words.
    fn name_keys(&mut self, facts: &mut NameFacts) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        for at in 0..self.kinds.len() {
            let word = self.word(at);
            let word = if word == "and" && at > 0 { "&" } else { word };
            scratch.extend(word.chars().filter(|&letter| letter != '.'));
        }
        facts.folded = key_of(&scratch, 0);
        scratch.clear();
        let mut letters = 0_usize;
        for at in (0..self.kinds.len()).filter(|&at| self.kinds[at].is_content()) {
            scratch.push_str(self.core_word(at));
            facts.content_count = facts.content_count.saturating_add(1);
        }
        letters += scratch.chars().count();
        facts.core = key_of(&scratch, 1);
        facts.core_letters = u8::try_from(letters).unwrap_or(u8::MAX);
        let kinds = &self.kinds;
        let mut bag: Vec<u64> = self
            .hashes
            .iter()
            .zip(kinds)
            .filter(|(_, kind)| kind.is_content())
            .map(|(hash, _)| *hash)
            .collect();
        bag.sort_unstable();
        facts.bag = bag_key(&bag);
        self.scratch = scratch;
    }

    /// The numbers in a name, as a set; leading zeros do not count.
    fn number_keys(&self, facts: &mut NameFacts) {
        let mut digits = Vec::new();
        let mut romans = Vec::new();
        for at in 0..self.kinds.len() {
            if self.shape(at).has(Shape::DIGIT) {
                let groups = self
                    .word(at)
                    .split(|letter: char| !letter.is_numeric() && letter != '.');
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

    /// The keys made of first letters.
    fn short_keys(&mut self, facts: &mut NameFacts) {
        let content: Vec<usize> = (0..self.kinds.len())
            .filter(|&at| self.kinds[at].is_content())
            .collect();
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
        key_of(&letters, 2)
    }
}

/// Two forms in one name ("GmbH & Co. KG") narrow the countries down, as long as one is left.
fn narrowed(so_far: Countries, more: Countries) -> Countries {
    match so_far {
        0 => more,
        _ if so_far & more == 0 => so_far | more,
        _ => so_far & more,
    }
}

fn number_hash(digits: &str) -> u64 {
    hash_bytes(NUMBER_SEED, digits.as_bytes())
}

/// The key of a text; nothing has no key, and no text has the key zero.
fn key_of(text: &str, kind: u64) -> u64 {
    if text.is_empty() {
        0
    } else {
        hash_bytes(KEY_SEED + kind, text.as_bytes()).max(1)
    }
}

/// The key of sorted hashes.
fn bag_key(sorted: &[u64]) -> u64 {
    if sorted.is_empty() {
        return 0;
    }
    sorted
        .iter()
        .fold(NUMBER_SEED, |key, &hash| hash_number(key, hash))
        .max(1)
}
