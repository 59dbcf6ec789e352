//! `dream spaces`

use clap::{Args, Subcommand};
use dream_activities::space::memory;
use dream_core::id::NamespaceId;
use dream_core::realm::space::fact::DreamMode;
use dream_ports::space::{SpacePatch, SpaceRecord};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::term;

/// Spaces read at once.
const SPACES_PER_PAGE: u32 = 500;

#[derive(Debug, Subcommand)]
pub(crate) enum Spaces {
    /// Makes a space, and tells its key, which is told once.
    Create(Create),
    /// Lists the spaces of a store.
    List(List),
    /// Changes what a space is called, where it is, or whose model consolidates it.
    Set(Set),
    /// Gives a space another key, and tells it.
    Key(Key),
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// What people call it.
    #[arg(long)]
    name: String,
    /// Its time zone, by its name in the IANA database: when its night is.
    #[arg(long, default_value = "UTC")]
    time_zone: String,
    /// Whose model consolidates it: the agent's own (client), the worker's (server), or nobody's (off).
    #[arg(long, default_value = "client")]
    mode: DreamMode,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The space.
    space: Uuid,
    /// What people call it.
    #[arg(long)]
    name: Option<String>,
    /// Its time zone.
    #[arg(long)]
    time_zone: Option<String>,
    /// Whose model consolidates it: client, server or off.
    #[arg(long)]
    mode: Option<DreamMode>,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct Key {
    /// The space.
    space: Uuid,
    #[command(flatten)]
    store: StoreArg,
}

impl Spaces {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        match self {
            Self::Create(create) => create.run(config).await,
            Self::List(list) => list.run(config).await,
            Self::Set(set) => set.run(config).await,
            Self::Key(key) => {
                let store = key.store.open(config).await?;
                term::line(&memory::add_key(store.as_ref(), NamespaceId(key.space)).await?);
                Ok(Exit::Done)
            }
        }
    }
}

impl Create {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let created = memory::create_space(store.as_ref(), &self.name, &self.time_zone, self.mode).await?;
        if self.json {
            term::json(&created)?;
            return Ok(Exit::Done);
        }
        term::line(&created.space.id.to_string());
        term::note(&format!("its key, told this once: {}", created.key));
        let id = created.space.id;
        term::note(&format!(
            "add facts: {}",
            self.store.hints(config).command(&format!("facts add --space {id} \"…\""))
        ));
        Ok(Exit::Done)
    }
}

impl List {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let mut spaces: Vec<SpaceRecord> = Vec::new();
        loop {
            let page = store.spaces(spaces.last().map(|space| space.id), SPACES_PER_PAGE).await?;
            let is_last = page.len() < SPACES_PER_PAGE as usize;
            spaces.extend(page);
            if is_last {
                break;
            }
        }
        if self.json {
            term::json(&spaces)?;
        } else {
            let at = |moment: Option<dream_core::clock::Moment>| {
                moment.map_or_else(|| "never".to_owned(), |at| at.to_string())
            };
            let row = |space: &SpaceRecord| {
                vec![
                    space.id.to_string(),
                    space.name.clone(),
                    space.zone.clone(),
                    space.mode.to_string(),
                    at(space.last_used_at),
                    at(space.last_dream_started_at),
                ]
            };
            let rows: Vec<Vec<String>> = spaces.iter().map(row).collect();
            term::table(&["space", "name", "time zone", "mode", "last used", "last dream"], &rows);
        }
        Ok(if spaces.is_empty() { Exit::Nothing } else { Exit::Done })
    }
}

impl Set {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let patch = SpacePatch { name: self.name, zone: self.time_zone, mode: self.mode };
        let space = memory::change_space(store.as_ref(), NamespaceId(self.space), patch).await?;
        term::note(&format!("space {} is {} in {}, dream mode {}", space.id, space.name, space.zone, space.mode));
        Ok(Exit::Done)
    }
}
