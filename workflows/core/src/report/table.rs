//! Rows for terminal tables: a plan, counts, a history, a diff. The CLI draws them; what they say is decided here.
//!
//! **Invariant:** drawn with one line between columns and a space on each side, no table is wider than [`WIDTH_MAX`]
//! columns, whatever a name holds; no cell holds a control character or a line break.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::change::{Column, Existence, RowKey, Table as RowTable, Value};
use crate::clock::Moment;
use crate::id::hex;
use crate::op::{Intent, OpState};
use crate::redact::{Holds, holds};
use crate::report::facts::{OpFacts, RunFacts};
use crate::report::lens::Lens;
use crate::report::plain::{cell, count, grouped, truncate, width};
use crate::report::words;
use crate::run::Counts;
use crate::undo::{UndoCell, UndoChange, UndoRecord, fingerprint};

/// Columns of a terminal that a table may take.
pub const WIDTH_MAX: usize = 100;

/// Columns of a terminal that one name may take among others.
const NAME_WIDTH_MAX: usize = 40;

/// Absorbed names that a cell lists.
const NAMES_MAX: usize = 3;

/// A table: headers, and rows of as many cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What the columns are.
    pub headers: Vec<&'static str>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Cuts cells so that the table fits. A column keeps at least `widths_min` if it wants it; what others leave over goes
    /// to those that want more, in equal parts.
    fn fitted(headers: &[&'static str], widths_min: &[usize], rows: Vec<Vec<String>>) -> Self {
        let lines: Vec<Vec<String>> =
            rows.into_iter().map(|row| row.iter().map(|text| cell(text, WIDTH_MAX)).collect()).collect();
        let wanted = |position: usize| {
            let cells = lines.iter().map(|row| width(&row[position]));
            cells.chain([width(headers[position])]).max().unwrap_or(0)
        };
        let wanted: Vec<usize> = (0..headers.len()).map(wanted).collect();
        let mut widths: Vec<usize> = wanted.iter().zip(widths_min).map(|(want, least)| *want.min(least)).collect();
        let mut spare = WIDTH_MAX.saturating_sub(widths.iter().map(|width| width + 3).sum::<usize>() + 1);
        loop {
            let wanting: Vec<usize> = (0..widths.len()).filter(|at| widths[*at] < wanted[*at]).collect();
            if wanting.is_empty() || spare < wanting.len() {
                break;
            }
            let part = spare / wanting.len();
            for at in wanting {
                let more = part.min(wanted[at] - widths[at]);
                widths[at] += more;
                spare -= more;
            }
        }
        let fit =
            |row: Vec<String>| row.iter().zip(&widths).map(|(text, width_max)| truncate(text, *width_max)).collect();
        Self { headers: headers.to_vec(), rows: lines.into_iter().map(fit).collect() }
    }

    /// Columns of a terminal that it takes, drawn with borders and a space on each side of a cell.
    pub fn width(&self) -> usize {
        let widest = |position: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(position)).map(|text| width(text));
            cells.chain([width(self.headers[position])]).max().unwrap_or(0)
        };
        (0..self.headers.len()).map(|position| widest(position) + 3).sum::<usize>() + 1
    }
}

/// The ops of a plan, one row each: what is done to what, and what decided.
pub fn plan_rows(ops: &[OpFacts], lens: &Lens<'_>) -> Table {
    let rows = ops.iter().map(|facts| {
        let (op, draft) = (&facts.op, &facts.op.draft);
        vec![
            op.seq.to_string(),
            draft.kind.title().to_owned(),
            words::state(op.state).to_owned(),
            what(facts, lens),
            op.reason
                .map_or_else(|| words::brief(&draft.rule, &draft.evidence), |reason| words::reason(reason).to_owned()),
        ]
    });
    Table::fitted(&["seq", "op", "outcome", "what", "why"], &[6, 8, 10, 28, 32], rows.collect())
}

/// What an op is about, in one cell.
pub fn what(facts: &OpFacts, lens: &Lens<'_>) -> String {
    let names = |ids: &[Uuid]| {
        let mut names: Vec<String> = ids.iter().take(NAMES_MAX).map(|id| entity(*id, lens)).collect();
        if ids.len() > NAMES_MAX {
            names.push(format!("{} more", ids.len() - NAMES_MAX));
        }
        names.join(", ")
    };
    match &facts.op.draft.intent {
        Intent::MergeEntities { keep, absorb } => format!("{} ← {}", entity(*keep, lens), names(absorb)),
        Intent::Reabsorb { keep, absorbed } => format!("{} ← {}", entity(*keep, lens), entity(*absorbed, lens)),
        Intent::Centroid { entity: kept, .. } => format!("vector of {}", entity(*kept, lens)),
        Intent::DropReferences { row, chunks } => format!("{} of {}", chunks.len(), row_name(*row, lens)),
        Intent::Repair { row, .. } => row_name(*row, lens),
        Intent::Observe { rows } => {
            rows.iter().take(NAMES_MAX).map(|id| entity(*id, lens)).collect::<Vec<_>>().join(" / ")
        }
        Intent::RemoveFact { fact } | Intent::MoveFact { fact, .. } => format!("fact {}", short_id(*fact)),
        Intent::MergeFacts { keep, absorb, .. } => {
            let absorbed: Vec<String> = absorb.iter().take(NAMES_MAX).map(|id| short_id(*id)).collect();
            format!("fact {} ← {}", short_id(*keep), absorbed.join(", "))
        }
        Intent::WriteDigest { starts_on, .. } => format!("week of {starts_on}"),
        Intent::WriteProfile { .. } => "profile".to_owned(),
        Intent::WriteRecord { record, kind, .. } => format!("{kind} {}", short_id(*record)),
    }
}

/// An entity in a cell: its name, else the end of its id.
fn entity(id: Uuid, lens: &Lens<'_>) -> String {
    let name = lens.name(id);
    name.as_ref().and_then(|name| name.shown()).map_or_else(|| short_id(id), |name| cell(name, NAME_WIDTH_MAX))
}

/// The end of an id: ids that were made in one moment may all begin alike.
fn short_id(id: Uuid) -> String {
    format!("…{}", &id.to_string()[28..])
}

fn row_name(row: RowKey, lens: &Lens<'_>) -> String {
    match row.table {
        RowTable::Entities | RowTable::Aliases => entity(row.id, lens),
        _ => short_id(row.id),
    }
}

/// Ops by kind and by what became of them; the last row adds them up.
pub fn counts_rows(counts: &Counts) -> Table {
    let used: BTreeSet<OpState> = counts.values().flat_map(|states| states.keys().copied()).collect();
    let states: Vec<OpState> = OpState::ALL.iter().copied().filter(|state| used.contains(state)).collect();
    let mut headers = vec!["op"];
    headers.extend(states.iter().map(|state| words::state(*state)));
    headers.push("all");
    let line = |title: &str, numbers: Vec<u64>| {
        let mut cells = vec![title.to_owned()];
        cells.extend(numbers.iter().map(|number| grouped(*number)));
        cells.push(grouped(numbers.iter().sum()));
        cells
    };
    let number = |kind: &std::collections::BTreeMap<OpState, u32>, state: OpState| {
        u64::from(kind.get(&state).copied().unwrap_or(0))
    };
    let mut rows: Vec<Vec<String>> = counts
        .iter()
        .map(|(kind, of)| line(kind.title(), states.iter().map(|state| number(of, *state)).collect()))
        .collect();
    if counts.len() > 1 {
        rows.push(line("all", states.iter().map(|state| counts.values().map(|of| number(of, *state)).sum()).collect()));
    }
    Table { headers, rows }
}

/// Runs, as a history lists them.
pub fn run_rows(runs: &[RunFacts]) -> Table {
    let rows = runs.iter().map(|run| {
        let changed: u64 =
            run.counts.values().filter_map(|states| states.get(&OpState::Applied)).map(|n| u64::from(*n)).sum();
        vec![
            run.run.to_string(),
            minute(run.started_at),
            run.mode.to_string(),
            run.state.to_string(),
            format!("{}/{}", grouped(changed), grouped(u64::from(run.ops_total))),
        ]
    });
    Table::fitted(&["run", "started (UTC)", "mode", "state", "applied"], &[36, 16, 7, 15, 10], rows.collect())
}

fn minute(moment: Moment) -> String {
    moment.to_string()[..16].replace('T', " ")
}

/// What a cell holds now; none if the row is gone.
pub type Current<'a> = &'a dyn Fn(RowKey, Column) -> Option<Value>;

/// What ops changed, one row for each cell, or for a row that came or went. An undo record holds what was before and a
/// digest of what came after, so `current` is asked for that; where it was changed since, the table says so.
pub fn diff_rows<'a>(
    records: impl IntoIterator<Item = &'a UndoRecord>,
    current: Current<'_>,
    lens: &Lens<'_>,
) -> Table {
    let mut rows = Vec::new();
    for change in records.into_iter().flat_map(|record| &record.changes) {
        let mut start = vec![change.key.table.to_string(), row_name(change.key, lens)];
        if change.existence == Existence::Kept {
            for (column, held) in &change.columns {
                let mut row = start.clone();
                row.extend([column.to_string(), cell_diff(change, *column, held, current, lens)]);
                rows.push(row);
            }
        } else {
            start.extend(["(row)".to_owned(), change.existence.to_string()]);
            rows.push(start);
        }
    }
    Table::fitted(&["table", "row", "column", "before → after"], &[14, 20, 19, 34], rows)
}

/// Columns of a terminal that one side of a change may take, so that the other is seen too.
const SIDE_WIDTH_MAX: usize = 22;

fn cell_diff(change: &UndoChange, column: Column, held: &UndoCell, current: Current<'_>, lens: &Lens<'_>) -> String {
    let before = &held.before.value;
    let now = current(change.key, column);
    let is_ours = now.as_ref().is_some_and(|now| fingerprint(now) == held.after);
    if let Some(list) = list_diff(before, held, now.as_ref().filter(|_| is_ours)) {
        return list;
    }
    let side = |value: &Value| cell(&shown(column, value, lens), SIDE_WIDTH_MAX);
    let after = match now {
        Some(now) if is_ours => side(&now),
        Some(_) => "(changed since)".to_owned(),
        None => "(row is gone)".to_owned(),
    };
    format!("{} → {after}", side(before))
}

/// A list of ids as what came and what went; none if the cell is no list.
fn list_diff(before: &Value, held: &UndoCell, after: Option<&Value>) -> Option<String> {
    let Value::Ids(had) = before else { return None };
    let added = held.added.len();
    let Some(Value::Ids(has)) = after else {
        return Some(format!("{} ids, {added} added", had.len()));
    };
    let kept: BTreeSet<&Uuid> = has.iter().collect();
    let removed = had.iter().filter(|id| !kept.contains(id)).count();
    Some(format!("{} → {} ids (+{added} -{removed})", had.len(), has.len()))
}

/// A value in one short text, memory text as the redaction shows it.
fn shown(column: Column, value: &Value, lens: &Lens<'_>) -> String {
    let redaction = lens.redaction();
    let text = |text: &str| {
        let marked = if holds(column) == Holds::TypeName { redaction.type_name(text) } else { redaction.text(text) };
        marked.shown().map_or_else(|| "(taken out)".to_owned(), str::to_owned)
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(words) if words.is_empty() => "\"\"".to_owned(),
        Value::Text(words) | Value::Json(words) => text(words),
        Value::Time(moment) => minute(*moment),
        Value::Id(id) => end_name(*id, column, lens),
        Value::Ids(ids) => count(ids.len() as u64, "id", "ids"),
        Value::Vector(vector) => {
            let digest = fingerprint(value);
            format!("{} × f32 {}", vector.len(), &hex(&digest.0)[..4])
        }
    }
}

/// An id in a cell: an entity by its name, anything else by the end of the id.
fn end_name(id: Uuid, column: Column, lens: &Lens<'_>) -> String {
    match column {
        Column::SourceEntityId | Column::TargetEntityId | Column::CanonicalId => entity(id, lens),
        _ => short_id(id),
    }
}
