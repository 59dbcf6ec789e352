//! Groups of ops taken back, one transaction each.

use std::collections::BTreeMap;

use dream_core::apply::{Context, Reversal};
use dream_core::mirror::Direction;
use dream_core::op::{Op, OpState};
use dream_core::rows::{Needs, Rows};
use dream_core::run::RunState;
use dream_core::undo::UndoRecord;
use dream_ports::StoreError;
use dream_ports::apply::{UndoOutcome, UndoRequest};
use dream_ports::run::Fence;
use uuid::Uuid;

use crate::encode::{hex, id_array, spell_moment};
use crate::error::ResultExt;
use crate::khora::KhoraRow;
use crate::leases::{hold, release};
use crate::load::load;
use crate::records::{maybe, number, op, undo_record, word};
use crate::schema::{shape, text_key};
use crate::tx::Tx;
use crate::write::{Trail, images, trail};
use crate::{SqliteStore, sql};

/// The ops to take back, newest first, each with its record; none for one of which nothing is left to take back.
async fn find(tx: &mut Tx, request: &UndoRequest) -> Result<Vec<(Op, Option<UndoRecord>)>, StoreError> {
    let wanted: Vec<Uuid> = request.ops.iter().map(|op| op.0).collect();
    let rows = sqlx::query(sql!("undo/find"))
        .bind(hex(request.run.0))
        .bind(id_array(&wanted))
        .fetch_all(&mut **tx)
        .await
        .doing("read undo records")?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let op = op(request.run, row)?;
        let has_record = op.state == OpState::Applied && maybe(row, "record")?.is_some();
        let record = if has_record { Some(undo_record(row)?) } else { None };
        found.push((op, record));
    }
    Ok(found)
}

impl SqliteStore {
    pub(crate) async fn take_back(&self, fence: &Fence, request: &UndoRequest) -> Result<UndoOutcome, StoreError> {
        const OPERATION: &str = "take ops back";
        let mut tx = self.write(OPERATION).await?;
        let now = hold(&mut tx, fence).await?;
        let found = find(&mut tx, request).await?;
        let reversals: Vec<Reversal<'_>> =
            found.iter().filter_map(|(op, record)| Some(Reversal { op, record: record.as_ref()? })).collect();
        let mut needs = Needs::default();
        for reversal in &reversals {
            needs.join(reversal.needs());
        }
        let mut rows = Rows::default();
        let shape = shape(&mut tx).await?;
        load(&mut tx, shape, fence.namespace, &needs, &mut rows).await?;
        let context = Context {
            now,
            text_key: text_key(&mut tx).await?,
            centroid_cosine_min: 0.0,
            answers: BTreeMap::new(),
            texts: BTreeMap::new(),
        };
        let mut outcome = UndoOutcome::default();
        let mut results = Vec::with_capacity(reversals.len());
        for reversal in &reversals {
            let (result, changed) =
                reversal.decide(&mut rows, &context, request.on_changed).map_err(|_| StoreError::Unreadable {
                    operation: OPERATION,
                    what: format!("the undo record of op {}", reversal.op.id),
                })?;
            outcome.changed.extend(changed.into_iter().map(|changed| (reversal.op.id, changed)));
            results.push(result);
        }
        let counted = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        outcome.undone = counted(results.len());
        outcome.nothing = counted(found.len() - results.len());
        if request.dry_run {
            return Ok(outcome);
        }
        images(&mut tx, fence.namespace, &rows.images()).await?;
        let left = Trail {
            run: request.run,
            namespace: fence.namespace,
            direction: Direction::Undo,
            has_graph: request.has_graph,
            at: now,
            results: &results,
        };
        trail(&mut tx, &left).await?;
        let undone: Vec<Uuid> = results.iter().map(|result| result.op.0).collect();
        sqlx::query(sql!("undo/mark"))
            .bind(id_array(&undone))
            .bind(spell_moment(now))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(outcome)
    }

    pub(crate) async fn finish_undo(&self, fence: &Fence) -> Result<(), StoreError> {
        const OPERATION: &str = "end the undo";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        let rows =
            sqlx::query(sql!("runs/counts")).bind(hex(fence.run.0)).fetch_all(&mut *tx).await.doing(OPERATION)?;
        let (mut standing, mut undone) = (0, 0);
        for row in &rows {
            match word::<OpState>(row, "state")? {
                OpState::Applied => standing += number(row, "count")?,
                OpState::Undone => undone += number(row, "count")?,
                _ => {}
            }
        }
        if undone > 0 {
            let state = if standing == 0 { RunState::Undone } else { RunState::PartlyUndone };
            sqlx::query(sql!("runs/set_end_state"))
                .bind(hex(fence.run.0))
                .bind(state.as_str())
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
            let row = KhoraRow { state: Some(state), ..KhoraRow::default() };
            crate::khora::update(&mut tx, fence.run, at, &row).await?;
        }
        release(&mut tx, fence.realm, fence.namespace, fence.run, Some(fence.epoch)).await?;
        tx.commit().await.doing(OPERATION)
    }
}
