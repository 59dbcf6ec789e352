//! Configuration: defaults, then a file, then the environment, then flags. Each value knows where it comes from.
//!
//! **Invariant:** the settings of dreams are read from the environment here and nowhere else. A secret is never shown.

mod mind;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dream_core::failure::Code;
use dream_core::settings::{KNOBS, Knob, Settings};
use serde::Deserialize;

use crate::exit::{Fault, OrFile as _};
use crate::misfit;

pub(crate) use mind::MindConfig;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The program's own.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
    /// An argument.
    Flag(&'static str),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "argument {name}"),
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// A store: its address, and the graph database beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreConfig {
    /// `postgres://…`, or the path of an SQLite file.
    pub(crate) url: String,
    /// `bolt://host:port`, of Neo4j or Memgraph; its user and password stand beside, not in it.
    #[serde(default)]
    pub(crate) graph_url: Option<String>,
    /// Who logs in there; `neo4j` if it is not said.
    #[serde(default)]
    pub(crate) graph_user: Option<String>,
    /// The variable of the environment that holds the password.
    #[serde(default)]
    pub(crate) graph_password_env: Option<String>,
    /// The database there; the server's own choice if it is not said.
    #[serde(default)]
    pub(crate) graph_database: Option<String>,
}

/// Who makes vectors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmbedderConfig {
    /// `https://host/v1`, or any endpoint that speaks alike.
    pub(crate) base_url: String,
    /// The model.
    pub(crate) model: String,
    /// The variable of the environment that holds the key.
    #[serde(default)]
    pub(crate) key_env: Option<String>,
}

/// The file, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    reports: Option<PathBuf>,
    stores: BTreeMap<String, StoreConfig>,
    embedder: Option<EmbedderConfig>,
    mind: Option<MindConfig>,
    dream: toml::Table,
}

/// Whether traces and metrics are sent to a collector. Where to, and how, the exporters read themselves, in the variables
/// that every program with OpenTelemetry has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Otlp {
    pub(crate) traces: bool,
    pub(crate) metrics: bool,
    /// The name under which they are sent, where one is set.
    pub(crate) service_name: Option<String>,
    /// The variable that names a collector by no address. The exporters would send to the machine itself, and say nothing.
    pub(crate) unusable: Option<String>,
}

impl Otlp {
    fn from(environment: &BTreeMap<String, String>) -> Self {
        // An empty variable is one that is not set, for every program with OpenTelemetry.
        let said = |name: &str| environment.get(name).filter(|text| !text.trim().is_empty());
        let is_disabled = said("OTEL_SDK_DISABLED").is_some_and(|text| text.trim().eq_ignore_ascii_case("true"));
        let [both, traces, metrics] = ["", "TRACES_", "METRICS_"].map(|of| format!("OTEL_EXPORTER_OTLP_{of}ENDPOINT"));
        let goes = |name: &str| !is_disabled && (said(&both).is_some() || said(name).is_some());
        let (goes_traces, goes_metrics) = (goes(&traces), goes(&metrics));
        let is_unusable = |name: &String| said(name).is_some_and(|text| !is_http(text));
        Self {
            traces: goes_traces,
            metrics: goes_metrics,
            service_name: said("OTEL_SERVICE_NAME").cloned(),
            unusable: [both, traces, metrics].into_iter().find(|name| !is_disabled && is_unusable(name)),
        }
    }
}

/// Whether an address is one that is spoken to over HTTP.
fn is_http(text: &str) -> bool {
    let address = text.trim().parse::<axum::http::Uri>();
    address.is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some())
}

/// Everything that is configured.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// What an operator may turn.
    pub(crate) settings: Settings,
    /// Where each knob's value comes from.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    /// Stores by name.
    pub(crate) stores: BTreeMap<String, Sourced<StoreConfig>>,
    /// Where reports lie.
    pub(crate) reports: Sourced<PathBuf>,
    /// Who makes vectors.
    pub(crate) embedder: Option<Sourced<EmbedderConfig>>,
    /// Who answers the questions of spaces in server mode.
    pub(crate) mind: Option<Sourced<MindConfig>>,
    /// Whether traces and metrics are sent to a collector.
    pub(crate) otlp: Otlp,
    /// The file that an argument names; one that the environment names is found again without being named.
    pub(crate) file_typed: Option<PathBuf>,
}

/// The variable with the password of the graph database of the store in `DREAM_STORE`.
const GRAPH_PASSWORD: &str = "DREAM_GRAPH_PASSWORD";

impl StoreConfig {
    /// A store beside which the graph database of the environment stands, if one does.
    pub(crate) fn with_graph(url: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            url: url.to_owned(),
            graph_url: variable("DREAM_GRAPH"),
            graph_user: variable("DREAM_GRAPH_USER"),
            graph_password_env: variable(GRAPH_PASSWORD).map(|_| GRAPH_PASSWORD.to_owned()),
            graph_database: variable("DREAM_GRAPH_DATABASE"),
        }
    }
}

/// Prefix of Khora's variables, which are ours for the graph realm.
const KHORA_PREFIX: &str = "KHORA_DREAM_";

/// The file that is read where none is named.
const FILE_DEFAULT: &str = "dream.toml";

impl Config {
    /// Reads everything.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, Fault> {
        let text = |text: std::ffi::OsString| text.into_string().ok();
        let environment: BTreeMap<String, String> =
            std::env::vars_os().filter_map(|(name, value)| text(name).zip(text(value))).collect();
        Self::from(file, &environment)
    }

    fn from(file: Option<&Path>, environment: &BTreeMap<String, String>) -> Result<Self, Fault> {
        let in_environment = environment.get("DREAM_CONFIG").map(PathBuf::from);
        let mut config = Self {
            settings: Settings::default(),
            origins: KNOBS.iter().map(|knob| (knob.name, Origin::Default)).collect(),
            stores: BTreeMap::new(),
            reports: Sourced { value: reports_default(environment), origin: Origin::Default },
            embedder: None,
            mind: None,
            otlp: Otlp::from(environment),
            file_typed: file.filter(|file| in_environment.as_deref() != Some(*file)).map(Path::to_owned),
        };
        let named = file.map(Path::to_owned).or(in_environment);
        let path = named.clone().unwrap_or_else(|| PathBuf::from(FILE_DEFAULT));
        if named.is_some() || path.exists() {
            config.read_file(&path)?;
        }
        config.read_environment(environment)?;
        Ok(config)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), Fault> {
        let text = std::fs::read_to_string(path).or_file(path, "read")?;
        let file: File = misfit::toml(&text)
            .map_err(|misfit| Fault::new(Code::Configuration, format!("{}, {misfit}", path.display())))?;
        let origin = Origin::File(path.to_owned());
        if let Some(reports) = file.reports {
            self.reports = Sourced { value: reports, origin: origin.clone() };
        }
        for (name, store) in file.stores {
            self.stores.insert(name, Sourced { value: store, origin: origin.clone() });
        }
        self.embedder = file.embedder.map(|value| Sourced { value, origin: origin.clone() });
        self.mind = file.mind.map(|value| Sourced { value, origin: origin.clone() });
        let mut texts = BTreeMap::new();
        for (name, value) in file.dream {
            match value {
                toml::Value::Table(table) if name == "ops" => {
                    texts.extend(table.into_iter().map(|(op, value)| (format!("ops.{op}"), knob_text(value))));
                }
                value => {
                    texts.insert(name, knob_text(value));
                }
            }
        }
        if let Some(unknown) = texts.keys().find(|name| find(name).is_none()) {
            let message = format!("{}: [dream] has no setting {unknown}", path.display());
            return Err(Fault::new(Code::Configuration, message));
        }
        for knob in KNOBS {
            let names = [Some(knob.name), knob.alias].into_iter().flatten();
            let said: Vec<(String, &String)> =
                names.filter_map(|name| Some((name.to_owned(), texts.get(name)?))).collect();
            self.set(knob, &said, |_| origin.clone())?;
        }
        Ok(())
    }

    fn read_environment(&mut self, environment: &BTreeMap<String, String>) -> Result<(), Fault> {
        for knob in KNOBS {
            let said: Vec<(String, &String)> = variables(knob)
                .into_iter()
                .filter_map(|name| environment.get(&name).map(|text| (name, text)))
                .collect();
            self.set(knob, &said, |name| Origin::Environment(name.to_owned()))?;
        }
        if let Some(reports) = environment.get("DREAM_REPORTS") {
            let origin = Origin::Environment("DREAM_REPORTS".to_owned());
            self.reports = Sourced { value: reports.into(), origin };
        }
        if let Some(url) = environment.get("DREAM_STORE") {
            let value = StoreConfig::with_graph(url, |name| environment.get(name).cloned());
            let origin = Origin::Environment("DREAM_STORE".to_owned());
            self.stores.insert("default".to_owned(), Sourced { value, origin });
        }
        if let Some(base_url) = environment.get("DREAM_EMBEDDER_URL") {
            let value = EmbedderConfig {
                base_url: base_url.clone(),
                model: environment.get("DREAM_EMBEDDER_MODEL").cloned().unwrap_or_default(),
                key_env: environment.contains_key("DREAM_EMBEDDER_KEY").then(|| "DREAM_EMBEDDER_KEY".to_owned()),
            };
            if value.model.is_empty() {
                let message = "DREAM_EMBEDDER_URL is set and DREAM_EMBEDDER_MODEL is not";
                return Err(Fault::new(Code::Configuration, message));
            }
            let origin = Origin::Environment("DREAM_EMBEDDER_URL".to_owned());
            self.embedder = Some(Sourced { value, origin });
        }
        self.mind = mind::read(self.mind.take(), environment)?;
        Ok(())
    }

    /// Sets a knob to what is said of it, under one or more of its names, which must agree.
    fn set(&mut self, knob: &Knob, said: &[(String, &String)], origin: impl Fn(&str) -> Origin) -> Result<(), Fault> {
        let Some((name, text)) = said.first() else { return Ok(()) };
        let mut settings = Vec::new();
        for (name, text) in said {
            let mut setting = self.settings.clone();
            setting
                .set(knob.name, text)
                .map_err(|error| Fault::new(Code::Configuration, format!("{name}: {error}")))?;
            settings.push(setting);
        }
        if let Some(other) = settings.iter().position(|setting| *setting != settings[0]) {
            let message = format!("{name} and {} mean the same and say different things", said[other].0);
            return Err(Fault::new(Code::Configuration, message));
        }
        self.settings.set(knob.name, text).map_err(|error| Fault::new(Code::Configuration, error.to_string()))?;
        self.origins.insert(knob.name, origin(name));
        Ok(())
    }

    /// Sets a knob by an argument of the command line.
    pub(crate) fn set_flag(&mut self, name: &'static str, text: &str, flag: &'static str) -> Result<(), Fault> {
        self.settings.set(name, text).map_err(|error| Fault::new(Code::Configuration, format!("{flag}: {error}")))?;
        self.origins.insert(name, Origin::Flag(flag));
        Ok(())
    }
}

fn find(name: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.name == name || knob.alias == Some(name))
}

/// The variables that set a knob: its name, and its alias in both of Khora's spellings.
fn variables(knob: &Knob) -> Vec<String> {
    let mut names = vec![format!("{KHORA_PREFIX}{}", knob.name.to_uppercase())];
    if let Some(alias) = knob.alias {
        for dot in ["_", "__"] {
            names.push(format!("{KHORA_PREFIX}{}", alias.to_uppercase().replace('.', dot)));
        }
    }
    names
}

fn knob_text(value: toml::Value) -> String {
    match value {
        toml::Value::String(text) => text,
        toml::Value::Array(items) => items.into_iter().map(knob_text).collect::<Vec<_>>().join(","),
        toml::Value::Table(table) => serde_json::to_string(&table).unwrap_or_default(),
        value => value.to_string(),
    }
}

/// Where reports lie unless it is said: a folder that survives a restart, never the system's temporary one.
fn reports_default(environment: &BTreeMap<String, String>) -> PathBuf {
    let state = environment.get("XDG_STATE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(environment.get("HOME").map_or(".", String::as_str)).join(".local/state");
    state.unwrap_or_else(home).join("dream/reports")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn load(pairs: &[(&str, &str)]) -> Result<Config, Fault> {
        Config::from(Some(Path::new("/dev/null")), &environment(pairs))
    }

    #[test]
    fn both_names_of_a_switch_set_it_and_must_agree() {
        for name in ["DEDUPE_ENTITIES_ENABLED", "OPS_DEDUPE_ENTITIES", "OPS__DEDUPE_ENTITIES"] {
            let config = load(&[(&format!("KHORA_DREAM_{name}"), "true")]).unwrap();
            assert!(config.settings.dedupe_entities_enabled, "{name}");
        }
        let conflict =
            load(&[("KHORA_DREAM_OPS_DEDUPE_ENTITIES", "true"), ("KHORA_DREAM_DEDUPE_ENTITIES_ENABLED", "false")]);
        assert!(conflict.unwrap_err().to_string().contains("say different things"));
    }

    #[test]
    fn the_environment_wins_over_the_file_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dream.toml");
        let text = "[dream]\nretention_days = 3\nredact_text = \"all\"\n[dream.ops]\ndedupe_entities = true\n";
        std::fs::write(&file, text).unwrap();
        let config = Config::from(Some(&file), &environment(&[("KHORA_DREAM_RETENTION_DAYS", "9")])).unwrap();
        assert_eq!(config.settings.retention_days, 9);
        assert!(config.settings.dedupe_entities_enabled);
        assert_eq!(config.origins["retention_days"].to_string(), "environment KHORA_DREAM_RETENTION_DAYS");
        assert_eq!(config.origins["redact_text"], Origin::File(file));
        assert_eq!(config.origins["enabled"], Origin::Default);
    }

    #[test]
    fn a_setting_that_does_not_exist_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dream.toml");
        std::fs::write(&file, "[dream]\nretention = 3\n").unwrap();
        let error = Config::from(Some(&file), &BTreeMap::new()).unwrap_err();
        assert!(error.to_string().contains("no setting retention"), "{error}");
    }

    #[test]
    fn a_collector_is_named_for_both_signals_or_for_one_and_can_be_switched_off() {
        let goes = |pairs: &[(&str, &str)]| {
            let otlp = load(pairs).unwrap().otlp;
            (otlp.traces, otlp.metrics)
        };
        let both = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
        assert_eq!(goes(&[]), (false, false));
        assert_eq!(goes(&[both]), (true, true));
        assert_eq!(goes(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", both.1)]), (false, true));
        assert_eq!(goes(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", both.1)]), (true, false));
        assert_eq!(goes(&[(both.0, " ")]), (false, false));
        assert_eq!(goes(&[both, ("OTEL_SDK_DISABLED", "true")]), (false, false));
        let unusable = load(&[both, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4317")]).unwrap().otlp.unusable;
        assert_eq!(unusable.as_deref(), Some("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"));
    }

    #[test]
    fn out_of_bounds_is_refused_with_the_name_it_was_said_under() {
        let error = load(&[("KHORA_DREAM_DEDUPE_ENTITIES_DEFAULT_THRESHOLD", "7")]).unwrap_err();
        assert!(error.to_string().contains("KHORA_DREAM_DEDUPE_ENTITIES_DEFAULT_THRESHOLD"), "{error}");
    }
}
