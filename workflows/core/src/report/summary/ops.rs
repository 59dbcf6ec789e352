//! The ops on the page: those of the greatest impact, those that were not done, and pairs that stayed two.

use std::fmt::Write as _;

use super::notes::store_flag;
use super::{Apart, Heavy, NAME_WIDTH_MAX, NAMES_SHOWN_MAX, Summary, label};
use crate::algo::cosine::Score;
use crate::op::{Decision, Intent, OpState};
use crate::realm::graph::dedupe::PairEvidence;
use crate::realm::graph::evidence::Evidence;
use crate::report::facts::OpFacts;
use crate::report::khora;
use crate::report::lens::Lens;
use crate::report::plain::{and, code_span, count, grouped};
use crate::report::words::{self, Weighed};

/// How impact is counted, in words; `Totals::impact` counts it.
pub(super) const IMPACT_FORMULA: &str = "10 for each entity absorbed, and 1 for each mention gained, edge moved, folded or retired, dead reference removed and vector set";

pub(super) fn write(summary: &Summary<'_>, lens: &Lens<'_>, page: &mut String) {
    heaviest(summary, lens, page);
    not_done(summary, page);
    apart(summary, lens, page);
}

fn heaviest(summary: &Summary<'_>, lens: &Lens<'_>, page: &mut String) {
    if summary.heaviest.is_empty() {
        return;
    }
    let (shown, all) = (summary.heaviest.len() as u64, summary.effective);
    let of = if shown < all {
        format!("The first {} of {} ops that change something", grouped(shown), grouped(all))
    } else {
        format!("All {} that {} something", count(all, "op", "ops"), if all == 1 { "changes" } else { "change" })
    };
    let _ = writeln!(page, "\n## The ops with the greatest impact\n\n{of}. Impact counts {IMPACT_FORMULA}.\n");
    for (place, heavy) in (1..).zip(&summary.heaviest) {
        one_heavy(summary, place, heavy, lens, page);
    }
}

fn one_heavy(summary: &Summary<'_>, place: usize, heavy: &Heavy, lens: &Lens<'_>, page: &mut String) {
    let op = &heavy.op.op;
    let title = op.draft.kind.title();
    let what = what(&heavy.op, lens);
    let _ = writeln!(page, "{place}. **{title}**, op {}, impact {}: {what}", op.seq, grouped(heavy.impact));
    let _ = writeln!(page, "   - rule: {} (`{}`)", words::rule(&op.draft.rule), op.draft.rule);
    if let Evidence::Merge(evidence) = &op.draft.evidence
        && evidence.pairs.len() > 1
        && let Some(pair) = words::weakest(&evidence.pairs)
    {
        let (left, right) = (label(pair.left, lens), label(pair.right, lens));
        let _ = writeln!(page, "   - weakest of {} pairs: {left} and {right}", evidence.pairs.len());
    }
    let threshold = khora::threshold(&heavy.op, &summary.run.settings, lens).map(Score::from_unit);
    weighed(&words::evidence(&op.draft.evidence, threshold), page);
    if let Some(numbers) = &heavy.op.numbers {
        let _ = writeln!(page, "   - did: {}", words::numbers(numbers).join(", "));
    }
    if op.state == OpState::Applied {
        let _ = writeln!(page, "   - take back: `dream undo --op {}{}`", op.id, store_flag(summary));
    }
}

fn weighed(weighed: &Weighed, page: &mut String) {
    if !weighed.speaks_for.is_empty() {
        let _ = writeln!(page, "   - for: {}", weighed.speaks_for.join("; "));
    }
    if !weighed.speaks_against.is_empty() {
        let _ = writeln!(page, "   - against: {}", weighed.speaks_against.join("; "));
    }
}

/// What an op is about, with names.
fn what(facts: &OpFacts, lens: &Lens<'_>) -> String {
    match &facts.op.draft.intent {
        Intent::MergeEntities { keep, absorb } => {
            let mut names: Vec<String> = absorb.iter().take(NAMES_SHOWN_MAX).map(|id| label(*id, lens)).collect();
            if absorb.len() > NAMES_SHOWN_MAX {
                names.push(format!("{} more", absorb.len() - NAMES_SHOWN_MAX));
            }
            format!("{} → {}{}", and(&names), label(*keep, lens), of_type(*keep, lens))
        }
        Intent::Reabsorb { keep, absorbed } => {
            format!("{} came back → {}{}", label(*absorbed, lens), label(*keep, lens), of_type(*keep, lens))
        }
        Intent::Centroid { entity, members } => {
            let how = if facts.op.draft.decision == Decision::ReEmbed { "from its name" } else { "as the mean" };
            let members = count(members.len() as u64, "member", "members");
            format!("vector of {}, {how}, for {members}", label(*entity, lens))
        }
        Intent::DropReferences { row, chunks } => {
            let references = count(chunks.len() as u64, "dead reference", "dead references");
            let of = match row.table {
                crate::change::Table::Entities => label(row.id, lens),
                table => format!("row `{}` of {table}", row.id),
            };
            format!("{references} of {of}")
        }
        Intent::Repair { row, .. } => match row.table {
            crate::change::Table::Entities => format!("node of {}", label(row.id, lens)),
            _ => format!("edge `{}`", row.id),
        },
        Intent::Observe { rows } => {
            let names: Vec<String> = rows.iter().take(NAMES_SHOWN_MAX).map(|id| label(*id, lens)).collect();
            and(&names)
        }
        // Of a space only ids are shown: its texts are joined where somebody asks for them.
        Intent::RemoveFact { fact } | Intent::MoveFact { fact, .. } => format!("fact `{fact}`"),
        Intent::MergeFacts { keep, absorb, .. } => {
            format!("{} → fact `{keep}`", count(absorb.len() as u64, "fact", "facts"))
        }
        Intent::WriteDigest { starts_on, .. } => format!("the week of {starts_on}"),
        Intent::WriteProfile { .. } => "the profile".to_owned(),
        Intent::WriteRecord { record, kind, .. } => format!("{kind} `{record}`"),
    }
}

fn of_type(entity: uuid::Uuid, lens: &Lens<'_>) -> String {
    let entity_type = lens.entity_type(entity);
    let shown = entity_type.as_ref().and_then(|name| name.shown());
    shown.map(|name| format!(", of type {}", code_span(name, NAME_WIDTH_MAX))).unwrap_or_default()
}

fn not_done(summary: &Summary<'_>, page: &mut String) {
    let run = summary.run;
    if summary.not_done.is_empty() && run.skip_reasons.is_empty() && run.graph_left == 0 {
        return;
    }
    page.push_str("\n## What was not done, and why\n\n");
    for ((kind, state, reason), number) in &summary.not_done {
        let why = match reason {
            Some(reason) => format!(": {} (`{reason}`)", words::reason(*reason)),
            None if *state == OpState::Noop => ": nothing was left to do".to_owned(),
            None => String::new(),
        };
        let _ = writeln!(page, "- {} × {}, {}{why}", grouped(*number), kind.title(), words::state(*state));
    }
    if run.graph_left > 0 {
        let ops = count(u64::from(run.graph_left), "op", "ops");
        let _ = writeln!(page, "- the graph database was not told of {ops} yet; `dream status` says what is left");
    }
    for skip in &run.skip_reasons {
        let rows = skip.count.map(|rows| format!(", {}", count(rows, "row", "rows"))).unwrap_or_default();
        let (title, why) = (skip.op_kind.title(), words::reason(skip.reason));
        let _ = writeln!(page, "- {title}{rows}: {why} (`{}`)", skip.reason);
    }
}

fn apart(summary: &Summary<'_>, lens: &Lens<'_>, page: &mut String) {
    let unlisted = &summary.run.kept_apart_unlisted;
    if summary.apart.is_empty() && unlisted.is_empty() {
        return;
    }
    page.push_str("\n## What stays two, and why\n\n");
    let mut reasons: Vec<(&String, &Apart)> = summary.apart.iter().collect();
    reasons.sort_by(|(one_name, one), (two_name, two)| two.pairs.cmp(&one.pairs).then(one_name.cmp(two_name)));
    for (rule, apart) in reasons {
        let _ = writeln!(page, "- {}: {} (`{rule}`)", count(apart.pairs, "pair", "pairs"), words::rule(rule));
        for pair in &apart.examples {
            example(summary, rule, pair, lens, page);
        }
    }
    for (reason, pairs) in unlisted {
        let name = words::wire_name(reason);
        let _ = writeln!(page, "- {} more, not listed: {}", count(*pairs, "pair", "pairs"), words::rule(&name));
    }
}

fn example(summary: &Summary<'_>, rule: &str, pair: &PairEvidence, lens: &Lens<'_>, page: &mut String) {
    let _ = writeln!(page, "  - {} and {}", label(pair.left, lens), label(pair.right, lens));
    let threshold = khora::pair_threshold(&summary.run.settings, pair, lens).map(Score::from_unit);
    let mut weighed = words::pair(pair, threshold);
    // It stands in the line above the examples.
    weighed.speaks_against.retain(|words| *words != words::rule(rule));
    if !weighed.speaks_for.is_empty() {
        let _ = writeln!(page, "    - for: {}", weighed.speaks_for.join("; "));
    }
    if !weighed.speaks_against.is_empty() {
        let _ = writeln!(page, "    - against: {}", weighed.speaks_against.join("; "));
    }
    let missing = words::missing(pair);
    if !missing.is_empty() {
        let _ = writeln!(page, "    - any one of these would make them one: {}", missing.join(", "));
    }
}
