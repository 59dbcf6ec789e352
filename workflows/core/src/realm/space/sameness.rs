//! When two texts are the same text: the key by which exact duplicates are found.
//!
//! The rule, in the order of its steps: canonical composition (NFC, so that `é` is one thing however it was typed),
//! lower case letter by letter (the final sigma counts as a sigma), canonical composition again, every run of
//! `White_Space` becomes one space, none is left at the ends.
//!
//! Nothing else is folded, because a duplicate is deleted: `10²` is not `102` (no compatibility forms), `Maße` is not
//! `Masse` (no full case folding), `therapist` is not `the rapist` (spacing may differ in width, not in place),
//! `resume` is not `résumé`, and punctuation counts. What this leaves apart, a model may still suggest to merge.
//!
//! **Invariant:** the key of a key is itself.

use unicode_normalization::UnicodeNormalization as _;

/// The key of a text.
pub fn key(text: &str) -> String {
    let lower: String = text.nfc().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).nfc().collect();
    let mut key = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(word);
    }
    key
}

/// Whether two texts are the same text.
pub fn same(one: &str, two: &str) -> bool {
    one == two || key(one) == key(two)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_spacing_and_the_way_of_typing_do_not_make_another_text() {
        for (one, two) in [
            ("Likes  tea", "likes tea"),
            (" likes\u{a0}tea\n", "LIKES TEA"),
            ("likes\u{3000}tea", "likes\ttea"),
            ("Caf\u{e9}", "cafe\u{301}"),
            ("ΟΔΟΣ", "οδος"),
            ("ПРИВЕТ", "привет"),
            ("\u{212b}", "å"),
            ("\u{1e9e}", "ß"),
        ] {
            assert!(same(one, two), "{one:?} {two:?}");
        }
    }

    #[test]
    fn what_a_reader_could_tell_apart_stays_apart() {
        for (one, two) in [
            ("10²", "102"),
            ("Maße", "Masse"),
            ("therapist", "the rapist"),
            ("resume", "résumé"),
            ("likes tea", "likes tea."),
            ("ﬁle", "file"),
            ("istanbul", "ıstanbul"),
            ("a\u{200b}b", "ab"),
        ] {
            assert!(!same(one, two), "{one:?} {two:?}");
        }
    }

    proptest! {
        #[test]
        fn the_key_of_a_key_is_itself(text in "\\PC*") {
            let once = key(&text);
            prop_assert_eq!(key(&once), once);
        }
    }
}
