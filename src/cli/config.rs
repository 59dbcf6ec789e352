//! `dream config`

use clap::{Args, Subcommand};
use dream_core::settings::KNOBS;
use serde_json::json;

use crate::address::without_password;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{engine, term};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Shows every value and where it comes from.
    Show(Show),
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Answers as JSON.
    #[arg(long)]
    json: bool,
}

impl ConfigCommand {
    pub(crate) fn run(self, config: &Config) -> Result<Exit, Fault> {
        let Self::Show(show) = self;
        let rows = rows(config);
        if show.json {
            let values: Vec<_> =
                rows.iter().map(|row| json!({ "name": row[0], "value": row[1], "origin": row[2] })).collect();
            term::json(&values)?;
        } else {
            term::table(&["name", "value", "from"], &rows);
        }
        Ok(Exit::Done)
    }
}

fn rows(config: &Config) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = KNOBS
        .iter()
        .map(|knob| {
            let origin = config.origins.get(knob.name).map(ToString::to_string).unwrap_or_default();
            vec![knob.name.to_owned(), config.settings.get(knob), origin]
        })
        .collect();
    for (name, store) in &config.stores {
        let url = without_password(&store.value.url);
        rows.push(vec![format!("stores.{name}.url"), url, store.origin.to_string()]);
        if let Some(graph) = &store.value.graph_url {
            let password = store.value.graph_password_env.as_ref().map(|_| "set".to_owned());
            let beside = [
                ("graph_url", Some(without_password(graph))),
                ("graph_user", store.value.graph_user.clone()),
                ("graph_password_env", password),
                ("graph_database", store.value.graph_database.clone()),
            ];
            rows.extend(beside.into_iter().filter_map(|(setting, value)| {
                Some(vec![format!("stores.{name}.{setting}"), value?, store.origin.to_string()])
            }));
        }
    }
    rows.push(vec![
        "reports".to_owned(),
        config.reports.value.display().to_string(),
        config.reports.origin.to_string(),
    ]);
    if let Some(embedder) = &config.embedder {
        let value = format!("{} at {}", embedder.value.model, without_password(&embedder.value.base_url));
        rows.push(vec!["embedder".to_owned(), value, embedder.origin.to_string()]);
    }
    if let Some(mind) = &config.mind {
        let (value, origin) = (&mind.value, mind.origin.to_string());
        let url = value.base_url().unwrap_or_else(|_| "unusable".to_owned());
        let model = value.shown().unwrap_or_else(|_| "unusable; `dream doctor` says why".to_owned());
        rows.push(vec!["mind".to_owned(), format!("{model} at {}", without_password(&url)), origin.clone()]);
        rows.push(vec!["mind.key".to_owned(), value.key_shown().to_owned(), origin]);
    }
    let temporal = std::env::var("TEMPORAL_ADDRESS");
    let origin = if temporal.is_ok() { "environment TEMPORAL_ADDRESS" } else { "default" };
    rows.push(vec!["temporal".to_owned(), temporal.unwrap_or_else(|_| "none".to_owned()), origin.to_owned()]);
    rows.push(vec![
        "task_queue".to_owned(),
        engine::task_queue(),
        "environment DREAM_TASK_QUEUE or default".to_owned(),
    ]);
    rows
}
