//! Traces and metrics of a real worker: they leave while it works, and the last of them when it ends.

use serde_json::json;

use crate::lab::{Lab, eventually, input};
use crate::support::collector::{METRICS, TRACES, collector, sent, spans, told, words};
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_counts_runs_and_open_outbox_rows_and_sends_what_is_left_at_its_end() {
    let collector = collector().await;
    let mut lab = Lab::with(&World::new(40).lines()).await;
    lab.program.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.uri());
    let mut worker = lab.worker(&[]);
    let reported = lab.dream(input(json!({ "mode": "apply" }))).await;
    worker.signal("TERM");
    assert_eq!(eventually("the worker ends", || worker.ended()), 0, "{}", worker.log());

    let told = told(&sent(&collector, METRICS).await);
    for expected in [
        "dream.runs{state=completed}",
        "dream.ops{kind=vectorcypher_dedupe_entities,outcome=applied}",
        "dream.activity.duration{activity=report,outcome=done}",
        "dream.outbox.open{store=default}",
    ] {
        assert!(told.iter().any(|metric| metric == expected), "{expected}: {told:#?}");
    }
    let spans = spans(&sent(&collector, TRACES).await);
    let run = format!("dream.run.id={}", reported.run_id);
    for activity in ["begin", "seal", "apply", "report"] {
        let mut attempts = spans.iter().filter(|span| span.name == activity);
        assert!(attempts.any(|span| words(&span.attributes).contains(&run)), "{activity}");
    }
}
