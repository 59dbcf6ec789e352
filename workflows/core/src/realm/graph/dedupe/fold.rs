//! Folding of characters: what spelling may change without changing the name.
//!
//! **Invariant:** letters of every script stay; only case, compatibility forms and marks that writers leave out go.

use std::borrow::Cow;

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

/// NFKC without trade marks and invisible characters; borrowed where nothing changes.
pub(super) fn normalised(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return if name.contains("&amp;") { Cow::Owned(name.replace("&amp;", "&")) } else { Cow::Borrowed(name) };
    }
    let visible = name.chars().filter(|&letter| !is_ignorable(letter));
    Cow::Owned(visible.nfkc().collect::<String>().replace("&amp;", "&"))
}

/// Marks of law and of layout: ™ would otherwise become the letters "TM".
fn is_ignorable(letter: char) -> bool {
    matches!(letter, '™' | '®' | '©' | '℠' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}')
}

/// Appends the folded form of one piece.
pub(super) fn fold_into(raw: &str, out: &mut String) {
    if raw.is_ascii() {
        out.extend(raw.chars().map(|letter| letter.to_ascii_lowercase()));
        return;
    }
    let bare = raw.chars().default_case_fold().nfd().filter(|&letter| !is_optional_mark(letter));
    for letter in bare.nfc() {
        match plain_latin(letter) {
            Some(plain) => out.push_str(plain),
            None => out.push(letter),
        }
    }
}

/// Diacritics that writers leave out: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs.
///
/// The marks of Indic scripts and the voicing marks of Kana are letters in all but name and stay.
fn is_optional_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{652}' | '\u{670}' | '\u{640}')
}

/// Latin letters that are a plain letter with a stroke or a ligature, which Unicode does not take apart.
fn plain_latin(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'æ' => "ae",
        'œ' => "oe",
        'ı' => "i",
        'ħ' => "h",
        'ŧ' => "t",
        _ => return None,
    })
}
