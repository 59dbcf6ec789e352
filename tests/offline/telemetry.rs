//! Traces and metrics over OTLP: what a collector gets, what it never gets, and what happens where it is away.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::collector::{METRICS, TRACES, collector, sent, spans, told, words};
use crate::support::program::{Program, run_id};
use crate::support::world::{NAMESPACE, World};

/// What must not be seen. It is looked for without regard to case.
const CANARY: &str = "canaryqx";

/// Longer than a run takes that waits for its collector at the end, and shorter than one that waits for it in between.
const SOON: Duration = Duration::from_mins(1);

/// A program over a small world in which every text holds the canary.
fn planted() -> Program {
    let mut world = World::new(40);
    for row in &mut world.entities {
        let name = format!("{} {CANARY}", row["name"].as_str().unwrap());
        row["name"] = name.into();
        row["description"] = CANARY.into();
        row["attributes"] = json!({ CANARY: CANARY });
    }
    let program = Program::new();
    program.import("memories.db", NAMESPACE, &world.lines());
    program
}

fn dream(program: &Program) -> serde_json::Value {
    program.dream("memories.db", NAMESPACE, &["--mode", "apply"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_spans_and_metrics_and_neither_names_nor_memories() {
    let collector = collector().await;
    let mut program = planted();
    program.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.uri());
    let run = run_id(&dream(&program));

    let metrics = sent(&collector, METRICS).await;
    let told = told(&metrics);
    for expected in [
        "dream.runs{state=completed}",
        "dream.ops{kind=vectorcypher_dedupe_entities,outcome=applied}",
        "dream.group.duration{}",
        "dream.activity.duration{activity=apply,outcome=done}",
    ] {
        assert!(told.iter().any(|metric| metric == expected), "{expected}: {told:#?}");
    }
    let traces = sent(&collector, TRACES).await;
    let spans = spans(&traces);
    let plan = spans.iter().find(|span| span.name == "plan" && words(&span.attributes).contains("dedupe")).unwrap();
    let expected =
        format!("dream.op.kind=vectorcypher_dedupe_entities,dream.outcome=done,dream.realm=graph,dream.run.id={run}");
    assert_eq!(words(&plan.attributes), expected);

    for body in metrics.iter().chain(&traces) {
        let text = String::from_utf8_lossy(body).to_lowercase();
        assert!(!text.contains(CANARY), "{text}");
    }
    for metric in &told {
        assert!(!metric.contains("namespace") && !metric.contains(NAMESPACE) && !metric.contains(&run), "{metric}");
    }
}

#[test]
fn a_collector_that_is_away_or_never_answers_neither_fails_a_run_nor_holds_it_up() {
    // A port that was free a moment ago refuses; one that nobody accepts on takes a connection and never answers.
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [refusing, silent.local_addr().unwrap()] {
        let mut program = planted();
        program.set("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{address}"));
        let began = Instant::now();
        assert_eq!(dream(&program)["state"], "completed");
        assert!(began.elapsed() < SOON, "{address}: {:?}", began.elapsed());
    }
}

#[test]
fn a_collector_without_a_usable_address_is_said_before_anything_is_done() {
    let mut program = Program::new();
    program.set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "no address");
    let refused = program.run(&["run", "graph", "--namespace", NAMESPACE, "--store", "memories.db"]).expect(1);
    assert!(refused.stderr.contains("DREAM-4001") && !refused.stderr.contains("no address"), "{}", refused.stderr);
}
