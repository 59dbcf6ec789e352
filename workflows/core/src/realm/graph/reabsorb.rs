//! Re-absorption: what ingestion brought back of an entity that an applied merge had absorbed goes to its survivor.
//!
//! Stores differ in what a new mention of an absorbed name does. PostgreSQL's upsert makes the row live again and overwrites
//! its count with the new mentions; the embedded file adds to the count of the row that stays retired. Either way only what
//! is new is added. No score is asked for: that these two are one was decided when they were merged.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::apply::{Applied, Context};
use crate::change::{Column, RowKey, Table};
use crate::digest::Fingerprint;
use crate::id::OpId;
use crate::op::{Decision, Draft, Intent, OpKind, Premise};
use crate::realm::graph::evidence::{Evidence, ReabsorbEvidence};
use crate::realm::graph::merge::{self, is_live, mention_count, take_over};
use crate::rows::{Editor, Needs, NotLoaded, Rows};

/// What a re-absorption has to see.
pub fn needs(rows: &Rows, keep: Uuid, absorbed: Uuid, needs: &mut Needs) {
    merge::needs(rows, keep, &[absorbed], needs);
}

/// Leads what is new of `absorbed` over to `keep`.
pub fn apply(
    editor: &mut Editor<'_>,
    context: &Context,
    op: OpId,
    keep: Uuid,
    absorbed: Uuid,
) -> Result<Applied, NotLoaded> {
    let alias = RowKey { table: Table::Aliases, id: absorbed };
    let seen = editor.rows().get(alias).ok_or(NotLoaded(alias))?.get(Column::MentionCountSeen).int().unwrap_or(0);
    let row = editor.rows().entity(absorbed).ok_or(NotLoaded(RowKey::entity(absorbed)))?;
    let mentions_new = mentions_new(mention_count(row), seen, is_live(row, context.now));
    let numbers = take_over(editor, context.now, op, keep, &[absorbed], &[mentions_new])?;
    Ok(Applied { numbers, verdicts: Vec::new() })
}

/// Mentions that the survivor does not count yet: all of a row that was overwritten and lives again, the growth of one that
/// stayed retired.
pub fn mentions_new(count: i64, seen: i64, live: bool) -> i64 {
    if live { count } else { (count - seen).max(0) }
}

/// Hops from an absorbed entity to the survivor at the end of the chain. A longer chain is a loop.
const CHAIN_HOPS_MAX: usize = 64;

/// An absorbed entity of which something came back, as the store sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The entity.
    pub absorbed: Uuid,
    /// Keyed digest of its name and type now.
    pub name_and_type: Fingerprint,
    /// Whether its row lives again.
    pub is_live: bool,
    /// Its mentions now.
    pub mention_count: i64,
    /// Mentions that its survivor counts already.
    pub mention_count_seen: i64,
    /// Live edges that hang on it.
    pub edges_live: u32,
    /// Whether this run may change it.
    pub in_scope: bool,
}

/// Who absorbed whom.
#[derive(Clone, Debug, Default)]
pub struct AliasChains(BTreeMap<Uuid, Uuid>);

impl AliasChains {
    /// From pairs of absorbed entity and survivor.
    pub fn new(aliases: impl IntoIterator<Item = (Uuid, Uuid)>) -> Self {
        Self(aliases.into_iter().collect())
    }

    /// The survivor at the end of the chain; none if the chain is a loop.
    pub fn survivor(&self, absorbed: Uuid) -> Option<Uuid> {
        let mut at = absorbed;
        for _hop in 0..CHAIN_HOPS_MAX {
            match self.0.get(&at) {
                Some(next) => at = *next,
                None => return Some(at),
            }
        }
        None
    }
}

/// Drafts for what came back. `survivors` holds the keyed digests of survivors that are live; `apart` the pairs of names of
/// which it was said that they stay two.
pub fn drafts(
    returned: &[Returned],
    chains: &AliasChains,
    survivors: &BTreeMap<Uuid, Fingerprint>,
    apart: &BTreeSet<(Fingerprint, Fingerprint)>,
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for returned in returned.iter().filter(|returned| returned.in_scope) {
        let Some(keep) = chains.survivor(returned.absorbed) else { continue };
        let Some(survivor) = survivors.get(&keep).copied() else { continue };
        let pair = (survivor.min(returned.name_and_type), survivor.max(returned.name_and_type));
        if apart.contains(&pair) {
            continue;
        }
        let mentions_new = mentions_new(returned.mention_count, returned.mention_count_seen, returned.is_live);
        drafts.push(Draft {
            kind: OpKind::Reabsorb,
            decision: Decision::Planned,
            rule: "absorbed_before".to_owned(),
            intent: Intent::Reabsorb { keep, absorbed: returned.absorbed },
            premises: vec![
                Premise::Alias { absorbed: returned.absorbed, keep },
                Premise::EntityNamed { entity: returned.absorbed, name_and_type: returned.name_and_type },
                Premise::Entity { entity: keep, name_and_type: survivor },
            ],
            depends_on: Vec::new(),
            evidence: Evidence::Reabsorb(ReabsorbEvidence {
                revived: returned.is_live,
                mentions_new,
                edges_live: returned.edges_live,
            }),
        });
    }
    drafts
}
