//! What is known about one name: the kinds of its tokens, its keys and its marks.
//!
//! **Invariant:** facts depend on the name and on whether its type is a person's, on nothing else.
//! A new kind of token is a variant of [`Kind`], given in `reader.rs`; a new key is a field of [`NameFacts`], made in
//! `keys.rs`.

use super::legal::Countries;
use super::text::Shape;

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
    /// A legal form: Inc, `GmbH`, 株式会社.
    Legal,
    /// A title in front of a person's name.
    Title,
    /// Jr, Sr, father, son.
    Generation,
    /// A second name: the acronym of the rest, "World Health Organization (WHO)", or a nickname between quotes.
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
    /// Whether it stands for a phrase, so that its text is only the first word of it.
    pub(super) phrase: bool,
    /// What the source looked like.
    pub(super) shape: Shape,
}

impl StoredToken {
    /// Whether it only ever matches as a whole: a number, a phrase, a word with a sign (`C++`), or a
    /// script whose letters are syllables or words.
    pub(super) fn is_solid(&self) -> bool {
        self.shape.has(Shape::IDEOGRAPHIC) || self.shape.has(Shape::SIGNED) || self.kind == Kind::Number || self.phrase
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
    /// The content words without their numbers, in order: what the members of a series share.
    pub(super) series: u64,
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
    /// Says which member of a series it is: by a number, a generation or a letter at the end.
    pub(super) const IN_SERIES: Self = Self(1 << 5);
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

    pub(super) fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
