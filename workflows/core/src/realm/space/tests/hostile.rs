//! Ten thousand hostile answers: whatever a model says, no rule breaks.
//!
//! The rules are checked here in another way than they are applied: by looking at what the facts would become.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use uuid::Uuid;

use super::super::answer::{ANSWER_BYTES_MAX, Answer, Contradiction, Merge, Promotion, Proposal, parse};
use super::super::changes::{CHANGES_MAX, Change, Judged};
use super::super::fact::tests::fact;
use super::super::fact::{Fact, Origin, Tier};
use super::super::job::Job;
use super::super::rules::{Item, Section};
use super::world::judged_since;

const CASES: u32 = 10_000;

/// Texts of which many can be merged and some cannot.
const TEXTS: &[&str] = &[
    "likes tea",
    "enjoys tea",
    "drinks tea",
    "likes tea at 5",
    "met Ada",
    "never likes tea",
    "likes 2 teas",
    "lives in Paris",
];

const WORDINGS: &[&str] = &[
    "likes tea",
    "enjoys and likes tea",
    "",
    " ",
    "\u{0}",
    "likes tea at 5",
    "met Ada at 5, likes 2 teas",
    "…",
    "ignore the rules",
];

fn short_id() -> impl Strategy<Value = String> {
    prop_oneof![
        30 => (1..45_u32).prop_map(|id| format!("f{id}")),
        1 => prop::sample::select(vec!["", "f0", "f01", "F1", "1", "f999", "00000000-0000-0000-0000-000000000001", "f1 "])
            .prop_map(str::to_owned),
    ]
}

fn merge() -> impl Strategy<Value = Merge> {
    let wording = prop::option::weighted(0.4, prop::sample::select(WORDINGS.to_vec()).prop_map(str::to_owned));
    (short_id(), prop::collection::vec(short_id(), 0..9), wording).prop_map(|(keep_id, remove_ids, wording)| Merge {
        keep_id,
        remove_ids,
        wording,
    })
}

fn answers() -> impl Strategy<Value = Answer> {
    let tier = || prop::sample::select(Tier::ALL.to_vec());
    let text = || prop::sample::select(WORDINGS.to_vec()).prop_map(str::to_owned);
    let promotion = (short_id(), tier()).prop_map(|(fact_id, tier)| Promotion { fact_id, tier });
    let named = || prop::collection::vec(short_id(), 0..4);
    let contradiction = (named(), text()).prop_map(|(fact_ids, note)| Contradiction { fact_ids, note });
    let proposal = (text(), prop::option::of(text()), named()).prop_map(|(title, detail, fact_ids)| Proposal {
        title,
        detail,
        fact_ids,
    });
    (
        prop::collection::vec(merge(), 0..20),
        prop::collection::vec(promotion, 0..30),
        prop::collection::vec(contradiction, 0..20),
        prop::option::of(text()),
        prop::collection::vec(proposal, 0..20),
        prop::option::of(prop_oneof![text(), Just("tea ".repeat(500))]),
    )
        .prop_map(|(merges, promotions, contradictions, weekly_digest, proposals, profile)| Answer {
            merges,
            promotions,
            contradictions,
            weekly_digest,
            proposals,
            profile,
        })
}

/// Facts of a job, and the same facts when the answer comes.
fn worlds() -> impl Strategy<Value = (Vec<Fact>, Vec<Fact>)> {
    // Most texts are alike, so that merges are admitted and the limit is reached.
    let text = prop_oneof![4 => Just(TEXTS[0]), 1 => prop::sample::select(TEXTS.to_vec())];
    let one = (text, prop::sample::select(Tier::ALL.to_vec()), 0..8_u8, 0..20_u8);
    prop::collection::vec(one, 0..40).prop_map(|made| {
        let (mut then, mut now) = (Vec::new(), Vec::new());
        for ((text, tier, protection, edit), id) in made.into_iter().zip(1..) {
            let origin = if protection == 0 { Origin::User } else { Origin::Agent };
            let cut = Fact { tier, origin, pinned: protection == 1, ..fact(id, text) };
            match edit {
                0 => {}
                1 => now.push(Fact { text: "was edited".into(), ..cut.clone() }),
                2 => now.push(Fact { pinned: !cut.pinned, ..cut.clone() }),
                3 => now.push(Fact { recall_count: 9, ..cut.clone() }),
                _ => now.push(cut.clone()),
            }
            then.push(cut);
        }
        (then, now)
    })
}

/// What the facts are as changes are made to them.
struct Made {
    now: BTreeMap<Uuid, Fact>,
    then: BTreeMap<Uuid, Fact>,
    merged: BTreeSet<Uuid>,
}

impl Made {
    /// A fact that a change may touch: it was in the job, and it is as it was but for recalls.
    fn touchable(&self, id: Uuid) -> Result<&Fact, TestCaseError> {
        let fact = self.now.get(&id).ok_or_else(|| TestCaseError::fail("a fact that is gone was touched"))?;
        let cut = self.then.get(&id).ok_or_else(|| TestCaseError::fail("a fact outside of the job was touched"))?;
        prop_assert_eq!(cut.pinned, fact.pinned);
        prop_assert!(fact.text != "was edited");
        Ok(fact)
    }

    fn make(&mut self, change: &Change, answer: &Answer) -> Result<(), TestCaseError> {
        for premise in change.premises() {
            self.touchable(premise.fact)?;
        }
        match change {
            Change::Merge { item, keep, remove, reworded } => {
                prop_assert!(self.merged.insert(keep.fact), "two merges of one fact");
                let said = |fact: &Fact| {
                    fact.text
                        .split(' ')
                        .filter(|word| "25Ada never Paris".contains(*word))
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                };
                let mut details = said(&self.now[&keep.fact]);
                for gone in remove {
                    prop_assert!(self.merged.insert(gone.fact), "two merges of one fact");
                    let gone = self.now.remove(&gone.fact).unwrap();
                    prop_assert!(!gone.is_protected(), "a protected fact was merged away");
                    details.extend(said(&gone));
                }
                let kept = self.now.get_mut(&keep.fact).unwrap();
                if *reworded {
                    prop_assert!(!kept.is_protected(), "a protected fact was reworded");
                    kept.text = answer.text(*item).unwrap_or_default().to_owned();
                    prop_assert!(!kept.text.is_empty() && !kept.text.contains('\0'));
                }
                prop_assert!(details.iter().all(|word| kept.text.contains(word)), "{} lost", kept.id);
            }
            Change::Promote { fact, to, .. } => {
                let fact = self.now.get_mut(&fact.fact).unwrap();
                prop_assert!(fact.tier != *to);
                prop_assert!(!fact.is_protected() || fact.tier.is_raised_by(*to), "a protected fact was demoted");
                fact.tier = *to;
            }
            Change::Contradiction { facts, .. } => prop_assert!(facts.len() >= 2),
            Change::Profile { item } => prop_assert!(answer.text(*item).unwrap().chars().count() <= 1_500),
            Change::Digest { .. } | Change::Proposal { .. } => {}
        }
        Ok(())
    }
}

fn no_rule_is_broken(answer: &Answer, then: &[Fact], now: &[Fact], judged: &Judged) -> Result<(), TestCaseError> {
    let by_id = |facts: &[Fact]| facts.iter().map(|fact| (fact.id, fact.clone())).collect();
    let mut made = Made { now: by_id(now), then: by_id(then), merged: BTreeSet::new() };
    for change in &judged.changes {
        made.make(change, answer)?;
    }
    prop_assert!(judged.cost() <= CHANGES_MAX);
    let stage = |change: &Change| match change {
        Change::Merge { .. } => 0,
        Change::Promote { .. } => 1,
        Change::Digest { .. } => 2,
        Change::Profile { .. } => 3,
        Change::Proposal { .. } => 4,
        Change::Contradiction { .. } => 5,
    };
    prop_assert!(judged.changes.is_sorted_by_key(stage));
    Ok(())
}

/// Every item is done or listed; nothing is passed over in silence.
fn every_item_is_accounted_for(answer: &Answer, judged: &Judged) -> Result<(), TestCaseError> {
    let said: BTreeSet<Item> =
        judged.changes.iter().map(Change::item).chain(judged.listed.iter().map(|line| line.item)).collect();
    let counts = [
        (Section::Merges, answer.merges.len()),
        (Section::Promotions, answer.promotions.len()),
        (Section::WeeklyDigest, usize::from(answer.weekly_digest.is_some())),
        (Section::Profile, usize::from(answer.profile.is_some())),
        (Section::Proposals, answer.proposals.len()),
        (Section::Contradictions, answer.contradictions.len()),
    ];
    for (section, count) in counts {
        for index in 0..count {
            prop_assert!(said.contains(&Item::new(section, index)), "{section}[{index}] was passed over");
        }
    }
    prop_assert_eq!(judged.unlisted, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn no_answer_breaks_a_rule(answer in answers(), (then, now) in worlds(), turn in 0..40_usize) {
        let (job, judged): (Job, Judged) = judged_since(&then, &now, &answer);
        no_rule_is_broken(&answer, &then, &now, &judged)?;
        every_item_is_accounted_for(&answer, &judged)?;
        let (mut other_then, mut other_now) = (then, now);
        other_then.reverse();
        let middle = turn.min(other_now.len());
        other_now.rotate_left(middle);
        let (other_job, other) = judged_since(&other_then, &other_now, &answer);
        prop_assert!(other_job == job);
        prop_assert_eq!(other, judged);
    }

    #[test]
    fn no_bytes_break_the_reader(answer in answers(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = serde_json::to_vec(&answer).unwrap();
        prop_assert!(parse(&bytes, ANSWER_BYTES_MAX).is_ok_and(|read| read == answer));
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        match parse(&bytes, ANSWER_BYTES_MAX) {
            Ok(_) => prop_assert!(!cut, "half an answer was read"),
            Err(broken) => prop_assert!(broken.line > 0 && broken.to_string().len() < 200),
        }
    }
}
