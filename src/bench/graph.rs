//! The mirror, measured: the queue of a namespace is drained by the program's own code, and held against one client that
//! writes the same to an identical graph in bare batches.
//!
//! The store is an embedded one in a temporary folder; the graph is a real server's, in namespaces nobody else has.
//!
//! **Invariant:** whatever is written to the graph is removed, also where a measurement fails.

mod bare;
mod merges;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use dream_activities::mirror::drain;
use dream_core::failure::Code;
use dream_core::id::NamespaceId;
use dream_core::mirror::verify::IdRange;
use dream_ports::{Graph, GraphError, TransferStore as _};
use indicatif::ProgressBar;
use uuid::Uuid;

use super::figures::{Figure, Figures, Limit, MIRROR_MEGABYTES_MAX, MIRROR_SHARE_MIN};
use super::machine::{Machine, megabytes_from_now, peak_megabytes};
use super::runs::configured;
use super::scratch::{RUN, Scratch as _};
use super::sqlite::SqliteScratch;
use super::{median, per_second};
use crate::config::{Config, Origin, Sourced, StoreConfig};
use crate::exit::Fault;
use crate::wiring;
use bare::Client;
pub(super) use merges::Merges;

/// Merges from which on the limits are promised.
const PROMISED_MERGES: u64 = 100_000;

/// Merges whose nodes and edges are written to the graph at once.
const MERGES_PER_IMPORT: u64 = 1_000;

/// The steps of one measurement on a bar, for each merge: two graphs are made, one is drained, one is written.
const STEPS: u64 = 4;

/// Measures the mirror at each of these sizes.
pub(crate) async fn measure(sizes: &[u64], repeat: u8, config: Config, bar: &ProgressBar) -> anyhow::Result<Figures> {
    let store = graph_config(&config);
    let none = || Fault::new(Code::Configuration, "no graph database to measure: set graph_url, or DREAM_GRAPH");
    let away = |error: GraphError| Fault::new(Code::GraphUnavailable, error.to_string());
    let login = wiring::graph_login(&store)?.ok_or_else(none)?;
    let graph = wiring::graph(&store)?.ok_or_else(none)?;
    let found = graph.probe().await.map_err(away)?;
    graph.prepare().await.map_err(away)?;
    let reports = tempfile::tempdir()?;
    let scratch = SqliteScratch::new()?;
    let mut figures = Figures {
        machine: Machine::look(),
        store: format!("{}, {} {}", scratch.version().await?, found.kind, found.version),
        repeated: repeat,
        figures: Vec::new(),
    };
    let bench = GraphBench {
        scratch,
        store,
        config: configured(config, reports.path()),
        client: Client::connect(&login)?,
        graph: graph.as_ref(),
        bar,
    };
    for &count in sizes {
        let mut all = Vec::new();
        for _ in 0..repeat {
            all.push(bench.once(count).await?);
        }
        figures.figures.extend(judged(count, &all));
    }
    Ok(figures)
}

/// The graph database beside the store `default`, or the one that the environment names.
fn graph_config(config: &Config) -> StoreConfig {
    let configured = wiring::store_config(config, None);
    if configured.graph_url.is_some() {
        return configured;
    }
    StoreConfig::with_graph("", |name| std::env::var(name).ok())
}

/// What one measurement found.
struct Measured {
    drained: Duration,
    bare: Duration,
    megabytes: f64,
}

fn judged(count: u64, all: &[Measured]) -> [Figure; 2] {
    let times = |of: fn(&Measured) -> Duration| median(all.iter().map(of).collect());
    let (drained, bare) = (times(|one| one.drained), times(|one| one.bare));
    let megabytes = all.iter().map(|one| one.megabytes).fold(0.0, f64::max);
    let promised = |limit| (count >= PROMISED_MERGES).then_some(limit);
    let figure = Figure::new(count * 2, "mirror merges", drained);
    let share = figure.share("bare UNWIND", bare, promised(Limit::AtLeast(MIRROR_SHARE_MIN)));
    let (drained_a_second, bare_a_second) = (per_second(count, drained), per_second(count, bare));
    let detail = format!("{count} rows, {drained_a_second:.0} a second, bare {bare_a_second:.0}");
    let memory = Figure::new(count * 2, "mirror merges: memory", drained);
    let limit = promised(Limit::AtMost(MIRROR_MEGABYTES_MAX));
    [share.saying(detail), memory.judged(megabytes, limit).saying("MB more at most")]
}

struct GraphBench<'a> {
    scratch: SqliteScratch,
    config: Config,
    store: StoreConfig,
    client: Client,
    graph: &'a dyn Graph,
    bar: &'a ProgressBar,
}

impl GraphBench<'_> {
    /// Measures once, and removes what was made for it.
    async fn once(&self, count: u64) -> anyhow::Result<Measured> {
        crate::term::set_total(self.bar, count * STEPS);
        self.bar.set_position(0);
        let store = self.scratch.empty(RUN).await?;
        let namespace = store.ensure_namespace(Uuid::now_v7()).await?.id;
        store.close().await;
        let (told, bare) = (Merges { namespace, count }, Merges { namespace: NamespaceId(Uuid::now_v7()), count });
        let measured = tokio::select! {
            measured = self.measure(told, bare) => measured,
            _interrupted = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
        };
        self.say(count, "removing them");
        self.scratch.remove(RUN).await?;
        for merges in [told, bare] {
            let removed = self.client.remove(merges.namespace).await;
            let namespace = merges.namespace;
            removed.with_context(|| format!("namespace {namespace} of the bench is left in the graph"))?;
        }
        measured
    }

    fn say(&self, count: u64, what: &str) {
        self.bar.set_message(format!("{count} merges: {what}"));
        self.bar.tick();
    }

    async fn measure(&self, told: Merges, bare: Merges) -> anyhow::Result<Measured> {
        self.say(told.count, "making them");
        self.scratch.queue(RUN, told).await?;
        for merges in [told, bare] {
            self.import(merges).await?;
        }
        self.say(told.count, "telling one graph, writing the other");
        let measured = self.side_by_side(told, bare).await?;
        for merges in [told, bare] {
            self.check(merges).await?;
        }
        Ok(measured)
    }

    /// Drains the queue as activities do, one after the other. After each as many merges are written in bare batches, so
    /// that whatever else the machine does meets both.
    async fn side_by_side(&self, told: Merges, bare: Merges) -> anyhow::Result<Measured> {
        let mut config = self.config.clone();
        let value = StoreConfig { url: self.scratch.address(RUN), ..self.store.clone() };
        config.stores.insert("default".to_owned(), Sourced { value, origin: Origin::Default });
        let world = wiring::world(&config, None).await?;
        let handle = world.store("default")?;
        let mut measured = Measured { drained: Duration::ZERO, bare: Duration::ZERO, megabytes: 0.0 };
        let held = megabytes_from_now();
        let mut done = 0;
        while done < told.count {
            let _forgotten = megabytes_from_now();
            let started = Instant::now();
            let drained = drain(&world, handle, told.namespace).await?;
            let took = started.elapsed();
            measured.megabytes = measured.megabytes.max(peak_megabytes() - held);
            ensure!(drained.reason.is_none() && drained.parked == 0, "the graph was not told: {:?}", drained.reason);
            ensure!(drained.missing == 0, "the graph missed something in {} rows", drained.missing);
            ensure!(drained.done > 0, "the queue lost rows");
            let took_bare = self.client.write(bare, done..done + drained.done).await?;
            tracing::debug!(rows = drained.done, ?took, ?took_bare, "told a part of the queue");
            measured.drained += took;
            measured.bare += took_bare;
            done += drained.done;
            self.bar.inc(drained.done * 2);
        }
        Ok(measured)
    }

    async fn import(&self, merges: Merges) -> anyhow::Result<()> {
        let parts = || {
            let starts = (0..merges.count).step_by(usize::try_from(MERGES_PER_IMPORT).unwrap_or(usize::MAX));
            starts.map(|start| start..(start + MERGES_PER_IMPORT).min(merges.count))
        };
        for numbers in parts() {
            self.graph.import_nodes(merges.namespace, &merges.nodes(numbers)).await?;
        }
        for numbers in parts() {
            self.bar.inc(numbers.end - numbers.start);
            let missing = self.graph.import_edges(merges.namespace, &merges.edges(numbers)).await?;
            ensure!(missing.is_empty(), "the graph lost nodes of the bench");
        }
        Ok(())
    }

    /// Whoever wrote, the graph is the same afterwards.
    async fn check(&self, merges: Merges) -> anyhow::Result<()> {
        let (mut nodes, mut edges) = (0, 0);
        self.graph.nodes(merges.namespace, IdRange::ALL, &mut |node| nodes += u64::from(node.is_live)).await?;
        self.graph.edges(merges.namespace, IdRange::ALL, &mut |_| edges += 1).await?;
        let expected = (merges.count, merges.count * (merges::EDGES - 1));
        ensure!((nodes, edges) == expected, "{nodes} nodes and {edges} edges are left, not {expected:?}");
        Ok(())
    }
}
