//! `dream undo`

use clap::{ArgGroup, Args};
use dream_activities::{World, mirror, undo};
use dream_workflows::contract::{RunRef, UndoInput, Undone};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{term, wiring};

#[derive(Debug, Args)]
#[group(skip)]
#[command(group = ArgGroup::new("what").required(true))]
pub(crate) struct Undo {
    /// Takes all ops of this run back, newest first.
    #[arg(long, group = "what")]
    run: Option<Uuid>,
    /// Takes this op back, and those of its run that depend on it.
    #[arg(long, group = "what")]
    op: Option<Uuid>,
    /// Changes nothing; lists the fields that were changed since.
    #[arg(long)]
    dry_run: bool,
    /// Puts old content back also where somebody changed it since.
    #[arg(long)]
    overwrite: bool,
    /// Takes back what a graph database was told of although none is configured: for one that is gone for good.
    #[arg(long)]
    without_graph: bool,
    /// Leaves what somebody changed since, of a run over a space too, where old content is put back otherwise.
    #[arg(long, conflicts_with = "overwrite")]
    keep: bool,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Undo {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let world = wiring::world(config, self.store.name()).await?;
        let input = UndoInput {
            store: wiring::store_name(config, self.store.name()).to_owned(),
            run_id: self.run.map(|id| id.to_string()),
            op_id: self.op.map(|id| id.to_string()),
            dry_run: self.dry_run,
            overwrite: self.overwrite,
            without_graph: self.without_graph,
            keep: self.keep,
        };
        let undone = undo::undo(&world, input.clone()).await?;
        // An undo that was killed may have left rows though nothing is left to take back.
        let owed = if undone.has_graph && !self.dry_run {
            tell_graph(&world, RunRef { store: input.store, run_id: undone.run_id.clone() }).await
        } else {
            0
        };
        if self.json {
            term::json(&undone)?;
        } else {
            say(&undone, self.dry_run, self.overwrite);
        }
        Ok(match (undone.undone, owed) {
            (0, 0) => Exit::Nothing,
            (0, _) => Exit::Unfinished,
            _ => Exit::Done,
        })
    }
}

/// Tells the graph database; answers what it is owed still. That is left to the reconciler, and takes nothing back of the undo.
async fn tell_graph(world: &World, run: RunRef) -> u64 {
    let mut missing = 0;
    loop {
        match mirror::mirror(world, run.clone()).await {
            Ok(mirrored) => {
                missing += mirrored.missing;
                if mirrored.is_more {
                    continue;
                }
                if missing > 0 {
                    term::note(&format!(
                        "{missing} ops missed a node or an edge in the graph database, and put back what they could; \
                         `dream verify mirror` shows how the two differ"
                    ));
                }
                let left = mirrored.left + mirrored.parked;
                if left > 0 {
                    term::note(&format!(
                        "the graph database was not told of {left} ops yet; `dream reconcile` tells it"
                    ));
                }
                return left;
            }
            Err(failure) => {
                term::error(&failure.to_string());
                return 1;
            }
        }
    }
}

fn say(undone: &Undone, dry_run: bool, overwrite: bool) {
    let verb = if dry_run { "would be taken back" } else { "taken back" };
    let nothing = match undone.nothing {
        0 => String::new(),
        ops => format!("; of {ops} more nothing was left to take back"),
    };
    term::note(&format!("{} ops {verb}{nothing}", undone.undone));
    if undone.changed.is_empty() {
        return;
    }
    let fate = if overwrite { "overwritten" } else { "left as they are" };
    term::note(&format!("fields that were changed since, {fate}:"));
    let rows: Vec<Vec<String>> = undone
        .changed
        .iter()
        .map(|cell| {
            let column = cell.column.clone().unwrap_or_else(|| "the whole row".to_owned());
            vec![cell.op_id.clone(), cell.table.clone(), cell.row.clone(), column]
        })
        .collect();
    term::table(&["op", "table", "row", "column"], &rows);
    if undone.changed_unlisted > 0 {
        term::note(&format!("and {} more", undone.changed_unlisted));
    }
}
