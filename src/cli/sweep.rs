//! `dream sweep` and `dream namespaces`

use clap::Args;
use dream_activities::sweep;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{term, wiring};

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    store: StoreArg,
}

impl Sweep {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let world = wiring::world(config, self.store.name()).await?;
        let name = wiring::store_name(config, self.store.name());
        let mut runs = 0;
        loop {
            let swept = sweep::sweep(&world, name).await?;
            runs += swept.runs;
            if !swept.is_more {
                break;
            }
        }
        term::note(&format!("{runs} runs went with their reports and undo records"));
        Ok(if runs == 0 { Exit::Nothing } else { Exit::Done })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Namespaces {
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArg,
}

/// Namespaces read at once.
const NAMESPACES_PER_PAGE: u32 = 500;

impl Namespaces {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let mut namespaces = Vec::new();
        loop {
            let after = namespaces.last().map(|namespace: &dream_ports::run::Namespace| namespace.stable_id);
            let page = store.namespaces(after, NAMESPACES_PER_PAGE).await?;
            let is_last = page.len() < NAMESPACES_PER_PAGE as usize;
            namespaces.extend(page);
            if is_last {
                break;
            }
        }
        if self.json {
            let ids: Vec<_> = namespaces
                .iter()
                .map(|namespace| {
                    serde_json::json!({
                        "stable_id": namespace.stable_id,
                        "row_id": namespace.id,
                        "read_only": namespace.is_read_only,
                    })
                })
                .collect();
            term::json(&ids)?;
        } else if namespaces.is_empty() {
            term::note("there is no namespace yet");
        } else {
            let rows: Vec<Vec<String>> = namespaces
                .iter()
                .map(|namespace| {
                    let rights = if namespace.is_read_only { "read only" } else { "" };
                    vec![namespace.stable_id.to_string(), namespace.id.to_string(), rights.to_owned()]
                })
                .collect();
            term::table_without(&["stable id", "row id", ""], &rows, &["row id"]);
        }
        Ok(if namespaces.is_empty() { Exit::Nothing } else { Exit::Done })
    }
}
