//! Memory text on a page or a terminal: one line, bounded, and unable to be anything but text.
//!
//! A name is whatever a document said, and may hold line breaks, markdown, HTML, or characters that turn the reading order
//! around or drive a terminal. Every page and every table passes names through here.
//!
//! **Invariant:** what [`one_line`] answers has no control character, no line break and nothing that reorders or hides
//! text; what [`code_span`] answers is one code span of markdown outside of tables, whatever it was made from.

use unicode_width::UnicodeWidthStr as _;

/// What stands for a character that must not reach a page or a terminal.
const REPLACEMENT: char = '\u{FFFD}';

/// What stands where text was cut.
const ELLIPSIS: char = '…';

/// The text in one line: white space becomes a space, and what controls or reorders is replaced.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ' ' | '\t' | '\n' | '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                if !line.ends_with(' ') && !line.is_empty() {
                    line.push(' ');
                }
            }
            character if character.is_control() || reorders_or_hides(character) => line.push(REPLACEMENT),
            character => line.push(character),
        }
    }
    line.truncate(line.trim_end_matches(' ').len());
    line
}

/// Bidirectional controls, zero-width characters, tags and other characters that are not seen. A zero-width joiner between
/// letters is kept: scripts and emoji need it.
const fn reorders_or_hides(character: char) -> bool {
    matches!(character,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Characters per column that a cut text may have: marks that take no column of their own would otherwise pile up.
const CHARACTERS_PER_COLUMN_MAX: usize = 4;

/// The text cut to a width in columns of a terminal, with an ellipsis where something was cut.
pub fn truncate(text: &str, width_max: usize) -> String {
    let characters_max = width_max * CHARACTERS_PER_COLUMN_MAX;
    if text.width() <= width_max && text.chars().nth(characters_max).is_none() {
        return text.to_owned();
    }
    let mut cut = String::new();
    for character in text.chars().take(characters_max) {
        cut.push(character);
        // The whole is measured, as a character may change the width of the one before it.
        if cut.width() >= width_max {
            cut.pop();
            break;
        }
    }
    if width_max > 0 {
        cut.push(ELLIPSIS);
    }
    cut
}

/// Columns of a terminal that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Memory text for a terminal: one line, at most so wide.
pub fn cell(text: &str, width_max: usize) -> String {
    truncate(&one_line(text), width_max)
}

/// Memory text for a page of markdown, as a code span of at most so many columns.
///
/// In a code span nothing is markup, a link or a mention. Its fence is longer than any run of backticks in it. Only a bar
/// in a table would still end the cell, which is why names stand in lists and never in tables.
pub fn code_span(text: &str, width_max: usize) -> String {
    let text = cell(text, width_max);
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// An argument for a shell, quoted where it has to be.
pub fn shell_word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:".contains(&byte);
    if !text.is_empty() && !text.starts_with('-') && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", one_line(text).replace('\'', r"'\''"))
}

/// A number and its noun.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number with its thousands apart: 12,345.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in words that a person would use.
pub fn duration(millis: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "durations are positive and short")]
    let seconds = (millis.max(0.0) / 1_000.0) as u64;
    match seconds {
        0 => format!("{millis:.0} ms"),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// A list of words with commas and a last "and".
pub fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_drives_a_terminal_or_turns_the_order_is_replaced() {
        assert_eq!(one_line("a\r\n b\u{1b}[31mc\u{202e}d\u{200b}e\u{7}"), "a b\u{fffd}[31mc\u{fffd}d\u{fffd}e\u{fffd}");
        assert_eq!(one_line("  \n "), "");
    }

    #[test]
    fn text_is_cut_by_the_columns_it_takes_and_not_by_letters() {
        assert_eq!(truncate("Skłodowska", 10), "Skłodowska");
        assert_eq!(truncate("Skłodowska", 9), "Skłodows…");
        assert_eq!(truncate("東京都庁舎", 7), "東京都…");
        assert_eq!(truncate("abc", 0), "");
    }

    #[test]
    fn a_code_span_outlasts_the_backticks_in_it() {
        assert_eq!(code_span("a``b`c", 40), "```a``b`c```");
        assert_eq!(code_span("`", 40), "`` ` ``");
        assert_eq!(code_span("\n", 40), "(empty)");
    }

    #[test]
    fn a_shell_sees_one_word() {
        assert_eq!(shell_word("default"), "default");
        assert_eq!(shell_word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(shell_word("--force"), "'--force'");
    }

    #[test]
    fn numbers_and_durations_read_as_people_write_them() {
        assert_eq!(count(1, "entity", "entities"), "1 entity");
        assert_eq!(count(1_234_567, "entity", "entities"), "1,234,567 entities");
        assert_eq!([40.0, 12_400.0, 125_000.0, 7_260_000.0].map(duration), ["40 ms", "12 s", "2 min 5 s", "2 h 1 min"]);
        assert_eq!(and(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }

    proptest! {
        #[test]
        fn no_text_is_wider_than_it_may_be(text in "\\PC{0,60}|[\\x00-\\x7f]{0,60}", width_max in 0..40_usize) {
            let cell = cell(&text, width_max);
            prop_assert!(width(&cell) <= width_max, "{cell:?}");
            prop_assert!(!cell.contains('\n'));
        }
    }
}
