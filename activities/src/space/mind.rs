//! The worker's own model: asked within its budget, and asked again where that can help, here and nowhere else.
//!
//! The client makes one call and repeats none, and no failure of a model is one that an engine tries again; so what is repeated
//! is what the loop below repeats. It goes by the account in the store: a process that takes over from one that died goes on
//! counting, and takes in an answer that was paid for and not yet taken in.
//!
//! **Invariant:** a call counts before it is made. Who dies between a provider's last byte and the transaction that keeps the
//! answer has paid for nothing, and pays again; what was reserved for the first call goes on counting.

use std::time::Duration;

use dream_core::budget::{CallOutcome, Usage, tokens_at_most};
use dream_core::digest::Fingerprint;
use dream_core::failure::{Code, Failure};
use dream_core::realm::space::answer::{ANSWER_BYTES_MAX, schema};
use dream_core::realm::space::job::INSTRUCTIONS;
use dream_ports::Mind;
use dream_ports::mind::{CallRecord, MindError, NewCall, Question as MindQuestion, Reply, Reservation, Settlement};
use dream_ports::run::{Fence, RunRecord};
use dream_workflows::contract::Asked;

use super::answer::{ANSWERS_BAD_MAX, Taken, take};
use super::ask::{Question, no_question};
use crate::failure::{ResultExt, defect};
use crate::world::StoreHandle;

/// Calls of one run that may end without an answer. A provider that is briefly busy is back within three; one that is away is
/// asked again tomorrow, as a run that waits for it holds its space.
const TROUBLES_MAX: usize = 3;

/// Turns of the loop: every call that may be bad, every one that may break, and one to take in the answer of each.
const TURNS_MAX: usize = 2 * (ANSWERS_BAD_MAX as usize + TROUBLES_MAX);

/// The first pause before a call is repeated; every further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The longest time for which a provider may ask to be left alone. Who asks for more is asked again tomorrow.
const PAUSE_MAX: Duration = Duration::from_mins(1);

/// How often it is looked whether somebody cancelled the run, while a model thinks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

const SECONDS_PER_DAY: i64 = 86_400;

/// Days after which an answer goes whose run never ended.
const ANSWER_DAYS: i64 = 1;

/// Days for which the account of calls is kept: a month that somebody may have to explain.
const ACCOUNT_DAYS: i64 = 35;

const FORGOTTEN: &str = "something was forgotten while the model was asked, so its answer was not used";

/// A question in the words that a model gets.
struct Wording {
    input: String,
    output_schema: String,
    digest: Fingerprint,
}

impl Wording {
    fn question(&self) -> MindQuestion<'_> {
        MindQuestion { instructions: INSTRUCTIONS, input: &self.input, output_schema: &self.output_schema }
    }

    fn bytes(&self) -> usize {
        INSTRUCTIONS.len() + self.input.len() + self.output_schema.len()
    }
}

/// One run and its model.
struct Asking<'a> {
    mind: &'a dyn Mind,
    handle: &'a StoreHandle,
    record: &'a RunRecord,
    fence: &'a Fence,
}

/// How a turn ended.
enum Turn {
    Done(Asked),
    Again,
}

/// Asks the worker's own model and keeps its answer. A model that cannot be had leaves the run with its housekeeping; one that
/// gives five answers that cannot be used ends it.
pub async fn ask_mind(
    mind: &dyn Mind,
    handle: &StoreHandle,
    record: &RunRecord,
    fence: &Fence,
) -> Result<Asked, Failure> {
    let asking = Asking { mind, handle, record, fence };
    for _turn in 0..TURNS_MAX {
        if let Turn::Done(asked) = asking.turn().await? {
            return Ok(asked);
        }
    }
    asking.without("the model was asked as often as it may be").await
}

/// Deletes answers that are still kept although they are old, and the account of calls of long ago.
pub async fn purge(handle: &StoreHandle) -> Result<u32, Failure> {
    let now = handle.store.now().await.or_fail()?;
    let before = |days: i64| now.plus_seconds(-days * SECONDS_PER_DAY);
    handle.store.purge_calls(before(ANSWER_DAYS), before(ACCOUNT_DAYS)).await.or_fail()
}

impl Asking<'_> {
    /// Takes in the answer that is kept, or makes one call.
    async fn turn(&self) -> Result<Turn, Failure> {
        let Some(wording) = self.wording().await? else { return self.without(FORGOTTEN).await.map(Turn::Done) };
        let store = self.handle.store.as_ref();
        if let Some(kept) = store.kept_answer(self.record.namespace, wording.digest).await.or_fail()? {
            // An earlier attempt paid for it and died before it was taken in.
            store.count_reuse(self.fence, kept.call).await.or_fail()?;
            return self.take_in(kept.call, &kept.text).await;
        }
        let calls = store.calls(self.record.run).await.or_fail()?;
        self.check_bad(&calls)?;
        let troubles = || calls.iter().filter(|call| is_trouble(call.outcome));
        if troubles().count() >= TROUBLES_MAX {
            let last = troubles().next_back().and_then(|call| call.problem.as_deref());
            let reason = last.unwrap_or("the calls of the model did not end");
            return self.without(&format!("{reason}; it was asked {} times", calls.len())).await.map(Turn::Done);
        }
        if self.is_cancelled().await? {
            // Whoever looks next reads the same row and ends the run.
            return Ok(Turn::Done(Asked { is_asked: true, reason: None }));
        }
        self.call(&wording, troubles().count()).await
    }

    async fn wording(&self) -> Result<Option<Wording>, Failure> {
        let store = self.handle.store.as_ref();
        let job = store.job(self.record.run).await.or_fail()?;
        let Some(question) = job.as_ref().map(Question::of).transpose()?.flatten() else { return Ok(None) };
        let input = serde_json::to_string(&question.input).map_err(|_| defect("the question of the run"))?;
        let output_schema = schema().to_string();
        let key = store.text_key().await.or_fail()?;
        let model = self.mind.terms().model.as_str();
        let digest = key.fingerprint(&["mind", model, INSTRUCTIONS, &input, &output_schema]);
        Ok(Some(Wording { input, output_schema, digest }))
    }

    /// Takes an answer in that was paid for.
    async fn take_in(&self, call: u32, text: &str) -> Result<Turn, Failure> {
        match take(self.handle, self.record, text.as_bytes()).await {
            Ok(Taken::Yes) => Ok(Turn::Done(Asked { is_asked: true, reason: None })),
            Ok(Taken::Bad { problem, .. }) => {
                self.handle.store.reject_answer(self.fence, call, &problem).await.or_fail()?;
                tracing::warn!(run.id = %self.record.run, call, "an answer of the model cannot be used: {problem}");
                Ok(Turn::Again)
            }
            // The next turn says so.
            Err(_) if self.wording().await?.is_none() => Ok(Turn::Again),
            Err(failure) => Err(failure),
        }
    }

    /// Ends the run if the model gave as many bad answers as it may.
    fn check_bad(&self, calls: &[CallRecord]) -> Result<(), Failure> {
        let bad: Vec<&CallRecord> = calls.iter().filter(|call| call.outcome == CallOutcome::Bad).collect();
        if bad.len() < ANSWERS_BAD_MAX as usize {
            return Ok(());
        }
        let problem = bad.last().and_then(|call| call.problem.as_deref()).unwrap_or_default();
        let message = format!(
            "{} gave run {} {ANSWERS_BAD_MAX} answers that cannot be used, the last because {problem}",
            self.mind.terms().model,
            self.record.run
        );
        Err(Failure::new(Code::ModelUnfit, message))
    }

    /// Makes one call, counted before and settled after.
    async fn call(&self, wording: &Wording, troubles: usize) -> Result<Turn, Failure> {
        let terms = self.mind.terms();
        let tokens = tokens_at_most(wording.bytes(), terms.output_tokens_max);
        let new = NewCall { model: &terms.model, tokens, budget: &terms.budget };
        let call = match self.handle.store.reserve_call(self.fence, &new).await.or_fail()? {
            Reservation::Granted(call) => call,
            Reservation::Forbidden(limit) => {
                let reason = format!("the budget for {} is spent ({limit})", terms.model);
                return self.without(&reason).await.map(Turn::Done);
            }
        };
        let answered = tokio::select! {
            answered = self.mind.answer(wording.question()) => Some(answered),
            () = self.cancelled() => None,
        };
        match answered {
            Some(Ok(reply)) => self.settle_reply(call, wording, reply).await,
            Some(Err(error)) => self.settle_trouble(call, &error, troubles).await,
            None => {
                let problem = Some("the run was cancelled while the model was asked");
                self.settle(&Settlement { call, outcome: CallOutcome::Unanswered, usage: None, problem, answer: None })
                    .await?;
                Ok(Turn::Again)
            }
        }
    }

    async fn settle_reply(&self, call: u32, wording: &Wording, reply: Reply) -> Result<Turn, Failure> {
        let Reply { text, is_cut, usage } = reply;
        let problem = if is_cut {
            Some(format!("it was cut off after {} tokens", self.mind.terms().output_tokens_max))
        } else if text.len() > ANSWER_BYTES_MAX {
            Some(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"))
        } else {
            None
        };
        let outcome = if problem.is_some() { CallOutcome::Bad } else { CallOutcome::Answered };
        let answer = problem.is_none().then_some((wording.digest, text.as_str()));
        self.settle(&Settlement { call, outcome, usage, problem: problem.as_deref(), answer }).await?;
        match problem {
            Some(problem) => {
                tracing::warn!(run.id = %self.record.run, call, "an answer of the model cannot be used: {problem}");
                Ok(Turn::Again)
            }
            None => self.take_in(call, &text).await,
        }
    }

    async fn settle_trouble(&self, call: u32, error: &MindError, troubles: usize) -> Result<Turn, Failure> {
        let (outcome, usage) = if error.may_have_cost() {
            (CallOutcome::Unanswered, None)
        } else {
            (CallOutcome::Refused, Some(Usage::default()))
        };
        let problem = error.to_string();
        tracing::warn!(run.id = %self.record.run, call, "call {call} of the model failed: {problem}");
        self.settle(&Settlement { call, outcome, usage, problem: Some(&problem), answer: None }).await?;
        let pause = error
            .retry_after()
            .unwrap_or_else(|| PAUSE_MIN * 2_u32.saturating_pow(u32::try_from(troubles).unwrap_or(u32::MAX)));
        if !error.is_transient() {
            return self.without(&problem).await.map(Turn::Done);
        }
        if pause > PAUSE_MAX {
            let reason = format!("{problem} and wants to be left alone for {} s", pause.as_secs());
            return self.without(&reason).await.map(Turn::Done);
        }
        if troubles + 1 < TROUBLES_MAX {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.cancelled() => {}
            }
        }
        Ok(Turn::Again)
    }

    async fn settle(&self, settlement: &Settlement<'_>) -> Result<(), Failure> {
        self.handle.store.settle_call(self.fence, settlement).await.or_fail()
    }

    async fn without(&self, reason: &str) -> Result<Asked, Failure> {
        let reason = format!("{reason}, so there was housekeeping only");
        no_question(self.handle, self.fence, &reason).await
    }

    async fn is_cancelled(&self) -> Result<bool, Failure> {
        let standstill = self.handle.store.standstill(self.record.run, self.record.namespace).await.or_fail()?;
        Ok(standstill.cancel)
    }

    /// Ends once somebody cancelled the run. A look that fails is followed by another.
    async fn cancelled(&self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if self.is_cancelled().await.unwrap_or(false) {
                return;
            }
        }
    }
}

/// Whether a call ended without an answer. One that is still reserved is that of a process which died: no other works on this
/// run.
const fn is_trouble(outcome: CallOutcome) -> bool {
    match outcome {
        CallOutcome::Reserved | CallOutcome::Refused | CallOutcome::Unanswered => true,
        CallOutcome::Answered | CallOutcome::Bad => false,
    }
}
