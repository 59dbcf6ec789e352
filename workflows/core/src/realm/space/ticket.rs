//! What is remembered of a job while its answer is awaited: which facts it named, by which short ids, and as they were.
//!
//! **Invariant:** a ticket holds no memory text. A fact is told from what it was by keyed digests, and what a fact does
//! all day (being recalled) is no change.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::day::Day;
use super::fact::{Fact, Origin, Tier};
use super::rules::Rule;
use crate::clock::Moment;
use crate::digest::{Fingerprint, TextKey};

/// The digest of what a fact says.
pub fn text_fingerprint(key: &TextKey, subject: &str, text: &str) -> Fingerprint {
    key.fingerprint(&["fact", subject, text])
}

/// A fact as a job showed it. What a change relies on is that this still holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Premise {
    /// The fact.
    pub fact: Uuid,
    /// What it said.
    pub text: Fingerprint,
    /// Its tier.
    pub tier: Tier,
    /// Who stated it.
    pub origin: Origin,
    /// Whether it was pinned.
    pub pinned: bool,
    /// When its time is over.
    pub expires_at: Option<Moment>,
    /// What an earlier change of the same run makes it say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_text: Option<Fingerprint>,
    /// The tier an earlier change of the same run moves it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_tier: Option<Tier>,
}

impl Premise {
    /// A fact as it is now.
    pub fn of(fact: &Fact, key: &TextKey) -> Self {
        Self {
            fact: fact.id,
            text: text_fingerprint(key, &fact.subject, &fact.text),
            tier: fact.tier,
            origin: fact.origin,
            pinned: fact.pinned,
            expires_at: fact.expires_at,
            own_text: None,
            own_tier: None,
        }
    }

    /// Whether no dream may rewrite the fact, merge it away or demote it.
    pub const fn is_protected(&self) -> bool {
        self.pinned || matches!(self.origin, Origin::User)
    }

    /// Whether the fact is what it was, or what the run itself has made of it. It is asked when an answer is judged,
    /// and again of the locked row.
    pub fn check(&self, current: Option<&Fact>, key: &TextKey) -> Result<(), Rule> {
        let fact = current.filter(|fact| fact.id == self.fact).ok_or(Rule::ForgottenSince)?;
        if fact.pinned && !self.pinned {
            return Err(Rule::PinnedSince);
        }
        let text = text_fingerprint(key, &fact.subject, &fact.text);
        let reworded = self.own_text == Some(text);
        let text_holds = text == self.text || reworded;
        // A fact that a dream reworded may be the dream's.
        let origin_holds = fact.origin == self.origin || (reworded && fact.origin == Origin::Dream);
        let tier_holds = fact.tier == self.tier || self.own_tier == Some(fact.tier);
        let rest_holds = fact.pinned == self.pinned && fact.expires_at == self.expires_at && fact.is_current();
        if text_holds && origin_holds && tier_holds && rest_holds { Ok(()) } else { Err(Rule::ChangedSince) }
    }
}

/// What is remembered of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its facts; the first is `f1`.
    pub facts: Vec<Premise>,
    /// The Monday of the week that a digest is asked for.
    pub digest_week: Day,
}

/// The letter in front of a short id.
const SHORT_ID_LETTER: char = 'f';

impl Ticket {
    /// The short id of the fact at a place.
    pub fn short_id(index: usize) -> String {
        format!("{SHORT_ID_LETTER}{}", index + 1)
    }

    /// The fact that a short id means. Only the spelling that the job used is one.
    pub fn fact(&self, short_id: &str) -> Option<&Premise> {
        let digits = short_id.strip_prefix(SHORT_ID_LETTER)?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let number: usize = if plain { digits.parse().ok()? } else { return None };
        self.facts.get(number.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;

    const KEY: TextKey = TextKey([7; 32]);

    #[test]
    fn a_short_id_has_one_spelling() {
        let facts = vec![Premise::of(&fact(1, "a"), &KEY), Premise::of(&fact(2, "b"), &KEY)];
        let ticket = Ticket { facts, digest_week: "2026-11-16".parse().unwrap() };
        assert_eq!(ticket.fact(&Ticket::short_id(1)).unwrap().fact, Uuid::from_u128(2));
        for id in ["", "f", "f0", "f01", "f3", "F1", "1", " f1", "f1 ", "f-1", "f+1", "f١", "f99999999999999999999999"]
        {
            assert_eq!(ticket.fact(id), None, "{id}");
        }
    }

    #[test]
    fn an_edit_is_seen_and_a_recall_is_none() {
        let was = fact(1, "likes tea");
        let premise = Premise::of(&was, &KEY);
        let recalled = Fact {
            recall_count: 9,
            last_recalled_at: Some(was.created_at),
            source: Some("chat".into()),
            ..was.clone()
        };
        assert_eq!(premise.check(Some(&recalled), &KEY), Ok(()));
        assert_eq!(premise.check(None, &KEY), Err(Rule::ForgottenSince));
        assert_eq!(premise.check(Some(&Fact { pinned: true, ..was.clone() }), &KEY), Err(Rule::PinnedSince));
        for edited in [
            Fact { text: "likes Tea".into(), ..was.clone() },
            Fact { subject: "Ada".into(), ..was.clone() },
            Fact { tier: Tier::Core, ..was.clone() },
            Fact { origin: Origin::User, ..was.clone() },
            Fact { expires_at: Some(was.created_at), ..was.clone() },
            Fact { superseded_by: Some(Uuid::from_u128(2)), ..was.clone() },
        ] {
            assert_eq!(premise.check(Some(&edited), &KEY), Err(Rule::ChangedSince), "{edited:?}");
        }
        let unpinned = Premise { pinned: true, ..premise };
        assert_eq!(unpinned.check(Some(&was), &KEY), Err(Rule::ChangedSince));
    }

    #[test]
    fn what_the_run_itself_did_to_a_fact_is_no_edit() {
        let was = fact(1, "likes tea");
        let own_text = Some(text_fingerprint(&KEY, "user", "likes green tea"));
        let premise = Premise { own_text, own_tier: Some(Tier::Core), ..Premise::of(&was, &KEY) };
        let reworded = Fact { text: "likes green tea".into(), origin: Origin::Dream, ..was.clone() };
        for fact in [was.clone(), reworded.clone(), Fact { tier: Tier::Core, ..reworded.clone() }] {
            assert_eq!(premise.check(Some(&fact), &KEY), Ok(()));
        }
        for fact in [Fact { origin: Origin::Dream, ..was.clone() }, Fact { tier: Tier::Scratch, ..was }] {
            assert_eq!(premise.check(Some(&fact), &KEY), Err(Rule::ChangedSince));
        }
    }
}
