//! `dream facts`

use clap::{Args, Subcommand};
use dream_activities::space::memory::{self, FactFilter, FactPatch, NewFact};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::realm::space::fact::{Fact, Origin, Tier};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{spaces, term};

/// Facts that a recall answers where nobody asks for another number.
const RECALLED_DEFAULT: u32 = 10;

#[derive(Debug, Subcommand)]
pub(crate) enum Facts {
    /// Remembers a fact.
    Add(Add),
    /// Lists facts.
    List(List),
    /// Changes a fact.
    Set(Set),
    /// Recalls what speaks of some words, and counts that it was recalled.
    Recall(Recall),
    /// Forgets a fact for good, with every copy that dreams keep of it.
    Forget(Forget),
}

/// A space, and how to answer.
#[derive(Debug, Args)]
pub(crate) struct At {
    /// The space.
    #[arg(long)]
    space: Uuid,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// What is remembered.
    text: String,
    /// Whom or what it is about.
    #[arg(long)]
    subject: Option<String>,
    /// How near it is: core, long or scratch.
    #[arg(long)]
    tier: Option<Tier>,
    /// Who states it: user, agent or dream.
    #[arg(long)]
    origin: Option<Origin>,
    /// Fastens it: no dream changes it.
    #[arg(long)]
    pinned: bool,
    /// When it stops being true.
    #[arg(long)]
    expires_at: Option<Moment>,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only of this tier.
    #[arg(long)]
    tier: Option<Tier>,
    /// Those behind this id.
    #[arg(long)]
    after: Option<Uuid>,
    /// At most so many.
    #[arg(long)]
    limit: Option<u32>,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The fact.
    fact: Uuid,
    /// What is remembered.
    #[arg(long)]
    text: Option<String>,
    /// How near it is: core, long or scratch.
    #[arg(long)]
    tier: Option<Tier>,
    /// Whether it is fastened.
    #[arg(long)]
    pinned: Option<bool>,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct Recall {
    /// The words.
    words: String,
    /// At most so many facts.
    #[arg(long, default_value_t = RECALLED_DEFAULT)]
    limit: u32,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// The fact.
    fact: Uuid,
    #[command(flatten)]
    at: At,
}

impl Facts {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        match self {
            Self::Add(add) => add.run(config).await,
            Self::List(list) => {
                let (store, space) = (list.at.store.open(config).await?, NamespaceId(list.at.space));
                let filter = FactFilter { tier: list.tier, after: list.after, limit: list.limit };
                let facts = memory::facts(store.as_ref(), space, &filter).await?;
                show(&facts, list.at.json)
            }
            Self::Set(set) => {
                let (store, space) = (set.at.store.open(config).await?, NamespaceId(set.at.space));
                let patch = FactPatch { text: set.text, tier: set.tier, pinned: set.pinned, ..FactPatch::default() };
                let fact = memory::patch_fact(store.as_ref(), space, set.fact, patch).await?;
                show(std::slice::from_ref(&fact), set.at.json)
            }
            Self::Recall(recall) => {
                let (store, space) = (recall.at.store.open(config).await?, NamespaceId(recall.at.space));
                let facts = memory::recall(store.as_ref(), space, &recall.words, recall.limit).await?;
                show(&facts, recall.at.json)
            }
            Self::Forget(forget) => forget.run(config).await,
        }
    }
}

impl Add {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.at.store.open(config).await?;
        let new = NewFact {
            subject: self.subject,
            text: self.text,
            tier: self.tier,
            origin: self.origin,
            pinned: self.pinned,
            expires_at: self.expires_at,
            source: None,
        };
        let fact = memory::add_fact(store.as_ref(), NamespaceId(self.at.space), new).await?;
        if self.at.json {
            term::json(&fact)?;
        } else {
            term::line(&fact.id.to_string());
        }
        Ok(Exit::Done)
    }
}

impl Forget {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.at.store.open(config).await?;
        let forgotten = memory::forget_fact(store.as_ref(), NamespaceId(self.at.space), self.fact).await?;
        spaces::wake_closed(store.as_ref(), &forgotten.abandoned).await?;
        for run in &forgotten.abandoned {
            term::note(&format!("run {run} waited with a copy, and is abandoned"));
        }
        if forgotten.undo_records > 0 {
            term::note(&format!("taken out of {} undo records", forgotten.undo_records));
        }
        if forgotten.derived > 0 {
            term::note(&format!(
                "{} texts of dreams said a word that only it had, and went with it",
                forgotten.derived
            ));
        }
        for fact in &forgotten.reworded {
            term::note(&format!("fact {fact} still says what a dream made of it more than seven days ago; look at it"));
        }
        let is_known = forgotten.was_there || forgotten.undo_records > 0;
        term::note(if is_known { "forgotten" } else { "no such fact is in this space" });
        Ok(if is_known { Exit::Done } else { Exit::Nothing })
    }
}

fn show(facts: &[Fact], json: bool) -> Result<Exit, Fault> {
    if json {
        term::json(&facts)?;
    } else {
        let row = |fact: &Fact| {
            let pinned = if fact.pinned { ", pinned" } else { "" };
            vec![
                fact.id.to_string(),
                fact.tier.to_string(),
                format!("{}{pinned}", fact.origin),
                fact.recall_count.to_string(),
                fact.subject.clone(),
                fact.text.clone(),
            ]
        };
        let rows: Vec<Vec<String>> = facts.iter().map(row).collect();
        term::table(&["fact", "tier", "origin", "recalls", "subject", "text"], &rows);
    }
    Ok(if facts.is_empty() { Exit::Nothing } else { Exit::Done })
}
