//! The command line: one command, one file. The doc comments are the manual.

mod bench;
mod config;
mod control;
mod demo;
mod doctor;
mod eval;
mod export;
mod facts;
mod hint;
mod history;
mod import;
mod job;
mod mcp;
mod migrate;
mod mirror;
mod names;
mod plan;
mod report;
mod review;
mod run;
mod serve;
mod show;
mod skips;
mod spaces;
mod sweep;
mod undo;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use dream_ports::Store;

use crate::config::{Config, Otlp};
use crate::exit::{Exit, Fault};
use crate::telemetry::Export;
use crate::wiring;

use hint::Hints;

/// The slow pass at night over what agents remembered by day: it audits, plans consolidation, applies it with undo, and
/// reports.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Configuration file; `dream.toml` in the current folder if there is one.
    #[arg(long, global = true, env = "DREAM_CONFIG")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows what a dream does, on a sample made for it.
    Demo(demo::Demo),
    /// Dreams over a namespace, or over a space.
    #[command(subcommand)]
    Run(run::Run),
    /// Shows the sealed plan of a run.
    Plan(plan::Plan),
    /// Lists runs, newest first.
    History(history::History),
    /// Says where a run stands.
    Status(history::Status),
    /// Takes a run, or one op of it, back.
    Undo(undo::Undo),
    /// Shows the report of a run.
    Report(report::Report),
    /// Shows what a run changed, cell by cell.
    Diff(report::Diff),
    /// Shows a row, now or as it was.
    #[command(subcommand)]
    Show(show::Show),
    /// Shows a plan that waits for a review with its evidence, and takes a word on single ops.
    Review(review::Review),
    /// Lets a reviewed plan be carried out.
    Approve(review::Approve),
    /// Rejects a plan; what is rejected is not proposed again.
    Reject(review::Reject),
    /// Stops a run at its next group; what it did stays and can be undone.
    Cancel(control::Cancel),
    /// Lets a run wait at its next group.
    Pause(control::Pause),
    /// Lets a paused run go on.
    Unpause(control::Unpause),
    /// Sets the kill switch: nothing is applied until `dream go`.
    Stop(control::Stop),
    /// Lifts the kill switch.
    Go(control::Go),
    /// Lists the namespaces of a store.
    Namespaces(sweep::Namespaces),
    /// Makes and lists spaces.
    #[command(subcommand)]
    Spaces(spaces::Spaces),
    /// Adds, lists, changes, recalls and forgets the facts of a space.
    #[command(subcommand)]
    Facts(facts::Facts),
    /// Fetches the question of a dream over a space, and hands in the answer.
    #[command(subcommand)]
    Job(job::Job),
    /// Starts the dreams over spaces that are due.
    Due(job::Due),
    /// Serves the spaces of a store to agents, over HTTP.
    Serve(serve::Serve),
    /// Gives an agent a space's memory and dreams as MCP tools, over the standard input and output.
    Mcp(mcp::Mcp),
    /// Creates the tables of Dream Worker in a store.
    Migrate(migrate::Migrate),
    /// Imports memories from a file.
    #[command(subcommand)]
    Import(import::Import),
    /// Exports memories to a file.
    #[command(subcommand)]
    Export(export::Export),
    /// Deletes runs that are too old, or too many, with their reports and undo records.
    Sweep(sweep::Sweep),
    /// Tells graph databases what they were not told yet.
    Reconcile(mirror::Reconcile),
    /// Compares what should say the same.
    #[command(subcommand)]
    Verify(mirror::Verify),
    /// Measures what a dream decides against the truth.
    #[command(subcommand)]
    Eval(eval::Eval),
    /// Measures planning and applying on a made-up namespace, against the least anybody could do.
    Bench(bench::Bench),
    /// Looks at everything a dream needs and says what is wrong.
    Doctor(doctor::Doctor),
    /// Shows the configuration.
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Works for a Temporal server until it is told to stop.
    Worker(worker::Worker),
}

/// Runs a command.
pub(crate) async fn dispatch(cli: Cli) -> Result<Exit, Fault> {
    let config = Config::load(cli.config.as_deref())?;
    match cli.command {
        Command::Demo(command) => Box::pin(command.run(config)).await,
        Command::Run(command) => exporting(&config.otlp.clone(), Box::pin(command.run(config))).await,
        Command::Config(command) => command.run(&config),
        Command::Eval(command) => command.run(&config),
        Command::Plan(command) => command.run(&config).await,
        Command::History(command) => command.run(&config).await,
        Command::Status(command) => command.run(&config).await,
        Command::Undo(command) => Box::pin(command.run(&config)).await,
        Command::Report(command) => Box::pin(command.run(&config)).await,
        Command::Diff(command) => command.run(&config).await,
        Command::Show(command) => command.run(&config).await,
        Command::Review(command) => command.run(&config).await,
        Command::Approve(command) => command.run(&config).await,
        Command::Reject(command) => command.run(&config).await,
        Command::Cancel(command) => command.run(&config).await,
        Command::Pause(command) => command.run(&config).await,
        Command::Unpause(command) => command.run(&config).await,
        Command::Stop(command) => command.run(&config).await,
        Command::Go(command) => command.run(&config).await,
        Command::Namespaces(command) => command.run(&config).await,
        Command::Spaces(command) => Box::pin(command.run(&config)).await,
        Command::Facts(command) => Box::pin(command.run(&config)).await,
        Command::Job(command) => Box::pin(command.run(&config)).await,
        Command::Due(command) => Box::pin(command.run(&config)).await,
        Command::Serve(command) => exporting(&config.otlp, Box::pin(command.run(&config))).await,
        Command::Mcp(command) => command.run(&config).await,
        Command::Migrate(command) => command.run(&config).await,
        Command::Import(command) => Box::pin(command.run(&config)).await,
        Command::Export(command) => Box::pin(command.run(&config)).await,
        Command::Sweep(command) => command.run(&config).await,
        Command::Reconcile(command) => command.run(&config).await,
        Command::Verify(command) => command.run(config).await,
        Command::Doctor(command) => command.run(&config).await,
        Command::Bench(command) => Box::pin(command.run(config)).await,
        Command::Worker(command) => exporting(&config.otlp, Box::pin(command.run(&config))).await,
    }
}

/// Runs a command that dreams, with its traces and metrics on their way to a collector where one is named.
async fn exporting(otlp: &Otlp, command: impl Future<Output = Result<Exit, Fault>>) -> Result<Exit, Fault> {
    let export = Export::begin(otlp)?;
    let ended = command.await;
    export.end().await;
    ended
}

/// Which store a command works on.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct StoreArg {
    /// A store: its name in the configuration, `postgres://…`, or the path of an SQLite file.
    #[arg(long, env = "DREAM_STORE", hide_env_values = true)]
    store: Option<String>,
}

impl StoreArg {
    /// What was typed, or stands in the environment.
    pub(crate) fn name(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Opens the store, which must be there.
    pub(crate) async fn open(&self, config: &Config) -> Result<Arc<dyn Store>, Fault> {
        wiring::open(config, self.name()).await
    }

    /// Commands on the same store.
    pub(crate) fn hints<'a>(&'a self, config: &'a Config) -> Hints<'a> {
        Hints::new(config, self.name())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_manual_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
