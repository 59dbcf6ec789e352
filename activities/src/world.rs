//! What activities have at hand: stores, settings, the reports folder, an embedder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use dream_core::failure::{Code, Failure};
use dream_core::id::RunId;
use dream_core::settings::Settings;
use dream_ports::run::RunRecord;
use dream_ports::{Graph, Mind, Store};
use dream_workflows::contract::RunRef;
use tokio_util::sync::CancellationToken;

use crate::begin::RunSettings;
use crate::embed::Embedder;
use crate::failure::ResultExt;

/// Everything an activity may touch.
pub struct World {
    /// Stores by their names in the configuration.
    pub stores: BTreeMap<String, StoreHandle>,
    /// What the operator has set.
    pub settings: Settings,
    /// Where reports lie.
    pub reports: PathBuf,
    /// Who makes vectors, if anybody does.
    pub embedder: Option<Embedder>,
    /// Who answers the questions of spaces in server mode, if anybody does.
    pub mind: Option<Arc<dyn Mind>>,
    /// This process, for people who look for the holder of a lease.
    pub holder: String,
    /// Whether the engine knows our search attributes.
    pub has_search_attributes: bool,
    /// Cancelled once this process was told to end: long work stops at its next safe place, and somebody else goes on.
    pub stopping: CancellationToken,
    /// Activities that were cut off because they did not end in time. Nothing is lost by it; they are done again elsewhere.
    pub cut_off: AtomicU32,
}

/// A store and what stands beside it.
#[derive(Clone)]
pub struct StoreHandle {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The graph database that mirrors it, if one does.
    pub graph: Option<Arc<dyn Graph>>,
    /// What `--store` has to say for a command to reach it; never an address with a password in it.
    pub argument: Option<String>,
}

impl World {
    /// A store by its name.
    pub fn store(&self, name: &str) -> Result<&StoreHandle, Failure> {
        self.stores.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.stores.keys().map(String::as_str).collect();
            Failure::new(Code::NoStore, format!("this worker knows no store of that name, only {known:?}"))
        })
    }

    /// A run's store, and its id.
    pub fn run(&self, run: &RunRef) -> Result<(&StoreHandle, RunId), Failure> {
        let id = run.run_id.parse().map_err(|_| Failure::new(Code::InvalidInput, "run_id: expected a UUID"))?;
        Ok((self.store(&run.store)?, id))
    }

    /// A run, with the settings it began with.
    pub async fn load(&self, run: &RunRef) -> Result<(&StoreHandle, RunRecord, RunSettings), Failure> {
        let (handle, id) = self.run(run)?;
        let record = handle.store.run(id).await.or_fail()?;
        let settings = RunSettings::read(&record)?;
        Ok((handle, record, settings))
    }
}
