//! The calls of the service `dream.v1.Control`: each reads its request, asks a store, and answers.

use std::sync::Arc;

use dream_activities::World;
use dream_activities::failure::ResultExt as _;
use dream_ports::Store;
use dream_ports::run::{self, RequestKind, RunFilter};
use futures::stream::BoxStream;
use temporalio_client::Client;
use tokio::sync::Semaphore;
use tonic::{Request, Response, Status};

use super::proto::{
    GetRunRequest, GetRunResponse, LiftStopRequest, LiftStopResponse, ListRunsRequest, ListRunsResponse,
    RequestOutcome, RequestRequest, RequestResponse, SetStopRequest, SetStopResponse, WatchRequest, WatchResponse,
    control_server,
};
use super::status::{failed, invalid};
use super::watch::{self, WATCHERS_MAX, Watch};
use super::wire;
use crate::requests::{self, Made};

/// Runs that are listed where no number is named: a screen of them.
const RUNS_DEFAULT: u32 = 20;

/// Most runs that are listed: what an answer can carry, and as many as the command line lists.
const RUNS_MAX: u32 = 1_000;

/// The store that is meant where none is named.
const STORE_DEFAULT: &str = "default";

/// The service, over the stores of a worker.
pub(super) struct Control {
    world: Arc<World>,
    /// The worker's connection to its engine, to wake runs.
    client: Option<Client>,
    watchers: Arc<Semaphore>,
}

impl Control {
    pub(super) fn new(world: Arc<World>, client: Option<Client>) -> Self {
        Self { world, client, watchers: Arc::new(Semaphore::new(WATCHERS_MAX)) }
    }

    fn store(&self, name: &str) -> Result<Arc<dyn Store>, Status> {
        let name = if name.is_empty() { STORE_DEFAULT } else { name };
        Ok(self.world.store(name).map_err(failed)?.store.clone())
    }
}

#[tonic::async_trait]
impl control_server::Control for Control {
    async fn list_runs(&self, request: Request<ListRunsRequest>) -> Result<Response<ListRunsResponse>, Status> {
        let asked = request.into_inner();
        let store = self.store(&asked.store)?;
        let namespace = wire::namespace(&asked.namespace)?;
        let limit = match asked.limit {
            0 => RUNS_DEFAULT,
            1..=RUNS_MAX => asked.limit,
            _ => return Err(invalid("limit", &format!("at most {RUNS_MAX}")).into()),
        };
        let namespace = requests::namespace(store.as_ref(), namespace).await?;
        let filter = RunFilter { namespace, open_only: asked.open_only, limit };
        let runs = store.runs(&filter).await.or_fail().map_err(failed)?;
        Ok(Response::new(ListRunsResponse { runs: runs.into_iter().map(wire::run).collect() }))
    }

    async fn get_run(&self, request: Request<GetRunRequest>) -> Result<Response<GetRunResponse>, Status> {
        let asked = request.into_inner();
        let store = self.store(&asked.store)?;
        let run = wire::run_id(&asked.run_id)?;
        let record = store.run(run).await.or_fail().map_err(failed)?;
        let counts = store.counts(run).await.or_fail().map_err(failed)?;
        Ok(Response::new(GetRunResponse { run: Some(wire::run(record)), ops: wire::ops(&counts) }))
    }

    async fn request(&self, request: Request<RequestRequest>) -> Result<Response<RequestResponse>, Status> {
        let asked = request.into_inner();
        let store = self.store(&asked.store)?;
        let request = run::Request {
            run: wire::run_id(&asked.run_id)?,
            kind: wire::kind(asked.kind)?,
            by: wire::by(asked.by)?,
            plan_hash: wire::plan_hash(&asked.plan_hash)?,
        };
        if matches!(request.kind, RequestKind::Approve | RequestKind::Reject) && request.plan_hash.is_none() {
            return Err(invalid("plan_hash", "the plan that is meant, to approve or to reject it").into());
        }
        let (outcome, is_woken) = match requests::make(store.as_ref(), &request, self.client.as_ref()).await? {
            Made::Recorded { is_woken, .. } => (RequestOutcome::Recorded, is_woken),
            Made::AskedBefore => (RequestOutcome::AlreadyRecorded, false),
        };
        Ok(Response::new(RequestResponse { outcome: outcome.into(), is_woken }))
    }

    async fn set_stop(&self, request: Request<SetStopRequest>) -> Result<Response<SetStopResponse>, Status> {
        let asked = request.into_inner();
        let store = self.store(&asked.store)?;
        let (by, why) = (wire::by(asked.by)?, wire::why(asked.why)?);
        let namespace = requests::namespace(store.as_ref(), wire::namespace(&asked.namespace)?).await?;
        requests::set_stop(store.as_ref(), namespace, &by, &why).await?;
        Ok(Response::new(SetStopResponse {}))
    }

    async fn lift_stop(&self, request: Request<LiftStopRequest>) -> Result<Response<LiftStopResponse>, Status> {
        let asked = request.into_inner();
        let store = self.store(&asked.store)?;
        let namespace = requests::namespace(store.as_ref(), wire::namespace(&asked.namespace)?).await?;
        let was_set = requests::lift_stop(store.as_ref(), namespace).await?;
        Ok(Response::new(LiftStopResponse { was_set }))
    }

    type WatchStream = BoxStream<'static, Result<WatchResponse, Status>>;

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let asked = request.into_inner();
        let store = self.store(&asked.store)?;
        let run = wire::run_id(&asked.run_id)?;
        let place = self.watchers.clone().try_acquire_owned().map_err(|_| watch::no_place())?;
        let watch = Watch::new(store, run, self.world.stopping.clone(), place);
        let first = watch.look().await?;
        Ok(Response::new(watch::messages(watch, first)))
    }
}
