//! Retention: runs that are too old, or too many for their namespace, go with their reports.

use std::path::Path;

use dream_core::failure::{Code, Failure};
use dream_workflows::contract::Swept;

use crate::failure::ResultExt;
use crate::sink::file;
use crate::world::World;

const SECONDS_PER_DAY: i64 = 86_400;

/// Sweeps once; a store deletes a few runs at a time, so that ingestion is not shut out.
pub async fn sweep(world: &World, store: &str) -> Result<Swept, Failure> {
    let handle = world.store(store)?;
    let now = handle.store.now().await.or_fail()?;
    let before = now.plus_seconds(-i64::from(world.settings.retention_days) * SECONDS_PER_DAY);
    let runs = handle.store.sweep(before, world.settings.retention_runs_per_namespace).await.or_fail()?;
    for (_, report) in &runs {
        let Some(path) = report else { continue };
        let removed = file::remove(Path::new(path));
        removed.map_err(|error| Failure::new(Code::ReportUnwritable, format!("{path} cannot be removed: {}", error.kind())))?;
    }
    let count = u32::try_from(runs.len()).unwrap_or(u32::MAX);
    Ok(Swept { runs: count, is_more: count > 0 })
}
