//! Whether a worker lives and is ready, over HTTP for Kubernetes; the gRPC service answers with the same readiness.
//!
//! `/healthz` answers as long as the process can; `/readyz` answers 200 once the worker polls and while every store answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use dream_activities::World;
use futures::future::join_all;

/// How long a store may take to say that it is there. One that takes longer for the smallest of its answers is of no use to
/// a step either, and a probe that has given up meanwhile would not hear which store it is.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Whether the worker polls.
#[derive(Clone, Default)]
pub(crate) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// The worker polls from now on.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the worker is ready, and else what stands against it. All stores are asked at once.
    pub(crate) async fn of(&self, world: &World) -> Result<(), String> {
        if !self.0.load(Ordering::Acquire) {
            return Err("the worker does not poll yet".to_owned());
        }
        let asked = world
            .stores
            .iter()
            .map(|(name, handle)| (name.as_str(), async { handle.store.now().await.map(drop).map_err(drop) }));
        match first_silent(asked, ANSWER_WITHIN).await {
            Some(name) => Err(format!("store {name} does not answer")),
            None => Ok(()),
        }
    }
}

/// The first of those that refused, or did not answer in time.
async fn first_silent<'a, Answer>(asked: impl Iterator<Item = (&'a str, Answer)>, within: Duration) -> Option<&'a str>
where
    Answer: Future<Output = Result<(), ()>>,
{
    let answers = asked.map(|(name, answer)| async move {
        let answered = tokio::time::timeout(within, answer).await.is_ok_and(|answer| answer.is_ok());
        (!answered).then_some(name)
    });
    join_all(answers).await.into_iter().flatten().next()
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
    match checked.readiness.of(&checked.world).await {
        Ok(()) => (StatusCode::OK, "ready".to_owned()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use futures::FutureExt as _;
    use futures::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn stores_that_never_answer_are_given_up_together_and_the_first_is_named() {
        let within = Duration::from_millis(200);
        let began = Instant::now();
        let asked = vec![("one", ready(Ok(())).boxed()), ("two", pending().boxed()), ("three", pending().boxed())];
        assert_eq!(first_silent(asked.into_iter(), within).await, Some("two"));
        assert!(began.elapsed() < within * 2, "they are asked at once: {:?}", began.elapsed());
    }

    #[tokio::test]
    async fn a_store_that_refuses_is_as_good_as_none() {
        let asked = |answer| vec![("one", ready(Ok(()))), ("two", ready(answer))].into_iter();
        assert_eq!(first_silent(asked(Err(())), ANSWER_WITHIN).await, Some("two"));
        assert_eq!(first_silent(asked(Ok(())), ANSWER_WITHIN).await, None);
    }
}
