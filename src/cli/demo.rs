//! `dream demo`

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dream_core::id::RunId;
use dream_core::op::OpState;
use dream_core::run::{DeclaredType, DreamInput, Expertise, Mode};
use dream_ports::Store;
use dream_ports::plan::OpFilter;
use dream_ports::transfer::OnNameClash;
use dream_workflows::contract::{Begin, Reported};
use dream_workflows::steps::StepError;
use uuid::Uuid;

use super::{plan, run};
use crate::config::{Config, Origin, Sourced, StoreConfig};
use crate::exit::Exit;
use crate::{demo, term, wiring};

/// Ops of the plan that are shown.
const OPS_SHOWN: u32 = 60;

/// Rows that are imported at once.
const ROWS_PER_BATCH: usize = 500;

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where the sample is made.
    #[arg(long, default_value = "dream-demo")]
    dir: PathBuf,
}

impl Demo {
    pub(crate) async fn run(self, mut config: Config) -> anyhow::Result<Exit> {
        std::fs::create_dir_all(&self.dir)?;
        let path = self.dir.join("memories.db");
        for suffix in ["", "-wal", "-shm"] {
            let mut old = path.clone().into_os_string();
            old.push(suffix);
            if std::path::Path::new(&old).exists() {
                std::fs::remove_file(&old)?;
            }
        }
        self.configure(&mut config, &path)?;
        let store = wiring::open(&path.to_string_lossy(), true).await?;
        store.migrate(true).await?;
        import(&store).await?;
        let world = Arc::new(wiring::world(&config, None).await?);

        heading("1. A dry run: what would be done, and why");
        let dry = dream(&world, None).await?;
        run::summary(&dry);
        let filter = OpFilter { limit: OPS_SHOWN, ..OpFilter::default() };
        plan::show(store.as_ref(), store.ops(RunId(dry.run_id.parse()?), &filter).await?).await?;

        heading("2. Applied: exactly that plan");
        let applied = dream(&world, Some(dry.run_id.parse()?)).await?;
        run::summary(&applied);
        next(&store, &applied, &path).await?;
        Ok(Exit::Done)
    }

    fn configure(&self, config: &mut Config, path: &std::path::Path) -> anyhow::Result<()> {
        term::note("the demo switches dreaming on, and all ops with it, for this sample only");
        let switches = ["enabled", "dedupe_entities_enabled", "centroid_recompute_enabled", "source_chunk_ids_gc_enabled"];
        for switch in switches {
            config.set_flag(switch, "true", "demo")?;
        }
        let value = StoreConfig { url: path.to_string_lossy().into_owned(), graph_url: None };
        config.stores.insert("default".to_owned(), Sourced { value, origin: Origin::Flag("demo") });
        config.reports = Sourced { value: self.dir.join("reports"), origin: Origin::Flag("demo") };
        Ok(())
    }
}

fn heading(text: &str) {
    term::line("");
    term::line(text);
    term::line(&"─".repeat(text.chars().count()));
}

async fn import(store: &Arc<dyn Store>) -> anyhow::Result<()> {
    let sample = demo::world();
    let namespace = store.ensure_namespace(demo::NAMESPACE).await?.id;
    let bar = term::bar();
    bar.set_message("making the sample");
    bar.set_length((sample.entities.len() + sample.relationships.len() + sample.chunks.len()) as u64);
    for chunks in sample.chunks.chunks(ROWS_PER_BATCH) {
        store.import_chunks(namespace, chunks).await?;
        bar.inc(chunks.len() as u64);
    }
    for rows in sample.entities.chunks(ROWS_PER_BATCH) {
        store.import_entities(namespace, rows, OnNameClash::Skip).await?;
        bar.inc(rows.len() as u64);
    }
    for rows in sample.relationships.chunks(ROWS_PER_BATCH) {
        store.import_relationships(namespace, rows).await?;
        bar.inc(rows.len() as u64);
    }
    bar.finish_and_clear();
    term::note(&format!(
        "a sample of {} entities, {} relationships and {} chunks is ready",
        sample.entities.len(),
        sample.relationships.len(),
        sample.chunks.len()
    ));
    Ok(())
}

async fn dream(world: &Arc<dream_activities::World>, plan_of: Option<Uuid>) -> anyhow::Result<Reported> {
    let mut input = DreamInput::of_namespace(demo::NAMESPACE.to_string());
    input.mode = Some(if plan_of.is_some() { Mode::Apply } else { Mode::DryRun });
    input.plan_of = plan_of;
    input.enable = true;
    let declared = ["PERSON", "ORGANIZATION", "PROJECT", "PRODUCT", "CONCEPT", "EVENT", "FOOD"];
    input.expertise = Some(Expertise {
        entity_types: declared.map(|name| DeclaredType::Name(name.to_owned())).into(),
        relationship_types: ["WORKS_FOR", "CONTRIBUTES_TO", "PARTNER_OF", "STUDIES", "ASSOCIATED_WITH"]
            .map(|name| DeclaredType::Name(name.to_owned()))
            .into(),
    });
    let begin = Begin {
        input,
        run_id: Uuid::now_v7().to_string(),
        engine: "local".to_owned(),
        workflow_id: None,
    };
    run::locally(world.clone(), begin).await.map_err(|error| match error {
        StepError::Failed { name, message } => anyhow::anyhow!("{name}: {message}"),
        StepError::Cancelled | StepError::Suspended => anyhow::anyhow!("the demo was interrupted"),
    })
}

/// Says what to do next, with commands that work as they stand.
async fn next(store: &Arc<dyn Store>, applied: &Reported, path: &std::path::Path) -> anyhow::Result<()> {
    let filter = OpFilter { limit: 1, states: vec![OpState::Applied], ..OpFilter::default() };
    let ops = store.ops(RunId(applied.run_id.parse()?), &filter).await?;
    let store_flag = format!("--store {}", path.display());
    heading("3. What next");
    let run = &applied.run_id;
    term::line(&format!("look closer:       dream plan {run} {store_flag}"));
    term::line(&format!("                   dream status {run} {store_flag}"));
    if let Some(op) = ops.first() {
        term::line(&format!("undo one op:       dream undo --op {} {store_flag}", op.op.id));
    }
    term::line(&format!("undo the run:      dream undo --run {run} {store_flag}"));
    term::line("your own store:    dream migrate --realm graph --store YOURS");
    term::line("                   dream run graph --namespace ID --store YOURS --enable");
    term::line("(`dream` is `cargo run --` here)");
    Ok(())
}
