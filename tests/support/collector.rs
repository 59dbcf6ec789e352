//! A collector of traces and metrics, played over HTTP, and what was sent to it in words.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Where metrics are sent to.
pub const METRICS: &str = "/v1/metrics";

/// Where traces are sent to.
pub const TRACES: &str = "/v1/traces";

/// A collector that takes both.
pub async fn collector() -> MockServer {
    let collector = MockServer::start().await;
    for signal in [METRICS, TRACES] {
        let taken = Mock::given(method("POST")).and(path(signal)).respond_with(ResponseTemplate::new(200));
        taken.mount(&collector).await;
    }
    collector
}

/// Bodies of what was sent to a path of the collector.
pub async fn sent(collector: &MockServer, to: &str) -> Vec<Vec<u8>> {
    let requests = collector.received_requests().await.unwrap();
    requests.into_iter().filter(|request| request.url.path() == to).map(|request| request.body).collect()
}

/// `name{key=value,…}` of every number that was told.
pub fn told(bodies: &[Vec<u8>]) -> Vec<String> {
    let mut told = Vec::new();
    for body in bodies {
        let request = ExportMetricsServiceRequest::decode(body.as_slice()).unwrap();
        let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
        for metric in scopes.flat_map(|scope| scope.metrics) {
            let points = match metric.data.unwrap() {
                Data::Sum(sum) => sum.data_points.into_iter().map(|point| point.attributes).collect(),
                Data::Gauge(gauge) => gauge.data_points.into_iter().map(|point| point.attributes).collect(),
                Data::Histogram(histogram) => {
                    histogram.data_points.into_iter().map(|point| point.attributes).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            };
            told.extend(points.iter().map(|labels| format!("{}{{{}}}", metric.name, words(labels))));
        }
    }
    told
}

/// Attributes as `key=value`, in order.
pub fn words(attributes: &[KeyValue]) -> String {
    let word = |attribute: &KeyValue| match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Any::StringValue(text)) => format!("{}={text}", attribute.key),
        other => panic!("{}: {other:?}", attribute.key),
    };
    let mut words: Vec<String> = attributes.iter().map(word).collect();
    words.sort();
    words.join(",")
}

/// Every span that was told.
pub fn spans(bodies: &[Vec<u8>]) -> Vec<Span> {
    let requests = bodies.iter().map(|body| ExportTraceServiceRequest::decode(body.as_slice()).unwrap());
    let resources = requests.flat_map(|request| request.resource_spans);
    resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
}
