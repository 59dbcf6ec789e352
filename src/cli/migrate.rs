//! `dream migrate`

use clap::Args;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::{term, wiring};

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// Which content tables to create where they are missing.
    #[arg(long, value_parser = ["graph", "space"])]
    realm: String,
    #[command(flatten)]
    store: StoreArg,
}

impl Migrate {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let store = wiring::create(&wiring::store_config(config, self.store.name()).url).await?;
        let before = store.probe().await?;
        // A store that Khora made has its content tables, and keeps them as they are.
        store.migrate(self.realm == "graph" && before.chunk_tables.is_empty()).await?;
        let after = store.probe().await?;
        term::note(&format!("the tables of Dream Worker are in place ({} {})", after.dialect, after.version));
        Ok(Exit::Done)
    }
}
