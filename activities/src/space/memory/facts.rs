//! Facts: add, list, patch, recall, forget.

use dream_core::change::{Column, Table, Value};
use dream_core::clock::Moment;
use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_core::realm::space::effect::fact_key;
use dream_core::realm::space::fact::{FACT_CHARACTERS_MAX, Fact, Origin, Tier};
use dream_core::realm::space::row::{fact, of_fact};
use dream_ports::Store;
use dream_ports::space::Forgotten;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::rows;
use super::{NAME_CHARACTERS_MAX, changed, line, page_of, used};
use crate::failure::ResultExt;

/// Facts that a recall answers at most.
const RECALLED_MAX: usize = 50;

/// A fact that is to be remembered.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFact {
    /// Whom or what it is about; the owner if it is not said.
    #[serde(default)]
    pub subject: Option<String>,
    /// What is remembered.
    pub text: String,
    /// How near it is; `long` if it is not said.
    #[serde(default)]
    pub tier: Option<Tier>,
    /// Who states it; `agent` if it is not said.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// Whether it is fastened.
    #[serde(default)]
    pub pinned: bool,
    /// When it stops being true.
    #[serde(default)]
    pub expires_at: Option<Moment>,
    /// Where it came from.
    #[serde(default)]
    pub source: Option<String>,
}

/// What is to change of a fact. What is none stays.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactPatch {
    /// Whom or what it is about.
    pub subject: Option<String>,
    /// What is remembered.
    pub text: Option<String>,
    /// How near it is.
    pub tier: Option<Tier>,
    /// Whether it is fastened.
    pub pinned: Option<bool>,
    /// When it stops being true; null takes the end away.
    pub expires_at: NewEnd,
}

/// What is to become of the end of a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<Moment>")]
pub enum NewEnd {
    /// It stays as it is.
    #[default]
    AsItIs,
    /// The fact is true for good.
    Never,
    /// It stops being true then.
    At(Moment),
}

impl From<Option<Moment>> for NewEnd {
    fn from(moment: Option<Moment>) -> Self {
        moment.map_or(Self::Never, Self::At)
    }
}

/// Which facts to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactFilter {
    /// Only of this tier.
    pub tier: Option<Tier>,
    /// Those behind this id.
    pub after: Option<Uuid>,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Remembers a fact.
pub async fn add_fact(store: &dyn Store, space: NamespaceId, new: NewFact) -> Result<Fact, Failure> {
    let subject = new.subject.as_deref().unwrap_or("user");
    let source = new.source.as_deref();
    let text = line("text", &new.text, FACT_CHARACTERS_MAX)?;
    let subject = line("subject", subject, NAME_CHARACTERS_MAX)?;
    let source = source.map(|source| line("source", source, NAME_CHARACTERS_MAX)).transpose()?;
    let now = used(store, space).await?;
    let fact = Fact {
        id: Uuid::now_v7(),
        subject,
        text,
        tier: new.tier.unwrap_or(Tier::Long),
        origin: new.origin.unwrap_or(Origin::Agent),
        pinned: new.pinned,
        recall_count: 0,
        last_recalled_at: None,
        created_at: now,
        updated_at: now,
        expires_at: new.expires_at,
        superseded_by: None,
        source,
    };
    store.put_rows(space, &[of_fact(&fact)]).await.or_fail()?;
    Ok(fact)
}

/// Lists facts, by id.
pub async fn facts(store: &dyn Store, space: NamespaceId, filter: &FactFilter) -> Result<Vec<Fact>, Failure> {
    used(store, space).await?;
    let limit = page_of(filter.limit) as usize;
    let rows = match filter.tier {
        // A tier is a part of a space, and a page of it may lie on many pages of all.
        Some(_) => rows::all(store, space, Table::Facts).await?,
        None => store.space_rows(space, Table::Facts, filter.after, page_of(filter.limit)).await.or_fail()?,
    };
    let mut facts = rows::facts(&rows)?;
    facts.retain(|fact| filter.tier.is_none_or(|tier| fact.tier == tier));
    facts.retain(|fact| filter.after.is_none_or(|after| fact.id > after));
    facts.truncate(limit);
    Ok(facts)
}

/// Changes a fact.
pub async fn patch_fact(store: &dyn Store, space: NamespaceId, id: Uuid, patch: FactPatch) -> Result<Fact, Failure> {
    let mut cells: Vec<(Column, Value)> = Vec::new();
    if let Some(subject) = &patch.subject {
        cells.push((Column::Subject, Value::Text(line("subject", subject, NAME_CHARACTERS_MAX)?)));
    }
    if let Some(text) = &patch.text {
        cells.push((Column::Text, Value::Text(line("text", text, FACT_CHARACTERS_MAX)?)));
    }
    cells.extend(patch.tier.map(|tier| (Column::Tier, Value::Text(tier.as_str().to_owned()))));
    cells.extend(patch.pinned.map(|pinned| (Column::Pinned, Value::Bool(pinned))));
    match patch.expires_at {
        NewEnd::AsItIs => {}
        NewEnd::Never => cells.push((Column::ExpiresAt, Value::Null)),
        NewEnd::At(moment) => cells.push((Column::ExpiresAt, Value::Time(moment))),
    }
    let now = used(store, space).await?;
    cells.push((Column::UpdatedAt, Value::Time(now)));
    let row = changed(store, space, fact_key(id), &cells).await?;
    fact(&row).map_err(|error| rows::unreadable(&error))
}

/// Recalls what speaks of these words, best first, and counts that it was recalled.
pub async fn recall(store: &dyn Store, space: NamespaceId, words: &str, limit: u32) -> Result<Vec<Fact>, Failure> {
    let now = used(store, space).await?;
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let rows = rows::all(store, space, Table::Facts).await?;
    let score = |fact: &Fact| {
        let text = format!("{} {}", fact.subject, fact.text).to_lowercase();
        words.iter().filter(|word| text.contains(word.as_str())).count()
    };
    let mut found: Vec<(usize, Fact)> = rows::facts(&rows)?
        .into_iter()
        .filter(|fact| fact.is_current() && !fact.is_expired(now))
        .map(|fact| (score(&fact), fact))
        .filter(|(score, _)| *score > 0)
        .collect();
    found.sort_by(|(one_score, one), (two_score, two)| {
        two_score.cmp(one_score).then(one.tier.cmp(&two.tier)).then(two.updated_at.cmp(&one.updated_at))
    });
    found.truncate((limit as usize).clamp(1, RECALLED_MAX));
    let facts: Vec<Fact> = found.into_iter().map(|(_, fact)| fact).collect();
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.id).collect();
    store.recall_facts(space, &ids).await.or_fail()?;
    Ok(facts)
}

/// Forgets a fact, with every copy of it that dreams keep.
pub async fn forget_fact(store: &dyn Store, space: NamespaceId, id: Uuid) -> Result<Forgotten, Failure> {
    used(store, space).await?;
    store.forget_fact(space, id).await.or_fail()
}
