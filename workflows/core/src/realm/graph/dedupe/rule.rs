//! The stated rule: when two entities are one.
//!
//! **Invariant:** [`decide`] is the only place that says merge, and it sees everything that the evidence shows.
//! A new rule is a variant of [`Rule`] and an arm of [`decide`], in the order in which a person would check it.

use super::block::speaks;
use super::compare::NameMatch;
use super::plan::{NameRelation, Rule, Score, Support};
use crate::algo::edit::OneEdit;

/// Similarity from which a name that holds all words of the other, and more, speaks for it.
pub(super) const EXTENDED_SIMILARITY_MIN: Score = Score(8_000);

/// Letters a name must have before its words alone decide: two letters are initials of anything.
const ALONE_LETTERS_MIN: u8 = 3;

/// The same where only an article differs: "UN", "the UN".
const ARTICLE_LETTERS_MIN: u8 = 2;

/// Letters from which a name is more than a ticker, and withstands middling vectors.
const LONG_LETTERS_MIN: u8 = 4;

/// Cosine below which vectors contradict the same words in a name that could be a ticker.
const TICKER_COSINE_MIN: Score = Score(7_500);

/// Cosine below which vectors contradict names that are the same words.
const SAME_WORDS_COSINE_MIN: Score = Score(5_000);

/// Cosine below which vectors contradict a middle initial.
const MIDDLE_INITIAL_COSINE_MIN: Score = Score(7_000);

/// Words that must be equal before a middle initial is only shorter.
const MIDDLE_INITIAL_WORDS_MIN: u8 = 2;

/// Letters of the word that a letter was left out of, doubled or swapped in, before that alone decides: shorter words
/// are one letter apart by chance.
const SLIP_INNER_LETTERS_MIN: u8 = 5;

/// The same for a slip in the last letter or a replaced letter, beside other words that are equal: endings are grammar,
/// and a replaced letter makes another name ("Petrom", "Petron").
const SLIP_BESIDE_LETTERS_MIN: u8 = 6;

/// The same for a name that is nothing but the word with the slip.
const SLIP_BARE_LETTERS_MIN: u8 = 10;

/// Cosine below which vectors contradict a slip.
const SLIP_COSINE_MIN: Score = Score(6_000);

/// Letters of an acronym that one name in the store spells out, before that alone decides: of three letters there are
/// too few combinations.
const ONLY_EXPANSION_LETTERS_MIN: u8 = 4;

/// What the rule sees of a pair.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the rule, none excludes another")]
pub(super) struct Facts {
    pub(super) names: NameMatch,
    pub(super) vetoed: bool,
    /// Letters of the shorter of the two cores.
    pub(super) letters: u8,
    /// One name begins with an article, the other does not, and neither has a legal form.
    pub(super) only_article: bool,
    pub(super) cosine: Option<Score>,
    pub(super) threshold: Score,
    pub(super) supports: Supports,
    /// A title was set aside and a single word is left: "Mr Holmes", "Holmes".
    pub(super) bare_title: bool,
    /// An edge runs between the two.
    pub(super) linked: bool,
    /// One is an acronym that only the other spells out.
    pub(super) only_expansion: bool,
}

/// What supports the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Supports {
    pub(super) neighbour: bool,
    pub(super) chunk: bool,
    pub(super) attribute: bool,
}

impl Supports {
    pub(super) fn any(self) -> bool {
        self.neighbour || self.chunk || self.attribute
    }
}

/// The rule. It is read from the top, and the first line that fits decides.
///
/// 1. A veto: two.
/// 2. The same letters, but for case, diacritics, spacing and punctuation: one. Vectors of short names say little,
///    and the same name under the same type is evidence enough (`OpenAI`, `Open AI`).
/// 3. Names that do not speak for the pair, or that say one is a branch of the other: two, whatever the vectors say.
/// 4. An edge between the two says that they are two; only the same letters outweigh it.
/// 5. The cosine reaches the threshold of the type: one.
/// 6. The same words but for legal forms, articles, titles, order and spelling: one, if the name is long enough to be
///    more than initials, is more than a title and one word, and the vectors do not contradict it.
/// 7. The same words with a middle name written as an initial, or with a middle initial more: one, if the vectors do not contradict it.
/// 8. One slip of a finger that makes no other name: one, if the vectors do not contradict it.
/// 9. An acronym of four letters or more that only one name in the store spells out: one.
/// 10. The same words, a slip, initials or an acronym that a neighbour, chunk or attribute supports: one.
/// 11. Otherwise two, and what is missing is said.
pub(super) fn decide(pair: &Facts) -> Rule {
    let relation = pair.names.relation;
    let reached = pair.cosine.is_some_and(|cosine| cosine >= pair.threshold);
    if pair.vetoed {
        Rule::Veto
    } else if relation == NameRelation::Same {
        Rule::SameLetters
    } else if !speaks(&pair.names) {
        if reached && relation > NameRelation::Narrowed { Rule::VectorsAlone } else { Rule::NoSupport }
    } else if pair.linked {
        Rule::NoSupport
    } else if reached {
        Rule::NamesAndCosine
    } else if relation == NameRelation::SameWords && same_words_decide(pair) {
        Rule::SameWords
    } else if relation == NameRelation::Shortened && middle_initial_decides(pair) {
        Rule::MiddleInitial
    } else if relation == NameRelation::Slip && slip_decides(pair) {
        Rule::OneSlip
    } else if pair.only_expansion && pair.letters >= ONLY_EXPANSION_LETTERS_MIN {
        Rule::OnlyExpansion
    } else if relation < NameRelation::Extended && pair.supports.any() {
        Rule::NamesAndContext
    } else {
        Rule::NoSupport
    }
}

/// Whether the vectors, where there are any, leave it to the names.
fn not_contradicted(pair: &Facts, cosine_min: Score) -> bool {
    pair.cosine.is_none_or(|cosine| cosine >= cosine_min)
}

fn same_words_decide(pair: &Facts) -> bool {
    let letters_min = if pair.only_article { ARTICLE_LETTERS_MIN } else { ALONE_LETTERS_MIN };
    let cosine_min = if pair.letters >= LONG_LETTERS_MIN { SAME_WORDS_COSINE_MIN } else { TICKER_COSINE_MIN };
    !pair.bare_title && pair.letters >= letters_min && not_contradicted(pair, cosine_min)
}

fn middle_initial_decides(pair: &Facts) -> bool {
    let words = &pair.names.words;
    (words.left_only + words.right_only == 0 || words.middle_initial)
        && words.abbreviations == 0
        && words.equal_words >= MIDDLE_INITIAL_WORDS_MIN
        && not_contradicted(pair, MIDDLE_INITIAL_COSINE_MIN)
}

/// Whether the slip is of a kind, and in a word long enough, to be no other name.
fn slip_decides(pair: &Facts) -> bool {
    let Some((edit, letters)) = pair.names.words.slip else {
        return false;
    };
    let letters_min = match edit {
        OneEdit::None | OneEdit::Doubled | OneEdit::Inner | OneEdit::Swapped => SLIP_INNER_LETTERS_MIN,
        OneEdit::Final | OneEdit::Replaced if pair.names.words.equal_words > 0 => SLIP_BESIDE_LETTERS_MIN,
        OneEdit::Final | OneEdit::Replaced => SLIP_BARE_LETTERS_MIN,
    };
    letters >= letters_min && not_contradicted(pair, SLIP_COSINE_MIN)
}

/// What would have made an unsupported pair one.
pub(super) fn missing(pair: &Facts, rule: Rule) -> Vec<Support> {
    if rule != Rule::NoSupport || pair.linked || !speaks(&pair.names) {
        return Vec::new();
    }
    let mut missing = vec![Support::CosineAtThreshold];
    if pair.names.relation < NameRelation::Extended {
        missing.extend([Support::SharedNeighbour, Support::SharedChunk, Support::SharedAttribute]);
    }
    missing
}
