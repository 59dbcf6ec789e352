//! What agents send and get about dreams, word for word: the job, the report, the undo, and why a night was what it was.

use dream_activities::space::answer::JobFace;
use dream_core::clock::Moment;
use dream_core::realm::space::explain::Explanation;
use dream_core::realm::space::fact::DreamMode;
use dream_core::realm::space::report::{HousekeepingCounts, ModelUse, Skipped, SpaceReport, SpaceRun};
use dream_workflows::contract::{ChangedCell, Undone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::wire::{DateTime, ModeName};

/// Whether a dream is started first.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AskJob {
    /// Starts a dream first, if the last one started 20 hours ago or more.
    pub(crate) start_if_due: bool,
}

/// A job for the agent's model.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JobView {
    /// The run that asks; the answer names it.
    run_id: Uuid,
    /// The system prompt.
    instructions: String,
    /// The user's message, as JSON.
    input: Value,
    /// The JSON Schema of the answer.
    output_schema: Value,
}

impl From<JobFace> for JobView {
    fn from(job: JobFace) -> Self {
        let JobFace { run_id, instructions, input, output_schema } = job;
        Self { run_id: run_id.0, instructions: instructions.to_owned(), input, output_schema }
    }
}

/// The answer to somebody who asks for a job.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct NextJob {
    /// The job; null if there is none.
    pub(crate) job: Option<JobView>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Seconds after which it is worth asking again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<u64>,
}

/// How a dream is started by hand.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StartDream {
    /// Whose model consolidates in this run; `off` means housekeeping only. The space's own mode if it is not said.
    #[schemars(with = "Option<ModeName>")]
    pub(crate) mode: Option<DreamMode>,
}

/// What housekeeping did.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HousekeepingView {
    /// Facts past their end.
    pub(crate) expired: u32,
    /// Scratch facts that nobody recalled.
    pub(crate) stale: u32,
    /// Copies that were absorbed.
    pub(crate) duplicates: u32,
    /// Actions past their end.
    pub(crate) actions_expired: u32,
    /// Values past their end.
    pub(crate) key_values_deleted: u32,
}

/// Something that was not done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SkippedView {
    /// What it was: `merge`, `promotion`, …
    pub(crate) what: String,
    /// Why, by the name of the rule.
    pub(crate) reason: String,
    /// The facts it names.
    pub(crate) facts: Vec<Uuid>,
}

/// What a dream came to.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReportView {
    pub(crate) housekeeping: HousekeepingView,
    /// Facts merged away.
    pub(crate) merges: u32,
    /// Facts promoted or reworded, and the digest and the profile, as far as they were written.
    pub(crate) updates: u32,
    /// Contradictions recorded.
    pub(crate) contradictions: u32,
    /// Proposals recorded.
    pub(crate) proposals: u32,
    /// What was not done, and why.
    pub(crate) skipped: Vec<SkippedView>,
    /// What else is to be said.
    pub(crate) notes: Vec<String>,
    /// What the model of the server took; null where it was not asked.
    pub(crate) model: Option<ModelView>,
}

/// What the model of the server took.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ModelView {
    /// Provider and model.
    pub(crate) model: String,
    /// Calls that were made, those that failed included.
    pub(crate) calls: u32,
    /// Tokens of questions.
    pub(crate) tokens_input: u64,
    /// Tokens of answers.
    pub(crate) tokens_output: u64,
    /// Tokens that are counted for calls of which nobody said what they took.
    pub(crate) tokens_reserved: u64,
    /// How often an answer was used that was paid for before.
    pub(crate) reused: u32,
    /// In a sentence.
    pub(crate) summary: String,
}

impl From<ModelUse> for ModelView {
    fn from(taken: ModelUse) -> Self {
        let summary = taken.to_string();
        let ModelUse { model, calls, tokens_input, tokens_output, tokens_reserved, reused } = taken;
        Self { model, calls, tokens_input, tokens_output, tokens_reserved, reused, summary }
    }
}

impl From<SpaceReport> for ReportView {
    fn from(report: SpaceReport) -> Self {
        let SpaceReport { housekeeping, merges, updates, contradictions, proposals, skipped, notes, model } = report;
        let HousekeepingCounts { expired, stale, duplicates, actions_expired, key_values_deleted } = housekeeping;
        let housekeeping = HousekeepingView { expired, stale, duplicates, actions_expired, key_values_deleted };
        let view = |Skipped { what, reason, facts }| SkippedView { what, reason, facts };
        let skipped = skipped.into_iter().map(view).collect();
        let model = model.map(ModelView::from);
        Self { housekeeping, merges, updates, contradictions, proposals, skipped, notes, model }
    }
}

/// A dream with its report.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunView {
    pub(crate) run_id: Uuid,
    pub(crate) space_id: Uuid,
    /// Where it stands: running, `awaiting_client`, done, failed, undone or abandoned.
    pub(crate) status: String,
    #[schemars(with = "DateTime")]
    pub(crate) started_at: Moment,
    #[schemars(with = "Option<DateTime>")]
    pub(crate) ended_at: Option<Moment>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    pub(crate) report: ReportView,
}

impl From<SpaceRun> for RunView {
    fn from(run: SpaceRun) -> Self {
        let SpaceRun { run_id, space_id, status, started_at, ended_at, failure, report } = run;
        Self { run_id: run_id.0, space_id, status, started_at, ended_at, failure, report: report.into() }
    }
}

/// Dreams of a space, newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Runs {
    pub(crate) runs: Vec<RunView>,
}

/// A dream that was started.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Started {
    pub(crate) run_id: Uuid,
    /// Where it stands; `running` if it takes longer than the call waited.
    pub(crate) status: String,
    /// The run with its report, as far as it got; null before it has begun.
    pub(crate) run: Option<RunView>,
}

/// How a dream is taken back.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UndoHow {
    /// Changes nothing, and lists what was changed since.
    pub(crate) dry_run: bool,
    /// Leaves what was changed since as it is, instead of overwriting it.
    pub(crate) keep_changed: bool,
}

/// Something that was changed after the dream.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ChangedView {
    table: String,
    row: String,
    /// The field; null if the row itself is gone or came back.
    column: Option<String>,
}

/// What taking a dream back came to.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UndoneView {
    pub(crate) run_id: String,
    /// Where the run stands now.
    pub(crate) status: String,
    /// Whether nothing was changed, because it was only asked.
    pub(crate) dry_run: bool,
    /// Steps of the dream that were, or would be, taken back.
    pub(crate) undone: u32,
    /// Steps of which nothing was left to take back.
    pub(crate) nothing: u32,
    /// What was changed after the dream, and is, or would be, overwritten or kept.
    pub(crate) changed: Vec<ChangedView>,
    /// As many more.
    pub(crate) changed_unlisted: u32,
    /// In a sentence.
    pub(crate) message: String,
}

impl UndoneView {
    pub(crate) fn new(undone: Undone, status: String, how: &UndoHow) -> Self {
        let message = match (undone.undone, how.dry_run) {
            (0, _) => "nothing was left to take back".to_owned(),
            (ops, true) => format!("{ops} changes would be taken back"),
            (ops, false) => format!("{ops} changes were taken back"),
        };
        let view = |ChangedCell { table, row, column, .. }| ChangedView { table, row, column };
        Self {
            run_id: undone.run_id,
            status,
            dry_run: how.dry_run,
            undone: undone.undone,
            nothing: undone.nothing,
            changed: undone.changed.into_iter().map(view).collect(),
            changed_unlisted: undone.changed_unlisted,
            message,
        }
    }
}

/// A night.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NightView {
    /// The local day.
    night: String,
    #[schemars(with = "DateTime")]
    opens_at: Moment,
    #[schemars(with = "DateTime")]
    closes_at: Moment,
}

/// Why a space did or did not dream last night.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WhyView {
    /// The night; null if there was none to speak of.
    night: Option<NightView>,
    /// The reason by its name: dreamed, off, `not_used`, …
    reason: String,
    /// In a sentence.
    explanation: String,
}

impl From<Explanation> for WhyView {
    fn from(explanation: Explanation) -> Self {
        let sentence = explanation.to_string();
        let tagged = serde_json::to_value(explanation.why).unwrap_or_default();
        let night = explanation.night.map(|night| NightView {
            night: night.night.to_string(),
            opens_at: night.opens_at,
            closes_at: night.closes_at,
        });
        Self { night, reason: tagged["reason"].as_str().unwrap_or_default().to_owned(), explanation: sentence }
    }
}
