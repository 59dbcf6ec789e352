//! The account of the calls of a model: reserved before they are made, settled afterwards; and the answers that are kept.

use async_trait::async_trait;
use dream_core::budget::{CallOutcome, Spending, Usage, day_of};
use dream_core::clock::Moment;
use dream_core::digest::Fingerprint;
use dream_core::id::{NamespaceId, RunId, hex as digits};
use dream_ports::mind::{CallRecord, KeptAnswer, NewCall, Reservation, Settlement};
use dream_ports::run::Fence;
use dream_ports::{MindStore, StoreError};
use sqlx::sqlite::SqliteRow;

use crate::encode::{hex, spell_moment};
use crate::error::ResultExt;
use crate::leases::hold;
use crate::records::{get, maybe, number, text, word};
use crate::{SqliteStore, sql};

fn tokens(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn count(row: &SqliteRow, column: &str) -> Result<u64, StoreError> {
    Ok(u64::try_from(get::<i64>(row, column)?).unwrap_or_default())
}

fn spending(row: &SqliteRow) -> Result<Spending, StoreError> {
    Ok(Spending { calls: number(row, "calls")?, tokens: count(row, "tokens")? })
}

fn call_record(row: &SqliteRow) -> Result<CallRecord, StoreError> {
    let is_known = get::<Option<i64>>(row, "tokens_input")?.is_some();
    let usage = || Ok(Usage { input: count(row, "tokens_input")?, output: count(row, "tokens_output")? });
    Ok(CallRecord {
        call: number(row, "call")?,
        model: text(row, "model")?,
        outcome: word(row, "outcome")?,
        tokens_reserved: count(row, "tokens_reserved")?,
        usage: is_known.then(usage).transpose()?,
        times_reused: number(row, "times_reused")?,
        problem: maybe(row, "problem")?,
    })
}

#[async_trait]
impl MindStore for SqliteStore {
    async fn reserve_call(&self, fence: &Fence, call: &NewCall<'_>) -> Result<Reservation, StoreError> {
        const OPERATION: &str = "reserve a call of the model";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        let (run, space, day) = (hex(fence.run.0), hex(fence.namespace.0), day_of(at));
        let of_run =
            sqlx::query(sql!("mind_calls/spent_of_run")).bind(&run).fetch_one(&mut *tx).await.doing(OPERATION)?;
        let of_day = sqlx::query(sql!("mind_calls/spent_of_day"))
            .bind(&space)
            .bind(day)
            .fetch_one(&mut *tx)
            .await
            .doing(OPERATION)?;
        if let Some(limit) = call.budget.forbids(spending(&of_run)?, spending(&of_day)?, call.tokens) {
            return Ok(Reservation::Forbidden(limit));
        }
        let row = sqlx::query(sql!("mind_calls/insert"))
            .bind(&run)
            .bind(&space)
            .bind(day)
            .bind(call.model)
            .bind(CallOutcome::Reserved.as_str())
            .bind(tokens(call.tokens))
            .bind(spell_moment(at))
            .fetch_one(&mut *tx)
            .await
            .doing(OPERATION)?;
        let granted = number(&row, "call")?;
        tx.commit().await.doing(OPERATION)?;
        Ok(Reservation::Granted(granted))
    }

    async fn settle_call(&self, fence: &Fence, settlement: &Settlement<'_>) -> Result<(), StoreError> {
        const OPERATION: &str = "settle a call of the model";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        let run = hex(fence.run.0);
        sqlx::query(sql!("mind_calls/settle"))
            .bind(&run)
            .bind(settlement.call)
            .bind(settlement.outcome.as_str())
            .bind(settlement.usage.map(|usage| tokens(usage.input)))
            .bind(settlement.usage.map(|usage| tokens(usage.output)))
            .bind(settlement.problem)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        if let Some((question, body)) = settlement.answer {
            sqlx::query(sql!("mind_answers/insert"))
                .bind(hex(fence.namespace.0))
                .bind(digits(&question.0))
                .bind(&run)
                .bind(settlement.call)
                .bind(body)
                .bind(spell_moment(at))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)
    }

    async fn kept_answer(&self, space: NamespaceId, question: Fingerprint) -> Result<Option<KeptAnswer>, StoreError> {
        let row = sqlx::query(sql!("mind_answers/find"))
            .bind(hex(space.0))
            .bind(digits(&question.0))
            .fetch_optional(&self.reader)
            .await
            .doing("look for an answer that is kept")?;
        row.map(|row| Ok(KeptAnswer { call: number(&row, "call")?, text: text(&row, "body")? })).transpose()
    }

    async fn count_reuse(&self, fence: &Fence, call: u32) -> Result<(), StoreError> {
        const OPERATION: &str = "count that an answer is used again";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        sqlx::query(sql!("mind_calls/reuse"))
            .bind(hex(fence.run.0))
            .bind(call)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn reject_answer(&self, fence: &Fence, call: u32, problem: &str) -> Result<(), StoreError> {
        const OPERATION: &str = "let an answer go that cannot be used";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        let run = hex(fence.run.0);
        sqlx::query(sql!("mind_calls/reject"))
            .bind(&run)
            .bind(call)
            .bind(CallOutcome::Bad.as_str())
            .bind(problem)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        sqlx::query(sql!("mind_answers/delete_of_call"))
            .bind(&run)
            .bind(call)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn calls(&self, run: RunId) -> Result<Vec<CallRecord>, StoreError> {
        let rows = sqlx::query(sql!("mind_calls/list"))
            .bind(hex(run.0))
            .fetch_all(&self.reader)
            .await
            .doing("read the calls of a run")?;
        rows.iter().map(call_record).collect()
    }

    async fn purge_calls(&self, answers_before: Moment, calls_before: Moment) -> Result<u32, StoreError> {
        const OPERATION: &str = "purge calls of the model";
        let mut tx = self.write(OPERATION).await?;
        let mut gone = 0;
        for (statement, before) in
            [(sql!("mind_answers/purge"), answers_before), (sql!("mind_calls/purge"), calls_before)]
        {
            let done = sqlx::query(statement).bind(spell_moment(before)).execute(&mut *tx).await.doing(OPERATION)?;
            gone += done.rows_affected();
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(gone).unwrap_or(u32::MAX))
    }
}
