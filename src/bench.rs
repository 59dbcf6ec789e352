//! `dream bench`: what planning and applying cost on this machine, as figures that mean something elsewhere too.
//!
//! Every figure is held against the least that anybody could do on the same store in the same minute: reading the same
//! columns in one go, writing the same rows with bare SQL, the other engine, the smaller world. A made-up world is written
//! into a scratch store ([`scratch`]) and every measurement that writes has a copy of its own.
//!
//! **Invariant:** nothing is measured of a store that is not made for it, and nothing of a scratch store is left.
//!
//! A new figure is a call in [`measure`]; a limit is a constant in [`figures`].

mod figures;
mod graph;
mod machine;
mod pg;
mod runs;
mod scratch;
mod sqlite;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dream_core::op::OpKind;
use indicatif::ProgressBar;

use crate::config::Config;
use crate::{engine, wiring};
use figures::{
    APPLY_SHARE_MIN, Figure, Figures, GROWTH_MAX, Limit, PLAN_MEGABYTES_MAX, PLAN_RATIO_MAX, TEMPORAL_RATIO_MAX,
};
pub(crate) use graph::measure as measure_graph;
pub(crate) use runs::plan_only;
use runs::{Measured, configured, locally, on_temporal, plan_apart};
use scratch::{BARE, BASE, Bare, Effects, PLAN, RUN, Scratch, TEMPORAL};
use world::World;

/// The size at which the limits of planning are promised.
const PLAN_ENTITIES: u64 = 100_000;

/// Ops from which on the limit of the Temporal engine is promised. Of 100,000 entities with 10 % duplicates some are
/// vetoed or kept apart for want of support, so that a little less than 10,000 merges are left.
const TEMPORAL_OPS: u64 = 8_000;

/// The runs that are measured: what people call them, and their ops.
const RUNS: [(&str, &[OpKind]); 3] = [
    ("dedupe", &[OpKind::DedupeEntities]),
    ("dedupe and centroid", &[OpKind::DedupeEntities, OpKind::CentroidRecompute]),
    ("gc", &[OpKind::SourceChunkIdsGc]),
];

/// What is asked of a bench.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) entities: Vec<u64>,
    /// The address of a PostgreSQL server; none for SQLite.
    pub(crate) postgres: Option<String>,
    /// Whether a run under Temporal is measured too.
    pub(crate) on_temporal: bool,
    /// How often each is measured; the median counts.
    pub(crate) repeat: u8,
}

/// Measures everything.
pub(crate) async fn measure(wanted: &Wanted, config: Config, bar: &ProgressBar) -> anyhow::Result<Figures> {
    let scratch: Box<dyn Scratch> = match &wanted.postgres {
        Some(url) => Box::new(pg::PgScratch::new(url)),
        None => Box::new(sqlite::SqliteScratch::new()?),
    };
    let reports = tempfile::tempdir()?;
    let mut bench = Bench {
        scratch: scratch.as_ref(),
        config: configured(config, reports.path()),
        wanted,
        bar,
        figures: Figures {
            machine: machine::Machine::look(),
            store: scratch.version().await?,
            repeated: wanted.repeat,
            figures: Vec::new(),
        },
        by_size: BTreeMap::new(),
    };
    let measured = tokio::select! {
        measured = bench.measure_all() => measured,
        _interrupted = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    for place in [BASE, PLAN, RUN, BARE, TEMPORAL] {
        scratch.remove(place).await?;
    }
    measured?;
    bench.growth();
    Ok(bench.figures)
}

struct Bench<'a> {
    scratch: &'a dyn Scratch,
    config: Config,
    wanted: &'a Wanted,
    bar: &'a ProgressBar,
    figures: Figures,
    /// Times by what took them and by entities, for growth.
    by_size: BTreeMap<String, BTreeMap<u64, Duration>>,
}

impl Bench<'_> {
    async fn measure_all(&mut self) -> anyhow::Result<()> {
        for &entities in &self.wanted.entities {
            self.measure_world(entities).await?;
            self.scratch.remove(BASE).await?;
        }
        Ok(())
    }

    async fn measure_world(&mut self, entities: u64) -> anyhow::Result<()> {
        self.bar.set_message(format!("making {entities} entities"));
        self.bar.set_position(0);
        self.scratch.create(World { entities }, self.bar).await?;
        self.planning(entities).await?;
        for (name, ops) in RUNS {
            self.applying(entities, name, ops).await?;
        }
        Ok(())
    }

    fn say(&self, entities: u64, what: &str) {
        self.bar.set_message(format!("{entities} entities: {what}"));
        self.bar.tick();
    }

    fn keep(&mut self, figure: Figure) {
        let took = Duration::from_secs_f64(figure.seconds);
        self.by_size.entry(figure.what.clone()).or_default().insert(figure.entities, took);
        self.figures.figures.push(figure);
    }

    async fn planning(&mut self, entities: u64) -> anyhow::Result<()> {
        self.say(entities, "planning");
        self.scratch.copy(PLAN).await?;
        let (mut read, mut planned) = (Vec::new(), Vec::new());
        for _ in 0..self.wanted.repeat {
            read.push(self.scratch.read().await?);
            planned.push(plan_apart(&self.scratch.address(PLAN)).await?);
        }
        self.scratch.remove(PLAN).await?;
        let took = median(planned.iter().map(|planned| Duration::from_secs_f64(planned.seconds)).collect());
        let peak = planned.iter().map(|planned| planned.peak_megabytes).fold(0.0, f64::max);
        let ops = planned.first().map_or(0, |planned| planned.ops);
        let is_promised = self.wanted.postgres.is_some() && entities >= PLAN_ENTITIES;
        let limit = |limit: f64| is_promised.then_some(Limit::AtMost(limit));
        let what = if self.wanted.postgres.is_some() { "binary COPY" } else { "full select" };
        let figure = Figure::new(entities, "plan dedupe", took);
        self.keep(figure.times(what, median(read), limit(PLAN_RATIO_MAX)).saying(format!("{ops} drafts")));
        let memory = Figure::new(entities, "plan dedupe: memory", took);
        self.figures.figures.push(memory.judged(peak, limit(PLAN_MEGABYTES_MAX)).saying("MB at most"));
        Ok(())
    }

    async fn applying(&mut self, entities: u64, name: &str, ops: &[OpKind]) -> anyhow::Result<()> {
        let (mut measured, mut bare, mut temporal) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.wanted.repeat {
            self.say(entities, &format!("applying {name}"));
            let (one, its_bare) = self.run_and_bare(ops).await?;
            measured.push(one);
            bare.push(its_bare);
            if self.wanted.on_temporal && name == RUNS[0].0 {
                self.say(entities, &format!("applying {name} on Temporal"));
                temporal.push(self.run_on_temporal(ops).await?);
            }
        }
        let times = |of: fn(&Measured) -> Duration| median(measured.iter().map(of).collect());
        let applied = measured.first().map_or(0, |measured| measured.applied);
        let rows = bare.first().map_or(0, |bare| bare.rows);
        let (apply, total) = (times(|one| one.apply), times(|one| one.total));
        let report = times(|one| one.report);
        let limit = (applied > 0).then_some(Limit::AtLeast(APPLY_SHARE_MIN));
        let figure = Figure::new(entities, format!("apply {name}"), apply);
        let figure = figure.share("bare SQL", median(bare.iter().map(|bare| bare.took).collect()), limit);
        self.keep(figure.saying(format!("{applied} ops, {:.0} a second, {rows} rows", per_second(applied, apply))));
        let figure = Figure::new(entities, format!("run {name}"), total);
        self.keep(figure.saying(format!("{:.2} of it reporting", report.as_secs_f64())));
        if !temporal.is_empty() {
            let is_promised = applied >= TEMPORAL_OPS;
            let limit = is_promised.then_some(Limit::AtMost(TEMPORAL_RATIO_MAX));
            let figure = Figure::new(entities, format!("run {name} on Temporal"), median(temporal));
            self.keep(figure.times("local engine", total, limit).saying(format!("{applied} ops")));
        }
        Ok(())
    }

    async fn run_and_bare(&self, ops: &[OpKind]) -> anyhow::Result<(Measured, Bare)> {
        self.scratch.copy(RUN).await?;
        let world = Arc::new(wiring::world(&self.config, Some(&self.scratch.address(RUN))).await?);
        let store = world.store("default")?.store.clone();
        let measured = locally(world, ops).await?;
        let effects = Effects::of(store.as_ref(), measured.run).await?;
        self.scratch.copy(BARE).await?;
        let bare = self.scratch.bare(&effects, RUN, BARE).await?;
        self.scratch.remove(BARE).await?;
        self.scratch.remove(RUN).await?;
        Ok((measured, bare))
    }

    async fn run_on_temporal(&self, ops: &[OpKind]) -> anyhow::Result<Duration> {
        self.scratch.copy(TEMPORAL).await?;
        let took = on_temporal(&self.config, &self.scratch.address(TEMPORAL), ops).await?;
        self.scratch.remove(TEMPORAL).await?;
        Ok(took)
    }

    /// Holds the largest world against the smallest.
    fn growth(&mut self) {
        let (Some(&small), Some(&large)) = (self.wanted.entities.iter().min(), self.wanted.entities.iter().max())
        else {
            return;
        };
        if small == large {
            return;
        }
        let is_promised = large == 10 * small;
        for (what, by_size) in std::mem::take(&mut self.by_size) {
            if let (Some(&before), Some(&after)) = (by_size.get(&small), by_size.get(&large)) {
                let limit = is_promised.then_some(Limit::AtMost(GROWTH_MAX));
                let figure = Figure::new(large, format!("growth: {what}"), after);
                self.figures.figures.push(figure.times(&format!("{small} entities"), before, limit));
            }
        }
    }
}

/// Whether a Temporal server is there to be measured.
pub(crate) fn has_temporal() -> bool {
    engine::is_configured()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "for people, in whole numbers")]
fn per_second(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(f64::EPSILON)
}
