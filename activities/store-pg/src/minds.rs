//! The account of the calls of a model: reserved before they are made, settled afterwards; and the answers that are kept.

use async_trait::async_trait;
use dream_core::budget::{CallOutcome, Spending, Usage, day_of};
use dream_core::clock::Moment;
use dream_core::digest::Fingerprint;
use dream_core::id::{NamespaceId, RunId};
use dream_ports::mind::{CallRecord, KeptAnswer, NewCall, Reservation, Settlement};
use dream_ports::run::Fence;
use dream_ports::{MindStore, StoreError};
use sqlx::postgres::PgRow;

use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::leases::hold;
use crate::records::{count, get, number, signed, word};
use crate::{PgStore, query, sql};

fn tokens(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn large(row: &PgRow, column: &str) -> Result<u64, StoreError> {
    Ok(u64::try_from(get::<i64>(row, column)?).unwrap_or_default())
}

fn spending(row: &PgRow) -> Result<Spending, StoreError> {
    Ok(Spending { calls: count(row, "calls")?, tokens: large(row, "tokens")? })
}

fn call_record(row: &PgRow) -> Result<CallRecord, StoreError> {
    let is_known = get::<Option<i64>>(row, "tokens_input")?.is_some();
    let usage = || Ok(Usage { input: large(row, "tokens_input")?, output: large(row, "tokens_output")? });
    Ok(CallRecord {
        call: number(row, "call")?,
        model: get(row, "model")?,
        outcome: word(row, "outcome")?,
        tokens_reserved: large(row, "tokens_reserved")?,
        usage: is_known.then(usage).transpose()?,
        times_reused: number(row, "times_reused")?,
        problem: get(row, "problem")?,
    })
}

#[async_trait]
impl MindStore for PgStore {
    async fn reserve_call(&self, fence: &Fence, call: &NewCall<'_>) -> Result<Reservation, StoreError> {
        const OPERATION: &str = "reserve a call of the model";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        let (run, space, day) = (fence.run.0, fence.namespace.0, day_of(at));
        let of_run = query(sql!("mind_calls/spent_of_run")).bind(run).fetch_one(&mut *tx).await.doing(OPERATION)?;
        let of_day =
            query(sql!("mind_calls/spent_of_day")).bind(space).bind(day).fetch_one(&mut *tx).await.doing(OPERATION)?;
        if let Some(limit) = call.budget.forbids(spending(&of_run)?, spending(&of_day)?, call.tokens) {
            return Ok(Reservation::Forbidden(limit));
        }
        let row = query(sql!("mind_calls/insert"))
            .bind(run)
            .bind(space)
            .bind(day)
            .bind(call.model.to_owned())
            .bind(CallOutcome::Reserved.as_str())
            .bind(tokens(call.tokens))
            .bind(Timestamptz::from(at))
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
        query(sql!("mind_calls/settle"))
            .bind(fence.run.0)
            .bind(signed(settlement.call))
            .bind(settlement.outcome.as_str())
            .bind(settlement.usage.map(|usage| tokens(usage.input)))
            .bind(settlement.usage.map(|usage| tokens(usage.output)))
            .bind(settlement.problem.map(str::to_owned))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        if let Some((question, body)) = settlement.answer {
            query(sql!("mind_answers/insert"))
                .bind(fence.namespace.0)
                .bind(question.0.to_vec())
                .bind(fence.run.0)
                .bind(signed(settlement.call))
                .bind(body.to_owned())
                .bind(Timestamptz::from(at))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)
    }

    async fn kept_answer(&self, space: NamespaceId, question: Fingerprint) -> Result<Option<KeptAnswer>, StoreError> {
        const OPERATION: &str = "look for an answer that is kept";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("mind_answers/find"))
            .bind(space.0)
            .bind(question.0.to_vec())
            .fetch_optional(&mut *tx)
            .await
            .doing(OPERATION)?;
        row.map(|row| Ok(KeptAnswer { call: number(&row, "call")?, text: get(&row, "body")? })).transpose()
    }

    async fn count_reuse(&self, fence: &Fence, call: u32) -> Result<(), StoreError> {
        const OPERATION: &str = "count that an answer is used again";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        query(sql!("mind_calls/reuse"))
            .bind(fence.run.0)
            .bind(signed(call))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn reject_answer(&self, fence: &Fence, call: u32, problem: &str) -> Result<(), StoreError> {
        const OPERATION: &str = "let an answer go that cannot be used";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        query(sql!("mind_calls/reject"))
            .bind(fence.run.0)
            .bind(signed(call))
            .bind(CallOutcome::Bad.as_str())
            .bind(problem.to_owned())
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        query(sql!("mind_answers/delete_of_call"))
            .bind(fence.run.0)
            .bind(signed(call))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    async fn calls(&self, run: RunId) -> Result<Vec<CallRecord>, StoreError> {
        const OPERATION: &str = "read the calls of a run";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("mind_calls/list")).bind(run.0).fetch_all(&mut *tx).await.doing(OPERATION)?;
        rows.iter().map(call_record).collect()
    }

    async fn purge_calls(&self, answers_before: Moment, calls_before: Moment) -> Result<u32, StoreError> {
        const OPERATION: &str = "purge calls of the model";
        let mut tx = self.write(OPERATION).await?;
        let mut gone = 0;
        for (statement, before) in
            [(sql!("mind_answers/purge"), answers_before), (sql!("mind_calls/purge"), calls_before)]
        {
            let done = query(statement).bind(Timestamptz::from(before)).execute(&mut *tx).await.doing(OPERATION)?;
            gone += done.rows_affected();
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(gone).unwrap_or(u32::MAX))
    }
}
