//! `dream export`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dream_core::failure::Code;
use dream_core::id::NamespaceId;
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault, OrFile as _};
use crate::transfer::export::Out;
use crate::{term, transfer, wiring};

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Exports entities, relationships and chunks as JSON lines, in the form that import reads.
    Graph(Graph),
    /// Exports a space as JSON lines, in the form that import reads: one row per line.
    Space(Space),
}

#[derive(Debug, Args)]
pub(crate) struct Space {
    /// The space.
    #[arg(long)]
    space: Uuid,
    #[command(flatten)]
    store: StoreArg,
}

impl Space {
    async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let lines = dream_activities::space::transfer::export(store.as_ref(), NamespaceId(self.space)).await?;
        lines.iter().for_each(|line| term::line(&line.to_string()));
        term::note(&format!("exported {} lines", lines.len()));
        Ok(Exit::Done)
    }
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
        let graph = match self {
            Self::Graph(graph) => graph,
            Self::Space(space) => return space.run(config).await,
        };
        let store = graph.store.open(config).await?;
        let namespace = store.resolve_namespace(graph.namespace).await?;
        let with_embeddings = !graph.without_embeddings;
        let beside = wiring::graph(&wiring::store_config(config, graph.store.name()))?;
        let lines = if let Some(path) = &graph.out {
            refuse_store(path, wiring::store_file(config, graph.store.name()).as_deref())?;
            let mut draft = Draft::of(path)?;
            let out = Out { to: &mut draft.file, path };
            let lines =
                transfer::export::export(store.as_ref(), beside.as_deref(), namespace.id, with_embeddings, out).await?;
            draft.keep()?;
            lines
        } else {
            let mut out = BufWriter::new(std::io::stdout());
            let out = Out { to: &mut out, path: Path::new("the standard output") };
            transfer::export::export(store.as_ref(), beside.as_deref(), namespace.id, with_embeddings, out).await?
        };
        term::note(&format!("exported {lines} lines"));
        Ok(Exit::Done)
    }
}

/// A file that takes the place of another once it is whole, so that an export that breaks off leaves the old one.
struct Draft {
    file: BufWriter<File>,
    draft: PathBuf,
    path: PathBuf,
}

impl Draft {
    fn of(path: &Path) -> Result<Self, Fault> {
        // What is no regular file, as a terminal, takes the lines as they come.
        let is_other = std::fs::metadata(path).is_ok_and(|file| !file.is_file());
        let draft = if is_other { path.to_owned() } else { with_suffix(path, ".part") };
        let file = File::create(&draft).or_file(&draft, "written")?;
        Ok(Self { file: BufWriter::new(file), draft, path: path.to_owned() })
    }

    fn keep(mut self) -> Result<(), Fault> {
        self.file.flush().or_file(&self.draft, "written")?;
        if self.draft == self.path {
            return Ok(());
        }
        self.file.get_ref().sync_all().or_file(&self.draft, "written")?;
        std::fs::rename(&self.draft, &self.path).or_file(&self.path, "written")
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Refuses to export over the store itself, or one of the files beside it, under whatever name.
fn refuse_store(out: &Path, store: Option<&Path>) -> Result<(), Fault> {
    let Some(store) = store else { return Ok(()) };
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().ok()?;
        path.canonicalize().ok().or_else(|| Some(folder.join(path.file_name()?)))
    };
    let inode = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    for suffix in ["", "-wal", "-shm"] {
        let own = with_suffix(store, suffix);
        let is_same_file = inode(&own).is_some_and(|own| inode(out) == Some(own));
        if is_same_file || place(&own) == place(out) {
            let message = format!("--out {}: this is the store itself, or a file of it", out.display());
            return Err(Fault::new(Code::InvalidInput, message));
        }
    }
    Ok(())
}
