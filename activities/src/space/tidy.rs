//! Housekeeping: the round of a run that needs no model.

use dream_core::change::Table;
use dream_core::failure::Failure;
use dream_core::plan::{rounds_hash, seal_round};
use dream_core::realm::space::draft::of_chores;
use dream_core::realm::space::housekeeping::chores;
use dream_ports::plan::Step;
use dream_ports::space::Round;
use dream_workflows::contract::{RunRef, Sealed};
use serde::{Deserialize, Serialize};

use super::{rows, step};
use crate::failure::{ResultExt, defect};
use crate::lease::while_renewing;
use crate::seal::sealed;
use crate::world::World;

/// The first place of a plan.
const SEQ_FIRST: u32 = 1;

/// What the step of a round says.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RoundSummary {
    /// The hash of its plan.
    pub hash: String,
    /// Its ops.
    pub ops: usize,
}

/// Expires actions and values, and plans and seals what housekeeping does to facts.
pub async fn tidy(world: &World, run: RunRef) -> Result<Sealed, Failure> {
    let (handle, record, _) = world.load(&run).await?;
    let store = handle.store.as_ref();
    let fence = store.fence(record.run, &world.holder).await.or_fail()?;
    while_renewing(store, &fence, async {
        let steps = store.steps(record.run).await.or_fail()?;
        if !steps.iter().any(|step| step.name == step::HOUSEKEEPING) {
            if record.mode.may_write() {
                store.tidy(&fence, step::TIDY, record.as_of).await.or_fail()?;
            }
            let rows = rows::all(store, record.namespace, Table::Facts).await?;
            let facts = rows::facts(&rows)?;
            let key = store.text_key().await.or_fail()?;
            let drafted = of_chores(&chores(&facts, record.as_of), &rows, &key);
            let plan = seal_round(record.run, SEQ_FIRST, drafted.drafts);
            let summary = RoundSummary { hash: plan.hash.0.clone(), ops: plan.ops.len() };
            let summary = serde_json::to_string(&summary).map_err(|_| defect("a step"))?;
            let round = Round {
                plan: &plan,
                run_hash: &rounds_hash([&plan.hash]),
                step: &Step { name: step::HOUSEKEEPING.to_owned(), summary },
                texts: &[],
                skip_reasons: &[],
                is_answer: false,
            };
            store.append_round(&fence, &round).await.or_fail()?;
        }
        sealed(handle, record.run).await?.ok_or_else(|| defect("the plan of the run"))
    })
    .await
}
