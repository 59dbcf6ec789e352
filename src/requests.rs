//! What people ask of a run and of a store, whichever face it comes through: the command line or gRPC.
//!
//! **Invariant:** a request is a row, which the store checks and writes in one transaction. Waking the workflow afterwards only
//! shortens the time until the run looks at it.

use dream_core::failure::Code;
use dream_core::id::NamespaceId;
use dream_ports::Store;
use dream_ports::run::{Request, RequestOutcome, RunRecord};
use temporalio_client::Client;
use uuid::Uuid;

use crate::engine;
use crate::exit::Fault;

/// The name of the engine that is a process, and not a server.
pub(crate) const LOCAL: &str = "local";

/// Who asks, where nobody says so.
pub(crate) const UNNAMED: &str = "unnamed";

/// What became of a request that was not refused.
pub(crate) enum Made {
    /// It stands.
    Recorded {
        /// The run, as it was when it was asked.
        record: Box<RunRecord>,
        /// Whether the workflow was told to look at once.
        is_woken: bool,
    },
    /// The same was asked before.
    AskedBefore,
}

/// Makes a request and sees to it that it is heeded soon. A process that is connected to the engine passes its `client`.
pub(crate) async fn make(store: &dyn Store, request: &Request, client: Option<&Client>) -> Result<Made, Fault> {
    let record = Box::new(store.run(request.run).await?);
    let refused = |text: &str| Err(Fault::new(Code::WrongState, format!("run {} {text}", request.run)));
    match store.request(request).await? {
        RequestOutcome::Recorded => {
            let is_woken = record.engine != LOCAL && engine::wake(client, record.workflow_id.as_deref()).await;
            Ok(Made::Recorded { record, is_woken })
        }
        RequestOutcome::AlreadyRecorded => Ok(Made::AskedBefore),
        RequestOutcome::TooLate => refused("was asked for the opposite before"),
        RequestOutcome::RunClosed => refused("is over"),
        RequestOutcome::NotWaiting => refused("does not wait for this"),
        RequestOutcome::OtherPlan => refused("has another plan than the one that is meant"),
    }
}

/// The namespace that is meant by either of its ids; none where none is.
pub(crate) async fn namespace(store: &dyn Store, id: Option<Uuid>) -> Result<Option<NamespaceId>, Fault> {
    Ok(match id {
        Some(id) => Some(store.resolve_namespace(id).await?.id),
        None => None,
    })
}

/// Sets the kill switch of a namespace, or of the whole store.
pub(crate) async fn set_stop(
    store: &dyn Store,
    namespace: Option<NamespaceId>,
    by: &str,
    why: &str,
) -> Result<(), Fault> {
    Ok(store.set_stop(namespace, Some((by, why))).await?)
}

/// Lifts the kill switch of a namespace, or of the whole store; answers whether it was set.
pub(crate) async fn lift_stop(store: &dyn Store, namespace: Option<NamespaceId>) -> Result<bool, Fault> {
    let was_set = store.stops().await?.iter().any(|stop| stop.namespace == namespace);
    if was_set {
        store.set_stop(namespace, None).await?;
    }
    Ok(was_set)
}
