//! What the ops of a space do to its locked rows.
//!
//! **Invariant:** the rules that no model can override are asked here once more, of the rows themselves: a pinned fact
//! neither goes nor changes, except for how often it was recalled; what a user stated is not rewritten, and goes only by
//! housekeeping, at its end or into a copy that is pinned or stated by a user too.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::apply::{Applied, Context, EffectNumbers};
use crate::change::{Column, Row, RowKey, Table, Value, named_variants};
use crate::clock::Moment;
use crate::digest::{Fingerprint, TextKey};
use crate::op::{Intent, OpState, Reason};
use crate::rows::{Editor, Needs, NotLoaded, Rows};

use super::fact::{Fact, Origin, Tier};
use super::rules::Rule;
use super::{housekeeping, row, ticket};

named_variants! {
    /// What a record of ours is.
    pub enum RecordKind {
        /// Facts that cannot both be true.
        Conflict = "conflict",
        /// An open end worth following up, or a merge that was not made.
        Proposal = "proposal",
    }
}

impl RecordKind {
    /// The collection it lies in.
    pub const fn collection(self) -> &'static str {
        match self {
            Self::Conflict => "dream.conflicts",
            Self::Proposal => "dream.proposals",
        }
    }

    /// Where it stands before anybody looked at it.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Conflict => "open",
            Self::Proposal => "proposed",
        }
    }
}

/// What was not done, and why.
type Refused = (OpState, Reason);

/// A fact's name.
pub const fn fact_key(fact: Uuid) -> RowKey {
    RowKey { table: Table::Facts, id: fact }
}

/// The digest of everything that a decision about a fact relies on: all of it, except for how often it was recalled.
pub fn state_of(key: &TextKey, row: &Row) -> Fingerprint {
    let text = |column| row.get(column).text().unwrap_or_default().to_owned();
    let time = |column| row.get(column).time().map_or_else(String::new, |moment| moment.to_string());
    let fields = [
        text(Column::Subject),
        text(Column::Text),
        text(Column::Tier),
        text(Column::Origin),
        is_pinned(row).to_string(),
        time(Column::ExpiresAt),
        row.get(Column::SupersededBy).id().map_or_else(String::new, |id| id.to_string()),
    ];
    key.fingerprint(&fields.each_ref().map(String::as_str))
}

/// Why a fact is no longer what a decision relied on; none if it is.
pub fn changed(rows: &Rows, key: &TextKey, fact: Uuid, state: Fingerprint) -> Option<Reason> {
    let Some(row) = rows.get(fact_key(fact)) else { return Some(Reason::FactGone) };
    (state_of(key, row) != state).then_some(Reason::FactChanged)
}

/// Why a fact is no longer what a model was told; none if it is.
pub fn changed_since_told(rows: &Rows, key: &TextKey, told: &ticket::Premise) -> Option<Reason> {
    let fact = rows.get(fact_key(told.fact)).map(row::fact);
    let Ok(fact) = fact.transpose() else { return Some(Reason::FactChanged) };
    Some(match told.check(fact.as_ref(), key).err()? {
        Rule::ForgottenSince => Reason::FactGone,
        Rule::PinnedSince => Reason::FactPinned,
        _ => Reason::FactChanged,
    })
}

/// Why a fact no longer counts as one that nobody recalled; none if it does.
pub fn recalled(rows: &Rows, fact: Uuid) -> Option<Reason> {
    let Some(row) = rows.get(fact_key(fact)) else { return Some(Reason::FactGone) };
    (recalls(row) > 0).then_some(Reason::FactRecalled)
}

/// What has to be loaded and locked for an op on a space; nothing for one of another realm.
pub fn needs(intent: &Intent, needs: &mut Needs) {
    match intent {
        Intent::RemoveFact { fact } | Intent::MoveFact { fact, .. } => {
            needs.rows.insert(fact_key(*fact));
        }
        Intent::MergeFacts { keep, absorb, .. } => {
            needs.rows.extend([keep].into_iter().chain(absorb).map(|fact| fact_key(*fact)));
        }
        Intent::WriteDigest { entry, .. } => {
            needs.rows.insert(RowKey { table: Table::Journal, id: *entry });
        }
        Intent::WriteProfile { space, .. } => {
            needs.rows.insert(RowKey { table: Table::Profiles, id: *space });
        }
        Intent::WriteRecord { record, .. } => {
            needs.rows.insert(RowKey { table: Table::Records, id: *record });
        }
        _ => {}
    }
}

/// Carries an op on a space out.
pub fn apply(
    editor: &mut Editor<'_>,
    context: &Context,
    intent: &Intent,
) -> Result<Result<Applied, Refused>, NotLoaded> {
    let text = match intent.text() {
        None => None,
        Some(digest) => match context.texts.get(&digest) {
            Some(text) => Some(text.clone()),
            None => return Ok(Err((OpState::Skipped, Reason::TextForgotten))),
        },
    };
    let mut numbers = EffectNumbers::default();
    let done = match intent {
        Intent::RemoveFact { fact } => remove(editor, context, *fact, &mut numbers)?,
        Intent::MergeFacts { keep, absorb, adds_recalls, .. } => merge(
            editor,
            context,
            &Merge { keep: *keep, absorb, adds_recalls: *adds_recalls, wording: text },
            &mut numbers,
        )?,
        Intent::MoveFact { fact, tier } => move_to(editor, context, *fact, *tier, &mut numbers)?,
        Intent::WriteDigest { entry, starts_on, .. } => {
            let cells = [(Column::Kind, "week".to_owned()), (Column::StartsOn, starts_on.clone())];
            let cells = cells.into_iter().chain(text.map(|text| (Column::Text, text)));
            write(editor, context, RowKey { table: Table::Journal, id: *entry }, cells, &mut numbers)?
        }
        Intent::WriteProfile { space, .. } => {
            let cells = text.map(|text| (Column::DreamSummary, text));
            write(editor, context, RowKey { table: Table::Profiles, id: *space }, cells, &mut numbers)?
        }
        Intent::WriteRecord { record, kind, .. } => {
            let cells =
                [(Column::Collection, kind.collection().to_owned()), (Column::Status, kind.status().to_owned())];
            let cells = cells.into_iter().chain(text.map(|text| (Column::Body, text)));
            write(editor, context, RowKey { table: Table::Records, id: *record }, cells, &mut numbers)?
        }
        _ => Ok(()),
    };
    Ok(done.map(|()| Applied { numbers, ..Applied::default() }))
}

fn is_pinned(row: &Row) -> bool {
    row.get(Column::Pinned).truth().unwrap_or_default()
}

fn is_stated_by_user(row: &Row) -> bool {
    row.get(Column::Origin).text() == Some(Origin::User.as_str())
}

fn recalls(row: &Row) -> i64 {
    row.get(Column::RecallCount).int().unwrap_or_default()
}

const FORBIDDEN: Refused = (OpState::Failed, Reason::ForbiddenEffect);

fn fact<'a>(editor: &'a Editor<'_>, fact: Uuid) -> Result<&'a Row, NotLoaded> {
    editor.rows().get(fact_key(fact)).ok_or(NotLoaded(fact_key(fact)))
}

/// Takes a fact out that is past its end, or that nobody recalled.
fn remove(
    editor: &mut Editor<'_>,
    context: &Context,
    id: Uuid,
    numbers: &mut EffectNumbers,
) -> Result<Result<(), Refused>, NotLoaded> {
    let row = fact(editor, id)?;
    let is_over = row.get(Column::ExpiresAt).time().is_some_and(|end| end <= context.now);
    if is_pinned(row) || (is_stated_by_user(row) && !is_over) {
        return Ok(Err(FORBIDDEN));
    }
    editor.remove(fact_key(id))?;
    numbers.facts_removed += 1;
    Ok(Ok(()))
}

struct Merge<'a> {
    keep: Uuid,
    absorb: &'a [Uuid],
    adds_recalls: bool,
    wording: Option<String>,
}

fn merge(
    editor: &mut Editor<'_>,
    context: &Context,
    merge: &Merge<'_>,
    numbers: &mut EffectNumbers,
) -> Result<Result<(), Refused>, NotLoaded> {
    let kept = fact(editor, merge.keep)?;
    let (is_kept_pinned, is_kept_stated) = (is_pinned(kept), is_stated_by_user(kept));
    let absorb: BTreeSet<Uuid> = merge.absorb.iter().copied().collect();
    for id in &absorb {
        let row = fact(editor, *id)?;
        // Exact duplicates are the one case in which a user's own words go: the very same words are kept.
        let keeps_word = merge.adds_recalls && (is_kept_pinned || is_kept_stated);
        if *id == merge.keep || is_pinned(row) || (is_stated_by_user(row) && !keeps_word) {
            return Ok(Err(FORBIDDEN));
        }
    }
    if merge.wording.is_some() && (is_kept_pinned || is_kept_stated) {
        return Ok(Err(FORBIDDEN));
    }
    if merge.adds_recalls && !lend(editor, merge.keep, &absorb)? {
        return Ok(Err((OpState::Stale, Reason::FactChanged)));
    }
    for id in absorb {
        editor.remove(fact_key(id))?;
        numbers.facts_removed += 1;
    }
    if let Some(wording) = &merge.wording {
        editor.set(fact_key(merge.keep), Column::Text, Value::Text(wording.clone()))?;
        editor.set(fact_key(merge.keep), Column::UpdatedAt, Value::Time(context.now))?;
        numbers.rows_written += 1;
    }
    Ok(Ok(()))
}

/// Gives the kept copy what housekeeping says it takes over of the others; false if one of them cannot be read.
fn lend(editor: &mut Editor<'_>, keep: Uuid, absorb: &BTreeSet<Uuid>) -> Result<bool, NotLoaded> {
    let Ok(kept) = row::fact(fact(editor, keep)?) else { return Ok(false) };
    let others: Result<Vec<Fact>, _> =
        absorb.iter().map(|id| fact(editor, *id).map(row::fact)).collect::<Result<Result<_, _>, _>>()?;
    let Ok(others) = others else { return Ok(false) };
    let becomes = housekeeping::absorb(&kept, &others.iter().collect::<Vec<_>>());
    let time = |moment: Option<Moment>| moment.map_or(Value::Null, Value::Time);
    for (column, value) in [
        (Column::RecallCount, Value::Int(becomes.recall_count)),
        (Column::LastRecalledAt, time(becomes.last_recalled_at)),
        (Column::Tier, Value::Text(becomes.tier.as_str().to_owned())),
        (Column::ExpiresAt, time(becomes.expires_at)),
    ] {
        editor.set(fact_key(keep), column, value)?;
    }
    Ok(true)
}

fn move_to(
    editor: &mut Editor<'_>,
    context: &Context,
    id: Uuid,
    tier: Tier,
    numbers: &mut EffectNumbers,
) -> Result<Result<(), Refused>, NotLoaded> {
    let row = fact(editor, id)?;
    let current: Option<Tier> = row.get(Column::Tier).text().and_then(|text| text.parse().ok());
    let is_demoted = current.is_some_and(|current| tier.is_raised_by(current));
    if is_demoted && (is_pinned(row) || is_stated_by_user(row)) {
        return Ok(Err(FORBIDDEN));
    }
    if current == Some(tier) {
        return Ok(Ok(()));
    }
    editor.set(fact_key(id), Column::Tier, Value::Text(tier.as_str().to_owned()))?;
    editor.set(fact_key(id), Column::UpdatedAt, Value::Time(context.now))?;
    numbers.rows_written += 1;
    Ok(Ok(()))
}

/// Writes a row that may be there already.
fn write(
    editor: &mut Editor<'_>,
    context: &Context,
    key: RowKey,
    cells: impl IntoIterator<Item = (Column, String)>,
    numbers: &mut EffectNumbers,
) -> Result<Result<(), Refused>, NotLoaded> {
    let value = |column: Column, text: String| match column {
        Column::Body => Value::Json(text),
        _ => Value::Text(text),
    };
    numbers.rows_written += 1;
    if editor.rows().get(key).is_some() {
        for (column, text) in cells {
            editor.set(key, column, value(column, text))?;
        }
        editor.set(key, Column::UpdatedAt, Value::Time(context.now))?;
        return Ok(Ok(()));
    }
    let mut row = Row::empty(key.table, key.id);
    for (column, text) in cells {
        row.put(column, value(column, text));
    }
    row.put(Column::CreatedAt, Value::Time(context.now));
    row.put(Column::UpdatedAt, Value::Time(context.now));
    editor.create(row);
    Ok(Ok(()))
}
