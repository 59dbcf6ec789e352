//! From what housekeeping and a judged answer want to drafts of ops.
//!
//! A draft relies on each fact being what it was when it was read. Where an earlier draft of the same round changes the fact,
//! the later one relies on what that will have made of it, so that both are carried out, or the later one is left.
//!
//! **Invariant:** a draft holds ids and keyed digests; the texts stand beside it, to be kept where they can be forgotten.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::effect::state_of;
use super::housekeeping::Chore;
use crate::change::{Column, Row};
use crate::digest::{Fingerprint, TextKey};
use crate::op::{Decision, Draft, Intent, OpKind, Premise};
use crate::realm::graph::evidence::{Evidence, SpaceEvidence};

/// Drafts of one round, and what their ops write.
#[derive(Default)]
pub struct Drafted {
    /// In the order in which they are to be carried out.
    pub drafts: Vec<Draft>,
    /// Texts by their digests.
    pub texts: Vec<(Fingerprint, String)>,
}

/// Drafts ops over facts as they were read.
pub struct Drafter<'a> {
    key: &'a TextKey,
    /// The facts, as the drafts so far will have left them.
    facts: BTreeMap<Uuid, Row>,
    drafted: Drafted,
}

impl<'a> Drafter<'a> {
    /// A drafter over these rows.
    pub fn new(key: &'a TextKey, facts: impl IntoIterator<Item = Row>) -> Self {
        let facts = facts.into_iter().map(|row| (row.id, row)).collect();
        Self { key, facts, drafted: Drafted::default() }
    }

    /// What was drafted.
    pub fn finish(self) -> Drafted {
        self.drafted
    }

    /// Drafts what housekeeping wants.
    pub fn chore(&mut self, chore: &Chore) {
        let (kind, rule, intent) = match chore {
            Chore::DeleteExpired { fact } => (OpKind::SpaceExpire, "past_its_end", Intent::RemoveFact { fact: *fact }),
            Chore::DeleteStale { fact } => {
                (OpKind::SpaceStaleScratch, "old_and_never_recalled", Intent::RemoveFact { fact: *fact })
            }
            Chore::MergeDuplicates { keep, remove } => (
                OpKind::SpaceDedupeExact,
                "same_words",
                Intent::MergeFacts { keep: *keep, absorb: remove.clone(), adds_recalls: true, wording: None },
            ),
        };
        let mut premises = self.premises(&chore.facts());
        if let Chore::DeleteStale { fact } = chore {
            premises.push(Premise::NeverRecalled { fact: *fact });
        }
        self.push(kind, rule, intent, premises, 0);
    }

    /// That facts are what they are by now. One that is gone by an earlier draft is nothing to rely on.
    pub(super) fn premises(&self, facts: &[Uuid]) -> Vec<Premise> {
        let premise = |fact: &Uuid| {
            let state = state_of(self.key, self.facts.get(fact)?);
            Some(Premise::Fact { fact: *fact, state })
        };
        facts.iter().filter_map(premise).collect()
    }

    /// Keeps a text, and answers its digest.
    pub(super) fn text(&mut self, text: &str) -> Fingerprint {
        let digest = self.key.fingerprint(&[text]);
        self.drafted.texts.push((digest, text.to_owned()));
        digest
    }

    /// Sees to it that later drafts rely on what this one makes of a fact.
    pub(super) fn foresee(&mut self, fact: Uuid, column: Column, value: crate::change::Value) {
        if let Some(row) = self.facts.get_mut(&fact) {
            row.put(column, value);
        }
    }

    /// Sees to it that no later draft relies on a fact that this one takes away.
    pub(super) fn foresee_gone(&mut self, fact: Uuid) {
        self.facts.remove(&fact);
    }

    pub(super) fn push(&mut self, kind: OpKind, rule: &str, intent: Intent, premises: Vec<Premise>, changes: u32) {
        self.drafted.drafts.push(Draft {
            kind,
            decision: Decision::Planned,
            rule: rule.to_owned(),
            intent,
            premises,
            depends_on: Vec::new(),
            evidence: Evidence::Space(SpaceEvidence { changes, recalls: 0 }),
        });
    }
}
