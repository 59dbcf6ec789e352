//! From what housekeeping and a judged answer want to drafts of ops.
//!
//! **Invariant:** a draft holds ids and keyed digests; the texts stand beside it, to be kept where they can be forgotten.

use std::collections::BTreeMap;

use serde_json::json;
use uuid::Uuid;

use super::answer::Answer;
use super::changes::{Change, Judged, ProposalKind};
use super::effect::{RecordKind, state_of};
use super::housekeeping::Chore;
use super::profile;
use super::row::week_entry;
use super::rules::{Item, Rule};
use super::ticket;
use crate::change::Row;
use crate::digest::{Fingerprint, TextKey};
use crate::id::{NamespaceId, RunId};
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

impl Drafted {
    fn push(&mut self, kind: OpKind, rule: &str, intent: Intent, premises: Vec<Premise>, changes: u32) {
        self.drafts.push(Draft {
            kind,
            decision: Decision::Planned,
            rule: rule.to_owned(),
            intent,
            premises,
            depends_on: Vec::new(),
            evidence: Evidence::Space(SpaceEvidence { changes, recalls: 0 }),
        });
    }

    /// Keeps a text, and answers its digest.
    fn text(&mut self, key: &TextKey, text: &str) -> Fingerprint {
        let digest = key.fingerprint(&["op_text", text]);
        self.texts.push((digest, text.to_owned()));
        digest
    }
}

/// Drafts what housekeeping wants, over facts as they were read.
pub fn of_chores(chores: &[Chore], rows: &[Row], key: &TextKey) -> Drafted {
    let rows: BTreeMap<Uuid, &Row> = rows.iter().map(|row| (row.id, row)).collect();
    let mut drafted = Drafted::default();
    for chore in chores {
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
        let premise = |fact: Uuid| rows.get(&fact).map(|row| Premise::Fact { fact, state: state_of(key, row) });
        let mut premises: Vec<Premise> = chore.facts().into_iter().filter_map(premise).collect();
        if let Chore::DeleteStale { fact } = chore {
            premises.push(Premise::NeverRecalled { fact: *fact });
        }
        drafted.push(kind, rule, intent, premises, 0);
    }
    drafted
}

/// What a judged answer is drafted for.
#[derive(Clone, Copy)]
pub struct Judgement<'a> {
    /// The run.
    pub run: RunId,
    /// The space.
    pub space: NamespaceId,
    /// The answer.
    pub answer: &'a Answer,
    /// What was admitted of it.
    pub judged: &'a Judged,
    /// The key of the store.
    pub key: &'a TextKey,
}

/// Drafts what was admitted of an answer, in its order.
pub fn of_judged(judgement: Judgement<'_>) -> Drafted {
    let mut drafted = Drafted::default();
    for change in &judgement.judged.changes {
        judgement.draft(change, &mut drafted);
    }
    drafted
}

/// The rule of what a model suggested and no rule refused.
const SUGGESTED: &str = "suggested";

impl Judgement<'_> {
    fn draft(&self, change: &Change, drafted: &mut Drafted) {
        let premises = change.premises().into_iter().cloned().map(Premise::FactAsTold).collect();
        let said = self.answer.text(change.item()).unwrap_or_default();
        let (kind, intent) = match change {
            Change::Merge { keep, remove, reworded, .. } => {
                let wording = reworded.then(|| drafted.text(self.key, said.trim()));
                let absorb = sorted(remove);
                (OpKind::SpaceMerge, Intent::MergeFacts { keep: keep.fact, absorb, adds_recalls: false, wording })
            }
            Change::Promote { fact, to, .. } => (OpKind::SpacePromote, Intent::MoveFact { fact: fact.fact, tier: *to }),
            Change::Digest { week, .. } => {
                let text = drafted.text(self.key, said.trim());
                let entry = week_entry(self.space, *week);
                (OpKind::SpaceDigest, Intent::WriteDigest { entry, starts_on: week.to_string(), text })
            }
            Change::Profile { .. } => {
                let text = drafted.text(self.key, profile::cut(said).0);
                (OpKind::SpaceProfile, Intent::WriteProfile { space: self.space.0, text })
            }
            Change::Proposal { item, kind, facts, reason } => {
                let body = self.proposal(*item, *kind, facts, *reason);
                let body = drafted.text(self.key, &body.to_string());
                (OpKind::SpaceProposal, self.record(*item, RecordKind::Proposal, facts, body))
            }
            Change::Contradiction { item, facts } => {
                let body = json!({ "fact_ids": ids(facts), "note": said.trim() });
                let body = drafted.text(self.key, &body.to_string());
                (OpKind::SpaceContradiction, self.record(*item, RecordKind::Conflict, facts, body))
            }
        };
        drafted.push(kind, SUGGESTED, intent, premises, change.cost());
    }

    fn record(&self, item: Item, kind: RecordKind, facts: &[ticket::Premise], body: Fingerprint) -> Intent {
        let record = Uuid::new_v5(&self.run.0, format!("record/{kind}/{item}").as_bytes());
        Intent::WriteRecord { record, kind, facts: ids(facts), body }
    }

    fn proposal(
        &self,
        item: Item,
        kind: ProposalKind,
        facts: &[ticket::Premise],
        reason: Option<Rule>,
    ) -> serde_json::Value {
        match kind {
            ProposalKind::Merge => {
                let wording = self.answer.merges.get(item.at()).and_then(|merge| merge.wording.as_deref());
                let (keep, remove) =
                    facts.split_first().map_or((None, &[][..]), |(keep, remove)| (Some(keep.fact), remove));
                json!({
                    "kind": kind,
                    "keep_id": keep,
                    "remove_ids": ids(remove),
                    "wording": wording,
                    "reason": reason,
                    "why": reason.map(Rule::sentence),
                })
            }
            ProposalKind::OpenLoop => {
                let proposal = self.answer.proposals.get(item.at());
                json!({
                    "kind": kind,
                    "title": proposal.map(|proposal| proposal.title.trim()),
                    "detail": proposal.and_then(|proposal| proposal.detail.as_deref()),
                    "fact_ids": ids(facts),
                })
            }
        }
    }
}

fn ids(facts: &[ticket::Premise]) -> Vec<Uuid> {
    facts.iter().map(|premise| premise.fact).collect()
}

fn sorted(facts: &[ticket::Premise]) -> Vec<Uuid> {
    let mut ids = ids(facts);
    ids.sort_unstable();
    ids
}
