//! `dream bench`

use clap::Args;
use dream_core::failure::Code;

use super::run::Engine;
use crate::bench::{self, Wanted};
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{term, wiring};

/// Where a bench works if it is not said.
const SQLITE: &str = "sqlite";

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Sizes of the made-up namespaces, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "10000,100000", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    entities: Vec<u64>,
    /// `sqlite`, for a file in a temporary folder, or `postgres://…`, a server with pgvector on which databases may be created.
    #[arg(long, default_value = SQLITE)]
    store: String,
    /// Which engine is measured besides the local one; a Temporal server where `TEMPORAL_ADDRESS` is set.
    #[arg(long)]
    on: Option<Engine>,
    /// How often each is measured; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=25))]
    repeat: u8,
    /// Measures, instead of all that, how fast the graph database is told of so many merges (100000 if no number is given;
    /// several, separated by commas). It is the one of the store `default`, or that of `DREAM_GRAPH`; namespaces of the
    /// bench's own are written there and removed.
    #[arg(long, value_name = "MERGES", value_delimiter = ',', num_args = 0..=1, require_equals = true, default_missing_value = "100000", value_parser = clap::value_parser!(u64).range(100..=1_000_000), conflicts_with_all = ["entities", "store", "on"])]
    graph: Option<Vec<u64>>,
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    /// Plans dedupe over the bench's namespace in the store that `DREAM_STORE` names and says what it took; the bench starts
    /// itself so, to measure memory.
    #[arg(long, hide = true)]
    plan_only: bool,
}

impl Bench {
    pub(crate) async fn run(self, config: Config) -> Result<Exit, Fault> {
        if self.plan_only {
            term::json(&bench::plan_only(config).await.map_err(fault)?)?;
            return Ok(Exit::Done);
        }
        let bar = term::bar();
        let figures = match &self.graph {
            Some(sizes) => bench::measure_graph(sizes, self.repeat, config, &bar).await,
            None => bench::measure(&self.wanted()?, config, &bar).await,
        };
        bar.finish_and_clear();
        let figures = figures.map_err(fault)?;
        if self.json {
            term::json(&figures)?;
        } else {
            figures.show();
        }
        Ok(if figures.all_hold() { Exit::Done } else { Exit::CheckFailed })
    }

    fn wanted(&self) -> Result<Wanted, Fault> {
        let postgres = match self.store.as_str() {
            SQLITE => None,
            url if wiring::is_postgres(url) => Some(self.store.clone()),
            _ => return Err(Fault::new(Code::InvalidInput, "--store: expected sqlite or postgres://…")),
        };
        let on_temporal = self.on.map_or_else(bench::has_temporal, |engine| engine == Engine::Temporal);
        Ok(Wanted { entities: self.entities.clone(), postgres, on_temporal, repeat: self.repeat })
    }
}

/// A bench leans on much that never fails for anybody else; what has no code of its own is a defect of the bench.
fn fault(error: anyhow::Error) -> Fault {
    error
        .downcast::<Fault>()
        .unwrap_or_else(|error| Fault::new(Code::Defect, format!("the bench broke off: {error:#}")))
}
