//! `dream worker`

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dream_core::failure::Code;

use super::StoreArg;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::health::{self, Readiness};
use crate::telemetry::{self, LogFormat};
use crate::worker::{self, Tuning};
use crate::{engine, grpc, term, wiring};

/// Connections of one activity: one works, one renews the lease.
const CONNECTIONS_PER_ACTIVITY: u32 = 2;

/// Connections for readiness and requests.
const CONNECTIONS_BESIDE: u32 = 4;

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// The queue to poll.
    #[arg(long, env = "DREAM_TASK_QUEUE", default_value = engine::TASK_QUEUE_DEFAULT)]
    task_queue: String,
    /// Activities at once. Each holds up to two connections to its store.
    #[arg(long, env = "DREAM_ACTIVITIES_MAX", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=512))]
    activities_max: u16,
    /// Workflows kept in memory; with 0 every task is replayed from its history.
    #[arg(long, env = "DREAM_WORKFLOWS_CACHED_MAX", default_value_t = 500)]
    workflows_cached_max: u16,
    /// Seconds that running activities may take to end after a SIGTERM.
    #[arg(long, env = "DREAM_GRACE_SECONDS", default_value_t = 20)]
    grace_seconds: u16,
    /// Where health (`/healthz`) and readiness (`/readyz`) are served.
    #[arg(long, env = "DREAM_HEALTH_ADDRESS")]
    health: Option<SocketAddr>,
    /// Where the control API is served over gRPC, with health beside it. It asks nobody who they are: leave it to a network
    /// of your own.
    #[arg(long, env = "DREAM_GRPC_ADDRESS")]
    grpc: Option<SocketAddr>,
    /// How logs are written.
    #[arg(long, env = "DREAM_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    #[command(flatten)]
    store: StoreArg,
}

impl Worker {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        telemetry::init("info,temporalio_sdk_core=warn", self.log_format);
        let connections = u32::from(self.activities_max) * CONNECTIONS_PER_ACTIVITY + CONNECTIONS_BESIDE;
        let mut world = wiring::worker_world(config, self.store.name(), connections).await?;
        let client = engine::connect(&world.holder).await?;
        world.has_search_attributes = engine::ensure_search_attributes(&client).await;
        let world = Arc::new(world);
        let readiness = Readiness::default();
        if let Some(address) = self.health {
            let served = health::serve(address, world.clone(), readiness.clone()).await;
            served.map_err(|error| cannot_be_served("--health", address, &error))?;
        }
        if let Some(address) = self.grpc {
            let served = grpc::serve(address, world.clone(), readiness.clone(), Some(client.clone())).await;
            served.map_err(|error| cannot_be_served("--grpc", address, &error))?;
        }
        if config.otlp.metrics {
            telemetry::keep_counting_outboxes(world.clone());
        }
        let tuning = Tuning {
            task_queue: self.task_queue.clone(),
            activities_max: self.activities_max.into(),
            workflows_cached_max: self.workflows_cached_max.into(),
            grace: Duration::from_secs(self.grace_seconds.into()),
        };
        let stores: Vec<&str> = world.stores.keys().map(String::as_str).collect();
        let note = format!("polling {} for {stores:?}", self.task_queue);
        worker::run(world.clone(), client, &tuning, || {
            readiness.set();
            term::note(&note);
        })
        .await?;
        match world.cut_off.load(std::sync::atomic::Ordering::Relaxed) {
            0 => term::note("stopped; nothing was cut off"),
            count => term::note(&format!("stopped; {count} activities were cut off and are done again elsewhere")),
        }
        Ok(Exit::Done)
    }
}

fn cannot_be_served(argument: &str, address: SocketAddr, error: &std::io::Error) -> Fault {
    Fault::new(Code::Configuration, format!("{argument} {address}: cannot be served there: {}", error.kind()))
}
