//! The details of a text that must not be lost: its numbers, dates, paths, names and negations.
//!
//! In scripts without capitals a name cannot be told from another word, so that there every word counts as a name, and
//! where words are not spaced, every Han and Katakana character.
//!
//! **Invariant:** when in doubt a word is a detail. The price of that is a merge that a person is asked about; the
//! price of the contrary is a memory.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization as _;

use super::words::{DATES, NEGATIONS, NEGATIONS_WITHIN, NUMBERS, OPENERS, is_in};

/// What a text says in detail.
#[derive(Default)]
pub(super) struct Details {
    /// Numbers with how often each is said: losing one of two is losing one.
    pub(super) numbers: BTreeMap<String, usize>,
    /// Dates.
    pub(super) dates: BTreeSet<String>,
    /// Paths, addresses, identifiers: as they are written.
    pub(super) paths: BTreeSet<String>,
    /// Names, in lower case.
    pub(super) names: BTreeSet<String>,
    /// Every word in lower case, and every character of scripts without spaces.
    pub(super) words: BTreeSet<String>,
    /// How often it negates.
    pub(super) negations: usize,
}

/// A word as it stands in its sentence.
struct Word<'a> {
    text: &'a str,
    begins_sentence: bool,
}

/// Reads a text.
pub(super) fn details(text: &str) -> Details {
    let text: String = text.nfc().map(|c| if matches!(c, '’' | 'ʼ' | '＇') { '\'' } else { c }).collect();
    let mut details = Details::default();
    let words = words(&text);
    // A word that also stands within a sentence without a capital is no name where it begins one.
    let lower: BTreeSet<&str> = words.iter().map(|word| word.text).filter(|word| !has_capital(word)).collect();
    for word in &words {
        details.take(word, &lower);
    }
    details.negations += NEGATIONS_WITHIN.iter().map(|negation| text.matches(negation).count()).sum::<usize>();
    details
}

impl Details {
    fn take(&mut self, word: &Word<'_>, lower: &BTreeSet<&str>) {
        let key = base(word.text);
        self.words.insert(key.clone());
        if is_negation(&key) {
            self.negations += 1;
        } else if let Some((_, number)) = NUMBERS.iter().find(|(name, _)| *name == key) {
            self.count(number);
        } else if is_in(DATES, &key) {
            self.dates.insert(key);
        } else if is_date(word.text) {
            self.dates.insert(word.text.to_owned());
        } else if is_path(word.text) {
            self.paths.insert(word.text.to_owned());
        } else if word.text.chars().any(char::is_numeric) {
            self.count(&plain_number(&key));
        } else if is_symbol(word.text) {
            self.count(word.text);
        } else if is_name(word, &key, lower) {
            self.names.insert(key);
        }
    }

    fn count(&mut self, number: &str) {
        *self.numbers.entry(number.to_owned()).or_default() += 1;
    }
}

/// A word in lower case, without the ending that says whose.
fn base(word: &str) -> String {
    let lower = word.to_lowercase();
    let whose = lower.strip_suffix("'s").or_else(|| lower.strip_suffix('\'')).unwrap_or(&lower);
    whose.to_owned()
}

fn is_negation(key: &str) -> bool {
    let plain = key.replace('\'', "");
    is_in(NEGATIONS, key) || is_in(NEGATIONS, &plain) || key.ends_with("n't") || key.starts_with("n'")
}

/// Whether it is spelled as a day: three groups of digits with one kind of mark between them.
fn is_date(word: &str) -> bool {
    ['-', '/', '.'].iter().any(|mark| {
        let groups: Vec<&str> = word.split(*mark).collect();
        groups.len() == 3 && groups.iter().all(|g| (1..=4).contains(&g.len()) && g.bytes().all(|b| b.is_ascii_digit()))
    })
}

fn is_path(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let dotted = inner.split('.').count() > 1 && inner.split('.').all(|part| part.chars().any(char::is_alphabetic));
    dotted || word.contains(['/', '\\', '@', '_', '~', '=', '*', '`']) || word.contains("::") || word.starts_with("--")
}

/// A number whose thousands are set off by commas is the number without them.
fn plain_number(key: &str) -> String {
    let grouped = key.contains(',') && key.split(',').skip(1).all(|group| group.len() >= 3);
    if grouped { key.replace(',', "") } else { key.to_owned() }
}

/// Signs that say what a number counts, standing alone.
fn is_symbol(word: &str) -> bool {
    word.chars().all(|c| matches!(c, '%' | '$' | '€' | '£' | '¥' | '₹' | '°'))
}

fn has_capital(word: &str) -> bool {
    word.chars().any(char::is_uppercase)
}

fn is_name(word: &Word<'_>, key: &str, lower: &BTreeSet<&str>) -> bool {
    let text = word.text;
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    // In hiragana are the endings and the particles; a name is seldom in it.
    if letters().next().is_none() || letters().all(is_hiragana) {
        return false;
    }
    if letters().any(|c| !c.is_lowercase() && !c.is_uppercase()) {
        return true;
    }
    if !has_capital(text) || text == "I" || text.starts_with("I'") {
        return false;
    }
    let only_first = letters().skip(1).all(char::is_lowercase) && letters().count() > 1;
    !(only_first && word.begins_sentence && (is_in(OPENERS, key) || lower.contains(key)))
}

/// Cuts a text into words without the marks around them.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut begins_sentence = true;
    for piece in pieces(text) {
        let word = bare(piece);
        if !word.is_empty() {
            words.push(Word { text: word, begins_sentence });
            begins_sentence = false;
        }
        begins_sentence |= piece.ends_with(['.', '!', '?', ':', '。', '\n']);
    }
    words
}

/// Cuts a text where a word may end. What ends a sentence stays with its word.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut before = ' ';
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let end = at + c.len_utf8();
        let after = rest.peek().map_or(' ', |(_, next)| *next);
        if is_unspaced(c) {
            pieces.extend([&text[from..at], &text[at..end]]);
            from = end;
        } else if is_break(before, c, after) {
            pieces.push(&text[from..end]);
            from = end;
        }
        before = c;
    }
    pieces.push(&text[from..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn is_break(before: char, c: char, after: char) -> bool {
    let marks = ",;!?()[]{}<>\"“”„«»…—|、。，；！？（）「」『』・";
    c.is_whitespace() || (marks.contains(c) && !(before.is_numeric() && after.is_numeric()))
}

fn bare(piece: &str) -> &str {
    let start = |c: char| !c.is_alphanumeric() && !"%$€£¥₹°#+-−/\\~._@*".contains(c);
    let end = |c: char| !c.is_alphanumeric() && !"%°/\\_+#$€£¥₹*".contains(c);
    let word = piece.trim_start_matches(start).trim_end_matches(end);
    let marks_only = !word.chars().any(char::is_alphanumeric);
    if marks_only && !is_symbol(word) { "" } else { word }
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}')
}

/// Han, Hiragana and Katakana: scripts whose words are not spaced.
fn is_unspaced(c: char) -> bool {
    is_hiragana(c)
        || matches!(c, '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}
