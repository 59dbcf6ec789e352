//! Health and readiness over HTTP, for Kubernetes.
//!
//! `/healthz` answers as long as the process can; `/readyz` answers 200 once the worker polls and while every store answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use dream_activities::World;

/// Whether the worker polls.
#[derive(Clone, Default)]
pub(crate) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// The worker polls from now on.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

#[derive(Clone)]
struct Checked {
    world: Arc<World>,
    readiness: Readiness,
}

/// Serves both until the process ends.
pub(crate) async fn serve(address: SocketAddr, world: Arc<World>, readiness: Readiness) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .with_state(Checked { world, readiness });
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "health is no longer served: {error}");
        }
    });
    Ok(())
}

async fn ready(State(checked): State<Checked>) -> (StatusCode, String) {
    if !checked.readiness.0.load(Ordering::Acquire) {
        return (StatusCode::SERVICE_UNAVAILABLE, "the worker does not poll yet".to_owned());
    }
    for (name, handle) in &checked.world.stores {
        if handle.store.now().await.is_err() {
            return (StatusCode::SERVICE_UNAVAILABLE, format!("store {name} does not answer"));
        }
    }
    (StatusCode::OK, "ready".to_owned())
}
