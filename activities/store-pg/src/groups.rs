//! Groups of ops, one transaction each: locks, fence, requests, op rows, content rows, decision, images, trail, checkpoint.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use dream_core::apply::{Context, Group, NEEDS_ROUNDS_MAX};
use dream_core::clock::Moment;
use dream_core::id::{ContentKey, NamespaceId, RunId};
use dream_core::mirror::Direction;
use dream_core::op::{Op, OpState, Reason};
use dream_core::rows::{Needs, Rows};
use dream_core::run::Realm;
use dream_core::verdict::NamePair;
use dream_ports::apply::{GroupOutcome, GroupRequest, UndoOutcome, UndoRequest};
use dream_ports::run::Fence;
use dream_ports::{ApplyStore, StoreError};

use crate::error::ResultExt;
use crate::jobs::texts;
use crate::khora::{KhoraRow, update_where};
use crate::leases::hold;
use crate::load::load;
use crate::locks::{exclude_ingestion, exclude_khoras_dreams};
use crate::records::{content_key, get, maybe_moment, name_pair, op, signed, word};
use crate::requests::standstill;
use crate::runs::need_run;
use crate::schema::{Shape, shape, text_key};
use crate::tx::{Tx, end};
use crate::write::{Trail, images, trail};
use crate::{PgStore, query, sql};

async fn next_ops(tx: &mut Tx, run: RunId, request: &GroupRequest) -> Result<Vec<Op>, StoreError> {
    let rows = query(sql!("ops/next"))
        .bind(run.0)
        .bind(signed(request.seq_to))
        .bind(i64::from(request.ops_max))
        .bind(request.ops_max > 1)
        .fetch_all(&mut **tx)
        .await
        .doing("read the next ops")?;
    rows.iter().map(|row| op(run, row)).collect()
}

async fn parents(tx: &mut Tx, run: RunId, ops: &[Op]) -> Result<BTreeMap<ContentKey, OpState>, StoreError> {
    let wanted: Vec<&[u8]> = ops.iter().flat_map(|op| &op.draft.depends_on).map(|key| &key.0[..]).collect();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = query(sql!("ops/parents"))
        .bind(run.0)
        .bind(wanted)
        .fetch_all(&mut **tx)
        .await
        .doing("read the ops that others depend on")?;
    rows.iter().map(|row| Ok((content_key(row, "content_key")?, word(row, "state")?))).collect()
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
    let (low, high): (Vec<_>, Vec<_>) = pairs.iter().map(|(low, high)| (&low.0[..], &high.0[..])).unzip();
    let rows = query(sql!("verdicts/kept_apart"))
        .bind(namespace.0)
        .bind(low)
        .bind(high)
        .fetch_all(&mut **tx)
        .await
        .doing("read verdicts")?;
    rows.iter().map(name_pair).collect()
}

async fn checkpoint(tx: &mut Tx, shape: Shape, run: RunId, seq: u32, at: Moment) -> Result<(), StoreError> {
    query(sql!("runs/checkpoint"))
        .bind(run.0)
        .bind(signed(seq))
        .execute(&mut **tx)
        .await
        .doing("write the checkpoint")?;
    // Khora counts ops from 0.
    let row = KhoraRow { last_committed_seq: Some(signed(seq) - 1), ..KhoraRow::default() };
    update_where(tx, shape, run, at, &row).await
}

impl PgStore {
    /// Takes Khora's locks, in the order in which everybody does: ingestion's first, waiting, then those of its dreams, trying;
    /// false if Khora dreams. Only then the fence, so that a lease is not held shut while ingestion is waited for.
    pub(crate) async fn exclude_khora(&self, tx: &mut Tx, fence: &Fence) -> Result<bool, StoreError> {
        // Khora knows nothing of spaces.
        if fence.realm != Realm::Graph {
            return Ok(true);
        }
        let stable = need_run(tx, fence.run).await?.stable_namespace;
        exclude_ingestion(tx, fence.namespace).await?;
        exclude_khoras_dreams(tx, fence.namespace, stable).await
    }

    async fn apply_in(&self, tx: &mut Tx, fence: &Fence, request: &GroupRequest) -> Result<GroupOutcome, StoreError> {
        if !self.exclude_khora(tx, fence).await? {
            return Ok(GroupOutcome::KhoraDreams);
        }
        let now = hold(tx, fence).await?;
        let standstill = standstill(tx, fence.run, fence.namespace).await?;
        if !standstill.is_clear() {
            return Ok(GroupOutcome::Standing(standstill));
        }
        let ops = next_ops(tx, fence.run, request).await?;
        let Some(last) = ops.last().map(|op| op.seq) else {
            return Ok(GroupOutcome::Nothing);
        };
        let parents = parents(tx, fence.run, &ops).await?;
        let shape = shape(tx).await?;
        let context = Context {
            now,
            text_key: text_key(tx).await?,
            centroid_cosine_min: request.centroid_cosine_min,
            answers: request.answers.clone(),
            texts: texts(tx, fence.run, &ops).await?,
        };
        let group = Group { ops: &ops, parents: &parents, context: &context };
        let mut rows = load_group(tx, shape, fence.namespace, &group).await?;
        let apart = kept_apart(tx, fence.namespace, &group.name_pairs(&rows)).await?;
        let results = group.decide(&mut rows, &apart);
        images(tx, fence.namespace, &rows.images()).await?;
        let left = Trail {
            run: fence.run,
            namespace: fence.namespace,
            direction: Direction::Apply,
            has_graph: request.has_graph,
            at: now,
            results: &results,
        };
        trail(tx, &left).await?;
        checkpoint(tx, shape, fence.run, last, now).await?;
        let ops = ops.iter().zip(&results).map(|(op, result)| (op.draft.kind, result.state, result.reason)).collect();
        Ok(GroupOutcome::Committed { seq: last, ops })
    }
}

#[async_trait]
impl ApplyStore for PgStore {
    async fn apply_group(&self, fence: &Fence, request: &GroupRequest) -> Result<GroupOutcome, StoreError> {
        const OPERATION: &str = "apply a group";
        let mut tx = self.write(OPERATION).await?;
        let outcome = self.apply_in(&mut tx, fence, request).await;
        let keep = matches!(outcome, Ok(GroupOutcome::Committed { .. }));
        end(tx, keep, OPERATION).await?;
        outcome
    }

    async fn fail_next(&self, fence: &Fence, reason: Reason) -> Result<(), StoreError> {
        const OPERATION: &str = "mark an op failed";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        query(sql!("ops/fail_next"))
            .bind(fence.run.0)
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
        const OPERATION: &str = "count outbox rows";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("outbox/open")).fetch_one(&mut *tx).await.doing(OPERATION)?;
        let rows: i64 = get(&row, "rows")?;
        Ok((u64::try_from(rows).unwrap_or_default(), maybe_moment(&row, "oldest")?))
    }
}
