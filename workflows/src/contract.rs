//! What workflows and activities say to each other: small JSON, no memory text.
//!
//! **Invariant:** a field is added with a default and never changes its meaning, because recorded histories hold these.

mod due;

use dream_core::op::{OpKind, Reason};
use dream_core::realm::space::fact::DreamMode;
use dream_core::run::{DreamInput, Mode, RunState, SkipReason};
use serde::{Deserialize, Serialize};

pub use due::{DueChecked, DueInput, DuePage, DuePageDone, SPACES_NAMED_MAX, StartFailure};

/// Asks for a run to begin, or to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// What the run is asked to do.
    pub input: DreamInput,
    /// The id the run has if the input names none.
    pub run_id: String,
    /// `temporal` or `local`.
    pub engine: String,
    /// The workflow's id, if the engine has one.
    #[serde(default)]
    pub workflow_id: Option<String>,
}

/// A run that has begun, and what is left of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Which run.
    pub run: RunRef,
    /// What it may do.
    pub mode: Mode,
    /// The target, by its stable id.
    pub target: String,
    /// The realm.
    pub realm: String,
    /// Where it stands.
    pub state: RunState,
    /// Audits that are left.
    pub audits: Vec<OpKind>,
    /// Planners that are left, in their order.
    pub planners: Vec<OpKind>,
    /// The sealed plan, if there is one already.
    #[serde(default)]
    pub sealed: Option<Sealed>,
    /// Seconds that a review waits.
    #[serde(default)]
    pub review_wait_seconds: u64,
    /// Whether this run's search attributes are registered with the engine.
    #[serde(default)]
    pub has_search_attributes: bool,
    /// Whether a graph database mirrors the store.
    #[serde(default)]
    pub has_graph: bool,
    /// Seconds that the run waits for a graph that is behind, before it plans.
    #[serde(default)]
    pub graph_wait_seconds: u64,
    /// What is left of the rounds of a run over a space; none of another realm's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<SpaceLeft>,
}

/// What is left of a run over a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceLeft {
    /// Whose model consolidates.
    pub mind: DreamMode,
    /// Whether housekeeping is sealed.
    pub is_tidied: bool,
    /// Whether the answer is judged, and its round sealed.
    pub is_judged: bool,
}

/// Whether a run over a space has a question, and whom it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// The question waits for an answer, or has one.
    pub is_asked: bool,
    /// Why there is no question.
    pub reason: Option<String>,
}

/// The answer of a model, judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judged {
    /// The plan with the round that came of it.
    pub sealed: Option<Sealed>,
    /// What stands against going on.
    pub halt: Option<Halt>,
}

/// Names a run to an activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRef {
    /// The store, by its name in the worker's configuration.
    pub store: String,
    /// The run.
    pub run_id: String,
}

/// Asks for one audit or one planner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which run.
    pub run: RunRef,
    /// Which op kind.
    pub kind: OpKind,
}

/// What an audit or a planner answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartDone {
    /// Findings or drafts.
    pub count: u32,
    /// Why there are none, if there is a reason.
    #[serde(default)]
    pub reason: Option<Reason>,
    /// What stands against going on.
    #[serde(default)]
    pub halt: Option<Halt>,
}

/// A sealed plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// What it will do, as a hash.
    pub plan_hash: String,
    /// Its ops.
    pub ops_total: u32,
    /// Its ops that are still to be done.
    pub ops_left: u32,
    /// What is done first.
    #[serde(default)]
    pub next: Option<Stretch>,
}

/// A stretch of ops, as one activity carries it out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// The first op.
    pub seq_from: u32,
    /// The last op.
    pub seq_to: u32,
    /// What people read: the kinds and the range.
    pub label: String,
}

/// Asks for a stretch to be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyStretch {
    /// Which run.
    pub run: RunRef,
    /// Which ops.
    pub stretch: Stretch,
}

/// How far it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Ops of the plan that are done, in whatever way.
    pub ops_done: u32,
    /// Ops of the plan.
    pub ops_total: u32,
    /// What is done next; none if nothing is left.
    #[serde(default)]
    pub next: Option<Stretch>,
    /// What stands against going on.
    #[serde(default)]
    pub halt: Option<Halt>,
}

/// What stands against going on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// Somebody asked to pause; the run has given its target back.
    Paused,
    /// Somebody asked to cancel.
    Cancelled,
    /// The kill switch is set.
    Stopped {
        /// Who set it.
        by: String,
    },
    /// Somebody else works on the target right now.
    TargetBusy {
        /// Who: another run, or Khora itself.
        by: String,
    },
}

/// What stands in a run's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// The plan was approved.
    pub approved: bool,
    /// The plan was rejected.
    pub rejected: bool,
    /// Somebody asked to cancel.
    pub cancel: bool,
    /// Somebody asked to pause.
    pub pause: bool,
    /// The review's time is over.
    pub is_over: bool,
    /// The question was answered.
    #[serde(skip_serializing_if = "is_false")]
    pub is_answered: bool,
    /// The run was closed by somebody else, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<RunState>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over what the field is")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Asks for a person's word on a plan to be carried into its ops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettleReview {
    /// Which run.
    pub run: RunRef,
    /// Whether all that is left was rejected; else only what was rejected one by one.
    pub reject_all: bool,
}

/// A request that came through the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCall {
    /// Which run.
    pub run: RunRef,
    /// `approve`, `reject`, `cancel`, `pause` or `unpause`.
    pub kind: String,
    /// Who asks.
    #[serde(default)]
    pub by: String,
    /// The plan that is meant.
    #[serde(default)]
    pub plan_hash: Option<String>,
}

/// What became of a request: `recorded`, `already_recorded`, `too_late`, `run_closed`, `not_waiting` or `other_plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestDone {
    /// In one word.
    pub outcome: String,
}

/// Asks for a run to be closed and reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Which run.
    pub run: RunRef,
    /// How it ended.
    pub state: RunState,
    /// Why it failed, as a failure type.
    #[serde(default)]
    pub failure: Option<String>,
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The run.
    pub run_id: String,
    /// How it ended.
    pub state: RunState,
    /// The plan, if one was sealed.
    #[serde(default)]
    pub plan_hash: Option<String>,
    /// Ops by what became of them.
    pub ops: std::collections::BTreeMap<String, u32>,
    /// Where the report lies, on the worker that wrote it.
    #[serde(default)]
    pub report_path: Option<String>,
    /// What was not done, or not in full, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip_reasons: Vec<SkipReason>,
    /// Outbox rows of this run that its graph database was not told of yet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub graph_left: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over what the field is")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Asks for ops to be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UndoInput {
    /// The store, by its name in the worker's configuration.
    #[serde(default = "default_store")]
    pub store: String,
    /// The run to take back.
    #[serde(default)]
    pub run_id: Option<String>,
    /// One op to take back, instead of a whole run.
    #[serde(default)]
    pub op_id: Option<String>,
    /// Looks only, and lists what was changed since.
    #[serde(default)]
    pub dry_run: bool,
    /// Puts old content back also where somebody changed it since; of a run over a space that is what happens anyway.
    #[serde(default)]
    pub overwrite: bool,
    /// Takes back what a graph database was told of although none is configured: the graph keeps it.
    #[serde(default)]
    pub without_graph: bool,
    /// Leaves what somebody changed since, of a run over a space too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keep: bool,
}

fn default_store() -> String {
    "default".to_owned()
}

/// What an undo did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Undone {
    /// The run.
    pub run_id: String,
    /// Ops taken back.
    pub undone: u32,
    /// Ops of which nothing was left to take back.
    pub nothing: u32,
    /// Cells that were changed since: op, table, row and column.
    pub changed: Vec<ChangedCell>,
    /// Changed cells beyond those listed.
    pub changed_unlisted: u32,
    /// Ops that are left, where the undo is done in parts.
    pub left: u32,
    /// Whether a graph database has to be told.
    pub has_graph: bool,
}

/// A cell that was changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedCell {
    /// The op.
    pub op_id: String,
    /// The table.
    pub table: String,
    /// The row.
    pub row: String,
    /// The column; none if the row itself is gone or came back.
    pub column: Option<String>,
}

/// What telling the graph database of one namespace came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mirrored {
    /// Outbox rows that were told.
    pub done: u64,
    /// Those among them that missed something in the graph.
    pub missing: u64,
    /// Rows that are left to be told.
    pub left: u64,
    /// Rows that are set aside.
    pub parked: u64,
    /// Why it stopped before all was told, in a word.
    pub reason: Option<String>,
    /// Whether it stopped only because its time was over.
    pub is_more: bool,
}

/// What a round of the reconciler came to, over all stores and namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reconciled {
    /// Namespaces that owed something.
    pub namespaces: u64,
    /// Outbox rows that were told.
    pub done: u64,
    /// Those among them that missed something in the graph.
    pub missing: u64,
    /// Rows that are left to be told.
    pub left: u64,
    /// Rows that are set aside.
    pub parked: u64,
    /// Why rows are left, in words.
    pub reasons: std::collections::BTreeSet<String>,
    /// Whether it stopped only because its time was over.
    pub is_more: bool,
}

/// What `SweepRetention` is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepInput {
    /// The store, by its name in the worker's configuration.
    #[serde(default = "default_store")]
    pub store: String,
}

impl Default for SweepInput {
    fn default() -> Self {
        Self { store: default_store() }
    }
}

/// What a sweep took away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Swept {
    /// Runs whose rows and reports went.
    pub runs: u32,
    /// Whether more are waiting to go.
    pub is_more: bool,
}

/// Asks for a page of namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// The store, by its name in the worker's configuration.
    pub store: String,
    /// Those after this stable id.
    #[serde(default)]
    pub after: Option<String>,
}

/// A page of namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamespacesPage {
    /// Their stable ids, in order.
    pub namespaces: Vec<String>,
    /// Whether there are more.
    pub is_more: bool,
}

/// A person's word on a plan, as an update or a signal carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanWord {
    /// The plan that is meant.
    pub plan_hash: String,
    /// Who says it.
    pub by: String,
}

/// A request to pause or to go on, as an update or a signal carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PauseWord {
    /// Who says it.
    pub by: String,
}

/// Where a run is, as its query answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgressView {
    /// The run.
    pub run_id: String,
    /// In one word.
    pub phase: String,
    /// What is being done.
    pub what: String,
    /// Ops done.
    pub ops_done: u32,
    /// Ops of the plan.
    pub ops_total: u32,
    /// The sealed plan.
    pub plan_hash: Option<String>,
    /// Who or what is waited for.
    pub waiting_for: Option<String>,
    /// Signals that could not be read and were left.
    pub signals_ignored: u32,
}
