//! `dream run space`

use std::sync::Arc;

use clap::Args;
use dream_activities::space::report::space_run;
use dream_core::id::{NamespaceId, RunId};
use dream_core::realm::space::fact::DreamMode;
use dream_core::realm::space::report::SpaceRun;
use dream_core::run::{DreamInput, Mode, Trigger};
use uuid::Uuid;

use super::super::StoreArg;
use super::Engine;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::outcome::Outcome;
use crate::spaces::{Told, tell};
use crate::{engine, remote, term, wiring};

#[derive(Debug, Args)]
pub(crate) struct Space {
    /// The space.
    #[arg(long)]
    space: Uuid,
    /// Whose model consolidates: the agent's own (client), the worker's (server), or nobody's (off: housekeeping only); the
    /// space's own mode if it is not said.
    #[arg(long)]
    mode: Option<DreamMode>,
    /// Plans the housekeeping and carries nothing out.
    #[arg(long)]
    dry_run: bool,
    /// Goes on with this run where it stopped.
    #[arg(long)]
    resume: Option<Uuid>,
    /// Closes this run first, which is stuck or waits; what it did stays and can be undone.
    #[arg(long)]
    abandon: Option<Uuid>,
    /// The id of the run; made if it is not said.
    #[arg(long, hide = true)]
    run_id: Option<Uuid>,
    /// Says that a timer starts this run.
    #[arg(long)]
    scheduled: bool,
    /// Who runs it: a Temporal server, or this process; a server where `TEMPORAL_ADDRESS` is set.
    #[arg(long)]
    on: Option<Engine>,
    /// The workflow's id on a Temporal server.
    #[arg(long)]
    workflow_id: Option<String>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Space {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let input = self.input(config);
        let run = input.resume_from.or(input.run_id).unwrap_or_default();
        let name = wiring::store_name(config, self.store.name());
        let world = Arc::new(wiring::world(config, self.store.name()).await?);
        if self.on.map_or_else(engine::is_configured, |engine| engine == Engine::Temporal) {
            let id = self.workflow_id.clone().unwrap_or_else(|| format!("dream/space/{}/{run}", self.space));
            let bar = term::bar();
            let outcome = remote::run(input, &id, &bar).await;
            bar.finish_and_clear();
            if let Outcome::Unreported(how) = outcome? {
                term::note(&how);
                return Ok(Exit::Unfinished);
            }
        } else if let Told::Over(reported) = tell(world.clone(), input).await? {
            show_run(&space_run(world.store(name)?, RunId(run)).await?, self.json)?;
            return Ok(Exit::of(reported.state));
        }
        let run = space_run(world.store(name)?, RunId(run)).await?;
        show_run(&run, self.json)?;
        if run.status != "awaiting_client" {
            return Ok(Exit::of(world.store(name)?.store.run(run.run_id).await?.state));
        }
        let hints = self.store.hints(config);
        let space = NamespaceId(self.space);
        term::note(&format!("fetch the job:     {}", hints.command(&format!("job next --space {space}"))));
        term::note(&format!(
            "hand in an answer: {}",
            hints.command(&format!("job submit {} --result FILE", run.run_id))
        ));
        Ok(Exit::Waiting)
    }

    fn input(&self, config: &Config) -> DreamInput {
        let mut input = DreamInput::of_space(self.space.to_string());
        wiring::store_name(config, self.store.name()).clone_into(&mut input.store);
        input.mind = self.mode;
        input.mode = self.dry_run.then_some(Mode::DryRun);
        input.resume_from = self.resume;
        input.abandon = self.abandon;
        input.run_id = Some(self.run_id.unwrap_or_else(Uuid::now_v7));
        input.trigger = if self.scheduled { Trigger::Schedule } else { Trigger::Manual };
        input
    }
}

/// Shows a run over a space with its report.
pub(crate) fn show_run(run: &SpaceRun, json: bool) -> Result<(), Fault> {
    if json {
        return term::json(run);
    }
    let report = &run.report;
    let tidied = &report.housekeeping;
    term::line(&format!("run {} is {}", run.run_id, run.status));
    term::line(&format!(
        "housekeeping: {} expired, {} stale, {} duplicates; {} actions expired, {} values deleted",
        tidied.expired, tidied.stale, tidied.duplicates, tidied.actions_expired, tidied.key_values_deleted
    ));
    term::line(&format!(
        "consolidation: {} merges, {} updates, {} contradictions, {} proposals",
        report.merges, report.updates, report.contradictions, report.proposals
    ));
    for skipped in &report.skipped {
        let facts: Vec<String> = skipped.facts.iter().map(Uuid::to_string).collect();
        term::line(&format!("skipped: {}: {} {}", skipped.what, skipped.reason, facts.join(" ")));
    }
    if let Some(model) = &report.model {
        term::line(&format!("model: {model}"));
    }
    report.notes.iter().for_each(|note| term::line(&format!("note: {note}")));
    if let Some(failure) = &run.failure {
        term::line(&format!("failed: {failure}"));
    }
    Ok(())
}
