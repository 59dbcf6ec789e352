//! `dream job` and `dream due`

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use dream_activities::space::due::explain;
use dream_core::id::{NamespaceId, RunId};
use dream_core::realm::space::answer::ANSWER_BYTES_MAX;
use dream_workflows::contract::DueChecked;
use uuid::Uuid;

use super::StoreArg;
use super::run::Engine;
use super::run::space::show_run;
use crate::config::Config;
use crate::exit::{Exit, Fault, OrFile as _};
use crate::face::Face;
use crate::{engine, remote, spaces, term, wiring};

#[derive(Debug, Subcommand)]
pub(crate) enum Job {
    /// Fetches the question of the dream that waits for an answer, as JSON.
    Next(Next),
    /// Hands an answer in, and goes on with the dream.
    Submit(Submit),
}

#[derive(Debug, Args)]
pub(crate) struct Next {
    /// The space.
    #[arg(long)]
    space: Uuid,
    /// Starts a dream first, if the last one started 20 hours ago or more.
    #[arg(long)]
    start_if_due: bool,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct Submit {
    /// The run that asked.
    run: Uuid,
    /// The file that holds the answer; the standard input if it is not said.
    #[arg(long)]
    result: Option<PathBuf>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Job {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        match self {
            Self::Next(next) => {
                let world = Arc::new(wiring::world(config, next.store.name()).await?);
                let store = wiring::store_name(config, next.store.name());
                let face = Face::new(world, store)?;
                let mut job = face.next_job(NamespaceId(next.space), next.start_if_due).await?;
                // This process ends, and the dream that it tells with it: it is waited for.
                face.settled().await;
                if job.retry_after.is_some() {
                    job = face.next_job(NamespaceId(next.space), false).await?;
                }
                term::json(&job)?;
                Ok(if job.job.is_some() { Exit::Done } else { Exit::Nothing })
            }
            Self::Submit(submit) => submit.run(config).await,
        }
    }
}

impl Submit {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let answer = match &self.result {
            Some(path) => std::fs::read(path).or_file(path, "read")?,
            None => read_answer()?,
        };
        let world = Arc::new(wiring::world(config, self.store.name()).await?);
        let store = wiring::store_name(config, self.store.name());
        let run = spaces::submit(&world, store, RunId(self.run), &answer).await?;
        show_run(&run, self.json)?;
        Ok(Exit::Done)
    }
}

/// What comes over the standard input, a byte more than an answer may have at most.
fn read_answer() -> Result<Vec<u8>, Fault> {
    let mut answer = Vec::new();
    let mut input = std::io::stdin().lock().take(ANSWER_BYTES_MAX as u64 + 1);
    input.read_to_end(&mut answer).or_file(&PathBuf::from("the standard input"), "read")?;
    Ok(answer)
}

/// Starts the dreams that are due, for a timer that comes every hour.
#[derive(Debug, Args)]
pub(crate) struct Due {
    /// Says of this space why it did or did not dream last night, and starts nothing.
    #[arg(long, value_name = "SPACE")]
    explain: Option<Uuid>,
    /// Who carries the dreams out: workers of a Temporal server, or this process; a server where `TEMPORAL_ADDRESS` is set.
    #[arg(long)]
    on: Option<Engine>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Due {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let world = Arc::new(wiring::world(config, self.store.name()).await?);
        let store = wiring::store_name(config, self.store.name());
        if let Some(space) = self.explain {
            let explanation = explain(world.store(store)?, NamespaceId(space)).await?;
            if self.json {
                term::json(&explanation)?;
            } else {
                term::line(&explanation.to_string());
            }
            return Ok(Exit::Done);
        }
        if self.on.map_or_else(engine::is_configured, |engine| engine == Engine::Temporal) {
            let checked = remote::check_due(store).await?;
            return self.show_checked(&checked);
        }
        let done = spaces::start_due(&world, store).await?;
        if self.json {
            term::json(&done)?;
        } else {
            term::note(&format!("{} dreams started, {} spaces not due", done.started.len(), done.not_due));
            done.started.iter().for_each(|space| term::line(&space.to_string()));
        }
        for space in &done.unknown_zone {
            report_unknown_zone(&space.to_string());
        }
        for (space, why) in &done.failed {
            report_failure(&space.to_string(), why);
        }
        let is_clean = done.failed.is_empty() && done.unknown_zone.is_empty();
        Ok(exit(is_clean, done.started.is_empty()))
    }

    /// Shows what a check on a Temporal server came to. The dreams that it started come within the hour.
    fn show_checked(&self, checked: &DueChecked) -> Result<Exit, Fault> {
        let DueChecked { started, under_way, waiting, not_due, .. } = checked;
        if self.json {
            term::json(checked)?;
        } else {
            term::note(&format!(
                "{started} dreams started, {under_way} had been started before, {waiting} wait for an answer, {not_due} spaces \
                 not due"
            ));
        }
        for space in &checked.unknown_zones {
            report_unknown_zone(space);
        }
        for failure in &checked.failures {
            report_failure(&failure.space, &failure.reason);
        }
        Ok(exit(checked.unknown_zone + checked.failed == 0, *started == 0))
    }
}

fn report_unknown_zone(space: &str) {
    term::error(&format!("space {space} carries a time zone that nobody knows; it does not dream"));
}

fn report_failure(space: &str, why: &str) {
    term::error(&format!("space {space} could not dream: {why}"));
}

const fn exit(is_clean: bool, is_idle: bool) -> Exit {
    match (is_clean, is_idle) {
        (false, _) => Exit::Failed,
        (true, true) => Exit::Nothing,
        (true, false) => Exit::Done,
    }
}
