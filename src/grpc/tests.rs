//! The control API through a client and a socket, over a store in a file and runs of the local engine.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dream_activities::World;
use dream_core::run::{DreamInput, Mode};
use dream_ports::run::BeginRun;
use dream_ports::transfer::OnNameClash;
use dream_workflows::contract::Begin;
use dream_workflows::steps::StepError;
use tempfile::TempDir;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use uuid::Uuid;

use super::proto::control_client::ControlClient;
use super::proto::{
    GetRunRequest, LiftStopRequest, ListRunsRequest, OpState, RequestKind, RequestOutcome, RequestRequest, RunState,
    SetStopRequest, WatchRequest,
};
use super::watch::WATCHERS_MAX;
use crate::config::{Config, Origin, Sourced, StoreConfig};
use crate::health::Readiness;
use crate::{demo, local, requests, wiring};

/// How long a test waits for what should come at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// A worker's world over the sample of the demo, and a client of its control API.
struct Lab {
    _folder: TempDir,
    world: Arc<World>,
    readiness: Readiness,
    channel: Channel,
    client: ControlClient<Channel>,
}

impl Lab {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.db").to_string_lossy().into_owned();
        let store = wiring::create(&path).await.unwrap();
        store.migrate(true).await.unwrap();
        let namespace = store.ensure_namespace(demo::NAMESPACE).await.unwrap().id;
        store.import_entities(namespace, &demo::world().entities, OnNameClash::Skip).await.unwrap();

        let mut config = Config::load(Some(Path::new("/dev/null"))).unwrap();
        config.settings.enabled = true;
        config.settings.dedupe_entities_enabled = true;
        let value = StoreConfig { url: path, ..StoreConfig::default() };
        config.stores = [("default".to_owned(), Sourced { value, origin: Origin::Default })].into();
        config.reports = Sourced { value: folder.path().join("reports"), origin: Origin::Default };
        let world = Arc::new(wiring::world(&config, None).await.unwrap());

        let readiness = Readiness::default();
        let anywhere = "127.0.0.1:0".parse().unwrap();
        let address = super::serve(anywhere, world.clone(), readiness.clone(), None).await.unwrap();
        let channel = Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
        Self { _folder: folder, world, readiness, client: ControlClient::new(channel.clone()), channel }
    }

    /// Dreams in this process, to the end or until a person's word is missing; answers the run.
    async fn dream(&self, mode: Mode, resume: Option<&str>) -> String {
        let mut input = DreamInput::of_namespace(demo::NAMESPACE.to_string());
        input.mode = Some(mode);
        input.resume_from = resume.map(|run| run.parse().unwrap());
        let run_id = resume.map_or_else(|| Uuid::now_v7().to_string(), Into::into);
        let begin = Begin { input, run_id: run_id.clone(), engine: requests::LOCAL.to_owned(), workflow_id: None };
        match local::run(self.world.clone(), begin, Arc::new(|_| {})).await {
            Ok(_) | Err(StepError::Suspended) => run_id,
            Err(error) => panic!("{error:?}"),
        }
    }

    /// A run that has begun, and that nobody goes on with.
    async fn begun(&self) -> String {
        let store = &self.world.stores["default"].store;
        let run = Uuid::now_v7();
        let begin = BeginRun {
            run: dream_core::id::RunId(run),
            realm: dream_core::run::Realm::Graph,
            namespace: store.resolve_namespace(demo::NAMESPACE).await.unwrap(),
            mode: Mode::Review,
            trigger: dream_core::run::Trigger::Manual,
            holder: "a test".to_owned(),
            engine: requests::LOCAL.to_owned(),
            workflow_id: None,
            input: "{}".to_owned(),
            settings: "{}".to_owned(),
            skip_reasons: Vec::new(),
            is_resume: false,
            abandon: None,
        };
        store.begin(&begin).await.unwrap();
        run.to_string()
    }

    async fn run(&mut self, run_id: &str) -> super::proto::GetRunResponse {
        let asked = GetRunRequest { run_id: run_id.to_owned(), ..GetRunRequest::default() };
        self.client.get_run(asked).await.unwrap().into_inner()
    }

    async fn ask(&mut self, run_id: &str, kind: RequestKind, plan_hash: &str) -> Result<RequestOutcome, Status> {
        let asked = RequestRequest {
            run_id: run_id.to_owned(),
            kind: kind.into(),
            by: "ada".to_owned(),
            plan_hash: plan_hash.to_owned(),
            ..RequestRequest::default()
        };
        self.client.request(asked).await.map(|answer| answer.into_inner().outcome())
    }

    async fn watch(&mut self, run_id: &str) -> Result<tonic::Streaming<super::proto::WatchResponse>, Status> {
        let asked = WatchRequest { run_id: run_id.to_owned(), ..WatchRequest::default() };
        self.client.watch(asked).await.map(tonic::Response::into_inner)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_newest_first_and_one_is_told_with_its_ops() {
    let mut lab = Lab::new().await;
    let dry_run = lab.dream(Mode::DryRun, None).await;
    let review = lab.dream(Mode::Review, None).await;
    let list = async |client: &mut ControlClient<Channel>, open_only, limit| {
        let namespace = demo::NAMESPACE.to_string();
        let asked = ListRunsRequest { namespace, open_only, limit, ..ListRunsRequest::default() };
        let runs = client.list_runs(asked).await.unwrap().into_inner().runs;
        runs.into_iter().map(|run| run.run_id).collect::<Vec<_>>()
    };
    assert_eq!(list(&mut lab.client, false, 0).await, [review.clone(), dry_run.clone()]);
    assert_eq!(list(&mut lab.client, false, 1).await, std::slice::from_ref(&review));
    assert_eq!(list(&mut lab.client, true, 0).await, std::slice::from_ref(&review));

    let told = lab.run(&review).await;
    let run = told.run.unwrap();
    assert_eq!((run.state(), run.waiting_for.as_str()), (RunState::AwaitingReview, "review"));
    assert_eq!(run.namespace, demo::NAMESPACE.to_string());
    assert!(run.plan_hash.len() == 64 && run.started_at.is_some() && run.finished_at.is_none());
    assert_eq!(told.ops.iter().map(|op| op.count).sum::<u32>(), run.ops_total);
    assert!(told.ops.iter().any(|op| op.kind == "vectorcypher_dedupe_entities" && op.state() == OpState::Sealed));
    assert!(lab.run(&dry_run).await.run.unwrap().finished_at.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_approved_by_its_hash_once_and_never_rejected_afterwards() {
    let mut lab = Lab::new().await;
    let run = lab.dream(Mode::Review, None).await;
    let hash = lab.run(&run).await.run.unwrap().plan_hash;
    let other = lab.ask(&run, RequestKind::Approve, &"0".repeat(64)).await.unwrap_err();
    assert_eq!(other.code(), Code::FailedPrecondition);
    assert!(other.message().contains("another plan"), "{other}");
    assert_eq!(lab.ask(&run, RequestKind::Approve, &hash).await.unwrap(), RequestOutcome::Recorded);
    assert_eq!(lab.ask(&run, RequestKind::Approve, &hash).await.unwrap(), RequestOutcome::AlreadyRecorded);
    let late = lab.ask(&run, RequestKind::Reject, &hash).await.unwrap_err();
    assert_eq!(late.code(), Code::FailedPrecondition);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_no_word_refuses_one_and_says_what_to_do() {
    let mut lab = Lab::new().await;
    let run = lab.begun().await;
    let refused = lab.ask(&run, RequestKind::Approve, &"0".repeat(64)).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(refused.message().contains("does not wait for this"), "{refused}");
    assert!(refused.message().contains("next: look at the run"), "{refused}");
    assert_eq!(refused.metadata().get("dream-code").unwrap(), "DREAM-1012");
    assert_eq!(lab.ask(&run, RequestKind::Cancel, "").await.unwrap(), RequestOutcome::Recorded);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kill_switch_is_set_and_lifted_for_the_store_and_for_a_namespace() {
    let mut lab = Lab::new().await;
    for namespace in [String::new(), demo::NAMESPACE.to_string()] {
        let lift = LiftStopRequest { namespace: namespace.clone(), ..LiftStopRequest::default() };
        assert!(!lab.client.lift_stop(lift.clone()).await.unwrap().into_inner().was_set);
        let (by, why) = ("ada".to_owned(), "a look first".to_owned());
        lab.client.set_stop(SetStopRequest { namespace, by, why, ..SetStopRequest::default() }).await.unwrap();
        let stops = lab.world.stores["default"].store.stops().await.unwrap();
        assert_eq!((stops.len(), stops[0].by.as_str(), stops[0].why.as_str()), (1, "ada", "a look first"));
        assert!(lab.client.lift_stop(lift).await.unwrap().into_inner().was_set);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_hears_of_changes_and_of_the_end_and_then_no_more() {
    let mut lab = Lab::new().await;
    let run = lab.dream(Mode::Review, None).await;
    let mut messages = lab.watch(&run).await.unwrap();
    let first = messages.message().await.unwrap().unwrap();
    assert_eq!((first.state(), first.waiting_for.as_str()), (RunState::AwaitingReview, "review"));
    assert!(first.ops_done < first.ops_total && !first.is_over);

    let hash = lab.run(&run).await.run.unwrap().plan_hash;
    lab.ask(&run, RequestKind::Approve, &hash).await.unwrap();
    lab.dream(Mode::Review, Some(&run)).await;
    let mut heard = vec![first];
    while let Some(message) = messages.message().await.unwrap() {
        assert_ne!(heard.last(), Some(&message), "the same is not said twice");
        heard.push(message);
    }
    let last = heard.pop().unwrap();
    assert!(last.is_over && heard.iter().all(|message| !message.is_over), "{heard:?}");
    assert_eq!((last.state(), last.ops_done), (RunState::Completed, last.ops_total));
    assert!(last.seq > 0);

    let mut over = lab.watch(&run).await.unwrap();
    assert_eq!(over.message().await.unwrap(), Some(last));
    assert_eq!(over.message().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_a_place_for_so_many_watchers_and_one_that_leaves_gives_its_own_back() {
    let mut lab = Lab::new().await;
    let run = lab.begun().await;
    let mut watchers = Vec::new();
    for _ in 0..WATCHERS_MAX {
        watchers.push(lab.watch(&run).await.unwrap());
    }
    assert_eq!(lab.watch(&run).await.unwrap_err().code(), Code::ResourceExhausted);
    watchers.pop();
    let began = Instant::now();
    while let Err(full) = lab.watch(&run).await {
        assert_eq!(full.code(), Code::ResourceExhausted);
        assert!(began.elapsed() < PATIENCE, "the place is not given back");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_stops_says_so_to_those_who_watch() {
    let mut lab = Lab::new().await;
    let run = lab.begun().await;
    let mut messages = lab.watch(&run).await.unwrap();
    messages.message().await.unwrap().unwrap();
    lab.world.stopping.cancel();
    assert_eq!(messages.message().await.unwrap_err().code(), Code::Unavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_named_and_not_repeated() {
    const SAID: &str = "canaryqx";
    let mut lab = Lab::new().await;
    let run_id = lab.begun().await;
    let said = || SAID.to_owned();
    let client = &mut lab.client;
    let get = GetRunRequest { run_id: said(), ..GetRunRequest::default() };
    let watch = WatchRequest { run_id: said(), ..WatchRequest::default() };
    let list = ListRunsRequest { namespace: said(), ..ListRunsRequest::default() };
    let long = ListRunsRequest { limit: 1_001, ..ListRunsRequest::default() };
    let lift = LiftStopRequest { namespace: said(), ..LiftStopRequest::default() };
    let silent = SetStopRequest { by: said(), ..SetStopRequest::default() };
    let asked = RequestRequest { run_id, kind: RequestKind::Approve.into(), ..RequestRequest::default() };
    let no_plan = asked.clone();
    let no_hash = RequestRequest { plan_hash: said(), ..asked.clone() };
    let no_kind = RequestRequest { kind: 99, by: said(), ..asked.clone() };
    let no_end = RequestRequest { by: SAID.repeat(100), ..asked };
    for (field, status) in [
        ("run_id", client.get_run(get).await.unwrap_err()),
        ("run_id", client.watch(watch).await.unwrap_err()),
        ("namespace", client.list_runs(list).await.unwrap_err()),
        ("limit", client.list_runs(long).await.unwrap_err()),
        ("namespace", client.lift_stop(lift).await.unwrap_err()),
        ("why", client.set_stop(silent).await.unwrap_err()),
        ("plan_hash", client.request(no_plan).await.unwrap_err()),
        ("plan_hash", client.request(no_hash).await.unwrap_err()),
        ("kind", client.request(no_kind).await.unwrap_err()),
        ("by", client.request(no_end).await.unwrap_err()),
    ] {
        assert_eq!(status.code(), Code::InvalidArgument, "{field}: {status}");
        assert!(status.message().starts_with(&format!("{field}: expected ")), "{status}");
        assert!(!status.message().contains(SAID), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_a_namespace_or_a_store_that_is_not_there_is_not_found() {
    let mut lab = Lab::new().await;
    let nobody = Uuid::from_u128(7).to_string();
    let run = GetRunRequest { run_id: nobody.clone(), ..GetRunRequest::default() };
    let namespace = ListRunsRequest { namespace: nobody.clone(), ..ListRunsRequest::default() };
    let store = GetRunRequest { store: "canaryqx".to_owned(), run_id: nobody.clone() };
    for status in [
        lab.client.get_run(run).await.unwrap_err(),
        lab.client.list_runs(namespace).await.unwrap_err(),
        lab.client.get_run(store).await.unwrap_err(),
        lab.watch(&nobody).await.unwrap_err(),
        lab.ask(&nobody, RequestKind::Cancel, "").await.unwrap_err(),
    ] {
        assert_eq!(status.code(), Code::NotFound, "{status}");
        assert!(!status.message().contains("canaryqx"), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_not_serving_until_the_worker_is_ready_and_serving_then() {
    let lab = Lab::new().await;
    let mut health = HealthClient::new(lab.channel.clone());
    let service = super::SERVICE.to_owned();
    let mut answers = health.watch(HealthCheckRequest { service }).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    lab.readiness.set();
    while answers.message().await.unwrap().unwrap().status() != ServingStatus::Serving {}
    let whole = health.check(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(whole.status(), ServingStatus::Serving);
}
