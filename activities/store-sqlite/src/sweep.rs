//! Retention: closed runs go with everything they left, once they are too old or too many.

use dream_core::clock::Moment;
use dream_core::id::RunId;
use dream_ports::StoreError;

use crate::encode::{id_array, spell_moment};
use crate::error::ResultExt;
use crate::records::{id, maybe};
use crate::{SqliteStore, sql};

/// Runs that one transaction deletes. A run may have left many rows, and ingestion waits meanwhile.
const RUNS_PER_SWEEP_MAX: u32 = 10;

impl SqliteStore {
    pub(crate) async fn sweepable_runs(
        &self,
        before: Moment,
        runs_max: u32,
    ) -> Result<Vec<(RunId, Option<String>)>, StoreError> {
        let rows = sqlx::query(sql!("runs/sweepable"))
            .bind(spell_moment(before))
            .bind(runs_max)
            .bind(RUNS_PER_SWEEP_MAX)
            .fetch_all(&self.reader)
            .await
            .doing("look for old runs")?;
        rows.iter().map(|row| Ok((RunId(id(row, "run_id")?), maybe(row, "report_path")?))).collect()
    }

    pub(crate) async fn forget_runs(&self, runs: &[RunId]) -> Result<u32, StoreError> {
        const OPERATION: &str = "sweep old runs";
        let wanted: Vec<_> = runs.iter().map(|run| run.0).collect();
        let mut tx = self.write(OPERATION).await?;
        let rows = sqlx::query(sql!("runs/forgettable")).bind(id_array(&wanted)).fetch_all(&mut *tx).await;
        let runs = rows.doing(OPERATION)?.iter().map(|row| id(row, "run_id")).collect::<Result<Vec<_>, _>>()?;
        for statement in
            [sql!("touched/delete"), sql!("outbox/delete"), sql!("graph_records/delete"), sql!("runs/delete")]
        {
            sqlx::query(statement).bind(id_array(&runs)).execute(&mut *tx).await.doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(runs.len()).unwrap_or(u32::MAX))
    }
}
