//! `dream demo`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dream_core::failure::Code;
use dream_core::id::RunId;
use dream_core::op::OpState;
use dream_core::run::{DeclaredType, DreamInput, Expertise, Mode, RunState};
use dream_ports::Store;
use dream_ports::plan::OpFilter;
use dream_ports::transfer::OnNameClash;
use dream_workflows::contract::{Begin, Reported};
use uuid::Uuid;

use super::hint::Hints;
use super::{plan, run, skips};
use crate::config::{Config, Origin, Sourced, StoreConfig};
use crate::exit::{Exit, Fault, OrFile as _};
use crate::outcome::Outcome;
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
    pub(crate) async fn run(self, mut config: Config) -> Result<Exit, Fault> {
        std::fs::create_dir_all(&self.dir).or_file(&self.dir, "made")?;
        let path = self.dir.join("memories.db");
        check_own(&path).await?;
        for suffix in ["", "-wal", "-shm"] {
            let mut old = path.clone().into_os_string();
            old.push(suffix);
            let old = Path::new(&old);
            if old.exists() {
                std::fs::remove_file(old).or_file(old, "removed")?;
            }
        }
        self.configure(&mut config, &path)?;
        let store = wiring::create(&path.to_string_lossy()).await?;
        store.migrate(true).await?;
        import(&store).await?;
        let world = Arc::new(wiring::world(&config, None).await?);

        heading("1. A dry run: what would be done, and why");
        let (dry_run, dry) = dream(&world, None).await?;
        run::summary(&dry);
        let filter = OpFilter { limit: OPS_SHOWN, ..OpFilter::default() };
        plan::show(store.as_ref(), store.ops(dry_run, &filter).await?).await?;

        heading("2. Applied: exactly that plan");
        let (run, applied) = dream(&world, Some(dry_run.0)).await?;
        run::summary(&applied);
        let path = path.to_string_lossy();
        next(&store, run, Hints::new(&config, Some(&path))).await?;
        Ok(Exit::Done)
    }

    fn configure(&self, config: &mut Config, path: &Path) -> Result<(), Fault> {
        term::note("the demo switches dreaming on, and all ops with it, for this sample only");
        let switches =
            ["enabled", "dedupe_entities_enabled", "centroid_recompute_enabled", "source_chunk_ids_gc_enabled"];
        for switch in switches {
            config.set_flag(switch, "true", "demo")?;
        }
        let value = StoreConfig { url: path.to_string_lossy().into_owned(), ..StoreConfig::default() };
        config.stores.insert("default".to_owned(), Sourced { value, origin: Origin::Flag("demo") });
        config.reports = Sourced { value: self.dir.join("reports"), origin: Origin::Flag("demo") };
        Ok(())
    }
}

/// Only what an earlier demo made is made anew.
async fn check_own(path: &Path) -> Result<(), Fault> {
    if !path.exists() {
        return Ok(());
    }
    let is_own = match wiring::create(&path.to_string_lossy()).await {
        Ok(store) => {
            let known = store.namespaces(None, 2).await.unwrap_or_default();
            known.len() == 1 && known[0].stable_id.0 == demo::NAMESPACE
        }
        Err(_) => false,
    };
    if is_own {
        return Ok(());
    }
    let message = format!(
        "{} holds something else than a demo, and is left alone; name another folder with --dir",
        path.display()
    );
    Err(Fault::new(Code::File, message))
}

fn heading(text: &str) {
    term::line("");
    term::line(text);
    term::line(&"─".repeat(text.chars().count()));
}

async fn import(store: &Arc<dyn Store>) -> Result<(), Fault> {
    let sample = demo::world();
    let namespace = store.ensure_namespace(demo::NAMESPACE).await?.id;
    let bar = term::bar();
    bar.set_message("making the sample");
    term::set_total(&bar, (sample.entities.len() + sample.relationships.len() + sample.chunks.len()) as u64);
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

async fn dream(world: &Arc<dream_activities::World>, plan_of: Option<Uuid>) -> Result<(RunId, Reported), Fault> {
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
    let run = RunId(Uuid::now_v7());
    let begin = Begin { input, run_id: run.to_string(), engine: "local".to_owned(), workflow_id: None };
    match run::locally(world.clone(), begin).await? {
        Outcome::Over(reported) if reported.state == RunState::Completed => Ok((run, reported)),
        _ => Err(Fault::new(Code::WrongState, format!("the demo was interrupted in run {run}; it can be given again"))),
    }
}

/// Says what to do next, with commands that work as they stand.
async fn next(store: &Arc<dyn Store>, run: RunId, hints: Hints<'_>) -> Result<(), Fault> {
    let filter = OpFilter { limit: 1, states: vec![OpState::Applied], ..OpFilter::default() };
    let ops = store.ops(run, &filter).await?;
    let say = |what: &str, command: &str| term::line(&format!("{what:<18} {}", hints.command(command)));
    heading("3. What next");
    say("what was changed:", &format!("diff {run}"));
    say("look closer:", &format!("report {run}"));
    say("", &format!("plan {run}"));
    if let Some(op) = ops.first() {
        say("undo one op:", &format!("undo --op {}", op.op.id));
    }
    say("undo the run:", &format!("undo --run {run}"));
    term::line(&format!("{:<18} dream migrate --realm graph --store YOURS", "your own store:"));
    term::line(&format!("{:<18} dream namespaces --store YOURS", ""));
    for switch in skips::switches() {
        term::line(&format!("{:<18} export {switch}=true", ""));
    }
    term::line(&format!("{:<18} dream run graph --namespace ID --store YOURS --enable", ""));
    term::line("`dream` is `cargo run --` here");
    Ok(())
}
