//! The control API: the service `dream.v1.Control`, and health, over gRPC.
//!
//! It looks at runs and makes requests, in the same way as the command line, and decides nothing. The protocol is
//! `proto/dream/v1/control.proto`; its types are its own, and `wire` is the one place where they meet the domain's. A new call
//! is a method in `control`.
//!
//! **Invariant:** an answer holds ids, counts, hashes, states and the words of whoever asked; never memory text.

mod control;
mod status;
#[cfg(test)]
mod tests;
mod watch;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dream_activities::World;
use temporalio_client::Client;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::health::Readiness;
use control::Control;
use proto::control_server::ControlServer;

/// The protocol, as it is generated.
#[allow(clippy::allow_attributes_without_reason, clippy::pedantic, unreachable_pub, reason = "generated")]
pub(crate) mod proto {
    tonic::include_proto!("dream.v1");
}

/// The name under which health knows the service; the empty name means the worker as a whole, and both say the same.
const SERVICE: &str = "dream.v1.Control";

/// Largest message that is read. What can be asked fits into a few kilobytes.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// How often a silent client is asked whether it is still there, and how long it may take to say so. One that is gone without
/// a word would otherwise keep its place among the watchers.
const ALIVE_EVERY: Duration = Duration::from_secs(30);
const ALIVE_WITHIN: Duration = Duration::from_secs(10);

/// How often readiness is looked at for the health service, which keeps the last answer: half of the ten seconds between two
/// probes of Kubernetes.
const READY_EVERY: Duration = Duration::from_secs(5);

/// Serves until the worker stops; answers where.
pub(crate) async fn serve(
    address: SocketAddr,
    world: Arc<World>,
    readiness: Readiness,
    client: Option<Client>,
) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let (reporter, health) = tonic_health::server::health_reporter();
    // Until it was looked at, nothing is ready; the reporter would say that it is.
    report(&reporter, ServingStatus::NotServing).await;
    tokio::spawn(keep_reporting(reporter, world.clone(), readiness));
    let stopping = world.stopping.clone();
    let control = ControlServer::new(Control::new(world, client)).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let server = Server::builder()
        .http2_keepalive_interval(Some(ALIVE_EVERY))
        .http2_keepalive_timeout(Some(ALIVE_WITHIN))
        .add_service(health)
        .add_service(control);
    tokio::spawn(async move {
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        if let Err(error) = server.serve_with_incoming_shutdown(incoming, stopping.cancelled_owned()).await {
            tracing::error!(%error, "the control API is no longer served: {error}");
        }
    });
    Ok(address)
}

async fn report(reporter: &HealthReporter, status: ServingStatus) {
    for service in ["", SERVICE] {
        reporter.set_service_status(service, status).await;
    }
}

async fn keep_reporting(reporter: HealthReporter, world: Arc<World>, readiness: Readiness) {
    loop {
        let status = match readiness.of(&world).await {
            Ok(()) => ServingStatus::Serving,
            Err(_) => ServingStatus::NotServing,
        };
        report(&reporter, status).await;
        tokio::select! {
            () = tokio::time::sleep(READY_EVERY) => {}
            () = world.stopping.cancelled() => return report(&reporter, ServingStatus::NotServing).await,
        }
    }
}
