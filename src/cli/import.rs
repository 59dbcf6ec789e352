//! `dream import`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use dream_core::failure::Code;
use dream_core::id::NamespaceId;
use dream_ports::transfer::OnNameClash;
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault, OrFile as _};
use crate::transfer::import::{Importer, Outcome};
use crate::transfer::lines::{Lines, Spool, Vectors};
use crate::{term, wiring};

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Imports entities, relationships and chunks from JSON lines (docs/formats/import.md).
    Graph(Graph),
    /// Imports the rows of a space from JSON lines, in place of rows with the same ids.
    Space(Space),
}

#[derive(Debug, Args)]
pub(crate) struct Space {
    /// The file.
    file: PathBuf,
    /// The space, which must be there.
    #[arg(long)]
    space: Uuid,
    #[command(flatten)]
    store: StoreArg,
}

impl Space {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let lines = std::fs::read_to_string(&self.file).or_file(&self.file, "read")?;
        let rows = dream_activities::space::transfer::import(store.as_ref(), NamespaceId(self.space), &lines).await?;
        term::note(&format!("imported {rows} rows"));
        Ok(if rows == 0 { Exit::Nothing } else { Exit::Done })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Graph {
    /// The file.
    file: PathBuf,
    /// The namespace, by its stable id; made if it does not exist.
    #[arg(long)]
    namespace: Uuid,
    /// Vectors as little-endian 16-bit floats, in the order of the entity lines.
    #[arg(long, requires_all = ["dimension", "model"])]
    embeddings: Option<PathBuf>,
    /// Numbers per vector.
    #[arg(long, requires = "embeddings", value_parser = clap::value_parser!(u32).range(1..=16_000))]
    dimension: Option<u32>,
    /// The model that made the vectors.
    #[arg(long, requires = "embeddings")]
    model: Option<String>,
    /// What to do with an entity whose name and type exist under another id.
    #[arg(long, value_enum, default_value_t = Clash::Skip)]
    on_name_clash: Clash,
    /// Where relationships are written; the graph database, if one is configured, as Khora does.
    #[arg(long, value_enum)]
    edges: Option<EdgesIn>,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Clash {
    /// Report it and leave it out.
    Skip,
    /// Import it with a number behind its name.
    Suffix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EdgesIn {
    /// To the graph database alone.
    Graph,
    /// To the tables alone.
    Sql,
}

impl Import {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let graph = match self {
            Self::Graph(graph) => graph,
            Self::Space(space) => return space.run(config).await,
        };
        let store = graph.store.open(config).await?;
        if !store.probe().await?.is_migrated {
            return Err(Fault::new(Code::NotMigrated, "this store has no tables yet"));
        }
        let vectors = match (graph.embeddings, graph.dimension, graph.model) {
            (Some(path), Some(dimension), Some(model)) => Some(Vectors { path, dimension, model }),
            _ => None,
        };
        match &vectors {
            Some(vectors) => Spool::check(vectors, &graph.file)?,
            None => drop(Lines::open(&graph.file)?),
        }
        let beside = wiring::graph(&wiring::store_config(config, graph.store.name()))?;
        let edges_in_graph = match (graph.edges, &beside) {
            (Some(EdgesIn::Graph), None) => {
                let message = "--edges graph needs a graph database: set graph_url, or DREAM_GRAPH";
                return Err(Fault::new(Code::Configuration, message));
            }
            (edges, beside) => edges.map_or(beside.is_some(), |edges| edges == EdgesIn::Graph),
        };
        if let Some(beside) = &beside {
            beside.prepare().await.map_err(|error| Fault::new(Code::GraphUnavailable, error.to_string()))?;
        }
        let namespace = store.ensure_namespace(graph.namespace).await?;
        let bar = term::bar();
        bar.set_message("importing");
        term::set_total(&bar, std::fs::metadata(&graph.file).map_or(0, |file| file.len()));
        let importer = Importer {
            store: store.as_ref(),
            graph: beside.as_deref(),
            edges_in_graph,
            namespace: namespace.id,
            on_name_clash: if graph.on_name_clash == Clash::Skip { OnNameClash::Skip } else { OnNameClash::Suffix },
            now: store.now().await?,
            bar: &bar,
        };
        let outcome = importer.run(&graph.file, vectors.as_ref()).await;
        bar.finish_and_clear();
        let outcome = outcome?;
        say(&outcome);
        Ok(if outcome.problems.is_empty() { Exit::Done } else { Exit::PartlyDone })
    }
}

fn say(outcome: &Outcome) {
    term::line(&format!(
        "imported {} entities, {} relationships, {} chunks; {} were there already",
        outcome.entities, outcome.relationships, outcome.chunks, outcome.existing
    ));
    outcome.problems.say();
}
