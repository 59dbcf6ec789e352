//! The report of a run over a space: a fold over its ops and its steps, made when somebody asks for it.

use dream_core::budget::{CallOutcome, Usage};
use dream_core::failure::{Code, Failure};
use dream_core::id::{NamespaceId, RunId};
use dream_core::realm::space::fact::DreamMode;
use dream_core::realm::space::report::{ModelUse, SpaceReport, SpaceRun, status};
use dream_core::run::Realm;
use dream_ports::mind::CallRecord;
use dream_ports::plan::OpFilter;
use dream_ports::run::{RunFilter, RunRecord};
use dream_ports::space::Tidied;
use serde::Deserialize;

use super::begin::mind_of;
use super::judge::Consolidation;
use super::step;
use crate::failure::ResultExt;
use crate::world::StoreHandle;

/// Ops read at once.
const OPS_PER_PAGE: u32 = 1_000;

/// Why there was no question, as a step says it.
#[derive(Default, Deserialize)]
struct NoQuestion {
    reason: String,
}

/// A run over a space with its report.
pub async fn space_run(handle: &StoreHandle, run: RunId) -> Result<SpaceRun, Failure> {
    let record = handle.store.run(run).await.or_fail()?;
    if record.realm != Realm::Space {
        return Err(Failure::new(Code::WrongState, format!("run {run} is no run over a space")));
    }
    of_record(handle, record).await
}

/// Runs over a space, newest first.
pub async fn space_runs(handle: &StoreHandle, space: NamespaceId, limit: u32) -> Result<Vec<SpaceRun>, Failure> {
    let filter = RunFilter { namespace: Some(space), limit, ..RunFilter::default() };
    let mut runs = Vec::new();
    for record in handle.store.runs(&filter).await.or_fail()? {
        runs.push(of_record(handle, record).await?);
    }
    Ok(runs)
}

async fn of_record(handle: &StoreHandle, record: RunRecord) -> Result<SpaceRun, Failure> {
    let mut report = SpaceReport::default();
    for step in handle.store.steps(record.run).await.or_fail()? {
        match step.name.as_str() {
            step::TIDY => {
                let tidied: Tidied = serde_json::from_str(&step.summary).unwrap_or_default();
                report.housekeeping.actions_expired = tidied.actions_expired;
                report.housekeeping.key_values_deleted = tidied.key_values_deleted;
            }
            step::NO_QUESTION => {
                let none: NoQuestion = serde_json::from_str(&step.summary).unwrap_or_default();
                report.notes.push(none.reason);
            }
            step::CONSOLIDATION => {
                let said: Consolidation = serde_json::from_str(&step.summary).unwrap_or_default();
                said.tell(&mut report);
            }
            _ => {}
        }
    }
    if mind_of(&record)? == DreamMode::Server {
        tell_calls(&handle.store.calls(record.run).await.or_fail()?, &mut report);
    }
    let mut after_seq = 0;
    loop {
        let filter = OpFilter { after_seq, limit: OPS_PER_PAGE, ..OpFilter::default() };
        let ops = handle.store.ops(record.run, &filter).await.or_fail()?;
        let Some(last) = ops.last() else { break };
        after_seq = last.op.seq;
        ops.iter().for_each(|op| report.feed(&op.op));
    }
    Ok(SpaceRun {
        run_id: record.run,
        space_id: record.namespace.0,
        status: status(record.state).to_owned(),
        started_at: record.started_at,
        ended_at: record.finished_at,
        failure: record.error_code,
        report,
    })
}

/// Tells a report what the worker's own model took, and which of its answers came to nothing.
fn tell_calls(calls: &[CallRecord], report: &mut SpaceReport) {
    let Some(last) = calls.last() else { return };
    let mut taken = ModelUse { model: last.model.clone(), ..ModelUse::default() };
    for call in calls {
        taken.calls += 1;
        taken.reused += call.times_reused;
        match call.usage {
            Some(Usage { input, output }) => {
                taken.tokens_input += input;
                taken.tokens_output += output;
            }
            None => taken.tokens_reserved += call.tokens_reserved,
        }
        let problem = call.problem.as_deref().unwrap_or("nobody saw its end");
        match call.outcome {
            CallOutcome::Answered => {}
            CallOutcome::Bad => report.notes.push(format!("answer {} could not be used: {problem}", call.call)),
            CallOutcome::Reserved | CallOutcome::Refused | CallOutcome::Unanswered => {
                report.notes.push(format!("call {} had no answer: {problem}", call.call));
            }
        }
    }
    report.model = Some(taken);
}
