//! Steps, findings, drafts and sealed plans.

use std::collections::BTreeMap;

use async_trait::async_trait;
use dream_core::change::RowKey;
use dream_core::id::{ContentKey, NamespaceId, OpId, RunId};
use dream_core::op::{Draft, Op, OpKind};
use dream_core::plan::{Plan, PlanHash};
use dream_core::run::{SkipReason, with_skip_reasons};
use dream_core::undo::{UndoRecord, vector_bytes, vector_from_bytes};
use dream_core::verdict::Verdict;
use dream_ports::plan::{Baseline, Finding, OpFilter, OpRecord, Step, StretchOps, Touch};
use dream_ports::run::Fence;
use dream_ports::{PlanStore, StoreError};
use serde_json::json;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::encode::{hex, id_array, spell_moment};
use crate::error::ResultExt;
use crate::khora::KhoraRow;
use crate::leases::hold;
use crate::records::{
    get, id, moment, number, op_record, read_json, spell_json, text, text_array, undo_record, unreadable, word,
};
use crate::runs::{need_run, now};
use crate::tx::Tx;
use crate::{SqliteStore, sql};

/// Rows bound as one JSON array. Small enough that a statement stays within milliseconds, large enough that its cost is the
/// rows and not the call.
const ROWS_PER_STATEMENT_MAX: usize = 500;

impl SqliteStore {
    pub(crate) async fn mark_done(&self, tx: &mut Tx, fence: &Fence, step: &Step) -> Result<(), StoreError> {
        sqlx::query(sql!("steps/done"))
            .bind(hex(fence.run.0))
            .bind(&step.name)
            .bind(fence.epoch)
            .bind(&step.summary)
            .execute(&mut **tx)
            .await
            .doing("mark a step done")?;
        Ok(())
    }

    pub(crate) async fn insert_ops(&self, tx: &mut Tx, run: RunId, ops: &[Op]) -> Result<(), StoreError> {
        for ops in ops.chunks(ROWS_PER_STATEMENT_MAX) {
            let rows: Vec<_> = ops
                .iter()
                .map(|op| {
                    json!({
                        "seq": op.seq,
                        "op_id": hex(op.id.0),
                        "content_key": op.content,
                        "cluster": hex(op.cluster),
                        "kind": op.draft.kind,
                        "state": op.state,
                        "reason": op.reason,
                        "draft": spell_json(&op.draft),
                    })
                })
                .collect();
            sqlx::query(sql!("ops/insert"))
                .bind(hex(run.0))
                .bind(spell_json(&rows))
                .execute(&mut **tx)
                .await
                .doing("write the plan")?;
        }
        Ok(())
    }
}

/// Adds to what a run did not do; a reason that is known for its op is replaced.
pub(crate) async fn add_skip_reasons(tx: &mut Tx, run: RunId, new: &[SkipReason]) -> Result<(), StoreError> {
    if new.is_empty() {
        return Ok(());
    }
    let known = need_run(tx, run).await?.skip_reasons;
    sqlx::query(sql!("runs/add_skip_reasons"))
        .bind(hex(run.0))
        .bind(spell_json(&with_skip_reasons(known, new)))
        .execute(&mut **tx)
        .await
        .doing("write skip reasons")?;
    Ok(())
}

#[async_trait]
impl PlanStore for SqliteStore {
    async fn steps(&self, run: RunId) -> Result<Vec<Step>, StoreError> {
        let rows =
            sqlx::query(sql!("steps/list")).bind(hex(run.0)).fetch_all(&self.reader).await.doing("list steps")?;
        rows.iter().map(|row| Ok(Step { name: text(row, "name")?, summary: text(row, "summary")? })).collect()
    }

    async fn write_findings(&self, fence: &Fence, step: &Step, findings: &[Finding]) -> Result<(), StoreError> {
        const OPERATION: &str = "write findings";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        for kind in OpKind::ALL.iter().filter(|kind| step.name == format!("audit:{kind}")) {
            sqlx::query(sql!("findings/delete"))
                .bind(hex(fence.run.0))
                .bind(kind.as_str())
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        }
        for findings in findings.chunks(ROWS_PER_STATEMENT_MAX) {
            sqlx::query(sql!("findings/insert"))
                .bind(hex(fence.run.0))
                .bind(spell_json(&findings))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        }
        self.mark_done(&mut tx, fence, step).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn findings(&self, run: RunId) -> Result<Vec<Finding>, StoreError> {
        let rows =
            sqlx::query(sql!("findings/list")).bind(hex(run.0)).fetch_all(&self.reader).await.doing("list findings")?;
        let finding = |row: &SqliteRow| {
            Ok(Finding { kind: word(row, "kind")?, ordinal: number(row, "ordinal")?, payload: text(row, "payload")? })
        };
        rows.iter().map(finding).collect()
    }

    async fn write_drafts(&self, fence: &Fence, planner: OpKind, drafts: &[Draft]) -> Result<(), StoreError> {
        const OPERATION: &str = "write drafts";
        for drafts in drafts.chunks(ROWS_PER_STATEMENT_MAX) {
            let mut tx = self.write(OPERATION).await?;
            hold(&mut tx, fence).await?;
            let rows: Vec<_> = drafts
                .iter()
                .map(|draft| json!({ "content_key": draft.content_key(), "payload": spell_json(draft) }))
                .collect();
            sqlx::query(sql!("drafts/insert"))
                .bind(hex(fence.run.0))
                .bind(planner.as_str())
                .bind(fence.epoch)
                .bind(spell_json(&rows))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
            tx.commit().await.doing(OPERATION)?;
        }
        Ok(())
    }

    async fn publish(
        &self,
        fence: &Fence,
        planner: OpKind,
        step: &Step,
        skip_reasons: &[SkipReason],
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "publish drafts";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        sqlx::query(sql!("drafts/delete_others"))
            .bind(hex(fence.run.0))
            .bind(planner.as_str())
            .bind(fence.epoch)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        add_skip_reasons(&mut tx, fence.run, skip_reasons).await?;
        self.mark_done(&mut tx, fence, step).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn drafts(&self, run: RunId, planner: Option<OpKind>) -> Result<Vec<Draft>, StoreError> {
        let rows = sqlx::query(sql!("drafts/list"))
            .bind(hex(run.0))
            .bind(planner.map(OpKind::as_str))
            .fetch_all(&self.reader)
            .await
            .doing("read drafts")?;
        rows.iter().map(|row| read_json(&text(row, "payload")?, "dream_draft.payload")).collect()
    }

    async fn write_plan(&self, fence: &Fence, plan: &Plan, audit: &PlanHash, step: &Step) -> Result<(), StoreError> {
        const OPERATION: &str = "write the plan";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        if need_run(&mut tx, fence.run).await?.plan_hash.is_some() {
            return Ok(());
        }
        let run = hex(fence.run.0);
        let ops_total = i64::try_from(plan.ops.len()).unwrap_or(i64::MAX);
        self.insert_ops(&mut tx, fence.run, &plan.ops).await?;
        sqlx::query(sql!("drafts/delete")).bind(&run).execute(&mut *tx).await.doing(OPERATION)?;
        sqlx::query(sql!("runs/set_plan"))
            .bind(&run)
            .bind(&plan.hash.0)
            .bind(&audit.0)
            .bind(ops_total)
            .bind(spell_moment(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        self.mark_done(&mut tx, fence, step).await?;
        let khora = KhoraRow { plan_hash: Some(&plan.hash), ops_total: Some(ops_total), ..KhoraRow::default() };
        add_skip_reasons(&mut tx, fence.run, &plan.skip_reasons()).await?;
        crate::khora::update(&mut tx, fence.run, at, &khora).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn ops(&self, run: RunId, filter: &OpFilter) -> Result<Vec<OpRecord>, StoreError> {
        let states = (!filter.states.is_empty()).then(|| text_array(&filter.states));
        let rows = sqlx::query(sql!("ops/list"))
            .bind(hex(run.0))
            .bind(filter.after_seq)
            .bind(filter.kind.map(OpKind::as_str))
            .bind(states)
            .bind(filter.limit)
            .fetch_all(&self.reader)
            .await
            .doing("read ops")?;
        rows.iter().map(|row| op_record(run, row)).collect()
    }

    async fn op(&self, op: OpId) -> Result<Option<(RunId, OpRecord)>, StoreError> {
        let row =
            sqlx::query(sql!("ops/find")).bind(hex(op.0)).fetch_optional(&self.reader).await.doing("read an op")?;
        row.map(|row| {
            let run = RunId(id(&row, "run_id")?);
            Ok((run, op_record(run, &row)?))
        })
        .transpose()
    }

    async fn next_stretch(&self, run: RunId, ops_max: u32) -> Result<Option<StretchOps>, StoreError> {
        let rows = sqlx::query(sql!("ops/stretch"))
            .bind(hex(run.0))
            .bind(ops_max)
            .fetch_all(&self.reader)
            .await
            .doing("look for the next ops")?;
        let mut stretch: Option<StretchOps> = None;
        for row in &rows {
            let (seq_from, seq_to) = (number(row, "seq_from")?, number(row, "seq_to")?);
            let left = number(row, "ops_left")?;
            let stretch = stretch.get_or_insert_with(|| StretchOps { seq_from, seq_to, kinds: BTreeMap::new(), left });
            stretch.seq_from = stretch.seq_from.min(seq_from);
            stretch.seq_to = stretch.seq_to.max(seq_to);
            stretch.kinds.insert(word(row, "kind")?, number(row, "count")?);
        }
        Ok(stretch)
    }

    async fn settle_review(&self, run: RunId, reject_all: bool) -> Result<(), StoreError> {
        const OPERATION: &str = "settle the review";
        let mut tx = self.write(OPERATION).await?;
        sqlx::query(sql!("ops/settle_review"))
            .bind(hex(run.0))
            .bind(reject_all)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn review(&self, run: RunId, seqs: &[u32], accept: bool) -> Result<u32, StoreError> {
        const OPERATION: &str = "record a review";
        let mut tx = self.write(OPERATION).await?;
        let done = sqlx::query(sql!("ops/review"))
            .bind(hex(run.0))
            .bind(spell_json(&seqs))
            .bind(accept)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(done.rows_affected()).unwrap_or(u32::MAX))
    }

    async fn verdicts(&self, namespace: NamespaceId) -> Result<Vec<Verdict>, StoreError> {
        let rows = sqlx::query(sql!("verdicts/list"))
            .bind(hex(namespace.0))
            .fetch_all(&self.reader)
            .await
            .doing("read verdicts")?;
        let verdict = |row: &SqliteRow| {
            let key = |column| read_json(&format!("\"{}\"", text(row, column)?), "dream_verdict");
            Ok(Verdict { low: key("low")?, high: key("high")?, ruling: word(row, "ruling")? })
        };
        rows.iter().map(verdict).collect()
    }

    async fn write_verdicts(&self, namespace: NamespaceId, verdicts: &[Verdict]) -> Result<(), StoreError> {
        const OPERATION: &str = "write verdicts";
        let mut tx = self.write(OPERATION).await?;
        let at = now(&mut tx).await?;
        crate::write::verdicts(&mut tx, namespace, verdicts, crate::write::Word::Persons, at).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn baseline(&self, namespace: NamespaceId, kind: OpKind) -> Result<Option<Baseline>, StoreError> {
        sqlx::query_scalar(sql!("baselines/find"))
            .bind(hex(namespace.0))
            .bind(kind.as_str())
            .fetch_optional(&self.reader)
            .await
            .doing("read the baseline")
    }

    async fn write_baseline(
        &self,
        namespace: NamespaceId,
        kind: OpKind,
        run: RunId,
        baseline: &str,
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "write the baseline";
        let mut tx = self.write(OPERATION).await?;
        sqlx::query(sql!("baselines/write"))
            .bind(hex(namespace.0))
            .bind(kind.as_str())
            .bind(hex(run.0))
            .bind(baseline)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn undo_records(
        &self,
        run: RunId,
        after_seq: u32,
        limit: u32,
    ) -> Result<Vec<(OpId, u32, UndoRecord)>, StoreError> {
        let rows = sqlx::query(sql!("undo/list"))
            .bind(hex(run.0))
            .bind(after_seq)
            .bind(limit)
            .fetch_all(&self.reader)
            .await
            .doing("read undo records")?;
        rows.iter().map(|row| Ok((OpId(id(row, "op_id")?), number(row, "seq")?, undo_record(row)?))).collect()
    }

    async fn touches(&self, row: RowKey, limit: u32) -> Result<Vec<Touch>, StoreError> {
        let rows = sqlx::query(sql!("undo/history"))
            .bind(row.table.as_str())
            .bind(hex(row.id))
            .bind(limit)
            .fetch_all(&self.reader)
            .await
            .doing("read the history of a row")?;
        let touch = |row: &SqliteRow| {
            Ok(Touch {
                run: RunId(id(row, "run_id")?),
                op: OpId(id(row, "op_id")?),
                applied_at: moment(row, "applied_at")?,
                record: undo_record(row)?,
            })
        };
        rows.iter().map(touch).collect()
    }

    async fn built_upon_by(&self, run: RunId, op: Option<OpId>) -> Result<Vec<RunId>, StoreError> {
        let seq = match op {
            Some(op) => PlanStore::op(self, op).await?.map(|(_, record)| record.op.seq),
            None => None,
        };
        let rows = sqlx::query(sql!("touched/built_upon_by"))
            .bind(hex(run.0))
            .bind(seq)
            .fetch_all(&self.reader)
            .await
            .doing("look for later runs")?;
        rows.iter().map(|row| Ok(RunId(id(row, "run_id")?))).collect()
    }

    async fn answers(&self, questions: &[ContentKey]) -> Result<Vec<(ContentKey, String, Vec<f32>)>, StoreError> {
        let rows = sqlx::query(sql!("answers/find"))
            .bind(text_array(questions))
            .fetch_all(&self.reader)
            .await
            .doing("read answers")?;
        let answer = |row: &SqliteRow| {
            let bytes: Vec<u8> = get(row, "vector")?;
            let vector = vector_from_bytes(&bytes).ok_or_else(|| unreadable("dream_answer.vector"))?;
            Ok((word(row, "question")?, text(row, "model")?, vector))
        };
        rows.iter().map(answer).collect()
    }

    async fn write_answer(&self, question: ContentKey, model: &str, vector: &[f32]) -> Result<(), StoreError> {
        const OPERATION: &str = "keep an answer";
        let mut tx = self.write(OPERATION).await?;
        let at = now(&mut tx).await?;
        sqlx::query(sql!("answers/write"))
            .bind(question.to_string())
            .bind(model)
            .bind(vector_bytes(vector))
            .bind(spell_moment(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn names(&self, entities: &[Uuid]) -> Result<Vec<(Uuid, String, String)>, StoreError> {
        let rows = sqlx::query(sql!("entities/names"))
            .bind(id_array(entities))
            .fetch_all(&self.reader)
            .await
            .doing("read names")?;
        rows.iter().map(|row| Ok((id(row, "id")?, text(row, "name")?, text(row, "entity_type")?))).collect()
    }
}
