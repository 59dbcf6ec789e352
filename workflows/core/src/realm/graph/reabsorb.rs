//! Re-absorption: what ingestion brought back of an entity that an applied merge had absorbed goes to its survivor.
//!
//! Stores differ in what a new mention of an absorbed name does. PostgreSQL's upsert makes the row live again and overwrites
//! its count with the new mentions; the embedded file adds to the count of the row that stays retired. Either way only what
//! is new is added. No score is asked for: that these two are one was decided when they were merged.

use uuid::Uuid;

use crate::apply::{Applied, Context};
use crate::change::{Column, RowKey, Table};
use crate::id::OpId;
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
    let mentions_new = mentions_new(mention_count(row), seen, is_live(row, context));
    let numbers = take_over(editor, context, op, keep, &[absorbed], &[mentions_new])?;
    Ok(Applied { numbers, verdicts: Vec::new() })
}

/// Mentions that the survivor does not count yet: all of a row that was overwritten and lives again, the growth of one that
/// stayed retired.
pub fn mentions_new(count: i64, seen: i64, live: bool) -> i64 {
    if live { count } else { (count - seen).max(0) }
}
