//! The judging of an answer: each item under every rule, in the order in which changes are made.
//!
//! Merges come first, then promotions, the digest, the profile, proposals, contradictions; within each, the answer's
//! order. An item is done whole or not at all, but a fact that may not be touched is left out of it where the rest
//! still makes sense. What does not fit the run's limit is skipped whole, and later smaller items are still tried.
//!
//! **Invariant:** the same answer, ticket and facts are judged the same, in whatever order rows come. No text leaves
//! this module. A new rule is asked in the function of its section.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use uuid::Uuid;

use super::answer::{Answer, Contradiction, Merge, Promotion, Proposal};
use super::changes::{CHANGES_MAX, Change, Judged, ProposalKind};
use super::effect::RecordKind;
use super::fact::{FACT_CHARACTERS_MAX, Fact, Tier};
use super::rules::{Item, Listed, Rule, Section};
use super::ticket::{Premise, Ticket, text_fingerprint};
use super::{profile, sameness, wording};
use crate::change::{Column, Row};
use crate::digest::{Fingerprint, TextKey};

/// Most characters of a weekly digest: some pages.
pub const DIGEST_CHARACTERS_MAX: usize = 8_000;

/// Most characters of a note or a title: a sentence.
pub const SENTENCE_CHARACTERS_MAX: usize = 1_000;

/// Most lines that are listed. An answer of a megabyte may have a hundred thousand items; nobody reads them.
pub const LISTED_MAX: usize = 1_000;

/// What is recorded already, so that the same is not recorded every night.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Contradictions, open or dealt with, each by its facts in the order of their ids.
    pub contradictions: BTreeSet<Vec<Uuid>>,
    /// Proposals, open or dealt with, by their [`proposal_fingerprint`].
    pub proposals: BTreeSet<Fingerprint>,
}

/// What a record of ours says, as far as it tells one from another.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    fact_ids: Vec<Uuid>,
    title: Option<String>,
}

impl Recorded {
    /// What rows of records say, open or dealt with. A record that cannot be read tells nothing.
    pub fn of(rows: &[Row], key: &TextKey) -> Self {
        let mut recorded = Self::default();
        for row in rows {
            let body = row.get(Column::Body).text().and_then(|text| serde_json::from_str::<Body>(text).ok());
            let body = body.unwrap_or_default();
            let collection = row.get(Column::Collection).text();
            match RecordKind::ALL.iter().find(|kind| collection == Some(kind.collection())) {
                Some(RecordKind::Conflict) => {
                    let facts: BTreeSet<Uuid> = body.fact_ids.into_iter().collect();
                    recorded.contradictions.insert(facts.into_iter().collect());
                }
                Some(RecordKind::Proposal) => {
                    recorded.proposals.extend(body.title.map(|title| proposal_fingerprint(key, &title)));
                }
                None => {}
            }
        }
        recorded
    }
}

/// What an answer is judged against.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// What the job named.
    pub ticket: &'a Ticket,
    /// Those facts as they are now, in any order.
    pub facts: &'a [Fact],
    /// What is recorded already.
    pub recorded: &'a Recorded,
    /// The key of the store.
    pub key: &'a TextKey,
}

/// What tells one proposal from another: its title as a reader sees it.
pub fn proposal_fingerprint(key: &TextKey, title: &str) -> Fingerprint {
    key.fingerprint(&["proposal", &sameness::key(title)])
}

/// Judges an answer.
pub fn judge(answer: &Answer, world: World<'_>) -> Judged {
    let mut judge = Judge::of(world);
    for (item, merge) in items(Section::Merges, &answer.merges) {
        judge.merge(item, merge);
    }
    for (item, promotion) in items(Section::Promotions, &answer.promotions) {
        judge.promote(item, promotion);
    }
    judge.digest(answer.weekly_digest.as_deref());
    judge.profile(answer.profile.as_deref());
    judge.propose_doubtful();
    for (item, proposal) in items(Section::Proposals, &answer.proposals) {
        judge.propose(item, proposal);
    }
    for (item, contradiction) in items(Section::Contradictions, &answer.contradictions) {
        judge.contradict(item, contradiction);
    }
    judge.judged
}

fn items<T>(section: Section, items: &[T]) -> impl Iterator<Item = (Item, &T)> {
    items.iter().enumerate().map(move |(index, it)| (Item::new(section, index), it))
}

/// What a merge did with a fact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Kept,
    Removed,
    /// A person is asked about it, so that no later merge takes it away meanwhile.
    Asked,
}

struct Judge<'a> {
    world: World<'a>,
    facts: BTreeMap<Uuid, &'a Fact>,
    room: u32,
    used: BTreeMap<Uuid, Use>,
    own_texts: BTreeMap<Uuid, Fingerprint>,
    own_tiers: BTreeMap<Uuid, Tier>,
    /// Merges that became proposals; their turn is with the proposals.
    doubtful: Vec<(Item, Rule, Vec<Premise>)>,
    contradictions: BTreeSet<Vec<Uuid>>,
    proposals: BTreeSet<Fingerprint>,
    judged: Judged,
}

impl<'a> Judge<'a> {
    fn of(world: World<'a>) -> Self {
        Self {
            world,
            facts: world.facts.iter().map(|fact| (fact.id, fact)).collect(),
            room: CHANGES_MAX,
            used: BTreeMap::new(),
            own_texts: BTreeMap::new(),
            own_tiers: BTreeMap::new(),
            doubtful: Vec::new(),
            contradictions: BTreeSet::new(),
            proposals: BTreeSet::new(),
            judged: Judged::default(),
        }
    }

    fn list(&mut self, item: Item, rule: Rule, facts: Vec<Uuid>) {
        if self.judged.listed.len() < LISTED_MAX {
            self.judged.listed.push(Listed { item, rule, facts });
        } else {
            self.judged.unlisted = self.judged.unlisted.saturating_add(1);
        }
    }

    /// Takes a change if there is room for all of it.
    fn admit(&mut self, change: Change) -> bool {
        let fits = change.cost() <= self.room;
        if fits {
            self.room -= change.cost();
            self.judged.changes.push(change);
        } else {
            let facts = change.premises().iter().map(|premise| premise.fact).collect();
            self.list(change.item(), Rule::OverLimit, facts);
        }
        fits
    }

    /// A fact with what this run has made of it so far.
    fn as_made(&self, premise: &Premise) -> Premise {
        let (own_text, own_tier) = (self.own_texts.get(&premise.fact), self.own_tiers.get(&premise.fact));
        Premise { own_text: own_text.copied(), own_tier: own_tier.copied(), ..premise.clone() }
    }

    /// The facts that an item names; if one of the ids is unknown, the item is refused.
    fn premises(&mut self, item: Item, short_ids: &[String]) -> Option<Vec<Premise>> {
        let known: Vec<Premise> =
            short_ids.iter().filter_map(|id| self.world.ticket.fact(id)).map(|it| self.as_made(it)).collect();
        if known.len() < short_ids.len() {
            self.list(item, Rule::UnknownId, ids(&known));
            return None;
        }
        Some(known)
    }

    /// Whether nobody changed a fact since the job was cut.
    fn unchanged(&self, premise: &Premise) -> Result<(), Rule> {
        // The rows are as they were before this run, so that what it will make of them is no excuse.
        let as_cut = Premise { own_text: None, own_tier: None, ..premise.clone() };
        as_cut.check(self.facts.get(&premise.fact).copied(), self.world.key)
    }

    fn merge(&mut self, item: Item, merge: &Merge) {
        let named: Vec<String> = std::iter::once(&merge.keep_id).chain(&merge.remove_ids).cloned().collect();
        let Some(mut named) = self.premises(item, &named) else { return };
        let keep = named.remove(0);
        if let Some(rule) = self.refuses_merge(merge, &keep, &named) {
            return self.list(item, rule, vec![keep.fact]);
        }
        let mut remove: Vec<Premise> = Vec::new();
        for premise in named {
            match self.refuses_removal(&premise, &remove) {
                Some(rule) => self.list(item, rule, vec![premise.fact]),
                None => remove.push(premise),
            }
        }
        if remove.is_empty() {
            return self.list(item, Rule::NothingToRemove, vec![keep.fact]);
        }
        let Some(kept) = self.facts.get(&keep.fact).copied() else { return };
        let wording = merge.wording.as_deref().map(str::trim).filter(|wording| *wording != kept.text);
        if wording.is_some() && keep.is_protected() {
            self.list(item, Rule::ProtectedWording, vec![keep.fact]);
        }
        let wording = wording.filter(|_| !keep.is_protected());
        let removed: Vec<&Fact> = remove.iter().filter_map(|premise| self.facts.get(&premise.fact).copied()).collect();
        let own_text = wording.map(|wording| text_fingerprint(self.world.key, &kept.subject, wording));
        let change = Change::Merge { item, keep, remove, reworded: own_text.is_some() };
        // Asked last, and of what there is room for: it reads every word, and an answer may name each fact a thousand
        // times.
        let fits = change.cost() <= self.room;
        if let Some(rule) = fits.then(|| wording::lost(kept, &removed, wording)).flatten() {
            let facts: Vec<Premise> = change.premises().into_iter().cloned().collect();
            self.list(item, rule, ids(&facts));
            self.used.extend(facts.iter().map(|premise| (premise.fact, Use::Asked)));
            return self.doubtful.push((item, rule, facts));
        }
        if self.admit(change) {
            self.used.insert(kept.id, Use::Kept);
            self.used.extend(removed.iter().map(|fact| (fact.id, Use::Removed)));
            self.own_texts.extend(own_text.map(|text| (kept.id, text)));
        }
    }

    /// Why a merge is refused whole.
    fn refuses_merge(&self, merge: &Merge, keep: &Premise, remove: &[Premise]) -> Option<Rule> {
        if let Some(wording) = &merge.wording {
            let rule = refuses_text(wording, FACT_CHARACTERS_MAX);
            if rule.is_some() {
                return rule.map(|rule| if rule == Rule::EmptyText { Rule::EmptyWording } else { rule });
            }
        }
        if remove.iter().any(|premise| premise.fact == keep.fact) {
            return Some(Rule::KeepInRemove);
        }
        match self.used.get(&keep.fact) {
            Some(Use::Removed) => Some(Rule::MergeIntoRemoved),
            Some(Use::Kept | Use::Asked) => Some(Rule::UsedByEarlierMerge),
            None => self.unchanged(keep).err(),
        }
    }

    /// Why a fact is not merged away, while the rest of its merge goes on.
    fn refuses_removal(&self, premise: &Premise, before: &[Premise]) -> Option<Rule> {
        if before.iter().any(|other| other.fact == premise.fact) {
            return Some(Rule::RepeatedId);
        }
        if self.used.contains_key(&premise.fact) {
            return Some(Rule::UsedByEarlierMerge);
        }
        self.unchanged(premise).err().or_else(|| premise.is_protected().then_some(Rule::ProtectedFact))
    }

    fn promote(&mut self, item: Item, promotion: &Promotion) {
        let Some(mut named) = self.premises(item, std::slice::from_ref(&promotion.fact_id)) else { return };
        let (fact, to) = (named.remove(0), promotion.tier);
        let rule = if self.used.get(&fact.fact) == Some(&Use::Removed) {
            Some(Rule::RemovedByMerge)
        } else if self.own_tiers.contains_key(&fact.fact) {
            Some(Rule::PromotedBefore)
        } else if let Err(rule) = self.unchanged(&fact) {
            Some(rule)
        } else if fact.tier == to {
            Some(Rule::SameTier)
        } else {
            (fact.is_protected() && !fact.tier.is_raised_by(to)).then_some(Rule::ProtectedTier)
        };
        let id = fact.fact;
        match rule {
            Some(rule) => self.list(item, rule, vec![id]),
            None if self.admit(Change::Promote { item, fact, to }) => {
                self.own_tiers.insert(id, to);
            }
            None => {}
        }
    }

    fn digest(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        let item = Item::new(Section::WeeklyDigest, 0);
        match refuses_text(text, DIGEST_CHARACTERS_MAX) {
            Some(rule) => self.list(item, rule, Vec::new()),
            None => _ = self.admit(Change::Digest { item, week: self.world.ticket.digest_week }),
        }
    }

    fn profile(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        let item = Item::new(Section::Profile, 0);
        let (kept, cut) = profile::cut(text);
        match refuses_text(kept, profile::PROFILE_CHARACTERS_MAX) {
            Some(rule) => self.list(item, rule, Vec::new()),
            None => self.judged.profile_cut = self.admit(Change::Profile { item }) && cut,
        }
    }

    fn propose_doubtful(&mut self) {
        for (item, rule, facts) in std::mem::take(&mut self.doubtful) {
            let facts = facts.iter().map(|premise| self.as_made(premise)).collect();
            self.admit(Change::Proposal { item, kind: ProposalKind::Merge, facts, reason: Some(rule) });
        }
    }

    fn propose(&mut self, item: Item, proposal: &Proposal) {
        let Some(named) = self.premises(item, &proposal.fact_ids) else { return };
        let detail = proposal.detail.as_deref().filter(|detail| !detail.trim().is_empty());
        let refused = refuses_text(&proposal.title, SENTENCE_CHARACTERS_MAX)
            .or_else(|| detail.and_then(|detail| refuses_text(detail, FACT_CHARACTERS_MAX)));
        let fingerprint = proposal_fingerprint(self.world.key, &proposal.title);
        let known = self.world.recorded.proposals.contains(&fingerprint) || self.proposals.contains(&fingerprint);
        if let Some(rule) = refused.or_else(|| known.then_some(Rule::AlreadyRecorded)) {
            return self.list(item, rule, Vec::new());
        }
        let facts = self.mentioned(item, named);
        if self.admit(Change::Proposal { item, kind: ProposalKind::OpenLoop, facts, reason: None }) {
            self.proposals.insert(fingerprint);
        }
    }

    fn contradict(&mut self, item: Item, contradiction: &Contradiction) {
        let Some(named) = self.premises(item, &contradiction.fact_ids) else { return };
        if let Some(rule) = refuses_text(&contradiction.note, SENTENCE_CHARACTERS_MAX) {
            return self.list(item, rule, Vec::new());
        }
        let facts = self.mentioned(item, named);
        let mut pair = ids(&facts);
        pair.sort_unstable();
        if pair.len() < 2 {
            return self.list(item, Rule::TooFewFacts, pair);
        }
        if self.world.recorded.contradictions.contains(&pair) || self.contradictions.contains(&pair) {
            return self.list(item, Rule::AlreadyRecorded, pair);
        }
        if self.admit(Change::Contradiction { item, facts }) {
            self.contradictions.insert(pair);
        }
    }

    /// The facts that a record may name: each once, none that this run removes, none that was changed in between.
    fn mentioned(&mut self, item: Item, named: Vec<Premise>) -> Vec<Premise> {
        let mut facts: Vec<Premise> = Vec::new();
        for premise in named {
            let rule = if facts.iter().any(|other| other.fact == premise.fact) {
                Some(Rule::RepeatedId)
            } else if self.used.get(&premise.fact) == Some(&Use::Removed) {
                Some(Rule::RemovedByMerge)
            } else {
                self.unchanged(&premise).err()
            };
            match rule {
                Some(rule) => self.list(item, rule, vec![premise.fact]),
                None => facts.push(premise),
            }
        }
        facts
    }
}

fn ids(premises: &[Premise]) -> Vec<Uuid> {
    premises.iter().map(|premise| premise.fact).collect()
}

/// Why a text of a model is not stored. Control characters are none of a sentence, and PostgreSQL has no place for a
/// NUL.
fn refuses_text(text: &str, characters_max: usize) -> Option<Rule> {
    if !text.chars().any(char::is_alphanumeric) {
        return Some(Rule::EmptyText);
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Some(Rule::ControlCharacters);
    }
    (text.chars().nth(characters_max).is_some()).then_some(Rule::TextTooLong)
}
