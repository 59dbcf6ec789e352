//! The control API of a real worker: a run is watched to its end, another is cancelled, and health says what it should.

use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use dream_workflows::contract::ProgressView;
use serde_json::json;

use crate::lab::{Lab, Worker, input, result};
use crate::support::world::World;
use crate::worker::free_address;
use proto::control_client::ControlClient;
use proto::{RequestKind, RequestOutcome, RequestRequest, RunState, WatchRequest, WatchResponse};

/// The protocol, as it is generated.
#[allow(clippy::allow_attributes_without_reason, clippy::pedantic, dead_code, reason = "generated")]
mod proto {
    tonic::include_proto!("dream.v1");
}

/// A worker with a control API, and a way to it.
async fn served(lab: &Lab) -> (Worker, Channel) {
    let address = free_address();
    let worker = lab.worker(&["--grpc", &address]);
    let channel = Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
    (worker, channel)
}

async fn watch(channel: &Channel, run_id: &str) -> tonic::Streaming<WatchResponse> {
    let asked = WatchRequest { run_id: run_id.to_owned(), ..WatchRequest::default() };
    ControlClient::new(channel.clone()).watch(asked).await.unwrap().into_inner()
}

/// The last message of a watched run.
async fn last(mut messages: tonic::Streaming<WatchResponse>) -> WatchResponse {
    let mut last = None;
    while let Some(message) = messages.message().await.unwrap() {
        last = Some(message);
    }
    last.unwrap()
}

async fn ask(channel: &Channel, view: &ProgressView, kind: RequestKind) -> proto::RequestResponse {
    let asked = RequestRequest {
        run_id: view.run_id.clone(),
        kind: kind.into(),
        by: "ada".to_owned(),
        plan_hash: view.plan_hash.clone().unwrap_or_default(),
        ..RequestRequest::default()
    };
    ControlClient::new(channel.clone()).request(asked).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_approved_and_watched_until_it_is_completed() {
    let lab = Lab::with(&World::new(60).lines()).await;
    let (_worker, channel) = served(&lab).await;
    let handle = lab.start(input(json!({ "mode": "review" }))).await;
    let view = lab.reach(&handle, "the run waits for a review", |view| view.waiting_for.is_some()).await;
    let messages = watch(&channel, &view.run_id).await;
    let answer = ask(&channel, &view, RequestKind::Approve).await;
    assert_eq!((answer.outcome(), answer.is_woken), (RequestOutcome::Recorded, true));
    let last = last(messages).await;
    assert_eq!((last.state(), last.is_over), (RunState::Completed, true));
    assert_eq!(last.ops_done, last.ops_total);
    assert_eq!(result(&handle).await.unwrap().state.to_string(), "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_applies_is_cancelled_at_its_next_group() {
    let lab = Lab::with(&World::new(12_000).lines()).await;
    let (_worker, channel) = served(&lab).await;
    let handle = lab.start(input(json!({ "mode": "apply" }))).await;
    let view = lab.reach(&handle, "the run applies", |view| view.phase == "applying").await;
    let messages = watch(&channel, &view.run_id).await;
    assert_eq!(ask(&channel, &view, RequestKind::Cancel).await.outcome(), RequestOutcome::Recorded);
    let last = last(messages).await;
    assert_eq!(last.state(), RunState::Cancelled);
    assert!(last.ops_done < last.ops_total, "{last:?}");
    assert_eq!(result(&handle).await.unwrap().state.to_string(), "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_polls_is_serving() {
    let lab = Lab::with(&World::new(20).lines()).await;
    let (_worker, channel) = served(&lab).await;
    let mut health = HealthClient::new(channel);
    let asked = HealthCheckRequest { service: "dream.v1.Control".to_owned() };
    let mut answers = health.watch(asked).await.unwrap().into_inner();
    while answers.message().await.unwrap().unwrap().status() != ServingStatus::Serving {}
}
