//! `events.jsonl`, schema `dream-report/1`: one JSON object per event, one event per line.
//!
//! Keys and their order are Khora's: its own first, then what is ours under `dream`, then `schema` and `event`. Where a
//! value of ours is none that Khora knows (mode `review`, trigger `schedule`), Khora's nearest word stands in its key and
//! ours under `dream`.
//!
//! **Invariant:** a line holds no newline but its last character, and memory text only as the redaction shows it.

use serde::Serialize;
use sha1::{Digest as _, Sha1};
use uuid::Uuid;

use crate::apply::EffectNumbers;
use crate::clock::Moment;
use crate::failure::Code;
use crate::id::{ContentKey, NamespaceId, OpId, RunId, StableNamespaceId, hex};
use crate::op::{Intent, OpKind, OpState, Reason};
use crate::plan::PlanHash;
use crate::realm::graph::evidence::Evidence;
use crate::realm::graph::orphan::Recall;
use crate::realm::graph::references::ReferenceAudit;
use crate::report::REPORT_SCHEMA;
use crate::report::event::{Event, Phase, PhaseOutcome};
use crate::report::facts::{AuditFacts, Finding, OpFacts, RunFacts};
use crate::report::khora::{self, Inputs, Outputs};
use crate::report::lens::Lens;
use crate::run::{Counts, Mode, Realm, RunState, SkipReason, Trigger};

/// The line of an event, newline included.
pub fn line(run: &RunFacts, event: &Event<'_>, lens: &Lens<'_>) -> String {
    match event {
        Event::RunStarted => spell("DreamRunStarted", run_started(run)),
        Event::PhaseStarted { phase, at } => spell(
            "DreamPhaseStarted",
            PhaseStarted { run_id: run.run, namespace_id: run.namespace, phase: *phase, started_at: *at },
        ),
        Event::Audit(audit) => spell("DreamOperationEvent", audit_line(run, audit, lens)),
        Event::Op(op) => spell("DreamOperationEvent", op_line(run, op, lens)),
        Event::PhaseCompleted { phase, outcome, duration_ms } => {
            spell("DreamPhaseCompleted", phase_completed(run, *phase, *outcome, *duration_ms))
        }
        Event::RunCompleted => spell("DreamRunCompleted", run_completed(run)),
        Event::RunFailed => spell("DreamRunFailed", run_failed(run)),
    }
}

/// The entities whose names the line of an event shows.
pub fn entities(event: &Event<'_>) -> Vec<Uuid> {
    match event {
        Event::Op(op) => op.entities(),
        Event::Audit(audit) => audit.entities_named(),
        Event::RunStarted
        | Event::PhaseStarted { .. }
        | Event::PhaseCompleted { .. }
        | Event::RunCompleted
        | Event::RunFailed => Vec::new(),
    }
}

#[derive(Serialize)]
struct Line<B: Serialize> {
    #[serde(flatten)]
    body: B,
    schema: &'static str,
    event: &'static str,
}

fn spell<B: Serialize>(event: &'static str, body: B) -> String {
    let line = Line { body, schema: REPORT_SCHEMA, event };
    let mut text = serde_json::to_string(&line).unwrap_or_else(|_| unreachable!("lines are plain data"));
    text.push('\n');
    text
}

/// A mode in Khora's words; a review that was approved is an apply.
const fn khora_mode(mode: Mode) -> Mode {
    match mode {
        Mode::DryRun => Mode::DryRun,
        Mode::Apply | Mode::Review => Mode::Apply,
    }
}

/// Khora's digest of a text that must not be shown: the first eight digits of its SHA-1.
fn short_hash(text: &str) -> String {
    hex(&Sha1::digest(text.as_bytes())[..4])
}

#[derive(Serialize)]
struct RunStarted<'a> {
    run_id: RunId,
    namespace_id: StableNamespaceId,
    mode: Mode,
    trigger: &'static str,
    started_at: Moment,
    dream: RunDream<'a>,
}

#[derive(Serialize)]
struct RunDream<'a> {
    realm: Realm,
    store: &'a str,
    namespace_row_id: NamespaceId,
    mode: Mode,
    trigger: Trigger,
    as_of: Moment,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_of: Option<RunId>,
}

fn run_started(run: &RunFacts) -> RunStarted<'_> {
    RunStarted {
        run_id: run.run,
        namespace_id: run.namespace,
        mode: khora_mode(run.mode),
        trigger: if run.is_resumed { "resume" } else { "manual" },
        started_at: run.started_at,
        dream: RunDream {
            realm: run.realm,
            store: &run.store,
            namespace_row_id: run.namespace_row,
            mode: run.mode,
            trigger: run.trigger,
            as_of: run.as_of,
            plan_of: run.plan_of,
        },
    }
}

#[derive(Serialize)]
struct PhaseStarted {
    run_id: RunId,
    namespace_id: StableNamespaceId,
    phase: Phase,
    started_at: Moment,
}

#[derive(Serialize)]
struct PhaseCompleted<'a> {
    run_id: RunId,
    namespace_id: StableNamespaceId,
    phase: Phase,
    outcome: PhaseOutcome,
    ops_total: u32,
    duration_ms: f64,
    dream: Hashes<'a>,
}

#[derive(Serialize)]
struct Hashes<'a> {
    plan_hash: Option<&'a PlanHash>,
    audit_hash: Option<&'a PlanHash>,
}

fn hashes(run: &RunFacts) -> Hashes<'_> {
    Hashes { plan_hash: run.plan_hash.as_ref(), audit_hash: run.audit_hash.as_ref() }
}

fn phase_completed(run: &RunFacts, phase: Phase, outcome: PhaseOutcome, duration_ms: f64) -> PhaseCompleted<'_> {
    PhaseCompleted {
        run_id: run.run,
        namespace_id: run.namespace,
        phase,
        outcome,
        ops_total: run.ops_total,
        duration_ms,
        dream: hashes(run),
    }
}

/// How the run ended, in our words.
#[derive(Serialize)]
struct EndDream<'a> {
    state: RunState,
    #[serde(flatten)]
    hashes: Hashes<'a>,
    ops_total: u32,
    outcomes: &'a Counts,
    skip_reasons: &'a [SkipReason],
    finished_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edge_source: Option<&'a str>,
    /// The graph database was not told of everything: Khora's word for it, and the rows.
    #[serde(rename = "graph_mirror.partial_failure", skip_serializing_if = "Option::is_none")]
    graph_left: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

fn end_dream(run: &RunFacts) -> EndDream<'_> {
    EndDream {
        state: run.state,
        hashes: hashes(run),
        ops_total: run.ops_total,
        outcomes: &run.counts,
        skip_reasons: &run.skip_reasons,
        finished_at: run.finished_at,
        edge_source: run.edge_source.as_deref(),
        graph_left: (run.graph_left > 0).then_some(run.graph_left),
        failure: run.failure.map(|code| code.to_string()),
    }
}

#[derive(Serialize)]
struct RunCompleted<'a> {
    run_id: RunId,
    namespace_id: StableNamespaceId,
    mode: Mode,
    duration_ms: f64,
    ops_total: u32,
    dream: EndDream<'a>,
}

fn run_completed(run: &RunFacts) -> RunCompleted<'_> {
    RunCompleted {
        run_id: run.run,
        namespace_id: run.namespace,
        mode: khora_mode(run.mode),
        duration_ms: run.duration_ms().unwrap_or(0.0),
        ops_total: run.ops_total,
        dream: end_dream(run),
    }
}

#[derive(Serialize)]
struct RunFailed<'a> {
    run_id: RunId,
    namespace_id: StableNamespaceId,
    mode: Mode,
    duration_ms: f64,
    error_hash: String,
    error_type: &'static str,
    dream: EndDream<'a>,
}

fn run_failed(run: &RunFacts) -> RunFailed<'_> {
    let code = run.failure.unwrap_or(match run.state {
        RunState::AbortedSafety => Code::Forbidden,
        RunState::Abandoned => Code::Stuck,
        _ => Code::Defect,
    });
    RunFailed {
        run_id: run.run,
        namespace_id: run.namespace,
        mode: khora_mode(run.mode),
        duration_ms: run.duration_ms().unwrap_or(0.0),
        error_hash: short_hash(&code.to_string()),
        error_type: code.name(),
        dream: end_dream(run),
    }
}

#[derive(Serialize)]
struct Operation<'a, D: Serialize> {
    op_id: OpId,
    run_id: RunId,
    phase: &'static str,
    op_type: OpKind,
    inputs: Inputs<'a>,
    outputs: Outputs<'a>,
    decision: &'static str,
    rationale: Rationale,
    source_llm_call_ids: [(); 0],
    undo: (),
    started_at: Moment,
    duration_ms: f64,
    namespace_id: StableNamespaceId,
    text_refs: NoRefs,
    dream: D,
}

/// `{}`: Khora's slot for texts kept elsewhere, which nothing fills.
#[derive(Serialize)]
struct NoRefs {}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the field is Khora's")]
struct Rationale {
    strategy: OpKind,
    score: Option<f64>,
    threshold: Option<f64>,
    llm_confidence: (),
    rationale_hash: String,
}

#[derive(Serialize)]
struct OpDream<'a> {
    seq: u32,
    outcome: OpState,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    rule: &'a str,
    content_key: ContentKey,
    cluster: Uuid,
    depends_on: &'a [ContentKey],
    premises: usize,
    intent: &'a Intent,
    evidence: &'a Evidence,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<&'a EffectNumbers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_at: Option<Moment>,
}

fn op_line<'a>(run: &RunFacts, facts: &'a OpFacts, lens: &Lens<'_>) -> Operation<'a, OpDream<'a>> {
    let (op, draft) = (&facts.op, &facts.op.draft);
    Operation {
        op_id: op.id,
        run_id: run.run,
        phase: draft.kind.report_phase(),
        op_type: draft.kind,
        inputs: khora::inputs(facts, &run.settings, lens),
        outputs: khora::outputs(facts, lens),
        decision: draft.decision.as_str(),
        rationale: Rationale {
            strategy: draft.kind,
            score: khora::score(facts),
            threshold: khora::threshold(facts, &run.settings, lens),
            llm_confidence: (),
            rationale_hash: short_hash(&draft.rule),
        },
        source_llm_call_ids: [],
        undo: (),
        started_at: facts.applied_at.unwrap_or(run.as_of),
        duration_ms: 0.0,
        namespace_id: run.namespace,
        text_refs: NoRefs {},
        dream: OpDream {
            seq: op.seq,
            outcome: op.state,
            reason: op.reason,
            rule: &draft.rule,
            content_key: op.content,
            cluster: op.cluster,
            depends_on: &draft.depends_on,
            premises: draft.premises.len(),
            intent: &draft.intent,
            evidence: &draft.evidence,
            numbers: facts.numbers.as_ref(),
            accepted: facts.accepted,
            applied_at: facts.applied_at,
            undone_at: facts.undone_at,
        },
    }
}

#[derive(Serialize)]
struct AuditDream<'a> {
    findings: usize,
    findings_beyond: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_baseline: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recalled: Vec<Recall>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_tables: Vec<OtherTable<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit_hash: Option<&'a PlanHash>,
}

#[derive(Serialize)]
struct OtherTable<'a> {
    table: &'static str,
    #[serde(flatten)]
    audit: &'a ReferenceAudit,
}

fn audit_line<'a>(run: &'a RunFacts, audit: &'a AuditFacts, lens: &Lens<'_>) -> Operation<'a, AuditDream<'a>> {
    Operation {
        op_id: audit.id(run.run),
        run_id: run.run,
        phase: audit.kind.report_phase(),
        op_type: audit.kind,
        inputs: khora::audit_inputs(audit, run),
        outputs: khora::audit_outputs(audit, lens),
        decision: khora::audit_decision(audit),
        rationale: Rationale {
            strategy: audit.kind,
            score: None,
            threshold: None,
            llm_confidence: (),
            rationale_hash: short_hash(""),
        },
        source_llm_call_ids: [],
        undo: (),
        started_at: audit.started_at.unwrap_or(run.as_of),
        duration_ms: audit.duration_ms.unwrap_or(0.0),
        namespace_id: run.namespace,
        text_refs: NoRefs {},
        dream: audit_dream(run, audit),
    }
}

fn audit_dream<'a>(run: &'a RunFacts, audit: &'a AuditFacts) -> AuditDream<'a> {
    let mut dream = AuditDream {
        findings: audit.findings.len(),
        findings_beyond: audit.beyond,
        has_baseline: None,
        recalled: Vec::new(),
        other_tables: Vec::new(),
        audit_hash: run.audit_hash.as_ref(),
    };
    for finding in &audit.findings {
        match finding {
            Finding::Drift(report) => dream.has_baseline = Some(report.has_baseline),
            Finding::Orphan(orphan) => dream.recalled.push(orphan.recalled),
            Finding::References(found) if found.table != crate::change::Table::Entities => {
                dream.other_tables.push(OtherTable { table: found.table.as_str(), audit: &found.audit });
            }
            Finding::References(_) => {}
        }
    }
    dream
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_rationale_has_khoras_hash() {
        assert_eq!(short_hash(""), "da39a3ee");
    }
}
