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
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::khora::KhoraRow;
use crate::leases::hold;
use crate::records::{
    content_key, count, fingerprint, get, moment, number, op_record, read_json, signed, spell_json, undo_record,
    unreadable, word,
};
use crate::runs::need_run;
use crate::tx::Tx;
use crate::{PgStore, query, sql};

/// Rows bound in one statement: a few megabytes, so that neither side holds a whole plan twice.
const ROWS_PER_STATEMENT_MAX: usize = 5_000;

pub(crate) async fn mark_done(tx: &mut Tx, fence: &Fence, step: &Step) -> Result<(), StoreError> {
    query(sql!("steps/done"))
        .bind(fence.run.0)
        .bind(&step.name)
        .bind(fence.epoch)
        .bind(&step.summary)
        .execute(&mut **tx)
        .await
        .doing("mark a step done")?;
    Ok(())
}

pub(crate) async fn insert_ops(tx: &mut Tx, run: RunId, ops: &[Op]) -> Result<(), StoreError> {
    for ops in ops.chunks(ROWS_PER_STATEMENT_MAX) {
        let of = |part: fn(&Op) -> Uuid| ops.iter().map(part).collect::<Vec<_>>();
        query(sql!("ops/insert"))
            .bind(run.0)
            .bind(ops.iter().map(|op| signed(op.seq)).collect::<Vec<_>>())
            .bind(of(|op| op.id.0))
            .bind(ops.iter().map(|op| &op.content.0[..]).collect::<Vec<_>>())
            .bind(of(|op| op.cluster))
            .bind(ops.iter().map(|op| op.draft.kind.as_str()).collect::<Vec<_>>())
            .bind(ops.iter().map(|op| op.state.as_str()).collect::<Vec<_>>())
            .bind(ops.iter().map(|op| op.reason.map(dream_core::op::Reason::as_str)).collect::<Vec<_>>())
            .bind(ops.iter().map(|op| spell_json(&op.draft)).collect::<Vec<_>>())
            .execute(&mut **tx)
            .await
            .doing("write the plan")?;
    }
    Ok(())
}

async fn insert_findings(tx: &mut Tx, fence: &Fence, findings: &[Finding]) -> Result<(), StoreError> {
    for findings in findings.chunks(ROWS_PER_STATEMENT_MAX) {
        query(sql!("findings/insert"))
            .bind(fence.run.0)
            .bind(findings.iter().map(|finding| finding.kind.as_str()).collect::<Vec<_>>())
            .bind(findings.iter().map(|finding| signed(finding.ordinal)).collect::<Vec<_>>())
            .bind(findings.iter().map(|finding| finding.payload.as_str()).collect::<Vec<_>>())
            .execute(&mut **tx)
            .await
            .doing("write findings")?;
    }
    Ok(())
}

/// Adds to what a run did not do; a reason that is known for its op is replaced.
pub(crate) async fn add_skip_reasons(tx: &mut Tx, run: RunId, new: &[SkipReason]) -> Result<(), StoreError> {
    if new.is_empty() {
        return Ok(());
    }
    let known = need_run(tx, run).await?.skip_reasons;
    query(sql!("runs/add_skip_reasons"))
        .bind(run.0)
        .bind(spell_json(&with_skip_reasons(known, new)))
        .execute(&mut **tx)
        .await
        .doing("write skip reasons")?;
    Ok(())
}

#[async_trait]
impl PlanStore for PgStore {
    async fn steps(&self, run: RunId) -> Result<Vec<Step>, StoreError> {
        let mut tx = self.read("list steps").await?;
        let rows = query(sql!("steps/list")).bind(run.0).fetch_all(&mut *tx).await.doing("list steps")?;
        rows.iter().map(|row| Ok(Step { name: get(row, "name")?, summary: get(row, "summary")? })).collect()
    }

    async fn write_findings(&self, fence: &Fence, step: &Step, findings: &[Finding]) -> Result<(), StoreError> {
        const OPERATION: &str = "write findings";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        for kind in OpKind::ALL.iter().filter(|kind| step.name == format!("audit:{kind}")) {
            query(sql!("findings/delete"))
                .bind(fence.run.0)
                .bind(kind.as_str())
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        }
        insert_findings(&mut tx, fence, findings).await?;
        mark_done(&mut tx, fence, step).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn findings(&self, run: RunId) -> Result<Vec<Finding>, StoreError> {
        let mut tx = self.read("list findings").await?;
        let rows = query(sql!("findings/list")).bind(run.0).fetch_all(&mut *tx).await.doing("list findings")?;
        let finding = |row: &PgRow| {
            Ok(Finding { kind: word(row, "kind")?, ordinal: number(row, "ordinal")?, payload: get(row, "payload")? })
        };
        rows.iter().map(finding).collect()
    }

    async fn write_drafts(&self, fence: &Fence, planner: OpKind, drafts: &[Draft]) -> Result<(), StoreError> {
        const OPERATION: &str = "write drafts";
        for drafts in drafts.chunks(ROWS_PER_STATEMENT_MAX) {
            let mut tx = self.write(OPERATION).await?;
            hold(&mut tx, fence).await?;
            query(sql!("drafts/insert"))
                .bind(fence.run.0)
                .bind(planner.as_str())
                .bind(fence.epoch)
                .bind(drafts.iter().map(|draft| draft.content_key().0.to_vec()).collect::<Vec<_>>())
                .bind(drafts.iter().map(spell_json).collect::<Vec<_>>())
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
        query(sql!("drafts/delete_others"))
            .bind(fence.run.0)
            .bind(planner.as_str())
            .bind(fence.epoch)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        add_skip_reasons(&mut tx, fence.run, skip_reasons).await?;
        mark_done(&mut tx, fence, step).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn drafts(&self, run: RunId, planner: Option<OpKind>) -> Result<Vec<Draft>, StoreError> {
        const OPERATION: &str = "read drafts";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("drafts/list"))
            .bind(run.0)
            .bind(planner.map(OpKind::as_str))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(|row| read_json(get(row, "payload")?, "dream.draft.payload")).collect()
    }

    async fn write_plan(&self, fence: &Fence, plan: &Plan, audit: &PlanHash, step: &Step) -> Result<(), StoreError> {
        const OPERATION: &str = "write the plan";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        if need_run(&mut tx, fence.run).await?.plan_hash.is_some() {
            return Ok(());
        }
        let runs = vec![fence.run.0];
        let ops_total = i32::try_from(plan.ops.len()).unwrap_or(i32::MAX);
        insert_ops(&mut tx, fence.run, &plan.ops).await?;
        query(sql!("drafts/delete")).bind(&runs).execute(&mut *tx).await.doing(OPERATION)?;
        query(sql!("runs/set_plan"))
            .bind(fence.run.0)
            .bind(&plan.hash.0)
            .bind(&audit.0)
            .bind(ops_total)
            .bind(Timestamptz::from(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        mark_done(&mut tx, fence, step).await?;
        let row = KhoraRow { plan_hash: Some(&plan.hash), ops_total: Some(ops_total), ..KhoraRow::default() };
        add_skip_reasons(&mut tx, fence.run, &plan.skip_reasons()).await?;
        crate::khora::update(&mut tx, fence.run, at, &row).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn ops(&self, run: RunId, filter: &OpFilter) -> Result<Vec<OpRecord>, StoreError> {
        const OPERATION: &str = "read ops";
        let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("ops/list"))
            .bind(run.0)
            .bind(signed(filter.after_seq))
            .bind(filter.kind.map(OpKind::as_str))
            .bind((!states.is_empty()).then_some(states))
            .bind(i64::from(filter.limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(|row| op_record(run, row)).collect()
    }

    async fn op(&self, op: OpId) -> Result<Option<(RunId, OpRecord)>, StoreError> {
        const OPERATION: &str = "read an op";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("ops/find")).bind(op.0).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        row.map(|row| {
            let run = RunId(get(&row, "run_id")?);
            Ok((run, op_record(run, &row)?))
        })
        .transpose()
    }

    async fn next_stretch(&self, run: RunId, ops_max: u32) -> Result<Option<StretchOps>, StoreError> {
        const OPERATION: &str = "look for the next ops";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("ops/stretch"))
            .bind(run.0)
            .bind(i64::from(ops_max))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        let mut stretch: Option<StretchOps> = None;
        for row in &rows {
            let (seq_from, seq_to) = (number(row, "seq_from")?, number(row, "seq_to")?);
            let left = count(row, "ops_left")?;
            let stretch = stretch.get_or_insert_with(|| StretchOps { seq_from, seq_to, kinds: BTreeMap::new(), left });
            stretch.seq_from = stretch.seq_from.min(seq_from);
            stretch.seq_to = stretch.seq_to.max(seq_to);
            stretch.kinds.insert(word(row, "kind")?, count(row, "count")?);
        }
        Ok(stretch)
    }

    async fn settle_review(&self, run: RunId, reject_all: bool) -> Result<(), StoreError> {
        const OPERATION: &str = "settle the review";
        let mut tx = self.write(OPERATION).await?;
        query(sql!("ops/settle_review")).bind(run.0).bind(reject_all).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn review(&self, run: RunId, seqs: &[u32], accept: bool) -> Result<u32, StoreError> {
        const OPERATION: &str = "record a review";
        let mut tx = self.write(OPERATION).await?;
        let done = query(sql!("ops/review"))
            .bind(run.0)
            .bind(seqs.iter().copied().map(signed).collect::<Vec<_>>())
            .bind(accept)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(done.rows_affected()).unwrap_or(u32::MAX))
    }

    async fn verdicts(&self, namespace: NamespaceId) -> Result<Vec<Verdict>, StoreError> {
        const OPERATION: &str = "read verdicts";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("verdicts/list")).bind(namespace.0).fetch_all(&mut *tx).await.doing(OPERATION)?;
        let verdict = |row: &PgRow| {
            Ok(Verdict { low: fingerprint(row, "low")?, high: fingerprint(row, "high")?, ruling: word(row, "ruling")? })
        };
        rows.iter().map(verdict).collect()
    }

    async fn write_verdicts(&self, namespace: NamespaceId, verdicts: &[Verdict]) -> Result<(), StoreError> {
        const OPERATION: &str = "write verdicts";
        let mut tx = self.write(OPERATION).await?;
        crate::write::verdicts(&mut tx, namespace, verdicts, crate::write::Word::Persons).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn baseline(&self, namespace: NamespaceId, kind: OpKind) -> Result<Option<Baseline>, StoreError> {
        const OPERATION: &str = "read the baseline";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("baselines/find"))
            .bind(namespace.0)
            .bind(kind.as_str())
            .fetch_optional(&mut *tx)
            .await
            .doing(OPERATION)?;
        row.as_ref().map(|row| get(row, "payload")).transpose()
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
        query(sql!("baselines/write"))
            .bind(namespace.0)
            .bind(kind.as_str())
            .bind(run.0)
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
        const OPERATION: &str = "read undo records";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("undo/list"))
            .bind(run.0)
            .bind(signed(after_seq))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(|row| Ok((OpId(get(row, "op_id")?), number(row, "seq")?, undo_record(row)?))).collect()
    }

    async fn touches(&self, row: RowKey, limit: u32) -> Result<Vec<Touch>, StoreError> {
        const OPERATION: &str = "read the history of a row";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("undo/history"))
            .bind(row.table.as_str())
            .bind(row.id)
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        let touch = |row: &PgRow| {
            Ok(Touch {
                run: RunId(get(row, "run_id")?),
                op: OpId(get(row, "op_id")?),
                applied_at: moment(row, "applied_at")?,
                record: undo_record(row)?,
            })
        };
        rows.iter().map(touch).collect()
    }

    async fn built_upon_by(&self, run: RunId, op: Option<OpId>) -> Result<Vec<RunId>, StoreError> {
        const OPERATION: &str = "look for later runs";
        let seq = match op {
            Some(op) => PlanStore::op(self, op).await?.map(|(_, record)| signed(record.op.seq)),
            None => None,
        };
        let mut tx = self.read(OPERATION).await?;
        let rows =
            query(sql!("touched/built_upon_by")).bind(run.0).bind(seq).fetch_all(&mut *tx).await.doing(OPERATION)?;
        rows.iter().map(|row| Ok(RunId(get(row, "run_id")?))).collect()
    }

    async fn answers(&self, questions: &[ContentKey]) -> Result<Vec<(ContentKey, String, Vec<f32>)>, StoreError> {
        const OPERATION: &str = "read answers";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("answers/find"))
            .bind(questions.iter().map(|question| &question.0[..]).collect::<Vec<_>>())
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        let answer = |row: &PgRow| {
            let vector = vector_from_bytes(get(row, "vector")?).ok_or_else(|| unreadable("dream.answer.vector"))?;
            Ok((content_key(row, "question")?, get(row, "model")?, vector))
        };
        rows.iter().map(answer).collect()
    }

    async fn write_answer(&self, question: ContentKey, model: &str, vector: &[f32]) -> Result<(), StoreError> {
        const OPERATION: &str = "keep an answer";
        let mut tx = self.write(OPERATION).await?;
        query(sql!("answers/write"))
            .bind(&question.0[..])
            .bind(model)
            .bind(vector_bytes(vector))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn names(&self, entities: &[Uuid]) -> Result<Vec<(Uuid, String, String)>, StoreError> {
        const OPERATION: &str = "read names";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("entities/names")).bind(entities).fetch_all(&mut *tx).await.doing(OPERATION)?;
        rows.iter().map(|row| Ok((get(row, "id")?, get(row, "name")?, get(row, "entity_type")?))).collect()
    }
}
