//! `dream undo`

use clap::Args;
use dream_activities::undo;
use dream_workflows::contract::{UndoInput, Undone};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{term, wiring};

#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Undo {
    /// Takes all ops of this run back, newest first.
    #[arg(long, required_unless_present = "op", conflicts_with = "op")]
    run: Option<Uuid>,
    /// Takes this op back, and those of its run that depend on it.
    #[arg(long)]
    op: Option<Uuid>,
    /// Changes nothing; lists the fields that were changed since.
    #[arg(long)]
    dry_run: bool,
    /// Puts old content back also where somebody changed it since.
    #[arg(long)]
    overwrite: bool,
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
        };
        let undone = undo::undo(&world, input).await?;
        if self.json {
            term::json(&undone)?;
        } else {
            say(&undone, self.dry_run, self.overwrite);
        }
        Ok(if undone.undone == 0 { Exit::Nothing } else { Exit::Done })
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
