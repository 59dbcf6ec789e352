//! Judging an answer: what is admitted of it becomes the second round of the run.

use dream_core::change::Table;
use dream_core::failure::Failure;
use dream_core::plan::{PlanHash, rounds_hash, seal_round};
use dream_core::realm::space::answer::Answer;
use dream_core::realm::space::changes::Judged as Verdict;
use dream_core::realm::space::draft::{Judgement, of_judged};
use dream_core::realm::space::judge::{Recorded, World as Against, judge as judge_answer};
use dream_core::realm::space::report::{Skipped, SpaceReport};
use dream_core::realm::space::rules::Listed;
use dream_ports::StoreError;
use dream_ports::plan::Step;
use dream_ports::run::{Fence, RunRecord};
use dream_ports::space::Round;
use dream_workflows::contract::{Halt, Judged, RunRef, Sealed};
use serde::{Deserialize, Serialize};

use super::ask::Question;
use super::tidy::RoundSummary;
use super::{rows, step};
use crate::failure::{ResultExt, defect};
use crate::lease::while_renewing;
use crate::seal::sealed;
use crate::world::{StoreHandle, World};

/// What the step of the second round says.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Consolidation {
    /// The hash of its plan.
    pub hash: String,
    /// Its ops.
    pub ops: usize,
    /// What was not done as it was suggested.
    pub listed: Vec<Listed>,
    /// Lines that were too many to list.
    pub unlisted: u32,
    /// Whether the profile was cut.
    pub profile_cut: bool,
    /// Facts that the question had no room for.
    pub facts_left_out: usize,
}

impl Consolidation {
    /// Tells a report what the judging came to.
    pub fn tell(self, report: &mut SpaceReport) {
        report.skipped.extend(self.listed.into_iter().map(|listed| Skipped {
            what: listed.item.to_string(),
            reason: format!("{}: {}", listed.rule, listed.rule.sentence()),
            facts: listed.facts,
        }));
        if self.unlisted > 0 {
            report.notes.push(format!("{} more suggestions were not done, too many to list", self.unlisted));
        }
        if self.profile_cut {
            report.notes.push("the profile was longer than 1,500 characters and was cut".to_owned());
        }
        if self.facts_left_out > 0 {
            report.notes.push(format!("the question had no room for {} facts", self.facts_left_out));
        }
    }
}

/// Judges the answer of a run and seals what came of it.
pub async fn judge(world: &World, run: RunRef) -> Result<Judged, Failure> {
    let (handle, record, _) = world.load(&run).await?;
    let fence = match handle.store.fence(record.run, &world.holder).await {
        Ok(fence) => fence,
        Err(StoreError::LeaseLost { .. }) if record.finished_at.is_none() => {
            let by = "somebody else".to_owned();
            return Ok(Judged { sealed: None, halt: Some(Halt::TargetBusy { by }) });
        }
        Err(StoreError::LeaseLost { .. }) => return Ok(Judged::default()),
        Err(error) => return Err::<_, StoreError>(error).or_fail(),
    };
    let sealed = while_renewing(handle.store.as_ref(), &fence, seal(handle, &record, &fence)).await?;
    Ok(Judged { sealed, halt: None })
}

/// Seals the second round; none if the answer was forgotten.
async fn seal(handle: &StoreHandle, record: &RunRecord, fence: &Fence) -> Result<Option<Sealed>, Failure> {
    let store = handle.store.as_ref();
    let steps = store.steps(record.run).await.or_fail()?;
    if steps.iter().any(|step| step.name == step::CONSOLIDATION) {
        return sealed(handle, record.run).await;
    }
    let housekeeping = steps.iter().find(|step| step.name == step::HOUSEKEEPING);
    let housekeeping: RoundSummary = housekeeping
        .and_then(|step| serde_json::from_str(&step.summary).ok())
        .ok_or_else(|| defect("the housekeeping of the run"))?;
    let Some(job) = store.job(record.run).await.or_fail()? else { return Ok(None) };
    let (Some(question), Some(body)) = (Question::of(&job)?, &job.answer) else { return Ok(None) };
    let answer: Answer = serde_json::from_str(body).map_err(|_| defect("the answer of the run"))?;
    let key = store.text_key().await.or_fail()?;
    let facts = rows::facts(&rows::all(store, record.namespace, Table::Facts).await?)?;
    let recorded = Recorded::of(&rows::all(store, record.namespace, Table::Records).await?, &key);
    let against = Against { ticket: &question.ticket, facts: &facts, recorded: &recorded, key: &key };
    let judged = judge_answer(&answer, against);
    let judgement = Judgement { run: record.run, space: record.namespace, answer: &answer, judged: &judged, key: &key };
    let drafted = of_judged(judgement);
    let seq_from = u32::try_from(housekeeping.ops).unwrap_or(u32::MAX).saturating_add(1);
    let plan = seal_round(record.run, seq_from, drafted.drafts);
    let summary = summary(&plan.hash, plan.ops.len(), judged, &question)?;
    let round = Round {
        plan: &plan,
        run_hash: &rounds_hash([&PlanHash(housekeeping.hash), &plan.hash]),
        step: &Step { name: step::CONSOLIDATION.to_owned(), summary },
        texts: &drafted.texts,
        skip_reasons: &[],
        is_answer: true,
    };
    if !store.append_round(fence, &round).await.or_fail()? {
        return Ok(None);
    }
    sealed(handle, record.run).await
}

fn summary(hash: &PlanHash, ops: usize, judged: Verdict, question: &Question) -> Result<String, Failure> {
    let consolidation = Consolidation {
        hash: hash.0.clone(),
        ops,
        listed: judged.listed,
        unlisted: judged.unlisted,
        profile_cut: judged.profile_cut,
        facts_left_out: question.left_out.facts,
    };
    serde_json::to_string(&consolidation).map_err(|_| defect("a step"))
}
