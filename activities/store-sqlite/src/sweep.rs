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
    pub(crate) async fn sweep_runs(&self, before: Moment, runs_max: u32) -> Result<Vec<(RunId, Option<String>)>, StoreError> {
        const OPERATION: &str = "sweep old runs";
        let mut tx = self.write(OPERATION).await?;
        let rows = sqlx::query(sql!("runs/sweep_candidates"))
            .bind(spell_moment(before))
            .bind(runs_max)
            .bind(RUNS_PER_SWEEP_MAX)
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        let runs = rows.iter().map(|row| id(row, "run_id")).collect::<Result<Vec<_>, _>>()?;
        for statement in [sql!("touched/delete"), sql!("outbox/delete"), sql!("runs/delete")] {
            sqlx::query(statement).bind(id_array(&runs)).execute(&mut *tx).await.doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)?;
        let paths = rows.iter().map(|row| maybe(row, "report_path")).collect::<Result<Vec<_>, _>>()?;
        Ok(runs.into_iter().map(RunId).zip(paths).collect())
    }
}
