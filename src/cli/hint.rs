//! Commands that a person can give next: with the store and the configuration that were typed, so that they work as they
//! stand.

use dream_activities::begin::input_of;
use dream_core::run::Realm;
use dream_ports::run::RunRecord;

use crate::address::{quoted, without_password};
use crate::config::{Config, Origin};
use crate::engine;

/// What was typed to reach a store.
#[derive(Clone, Copy)]
pub(crate) struct Hints<'a> {
    config: &'a Config,
    store: Option<&'a str>,
}

impl<'a> Hints<'a> {
    /// Hints for whoever typed this `--store`, or nothing.
    pub(crate) const fn new(config: &'a Config, store: Option<&'a str>) -> Self {
        Self { config, store }
    }

    /// A command on the same store.
    pub(crate) fn command(&self, command: &str) -> String {
        let mut text = format!("dream {command}");
        if let Some(store) = self.store.filter(|store| !self.is_in_environment(store)) {
            text.push_str(&format!(" --store {}", quoted(&without_password(store))));
        }
        if let Some(file) = &self.config.file_typed {
            text.push_str(&format!(" --config {}", quoted(&file.to_string_lossy())));
        }
        text
    }

    /// The command that goes on with a run, in the way in which it was begun.
    pub(crate) fn resume(&self, record: &RunRecord) -> String {
        let target = match record.realm {
            Realm::Graph => "graph --namespace",
            Realm::Space => "space --space",
        };
        let mut command = format!("run {target} {} --resume {}", record.stable_namespace, record.run);
        if record.realm == Realm::Graph
            && !self.config.settings.enabled
            && input_of(record).is_ok_and(|input| input.enable)
        {
            command.push_str(" --enable");
        }
        if record.engine == "local" && engine::is_configured() {
            command.push_str(" --on local");
        }
        self.command(&command)
    }

    /// The parser takes the store from the environment too, and from there it is taken again without being typed.
    fn is_in_environment(&self, store: &str) -> bool {
        let known = self.config.stores.get("default");
        known.is_some_and(|known| matches!(known.origin, Origin::Environment(_)) && known.value.url == store)
    }
}
