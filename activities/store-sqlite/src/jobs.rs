//! What a run over a space leaves besides ops: what it tidied, its rounds, its question and the answers.

use std::collections::BTreeMap;

use dream_core::clock::Moment;
use dream_core::digest::Fingerprint;
use dream_core::id::{NamespaceId, RunId, hex as digits};
use dream_core::op::Op;
use dream_core::run::RunState;
use dream_ports::StoreError;
use dream_ports::plan::Step;
use dream_ports::run::Fence;
use dream_ports::space::{AnswerOutcome, JobRecord, NewAnswer, NewJob, Round, Tidied};
use serde_json::json;
use uuid::Uuid;

use crate::encode::{hex, id_array, spell_moment};
use crate::error::ResultExt;
use crate::leases::{hold, release};
use crate::plans::add_skip_reasons;
use crate::records::{id, maybe, moment, number, read_json, spell_json, text};
use crate::runs::{now, write_state};
use crate::tx::Tx;
use crate::{SqliteStore, sql};

/// The verdicts of answers.
const ACCEPTED: &str = "accepted";
const BAD: &str = "bad";

/// The texts that ops write, as far as they are still there.
pub(crate) async fn texts(tx: &mut Tx, run: RunId, ops: &[Op]) -> Result<BTreeMap<Fingerprint, String>, StoreError> {
    let wanted: Vec<Fingerprint> = ops.iter().filter_map(|op| op.draft.intent.text()).collect();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = sqlx::query(sql!("op_texts/find"))
        .bind(hex(run.0))
        .bind(spell_json(&wanted))
        .fetch_all(&mut **tx)
        .await
        .doing("read what ops write")?;
    rows.iter().map(|row| Ok((fingerprint(&text(row, "digest")?)?, text(row, "body")?))).collect()
}

fn fingerprint(text: &str) -> Result<Fingerprint, StoreError> {
    read_json(&format!("\"{text}\""), "a digest")
}

/// Takes the copies of memories out that a run leaves which is over: question, answers, texts.
pub(crate) async fn clear_copies(tx: &mut Tx, run: RunId) -> Result<(), StoreError> {
    let statements =
        [sql!("jobs/clear"), sql!("job_answers/clear"), sql!("op_texts/delete"), sql!("mind_answers/delete_of_run")];
    for statement in statements {
        sqlx::query(statement).bind(hex(run.0)).execute(&mut **tx).await.doing("clear a question")?;
    }
    Ok(())
}

/// Whether the question of a run stands.
async fn is_question_there(tx: &mut Tx, run: RunId) -> Result<bool, StoreError> {
    let row = sqlx::query(sql!("jobs/find"))
        .bind(hex(run.0))
        .fetch_optional(&mut **tx)
        .await
        .doing("look for the question")?;
    Ok(row.map(|row| maybe(&row, "body")).transpose()?.flatten().is_some())
}

/// How many of these facts are there.
async fn count_facts(tx: &mut Tx, space: NamespaceId, facts: &[Uuid]) -> Result<usize, StoreError> {
    let row = sqlx::query(sql!("facts/count"))
        .bind(hex(space.0))
        .bind(id_array(facts))
        .fetch_one(&mut **tx)
        .await
        .doing("look for the facts of a question")?;
    Ok(number(&row, "facts")? as usize)
}

async fn step_summary(tx: &mut Tx, run: RunId, name: &str) -> Result<Option<String>, StoreError> {
    let row = sqlx::query(sql!("steps/find"))
        .bind(hex(run.0))
        .bind(name)
        .fetch_optional(&mut **tx)
        .await
        .doing("look whether a step is done")?;
    row.map(|row| text(&row, "summary")).transpose()
}

impl SqliteStore {
    pub(crate) async fn tidy_once(&self, fence: &Fence, name: &str, as_of: Moment) -> Result<Tidied, StoreError> {
        const OPERATION: &str = "tidy actions and values";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        if let Some(summary) = step_summary(&mut tx, fence.run, name).await? {
            return read_json(&summary, "dream_step.summary");
        }
        let mut counts = [0, 0];
        for (count, statement) in counts.iter_mut().zip([sql!("actions/expire"), sql!("key_values/delete_expired")]) {
            let done = sqlx::query(statement)
                .bind(hex(fence.namespace.0))
                .bind(spell_moment(as_of))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
            *count = u32::try_from(done.rows_affected()).unwrap_or(u32::MAX);
        }
        let [actions_expired, key_values_deleted] = counts;
        let tidied = Tidied { actions_expired, key_values_deleted };
        self.mark_done(&mut tx, fence, &Step { name: name.to_owned(), summary: spell_json(&tidied) }).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(tidied)
    }

    pub(crate) async fn seal_behind(&self, fence: &Fence, round: &Round<'_>) -> Result<bool, StoreError> {
        const OPERATION: &str = "write the plan of a round";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        if step_summary(&mut tx, fence.run, &round.step.name).await?.is_some() {
            return Ok(true);
        }
        if round.is_answer && !is_question_there(&mut tx, fence.run).await? {
            return Ok(false);
        }
        let run = hex(fence.run.0);
        self.insert_ops(&mut tx, fence.run, &round.plan.ops).await?;
        let bodies: Vec<_> =
            round.texts.iter().map(|(digest, body)| json!({ "digest": digest, "body": body })).collect();
        sqlx::query(sql!("op_texts/insert"))
            .bind(&run)
            .bind(spell_json(&bodies))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        sqlx::query(sql!("runs/append_round"))
            .bind(&run)
            .bind(&round.run_hash.0)
            .bind(i64::try_from(round.plan.ops.len()).unwrap_or(i64::MAX))
            .bind(spell_moment(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        add_skip_reasons(&mut tx, fence.run, round.skip_reasons).await?;
        self.mark_done(&mut tx, fence, round.step).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(true)
    }

    pub(crate) async fn write_job(&self, fence: &Fence, job: &NewJob<'_>) -> Result<bool, StoreError> {
        const OPERATION: &str = "write the question";
        let mut tx = self.write(OPERATION).await?;
        let at = hold(&mut tx, fence).await?;
        if count_facts(&mut tx, fence.namespace, job.facts).await? < job.facts.len() {
            return Ok(false);
        }
        sqlx::query(sql!("jobs/insert"))
            .bind(hex(fence.run.0))
            .bind(job.body)
            .bind(spell_moment(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        if job.waits_for_client {
            write_state(&mut tx, fence, RunState::AwaitingClient, Some("answer"), None, at).await?;
            release(&mut tx, fence.realm, fence.namespace, fence.run, Some(fence.epoch)).await?;
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(true)
    }

    pub(crate) async fn find_job(&self, run: RunId) -> Result<Option<JobRecord>, StoreError> {
        let row = sqlx::query(sql!("jobs/find"))
            .bind(hex(run.0))
            .fetch_optional(&self.reader)
            .await
            .doing("read the question")?;
        row.map(|row| {
            Ok(JobRecord {
                run: RunId(id(&row, "run_id")?),
                space: NamespaceId(id(&row, "namespace_id")?),
                body: maybe(&row, "body")?,
                asked_at: moment(&row, "asked_at")?,
                answers_bad: number(&row, "answers_bad")?,
                accepted: maybe(&row, "accepted")?.map(|digest| fingerprint(&digest)).transpose()?,
                answer: maybe(&row, "answer")?,
            })
        })
        .transpose()
    }

    pub(crate) async fn take_answer(&self, run: RunId, answer: &NewAnswer<'_>) -> Result<AnswerOutcome, StoreError> {
        const OPERATION: &str = "take an answer";
        let mut tx = self.write(OPERATION).await?;
        let digest = digits(&answer.digest.0);
        let at = spell_moment(now(&mut tx).await?);
        let taken = sqlx::query(sql!("job_answers/insert"))
            .bind(hex(run.0))
            .bind(&digest)
            .bind(if answer.body.is_some() { ACCEPTED } else { BAD })
            .bind(answer.problem)
            .bind(answer.body)
            .bind(at)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        let standing = sqlx::query(sql!("job_answers/find"))
            .bind(hex(run.0))
            .bind(&digest)
            .fetch_optional(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        let Some(standing) = standing else {
            let has_other = self.find_job(run).await?.is_some_and(|job| job.accepted.is_some());
            return Ok(if has_other { AnswerOutcome::OtherAccepted } else { AnswerOutcome::NotWaiting });
        };
        if text(&standing, "verdict")? == BAD {
            return Ok(AnswerOutcome::Bad { answers_bad: number(&standing, "answers_bad")? });
        }
        let is_new = taken.rows_affected() > 0;
        Ok(if is_new { AnswerOutcome::Accepted } else { AnswerOutcome::AlreadyAccepted })
    }
}
