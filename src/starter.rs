//! Starting dreams on the Temporal server, each when its time has come.
//!
//! The typed client knows no delayed start, so the request is made by hand: the server keeps the time, and no history holds a
//! timer for it.

use async_trait::async_trait;
use dream_ports::Starter;
use dream_ports::starter::{NewDream, Start, StartError};
use serde::Serialize;
use temporalio_client::Client;
use temporalio_client::tonic::{Code, IntoRequest as _};
use temporalio_common::protos::temporal::api::common::v1::{Payload, Payloads, Priority, WorkflowType};
use temporalio_common::protos::temporal::api::enums::v1::WorkflowIdReusePolicy;
use temporalio_common::protos::temporal::api::sdk::v1::UserMetadata;
use temporalio_common::protos::temporal::api::taskqueue::v1::TaskQueue;
use temporalio_common::protos::temporal::api::workflowservice::v1::StartWorkflowExecutionRequest;

/// The workflow that is started, by its name on the wire.
const WORKFLOW: &str = "Dream";

/// Behind the server's default of 3: dreams of the night must not hold up the check that starts them, nor somebody who waits
/// for a dream by day. A server that knows no priorities leaves it.
const PRIORITY: i32 = 4;

/// Starts dreams through a client.
pub(crate) struct ClientStarter {
    client: Client,
    task_queue: String,
}

impl ClientStarter {
    /// Starts dreams on this queue.
    pub(crate) fn new(client: Client, task_queue: &str) -> Self {
        Self { client, task_queue: task_queue.to_owned() }
    }

    fn request(&self, dream: &NewDream) -> Result<StartWorkflowExecutionRequest, StartError> {
        let summary = format!("dream over {} {}", dream.input.realm, dream.input.namespace);
        Ok(StartWorkflowExecutionRequest {
            namespace: self.client.options().namespace.clone(),
            workflow_id: dream.workflow_id.clone(),
            request_id: dream.request_id.clone(),
            workflow_type: Some(WorkflowType { name: WORKFLOW.to_owned() }),
            task_queue: Some(TaskQueue { name: self.task_queue.clone(), ..TaskQueue::default() }),
            input: Some(Payloads { payloads: vec![plain(&dream.input)?] }),
            identity: self.client.connection().identity().to_owned(),
            // What has failed may be tried again; what has ended well is the dream of its night.
            workflow_id_reuse_policy: WorkflowIdReusePolicy::AllowDuplicateFailedOnly as i32,
            workflow_start_delay: (!dream.delay.is_zero()).then(|| dream.delay.try_into().ok()).flatten(),
            priority: Some(Priority { priority_key: PRIORITY, ..Priority::default() }),
            user_metadata: Some(UserMetadata { summary: Some(plain(&summary)?), ..UserMetadata::default() }),
            ..StartWorkflowExecutionRequest::default()
        })
    }
}

#[async_trait]
impl Starter for ClientStarter {
    async fn start(&self, dream: &NewDream) -> Result<Start, StartError> {
        let request = self.request(dream)?;
        // The connection tries a server that is briefly away, or busy, again by itself.
        let mut service = self.client.connection().workflow_service();
        match service.start_workflow_execution(request.into_request()).await {
            Ok(_) => Ok(Start::Started),
            Err(status) if status.code() == Code::AlreadyExists => Ok(Start::UnderWay),
            Err(status) => Err(StartError::Refused { code: format!("{:?}", status.code()) }),
        }
    }
}

/// A value as the payload that every client of ours writes.
fn plain(value: &impl Serialize) -> Result<Payload, StartError> {
    let data = serde_json::to_vec(value).map_err(|_| StartError::Unspellable)?;
    let metadata = [("encoding".to_owned(), b"json/plain".to_vec())].into();
    Ok(Payload { metadata, data, ..Payload::default() })
}
