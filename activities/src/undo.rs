//! Undo: ops are taken back newest first, dependents before what they depend on.
//!
//! An op of a later run that builds on the same rows stands in the way and is named; nothing is taken back under it.

use std::collections::BTreeSet;

use dream_core::failure::{Code, Failure};
use dream_core::id::{ContentKey, OpId, RunId};
use dream_core::op::OpState;
use dream_core::run::Realm;
use dream_core::undo::OnChanged;
use dream_ports::apply::UndoRequest;
use dream_ports::mirror::{OutboxFilter, OutboxState};
use dream_ports::plan::OpFilter;
use dream_workflows::contract::{ChangedCell, UndoInput, Undone};

use crate::failure::ResultExt;
use crate::lease::while_renewing;
use crate::world::{StoreHandle, World};

/// Ops that one transaction takes back.
const OPS_PER_GROUP: usize = 100;

/// Changed cells that an answer lists; an answer is part of a workflow's history.
const CHANGED_LISTED_MAX: usize = 200;

/// Ops of a run that are read at once.
const OPS_PER_PAGE: u32 = 5_000;

/// Takes a run or one of its ops back.
pub async fn undo(world: &World, input: UndoInput) -> Result<Undone, Failure> {
    let handle = world.store(&input.store)?;
    let (run, op) = target(handle, &input).await?;
    let record = handle.store.run(run).await.or_fail()?;
    let record = crate::space::undo::make_ready(handle, record, input.dry_run).await?;
    let is_of_space = record.realm == Realm::Space;
    let overwrite = if is_of_space { !input.keep } else { input.overwrite };
    if record.finished_at.is_none() {
        return Err(Failure::new(Code::WrongState, format!("run {run} is not over; cancel it first")));
    }
    // What a later dream over a space changed again is listed as everything else that was changed since.
    let later = if is_of_space { Vec::new() } else { handle.store.built_upon_by(run, op).await.or_fail()? };
    if !later.is_empty() {
        let later: Vec<String> = later.iter().map(ToString::to_string).collect();
        return Err(Failure::new(
            Code::BuiltUpon,
            format!("run {} builds on what should be taken back", later.join(", ")),
        ));
    }
    if !input.without_graph {
        check_graph(handle, run).await?;
    }
    let ops = ops_newest_first(handle, run, op).await?;
    let fence = handle
        .store
        .fence_for_undo(run, &world.holder)
        .await
        .map_err(|_| Failure::new(Code::Locked, format!("somebody works on the namespace of run {run}")))?;
    let mut undone = Undone { run_id: run.to_string(), has_graph: handle.graph.is_some(), ..Undone::default() };
    let work = while_renewing(handle.store.as_ref(), &fence, async {
        for ops in ops.chunks(OPS_PER_GROUP) {
            let request = UndoRequest {
                run,
                ops: ops.to_vec(),
                on_changed: if overwrite { OnChanged::Overwrite } else { OnChanged::Keep },
                dry_run: input.dry_run,
                has_graph: handle.graph.is_some(),
            };
            let outcome = handle.store.undo_group(&fence, &request).await.or_fail()?;
            undone.undone += outcome.undone;
            undone.nothing += outcome.nothing;
            for (op, changed) in outcome.changed {
                if undone.changed.len() == CHANGED_LISTED_MAX {
                    undone.changed_unlisted += 1;
                    continue;
                }
                undone.changed.push(ChangedCell {
                    op_id: op.to_string(),
                    table: changed.key.table.to_string(),
                    row: changed.key.id.to_string(),
                    column: changed.column.map(|column| column.to_string()),
                });
            }
        }
        Ok(())
    });
    let worked = work.await;
    handle.store.end_undo(&fence).await.or_fail()?;
    worked?;
    Ok(undone)
}

/// What a graph was told of must be taken back there too: an undo that only the tables see leaves it half done for good.
async fn check_graph(handle: &StoreHandle, run: RunId) -> Result<(), Failure> {
    if handle.graph.is_some() {
        return Ok(());
    }
    let states = vec![OutboxState::Open, OutboxState::Parked, OutboxState::Done];
    let told = OutboxFilter { run: Some(run), states, limit: 1, ..OutboxFilter::default() };
    if handle.store.outbox(&told).await.or_fail()?.is_empty() {
        return Ok(());
    }
    let message = format!(
        "run {run} changed a graph database too, and none is configured here: set graph_url, or DREAM_GRAPH; \
         if that graph is gone for good, --without-graph takes back the rest"
    );
    Err(Failure::new(Code::Configuration, message))
}

async fn target(handle: &StoreHandle, input: &UndoInput) -> Result<(RunId, Option<OpId>), Failure> {
    let wrong = |field: &str| Failure::new(Code::InvalidInput, format!("{field}: expected a UUID"));
    match (&input.run_id, &input.op_id) {
        (Some(run), None) => Ok((run.parse().map_err(|_| wrong("run_id"))?, None)),
        (None, Some(op)) => {
            let op: OpId = op.parse().map_err(|_| wrong("op_id"))?;
            let found = handle.store.op(op).await.or_fail()?;
            let (run, _) = found.ok_or_else(|| Failure::new(Code::NoRun, format!("no op has the id {op}")))?;
            Ok((run, Some(op)))
        }
        _ => Err(Failure::new(Code::InvalidInput, "name either run_id or op_id")),
    }
}

/// The applied ops to take back, newest first: all of a run, or one with those of its run that depend on it.
async fn ops_newest_first(handle: &StoreHandle, run: RunId, op: Option<OpId>) -> Result<Vec<OpId>, Failure> {
    let mut ops = Vec::new();
    let mut after_seq = 0;
    loop {
        let filter = OpFilter {
            after_seq,
            limit: OPS_PER_PAGE,
            states: vec![OpState::Applied, OpState::Undone],
            ..OpFilter::default()
        };
        let page = handle.store.ops(run, &filter).await.or_fail()?;
        let Some(last) = page.last() else { break };
        after_seq = last.op.seq;
        ops.extend(page.into_iter().map(|record| (record.op.id, record.op.content, record.op.draft.depends_on)));
    }
    if let Some(op) = op {
        let mut taken: BTreeSet<ContentKey> = BTreeSet::new();
        // Dependents stand behind what they depend on, so one pass finds them all.
        ops.retain(|(id, content, depends_on)| {
            let is_taken = *id == op || depends_on.iter().any(|parent| taken.contains(parent));
            if is_taken {
                taken.insert(*content);
            }
            is_taken
        });
    }
    Ok(ops.into_iter().rev().map(|(id, _, _)| id).collect())
}
