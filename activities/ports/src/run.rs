//! Runs, leases, requests and switches.

use async_trait::async_trait;
use dream_core::change::Column;
use dream_core::clock::Moment;
use dream_core::digest::TextKey;
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::plan::PlanHash;
use dream_core::run::{Admission, Counts, Mode, Realm, RunState, SkipReason, Trigger};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StoreError;

/// What a store is and has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// `postgres` or `sqlite`.
    pub dialect: String,
    /// The server's or library's version.
    pub version: String,
    /// Whether our own tables are there, and of this program's version.
    pub is_migrated: bool,
    /// Tables of which chunks are looked up.
    pub chunk_tables: Vec<String>,
    /// Whether `khora_dream_runs` exists and is kept true.
    pub has_khora_runs: bool,
    /// Whether `temporal_edges` exists.
    pub has_temporal_edges: bool,
    /// Whether a chunk table says when a chunk was last recalled.
    pub has_recall_times: bool,
    /// Where the vectors are.
    pub vectors: VectorsAt,
    /// Length of a vector; none if unknown.
    pub dimension: Option<u32>,
    /// Columns of the content tables that this program would write and that are missing.
    pub missing_columns: Vec<(String, Column)>,
}

/// Where the vectors of a store are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorsAt {
    /// In the store itself.
    Store,
    /// In a LanceDB folder beside the file, which is neither read nor written.
    Lancedb,
}

/// A namespace, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// What content rows carry.
    pub id: NamespaceId,
    /// What callers usually hold.
    pub stable_id: StableNamespaceId,
    /// Whether its own settings say that it must not be written.
    pub is_read_only: bool,
}

/// A run that wants to start or to go on.
#[derive(Clone, Debug)]
pub struct BeginRun {
    /// The run.
    pub run: RunId,
    /// Its realm.
    pub realm: Realm,
    /// Its target.
    pub namespace: Namespace,
    /// What it may do.
    pub mode: Mode,
    /// Who started it.
    pub trigger: Trigger,
    /// The worker, for people who look for the holder of a lease.
    pub holder: String,
    /// `temporal` or `local`.
    pub engine: String,
    /// The workflow's id, if the engine has one.
    pub workflow_id: Option<String>,
    /// The input, as JSON.
    pub input: String,
    /// The settings that hold for this run, as JSON.
    pub settings: String,
    /// Ops that will not run, and why.
    pub skip_reasons: Vec<SkipReason>,
    /// Whether it must exist already: a resumed run is never made anew.
    pub is_resume: bool,
    /// Closes this stuck run first.
    pub abandon: Option<RunId>,
}

/// What became of it.
#[derive(Clone, Debug)]
pub enum Begun {
    /// The run holds its target.
    Holds {
        /// The proof, to be shown with every write.
        fence: Fence,
        /// The run, as the store has it.
        run: Box<RunRecord>,
        /// Runs that were closed to make room.
        abandoned: Vec<RunId>,
    },
    /// It does not, and why.
    Refused(Admission),
    /// The run is closed already; it can only be reported again.
    Closed(Box<RunRecord>),
}

/// The proof that an attempt of a run holds its target. Every attempt gets a new epoch, so that one that was given up for
/// dead is a stranger when it wakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The run.
    pub run: RunId,
    /// The realm of the target.
    pub realm: Realm,
    /// The target.
    pub namespace: NamespaceId,
    /// Counts the attempts on this target.
    pub epoch: i64,
}

/// JSON inside of a record as JSON, not as a text that holds some.
#[expect(clippy::ptr_arg, reason = "serde hands over what the field is")]
fn as_json<S: serde::Serializer>(text: &String, serializer: S) -> Result<S::Ok, S::Error> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(json) => json.serialize(serializer),
        Err(_) => serializer.serialize_str(text),
    }
}

/// A run, as the store has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRecord {
    /// The run.
    pub run: RunId,
    /// Its realm.
    pub realm: Realm,
    /// Its target.
    pub namespace: NamespaceId,
    /// Its target, as callers know it.
    pub stable_namespace: StableNamespaceId,
    /// What it may do.
    pub mode: Mode,
    /// Who started it.
    pub trigger: Trigger,
    /// `temporal` or `local`.
    pub engine: String,
    /// The workflow's id, if the engine has one.
    pub workflow_id: Option<String>,
    /// Where it stands.
    pub state: RunState,
    /// What it waits for: `review` or `pause`.
    pub waiting_for: Option<String>,
    /// The run's one clock.
    pub as_of: Moment,
    /// When it started.
    pub started_at: Moment,
    /// Its last sign of life.
    pub heartbeat_at: Moment,
    /// When it was closed.
    pub finished_at: Option<Moment>,
    /// The input, as JSON.
    #[serde(serialize_with = "as_json")]
    pub input: String,
    /// The settings that hold for this run, as JSON.
    #[serde(serialize_with = "as_json")]
    pub settings: String,
    /// The sealed plan.
    pub plan_hash: Option<PlanHash>,
    /// The findings.
    pub audit_hash: Option<PlanHash>,
    /// Ops of the sealed plan.
    pub ops_total: u32,
    /// What was not done, and why.
    pub skip_reasons: Vec<SkipReason>,
    /// The last op whose group was committed.
    pub last_committed_seq: u32,
    /// Why it failed, as a code.
    pub error_code: Option<String>,
    /// Where its report lies.
    pub report_path: Option<String>,
    /// SHA-256 of the report's manifest.
    pub manifest_sha256: Option<String>,
    /// Until when a review waits.
    pub review_until: Option<Moment>,
    /// When its plan was sealed.
    pub sealed_at: Option<Moment>,
    /// Outbox rows of it that its graph database had not been told of when it was closed.
    pub graph_left: u32,
}

/// Something asked of a run while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// Carry the plan out.
    Approve,
    /// Do not.
    Reject,
    /// Stop at the next group.
    Cancel,
    /// Wait at the next group.
    Pause,
    /// Go on.
    Unpause,
}

impl RequestKind {
    /// Its name in stores and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Unpause => "unpause",
        }
    }
}

/// A request, as it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The run.
    pub run: RunId,
    /// What is asked.
    pub kind: RequestKind,
    /// Who asks.
    pub by: String,
    /// The plan that is meant; asked of approve and reject.
    pub plan_hash: Option<PlanHash>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// It stands.
    Recorded,
    /// The same was asked before.
    AlreadyRecorded,
    /// The opposite was asked before.
    TooLate,
    /// The run is closed.
    RunClosed,
    /// The run waits for no such word.
    NotWaiting,
    /// Another plan is meant.
    OtherPlan,
}

impl Request {
    /// What becomes of this request, given the run and the requests that stand. A store asks this while it holds both, so
    /// that of two requests that exclude each other the second loses.
    pub fn outcome(&self, run: &RunRecord, standing: &[Self]) -> RequestOutcome {
        let has = |kind| standing.iter().any(|other| other.kind == kind);
        let waits_for_review = run.state == RunState::AwaitingReview;
        match self.kind {
            _ if run.finished_at.is_some() => RequestOutcome::RunClosed,
            RequestKind::Approve if has(RequestKind::Reject) => RequestOutcome::TooLate,
            RequestKind::Reject if has(RequestKind::Approve) => RequestOutcome::TooLate,
            kind if has(kind) => RequestOutcome::AlreadyRecorded,
            RequestKind::Approve | RequestKind::Reject if !waits_for_review => RequestOutcome::NotWaiting,
            RequestKind::Approve | RequestKind::Reject if self.plan_hash != run.plan_hash => RequestOutcome::OtherPlan,
            RequestKind::Unpause if !has(RequestKind::Pause) => RequestOutcome::NotWaiting,
            _ => RequestOutcome::Recorded,
        }
    }
}

/// What stands against going on, as read inside of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standstill {
    /// The stop row of the store or of the namespace.
    pub stopped: Option<Stop>,
    /// Somebody asked to cancel.
    pub cancel: bool,
    /// Somebody asked to pause.
    pub pause: bool,
}

impl Standstill {
    /// Whether nothing does.
    pub const fn is_clear(&self) -> bool {
        self.stopped.is_none() && !self.cancel && !self.pause
    }
}

/// The kill switch, as a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The namespace, or none for the whole store.
    pub namespace: Option<NamespaceId>,
    /// Who set it.
    pub by: String,
    /// Why.
    pub why: String,
    /// When.
    pub at: Moment,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace {
            Some(namespace) => write!(f, "the kill switch of namespace {namespace}")?,
            None => f.write_str("the kill switch of the whole store")?,
        }
        write!(f, " was set at {} by {}: {}", self.at, self.by, self.why)
    }
}

/// How a run is closed.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    /// Why it failed, as a code.
    pub error_code: Option<String>,
}

/// Which runs to list.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Of this namespace only.
    pub namespace: Option<NamespaceId>,
    /// Only runs that are not closed.
    pub open_only: bool,
    /// At most this many, newest first.
    pub limit: u32,
}

/// Runs, leases, requests and switches of a store.
#[async_trait]
pub trait RunStore: Send + Sync {
    /// Looks what the store is and has.
    async fn probe(&self) -> Result<Capabilities, StoreError>;

    /// Creates or brings up to date our own tables; with `content`, also the content tables where they are missing.
    async fn migrate(&self, content: bool) -> Result<(), StoreError>;

    /// The store's key for digests of memory text.
    async fn text_key(&self) -> Result<TextKey, StoreError>;

    /// The time by the store's clock.
    async fn now(&self) -> Result<Moment, StoreError>;

    /// Finds the active version of a namespace by its stable id or its row id.
    async fn resolve_namespace(&self, id: Uuid) -> Result<Namespace, StoreError>;

    /// Active namespaces by stable id, those after `after`, at most `limit`.
    async fn namespaces(&self, after: Option<StableNamespaceId>, limit: u32) -> Result<Vec<Namespace>, StoreError>;

    /// Takes the lease and writes the run row, or says why not, in one transaction.
    async fn begin(&self, begin: &BeginRun) -> Result<Begun, StoreError>;

    /// A new epoch for a writing attempt of a run that is open; the attempt before it is a stranger from then on.
    async fn fence(&self, run: RunId, holder: &str) -> Result<Fence, StoreError>;

    /// Renews the lease and the run's sign of life.
    async fn renew(&self, fence: &Fence) -> Result<(), StoreError>;

    /// Gives the lease back and leaves the run open, waiting for something.
    async fn park(
        &self,
        fence: &Fence,
        state: RunState,
        waiting_for: &str,
        until: Option<Moment>,
    ) -> Result<(), StoreError>;

    /// Says where the run stands.
    async fn set_state(&self, fence: &Fence, state: RunState) -> Result<(), StoreError>;

    /// Closes the run, whoever holds its target, and gives its lease back if it is this run's; of a run over a space the copies of
    /// memories go that it asked with. Closing twice is closing once.
    async fn close(&self, run: RunId, state: RunState, closing: &Closing) -> Result<(), StoreError>;

    /// Says where the report of a closed run lies, and what seals it.
    async fn set_report(&self, run: RunId, path: &str, manifest_sha256: &str) -> Result<(), StoreError>;

    /// The run, as the store has it.
    async fn run(&self, run: RunId) -> Result<RunRecord, StoreError>;

    /// Runs, newest first.
    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError>;

    /// Ops of a run by kind and by what became of them.
    async fn counts(&self, run: RunId) -> Result<Counts, StoreError>;

    /// Writes a request, checked and written in one statement.
    async fn request(&self, request: &Request) -> Result<RequestOutcome, StoreError>;

    /// The requests that stand.
    async fn requests(&self, run: RunId) -> Result<Vec<Request>, StoreError>;

    /// What stands against going on.
    async fn standstill(&self, run: RunId, namespace: NamespaceId) -> Result<Standstill, StoreError>;

    /// Sets or lifts the kill switch of a namespace or of the store.
    async fn set_stop(&self, namespace: Option<NamespaceId>, stop: Option<(&str, &str)>) -> Result<(), StoreError>;

    /// The kill switches that are set.
    async fn stops(&self) -> Result<Vec<Stop>, StoreError>;

    /// A few of the closed runs that are older than `before`, or beyond the newest `runs_max` of their namespace, oldest first,
    /// and where their reports lie. One that somebody takes back, or whose outbox rows wait, is not among them.
    async fn sweepable(&self, before: Moment, runs_max: u32) -> Result<Vec<(RunId, Option<String>)>, StoreError>;

    /// Deletes everything that these runs left, except for those that are open, taken back or waited for by now; answers how
    /// many went.
    async fn forget(&self, runs: &[RunId]) -> Result<u32, StoreError>;
}
