//! Retention: runs that are too old, or too many for their namespace, go with their reports; what undo needs of runs over
//! spaces goes as soon as they can no longer be taken back.
//!
//! A report goes before the rows that know where it lies, so that a sweep that is broken off leaves nothing that no later one
//! finds.

use std::path::Path;

use dream_core::failure::{Code, Failure};
use dream_core::id::RunId;
use dream_workflows::contract::Swept;

use crate::failure::ResultExt;
use crate::sink::file;
use crate::world::World;

const SECONDS_PER_DAY: i64 = 86_400;

/// Sweeps once; a store deletes a few runs at a time, so that ingestion is not shut out.
pub async fn sweep(world: &World, store: &str) -> Result<Swept, Failure> {
    let handle = world.store(store)?;
    crate::space::due::purge(handle).await?;
    let now = handle.store.now().await.or_fail()?;
    let before = now.plus_seconds(-i64::from(world.settings.retention_days) * SECONDS_PER_DAY);
    let old = handle.store.sweepable(before, world.settings.retention_runs_per_namespace).await.or_fail()?;
    let mut gone: Vec<RunId> = Vec::with_capacity(old.len());
    let mut kept = None;
    for (run, report) in &old {
        match report.as_deref().map_or(Ok(()), |path| file::remove(Path::new(path))) {
            Ok(()) => gone.push(*run),
            Err(error) => {
                let message = format!("the report of run {run} cannot be removed: {}", error.kind());
                kept = Some(Failure::new(Code::ReportUnwritable, message));
            }
        }
    }
    let runs = handle.store.forget(&gone).await.or_fail()?;
    match kept {
        Some(failure) => Err(failure),
        None => Ok(Swept { runs, is_more: runs > 0 }),
    }
}
