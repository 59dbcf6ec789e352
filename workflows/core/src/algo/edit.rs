//! Edit distance, as far as names need it: is it one slip of a finger, and how alike are two words.
//!
//! **Invariant:** all functions are symmetric in their two texts.

/// What one edit did to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneEdit {
    /// The texts are equal.
    None,
    /// A letter was doubled or a doubled letter written once: "Gooogle", "Toyyota".
    Doubled,
    /// A letter inside the text was left out or put in: "Micrsoft".
    Inner,
    /// The last letter was left out or put in, which grammar does too: "Cruise", "Cruises".
    Final,
    /// A letter was replaced by another one.
    Replaced,
    /// Two neighbouring letters changed places.
    Swapped,
}

/// The single edit that turns `left` into `right`; nothing when it takes more than one.
pub fn one_edit<T: PartialEq>(left: &[T], right: &[T]) -> Option<OneEdit> {
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    if long.len() - short.len() > 1 {
        return None;
    }
    let prefix = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short_rest, long_rest) = (&short[prefix..], &long[prefix..]);
    if short.len() < long.len() {
        return (*short_rest == long_rest[1..]).then(|| length_edit(long, prefix));
    }
    match short_rest {
        [] => Some(OneEdit::None),
        [_, rest @ ..] if *rest == long_rest[1..] => Some(OneEdit::Replaced),
        [a, b, rest @ ..] if *a == long_rest[1] && *b == long_rest[0] && *rest == long_rest[2..] => {
            Some(OneEdit::Swapped)
        }
        _ => None,
    }
}

/// Whether the extra letter at `position` repeats its neighbour.
fn length_edit<T: PartialEq>(long: &[T], position: usize) -> OneEdit {
    let extra = &long[position];
    if position + 1 == long.len() {
        return OneEdit::Final;
    }
    let repeats_before = position > 0 && long[position - 1] == *extra;
    let repeats_after = long[position + 1] == *extra;
    if repeats_before || repeats_after { OneEdit::Doubled } else { OneEdit::Inner }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: &str, right: &str, expected: Option<OneEdit>) {
        let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
        assert_eq!(one_edit(&left, &right), expected);
        assert_eq!(one_edit(&right, &left), expected);
    }

    #[test]
    fn each_kind_of_slip_is_told_apart() {
        check("google", "google", Some(OneEdit::None));
        check("google", "gooogle", Some(OneEdit::Doubled));
        check("google", "goole", Some(OneEdit::Inner));
        check("google", "googles", Some(OneEdit::Final));
        check("google", "goggle", Some(OneEdit::Replaced));
        check("google", "googel", Some(OneEdit::Swapped));
    }

    #[test]
    fn two_slips_are_not_one() {
        check("google", "goolge1", None);
        check("abcd", "badc", None);
        check("", "ab", None);
    }
}
