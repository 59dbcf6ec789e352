//! `dream mcp`

use std::sync::Arc;

use clap::Args;
use dream_core::failure::Code;
use dream_core::id::NamespaceId;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio;
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::face::Face;
use crate::mcp::Tools;
use crate::telemetry::{self, LogFormat};
use crate::wiring;

/// Gives an agent the memory of a space, and its dreams, as MCP tools over the standard input and output.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The space.
    #[arg(long, env = "DREAM_SPACE")]
    space: Uuid,
    #[command(flatten)]
    store: StoreArg,
}

impl Mcp {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        // Logs go to the standard error; the standard output speaks the protocol.
        telemetry::init("warn", LogFormat::Text);
        let world = Arc::new(wiring::world(config, self.store.name()).await?);
        let name = wiring::store_name(config, self.store.name());
        let space = world.store(name)?.store.space(NamespaceId(self.space)).await?.id;
        let face = Face::new(world, name)?;
        let broken = |_| Fault::new(Code::File, "the standard input and output do not speak MCP");
        let tools = Tools::new(face.clone(), Some(space)).serve(stdio()).await.map_err(broken)?;
        let _reason = tools.waiting().await;
        face.settled().await;
        Ok(Exit::Done)
    }
}
