//! The question as its faces hand it out, and the answer as they take it in.
//!
//! **Invariant:** an answer counts only through its row, which is checked and written in one statement. Telling the story on
//! afterwards is the engine's; who submits the same answer again gets the same report.

use dream_core::failure::{Code, Failure};
use dream_core::id::{NamespaceId, RunId};
use dream_core::realm::space::answer::{ANSWER_BYTES_MAX, Answer, parse, schema};
use dream_core::realm::space::fact::DreamMode;
use dream_core::realm::space::job::INSTRUCTIONS;
use dream_core::realm::space::report::SpaceRun;
use dream_core::run::{Realm, RunState};
use dream_ports::run::{Closing, RunFilter, RunRecord};
use dream_ports::space::{AnswerOutcome, NewAnswer};
use serde::Serialize;

use super::ask::Question;
use super::begin::mind_of;
use super::report::space_run;
use crate::failure::{ResultExt, defect};
use crate::world::StoreHandle;

/// Answers that cannot be used, after which a run is given up. The public description of a client's part allows four slips.
pub const ANSWERS_BAD_MAX: u32 = 5;

/// A job, as a client gets it.
#[derive(Clone, Serialize)]
pub struct JobFace {
    /// The run that asks; the answer names it.
    pub run_id: RunId,
    /// What to do: a system prompt.
    pub instructions: &'static str,
    /// What to do it with: a user's message, as JSON.
    pub input: serde_json::Value,
    /// The shape of the answer.
    pub output_schema: serde_json::Value,
}

/// What became of a submitted answer.
#[derive(Clone, Debug)]
pub enum Submitted {
    /// It stands, and the run goes on with it.
    Taken(Box<RunRecord>),
    /// It stood, and the run is over.
    Over(Box<SpaceRun>),
}

/// Runs that one space may have open. There is one that waits, and at most one that works.
const OPEN_RUNS_MAX: u32 = 10;

/// The job that a space waits with, if it does.
pub async fn waiting_job(handle: &StoreHandle, space: NamespaceId) -> Result<Option<JobFace>, Failure> {
    let filter = RunFilter { namespace: Some(space), open_only: true, limit: OPEN_RUNS_MAX };
    for record in handle.store.runs(&filter).await.or_fail()? {
        if record.realm != Realm::Space || record.state != RunState::AwaitingClient {
            continue;
        }
        let Some(job) = handle.store.job(record.run).await.or_fail()? else { continue };
        if job.accepted.is_some() {
            continue;
        }
        if let Some(question) = Question::of(&job)? {
            let input = serde_json::to_value(&question.input).map_err(|_| defect("the question of the run"))?;
            return Ok(Some(JobFace {
                run_id: record.run,
                instructions: INSTRUCTIONS,
                input,
                output_schema: schema(),
            }));
        }
    }
    Ok(None)
}

/// Takes an answer in.
pub async fn submit(handle: &StoreHandle, run: RunId, answer: &[u8]) -> Result<Submitted, Failure> {
    let record = handle.store.run(run).await.or_fail()?;
    if record.realm != Realm::Space || mind_of(&record)? != DreamMode::Client {
        return Err(Failure::new(Code::WrongState, format!("run {run} asks no client")));
    }
    match take(handle, &record, answer).await? {
        Taken::Yes if record.finished_at.is_some() => Ok(Submitted::Over(Box::new(space_run(handle, run).await?))),
        Taken::Yes => Ok(Submitted::Taken(Box::new(record))),
        Taken::Bad { answers_bad, problem } => {
            let message = format!("{problem}; this is bad answer {answers_bad} of {ANSWERS_BAD_MAX}");
            if answers_bad < ANSWERS_BAD_MAX {
                return Err(Failure::new(Code::BadAnswer, message));
            }
            give_up(handle, run).await?;
            Err(Failure::new(Code::BadAnswer, format!("{message}, and run {run} has failed")))
        }
    }
}

/// Closes a run that nobody answers well.
async fn give_up(handle: &StoreHandle, run: RunId) -> Result<(), Failure> {
    let closing = Closing { error_code: Some(Code::BadAnswer.name().to_owned()) };
    handle.store.close(run, RunState::Failed, &closing).await.or_fail()
}

/// What became of an answer.
pub(super) enum Taken {
    /// It stands.
    Yes,
    /// It cannot be used.
    Bad {
        /// Answers to this question that cannot be used, each counted once.
        answers_bad: u32,
        /// Where it broke; no memory text.
        problem: String,
    },
}

/// Takes an answer in, whoever gave it.
pub(super) async fn take(handle: &StoreHandle, record: &RunRecord, answer: &[u8]) -> Result<Taken, Failure> {
    let key = handle.store.text_key().await.or_fail()?;
    let parsed: Result<(Answer, String), String> = parse(answer, ANSWER_BYTES_MAX)
        .map_err(|broken| broken.to_string())
        .and_then(|answer| match serde_json::to_string(&answer) {
            Ok(body) => Ok((answer, body)),
            Err(_) => Err("the answer cannot be kept".to_owned()),
        });
    let taken = match &parsed {
        Ok((answer, body)) => NewAnswer { digest: answer.fingerprint(&key), body: Some(body), problem: None },
        Err(problem) => NewAnswer {
            digest: key.fingerprint(&["bad_answer", &String::from_utf8_lossy(answer)]),
            body: None,
            problem: Some(problem),
        },
    };
    let run = record.run;
    match handle.store.answer_job(run, &taken).await.or_fail()? {
        AnswerOutcome::Accepted | AnswerOutcome::AlreadyAccepted => Ok(Taken::Yes),
        AnswerOutcome::Bad { answers_bad } => Ok(Taken::Bad { answers_bad, problem: parsed.err().unwrap_or_default() }),
        AnswerOutcome::OtherAccepted => {
            Err(Failure::new(Code::WrongState, format!("run {run} has taken another answer")))
        }
        AnswerOutcome::NotWaiting => {
            Err(Failure::new(Code::WrongState, format!("run {run} does not wait for an answer")))
        }
    }
}
