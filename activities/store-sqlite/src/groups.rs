//! Groups of ops, and groups of ops taken back. One write transaction each.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::apply::{Context, Group, NEEDS_ROUNDS_MAX, Reversal};
use dream_core::clock::Moment;
use dream_core::id::{ContentKey, RunId};
use dream_core::op::{Op, OpState, Reason};
use dream_core::rows::{Needs, Rows};
use dream_core::run::RunState;
use dream_ports::apply::{GroupOutcome, GroupRequest, UndoOutcome, UndoRequest};
use dream_ports::run::Fence;
use dream_ports::{ApplyStore, StoreError};
use sqlx::Row as _;

use crate::encode::{hex, id_array, spell_moment};
use crate::error::ResultExt;
use crate::load::load;
use crate::plans::{op, text_array, undo_record};
use crate::records::{maybe, moment, spell_json, word};
use crate::runs::{KhoraRow, Tx};
use crate::schema::text_key;
use crate::write::{Direction, Trail, images, trail};
use crate::{SqliteStore, sql};

impl SqliteStore {
    async fn next_ops(&self, tx: &mut Tx, run: RunId, request: &GroupRequest) -> Result<Vec<Op>, StoreError> {
        let rows = sqlx::query(sql!("ops/next"))
            .bind(hex(run.0))
            .bind(request.seq_to)
            .bind(request.ops_max)
            .bind(request.ops_max > 1)
            .fetch_all(&mut **tx)
            .await
            .doing("read the next ops")?;
        rows.iter().map(|row| op(run, row)).collect()
    }

    async fn parents(&self, tx: &mut Tx, run: RunId, ops: &[Op]) -> Result<BTreeMap<ContentKey, OpState>, StoreError> {
        let wanted: Vec<&ContentKey> = ops.iter().flat_map(|op| &op.draft.depends_on).collect();
        if wanted.is_empty() {
            return Ok(BTreeMap::new());
        }
        let rows = sqlx::query(sql!("ops/parents"))
            .bind(hex(run.0))
            .bind(text_array(wanted))
            .fetch_all(&mut **tx)
            .await
            .doing("read the ops that others depend on")?;
        rows.iter().map(|row| Ok((word(row, "content_key")?, word(row, "state")?))).collect()
    }

    async fn load_group(&self, tx: &mut Tx, fence: &Fence, group: &Group<'_>) -> Result<Rows, StoreError> {
        let capabilities = self.capabilities().await?;
        let mut rows = Rows::default();
        let mut loaded = Needs::default();
        for _round in 0..NEEDS_ROUNDS_MAX {
            let needs = group.needs(&rows);
            if needs == loaded {
                break;
            }
            load(&capabilities, tx, fence.namespace, &needs, &mut rows).await?;
            loaded = needs;
        }
        Ok(rows)
    }

    async fn checkpoint(&self, tx: &mut Tx, run: RunId, seq: u32, at: Moment) -> Result<(), StoreError> {
        sqlx::query(sql!("runs/checkpoint"))
            .bind(hex(run.0))
            .bind(seq)
            .bind(spell_moment(at))
            .execute(&mut **tx)
            .await
            .doing("write the checkpoint")?;
        // Khora counts ops from 0.
        let khora = KhoraRow { last_committed_seq: Some(i64::from(seq) - 1), ..KhoraRow::default() };
        self.tell_khora(tx, run, at, &khora).await
    }
}

#[async_trait]
impl ApplyStore for SqliteStore {
    async fn apply_group(&self, fence: &Fence, request: &GroupRequest) -> Result<GroupOutcome, StoreError> {
        let mut tx = self.write("apply a group").await?;
        let now = self.hold(&mut tx, fence).await?;
        let standstill = crate::requests::standstill(&mut tx, fence.run, fence.namespace).await?;
        if !standstill.is_clear() {
            return Ok(GroupOutcome::Standing(standstill));
        }
        let ops = self.next_ops(&mut tx, fence.run, request).await?;
        let Some(last) = ops.last().map(|op| op.seq) else { return Ok(GroupOutcome::Nothing) };
        let parents = self.parents(&mut tx, fence.run, &ops).await?;
        let context = Context {
            now,
            text_key: text_key(&mut tx).await?,
            centroid_cosine_min: request.centroid_cosine_min,
            answers: request.answers.clone(),
        };
        let group = Group { ops: &ops, parents: &parents, context: &context };
        let mut rows = self.load_group(&mut tx, fence, &group).await?;
        let results = group.decide(&mut rows);
        images(&mut tx, fence.namespace, &rows.images()).await?;
        let left = Trail {
            run: fence.run,
            namespace: fence.namespace,
            direction: Direction::Apply,
            has_graph: request.has_graph,
            at: now,
            results: &results,
        };
        trail(&mut tx, &left).await?;
        self.checkpoint(&mut tx, fence.run, last, now).await?;
        tx.commit().await.doing("apply a group")?;
        let ops = ops.iter().zip(&results).map(|(op, result)| (op.draft.kind, result.state, result.reason)).collect();
        Ok(GroupOutcome::Committed { seq: last, ops })
    }

    async fn fail_next(&self, fence: &Fence, reason: Reason) -> Result<(), StoreError> {
        const OPERATION: &str = "mark an op failed";
        let mut tx = self.write(OPERATION).await?;
        self.hold(&mut tx, fence).await?;
        sqlx::query(sql!("ops/fail_next"))
            .bind(hex(fence.run.0))
            .bind(reason.as_str())
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn undo_group(&self, fence: &Fence, request: &UndoRequest) -> Result<UndoOutcome, StoreError> {
        let mut tx = self.write("take ops back").await?;
        let outcome = self.undo_in(&mut tx, fence, request).await?;
        if !request.dry_run {
            tx.commit().await.doing("take ops back")?;
        }
        Ok(outcome)
    }

    async fn fence_for_undo(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        self.take_for_undo(run, holder).await
    }

    async fn end_undo(&self, fence: &Fence) -> Result<(), StoreError> {
        self.finish_undo(fence).await
    }

    async fn outbox_open(&self) -> Result<(u64, Option<Moment>), StoreError> {
        let row = sqlx::query(sql!("outbox/open")).fetch_one(&self.reader).await.doing("count outbox rows")?;
        let rows: i64 = row.try_get_unchecked("rows").doing("count outbox rows")?;
        let oldest = if maybe(&row, "oldest")?.is_some() { Some(moment(&row, "oldest")?) } else { None };
        Ok((u64::try_from(rows).unwrap_or_default(), oldest))
    }
}

impl SqliteStore {
    async fn undo_in(&self, tx: &mut Tx, fence: &Fence, request: &UndoRequest) -> Result<UndoOutcome, StoreError> {
        const OPERATION: &str = "read undo records";
        let capabilities = self.capabilities().await?;
        let now = self.hold(tx, fence).await?;
        let wanted: Vec<_> = request.ops.iter().map(|op| op.0).collect();
        let found = sqlx::query(sql!("undo/find"))
            .bind(hex(request.run.0))
            .bind(id_array(&wanted))
            .fetch_all(&mut **tx)
            .await
            .doing(OPERATION)?;
        let context =
            Context { now, text_key: text_key(tx).await?, centroid_cosine_min: 0.0, answers: BTreeMap::new() };
        let mut outcome = UndoOutcome::default();
        let mut rows = Rows::default();
        let mut results = Vec::new();
        for row in &found {
            let op = op(request.run, row)?;
            if op.state != OpState::Applied || maybe(row, "record")?.is_none() {
                outcome.nothing += 1;
                continue;
            }
            let record = undo_record(row)?;
            let reversal = Reversal { op: &op, record: &record };
            load(&capabilities, tx, fence.namespace, &reversal.needs(), &mut rows).await?;
            let (result, changed) = reversal.decide(&mut rows, &context, request.on_changed).map_err(|_| {
                StoreError::Unreadable { operation: OPERATION, what: format!("the undo record of op {}", op.id) }
            })?;
            outcome.changed.extend(changed.into_iter().map(|changed| (op.id, changed)));
            outcome.undone += 1;
            results.push(result);
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
        let undone: Vec<String> = results.iter().map(|result| hex(result.op.0)).collect();
        sqlx::query(sql!("undo/mark"))
            .bind(spell_json(&undone))
            .bind(spell_moment(now))
            .execute(&mut **tx)
            .await
            .doing("take ops back")?;
        Ok(outcome)
    }

    async fn finish_undo(&self, fence: &Fence) -> Result<(), StoreError> {
        const OPERATION: &str = "end the undo";
        let mut tx = self.write(OPERATION).await?;
        let at = self.hold(&mut tx, fence).await?;
        let rows =
            sqlx::query(sql!("runs/counts")).bind(hex(fence.run.0)).fetch_all(&mut *tx).await.doing(OPERATION)?;
        let mut standing = 0;
        let mut undone = 0;
        for row in &rows {
            let count = crate::records::number(row, "count")?;
            match word::<OpState>(row, "state")? {
                OpState::Applied => standing += count,
                OpState::Undone => undone += count,
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
            let khora = KhoraRow { state: Some(state), ..KhoraRow::default() };
            self.tell_khora(&mut tx, fence.run, at, &khora).await?;
        }
        self.release(&mut tx, fence.realm, fence.namespace, fence.run, Some(fence.epoch)).await?;
        tx.commit().await.doing(OPERATION)
    }
}
