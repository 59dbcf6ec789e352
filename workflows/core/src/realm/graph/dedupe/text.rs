//! From a name to folded tokens: what two spellings of one name have in common.
//!
//! Folding is NFKC, full case folding, and the removal of diacritics that a writer may leave out; letters of every
//! script stay, so that 苹果 and 香蕉 remain two names. Spacing and punctuation only separate tokens, except where they
//! carry meaning: `C++`, `C#`, `1.2.3`, `R&D`.
//!
//! **Invariant:** the same text gives the same tokens on every machine; no locale is consulted.
//! What a token *means* is decided in `name.rs`, not here.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;

use super::fold::{fold_into, normalised};
use super::legal;

/// Tokens looked at in one name; a longer name is a sentence, and its first words decide.
pub(super) const TOKENS_MAX: usize = 24;

/// One folded token: a span of [`Tokens::text`] and what the source looked like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) shape: Shape,
}

/// What the source of a token looked like, before folding took it away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape(u16);

impl Shape {
    /// All cased letters are capitals, and there is one.
    pub(super) const UPPER: Self = Self(1);
    /// Single letters joined over dots or slashes: `U.N.`, `A/S`.
    pub(super) const DOTTED: Self = Self(1 << 1);
    /// Inside brackets.
    pub(super) const BRACKETED: Self = Self(1 << 2);
    /// Han, Kana or Hangul: a letter is a syllable or a word.
    pub(super) const IDEOGRAPHIC: Self = Self(1 << 3);
    /// Holds a digit.
    pub(super) const DIGIT: Self = Self(1 << 4);
    /// An ampersand, or a plus sign between words.
    pub(super) const AMPERSAND: Self = Self(1 << 5);
    /// A capital followed by small letters only: an ordinary word.
    pub(super) const CAPITALISED: Self = Self(1 << 6);
    /// A dot follows: an abbreviation.
    pub(super) const DOT_AFTER: Self = Self(1 << 7);

    /// Between double quotes.
    pub(super) const QUOTED: Self = Self(1 << 9);
    /// Nothing but a dot in front: the end of a domain, `goodreads.com`.
    pub(super) const AFTER_DOT: Self = Self(1 << 10);
    /// Small letters only.
    pub(super) const LOWER: Self = Self(1 << 11);
    /// Ends in a sign that carries meaning: `C++`, `C#`.
    pub(super) const SIGNED: Self = Self(1 << 8);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The folded tokens of one name; reused from name to name, so that folding does not allocate.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// All tokens, one after another, without a separator.
    pub(super) text: String,
    /// Their spans, in the order of the name.
    pub(super) list: Vec<Token>,
    /// Whether the source has a small letter somewhere: only then do capitals say something.
    pub(super) has_lower: bool,
    pieces: Vec<Piece>,
}

/// A run of letters and digits in the source, and what separates it from the run before.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: usize,
    end: usize,
    gap: Gap,
    bracketed: bool,
    quoted: bool,
    dot_after: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    Nothing,
    Dot,
    Comma,
    Slash,
    Apostrophe,
    Ampersand,
    Other,
}

impl Tokens {
    /// The folded text of one token.
    pub(super) fn word(&self, token: Token) -> &str {
        &self.text[token.start..token.end]
    }

    /// Replaces the content by the tokens of `name`.
    pub(super) fn read(&mut self, name: &str) {
        self.text.clear();
        self.list.clear();
        let source = normalised(name);
        self.has_lower = source.chars().any(char::is_lowercase);
        let mut pieces = std::mem::take(&mut self.pieces);
        split(&source, &mut pieces);
        let mut at = 0;
        while at < pieces.len() && self.list.len() < TOKENS_MAX {
            at = self.take_token(&source, &pieces, at);
        }
        self.pieces = pieces;
    }

    /// Joins the pieces that are one token, beginning at `at`; returns the first piece after it.
    fn take_token(&mut self, source: &str, pieces: &[Piece], at: usize) -> usize {
        let first = pieces[at];
        if first.gap == Gap::Ampersand && !self.list.is_empty() {
            self.push("&", first, Shape::AMPERSAND);
        }
        let mut end = at + 1;
        let mut shape = Shape::default();
        let mut joined = Cow::Borrowed(&source[first.start..first.end]);
        while let Some(next) = pieces.get(end) {
            let right = &source[next.start..next.end];
            let Some(join) = join_of(&joined, right, next.gap, shape) else {
                break;
            };
            if join == Join::Dotted {
                shape = shape.with(Shape::DOTTED);
            }
            joined = Cow::Owned(format!("{joined}{}{right}", if join == Join::Version { "." } else { "" }));
            end += 1;
        }
        let last = Piece { dot_after: pieces[end - 1].dot_after, ..first };
        self.push(&joined, last, shape);
        end
    }

    /// Folds one token and appends it, cutting off the legal forms that are written without a space.
    fn push(&mut self, raw: &str, piece: Piece, shape: Shape) {
        let start = self.text.len();
        fold_into(raw, &mut self.text);
        if self.text.len() == start {
            return;
        }
        let mut shape = shape.with(source_shape(raw));
        for (is, mark) in [
            (piece.bracketed, Shape::BRACKETED),
            (piece.quoted, Shape::QUOTED),
            (piece.gap == Gap::Dot, Shape::AFTER_DOT),
            (piece.dot_after, Shape::DOT_AFTER),
        ] {
            shape = if is { shape.with(mark) } else { shape };
        }
        let mut token = Token { start, end: self.text.len(), shape };
        if shape.has(Shape::IDEOGRAPHIC) {
            token = self.cut_glued_form(token);
        }
        self.list.push(token);
    }

    /// Pushes a legal form in front of the word, or moves one behind it; returns the token that is left.
    fn cut_glued_form(&mut self, token: Token) -> Token {
        let word = self.text[token.start..token.end].to_owned();
        for (form, _) in legal::GLUED {
            if let Some(rest) = word.strip_prefix(form).filter(|rest| !rest.is_empty()) {
                let cut = token.end - rest.len();
                self.list.push(Token { end: cut, ..token });
                return Token { start: cut, ..token };
            }
            if let Some(rest) = word.strip_suffix(form).filter(|rest| !rest.is_empty()) {
                let cut = token.start + rest.len();
                self.list.push(Token { end: cut, ..token });
                return Token { start: cut, ..token };
            }
        }
        token
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    Plain,
    Dotted,
    Version,
}

/// Whether `right` continues the token `left` over a gap.
fn join_of(left: &str, right: &str, gap: Gap, shape: Shape) -> Option<Join> {
    match gap {
        Gap::Dot | Gap::Slash if is_letter(right) && (is_letter(left) || shape.has(Shape::DOTTED)) => {
            Some(Join::Dotted)
        }
        Gap::Dot if ends_in_digit(left) && all_digits(right) => Some(Join::Version),
        Gap::Comma if ends_in_digit(left) && all_digits(right) && right.len() == 3 => Some(Join::Plain),
        Gap::Apostrophe if !is_elision(left) => Some(Join::Plain),
        _ => None,
    }
}

fn is_letter(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn ends_in_digit(text: &str) -> bool {
    text.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit())
}

/// "l'", "d'", "dell'": an article that lost its vowel, not a part of the name.
fn is_elision(text: &str) -> bool {
    let small = text.to_lowercase();
    matches!(small.as_str(), "l" | "d" | "dell" | "all" | "dall" | "nell" | "sull" | "un" | "qu")
}

/// Cuts the source into runs of letters and digits of one script.
fn split(source: &str, pieces: &mut Vec<Piece>) {
    pieces.clear();
    let mut around = Around::default();
    let mut open: Option<(Piece, bool)> = None;
    let mut letters = source.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|&(_, next)| next);
        if !is_word_letter(letter) && !sticks(letter, open.is_some(), next) {
            pieces.extend(open.take().map(|(piece, _)| Piece { dot_after: letter == '.', ..piece }));
            around.pass(letter);
            continue;
        }
        let (end, ideographic) = (at + letter.len_utf8(), is_ideographic(letter));
        match &mut open {
            Some((piece, script)) if *script == ideographic || !letter.is_alphabetic() => piece.end = end,
            _ => {
                pieces.extend(open.take().map(|(piece, _)| piece));
                let Around { gap, depth, quoted } = around;
                let piece = Piece { start: at, end, gap, bracketed: depth > 0, quoted, dot_after: false };
                open = Some((piece, ideographic));
            }
        }
        around.gap = Gap::Nothing;
    }
    pieces.extend(open.map(|(piece, _)| piece));
}

/// Where in the source a piece begins.
#[derive(Clone, Copy, Debug)]
struct Around {
    gap: Gap,
    /// Open brackets.
    depth: u32,
    /// Between double quotes.
    quoted: bool,
}

impl Default for Around {
    fn default() -> Self {
        Self { gap: Gap::Nothing, depth: 0, quoted: false }
    }
}

impl Around {
    /// Takes one separating character into account.
    fn pass(&mut self, letter: char) {
        self.gap = widened(self.gap, letter);
        match letter {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
            '"' => self.quoted = !self.quoted,
            '“' | '„' | '«' => self.quoted = true,
            '”' | '»' => self.quoted = false,
            _ => {}
        }
    }
}

/// The gap after one more separating character.
fn widened(gap: Gap, letter: char) -> Gap {
    match (gap, letter) {
        (_, '&' | '+') | (Gap::Ampersand, _) => Gap::Ampersand,
        (Gap::Nothing, '.') => Gap::Dot,
        (Gap::Nothing, ',') => Gap::Comma,
        (Gap::Nothing, '/') => Gap::Slash,
        (Gap::Nothing, '\'' | '’' | '‘' | '`' | 'ʼ') => Gap::Apostrophe,
        _ => Gap::Other,
    }
}

fn is_word_letter(letter: char) -> bool {
    letter.is_alphanumeric() || is_combining_mark(letter)
}

/// `+` and `#` belong to the word before them when nothing follows: `C++`, `C#`, `Disney+`.
fn sticks(letter: char, inside_word: bool, next: Option<char>) -> bool {
    inside_word && matches!(letter, '+' | '#') && next.is_none_or(|next| !is_word_letter(next))
}

fn is_ideographic(letter: char) -> bool {
    matches!(letter, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// What the source of one token looks like.
fn source_shape(raw: &str) -> Shape {
    let mut shape = Shape::default();
    let (mut uppers, mut lowers, mut first_upper) = (0, 0, false);
    for (at, letter) in raw.chars().enumerate() {
        if letter.is_uppercase() {
            uppers += 1;
            first_upper |= at == 0;
        } else if letter.is_lowercase() {
            lowers += 1;
        } else if letter.is_numeric() {
            shape = shape.with(Shape::DIGIT);
        } else if is_ideographic(letter) {
            shape = shape.with(Shape::IDEOGRAPHIC);
        }
    }
    if raw.ends_with(['+', '#']) {
        shape = shape.with(Shape::SIGNED);
    }
    if uppers > 0 && lowers == 0 {
        shape = shape.with(Shape::UPPER);
    }
    if uppers == 0 && lowers > 0 {
        shape = shape.with(Shape::LOWER);
    }
    if first_upper && uppers == 1 && lowers > 0 {
        shape = shape.with(Shape::CAPITALISED);
    }
    shape
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &Expect) {
        let mut tokens = Tokens::default();
        tokens.read(name);
        let words: Vec<&str> = tokens.list.iter().map(|token| tokens.word(*token)).collect();
        expected.assert_eq(&words.join("|"));
    }

    #[test]
    fn spacing_punctuation_case_and_diacritics_fold_away() {
        check("  Marie Skłodowska-Curie ", &expect!["marie|sklodowska|curie"]);
        check("ÖBB – Österreichische Bundesbahnen", &expect!["obb|osterreichische|bundesbahnen"]);
        check("Straße İstanbul Æther", &expect!["strasse|istanbul|aether"]);
    }

    #[test]
    fn letters_of_every_script_stay() {
        check("苹果 香蕉", &expect!["苹果|香蕉"]);
        check("北京 University", &expect!["北京|university"]);
        check("북한대학교", &expect!["북한대학교"]);
        check("हिन्दी がぎ ЁЖИК", &expect!["हिन्दी|がぎ|ежик"]);
    }

    #[test]
    fn signs_that_carry_meaning_stay() {
        check("C++ C# C F# Disney+", &expect!["c++|c#|c|f#|disney+"]);
        check("R&D, A+E, AT&amp;T", &expect!["r|&|d|a|&|e|at|&|t"]);
        check("v1.2.3 1,000 3.14 No.2", &expect!["v1.2.3|1000|3.14|no|2"]);
    }

    #[test]
    fn dotted_letters_are_one_token_and_elisions_are_two() {
        check("the U.N. and A/S and J. R. Smith", &expect!["the|un|and|as|and|j|r|smith"]);
        check("dell'Istituto O'Reilly Moody's Rock'n'Roll", &expect!["dell|istituto|oreilly|moodys|rocknroll"]);
    }

    #[test]
    fn legal_forms_written_without_a_space_are_cut_off() {
        check("株式会社ソニー", &expect!["株式会社|ソニー"]);
        check("腾讯控股有限公司", &expect!["腾讯控股|有限公司"]);
    }

    #[test]
    fn a_name_without_letters_has_no_tokens() {
        check("!!! — …", &expect![""]);
        check("", &expect![""]);
    }
}
