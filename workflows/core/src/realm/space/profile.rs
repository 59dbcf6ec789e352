//! The profile of the owner, cut to its size where a reader would cut it.

use unicode_segmentation::UnicodeSegmentation as _;

/// Most characters of a profile that are stored, as the public description promises.
pub const PROFILE_CHARACTERS_MAX: usize = 1_500;

/// Most characters that a cut gives up to end on a whole word. A longer word is no word, and is cut through.
const WORD_CHARACTERS_MAX: usize = 80;

/// The profile without spaces around it, and whether it was cut. The cut is between two words, or where there is none
/// near, between two characters as a reader sees them.
pub fn cut(text: &str) -> (&str, bool) {
    let text = text.trim();
    let Some((limit, _)) = text.char_indices().nth(PROFILE_CHARACTERS_MAX) else { return (text, false) };
    let fits = |(at, part): (usize, &str)| (at + part.len() <= limit).then_some(at + part.len());
    let word = text.split_word_bound_indices().map_while(fits).last().unwrap_or(0);
    let near = text[word..limit].chars().count() <= WORD_CHARACTERS_MAX;
    let grapheme = || text.grapheme_indices(true).map_while(fits).last();
    let end = if near && word > 0 { word } else { grapheme().unwrap_or(limit) };
    (text[..end].trim_end(), true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_is_kept_whole() {
        assert_eq!(cut("  Drinks tea.\n"), ("Drinks tea.", false));
        let full = "ß".repeat(PROFILE_CHARACTERS_MAX);
        assert_eq!(cut(&full), (full.as_str(), false));
    }

    #[test]
    fn what_does_not_fit_ends_with_a_whole_word() {
        let long = "tea time ".repeat(200);
        let (kept, was_cut) = cut(&long);
        assert!(was_cut && (kept.ends_with("tea") || kept.ends_with("time")));
        assert!(kept.chars().count() > PROFILE_CHARACTERS_MAX - 10);
    }

    #[test]
    fn what_has_no_words_ends_with_a_whole_character_as_seen() {
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let families = format!("a{}", family.repeat(400));
        let (kept, was_cut) = cut(&families);
        assert!(was_cut && kept.ends_with(family) && kept.chars().count() <= PROFILE_CHARACTERS_MAX);
        assert_eq!(cut(&"x".repeat(2_000)).0.chars().count(), PROFILE_CHARACTERS_MAX);
        let heap = format!("e{}", "\u{301}".repeat(2_000));
        assert_eq!(cut(&heap).0.chars().count(), PROFILE_CHARACTERS_MAX);
    }

    proptest! {
        #[test]
        fn a_profile_is_the_beginning_of_what_was_said_and_fits(text in "(\\PC|\\s){0,1700}") {
            let (kept, was_cut) = cut(&text);
            prop_assert!(text.trim().starts_with(kept));
            prop_assert!(kept.chars().count() <= PROFILE_CHARACTERS_MAX);
            prop_assert_eq!(was_cut, text.trim().chars().count() > PROFILE_CHARACTERS_MAX);
        }
    }
}
