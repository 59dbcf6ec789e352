//! What an agent gets at the start of a conversation.

use std::collections::BTreeMap;

use dream_core::change::{Column, RowKey, Table};
use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_core::realm::space::effect::RecordKind;
use dream_core::realm::space::fact::{Fact, Tier};
use dream_core::realm::space::report::SpaceRun;
use serde::Serialize;

use super::super::{report, rows};
use super::collections::record;
use super::{Record, used};
use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Most characters of facts in a context, where nobody asks for less: about two thousand words.
pub const CONTEXT_CHARACTERS_MAX: usize = 12_000;

/// Conflicts that a context shows.
const CONFLICTS_MAX: usize = 20;

/// What dreams say of the owner.
#[derive(Clone, Default, Serialize)]
pub struct Profile {
    /// In a few sentences; none before the first dream.
    pub dream_summary: Option<String>,
}

/// The last dream, with its report.
pub type LastDream = SpaceRun;

/// A context.
#[derive(Clone, Serialize)]
pub struct Context {
    /// Facts by tier, nearest first.
    pub facts: BTreeMap<Tier, Vec<Fact>>,
    /// Facts that found no room.
    pub facts_left_out: usize,
    /// Conflicts that are open.
    pub conflicts: Vec<Record>,
    /// What dreams say of the owner.
    pub profile: Profile,
    /// The last dream.
    pub last_dream: Option<LastDream>,
}

/// The context of a space, with at most so many characters of facts.
pub async fn context(handle: &StoreHandle, space: NamespaceId, characters: Option<usize>) -> Result<Context, Failure> {
    let store = handle.store.as_ref();
    let now = used(store, space).await?;
    let mut facts = rows::facts(&rows::all(store, space, Table::Facts).await?)?;
    facts.retain(|fact| fact.is_current() && !fact.is_expired(now));
    facts.sort_by(|one, two| {
        one.tier.cmp(&two.tier).then(two.updated_at.cmp(&one.updated_at)).then(one.id.cmp(&two.id))
    });
    let mut room = characters.unwrap_or(CONTEXT_CHARACTERS_MAX).min(CONTEXT_CHARACTERS_MAX);
    let mut by_tier: BTreeMap<Tier, Vec<Fact>> = BTreeMap::new();
    let mut facts_left_out = 0;
    for fact in facts {
        let length = fact.subject.chars().count() + fact.text.chars().count();
        if length > room {
            facts_left_out += 1;
            continue;
        }
        room -= length;
        by_tier.entry(fact.tier).or_default().push(fact);
    }
    let mut conflicts: Vec<Record> = rows::all(store, space, Table::Records).await?.iter().map(record).collect();
    let is_open = |record: &Record| {
        record.collection == RecordKind::Conflict.collection()
            && record.status.as_deref() == Some(RecordKind::Conflict.status())
    };
    conflicts.retain(is_open);
    conflicts.truncate(CONFLICTS_MAX);
    let profile = store.space_row(space, RowKey { table: Table::Profiles, id: space.0 }).await.or_fail()?;
    let dream_summary = profile.and_then(|row| row.get(Column::DreamSummary).text().map(str::to_owned));
    Ok(Context {
        facts: by_tier,
        facts_left_out,
        conflicts,
        profile: Profile { dream_summary },
        last_dream: report::space_runs(handle, space, 1).await?.pop(),
    })
}
