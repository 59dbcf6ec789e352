//! Reads names: decides what each token is.
//!
//! **Invariant:** at least one token of a name that has any is content, whatever forms and titles it is made of.
//! A new kind of token gets its step in [`Reader::assign`], in the order in which a person would set words aside.

use super::legal::{self, Countries};
use super::lexicon;
use super::name::{Kind, Marks, NameFacts, StoredToken};
use super::text::{Shape, Tokens};

/// Longest part of a legal form that is written in parts: "S. p. A.", "Sp. z o.o.".
const FORM_PART_LETTERS_MAX: usize = 2;

/// Reads names one after another, reusing its buffers.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) tokens: Tokens,
    /// What each token is.
    pub(super) kinds: Vec<Kind>,
    /// The hash of each token's lemma.
    pub(super) hashes: Vec<u64>,
    phrases: Vec<(usize, &'static str)>,
    pub(super) scratch: String,
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
                phrase: self.phrases.iter().any(|(start, _)| *start == at),
                start: u32::try_from(base + token.start).unwrap_or(u32::MAX),
                length: u16::try_from(token.end - token.start).unwrap_or(u16::MAX),
                kind: self.kinds[at],
                shape: token.shape,
            });
        }
        self.name_keys(&mut facts);
        self.number_keys(&mut facts);
        self.short_keys(&mut facts);
        self.series_key(&mut facts);
        facts
    }

    /// The lower-cased name, in a buffer that is reused.
    pub(super) fn lower(&mut self, name: &str) -> &str {
        self.scratch.clear();
        if name.is_ascii() {
            self.scratch.push_str(name);
            self.scratch.make_ascii_lowercase();
        } else {
            self.scratch.extend(name.chars().flat_map(char::to_lowercase));
        }
        &self.scratch
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.word(self.tokens.list[at])
    }

    pub(super) fn shape(&self, at: usize) -> Shape {
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
        if person {
            self.take_nickname();
        }
        self.keep_something(facts);
        self.take_alias();
        self.take_phrases();
        self.mark_roman(end, facts);
    }

    /// The kind of a token by itself.
    fn plain_kind(&self, at: usize) -> Kind {
        let (word, shape) = (self.word(at), self.shape(at));
        let shouted = shape.has(Shape::UPPER) && self.tokens.has_lower;
        let grammar = if at == 0 { lexicon::is_leading_article(word) } else { lexicon::is_function_word(word) };
        if shape.has(Shape::AMPERSAND) || (grammar && !shouted && !shape.has(Shape::DOT_AFTER)) {
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
        let bracketed = (0..count).rev().take_while(|&at| self.shape(at).has(Shape::BRACKETED)).count();
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
            } else if self.is_domain_end(last) {
                self.kinds[last] = Kind::Legal;
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
            let parts = start..=last;
            let spelled = parts.clone().all(|at| self.word(at).len() <= FORM_PART_LETTERS_MAX);
            let letters: String = parts.map(|at| self.word(at)).collect();
            if let Some(countries) = legal::form(&letters).filter(|_| spelled) {
                return Some((start, countries));
            }
        }
        let glued = legal::GLUED.iter().find(|(form, _)| *form == self.word(last));
        if let Some((_, countries)) = glued {
            return Some((last, *countries));
        }
        let countries = legal::form(self.word(last))?;
        self.reads_as_form(last).then_some((last, countries))
    }

    /// Short forms are also words ("Spa", "As", "Too"): written as one, only the common ones count.
    fn reads_as_form(&self, at: usize) -> bool {
        const COMMON: [&str; 12] = ["bhd", "co", "inc", "llc", "ltd", "oy", "oyj", "plc", "pte", "pty", "pvt", "sdn"];
        let word = self.word(at);
        let ordinary = self.shape(at).has(Shape::CAPITALISED) && !self.shape(at).has(Shape::DOT_AFTER);
        let small_word =
            legal::is_everyday_word(word) && self.shape(at).has(Shape::LOWER) && !self.shape(at).has(Shape::DOTTED);
        word.chars().count() > 3 || !(ordinary || small_word) || COMMON.contains(&word)
    }

    /// The end of a domain name, which says no more than a legal form: `goodreads.com`.
    fn is_domain_end(&self, last: usize) -> bool {
        let shape = self.shape(last);
        shape.has(Shape::AFTER_DOT) && shape.has(Shape::LOWER) && lexicon::is_domain_end(self.word(last))
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
            let form = legal::form(word).filter(|_| legal::is_leading(word));
            let glued = legal::GLUED.iter().find(|(form, _)| *form == word).map(|(_, countries)| *countries);
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

    /// A nickname between quotes is a name beside the name: `William "Bill" Clinton`.
    fn take_nickname(&mut self) {
        let quoted = |at: &usize| self.shape(*at).has(Shape::QUOTED);
        let outside = (0..self.kinds.len()).filter(|at| self.kinds[*at].is_content() && !quoted(at)).count();
        let inside: Vec<usize> = (0..self.kinds.len()).filter(quoted).collect();
        if outside > 1 {
            for at in inside {
                self.kinds[at] = Kind::Alias;
            }
        }
    }

    /// A name of nothing but forms, titles and articles ("The Limited") is made of words after all.
    fn keep_something(&mut self, facts: &mut NameFacts) {
        if !self.kinds.iter().any(|kind| kind.is_content()) {
            self.kinds.fill(Kind::Word);
            *facts = NameFacts::default();
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
    pub(super) fn core_word(&self, at: usize) -> &str {
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
        others.filter_map(|other| self.word(other).chars().next()).eq(self.word(at).chars())
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
        self.tokens.list.iter().any(|token| token.shape.has(Shape::UPPER) || token.shape.has(Shape::CAPITALISED))
    }
}

/// The key of the letters of a name; zero when it folds to nothing.
pub(super) fn folded_key(name: &str) -> u64 {
    Reader::default().read(name, false, &mut String::new(), &mut Vec::new()).folded
}

/// Two forms in one name (`GmbH & Co. KG`) narrow the countries down, as long as one is left.
fn narrowed(so_far: Countries, more: Countries) -> Countries {
    match so_far {
        0 => more,
        _ if so_far & more == 0 => so_far | more,
        _ => so_far & more,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Lists the tokens of a name with what each of them is.
    #[track_caller]
    fn check(name: &str, expected: &Expect) {
        let mut reader = Reader::default();
        reader.read(name, true, &mut String::new(), &mut Vec::new());
        let kinds = reader.kinds.iter().enumerate().map(|(at, kind)| format!("{} {kind:?}", reader.word(at)));
        expected.assert_eq(&kinds.collect::<Vec<_>>().join(", "));
    }

    #[test]
    fn legal_forms_are_set_aside_at_the_end_and_at_the_beginning() {
        check(
            "Acme Rockets GmbH & Co. KG",
            &expect!["acme Word, rockets Word, gmbh Legal, & Function, co Legal, kg Legal"],
        );
        check("Acme S. p. A.", &expect!["acme Word, s Legal, p Legal, a Legal"]);
        check("ООО Газпром", &expect!["ооо Legal, газпром Word"]);
        check("Medical Spa", &expect!["medical Word, spa Word"]);
        check("palm too", &expect!["palm Word, too Word"]);
        check("The Limited", &expect!["the Word, limited Word"]);
        check("株式会社ソニー", &expect!["株式会社 Legal, ソニー Word"]);
        check("goodreads.com", &expect!["goodreads Word, com Legal"]);
        check("ASP.NET", &expect!["asp Word, net Word"]);
    }

    #[test]
    fn generations_and_series_are_told_from_words() {
        check("Dr. John Smith Jr.", &expect!["dr Title, john Word, smith Word, jr Generation"]);
        check("Johnson & Son", &expect!["johnson Word, & Function, son Word"]);
        check("Henry Tudor VIII", &expect!["henry Word, tudor Word, viii Number"]);
        check("World War I", &expect!["world Word, war Word, i Number"]);
        check("Michael I. Jordan", &expect!["michael Word, i Initial, jordan Word"]);
        check("Xi Jinping", &expect!["xi Word, jinping Word"]);
    }

    #[test]
    fn second_names_say_nothing_new() {
        check("World Health Organization (WHO)", &expect!["world Word, health Word, organization Word, who Alias"]);
        check("William \"Bill\" Clinton", &expect!["william Word, bill Alias, clinton Word"]);
    }

    #[test]
    fn articles_count_as_grammar_only_where_they_are() {
        check(
            "The University of the Arts",
            &expect!["the Function, university Word, of Function, the Function, arts Word"],
        );
        check("Los Angeles", &expect!["los Word, angeles Word"]);
        check("ON Semiconductor", &expect!["on Word, semiconductor Word"]);
        check("E. Merck", &expect!["e Initial, merck Word"]);
        check("United States Steel", &expect!["united Word, states Function, steel Word"]);
    }
}
