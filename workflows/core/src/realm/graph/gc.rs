//! Removing references to chunks that are gone.
//!
//! Removed is exactly what was dead when the op was planned and is dead still, on the row as it stands now: references that
//! were added since stay, dead or not, because ingestion may be about to write their chunks. `updated_at` is left alone, as
//! nothing was learned about the row.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::apply::{Applied, EffectNumbers};
use crate::change::{Column, RowKey, Value};
use crate::rows::{Editor, Needs, NotLoaded};

/// What the removal has to see.
pub fn needs(row: RowKey, chunks: &[Uuid], needs: &mut Needs) {
    needs.rows.insert(row);
    needs.chunks.extend(chunks);
}

/// Removes the references to `chunks` that are still dead.
pub fn apply(editor: &mut Editor<'_>, row: RowKey, chunks: &[Uuid]) -> Result<Applied, NotLoaded> {
    let current = editor.rows().get(row).ok_or(NotLoaded(row))?.get(Column::SourceChunkIds).ids().to_vec();
    let dead: BTreeSet<&Uuid> = chunks.iter().filter(|chunk| !editor.rows().chunk_is_live(**chunk)).collect();
    let kept: Vec<Uuid> = current.iter().filter(|chunk| !dead.contains(chunk)).copied().collect();
    let removed = u32::try_from(current.len() - kept.len()).unwrap_or(u32::MAX);
    if removed > 0 {
        editor.set(row, Column::SourceChunkIds, Value::Ids(kept))?;
    }
    Ok(Applied { numbers: EffectNumbers { references_removed: removed, ..Default::default() }, verdicts: Vec::new() })
}
