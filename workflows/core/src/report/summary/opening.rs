//! The first screen of the page: what happened in plain words, the facts of the run, what changed, and how many ops came
//! to what.

use std::fmt::Write as _;

use super::{Summary, Totals};
use crate::op::OpState;
use crate::redact::{RedactText, SUMMARY_CHARACTERS_MAX};
use crate::report::REPORT_SCHEMA;
use crate::report::event::has_failed;
use crate::report::lens::Lens;
use crate::report::plain::{and, code_span, count, duration, grouped};
use crate::report::table::counts_rows;
use crate::report::words;
use crate::run::{Mode, RunState};

/// Columns that a store's name may take on the page.
const STORE_WIDTH_MAX: usize = 40;

pub(super) fn write(summary: &Summary<'_>, lens: &Lens<'_>, page: &mut String) {
    let run = summary.run;
    let _ = writeln!(page, "<!-- {REPORT_SCHEMA} -->\n# Dream run {}\n", run.run);
    let _ = writeln!(page, "{}\n", story(summary));
    facts(summary, lens, page);
    changed(summary, page);
    table(summary, page);
}

/// The run in a paragraph.
fn story(summary: &Summary<'_>) -> String {
    let run = summary.run;
    let mut story = beginning(summary);
    if let Some(done) = sentence(&summary.done, " was", " were") {
        let _ = write!(story, " {done}");
    }
    let (when, verb) = match (run.mode, run.state) {
        (_, RunState::AwaitingReview) => ("If it is approved, ", " would be"),
        (Mode::DryRun, _) => ("If it is applied, ", " would be"),
        (Mode::Apply | Mode::Review, _) => ("Planned and not done: ", ""),
    };
    if let Some(would) = sentence(&summary.planned, verb, verb) {
        let _ = write!(story, " {when}{would}");
    }
    let apart = summary.count(OpState::KeptApart);
    if apart > 0 {
        let pairs = count(apart, "pair that looks alike stays two", "pairs that look alike stay two");
        let _ = write!(story, " {pairs}.");
    }
    let not_done = [OpState::Skipped, OpState::Stale, OpState::Failed];
    let parts: Vec<String> = not_done
        .into_iter()
        .map(|state| (state, summary.count(state)))
        .filter(|(_, number)| *number > 0)
        .map(|(state, number)| format!("{} {}", grouped(number), words::state(state)))
        .collect();
    if !parts.is_empty() {
        let _ = write!(story, " Not done: {}; the reasons are below.", and(&parts));
    }
    story
}

fn beginning(summary: &Summary<'_>) -> String {
    let run = summary.run;
    let ops = count(u64::from(run.ops_total), "op", "ops");
    let whole = match (run.mode, run.state) {
        (_, RunState::Failed) => "This run failed before it was done.",
        (_, RunState::AbortedSafety) => "This run was stopped because an op would have had a forbidden effect.",
        (_, RunState::Abandoned) => "This run was given up before it was done.",
        (_, RunState::Cancelled) => "This run was cancelled.",
        (_, RunState::Undone) => "This run was carried out, and all of it was taken back.",
        (_, RunState::PartlyUndone) => "This run was carried out, and some of it was taken back.",
        (_, RunState::AwaitingReview) => "This plan waits for a person; nothing was changed yet.",
        (_, RunState::AwaitingClient) => "This run waits for somebody else's model.",
        (_, RunState::Planning | RunState::Applying) => "This run is not over yet.",
        (Mode::DryRun, RunState::Completed) => "This was a dry run: nothing was changed.",
        (Mode::Apply | Mode::Review, RunState::Completed) => "This run was carried out.",
    };
    match &run.plan_hash {
        None => format!("{whole} No plan was sealed, so nothing was changed."),
        Some(_) if run.mode == Mode::DryRun || run.state == RunState::AwaitingReview => {
            format!("{whole} The plan has {ops}.")
        }
        Some(_) => {
            let applied = summary.count(OpState::Applied) + summary.count(OpState::Undone);
            format!("{whole} Of {ops} in the plan, {} changed something.", grouped(applied))
        }
    }
}

/// What ops do, in a sentence; none if they do nothing.
fn sentence(totals: &Totals, was: &str, were: &str) -> Option<String> {
    let survivors = format!("merged into {}", count(totals.merges, "other", "others"));
    let counted = [
        (totals.absorbed, "entity", "entities", survivors.as_str()),
        (totals.reabsorbed, "returned entity", "returned entities", "absorbed again"),
        (totals.references, "dead reference", "dead references", "removed"),
        (totals.vectors, "vector", "vectors", "set"),
        (totals.repairs, "node or edge of the graph", "nodes and edges of the graph", "repaired"),
    ];
    let parts: Vec<String> = counted
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many, what)| {
            format!("{}{} {what}", count(number, one, many), if number == 1 { was } else { were })
        })
        .collect();
    (!parts.is_empty()).then(|| format!("{}.", and(&parts)))
}

fn facts(summary: &Summary<'_>, lens: &Lens<'_>, page: &mut String) {
    let run = summary.run;
    let _ = writeln!(page, "- namespace: `{}`, in store {}", run.namespace, code_span(&run.store, STORE_WIDTH_MAX));
    let _ = writeln!(page, "- mode: {}, started by {}", run.mode, started_by(summary));
    let _ = writeln!(page, "- status: {}", run.state.as_str());
    if let Some(code) = run.failure {
        let _ = writeln!(page, "- failure: {} ({code}), explained in `docs/errors/{code}.md`", code.name());
        let _ = writeln!(page, "- next step: {}", code.advice());
    }
    let time = run.started_at.to_string().replace('T', " ");
    let _ = write!(page, "- time: {} UTC", &time[..19]);
    match run.duration_ms() {
        Some(millis) => {
            let _ = writeln!(page, ", {}", duration(millis));
        }
        None => page.push('\n'),
    }
    if let Some(source) = &run.edge_source {
        let _ =
            writeln!(page, "- edges: read from the {}", if source == "graph" { "graph database" } else { "tables" });
    }
    if let Some(dry_run) = run.plan_of {
        let _ = writeln!(page, "- carries out the plan of dry run `{dry_run}`");
    }
    if let Some(hash) = &run.plan_hash {
        let _ = writeln!(page, "- plan: `{hash}`");
    }
    if let Some(hash) = &run.audit_hash {
        let _ = writeln!(page, "- findings: `{hash}`");
    }
    match lens.redaction().degree() {
        RedactText::None => {}
        RedactText::Summary => {
            let _ = writeln!(page, "- memory text is cut to {SUMMARY_CHARACTERS_MAX} characters");
        }
        RedactText::All => page.push_str("- memory text is taken out; `dream show entity ID` shows it\n"),
    }
}

fn started_by(summary: &Summary<'_>) -> &'static str {
    match (summary.run.trigger, summary.run.is_resumed) {
        (crate::run::Trigger::Manual, false) => "hand",
        (crate::run::Trigger::Manual, true) => "hand, and resumed",
        (crate::run::Trigger::Schedule, false) => "a schedule",
        (crate::run::Trigger::Schedule, true) => "a schedule, and resumed",
    }
}

/// What changed, or would change, in numbers.
fn changed(summary: &Summary<'_>, page: &mut String) {
    let lines = |totals: &Totals| -> Vec<String> {
        let counted = [
            (totals.absorbed, "entity absorbed", "entities absorbed"),
            (totals.reabsorbed, "returned entity absorbed again", "returned entities absorbed again"),
            (totals.mentions, "mention gained by survivors", "mentions gained by survivors"),
            (totals.edges_moved, "edge moved to a survivor", "edges moved to survivors"),
            (totals.edges_folded, "edge folded into a parallel one", "edges folded into parallel ones"),
            (
                totals.edges_kept_parallel,
                "parallel edge left two, as its properties contradict",
                "parallel edges left two, as their properties contradict",
            ),
            (totals.self_loops_retired, "edge between members retired", "edges between members retired"),
            (totals.temporal_moved, "temporal edge moved", "temporal edges moved"),
            (totals.alternatives, "attribute value kept as an alternative", "attribute values kept as alternatives"),
            (
                totals.sources_dropped,
                "source id beyond the cap, kept in the undo record",
                "source ids beyond the caps, kept in the undo records",
            ),
            (totals.references, "dead reference removed", "dead references removed"),
            (totals.vectors, "vector set", "vectors set"),
            (totals.repairs, "node or edge of the graph repaired", "nodes and edges of the graph repaired"),
        ];
        let shown = counted.into_iter().filter(|(number, ..)| *number > 0);
        shown.map(|(number, one, many)| count(number, one, many)).collect()
    };
    let (title, totals) = if summary.run.has_applied() && summary.run.state != RunState::AwaitingReview {
        ("What changed", &summary.done)
    } else {
        ("What would change", &summary.planned)
    };
    if summary.run.plan_hash.is_none() {
        return;
    }
    let _ = writeln!(page, "\n## {title}\n");
    let lines = lines(totals);
    if lines.is_empty() {
        page.push_str("Nothing.\n");
    }
    for line in lines {
        let _ = writeln!(page, "- {line}");
    }
    if summary.run.has_applied() && has_failed(summary.run.state) {
        page.push_str("\nWhat was changed before the run ended stays changed, and can be taken back.\n");
    }
}

/// Counts per op kind and outcome.
fn table(summary: &Summary<'_>, page: &mut String) {
    if summary.counts.is_empty() {
        return;
    }
    page.push_str("\n## Ops by what became of them\n\n");
    let table = counts_rows(&summary.counts);
    let _ = writeln!(page, "| {} |", table.headers.join(" | "));
    let _ = writeln!(page, "|---|{}", "--:|".repeat(table.headers.len() - 1));
    for row in &table.rows {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}
