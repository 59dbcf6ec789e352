//! Khora's own run table, kept true where it exists, for whoever looks for dreams there.
//!
//! **Invariant:** rows carry the stable id and Khora's own words only; `graph_mirror_pending` of our runs stays null, because
//! Khora carries out what it finds there. What Khora's own runs left there is taken over in `adopt.rs`.

use dream_core::clock::Moment;
use dream_core::id::RunId;
use dream_core::plan::PlanHash;
use dream_core::run::{Realm, RunState};
use dream_ports::StoreError;
use dream_ports::run::{BeginRun, Closing};

use crate::encode::spell_moment;
use crate::error::ResultExt;
use crate::schema::{Shape, shape};
use crate::sql;
use crate::tx::Tx;

/// What is said in Khora's row. What is none stays as it is.
#[derive(Default)]
pub(crate) struct KhoraRow<'a> {
    pub(crate) state: Option<RunState>,
    pub(crate) is_end: bool,
    pub(crate) plan_hash: Option<&'a PlanHash>,
    pub(crate) ops_total: Option<i64>,
    pub(crate) last_committed_seq: Option<i64>,
    pub(crate) closing: Option<&'a Closing>,
    pub(crate) report: Option<(&'a str, &'a str)>,
}

pub(crate) async fn insert(tx: &mut Tx, begin: &BeginRun, at: Moment) -> Result<(), StoreError> {
    // Khora knows nothing of spaces.
    if begin.realm != Realm::Graph || !shape(tx).await?.has_khora_runs {
        return Ok(());
    }
    sqlx::query(sql!("runs/insert_khora"))
        .bind(begin.run.0.to_string())
        .bind(begin.namespace.stable_id.0.to_string())
        .bind(if begin.mode.may_write() { "apply" } else { "dry-run" })
        .bind(spell_moment(at))
        .execute(&mut **tx)
        .await
        .doing("write the run")?;
    Ok(())
}

pub(crate) async fn update(tx: &mut Tx, run: RunId, at: Moment, row: &KhoraRow<'_>) -> Result<(), StoreError> {
    let shape = shape(tx).await?;
    update_where(tx, shape, run, at, row).await
}

/// The same, for a caller who has looked at the schema already.
pub(crate) async fn update_where(
    tx: &mut Tx,
    shape: Shape,
    run: RunId,
    at: Moment,
    row: &KhoraRow<'_>,
) -> Result<(), StoreError> {
    if !shape.has_khora_runs {
        return Ok(());
    }
    sqlx::query(sql!("runs/update_khora"))
        .bind(run.0.to_string())
        .bind(row.state.map(RunState::in_khoras_words))
        .bind(spell_moment(at))
        .bind(row.is_end)
        .bind(row.plan_hash.map(|hash| hash.0.as_str()))
        .bind(row.ops_total)
        .bind(row.last_committed_seq)
        .bind(row.closing.and_then(|closing| closing.error_code.as_deref()))
        .bind(row.report.map(|(path, _)| path))
        .bind(row.report.map(|(_, sha256)| sha256))
        .execute(&mut **tx)
        .await
        .doing("keep Khora's run row true")?;
    Ok(())
}
