//! Whether what remains of a merge still says what the merged facts said.
//!
//! What remains is the wording that the model gave, or the text of the fact that is kept. It must have every number,
//! date, path and name of every fact of the merge, and every negation; and where one of them negates and another does
//! not, they are no near-duplicates at all. A merge that fails is not refused but becomes a proposal, for a person to
//! look at.
//!
//! **Invariant:** this never admits what it cannot read: a detail that is spelled in another way is a detail lost.

mod details;
mod words;

use std::collections::BTreeSet;

use details::{Details, details};

use super::fact::Fact;
use super::rules::Rule;
use super::sameness;

/// Subjects that name nobody: they say that a fact is about the owner of the space.
const OWNER: &[&str] = &["i", "me", "myself", "self", "the", "user"];

/// What would be lost if `keep` stayed, with this wording or with its own, and `removed` went.
pub fn lost(keep: &Fact, removed: &[&Fact], wording: Option<&str>) -> Option<Rule> {
    let remains = details(wording.unwrap_or(&keep.text));
    let subject = details(&keep.subject);
    let parts: Vec<Details> =
        std::iter::once(keep).chain(removed.iter().copied()).map(|fact| details(&fact.text)).collect();
    lost_subject(keep, removed, &remains, &subject)
        .or_else(|| lost_number(&parts, &remains))
        .or_else(|| lost_date_or_path(&parts, &remains))
        .or_else(|| lost_name(&parts, keep, removed, &remains, &subject))
        .or_else(|| lost_negation(&parts, &remains))
}

/// A removed fact about somebody else takes its subject along, unless what remains names it.
fn lost_subject(keep: &Fact, removed: &[&Fact], remains: &Details, subject: &Details) -> Option<Rule> {
    let others = removed.iter().filter(|fact| !sameness::same(&fact.subject, &keep.subject));
    let mut named = others.flat_map(|fact| details(&fact.subject).words);
    let is_lost = |word: String| {
        !OWNER.contains(&word.as_str()) && !remains.words.contains(&word) && !subject.words.contains(&word)
    };
    named.any(is_lost).then_some(Rule::LosesName)
}

fn lost_number(parts: &[Details], remains: &Details) -> Option<Rule> {
    let mut said = parts.iter().flat_map(|part| &part.numbers);
    let is_lost = |(number, count): (&String, &usize)| remains.numbers.get(number).is_none_or(|kept| kept < count);
    said.any(is_lost).then_some(Rule::LosesNumber)
}

fn lost_date_or_path(parts: &[Details], remains: &Details) -> Option<Rule> {
    if parts.iter().any(|part| !part.dates.is_subset(&remains.dates)) {
        return Some(Rule::LosesDate);
    }
    parts.iter().any(|part| !part.paths.is_subset(&remains.paths)).then_some(Rule::LosesPath)
}

/// A word that is a name in one of the texts, or in a subject, is a name in all of them, however carelessly it is
/// written.
fn lost_name(parts: &[Details], keep: &Fact, removed: &[&Fact], remains: &Details, subject: &Details) -> Option<Rule> {
    let subjects = std::iter::once(keep).chain(removed.iter().copied()).map(|fact| details(&fact.subject).names);
    let names: BTreeSet<String> =
        parts.iter().flat_map(|part| part.names.iter().cloned()).chain(subjects.flatten()).collect();
    let mut said = parts.iter().flat_map(|part| part.words.intersection(&names));
    let is_lost = |name: &String| !remains.words.contains(name) && !subject.words.contains(name);
    said.any(is_lost).then_some(Rule::LosesName)
}

fn lost_negation(parts: &[Details], remains: &Details) -> Option<Rule> {
    let most = parts.iter().map(|part| part.negations).max().unwrap_or(0);
    let all: usize = parts.iter().map(|part| part.negations).sum();
    if remains.negations < most {
        return Some(Rule::LosesNegation);
    }
    let differs = most > 0 && parts.iter().any(|part| part.negations == 0);
    (differs || remains.negations > all).then_some(Rule::NegationDiffers)
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;

    #[track_caller]
    fn check(keep: &str, removed: &str, wording: Option<&str>, expected: Option<Rule>) {
        let (keep, removed) = (fact(1, keep), fact(2, removed));
        assert_eq!(lost(&keep, &[&removed], wording), expected, "{wording:?}");
    }

    #[test]
    fn what_says_the_same_in_other_words_may_be_merged() {
        check("likes tea", "enjoys drinking tea", None, None);
        check("Likes green tea", "Prefers tea that is green", Some("Likes and prefers green tea"), None);
        check("Works at Acme", "works at acme as an engineer", Some("Works at Acme as an engineer"), None);
        check("Has 2 cats", "Owns two cats", None, None);
        check("Earns 1,500 a month", "earns 1500 a month", None, None);
        check("Ada's office is in Paris", "Ada works in Paris", None, None);
        check("Doesn't eat meat", "Does not eat meat.", None, None);
        check("Tea is what he likes", "likes tea", None, None);
    }

    #[test]
    fn a_lost_number_is_seen() {
        for (removed, wording) in [
            ("likes 3 teas", "likes teas"),
            ("likes three teas", "likes teas"),
            ("runs 5 km and 5 miles", "runs 5 km and miles"),
            ("pays $5", "pays €5"),
            ("it is -5 outside", "it is 5 outside"),
            ("takes 2.5 pills", "takes 25 pills"),
            ("on version v1.2", "on version v1.3"),
            ("earns 1,500", "earns 1.500"),
            ("phone 007", "phone 7"),
        ] {
            check("likes tea", removed, Some(&format!("likes tea and {wording}")), Some(Rule::LosesNumber));
        }
        check("likes tea", "likes 3 teas", None, Some(Rule::LosesNumber));
        check("likes 3 teas", "likes teas", Some("likes teas"), Some(Rule::LosesNumber));
    }

    #[test]
    fn a_lost_date_is_seen() {
        for (removed, wording) in [
            ("met on monday", "met"),
            ("due 2026-03-01", "due"),
            ("due 1/3/2026", "due 3/1/2026"),
            ("met yesterday", "met"),
        ] {
            check("x", removed, Some(&format!("x {wording}")), Some(Rule::LosesDate));
        }
    }

    #[test]
    fn a_lost_path_is_seen_by_every_letter() {
        for (removed, wording) in [
            ("notes are in ~/notes/Work", "notes are in ~/notes/work"),
            ("see https://a.example/x?y=1", "see https://a.example/x"),
            ("mail ada@b.example", "mail ada"),
            ("calls std::mem::take", "calls take"),
            ("edit main.rs", "edit main"),
            ("set MAX_SIZE", "set it"),
            ("pass --force", "pass it"),
            ("in C:\\Temp", "in it"),
        ] {
            check("x", removed, Some(&format!("x {wording}")), Some(Rule::LosesPath));
        }
    }

    #[test]
    fn a_lost_name_is_seen_also_where_it_begins_the_sentence() {
        for (removed, wording) in [
            ("works with Ada", "works with somebody"),
            ("Ada likes tea", "likes tea"),
            ("uses the API", "uses it"),
            ("has an iPhone", "has a phone"),
            ("moved. Paris is home", "moved and is home"),
            ("住在东京", "住在京都"),
            ("любит Москву", "любит город"),
            ("يحب دبي", "يحب"),
            ("서울에 산다", "산다"),
        ] {
            check("likes tea", removed, Some(&format!("likes tea {wording}")), Some(Rule::LosesName));
        }
        check("works with Ada", "ada is kind", Some("works with somebody kind"), Some(Rule::LosesName));
    }

    #[test]
    fn a_removed_subject_must_be_named_by_what_remains() {
        let about = |id: u128, subject: &str, text: &str| Fact { subject: subject.into(), ..fact(id, text) };
        let (keep, removed) = (about(1, "user", "likes tea"), about(2, "sister", "likes tea"));
        assert_eq!(lost(&keep, &[&removed], None), Some(Rule::LosesName));
        assert_eq!(lost(&keep, &[&removed], Some("likes tea, as the sister does")), None);
        assert_eq!(lost(&removed, &[&keep], None), None);
    }

    #[test]
    fn a_negation_is_neither_lost_nor_found_nor_merged_with_its_contrary() {
        for (keep, removed, wording) in [
            ("no meat, no fish", "eats no fish and no meat", Some("eats meat, no fish")),
            ("don't eat meat", "doesn't eat meat", Some("eat meat")),
            ("isst kein Fleisch", "isst kein Fleisch", Some("isst Fleisch")),
            ("肉を食べない", "肉を食べない", Some("肉を食べる")),
        ] {
            check(keep, removed, wording, Some(Rule::LosesNegation));
        }
        check("eats meat", "never eats meat", None, Some(Rule::LosesNegation));
        check("never eats meat", "eats meat", None, Some(Rule::NegationDiffers));
        check("eats meat", "never eats meat", Some("never eats meat"), Some(Rule::NegationDiffers));
        check("eats meat", "likes meat", Some("does not eat meat"), Some(Rule::NegationDiffers));
    }

    #[test]
    fn any_text_can_be_read() {
        for text in ["", " ", "'", "...", "—", "--", "%", "\u{301}", "😀😀", "I'm I", "a/b\\c", "n't", "°C", "١٢٣"]
        {
            let _any = lost(&fact(1, text), &[&fact(2, text)], Some(text));
        }
    }
}
