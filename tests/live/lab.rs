//! A place of one's own for a live test: a database, a task queue, workers as real processes.

use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use dream_core::run::DreamInput;
use dream_workflows::contract::{ProgressView, Reported};
use dream_workflows::dream::Dream;
use dream_workflows::lenient::Lenient;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use temporalio_client::errors::WorkflowGetResultError;
use temporalio_client::{
    Client, ClientOptions, Connection, ConnectionOptions, UntypedWorkflow, WorkflowFetchHistoryOptions,
    WorkflowGetResultOptions, WorkflowHandle, WorkflowQueryOptions, WorkflowStartOptions,
};
use temporalio_common::data_converters::RawValue;
use temporalio_common::protos::temporal::api::common::v1::Payload;
use temporalio_common::protos::temporal::api::history::v1::HistoryEvent;
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;
use uuid::Uuid;

use crate::support::program::Program;
use crate::support::world::NAMESPACE;

/// How long a test waits for what should come within seconds, on a machine that does other things beside it.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// The store of a lab, by its name.
pub const STORE: &str = "default";

/// A database, a task queue and a program that knows both.
pub struct Lab {
    pub program: Program,
    pub url: String,
    pub queue: String,
    pub client: Client,
}

impl Lab {
    /// An empty database with Khora's tables, and a queue that no worker polls yet.
    pub async fn new() -> Self {
        let name = format!("t_{}", Uuid::now_v7().simple());
        let server = variable("DREAM_TEST_POSTGRES_URL");
        let mut connection = PgConnection::connect(&server).await.unwrap();
        sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        let url = format!("{base}/{name}");
        let mut program = Program::new();
        program.set("DREAM_STORE", &url);
        program.set("DREAM_TASK_QUEUE", &name);
        program.set("TEMPORAL_ADDRESS", &variable("TEMPORAL_ADDRESS"));
        Self { program, url, queue: name, client: client().await }
    }

    /// A lab whose namespace holds a world.
    pub async fn with(lines: &str) -> Self {
        let lab = Self::new().await;
        lab.program.import(STORE, NAMESPACE, lines);
        lab
    }

    /// A connection to the lab's database, to look or to disturb.
    pub async fn database(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    /// Starts a worker that ends with the test; `more` are arguments.
    pub fn worker(&self, more: &[&str]) -> Worker {
        let log = self.program.path(&format!("worker-{}.log", Uuid::now_v7().simple()));
        let child = self.program.start_logged(&[&["worker"], more].concat(), &log);
        let worker = Worker { child, log };
        eventually("the worker polls", || worker.log().contains("polling").then_some(()));
        worker
    }

    /// The content of the namespace.
    pub fn content(&self) -> String {
        self.program.content(STORE, NAMESPACE)
    }

    /// Starts a dream and answers its handle.
    pub async fn start(&self, input: DreamInput) -> WorkflowHandle<Client, Dream> {
        let id = format!("test/{}", Uuid::now_v7());
        let options = WorkflowStartOptions::new(self.queue.clone(), id.clone()).build();
        self.client.start_workflow(Dream::run, Lenient::Ok(input), options).await.unwrap();
        self.client.get_workflow_handle::<Dream>(id)
    }

    /// Dreams to the end.
    pub async fn dream(&self, input: DreamInput) -> Reported {
        result(&self.start(input).await).await.unwrap()
    }

    /// Starts any workflow with any payloads, as the Web UI can.
    pub async fn start_raw(&self, workflow: &str, payloads: Vec<Payload>) -> WorkflowHandle<Client, UntypedWorkflow> {
        let id = format!("test/{}", Uuid::now_v7());
        let options = WorkflowStartOptions::new(self.queue.clone(), id).build();
        self.client.start_workflow(UntypedWorkflow::new(workflow), RawValue::new(payloads), options).await.unwrap()
    }

    /// What stands in the run's row and counts.
    pub fn status(&self, run: &str) -> Value {
        self.program.run(&["status", run, "--json"]).expect(0).json()
    }

    /// Waits until a run reaches a phase, and answers where it is.
    pub async fn reach(
        &self,
        handle: &WorkflowHandle<Client, Dream>,
        what: &str,
        is_there: impl Fn(&ProgressView) -> bool,
    ) -> ProgressView {
        let begun = Instant::now();
        loop {
            if let Ok(view) = handle.query(Dream::progress, (), WorkflowQueryOptions::default()).await
                && is_there(&view)
            {
                return view;
            }
            assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The input of a dream over the namespace of the tests, from the JSON that a person would type beside `namespace`.
#[expect(clippy::needless_pass_by_value, reason = "it is written where it is passed")]
pub fn input(fields: Value) -> DreamInput {
    let mut input = json!({ "namespace": NAMESPACE });
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(input).unwrap()
}

/// The end of a dream.
pub async fn result(handle: &WorkflowHandle<Client, Dream>) -> Result<Reported, WorkflowGetResultError> {
    handle.get_result(WorkflowGetResultOptions::default()).await
}

/// All events of a workflow so far.
pub async fn history(handle: &WorkflowHandle<Client, Dream>) -> Vec<HistoryEvent> {
    handle.fetch_history(WorkflowFetchHistoryOptions::default()).into_events().await.unwrap()
}

/// Activities that a history has the ends of.
pub fn completed(events: &[HistoryEvent]) -> usize {
    let is_completed =
        |attributes: &Attributes| matches!(attributes, Attributes::ActivityTaskCompletedEventAttributes(_));
    events.iter().filter(|event| event.attributes.as_ref().is_some_and(is_completed)).count()
}

/// A client of the Temporal server.
pub async fn client() -> Client {
    let url: url::Url = format!("http://{}", variable("TEMPORAL_ADDRESS")).parse().unwrap();
    let options = ConnectionOptions::new(url).identity("dream tests".to_owned()).build();
    let connection = Connection::connect(options).await.unwrap();
    Client::new(connection, ClientOptions::new("default").build()).unwrap()
}

/// A variable that `tests/services env` sets.
pub fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set; run tests/run, or: eval \"$(tests/services env)\""))
}

/// Waits for something that comes soon.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A worker process.
pub struct Worker {
    child: Child,
    log: PathBuf,
}

impl Worker {
    /// Everything it has said.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Ends it at once, as a crash would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The most memory it has held so far, in megabytes (Linux).
    pub fn peak_megabytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let sent =
            std::process::Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Its exit code, once it has ended.
    pub fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().map(|status| status.code().unwrap_or(-1))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
