//! Figures with what they are held against, and the limits that the program promises.

use std::time::Duration;

use serde::Serialize;

use super::machine::Machine;
use crate::term;

/// Planning dedupe at 100,000 entities on PostgreSQL, against one binary COPY of the columns it needs.
pub(super) const PLAN_RATIO_MAX: f64 = 4.0;

/// Memory that it may take, in millions of bytes.
pub(super) const PLAN_MEGABYTES_MAX: f64 = 400.0;

/// Applying, as a share of the speed of bare set-based SQL that writes the same rows.
pub(super) const APPLY_SHARE_MIN: f64 = 0.4;

/// A run under Temporal, against the local engine.
pub(super) const TEMPORAL_RATIO_MAX: f64 = 1.2;

/// Ten times the entities.
pub(super) const GROWTH_MAX: f64 = 12.0;

/// Telling the graph, as a share of the speed of bare batches that write the same.
pub(super) const MIRROR_SHARE_MIN: f64 = 0.5;

/// Memory that it may take beside what the process holds already, in millions of bytes, however many rows wait:
/// most of it are the pages that an embedded store keeps.
pub(super) const MIRROR_MEGABYTES_MAX: f64 = 400.0;

/// What a figure must be.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn holds(self, number: f64) -> bool {
        match self {
            Self::AtMost(limit) => number <= limit,
            Self::AtLeast(limit) => number >= limit,
        }
    }

    fn words(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    pub(super) entities: u64,
    pub(super) what: String,
    pub(super) seconds: f64,
    /// What it is held against, and how long that took.
    pub(super) against: Option<(String, f64)>,
    /// The number that is judged: the two in proportion, or another measure.
    pub(super) ratio: Option<f64>,
    pub(super) limit: Option<Limit>,
    pub(super) detail: String,
}

impl Figure {
    pub(super) fn new(entities: u64, what: impl Into<String>, took: Duration) -> Self {
        let seconds = took.as_secs_f64();
        Self { entities, what: what.into(), seconds, against: None, ratio: None, limit: None, detail: String::new() }
    }

    /// Held against something that takes less, as a multiple of it.
    #[must_use]
    pub(super) fn times(mut self, what: &str, took: Duration, limit: Option<Limit>) -> Self {
        self.ratio = Some(self.seconds / took.as_secs_f64());
        self.against = Some((what.to_owned(), took.as_secs_f64()));
        self.limit = limit;
        self
    }

    /// Held against something that takes less, as a share of its speed.
    #[must_use]
    pub(super) fn share(mut self, what: &str, took: Duration, limit: Option<Limit>) -> Self {
        self = self.times(what, took, limit);
        self.ratio = self.ratio.map(f64::recip);
        self
    }

    /// Judged by a number that is no time.
    #[must_use]
    pub(super) fn judged(mut self, number: f64, limit: Option<Limit>) -> Self {
        self.ratio = Some(number);
        self.limit = limit;
        self
    }

    #[must_use]
    pub(super) fn saying(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    fn holds(&self) -> Option<bool> {
        self.limit.zip(self.ratio).map(|(limit, ratio)| limit.holds(ratio))
    }
}

/// Everything that was measured in one bench.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(super) machine: Machine,
    pub(super) store: String,
    pub(super) repeated: u8,
    pub(super) figures: Vec<Figure>,
}

impl Figures {
    /// Whether every limit holds.
    pub(crate) fn all_hold(&self) -> bool {
        self.figures.iter().all(|figure| figure.holds() != Some(false))
    }

    /// Prints them as a table.
    pub(crate) fn show(&self) {
        let rows: Vec<Vec<String>> = self.figures.iter().map(row).collect();
        term::note(&format!("{}; {}; median of {}", self.store, self.machine.sentence(), self.repeated));
        term::table(&["entities", "what", "seconds", "against", "ratio", "limit", "", ""], &rows);
    }
}

fn row(figure: &Figure) -> Vec<String> {
    let against = figure.against.as_ref().map(|(what, seconds)| format!("{what} {seconds:.2}"));
    let verdict = match figure.holds() {
        Some(true) => "holds",
        Some(false) => "MISSED",
        None => "",
    };
    vec![
        figure.entities.to_string(),
        figure.what.clone(),
        format!("{:.2}", figure.seconds),
        against.unwrap_or_default(),
        figure.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        figure.limit.map(Limit::words).unwrap_or_default(),
        verdict.to_owned(),
        figure.detail.clone(),
    ]
}
