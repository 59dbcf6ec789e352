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

use crate::error::ResultExt;
use crate::khora::KhoraRow;
use crate::leases::{hold, release};
use crate::load::load;
use crate::records::{count, get, op, undo_record, word};
use crate::schema::{shape, text_key};
use crate::tx::{Tx, end};
use crate::write::{Trail, images, trail};
use crate::{PgStore, query, sql};

/// The ops to take back, newest first, each with its record; none for one of which nothing is left to take back.
async fn find(tx: &mut Tx, request: &UndoRequest) -> Result<Vec<(Op, Option<UndoRecord>)>, StoreError> {
    let wanted: Vec<Uuid> = request.ops.iter().map(|op| op.0).collect();
    let rows = query(sql!("undo/find"))
        .bind(request.run.0)
        .bind(wanted)
        .fetch_all(&mut **tx)
        .await
        .doing("read undo records")?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let op = op(request.run, row)?;
        let has_record = op.state == OpState::Applied && get::<Option<&str>>(row, "record")?.is_some();
        let record = if has_record { Some(undo_record(row)?) } else { None };
        found.push((op, record));
    }
    Ok(found)
}

const TAKE_BACK: &str = "take ops back";

impl PgStore {
    pub(crate) async fn take_back(&self, fence: &Fence, request: &UndoRequest) -> Result<UndoOutcome, StoreError> {
        let mut tx = self.write(TAKE_BACK).await?;
        let outcome = self.take_back_in(&mut tx, fence, request).await;
        end(tx, outcome.is_ok() && !request.dry_run, TAKE_BACK).await?;
        outcome
    }

    async fn take_back_in(&self, tx: &mut Tx, fence: &Fence, request: &UndoRequest) -> Result<UndoOutcome, StoreError> {
        if !self.exclude_khora(tx, fence).await? {
            return Err(StoreError::Busy { operation: TAKE_BACK, code: "khora_dreams".to_owned() });
        }
        let now = hold(tx, fence).await?;
        let found = find(tx, request).await?;
        let reversals: Vec<Reversal<'_>> =
            found.iter().filter_map(|(op, record)| Some(Reversal { op, record: record.as_ref()? })).collect();
        let mut needs = Needs::default();
        for reversal in &reversals {
            needs.join(reversal.needs());
        }
        let mut rows = Rows::default();
        let shape = shape(tx).await?;
        load(tx, shape, fence.namespace, &needs, &mut rows).await?;
        let context = Context {
            now,
            text_key: text_key(tx).await?,
            centroid_cosine_min: 0.0,
            answers: BTreeMap::new(),
            texts: BTreeMap::new(),
        };
        let mut outcome = UndoOutcome::default();
        let mut results = Vec::with_capacity(reversals.len());
        for reversal in &reversals {
            let (result, changed) =
                reversal.decide(&mut rows, &context, request.on_changed).map_err(|_| StoreError::Unreadable {
                    operation: TAKE_BACK,
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
        images(tx, fence.namespace, &rows.images()).await?;
        let left = Trail {
            run: request.run,
            namespace: fence.namespace,
            direction: Direction::Undo,
            has_graph: request.has_graph,
            at: now,
            results: &results,
        };
        trail(tx, &left).await?;
        query(sql!("undo/mark"))
            .bind(results.iter().map(|result| result.op.0).collect::<Vec<_>>())
            .bind(crate::encode::Timestamptz::from(now))
            .execute(&mut **tx)
            .await
            .doing(TAKE_BACK)?;
        Ok(outcome)
    }

    pub(crate) async fn finish_undo(&self, fence: &Fence) -> Result<(), StoreError> {
        const OPERATION: &str = "end the undo";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        let rows = query(sql!("runs/counts")).bind(fence.run.0).fetch_all(&mut *tx).await.doing(OPERATION)?;
        let (mut standing, mut undone) = (0, 0);
        for row in &rows {
            match word::<OpState>(row, "state")? {
                OpState::Applied => standing += count(row, "count")?,
                OpState::Undone => undone += count(row, "count")?,
                _ => {}
            }
        }
        if undone > 0 {
            let state = if standing == 0 { RunState::Undone } else { RunState::PartlyUndone };
            query(sql!("runs/set_end_state"))
                .bind(fence.run.0)
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
