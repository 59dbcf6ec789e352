//! The stated rule: when two entities are one.
//!
//! **Invariant:** [`decide`] is the only place that says merge, and it sees everything that the evidence shows.
//! A new rule is a variant of [`Rule`] and an arm of [`decide`], in the order in which a person would check it.

use super::compare::NameMatch;
use super::plan::{NameRelation, Rule, Score, Support};

/// Similarity from which a name that only holds the words of the other, and more, speaks for it.
pub(super) const EXTENDED_SIMILARITY_MIN: Score = Score(7_500);

/// Letters a name must have before its words alone decide: below it, they are initials or a ticker.
const ALONE_LETTERS_MIN: u8 = 4;

/// Letters the word with the slip must have before the slip alone decides.
const SLIP_ALONE_LETTERS_MIN: u8 = 7;

/// The same for a slip that only doubles a letter, which no other word of the language does by chance.
const DOUBLED_ALONE_LETTERS_MIN: u8 = 5;

/// Cosine below which vectors contradict names that are the same words.
const SAME_WORDS_COSINE_MIN: Score = Score(5_000);

/// Cosine below which vectors contradict a slip.
const SLIP_COSINE_MIN: Score = Score(6_000);

/// Letters of an acronym that one name in the store spells out, before that alone decides: of three letters there are
/// too few combinations.
const ONLY_EXPANSION_LETTERS_MIN: u8 = 4;

/// What the rule sees of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) names: NameMatch,
    pub(super) vetoed: bool,
    /// Letters of the shorter of the two cores.
    pub(super) letters: u8,
    pub(super) cosine: Option<Score>,
    pub(super) threshold: Score,
    pub(super) supports: Supports,
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

/// The rule.
///
/// 1. A veto: two.
/// 2. The same letters, but for case, diacritics, spacing and punctuation: one. Vectors of short names say little,
///    and the same name under the same type is evidence enough ("OpenAI", "Open AI").
/// 3. Names that do not speak for the pair: two, whatever the vectors say.
/// 4. An edge between the two says that they are two; only the same letters outweigh it.
/// 5. The cosine reaches the threshold of the type: one.
/// 6. The same words but for legal forms, articles, titles, order and spelling: one, if the name is long enough to be
///    more than initials and the vectors do not contradict it.
/// 7. One slip of a finger in a long word: one, if the vectors do not contradict it.
/// 8. An acronym of four letters or more that only one name in the store spells out: one.
/// 9. Anything closer than an extended name that a neighbour, chunk or attribute supports: one.
/// 10. Otherwise two, and what is missing is said.
pub(super) fn decide(pair: &Facts) -> Rule {
    let names = &pair.names;
    let at_least = |floor: Score| pair.cosine.is_none_or(|cosine| cosine >= floor);
    let reached = pair.cosine.is_some_and(|cosine| cosine >= pair.threshold);
    if pair.vetoed {
        return Rule::Veto;
    }
    if names.relation == NameRelation::Same {
        return Rule::SameLetters;
    }
    if !super::block::speaks(names) {
        return if reached { Rule::VectorsAlone } else { Rule::NoSupport };
    }
    if pair.linked {
        return Rule::NoSupport;
    }
    if reached {
        return Rule::NamesAndCosine;
    }
    if names.relation == NameRelation::SameWords && pair.letters >= ALONE_LETTERS_MIN && at_least(SAME_WORDS_COSINE_MIN)
    {
        return Rule::SameWords;
    }
    let slip_letters_min = if names.slip_doubled {
        DOUBLED_ALONE_LETTERS_MIN
    } else {
        SLIP_ALONE_LETTERS_MIN
    };
    if names.relation == NameRelation::Slip && names.slip_letters >= slip_letters_min && at_least(SLIP_COSINE_MIN) {
        return Rule::OneSlip;
    }
    if pair.only_expansion && pair.letters >= ONLY_EXPANSION_LETTERS_MIN {
        return Rule::OnlyExpansion;
    }
    if names.relation < NameRelation::Extended && pair.supports.any() {
        return Rule::NamesAndContext;
    }
    Rule::NoSupport
}

/// What would have made an unsupported pair one.
pub(super) fn missing(pair: &Facts, rule: Rule) -> Vec<Support> {
    if rule != Rule::NoSupport || pair.linked {
        return Vec::new();
    }
    let mut missing = vec![Support::CosineAtThreshold];
    if pair.names.relation < NameRelation::Extended {
        missing.extend([Support::SharedNeighbour, Support::SharedChunk, Support::SharedAttribute]);
    }
    missing
}
