//! What came out, for people and for machines.

use std::collections::BTreeMap;
use std::time::Duration;

use dream_core::realm::graph::dedupe::eval::{EvalReport, evaluate};
use dream_core::realm::graph::dedupe::{DedupePlan, KeptApartReason, Score};
use serde::Serialize;

use super::Set;
use crate::term;

/// What must be reached.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Floors {
    pub(crate) precision_min: Option<f64>,
    pub(crate) recall_min: Option<f64>,
}

/// The figures of one set.
#[derive(Debug, Serialize)]
pub(crate) struct Scorecard {
    #[serde(flatten)]
    report: EvalReport,
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
    homograph_split_rate: Option<f64>,
    kept_apart: BTreeMap<KeptApartReason, u64>,
    collisions: u64,
    plan_seconds: f64,
    floors: Floors,
    /// Whether something was merged and the floors are reached.
    pub(crate) passed: bool,
}

impl Scorecard {
    pub(crate) fn of(set: &Set, plan: &DedupePlan, took: Duration, floors: Floors) -> Self {
        let report = evaluate(&set.labelled(), plan);
        let mut kept_apart = plan.kept_apart_unlisted.clone();
        for kept in &plan.kept_apart {
            *kept_apart.entry(kept.reason).or_default() += 1;
        }
        let floor = |floor: Option<f64>| Score::from_unit(floor.unwrap_or_default());
        Self {
            precision: report.precision().map(ratio),
            recall: report.recall().map(ratio),
            f1: report.f1().map(ratio),
            homograph_split_rate: report.homograph_split_rate().map(ratio),
            kept_apart,
            collisions: plan.collisions.len() as u64,
            plan_seconds: took.as_secs_f64(),
            floors,
            passed: report.reaches(floor(floors.precision_min), floor(floors.recall_min)),
            report,
        }
    }

    /// Prints it as a table, and says what is missing.
    pub(crate) fn show(&self) {
        let report = &self.report;
        let shown = |ratio: Option<f64>| ratio.map_or_else(|| "none".to_owned(), |ratio| format!("{ratio:.4}"));
        let floor = |floor: Option<f64>| floor.map_or_else(String::new, |floor| format!("at least {floor}"));
        let row = |name: &str, value: String, floor: String| vec![name.to_owned(), value, floor];
        let plain = |name: &str, value: u64| row(name, value.to_string(), String::new());
        let homographs = format!("{} of {} pairs", report.homograph_pairs_apart, report.homograph_pairs);
        let mut rows = vec![
            plain("records with a label", report.records),
            plain("clusters merged", report.merges),
            plain("true pairs", report.true_pairs),
            plain("merged pairs", report.merged_pairs),
            plain("of those true", report.correct_pairs),
            row("precision", shown(self.precision), floor(self.floors.precision_min)),
            row("recall", shown(self.recall), floor(self.floors.recall_min)),
            row("F1", shown(self.f1), String::new()),
            row("homographs split", shown(self.homograph_split_rate), homographs),
        ];
        for (reason, count) in &self.kept_apart {
            rows.push(plain(&format!("kept apart: {}", words(*reason)), *count));
        }
        rows.push(plain("clusters that collide", self.collisions));
        rows.push(row("seconds", format!("{:.2}", self.plan_seconds), String::new()));
        term::table(&["over final clusters", "", ""], &rows);
        if report.merged_pairs == 0 {
            term::note("nothing was merged: there is no precision to speak of");
        } else if report.true_pairs == 0 {
            term::note("no two records are one thing: there is nothing to find");
        } else if !self.passed {
            term::note("a floor is not reached");
        }
    }
}

fn ratio(score: Score) -> f64 {
    f64::from(score.0) / 10_000.0
}

const fn words(reason: KeptApartReason) -> &'static str {
    match reason {
        KeptApartReason::Vetoed => "vetoed",
        KeptApartReason::NamesSilent => "names silent",
        KeptApartReason::Unsupported => "unsupported",
        KeptApartReason::ClusterDisagrees => "cluster disagrees",
        KeptApartReason::OutOfScope => "out of scope",
        KeptApartReason::Claimed => "claimed",
    }
}
