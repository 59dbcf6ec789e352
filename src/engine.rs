//! The way to the Temporal server: address, namespace, keys and certificates from the environment or `temporal.toml`, as
//! for every Temporal program.

use std::time::Duration;

use dream_core::failure::Code;
use dream_workflows::dream::Dream;
use dream_workflows::lenient::Lenient;
use temporalio_client::envconfig::LoadClientConfigProfileOptions;
use temporalio_client::tonic::IntoRequest as _;
use temporalio_client::{Client, ClientOptions, Connection, WorkflowSignalOptions};
use temporalio_common::protos::temporal::api::enums::v1::IndexedValueType;
use temporalio_common::protos::temporal::api::operatorservice::v1::{
    AddSearchAttributesRequest, ListSearchAttributesRequest,
};

use crate::exit::Fault;

/// The queue that workers and starters meet on where none is named.
pub(crate) const TASK_QUEUE_DEFAULT: &str = "dream";

/// The search attributes of a run.
const SEARCH_ATTRIBUTES: [&str; 4] = ["DreamRealm", "DreamTarget", "DreamMode", "DreamState"];

/// Whether a server is named in the environment.
pub(crate) fn is_configured() -> bool {
    std::env::var_os("TEMPORAL_ADDRESS").is_some()
}

/// The queue that is named in the environment, or the default.
pub(crate) fn task_queue() -> String {
    std::env::var("DREAM_TASK_QUEUE").unwrap_or_else(|_| TASK_QUEUE_DEFAULT.to_owned())
}

/// Connects, under a name that people see in the Temporal UI.
pub(crate) async fn connect(identity: &str) -> Result<Client, Fault> {
    let (mut connection, client) =
        ClientOptions::load_from_config(LoadClientConfigProfileOptions::default()).map_err(|error| {
            Fault::new(Code::Configuration, format!("the Temporal configuration cannot be used: {error}"))
        })?;
    identity.clone_into(&mut connection.identity);
    let connection = Connection::connect(connection)
        .await
        .map_err(|_| Fault::new(Code::EngineUnavailable, "the Temporal server does not answer"))?;
    Client::new(connection, client)
        .map_err(|error| Fault::new(Code::Configuration, format!("the Temporal client cannot be made: {error}")))
}

/// Registers our search attributes where they are missing. Answers whether runs may set them: one that is not registered
/// would wedge every run.
pub(crate) async fn ensure_search_attributes(client: &Client) -> bool {
    let namespace = client.options().namespace.clone();
    let mut operator = client.connection().operator_service();
    let list = ListSearchAttributesRequest { namespace: namespace.clone() };
    let Ok(known) = operator.list_search_attributes(list.into_request()).await else { return false };
    let known = known.into_inner().custom_attributes;
    let missing: Vec<&str> = SEARCH_ATTRIBUTES.into_iter().filter(|name| !known.contains_key(*name)).collect();
    if missing.is_empty() {
        return true;
    }
    let add = AddSearchAttributesRequest {
        namespace,
        search_attributes: missing
            .into_iter()
            .map(|name| (name.to_owned(), IndexedValueType::Keyword as i32))
            .collect(),
    };
    operator.add_search_attributes(add.into_request()).await.is_ok()
}

/// How long waking a run may take. Whoever asked something of it waits meanwhile, and it looks by itself within a minute.
const WAKE_WITHIN: Duration = Duration::from_secs(5);

/// Wakes a waiting run, so that it looks at its requests at once. It looks by itself within a minute, so a wake-up that does
/// not arrive costs nothing but that. Answers whether it arrived. Without a client, one is connected for it.
pub(crate) async fn wake(client: Option<&Client>, workflow_id: Option<&str>) -> bool {
    let Some(id) = workflow_id else { return false };
    let woken = async {
        match client {
            Some(client) => signal(client, id).await,
            None if is_configured() => match connect("dream").await {
                Ok(client) => signal(&client, id).await,
                Err(_) => false,
            },
            None => false,
        }
    };
    tokio::time::timeout(WAKE_WITHIN, woken).await.unwrap_or(false)
}

async fn signal(client: &Client, workflow_id: &str) -> bool {
    let handle = client.get_workflow_handle::<Dream>(workflow_id.to_owned());
    handle.signal(Dream::wake, Lenient::Ok(None), WorkflowSignalOptions::default()).await.is_ok()
}
