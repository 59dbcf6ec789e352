//! `dream review`, `dream approve`, `dream reject`: a person's word on a plan, as a whole or op by op.

use clap::Args;
use dream_activities::facts;
use dream_core::failure::Code;
use dream_core::id::RunId;
use dream_core::op::{OpKind, OpState};
use dream_core::plan::PlanHash;
use dream_core::report::{OpFacts, table, words};
use dream_ports::Store;
use dream_ports::plan::OpFilter;
use dream_ports::run::{Request, RequestKind, RunRecord};
use serde_json::json;
use uuid::Uuid;

use super::control::make;
use super::names::Names;
use super::{StoreArg, plan};
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::requests::UNNAMED;
use crate::term;

#[derive(Debug, Args)]
pub(crate) struct Review {
    /// The run; one that waits for a review.
    run: Uuid,
    /// Accepts these ops, by their places and separated by commas.
    #[arg(long, value_delimiter = ',')]
    accept: Vec<u32>,
    /// Rejects these ops, by their places and separated by commas; what is rejected is not proposed again.
    #[arg(long, value_delimiter = ',')]
    reject: Vec<u32>,
    /// Accepts every op of this kind, by wire name.
    #[arg(long)]
    accept_kind: Option<OpKind>,
    /// Rejects every op of this kind, by wire name.
    #[arg(long)]
    reject_kind: Option<OpKind>,
    /// How many ops are shown.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Only ops after this place are shown.
    #[arg(long, default_value_t = 0)]
    after: u32,
    /// Answers as JSON: how many ops were marked, or the ops with their evidence.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

/// Ops read at once.
const OPS_PER_PAGE: u32 = 5_000;

impl Review {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let run = RunId(self.run);
        let record = store.run(run).await?;
        let (mut asked, mut marked) = (0, 0);
        let words = [(&self.accept, self.accept_kind, true), (&self.reject, self.reject_kind, false)];
        for (typed, kind, accept) in words {
            let mut wanted = typed.clone();
            if let Some(kind) = kind {
                wanted.extend(places(store.as_ref(), run, kind).await?);
            }
            wanted.sort_unstable();
            wanted.dedup();
            asked += wanted.len();
            if !wanted.is_empty() {
                marked += store.review(run, &wanted, accept).await?;
            }
        }
        let is_asked = asked > 0 || self.accept_kind.is_some() || self.reject_kind.is_some();
        if !is_asked {
            return self.show(store.as_ref(), &record).await;
        }
        if marked == 0 {
            let message = format!("run {run} is {}; nothing of its plan that is named can be reviewed", record.state);
            return Err(Fault::new(Code::WrongState, message));
        }
        if self.json {
            term::json(&json!({ "run_id": run, "asked": asked, "marked": marked }))?;
        }
        let left = asked.saturating_sub(usize::try_from(marked).unwrap_or(usize::MAX));
        if left > 0 {
            term::note(&format!("{left} places are none of an op that waits to be carried out"));
        }
        let approve = self.store.hints(config).command(&format!("approve {run}"));
        term::note(&format!("{marked} ops of run {run} marked; `{approve}` carries out what is not rejected"));
        Ok(if left > 0 { Exit::PartlyDone } else { Exit::Done })
    }

    async fn show(&self, store: &dyn Store, record: &RunRecord) -> Result<Exit, Fault> {
        let filter =
            OpFilter { after_seq: self.after, limit: self.limit, states: vec![OpState::Sealed], ..OpFilter::default() };
        let ops = store.ops(record.run, &filter).await?;
        if self.json {
            let listed: Vec<_> = ops.iter().map(plan::op_json).collect();
            term::json(&json!({
                "run_id": record.run,
                "state": record.state,
                "plan_hash": record.plan_hash,
                "ops_total": record.ops_total,
                "ops": listed,
            }))?;
            return Ok(if ops.is_empty() { Exit::Nothing } else { Exit::Done });
        }
        let ops = ops.into_iter().map(|op| facts::one(op, None)).collect::<Result<Vec<_>, _>>()?;
        let names = Names::of(store, ops.iter().flat_map(OpFacts::entities).collect()).await?;
        for op in &ops {
            let word = match op.accepted {
                None => "",
                Some(true) => " · accepted",
                Some(false) => " · rejected",
            };
            let what = names.show(|lens| table::what(op, lens));
            term::line(&format!("{} · {} · {what}{word}", op.op.seq, op.op.draft.kind.title()));
            term::line(&format!("    rule: {}", words::rule(&op.op.draft.rule)));
            let weighed = words::evidence(&op.op.draft.evidence, None);
            weighed.speaks_for.iter().for_each(|text| term::line(&format!("    + {text}")));
            weighed.speaks_against.iter().for_each(|text| term::line(&format!("    - {text}")));
        }
        let hash = record.plan_hash.as_ref().map_or("none", |hash| hash.0.as_str());
        term::note(&format!("run {} is {}, plan {hash}, {} ops", record.run, record.state, record.ops_total));
        Ok(if ops.is_empty() { Exit::Nothing } else { Exit::Done })
    }
}

async fn places(store: &dyn Store, run: RunId, kind: OpKind) -> Result<Vec<u32>, Fault> {
    let mut places = Vec::new();
    let mut after_seq = 0;
    loop {
        let filter = OpFilter { after_seq, limit: OPS_PER_PAGE, kind: Some(kind), states: vec![OpState::Sealed] };
        let ops = store.ops(run, &filter).await?;
        let Some(last) = ops.last() else { return Ok(places) };
        after_seq = last.op.seq;
        places.extend(ops.iter().map(|record| record.op.seq));
    }
}

/// A word on the whole plan.
#[derive(Debug, Args)]
pub(crate) struct Word {
    /// The run.
    run: Uuid,
    /// The plan that is meant; the run's own if it is not said.
    #[arg(long)]
    plan_hash: Option<String>,
    /// Who says it; the login name if it is not said.
    #[arg(long, env = "USER")]
    by: Option<String>,
    #[command(flatten)]
    store: StoreArg,
}

impl Word {
    async fn say(self, config: &Config, kind: RequestKind) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let record = store.run(RunId(self.run)).await?;
        let request = Request {
            run: record.run,
            kind,
            by: self.by.unwrap_or_else(|| UNNAMED.to_owned()),
            plan_hash: self.plan_hash.map(PlanHash).or(record.plan_hash.clone()),
        };
        make(store.as_ref(), &request, self.store.hints(config)).await
    }
}

#[derive(Debug, Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    word: Word,
}

#[derive(Debug, Args)]
pub(crate) struct Reject {
    #[command(flatten)]
    word: Word,
}

impl Approve {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        self.word.say(config, RequestKind::Approve).await
    }
}

impl Reject {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        self.word.say(config, RequestKind::Reject).await
    }
}
