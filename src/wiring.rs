//! The only place that names the kinds of store, the graph database, the embedder and the model together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use dream_activities::World;
use dream_activities::embed::Embedder;
use dream_activities::world::StoreHandle;
use dream_core::failure::Code;
use dream_graph::NeoGraph;
use dream_mind::WireMind;
use dream_ports::{Graph, Mind, Store};
use dream_store_pg::PgStore;
use dream_store_sqlite::SqliteStore;
use tokio_util::sync::CancellationToken;

use crate::address::{quoted, without_password};
use crate::config::{Config, StoreConfig};
use crate::exit::Fault;

/// The file that is dreamt over where nothing is configured.
const STORE_DEFAULT: &str = "dream.db";

/// Connections of a command: one works, one renews the lease, two read.
const COMMAND_CONNECTIONS_MAX: u32 = 4;

/// Opens the store that `--store` means, for a command. It must be there.
pub(crate) async fn open(config: &Config, store: Option<&str>) -> Result<Arc<dyn Store>, Fault> {
    open_with(&store_config(config, store).url, false, COMMAND_CONNECTIONS_MAX).await
}

/// Opens a store by its address, and makes its file if it is not there.
pub(crate) async fn create(url: &str) -> Result<Arc<dyn Store>, Fault> {
    open_with(url, true, COMMAND_CONNECTIONS_MAX).await
}

async fn open_with(url: &str, create: bool, connections_max: u32) -> Result<Arc<dyn Store>, Fault> {
    if url.trim().is_empty() {
        return Err(Fault::new(Code::Configuration, "the store's address is empty"));
    }
    if is_postgres(url) {
        return Ok(Arc::new(PgStore::open(url, connections_max).await?));
    }
    let path = sqlite_path(url);
    if url.contains("://") && !url.starts_with("sqlite://") {
        let message = format!(
            "{}: this kind of address is not known, only postgres://… and the path of an SQLite file",
            without_password(url)
        );
        return Err(Fault::new(Code::Configuration, message));
    }
    if !create && !path.exists() {
        let path = without_password(&path.to_string_lossy());
        let message = format!(
            "there is no store at {path}; `dream migrate --realm graph --store {}` makes a new one",
            quoted(&path)
        );
        return Err(Fault::new(Code::File, message));
    }
    Ok(Arc::new(SqliteStore::open(&path, create).await?))
}

/// Whether an address means a PostgreSQL database.
pub(crate) fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// The file of the store that `--store` means, if it is one.
pub(crate) fn store_file(config: &Config, store: Option<&str>) -> Option<PathBuf> {
    let url = store_config(config, store).url;
    (!is_postgres(&url)).then(|| sqlite_path(&url))
}

fn sqlite_path(url: &str) -> PathBuf {
    let path = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(url);
    Path::new(path).to_owned()
}

/// The address that `--store` means: a name of the configuration, or an address.
pub(crate) fn store_config(config: &Config, store: Option<&str>) -> StoreConfig {
    let name = store.unwrap_or("default");
    // One that is named by its address is the same store, with what is configured beside it.
    let of_address = || config.stores.values().find(|known| known.value.url == name);
    match config.stores.get(name).or_else(of_address) {
        Some(store) => store.value.clone(),
        None => StoreConfig { url: store.unwrap_or(STORE_DEFAULT).to_owned(), ..StoreConfig::default() },
    }
}

/// The name under which a world knows the store that `--store` means.
pub(crate) fn store_name<'a>(config: &Config, store: Option<&'a str>) -> &'a str {
    match store {
        Some(name) if config.stores.contains_key(name) => name,
        _ => "default",
    }
}

/// What people may read of the store that `--store` means: its name, or its address without what is secret in it.
pub(crate) fn shown(config: &Config, store: Option<&str>) -> String {
    let url = store_config(config, store).url;
    match store {
        Some(name) if config.stores.contains_key(name) => name.to_owned(),
        _ => {
            let named = config.stores.iter().find(|(_, known)| known.value.url == url);
            named.map_or_else(|| without_password(&url), |(name, _)| name.clone())
        }
    }
}

/// The world of a process that works on one store.
pub(crate) async fn world(config: &Config, store: Option<&str>) -> Result<World, Fault> {
    serving_world(config, store, COMMAND_CONNECTIONS_MAX).await
}

/// The same, with as many connections as whoever serves others needs.
pub(crate) async fn serving_world(config: &Config, store: Option<&str>, connections_max: u32) -> Result<World, Fault> {
    let wanted = store_config(config, store);
    let name = store_name(config, store);
    let handle = handle(&wanted, argument(config, store), connections_max).await?;
    let stores = BTreeMap::from([(name.to_owned(), handle)]);
    assemble(config, stores)
}

/// The world of a worker: every store of the configuration, or the one that `--store` means.
pub(crate) async fn worker_world(config: &Config, store: Option<&str>, connections_max: u32) -> Result<World, Fault> {
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

async fn handle(store: &StoreConfig, argument: Option<String>, connections_max: u32) -> Result<StoreHandle, Fault> {
    Ok(StoreHandle { store: open_with(&store.url, false, connections_max).await?, graph: graph(store)?, argument })
}

/// Schemes of a graph database's address; those with a suffix speak TLS, `+ssc` with any certificate.
const GRAPH_SCHEMES: [&str; 6] = ["bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"];

/// The graph database beside a store. Nothing is asked of it yet: one that is away stops no command that can do without.
pub(crate) fn graph(store: &StoreConfig) -> Result<Option<Arc<dyn Graph>>, Fault> {
    let Some(login) = graph_login(store)? else { return Ok(None) };
    Ok(Some(Arc::new(NeoGraph::open(&login.url, &login.user, &login.password, login.database.as_deref()))))
}

/// How a graph database is reached.
pub(crate) struct GraphLogin {
    pub(crate) url: String,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: Option<String>,
}

/// How the graph database beside a store is reached; none where there is none.
pub(crate) fn graph_login(store: &StoreConfig) -> Result<Option<GraphLogin>, Fault> {
    let Some(url) = store.graph_url.as_deref().filter(|url| !url.trim().is_empty()) else { return Ok(None) };
    let address =
        url.split_once("://").filter(|(scheme, _)| GRAPH_SCHEMES.contains(scheme)).map(|(_, address)| address);
    if address.is_none_or(|address| address.contains('@')) {
        let message = format!(
            "{}: expected bolt://host:port for the graph database, with its user and password in settings of their own",
            without_password(url)
        );
        return Err(Fault::new(Code::Configuration, message));
    }
    let password = match &store.graph_password_env {
        // The name is not repeated: the password itself may stand in its place.
        Some(name) => std::env::var(name).map_err(|_| {
            let message = "the variable that is named as the graph database's password is not set";
            Fault::new(Code::Configuration, message)
        })?,
        None => String::new(),
    };
    let user = store.graph_user.as_deref().unwrap_or("neo4j").to_owned();
    Ok(Some(GraphLogin { url: url.to_owned(), user, password, database: store.graph_database.clone() }))
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

fn assemble(config: &Config, stores: BTreeMap<String, StoreHandle>) -> Result<World, Fault> {
    let embedder = match &config.embedder {
        Some(embedder) => {
            let embedder = &embedder.value;
            let key = match &embedder.key_env {
                // The name is not repeated: the key itself may stand in its place.
                Some(name) => Some(std::env::var(name).map_err(|_| {
                    let message = "the variable that is named as the embedder's key is not set";
                    Fault::new(Code::Configuration, message)
                })?),
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
        mind: mind(config)?,
        holder: holder(),
        has_search_attributes: false,
        stopping: CancellationToken::default(),
        cut_off: AtomicU32::new(0),
    })
}

/// The model of server mode. Nothing is asked of it yet.
pub(crate) fn mind(config: &Config) -> Result<Option<Arc<dyn Mind>>, Fault> {
    let Some(mind) = &config.mind else { return Ok(None) };
    let (access, terms) = mind.value.ready(|name| std::env::var(name).ok())?;
    let mind = WireMind::new(access, terms).map_err(|error| Fault::new(Code::Configuration, error.to_string()))?;
    Ok(Some(Arc::new(mind)))
}

/// This process, for people who look for the holder of a lease.
fn holder() -> String {
    let host = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let host = host.map_or_else(|| "localhost".to_owned(), |host| host.trim().to_owned());
    format!("{host}:{}", std::process::id())
}
