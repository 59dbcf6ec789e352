//! `dream export`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault, OrFile as _};
use crate::transfer::export::Out;
use crate::{term, transfer};

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Exports entities, relationships and chunks as JSON lines, in the form that import reads.
    Graph(Graph),
}

#[derive(Debug, Args)]
pub(crate) struct Graph {
    /// The namespace, by its stable id or its row id.
    #[arg(long)]
    namespace: Uuid,
    /// Where to; the standard output if it is not said.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Leaves vectors out.
    #[arg(long)]
    without_embeddings: bool,
    #[command(flatten)]
    store: StoreArg,
}

impl Export {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let Self::Graph(graph) = self;
        let store = graph.store.open(config).await?;
        let namespace = store.resolve_namespace(graph.namespace).await?;
        let mut out: Box<dyn Write + Send> = match &graph.out {
            Some(path) => {
                let file = File::create(path).or_file(path, "written")?;
                Box::new(BufWriter::new(file))
            }
            None => Box::new(BufWriter::new(std::io::stdout())),
        };
        let path = graph.out.as_deref().unwrap_or_else(|| Path::new("the standard output"));
        let out = Out { to: out.as_mut(), path };
        let lines = transfer::export::export(store.as_ref(), namespace.id, !graph.without_embeddings, out).await?;
        term::note(&format!("exported {lines} lines"));
        Ok(Exit::Done)
    }
}
