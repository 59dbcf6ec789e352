//! The command line: one command, one file. The doc comments are the manual.

mod control;
mod demo;
mod history;
mod migrate;
mod plan;
mod run;
mod undo;
mod worker;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::config::Config;
use crate::exit::Exit;

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
    /// Dreams over a namespace.
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
    /// Creates the tables of Dream Worker in a store.
    Migrate(migrate::Migrate),
    /// Works for a Temporal server until it is told to stop.
    Worker(worker::Worker),
}

/// Runs a command.
pub(crate) async fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    let config = Config::load(cli.config.as_deref())?;
    match cli.command {
        Command::Demo(command) => command.run(config).await,
        Command::Run(command) => command.run(config).await,
        Command::Plan(command) => command.run(&config).await,
        Command::History(command) => command.run(&config).await,
        Command::Status(command) => command.run(&config).await,
        Command::Undo(command) => command.run(&config).await,
        Command::Cancel(command) => command.run(&config).await,
        Command::Pause(command) => command.run(&config).await,
        Command::Unpause(command) => command.run(&config).await,
        Command::Stop(command) => command.run(&config).await,
        Command::Go(command) => command.run(&config).await,
        Command::Migrate(command) => command.run(&config).await,
        Command::Worker(command) => command.run(&config).await,
    }
}

/// Which store a command works on.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArg {
    /// A store: its name in the configuration, `postgres://…`, or the path of an SQLite file.
    #[arg(long, env = "DREAM_STORE", hide_env_values = true)]
    store: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_manual_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
