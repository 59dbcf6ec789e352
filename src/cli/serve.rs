//! `dream serve`

use std::net::SocketAddr;
use std::sync::Arc;

use clap::Args;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::face::Face;
use crate::telemetry::{self, LogFormat};
use crate::{engine, rest, term, wiring};

/// Connections to the store: calls hold one for a moment each, a dream up to two.
const CONNECTIONS_MAX: u32 = 16;

/// Serves the spaces of a store to agents over HTTP, each behind its key.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where it listens. What stands before it has to speak TLS, where keys leave the machine.
    #[arg(long, env = "DREAM_LISTEN", default_value = "127.0.0.1:7411")]
    listen: SocketAddr,
    /// How logs are written.
    #[arg(long, env = "DREAM_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    #[command(flatten)]
    store: StoreArg,
}

impl Serve {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        telemetry::init("info,temporalio_sdk_core=warn", self.log_format);
        let world = Arc::new(wiring::serving_world(config, self.store.name(), CONNECTIONS_MAX).await?);
        let face = Face::new(world, wiring::store_name(config, self.store.name()))?;
        let told_by = if engine::is_configured() { "workflows" } else { "this process" };
        rest::serve(self.listen, face, |address| {
            term::note(&format!("serving http://{address}, described at http://{address}/v1/openapi.json"));
            term::note(&format!("dreams are carried out by {told_by}"));
        })
        .await?;
        term::note("stopped");
        Ok(Exit::Done)
    }
}
