//! The only place that names the kinds of store and the embedder together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use anyhow::Context as _;
use dream_activities::World;
use dream_activities::embed::Embedder;
use dream_activities::world::StoreHandle;
use dream_core::failure::{Code, Failure};
use dream_ports::{Store, StoreError};
use dream_store_pg::PgStore;
use dream_store_sqlite::SqliteStore;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, StoreConfig};

/// The file that is dreamt over where nothing is configured.
const STORE_DEFAULT: &str = "dream.db";

/// Connections of a command: one works, one renews the lease, two read.
const COMMAND_CONNECTIONS_MAX: u32 = 4;

/// Opens a store by its address, for a command.
pub(crate) async fn open(url: &str, create: bool) -> anyhow::Result<Arc<dyn Store>> {
    open_with(url, create, COMMAND_CONNECTIONS_MAX).await
}

async fn open_with(url: &str, create: bool, connections_max: u32) -> anyhow::Result<Arc<dyn Store>> {
    if is_postgres(url) {
        let store = PgStore::open(url, connections_max).await.map_err(failure)?;
        return Ok(Arc::new(store));
    }
    let path = sqlite_path(url);
    if !create && !path.exists() {
        let message = format!("there is no store at {}", path.display());
        return Err(Failure::new(Code::File, message).into());
    }
    let store = SqliteStore::open(&path, create).await.map_err(failure)?;
    Ok(Arc::new(store))
}

/// Whether an address means a PostgreSQL database.
pub(crate) fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

fn sqlite_path(url: &str) -> PathBuf {
    let path = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(url);
    Path::new(path).to_owned()
}

fn failure(error: StoreError) -> Failure {
    dream_activities::failure::ResultExt::<()>::or_fail(Err(error)).err().unwrap_or_else(|| unreachable!())
}

/// The address that `--store` means: a name of the configuration, or an address.
pub(crate) fn store_config(config: &Config, store: Option<&str>) -> StoreConfig {
    let name = store.unwrap_or("default");
    match config.stores.get(name) {
        Some(store) => store.value.clone(),
        None => StoreConfig { url: store.unwrap_or(STORE_DEFAULT).to_owned(), graph_url: None },
    }
}

/// The name under which a world knows the store that `--store` means.
pub(crate) fn store_name<'a>(config: &Config, store: Option<&'a str>) -> &'a str {
    match store {
        Some(name) if config.stores.contains_key(name) => name,
        _ => "default",
    }
}

/// The world of a process that works on one store.
pub(crate) async fn world(config: &Config, store: Option<&str>) -> anyhow::Result<World> {
    let wanted = store_config(config, store);
    let name = store_name(config, store);
    let handle = handle(&wanted, argument(config, store), COMMAND_CONNECTIONS_MAX).await?;
    let stores = BTreeMap::from([(name.to_owned(), handle)]);
    assemble(config, stores)
}

/// The world of a worker: every store of the configuration, or the one that `--store` means.
pub(crate) async fn worker_world(
    config: &Config,
    store: Option<&str>,
    connections_max: u32,
) -> anyhow::Result<World> {
    let mut stores = BTreeMap::new();
    if store.is_some() || config.stores.is_empty() {
        let (wanted, name) = (store_config(config, store), store_name(config, store));
        stores.insert(name.to_owned(), handle(&wanted, argument(config, store), connections_max).await?);
    } else {
        for (name, store) in &config.stores {
            stores.insert(name.clone(), handle(&store.value, Some(name.clone()), connections_max).await?);
        }
    }
    assemble(config, stores)
}

async fn handle(
    store: &StoreConfig,
    argument: Option<String>,
    connections_max: u32,
) -> anyhow::Result<StoreHandle> {
    let has_graph = store.graph_url.is_some();
    Ok(StoreHandle { store: open_with(&store.url, false, connections_max).await?, has_graph, argument })
}

/// What `--store` has to say for a command to reach the same store: a name, or a path; an address, which may hold a
/// password, is not repeated.
fn argument(config: &Config, store: Option<&str>) -> Option<String> {
    let wanted = store_config(config, store);
    match store {
        Some(name) => Some(name.to_owned()).filter(|name| !is_postgres(name)),
        None => Some(wanted.url).filter(|url| !is_postgres(url) && url != STORE_DEFAULT),
    }
}

fn assemble(config: &Config, stores: BTreeMap<String, StoreHandle>) -> anyhow::Result<World> {
    let embedder = match &config.embedder {
        Some(embedder) => {
            let embedder = &embedder.value;
            let key = match &embedder.key_env {
                Some(name) => Some(std::env::var(name).with_context(|| format!("{name} is named as the embedder's key and not set"))?),
                None => None,
            };
            Some(Embedder::new(&embedder.base_url, &embedder.model, key)?)
        }
        None => None,
    };
    Ok(World {
        stores,
        settings: config.settings.clone(),
        reports: config.reports.value.clone(),
        embedder,
        holder: holder(),
        has_search_attributes: false,
        stopping: CancellationToken::default(),
        cut_off: AtomicU32::new(0),
    })
}

/// This process, for people who look for the holder of a lease.
fn holder() -> String {
    let host = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let host = host.map_or_else(|| "localhost".to_owned(), |host| host.trim().to_owned());
    format!("{host}:{}", std::process::id())
}
