//! What is told of the work to whoever measures it: spans and metrics, by the global providers of OpenTelemetry. Where none
//! was set, telling costs next to nothing.
//!
//! **Invariant:** a label of a metric comes from a closed set: an activity, an outcome, a kind of op, a state, the name of a
//! store. A span has ids beside. Neither ever has the name of a namespace, a workflow's own words, or memory text.
//!
//! A new instrument is a field of [`Instruments`], and its line in docs/operating.md.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use dream_core::failure::Failure;
use dream_core::op::{OpKind, OpState, Reason};
use dream_core::run::{Realm, RunState};
use dream_workflows::contract::Mirrored;
use opentelemetry::metrics::{Counter, Gauge, Histogram};
use opentelemetry::trace::{Span as _, Status, Tracer as _};
use opentelemetry::{KeyValue, global};
use uuid::Uuid;

/// The name under which spans and metrics are told.
const SCOPE: &str = "dream";

/// Borders of the durations in seconds: from a group of a few ops to a step that reads a large namespace for minutes.
const SECONDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 15.0, 45.0, 120.0, 600.0];

/// The outcome of an activity that was dropped before it ended: its worker stopped, or nobody waited for it any more.
const CUT_OFF: &str = "cut_off";

struct Instruments {
    runs: Counter<u64>,
    ops: Counter<u64>,
    groups: Histogram<f64>,
    activities: Histogram<f64>,
    outbox: Gauge<u64>,
    mirrored: Counter<u64>,
    mirror_left: Counter<u64>,
}

/// Made when something is told for the first time, which is after the providers were set.
static INSTRUMENTS: LazyLock<Instruments> = LazyLock::new(|| {
    let meter = global::meter(SCOPE);
    let seconds = |name, description| {
        let histogram = meter.f64_histogram(name).with_unit("s").with_description(description);
        histogram.with_boundaries(SECONDS.to_vec()).build()
    };
    Instruments {
        runs: meter.u64_counter("dream.runs").with_description("Runs that were closed, by final state").build(),
        ops: meter.u64_counter("dream.ops").with_description("Ops carried out, by kind and outcome").build(),
        groups: seconds("dream.group.duration", "One transaction of ops"),
        activities: seconds("dream.activity.duration", "One attempt of an activity, by name and outcome"),
        outbox: meter.u64_gauge("dream.outbox.open").with_description("Outbox rows that wait, by store").build(),
        mirrored: meter
            .u64_counter("dream.graph_mirror.rows")
            .with_description("Outbox rows that the graph was told of, by whether it missed something")
            .build(),
        mirror_left: meter
            .u64_counter("dream.graph_mirror.partial_failure")
            .with_description("Drains that left rows, by reason")
            .build(),
    }
});

/// A run was closed.
pub fn run_closed(state: RunState) {
    INSTRUMENTS.runs.add(1, &[KeyValue::new("state", state.as_str())]);
}

/// A group was committed.
pub fn group_committed(took: Duration, ops: &[(OpKind, OpState, Option<Reason>)]) {
    INSTRUMENTS.groups.record(took.as_secs_f64(), &[]);
    let mut counts: BTreeMap<(OpKind, OpState), u64> = BTreeMap::new();
    for (kind, state, _) in ops {
        *counts.entry((*kind, *state)).or_default() += 1;
    }
    for ((kind, state), count) in counts {
        INSTRUMENTS.ops.add(count, &[KeyValue::new("kind", kind.as_str()), KeyValue::new("outcome", state.as_str())]);
    }
}

/// The store refused an op that stood alone. It does not say of which kind.
pub fn op_refused() {
    INSTRUMENTS.ops.add(1, &[KeyValue::new("outcome", OpState::Failed.as_str())]);
}

/// Outbox rows of a store that wait.
pub fn outbox_open(store: &str, rows: u64) {
    INSTRUMENTS.outbox.record(rows, &[KeyValue::new("store", store.to_owned())]);
}

/// A namespace was drained.
pub fn mirrored(done: &Mirrored) {
    let rows = |rows, outcome| INSTRUMENTS.mirrored.add(rows, &[KeyValue::new("outcome", outcome)]);
    rows(done.done - done.missing.min(done.done), "done");
    rows(done.missing, "missing");
    if let Some(reason) = done.reason.as_deref().filter(|_| done.left + done.parked > 0) {
        // Behind the colon stands what the server said of one row.
        let reason = reason.split(':').next().unwrap_or_default().to_owned();
        INSTRUMENTS.mirror_left.add(1, &[KeyValue::new("reason", reason)]);
    }
}

/// What an activity is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) activity: &'static str,
    /// The run, as it was said; what is no id is not told.
    pub(crate) run_id: Option<&'a str>,
    pub(crate) kind: Option<OpKind>,
}

/// Works, and tells how long it took and what became of it.
pub(crate) async fn observe<T>(about: About<'_>, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut attempt = Attempt::begin(about);
    let done = work.await;
    attempt.outcome = done.as_ref().map_or_else(|failure| failure.code.name(), |_| "done");
    done
}

/// An attempt of an activity. It is told when it is dropped, so that one that is cut off is told too.
struct Attempt {
    activity: &'static str,
    began: Instant,
    span: global::BoxedSpan,
    outcome: &'static str,
}

impl Attempt {
    fn begin(about: About<'_>) -> Self {
        let mut span = global::tracer(SCOPE).start(about.activity);
        span.set_attribute(KeyValue::new("dream.realm", Realm::Graph.as_str()));
        if let Some(run) = about.run_id.and_then(|text| Uuid::parse_str(text).ok()) {
            span.set_attribute(KeyValue::new("dream.run.id", run.to_string()));
        }
        if let Some(kind) = about.kind {
            span.set_attribute(KeyValue::new("dream.op.kind", kind.as_str()));
        }
        Self { activity: about.activity, began: Instant::now(), span, outcome: CUT_OFF }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let labels = [KeyValue::new("activity", self.activity), KeyValue::new("outcome", self.outcome)];
        INSTRUMENTS.activities.record(self.began.elapsed().as_secs_f64(), &labels);
        self.span.set_attribute(KeyValue::new("dream.outcome", self.outcome));
        if self.outcome != "done" {
            self.span.set_status(Status::error(self.outcome));
        }
        self.span.end();
    }
}
