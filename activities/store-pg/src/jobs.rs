//! What a run over a space leaves besides ops: what it tidied, its rounds, its question and the answers.

use std::collections::BTreeMap;

use dream_core::clock::Moment;
use dream_core::digest::Fingerprint;
use dream_core::id::{NamespaceId, RunId};
use dream_core::op::Op;
use dream_core::run::RunState;
use dream_ports::StoreError;
use dream_ports::plan::Step;
use dream_ports::run::Fence;
use dream_ports::space::{AnswerOutcome, JobRecord, NewAnswer, NewJob, Round, Tidied};
use uuid::Uuid;

use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::leases::{hold, release};
use crate::plans::{add_skip_reasons, insert_ops, mark_done};
use crate::records::{count, fingerprint, get, moment, read_json, spell_json};
use crate::runs::write_state;
use crate::tx::Tx;
use crate::{PgStore, query, sql};

/// The verdicts of answers.
const ACCEPTED: &str = "accepted";
const BAD: &str = "bad";

/// The texts that ops write, as far as they are still there.
pub(crate) async fn texts(tx: &mut Tx, run: RunId, ops: &[Op]) -> Result<BTreeMap<Fingerprint, String>, StoreError> {
    let wanted: Vec<Vec<u8>> =
        ops.iter().filter_map(|op| op.draft.intent.text()).map(|digest| digest.0.to_vec()).collect();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = query(sql!("op_texts/find"))
        .bind(run.0)
        .bind(wanted)
        .fetch_all(&mut **tx)
        .await
        .doing("read what ops write")?;
    rows.iter().map(|row| Ok((fingerprint(row, "digest")?, get(row, "body")?))).collect()
}

/// Takes the copies of memories out that a run leaves which is over: question, answers, texts.
pub(crate) async fn clear_copies(tx: &mut Tx, run: RunId) -> Result<(), StoreError> {
    let statements =
        [sql!("jobs/clear"), sql!("job_answers/clear"), sql!("op_texts/delete"), sql!("mind_answers/delete_of_run")];
    for statement in statements {
        query(statement).bind(run.0).execute(&mut **tx).await.doing("clear a question")?;
    }
    Ok(())
}

/// Whether the question of a run stands. The lease is held, and whoever forgets waits for it.
async fn is_question_there(tx: &mut Tx, run: RunId) -> Result<bool, StoreError> {
    let row = query(sql!("jobs/find")).bind(run.0).fetch_optional(&mut **tx).await.doing("look for the question")?;
    Ok(row.map(|row| get::<Option<String>>(&row, "body")).transpose()?.flatten().is_some())
}

/// How many of these facts are there.
async fn count_facts(tx: &mut Tx, space: NamespaceId, facts: &[Uuid]) -> Result<usize, StoreError> {
    let row = query(sql!("facts/count"))
        .bind(space.0)
        .bind(facts.to_vec())
        .fetch_one(&mut **tx)
        .await
        .doing("look for the facts of a question")?;
    Ok(count(&row, "facts")? as usize)
}

async fn step_summary(tx: &mut Tx, run: RunId, name: &str) -> Result<Option<String>, StoreError> {
    let row = query(sql!("steps/find"))
        .bind(run.0)
        .bind(name.to_owned())
        .fetch_optional(&mut **tx)
        .await
        .doing("look whether a step is done")?;
    row.map(|row| get(&row, "summary")).transpose()
}

impl PgStore {
    pub(crate) async fn tidy_once(&self, fence: &Fence, name: &str, as_of: Moment) -> Result<Tidied, StoreError> {
        const OPERATION: &str = "tidy actions and values";
        let mut tx = self.write(OPERATION).await?;
        hold(&mut tx, fence).await?;
        if let Some(summary) = step_summary(&mut tx, fence.run, name).await? {
            return read_json(&summary, "dream.step.summary");
        }
        let mut counts = [0, 0];
        for (count, statement) in counts.iter_mut().zip([sql!("actions/expire"), sql!("key_values/delete_expired")]) {
            let done = query(statement)
                .bind(fence.namespace.0)
                .bind(Timestamptz::from(as_of))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
            *count = u32::try_from(done.rows_affected()).unwrap_or(u32::MAX);
        }
        let [actions_expired, key_values_deleted] = counts;
        let tidied = Tidied { actions_expired, key_values_deleted };
        mark_done(&mut tx, fence, &Step { name: name.to_owned(), summary: spell_json(&tidied) }).await?;
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
        insert_ops(&mut tx, fence.run, &round.plan.ops).await?;
        query(sql!("op_texts/insert"))
            .bind(fence.run.0)
            .bind(round.texts.iter().map(|(digest, _)| digest.0.to_vec()).collect::<Vec<_>>())
            .bind(round.texts.iter().map(|(_, body)| body.clone()).collect::<Vec<_>>())
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        query(sql!("runs/append_round"))
            .bind(fence.run.0)
            .bind(round.run_hash.0.clone())
            .bind(i32::try_from(round.plan.ops.len()).unwrap_or(i32::MAX))
            .bind(Timestamptz::from(at))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        add_skip_reasons(&mut tx, fence.run, round.skip_reasons).await?;
        mark_done(&mut tx, fence, round.step).await?;
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
        query(sql!("jobs/insert"))
            .bind(fence.run.0)
            .bind(job.body.to_owned())
            .bind(Timestamptz::from(at))
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
        const OPERATION: &str = "read the question";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("jobs/find")).bind(run.0).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        row.map(|row| {
            let is_accepted = get::<Option<Vec<u8>>>(&row, "accepted")?.is_some();
            Ok(JobRecord {
                run: RunId(get(&row, "run_id")?),
                space: NamespaceId(get::<Uuid>(&row, "namespace_id")?),
                body: get(&row, "body")?,
                asked_at: moment(&row, "asked_at")?,
                answers_bad: count(&row, "answers_bad")?,
                accepted: is_accepted.then(|| fingerprint(&row, "accepted")).transpose()?,
                answer: get(&row, "answer")?,
            })
        })
        .transpose()
    }

    pub(crate) async fn take_answer(&self, run: RunId, answer: &NewAnswer<'_>) -> Result<AnswerOutcome, StoreError> {
        const OPERATION: &str = "take an answer";
        let mut tx = self.write(OPERATION).await?;
        let taken = query(sql!("job_answers/insert"))
            .bind(run.0)
            .bind(answer.digest.0.to_vec())
            .bind(if answer.body.is_some() { ACCEPTED } else { BAD })
            .bind(answer.problem.map(str::to_owned))
            .bind(answer.body.map(str::to_owned))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        let standing = query(sql!("job_answers/find"))
            .bind(run.0)
            .bind(answer.digest.0.to_vec())
            .fetch_optional(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        let Some(standing) = standing else {
            let has_other = self.find_job(run).await?.is_some_and(|job| job.accepted.is_some());
            return Ok(if has_other { AnswerOutcome::OtherAccepted } else { AnswerOutcome::NotWaiting });
        };
        if get::<String>(&standing, "verdict")? == BAD {
            return Ok(AnswerOutcome::Bad { answers_bad: count(&standing, "answers_bad")? });
        }
        let is_new = taken.rows_affected() > 0;
        Ok(if is_new { AnswerOutcome::Accepted } else { AnswerOutcome::AlreadyAccepted })
    }
}
