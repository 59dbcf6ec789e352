//! Groups of ops, one write transaction each.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use dream_core::apply::{Context, Group, NEEDS_ROUNDS_MAX};
use dream_core::clock::Moment;
use dream_core::id::{ContentKey, NamespaceId, RunId};
use dream_core::mirror::Direction;
use dream_core::op::{Op, OpState, Reason};
use dream_core::rows::{Needs, Rows};
use dream_core::verdict::NamePair;
use dream_ports::apply::{GroupOutcome, GroupRequest, UndoOutcome, UndoRequest};
use dream_ports::run::Fence;
use dream_ports::{ApplyStore, StoreError};

use crate::encode::{hex, spell_moment};
use crate::error::ResultExt;
use crate::jobs::texts;
use crate::khora::{KhoraRow, update_where};
use crate::leases::hold;
use crate::load::load;
use crate::records::{get, maybe_moment, name_pair, op, spell_json, text_array, word};
use crate::requests::standstill;
use crate::schema::{Shape, shape, text_key};
use crate::tx::Tx;
use crate::write::{Trail, images, trail};
use crate::{SqliteStore, sql};

async fn next_ops(tx: &mut Tx, run: RunId, request: &GroupRequest) -> Result<Vec<Op>, StoreError> {
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

async fn parents(tx: &mut Tx, run: RunId, ops: &[Op]) -> Result<BTreeMap<ContentKey, OpState>, StoreError> {
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

async fn load_group(tx: &mut Tx, shape: Shape, namespace: NamespaceId, group: &Group<'_>) -> Result<Rows, StoreError> {
    let mut rows = Rows::default();
    let mut loaded = Needs::default();
    for _round in 0..NEEDS_ROUNDS_MAX {
        let needs = group.needs(&rows);
        let missing = needs.beyond(&loaded);
        if missing.is_empty() {
            break;
        }
        load(tx, shape, namespace, &missing, &mut rows).await?;
        loaded = needs;
    }
    Ok(rows)
}

/// Which of these pairs of names stay two.
async fn kept_apart(
    tx: &mut Tx,
    namespace: NamespaceId,
    pairs: &BTreeSet<NamePair>,
) -> Result<BTreeSet<NamePair>, StoreError> {
    if pairs.is_empty() {
        return Ok(BTreeSet::new());
    }
    let rows = sqlx::query(sql!("verdicts/kept_apart"))
        .bind(hex(namespace.0))
        .bind(spell_json(pairs))
        .fetch_all(&mut **tx)
        .await
        .doing("read verdicts")?;
    rows.iter().map(name_pair).collect()
}

async fn checkpoint(tx: &mut Tx, shape: Shape, run: RunId, seq: u32, at: Moment) -> Result<(), StoreError> {
    sqlx::query(sql!("runs/checkpoint"))
        .bind(hex(run.0))
        .bind(seq)
        .bind(spell_moment(at))
        .execute(&mut **tx)
        .await
        .doing("write the checkpoint")?;
    // Khora counts ops from 0.
    let khora = KhoraRow { last_committed_seq: Some(i64::from(seq) - 1), ..KhoraRow::default() };
    update_where(tx, shape, run, at, &khora).await
}

#[async_trait]
impl ApplyStore for SqliteStore {
    async fn apply_group(&self, fence: &Fence, request: &GroupRequest) -> Result<GroupOutcome, StoreError> {
        let mut tx = self.write("apply a group").await?;
        let now = hold(&mut tx, fence).await?;
        let standstill = standstill(&mut tx, fence.run, fence.namespace).await?;
        if !standstill.is_clear() {
            return Ok(GroupOutcome::Standing(standstill));
        }
        let ops = next_ops(&mut tx, fence.run, request).await?;
        let Some(last) = ops.last().map(|op| op.seq) else { return Ok(GroupOutcome::Nothing) };
        let parents = parents(&mut tx, fence.run, &ops).await?;
        let shape = shape(&mut tx).await?;
        let context = Context {
            now,
            text_key: text_key(&mut tx).await?,
            centroid_cosine_min: request.centroid_cosine_min,
            answers: request.answers.clone(),
            texts: texts(&mut tx, fence.run, &ops).await?,
        };
        let group = Group { ops: &ops, parents: &parents, context: &context };
        let mut rows = load_group(&mut tx, shape, fence.namespace, &group).await?;
        let apart = kept_apart(&mut tx, fence.namespace, &group.name_pairs(&rows)).await?;
        let results = group.decide(&mut rows, &apart);
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
        checkpoint(&mut tx, shape, fence.run, last, now).await?;
        tx.commit().await.doing("apply a group")?;
        let ops = ops.iter().zip(&results).map(|(op, result)| (op.draft.kind, result.state, result.reason)).collect();
        Ok(GroupOutcome::Committed { seq: last, ops })
    }

    async fn fail_next(&self, fence: &Fence, reason: Reason) -> Result<(), StoreError> {
        const OPERATION: &str = "mark an op failed";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        sqlx::query(sql!("ops/fail_next"))
            .bind(hex(fence.run.0))
            .bind(reason.as_str())
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn undo_group(&self, fence: &Fence, request: &UndoRequest) -> Result<UndoOutcome, StoreError> {
        self.take_back(fence, request).await
    }

    async fn fence_for_undo(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        self.take_for_undo(run, holder).await
    }

    async fn end_undo(&self, fence: &Fence) -> Result<(), StoreError> {
        self.finish_undo(fence).await
    }

    async fn outbox_open(&self) -> Result<(u64, Option<Moment>), StoreError> {
        let row = sqlx::query(sql!("outbox/open")).fetch_one(&self.reader).await.doing("count outbox rows")?;
        let rows: i64 = get(&row, "rows")?;
        Ok((u64::try_from(rows).unwrap_or_default(), maybe_moment(&row, "oldest")?))
    }
}
