//! `dream report` and `dream diff`

use std::collections::BTreeMap;

use clap::Args;
use dream_activities::space::report::space_run;
use dream_activities::{report, sink};
use dream_core::change::{Column, Row, RowKey};
use dream_core::id::RunId;
use dream_core::report::table::diff_rows;
use dream_core::run::{Realm, RunState};
use dream_core::undo::UndoRecord;
use uuid::Uuid;

use super::StoreArg;
use super::names::{Names, print};
use super::run::space::show_run;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{term, wiring};

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The run.
    run: Uuid,
    /// Writes the files of the report again.
    #[arg(long)]
    write: bool,
    /// Answers as JSON: the run, its counts and where its report lies.
    #[arg(long, conflicts_with = "write")]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Report {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let world = wiring::world(config, self.store.name()).await?;
        let name = wiring::store_name(config, self.store.name());
        let handle = world.store(name)?;
        let run = RunId(self.run);
        let record = handle.store.run(run).await?;
        if record.realm == Realm::Space {
            show_run(&space_run(handle, run).await?, self.json)?;
            return Ok(Exit::Done);
        }
        if self.write {
            report::write_files(&world, handle, name, run).await?;
            let path = handle.store.run(run).await?.report_path.unwrap_or_else(|| "the file sink is off".to_owned());
            term::note(&format!("report: {path}"));
        }
        if self.json {
            let counts = handle.store.counts(run).await?;
            term::json(&serde_json::json!({ "run": record, "ops": counts }))?;
            return Ok(Exit::Done);
        }
        term::line(sink::file::page(handle, name, &record).await?.trim_end());
        Ok(Exit::Done)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The run.
    run: Uuid,
    /// How many ops.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Only ops after this place.
    #[arg(long, default_value_t = 0)]
    after: u32,
    /// Answers as JSON: the undo records.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Diff {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let records = store.undo_records(RunId(self.run), self.after, self.limit).await?;
        if self.json {
            let records: Vec<_> = records
                .iter()
                .map(|(op, seq, record)| serde_json::json!({ "op_id": op, "seq": seq, "record": record }))
                .collect();
            term::json(&records)?;
            return Ok(if records.is_empty() { Exit::Nothing } else { Exit::Done });
        }
        if records.is_empty() {
            term::note(&format!("run {} changed nothing here", self.run));
            return Ok(Exit::Nothing);
        }
        if matches!(store.run(RunId(self.run)).await?.state, RunState::Undone | RunState::PartlyUndone) {
            term::note("this run was taken back; what stands in its fields now is not what it wrote");
        }
        let records: Vec<UndoRecord> = records.into_iter().map(|(_, _, record)| record).collect();
        let keys: Vec<RowKey> = records.iter().flat_map(UndoRecord::keys).collect();
        let mut rows: BTreeMap<RowKey, Row> = BTreeMap::new();
        for key in &keys {
            if !rows.contains_key(key)
                && let Some(row) = store.row(*key).await?
            {
                rows.insert(*key, row);
            }
        }
        let names = Names::of(store.as_ref(), keys.iter().map(|key| key.id).collect()).await?;
        let current = |key: RowKey, column: Column| rows.get(&key).map(|row| row.get(column).clone());
        print(&names.show(|lens| diff_rows(&records, &current, lens)));
        Ok(Exit::Done)
    }
}
