//! Words that say what kind of name it is, not whose: titles, generations, function words, nouns of kind.
//!
//! These are general lists of the languages of business and of people's names; none of them is taken from a data set.
//!
//! **Invariant:** every list is sorted by its folded word, so that a lookup is a binary search; a test says so.
//! A new word goes into its list, already folded (lower case, no diacritics, no dots).

/// Words that carry grammar, not identity, in the languages names are mostly written in.
const FUNCTION_WORDS: &[&str] = &[
    "a", "al", "an", "and", "at", "aus", "d", "da", "dal", "das", "de", "degli", "dei", "del", "dell", "della",
    "delle", "dello", "den", "der", "des", "di", "die", "do", "dos", "du", "e", "el", "en", "et", "for", "fur", "gli",
    "i", "il", "im", "in", "l", "la", "las", "le", "les", "lo", "los", "of", "on", "the", "to", "und", "van", "vom",
    "von", "y", "zu", "zum", "zur",
];

/// Titles in front of a person's name.
const TITLES: &[&str] = &[
    "baron",
    "baroness",
    "capt",
    "captain",
    "col",
    "colonel",
    "count",
    "countess",
    "dame",
    "doctor",
    "dr",
    "duchess",
    "duke",
    "emperor",
    "empress",
    "father",
    "frau",
    "gen",
    "general",
    "gov",
    "governor",
    "herr",
    "hon",
    "king",
    "lady",
    "lieutenant",
    "lord",
    "lt",
    "madame",
    "maj",
    "major",
    "miss",
    "mlle",
    "mme",
    "monsieur",
    "mr",
    "mrs",
    "ms",
    "pope",
    "president",
    "prince",
    "princess",
    "prof",
    "professor",
    "queen",
    "rabbi",
    "rep",
    "rev",
    "reverend",
    "sen",
    "senator",
    "senor",
    "senora",
    "sgt",
    "sheikh",
    "signor",
    "signora",
    "sir",
    "sister",
    "sra",
];

/// Countries and directions: with one of them more, a name is that of a branch.
const NARROWING_WORDS: &[&str] = &[
    "america",
    "argentina",
    "australia",
    "austria",
    "belgium",
    "brazil",
    "britain",
    "bulgaria",
    "canada",
    "central",
    "chile",
    "china",
    "colombia",
    "croatia",
    "czechia",
    "denmark",
    "deutschland",
    "east",
    "eastern",
    "egypt",
    "england",
    "espana",
    "federal",
    "finland",
    "france",
    "germany",
    "greece",
    "hungary",
    "india",
    "indonesia",
    "iran",
    "iraq",
    "ireland",
    "israel",
    "italia",
    "italy",
    "japan",
    "kenya",
    "korea",
    "lower",
    "malaysia",
    "mexico",
    "morocco",
    "municipal",
    "netherlands",
    "nigeria",
    "north",
    "northeast",
    "northern",
    "northwest",
    "norway",
    "pakistan",
    "peru",
    "philippines",
    "poland",
    "portugal",
    "provincial",
    "regional",
    "romania",
    "russia",
    "scotland",
    "serbia",
    "singapore",
    "slovakia",
    "slovenia",
    "south",
    "southeast",
    "southern",
    "southwest",
    "spain",
    "sweden",
    "switzerland",
    "taiwan",
    "thailand",
    "turkey",
    "uk",
    "ukraine",
    "upper",
    "us",
    "usa",
    "venezuela",
    "vietnam",
    "wales",
    "west",
    "western",
];

/// Words that a type of people is called by.
const PERSON_TYPES: &[&str] = &["person", "people", "human", "character", "employee", "customer", "author", "artist"];

/// Words after a name that tell a parent from a child, and which generation they name.
const GENERATIONS: &[(&str, u8)] = &[
    ("father", 2),
    ("filho", 1),
    ("fils", 1),
    ("hijo", 1),
    ("jnr", 1),
    ("jr", 1),
    ("junior", 1),
    ("neto", 3),
    ("padre", 2),
    ("pai", 2),
    ("pere", 2),
    ("senior", 2),
    ("snr", 2),
    ("son", 1),
    ("sr", 2),
];

/// Phrases that are one word, and that word.
pub(super) const PHRASES: &[(&[&str], &str)] = &[
    (&["united", "states", "of", "america"], "usa"),
    (&["united", "states"], "usa"),
    (&["united", "kingdom"], "uk"),
    (&["great", "britain"], "uk"),
];

/// Different spellings of one noun of kind, and the spelling that stands for all of them.
const LEMMAS: &[(&str, &str)] = &[
    ("assn", "association"),
    ("assoc", "association"),
    ("associazione", "association"),
    ("biblioteca", "library"),
    ("bibliotheque", "library"),
    ("bros", "brothers"),
    ("centre", "center"),
    ("centro", "center"),
    ("departamento", "department"),
    ("dept", "department"),
    ("dipartimento", "department"),
    ("facolta", "faculty"),
    ("faculdade", "faculty"),
    ("facultad", "faculty"),
    ("faculte", "faculty"),
    ("fakultat", "faculty"),
    ("institut", "institute"),
    ("institutet", "institute"),
    ("instituto", "institute"),
    ("instytut", "institute"),
    ("intl", "international"),
    ("istituto", "institute"),
    ("lab", "laboratory"),
    ("laboratories", "laboratory"),
    ("laboratorio", "laboratory"),
    ("labs", "laboratory"),
    ("libraries", "library"),
    ("mount", "mt"),
    ("organisation", "organization"),
    ("saint", "st"),
    ("sankt", "st"),
    ("uni", "university"),
    ("univ", "university"),
    ("universidad", "university"),
    ("universidade", "university"),
    ("universita", "university"),
    ("universitat", "university"),
    ("universite", "university"),
    ("universiteit", "university"),
    ("universitet", "university"),
    ("us", "usa"),
];

/// Whether entities of a type are people, so that titles in front of their names are titles.
pub(super) fn is_person_type(entity_type: &str) -> bool {
    let small = entity_type.to_lowercase();
    PERSON_TYPES.iter().any(|word| small.contains(word))
}

/// Whether a word is the end of a domain that says no country.
pub(super) fn is_domain_end(word: &str) -> bool {
    matches!(word, "com" | "edu" | "gov" | "net" | "org")
}

/// Whether a word in front of a name is no part of it. Other languages' articles are: "Los Angeles", "La Paz".
pub(super) fn is_leading_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "das" | "der" | "die" | "the")
}

/// Whether a word carries grammar only.
pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// Whether a word more makes a name that of a branch.
pub(super) fn is_narrowing(word: &str) -> bool {
    NARROWING_WORDS.binary_search(&word).is_ok()
}

/// Whether a word is a title.
pub(super) fn is_title(word: &str) -> bool {
    TITLES.binary_search(&word).is_ok()
}

/// The generation that a word after a name says: child, parent, grandchild.
pub(super) fn generation(word: &str) -> Option<u8> {
    lookup(GENERATIONS, word)
}

/// The word that stands for all spellings of `word`.
pub(super) fn lemma(word: &str) -> &str {
    lookup(LEMMAS, word).unwrap_or(word)
}

/// The value of a Roman numeral up to 39; larger ones are words in names more often than numbers.
pub(super) fn roman(word: &str) -> Option<u8> {
    let (mut value, mut last) = (0_u8, 0_u8);
    if word.is_empty() || word.len() > ROMAN_LETTERS_MAX {
        return None;
    }
    for letter in word.bytes().rev() {
        let digit = match letter {
            b'i' => 1,
            b'v' => 5,
            b'x' => 10,
            _ => return None,
        };
        value = if digit < last { value.checked_sub(digit)? } else { value.checked_add(digit)? };
        last = digit;
    }
    (value <= ROMAN_VALUE_MAX && spelled_roman(value) == word).then_some(value)
}

/// Larger numerals are written with letters that begin words.
const ROMAN_VALUE_MAX: u8 = 39;
/// "xxxviii" is the longest numeral below 40.
const ROMAN_LETTERS_MAX: usize = 7;

/// The one correct spelling of a number below 40.
fn spelled_roman(value: u8) -> String {
    const ONES: [&str; 10] = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"];
    format!("{}{}", "x".repeat(usize::from(value / 10)), ONES[usize::from(value % 10)])
}

fn lookup<T: Copy>(list: &[(&str, T)], word: &str) -> Option<T> {
    list.binary_search_by_key(&word, |(key, _)| key).ok().map(|at| list[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_sorted(words: &[&str]) {
        let mut sorted = words.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(words, sorted);
    }

    #[test]
    fn every_list_is_sorted_and_holds_a_word_once() {
        assert_sorted(&GENERATIONS.iter().map(|(word, _)| *word).collect::<Vec<_>>());
        assert_sorted(&LEMMAS.iter().map(|(word, _)| *word).collect::<Vec<_>>());
        assert_sorted(FUNCTION_WORDS);
        assert_sorted(TITLES);
        assert_sorted(NARROWING_WORDS);
    }

    #[test]
    fn roman_numerals_are_read_and_other_words_are_not() {
        assert_eq!(["i", "iv", "ix", "xiii", "xxxviii"].map(roman), [Some(1), Some(4), Some(9), Some(13), Some(38)]);
        assert_eq!(["", "iiii", "vx", "mix", "iix", "xxxx"].map(roman), [None; 6]);
    }
}
