//! Where a bench works: a store of its own, copied for every measurement and gone afterwards.
//!
//! A place is one such store. The base place holds the untouched world; every measurement that writes has a copy of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use dream_core::change::{Column, Existence, Table};
use dream_core::id::RunId;
use dream_ports::{Store, StoreError};
use indicatif::ProgressBar;
use uuid::Uuid;

use super::world::World;

/// The place that holds the untouched world.
pub(super) const BASE: &str = "base";

/// The places in which planning, runs and bare statements are measured.
pub(super) const PLAN: &str = "plan";
pub(super) const RUN: &str = "run";
pub(super) const BARE: &str = "bare";
pub(super) const TEMPORAL: &str = "temporal";

/// Undo records read at once.
const RECORDS_PER_PAGE: u32 = 2_000;

/// What a run did, so that the same can be written without the program.
pub(super) struct Effects {
    pub(super) run: RunId,
    pub(super) tables: BTreeMap<Table, Effect>,
}

/// What it did to one table.
#[derive(Default)]
pub(super) struct Effect {
    pub(super) ids: BTreeSet<Uuid>,
    /// The columns that changed in any row.
    pub(super) columns: BTreeSet<Column>,
    /// Whether the rows were made; rows of one table are all made, or all changed.
    pub(super) is_created: bool,
}

impl Effects {
    pub(super) async fn of(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        let mut effects = Self { run, tables: BTreeMap::new() };
        let mut after_seq = 0;
        loop {
            let records = store.undo_records(run, after_seq, RECORDS_PER_PAGE).await?;
            let Some((_, last, _)) = records.last() else { return Ok(effects) };
            after_seq = *last;
            for change in records.iter().flat_map(|(_, _, record)| &record.changes) {
                let effect = effects.tables.entry(change.key.table).or_default();
                effect.ids.insert(change.key.id);
                effect.columns.extend(change.columns.keys().copied());
                effect.is_created |= change.existence == Existence::Created;
            }
        }
    }
}

/// How long writing the effects of a run took without the program, and how many rows that were.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bare {
    pub(super) took: Duration,
    pub(super) rows: u64,
}

/// A kind of store to work in.
#[async_trait]
pub(super) trait Scratch: Send + Sync {
    /// The server or the library, with its version.
    async fn version(&self) -> anyhow::Result<String>;

    /// What `--store` has to say for a place.
    fn address(&self, place: &str) -> String;

    /// A new store in the base place with this world in it, left as a store is found at night: statistics fresh, nothing
    /// waiting to be written, nobody connected.
    async fn create(&self, world: World, bar: &ProgressBar) -> anyhow::Result<()>;

    /// Reads, in one go, the columns of the base place that planning dedupe needs; how long it took.
    async fn read(&self) -> anyhow::Result<Duration>;

    /// Makes a copy of the base place.
    async fn copy(&self, place: &str) -> anyhow::Result<()>;

    /// Writes what a run did in one place into another, with bare statements over sets of rows and in one transaction:
    /// content, undo, outbox and op rows.
    async fn bare(&self, effects: &Effects, from: &str, to: &str) -> anyhow::Result<Bare>;

    /// Removes a place, if it is there.
    async fn remove(&self, place: &str) -> anyhow::Result<()>;
}
