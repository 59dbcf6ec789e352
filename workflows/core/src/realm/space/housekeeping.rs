//! Housekeeping: what needs no model because a rule decides it.
//!
//! Facts past their time go; scratch notes that nobody recalled, that are old and that the user did not state go; exact
//! duplicates become one. Actions and key-values that expired are no facts and are not looked at here.
//!
//! **Invariant:** of a pinned fact nothing changes but its recall count when it absorbs a duplicate, and a fact that
//! the user stated is absorbed only by a pinned or user-stated one. Each chore can be asked again of the locked rows
//! ([`Chore::still_holds`]), so that what was edited in between is left alone. Rows may come in any order.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::fact::{Fact, Origin, Tier};
use super::sameness;
use crate::clock::Moment;

/// Days after which a scratch note that was never recalled is stale.
pub const SCRATCH_DAYS_MAX: i64 = 14;

const SECONDS_PER_DAY: i64 = 86_400;

/// One thing that housekeeping does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "chore", rename_all = "snake_case")]
pub enum Chore {
    /// A fact is past its time.
    DeleteExpired {
        /// The fact.
        fact: Uuid,
    },
    /// A scratch note is old and was never recalled.
    DeleteStale {
        /// The fact.
        fact: Uuid,
    },
    /// Several facts say the same.
    MergeDuplicates {
        /// The one that stays.
        keep: Uuid,
        /// The others, by id.
        remove: Vec<Uuid>,
    },
}

impl Chore {
    /// Every fact it names, the kept one first.
    pub fn facts(&self) -> Vec<Uuid> {
        match self {
            Self::DeleteExpired { fact } | Self::DeleteStale { fact } => vec![*fact],
            Self::MergeDuplicates { keep, remove } => std::iter::once(keep).chain(remove).copied().collect(),
        }
    }

    /// Whether it would be drafted again from the facts it names as they are now. `as_of` is the moment it was drafted
    /// for.
    pub fn still_holds(&self, current: &[Fact], as_of: Moment) -> bool {
        chores(current, as_of) == std::slice::from_ref(self)
    }
}

/// What there is to do: deletions by id, then duplicates by the id of the kept fact.
pub fn chores(facts: &[Fact], now: Moment) -> Vec<Chore> {
    let mut chores = Vec::new();
    let mut alike: BTreeMap<(String, String), Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        if fact.is_expired(now) {
            chores.push(Chore::DeleteExpired { fact: fact.id });
        } else if is_stale(fact, now) {
            chores.push(Chore::DeleteStale { fact: fact.id });
        } else if fact.is_current() {
            let key = (sameness::key(&fact.subject), sameness::key(&fact.text));
            alike.entry(key).or_default().push(fact);
        }
    }
    chores.extend(alike.into_values().filter_map(merge));
    chores.sort_unstable();
    chores
}

fn is_stale(fact: &Fact, now: Moment) -> bool {
    let recalled = fact.recall_count > 0 || fact.last_recalled_at.is_some();
    fact.tier == Tier::Scratch
        && !fact.is_protected()
        && !recalled
        && fact.created_at.plus_seconds(SCRATCH_DAYS_MAX * SECONDS_PER_DAY) < now
}

/// Keeps the pinned, then the user-stated, then the older copy. A pinned copy is never removed, not even by another.
fn merge(mut copies: Vec<&Fact>) -> Option<Chore> {
    copies.sort_unstable_by_key(|fact| rank(fact));
    let (keep, others) = copies.split_first()?;
    let mut remove: Vec<Uuid> = others.iter().filter(|fact| !fact.pinned).map(|fact| fact.id).collect();
    remove.sort_unstable();
    (!remove.is_empty()).then_some(Chore::MergeDuplicates { keep: keep.id, remove })
}

fn rank(fact: &Fact) -> (Reverse<bool>, Reverse<bool>, Moment, Uuid) {
    (Reverse(fact.pinned), Reverse(fact.origin == Origin::User), fact.created_at, fact.id)
}

/// What the kept copy becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The recalls of all copies.
    pub recall_count: i64,
    /// The latest recall of any; a pinned copy keeps its own.
    pub last_recalled_at: Option<Moment>,
    /// The nearest tier of any; a protected copy keeps its own.
    pub tier: Tier,
    /// The longest life of any; a protected copy keeps its own.
    pub expires_at: Option<Moment>,
}

/// What `keep` becomes when it absorbs copies of itself. The same words noted twice, once for a week and once for good,
/// are meant for good: otherwise which copy is older would decide how long they last.
pub fn absorb(keep: &Fact, removed: &[&Fact]) -> Kept {
    let recall_count = removed.iter().fold(keep.recall_count, |sum, fact| sum.saturating_add(fact.recall_count));
    let all = || std::iter::once(keep).chain(removed.iter().copied());
    let latest = all().map(|fact| fact.last_recalled_at).max().flatten();
    let nearest = all().map(|fact| fact.tier).min().unwrap_or(keep.tier);
    let for_good = all().any(|fact| fact.expires_at.is_none());
    let longest = if for_good { None } else { all().filter_map(|fact| fact.expires_at).max() };
    let protected = keep.is_protected();
    Kept {
        recall_count,
        last_recalled_at: if keep.pinned { keep.last_recalled_at } else { latest },
        tier: if protected { keep.tier } else { nearest },
        expires_at: if protected { keep.expires_at } else { longest },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fact::tests::fact;
    use super::*;

    const NOW: Moment = Moment::from_micros(1_796_000_000_000_000);

    fn days_ago(days: i64) -> Moment {
        NOW.plus_seconds(-days * SECONDS_PER_DAY)
    }

    fn keeps(facts: &[Fact], expected: Option<(u128, &[u128])>) {
        let remove = |ids: &[u128]| ids.iter().copied().map(Uuid::from_u128).collect();
        let merge = |(keep, ids)| Chore::MergeDuplicates { keep: Uuid::from_u128(keep), remove: remove(ids) };
        assert_eq!(chores(facts, NOW), expected.map(merge).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_fact_past_its_time_goes_and_a_pinned_one_stays() {
        let expired = Fact { expires_at: Some(NOW), ..fact(1, "a") };
        let user_stated = Fact { expires_at: Some(NOW), origin: Origin::User, ..fact(2, "b") };
        let pinned = Fact { expires_at: Some(days_ago(9)), pinned: true, ..fact(3, "c") };
        let later = Fact { expires_at: Some(NOW.plus_seconds(1)), ..fact(4, "d") };
        let deleted = [1, 2].map(|id| Chore::DeleteExpired { fact: Uuid::from_u128(id) });
        assert_eq!(chores(&[later, pinned, user_stated, expired], NOW), deleted);
    }

    #[test]
    fn a_scratch_note_goes_when_it_is_old_and_nobody_cared() {
        let stale = Fact { tier: Tier::Scratch, created_at: days_ago(15), ..fact(1, "a") };
        let kept = [
            Fact { created_at: days_ago(14), ..stale.clone() },
            Fact { tier: Tier::Long, ..stale.clone() },
            Fact { origin: Origin::User, ..stale.clone() },
            Fact { pinned: true, ..stale.clone() },
            Fact { recall_count: 1, ..stale.clone() },
            Fact { last_recalled_at: Some(NOW), ..stale.clone() },
        ];
        for fact in kept {
            assert_eq!(chores(std::slice::from_ref(&fact), NOW), [], "{fact:?}");
        }
        assert_eq!(chores(&[stale], NOW), [Chore::DeleteStale { fact: Uuid::from_u128(1) }]);
    }

    #[test]
    fn the_pinned_then_the_user_stated_then_the_older_copy_stays() {
        let (plain, copy) = (fact(1, "Likes tea"), fact(2, "likes  TEA"));
        let older = Fact { created_at: days_ago(1), ..copy.clone() };
        let user_stated = Fact { origin: Origin::User, ..copy.clone() };
        let pinned = Fact { pinned: true, ..fact(3, "likes tea") };
        keeps(&[plain.clone(), copy.clone()], Some((1, &[2])));
        keeps(&[plain.clone(), older], Some((2, &[1])));
        keeps(&[plain.clone(), user_stated.clone()], Some((2, &[1])));
        keeps(&[plain.clone(), user_stated, pinned.clone()], Some((3, &[1, 2])));
        keeps(&[Fact { pinned: true, ..plain.clone() }, pinned.clone()], None);
        keeps(&[Fact { pinned: true, ..plain }, pinned, copy], Some((1, &[2])));
    }

    #[test]
    fn the_same_words_about_another_subject_or_out_of_force_are_no_copy() {
        let about_ada = Fact { subject: "Ada".into(), ..fact(1, "likes tea") };
        let replaced = Fact { superseded_by: Some(Uuid::from_u128(1)), ..fact(2, "likes tea") };
        keeps(&[about_ada, replaced, fact(3, "likes tea")], None);
    }

    #[test]
    fn a_chore_holds_until_one_of_its_facts_is_edited() {
        let facts = [fact(1, "likes tea"), fact(2, "Likes tea")];
        let chore = &chores(&facts, NOW)[0];
        assert!(chore.still_holds(&facts, NOW));
        let [one, two] = facts;
        for edited in [
            vec![one.clone()],
            vec![one.clone(), Fact { text: "likes coffee".into(), ..two.clone() }],
            vec![one.clone(), Fact { pinned: true, ..two.clone() }],
            vec![one, Fact { origin: Origin::User, ..two }],
        ] {
            assert!(!chore.still_holds(&edited, NOW), "{edited:?}");
        }
    }

    #[test]
    fn a_copy_lends_its_recalls_and_its_life_but_a_protected_fact_takes_only_recalls() {
        let keep = Fact { recall_count: 2, expires_at: Some(NOW), tier: Tier::Scratch, ..fact(1, "a") };
        let copy = Fact { recall_count: 3, last_recalled_at: Some(NOW), tier: Tier::Core, ..fact(2, "a") };
        let all = Kept { recall_count: 5, last_recalled_at: Some(NOW), tier: Tier::Core, expires_at: None };
        assert_eq!(absorb(&keep, &[&copy]), all);
        let stated = Kept { tier: Tier::Scratch, expires_at: Some(NOW), ..all };
        assert_eq!(absorb(&Fact { origin: Origin::User, ..keep.clone() }, &[&copy]), stated);
        let pinned = Kept { last_recalled_at: None, ..stated };
        assert_eq!(absorb(&Fact { pinned: true, ..keep }, &[&copy]), pinned);
    }

    fn facts() -> impl Strategy<Value = Vec<Fact>> {
        let one = (0..4_u8, 0..3_usize, 0..3_usize, any::<bool>(), 0..2_i64, 0..20_i64, prop::option::of(-2..2_i64));
        let made = one.prop_map(|(text, tier, origin, pinned, recall_count, age, expires)| Fact {
            tier: Tier::ALL[tier],
            origin: Origin::ALL[origin],
            pinned,
            recall_count,
            created_at: days_ago(age),
            expires_at: expires.map(|days| days_ago(-days)),
            ..fact(0, &format!("text {text}"))
        });
        prop::collection::vec(made, 0..12).prop_map(|mut facts| {
            facts.iter_mut().zip(1..).for_each(|(fact, id)| fact.id = Uuid::from_u128(id));
            facts
        })
    }

    proptest! {
        #[test]
        fn the_order_of_rows_decides_nothing_and_no_fact_is_in_two_chores(facts in facts(), turn in 0..12_usize) {
            let mut shuffled = facts.clone();
            shuffled.rotate_left(turn.min(facts.len()));
            shuffled.reverse();
            let drafted = chores(&facts, NOW);
            prop_assert_eq!(&chores(&shuffled, NOW), &drafted);
            let mut named: Vec<Uuid> = drafted.iter().flat_map(Chore::facts).collect();
            named.sort_unstable();
            let count = named.len();
            named.dedup();
            prop_assert_eq!(named.len(), count);
        }

        #[test]
        fn no_protected_fact_is_lost_to_one_with_less_right(facts in facts()) {
            let by_id: BTreeMap<Uuid, &Fact> = facts.iter().map(|fact| (fact.id, fact)).collect();
            for chore in chores(&facts, NOW) {
                let of_chore: Vec<Fact> = chore.facts().iter().map(|id| by_id[id].clone()).collect();
                prop_assert!(chore.still_holds(&of_chore, NOW));
                match chore {
                    Chore::DeleteExpired { fact } => prop_assert!(!by_id[&fact].pinned),
                    Chore::DeleteStale { fact } => prop_assert!(!by_id[&fact].is_protected()),
                    Chore::MergeDuplicates { keep, remove } => for removed in remove {
                        prop_assert!(!by_id[&removed].pinned);
                        prop_assert!(by_id[&removed].origin != Origin::User || by_id[&keep].is_protected());
                    },
                }
            }
        }
    }
}
