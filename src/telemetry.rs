//! Telemetry: logs to the standard error, and traces and metrics to a collector where the environment names one.
//!
//! Logs hold ids and counts only; memory text is never logged. What is measured is told in `dream_activities::observe`; here
//! it is sent away, over OTLP as http/protobuf, on threads of its own.
//!
//! **Invariant:** a collector that is away, or does not answer, neither fails nor holds up a run: what cannot be sent is
//! dropped, and the end of the process waits for it only so long.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use dream_activities::{World, observe};
use dream_core::failure::Code;
use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::resource::EnvResourceDetector;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use uuid::Uuid;

use crate::config::Otlp;
use crate::exit::Fault;

/// How long the end of a process waits for what was not sent yet: a collector that is there takes it in a fraction of that,
/// and a person at a terminal does not think that the command hangs.
const FLUSH_WITHIN: Duration = Duration::from_secs(5);

/// How often open outbox rows are counted: twice between two exports, which are a minute apart unless it is said otherwise.
const OUTBOX_EVERY: Duration = Duration::from_secs(30);

/// How long a store may take to count them. The next count comes soon.
const COUNT_WITHIN: Duration = Duration::from_secs(5);

/// How logs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// Sets logging up. `RUST_LOG` says how much; `default` where it does not.
pub(crate) fn init(default: &str, format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    // What an agent says to its tools, and what a model says, is memory, and their libraries log it, at every level.
    let silent = filter_fn(|metadata| !["rmcp", "genai"].iter().any(|library| metadata.target().starts_with(library)));
    let registry = tracing_subscriber::registry().with(filter).with(silent);
    let layer =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    // A second initialisation, as in tests, is no error.
    let _set = match format {
        LogFormat::Text => registry.with(layer.with_target(false)).try_init(),
        LogFormat::Json => registry.with(layer.json().flatten_event(true)).try_init(),
    };
}

/// What sends traces and metrics away; nothing where no collector is named.
#[derive(Default)]
pub(crate) struct Export {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
}

impl Export {
    /// Begins to send what the environment names a collector for.
    pub(crate) fn begin(otlp: &Otlp) -> Result<Self, Fault> {
        // Neither the address nor a reason that quotes it is repeated: there may be a key in it.
        if let Some(name) = &otlp.unusable {
            let message = format!("{name}: expected http://… or https://…");
            return Err(Fault::new(Code::Configuration, message));
        }
        let unusable = |what: &str| {
            let message = format!("{what} cannot be exported: the variables OTEL_EXPORTER_OTLP_… cannot be used");
            Fault::new(Code::Configuration, message)
        };
        let mut export = Self::default();
        if otlp.traces {
            let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build();
            let exporter = exporter.map_err(|_| unusable("traces"))?;
            let provider = SdkTracerProvider::builder().with_resource(resource(otlp)).with_batch_exporter(exporter);
            let provider = provider.build();
            global::set_tracer_provider(provider.clone());
            export.traces = Some(provider);
        }
        if otlp.metrics {
            let exporter = MetricExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build();
            let exporter = exporter.map_err(|_| unusable("metrics"))?;
            let provider = SdkMeterProvider::builder().with_resource(resource(otlp)).with_periodic_exporter(exporter);
            let provider = provider.build();
            global::set_meter_provider(provider.clone());
            export.metrics = Some(provider);
        }
        Ok(export)
    }

    /// Sends what was not sent yet, and gives up after [`FLUSH_WITHIN`].
    pub(crate) async fn end(self) {
        let (traces, metrics) = (self.traces, self.metrics);
        // Threads, because a task that blocks would be waited for by the end of the runtime, however long it takes.
        let sent = tokio::time::timeout(FLUSH_WITHIN, async {
            let traces = traces.map(|provider| on_a_thread(move || drop(provider.shutdown_with_timeout(FLUSH_WITHIN))));
            let metrics = metrics.map(|provider| on_a_thread(move || drop(provider.shutdown())));
            for sent in [traces, metrics].into_iter().flatten() {
                // A thread that could not be made has nothing to wait for.
                let _ended = sent.await;
            }
        });
        if sent.await.is_err() {
            tracing::warn!("the collector did not take the last traces and metrics in time, and they are lost");
        }
    }
}

fn on_a_thread(work: impl FnOnce() + Send + 'static) -> tokio::sync::oneshot::Receiver<()> {
    let (ended, wait) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        work();
        let _nobody_waits = ended.send(());
    });
    wait
}

/// Who tells: what the environment says, and a name for each process, because the counts of two workers are two.
fn resource(otlp: &Otlp) -> Resource {
    let ours = [
        KeyValue::new("service.name", "dream-worker"),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", Uuid::now_v7().to_string()),
    ];
    let resource = Resource::builder_empty().with_attributes(ours).with_detector(Box::new(EnvResourceDetector::new()));
    match &otlp.service_name {
        Some(name) => resource.with_service_name(name.clone()).build(),
        None => resource.build(),
    }
}

/// Counts open outbox rows until the worker stops.
pub(crate) fn keep_counting_outboxes(world: Arc<World>) {
    tokio::spawn(async move {
        loop {
            count_outboxes(&world).await;
            tokio::select! {
                () = tokio::time::sleep(OUTBOX_EVERY) => {}
                () = world.stopping.cancelled() => return,
            }
        }
    });
}

async fn count_outboxes(world: &World) {
    for (name, handle) in &world.stores {
        // What a store does not say now it says the next time; readiness says that it is away.
        if let Ok(Ok((rows, _oldest))) = tokio::time::timeout(COUNT_WITHIN, handle.store.outbox_open()).await {
            observe::outbox_open(name, rows);
        }
    }
}
