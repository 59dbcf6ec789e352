//! Retention: closed runs go with everything they left, once they are too old or too many.

use dream_core::clock::Moment;
use dream_core::id::RunId;
use dream_ports::StoreError;
use uuid::Uuid;

use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::records::get;
use crate::{PgStore, query, sql};

/// Runs that one transaction deletes. A run may have left a million rows, and a transaction must stay within its time.
const RUNS_PER_SWEEP_MAX: i64 = 10;

impl PgStore {
    pub(crate) async fn sweepable_runs(
        &self,
        before: Moment,
        runs_max: u32,
    ) -> Result<Vec<(RunId, Option<String>)>, StoreError> {
        const OPERATION: &str = "look for old runs";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("runs/sweepable"))
            .bind(Timestamptz::from(before))
            .bind(i64::from(runs_max))
            .bind(RUNS_PER_SWEEP_MAX)
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(|row| Ok((RunId(get(row, "run_id")?), get(row, "report_path")?))).collect()
    }

    pub(crate) async fn forget_runs(&self, runs: &[RunId]) -> Result<u32, StoreError> {
        const OPERATION: &str = "sweep old runs";
        let wanted: Vec<Uuid> = runs.iter().map(|run| run.0).collect();
        let mut tx = self.write(OPERATION).await?;
        let rows = query(sql!("runs/forgettable")).bind(wanted).fetch_all(&mut *tx).await.doing(OPERATION)?;
        let runs = rows.iter().map(|row| get(row, "run_id")).collect::<Result<Vec<Uuid>, _>>()?;
        let statements = [
            sql!("touched/delete"),
            sql!("outbox/delete"),
            sql!("graph_records/delete"),
            sql!("undo/delete"),
            sql!("ops/delete"),
            sql!("drafts/delete"),
            sql!("runs/delete"),
        ];
        for statement in statements {
            query(statement).bind(&runs).execute(&mut *tx).await.doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(runs.len()).unwrap_or(u32::MAX))
    }
}
