//! Watching a run: its row is looked at every now and then, and what has changed is sent.
//!
//! The store is asked, and not the engine, so that runs of the local engine and of other workers are watched alike. A watcher
//! holds a place from the first message to the last; there are [`WATCHERS_MAX`].

use std::sync::Arc;
use std::time::Duration;

use dream_activities::failure::ResultExt as _;
use dream_core::failure::Code;
use dream_core::id::RunId;
use dream_ports::Store;
use futures::StreamExt as _;
use futures::stream::{BoxStream, unfold};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::proto::WatchResponse;
use super::status::{failed, status};
use super::wire;
use crate::exit::Fault;

/// Runs watched at once through one worker. Each look is two short reads, so all of them together ask a store for 128 in a
/// second, on the connections that are left beside those of the activities.
pub(super) const WATCHERS_MAX: usize = 64;

/// How often a run is looked at. People do not see more, and a group of ops takes a fifth of that.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Somebody who watches a run.
pub(super) struct Watch {
    store: Arc<dyn Store>,
    run: RunId,
    stopping: CancellationToken,
    /// The place among the watchers, given back with this.
    _place: OwnedSemaphorePermit,
}

/// What is sent, after the first message, which was looked up to see whether there is such a run.
pub(super) fn messages(watch: Watch, first: WatchResponse) -> BoxStream<'static, Result<WatchResponse, Status>> {
    let is_over = first.is_over;
    let rest = unfold((!is_over).then(|| (watch, first.clone())), |watched| async {
        let (watch, sent) = watched?;
        match watch.changed(&sent).await {
            Ok(now) => Some((Ok(now.clone()), (!now.is_over).then_some((watch, now)))),
            Err(status) => Some((Err(status), None)),
        }
    });
    futures::stream::iter([Ok(first)]).chain(rest).boxed()
}

impl Watch {
    /// Watches a run until `stopping` is cancelled, which is when the worker stops.
    pub(super) const fn new(
        store: Arc<dyn Store>,
        run: RunId,
        stopping: CancellationToken,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self { store, run, stopping, _place: place }
    }

    /// Where the run is now.
    pub(super) async fn look(&self) -> Result<WatchResponse, Status> {
        let record = self.store.run(self.run).await.or_fail().map_err(failed)?;
        let counts = self.store.counts(self.run).await.or_fail().map_err(failed)?;
        Ok(wire::progress(record, &counts))
    }

    /// Where the run is, once that is something else than what was sent.
    async fn changed(&self, sent: &WatchResponse) -> Result<WatchResponse, Status> {
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = self.stopping.cancelled() => return Err(worker_stops(self.run)),
            }
            let now = self.look().await?;
            if now != *sent {
                return Ok(now);
            }
        }
    }
}

/// A place among the watchers could not be had.
pub(super) fn no_place() -> Status {
    let fault = Fault::new(Code::StoreBusy, format!("{WATCHERS_MAX} runs are watched through this worker already"));
    status(tonic::Code::ResourceExhausted, &fault)
}

fn worker_stops(run: RunId) -> Status {
    let message = format!("this worker stops, and no longer watches run {run}");
    Fault::new(Code::EngineUnavailable, message).into()
}
