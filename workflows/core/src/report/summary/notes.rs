//! The end of the page: what audits found, how to take back or apply, and how to look closer.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{AuditNote, FINDINGS_SHOWN_MAX, NAME_WIDTH_MAX, Summary, label};
use crate::change::Table;
use crate::op::OpState;
use crate::realm::graph::drift::DriftReport;
use crate::redact::Text;
use crate::report::facts::TableAudit;
use crate::report::lens::Lens;
use crate::report::plain::{and, code_span, count, grouped, shell_word};
use crate::report::words;
use crate::run::{Mode, RunState};

pub(super) fn write(summary: &Summary<'_>, lens: &Lens<'_>, page: &mut String) {
    if !summary.audits.is_empty() {
        page.push_str("\n## What the audits found\n");
        for note in &summary.audits {
            audit(note, lens, page);
        }
    }
    next_step(summary, page);
    look_closer(summary, page);
}

fn audit(note: &AuditNote, lens: &Lens<'_>, page: &mut String) {
    let _ = writeln!(page, "\n### {}\n", words::audit_title(note.kind));
    if note.findings == 0 {
        page.push_str("Nothing.\n");
    }
    if let Some(report) = &note.drift {
        drift(report, lens, page);
    }
    if !note.orphans.is_empty() {
        orphans(note, lens, page);
    }
    for table in &note.tables {
        references(table, lens, page);
    }
}

fn drift(report: &DriftReport, lens: &Lens<'_>, page: &mut String) {
    let (entities, relationships) = (report.entity_total, report.relationship_total);
    let entities = count(entities, "live entity", "live entities");
    let _ = writeln!(page, "- {entities}, {}", count(relationships, "live relationship", "live relationships"));
    type_names("entity types observed and not declared", &report.new_entity_types, lens, page);
    type_names("entity types declared and not observed", &report.unused_entity_types, lens, page);
    type_names("relationship types observed and not declared", &report.new_relationship_types, lens, page);
    type_names("relationship types declared and not observed", &report.unused_relationship_types, lens, page);
    moved("entities", &report.entity_frequency_delta, lens, page);
    moved("relationships", &report.relationship_frequency_delta, lens, page);
    if !report.has_baseline {
        page.push_str("- nothing to compare with: this is the first run that counts types here\n");
    }
}

fn type_names(title: &str, names: &[String], lens: &Lens<'_>, page: &mut String) {
    if names.is_empty() {
        return;
    }
    let texts: Vec<Text> = names.iter().map(|name| lens.redaction().type_name(name)).collect();
    let mut shown: Vec<String> = texts
        .iter()
        .filter_map(Text::shown)
        .take(FINDINGS_SHOWN_MAX)
        .map(|name| code_span(name, NAME_WIDTH_MAX))
        .collect();
    let rest = names.len() - shown.len();
    if rest > 0 && !shown.is_empty() {
        shown.push(format!("{} more", grouped(rest as u64)));
    }
    let _ = write!(page, "- {title}: {}", grouped(names.len() as u64));
    if !shown.is_empty() {
        let _ = write!(page, ", {}", and(&shown));
    }
    page.push('\n');
}

fn moved(rows: &str, deltas: &BTreeMap<String, (u64, u64)>, lens: &Lens<'_>, page: &mut String) {
    if deltas.is_empty() {
        return;
    }
    let types = count(deltas.len() as u64, "type", "types");
    let _ = writeln!(page, "- {types} of {rows} moved by half or more since the last run:");
    let mut sorted: Vec<(&String, &(u64, u64))> = deltas.iter().collect();
    sorted.sort_by_key(|(name, (before, now))| (std::cmp::Reverse(before.abs_diff(*now)), *name));
    for (name, (before, now)) in sorted.iter().take(FINDINGS_SHOWN_MAX) {
        let text = lens.redaction().type_name(name);
        let shown = text.shown().map_or_else(|| "a type".to_owned(), |name| code_span(name, NAME_WIDTH_MAX));
        let _ = writeln!(page, "  - {shown}: {} → {}", grouped(*before), grouped(*now));
    }
}

fn orphans(note: &AuditNote, lens: &Lens<'_>, page: &mut String) {
    let recalls: Vec<String> =
        note.recalls.iter().map(|(recall, number)| format!("{} {recall}", grouped(*number))).collect();
    let found = count(note.findings, "candidate for an archive", "candidates for an archive");
    let _ = writeln!(page, "- {found} ({}); nothing is archived", recalls.join(", "));
    for orphan in &note.orphans {
        let mentions = count(orphan.mention_count.max(0).unsigned_abs(), "mention", "mentions");
        let _ = writeln!(page, "  - {}: rank {}, {mentions}", label(orphan.entity_id, lens), rank(orphan.pr_score));
    }
}

/// A rank with the digits that tell it from another.
fn rank(score: f64) -> String {
    if score >= 1e-3 { format!("{score:.4}") } else { format!("{score:.1e}") }
}

fn references(found: &TableAudit, lens: &Lens<'_>, page: &mut String) {
    let audit = &found.audit;
    let references = count(audit.total_references, "reference", "references");
    let rows = grouped(audit.total_rows);
    let _ = writeln!(page, "- {}: {references} in {rows} rows, {} dead", found.table, grouped(audit.total_dead_uuids));
    let _ = writeln!(
        page,
        "  - half of the rows have at most {}, nine in ten at most {}, the longest list has {}",
        audit.length_p50, audit.length_p90, audit.length_max
    );
    for offender in &audit.top_offenders {
        let row = match found.table {
            Table::Entities => label(offender.id, lens),
            table => format!("row `{}` of {table}", offender.id),
        };
        let _ = writeln!(page, "  - {row}: {} of {} dead", offender.dead_uuid_count, offender.length);
    }
}

fn next_step(summary: &Summary<'_>, page: &mut String) {
    let run = summary.run;
    let store = store_flag(summary);
    if run.state == RunState::AwaitingReview {
        page.push_str("\n## How to decide\n\n");
        commands(page, &[format!("dream review {}{store}", run.run)]);
        return;
    }
    if run.mode == Mode::DryRun {
        if run.plan_hash.is_some() && summary.planned.ops > 0 {
            page.push_str("\n## How to apply exactly this plan\n\n");
            page.push_str("What changed meanwhile is found stale and left alone.\n\n");
            // A dry run that was let in by `--enable` needs it again.
            let enable = if run.settings.enabled { "" } else { " --enable" };
            let (namespace, run) = (run.namespace, run.run);
            commands(
                page,
                &[format!("dream run graph --namespace {namespace}{store} --mode apply --plan-of {run}{enable}")],
            );
        }
        return;
    }
    if run.plan_hash.is_none() {
        return;
    }
    page.push_str("\n## How to take it back\n\n");
    if summary.count(OpState::Applied) == 0 {
        page.push_str("There is nothing to take back.\n");
        return;
    }
    page.push_str(
        "The whole run, newest op first; `--dry-run` lists what others changed since, which is left alone:\n\n",
    );
    commands(
        page,
        &[format!("dream undo --run {}{store} --dry-run", run.run), format!("dream undo --run {}{store}", run.run)],
    );
    if let Some(heavy) = summary.heaviest.iter().find(|heavy| heavy.op.op.state == OpState::Applied) {
        page.push_str("\nOne op, for example the first of those above:\n\n");
        commands(page, &[format!("dream undo --op {}{store}", heavy.op.op.id)]);
    }
}

fn look_closer(summary: &Summary<'_>, page: &mut String) {
    let (run, store) = (summary.run.run, store_flag(summary));
    page.push_str("\n## How to look closer\n\n");
    let mut lines = vec![format!("dream status {run}{store}")];
    if summary.run.plan_hash.is_some() {
        lines.push(format!("dream plan {run}{store}"));
    }
    if summary.done.ops > 0 {
        lines.push(format!("dream diff {run}{store}"));
        lines.push(format!("dream show entity ID{store} --as-of {}", summary.run.as_of));
    }
    commands(page, &lines);
    page.push_str(
        "\nBeside this page lie `events.jsonl` (every op with its evidence), `undo.json` (what each op changed) and ",
    );
    page.push_str("`manifest.json` (checksums).\n");
}

fn commands(page: &mut String, lines: &[String]) {
    let _ = writeln!(page, "```sh\n{}\n```", lines.join("\n"));
}

/// ` --store NAME`, where a command needs it.
pub(super) fn store_flag(summary: &Summary<'_>) -> String {
    match summary.run.store_argument.as_deref() {
        None => String::new(),
        // An address may hold a password, whatever the caller meant.
        Some(store) if store.contains("://") => " --store STORE".to_owned(),
        Some(store) => format!(" --store {}", shell_word(store)),
    }
}
