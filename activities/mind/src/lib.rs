//! A model over the wire: `OpenAI` and whatever speaks like it, Anthropic, Ollama. One call, one answer; the dialects are those of
//! the client underneath.
//!
//! **Invariant:** neither a key nor a word of a question or an answer is in an error. The errors of the client quote both, so of
//! them only the kind and the status are kept. Nothing is tried again here, and no redirect is followed: a key goes to the
//! address that was configured and to no other.

#![forbid(unsafe_code)]

mod provider;

use std::time::Duration;

use async_trait::async_trait;
use dream_core::budget::Usage;
use dream_ports::Mind;
use dream_ports::mind::{MindError, Question, Reply, Terms};
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatResponse, ChatResponseFormat, JsonSpec, StopReason};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;

pub use provider::Provider;

/// How long it may take until somebody listens. A model thinks long; a connection is there soon or not at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The name that providers want for a schema.
const SCHEMA_NAME: &str = "consolidation";

/// The status with which Anthropic says that it is too busy.
const OVERLOADED: u16 = 529;

/// What a server that checks no key is given as one, because its dialect has to have one.
const NO_KEY: &str = "none";

/// Where a model is, and how it is asked.
pub struct Access {
    /// Whose dialect it speaks.
    pub provider: Provider,
    /// The name of the model.
    pub model: String,
    /// Where it is.
    pub base_url: String,
    /// The key, if it wants one.
    pub key: Option<String>,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// The client cannot be built.
#[derive(Debug, thiserror::Error)]
#[error("the client of the model cannot be built")]
pub struct Unbuilt;

/// A model over the wire.
pub struct WireMind {
    client: Client,
    target: ServiceTarget,
    options: ChatOptions,
    is_schema_told: bool,
    timeout: Duration,
    terms: Terms,
}

impl WireMind {
    /// Makes ready to ask a model; nothing is asked yet.
    pub fn new(access: Access, terms: Terms) -> Result<Self, Unbuilt> {
        let Access { provider, model, base_url, key, timeout } = access;
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(Policy::none())
            .build()
            .map_err(|_| Unbuilt)?;
        let mut options = ChatOptions::default().with_max_tokens(terms.output_tokens_max);
        if let (Provider::Ollama, Some(key)) = (provider, &key) {
            // Its dialect has no key of its own; what stands before it may want one.
            options = options.with_extra_headers(Headers::from(("authorization".to_owned(), format!("Bearer {key}"))));
        }
        let base_url = format!("{}/", base_url.trim_end_matches('/'));
        Ok(Self {
            client: Client::builder().with_reqwest(client).build().map_err(|_| Unbuilt)?,
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(base_url),
                auth: AuthData::from_single(key.unwrap_or_else(|| NO_KEY.to_owned())),
                model: ModelIden::new(provider.adapter(), model),
            },
            options,
            is_schema_told: !provider.takes_schema(),
            timeout,
            terms,
        })
    }

    /// The question in the client's words. Where the dialect takes no schema, it is asked for JSON and told the schema.
    fn request(&self, question: Question<'_>) -> (ChatRequest, ChatOptions) {
        let Question { instructions, input, output_schema } = question;
        let user = vec![ChatMessage::user(input)];
        if self.is_schema_told {
            let system = format!("{instructions}\n\nThe JSON Schema of your answer:\n\n{output_schema}");
            return (
                ChatRequest::new(user).with_system(system),
                self.options.clone().with_response_format(ChatResponseFormat::JsonMode),
            );
        }
        let schema: serde_json::Value = serde_json::from_str(output_schema).unwrap_or_default();
        let options = self.options.clone().with_response_format(JsonSpec::new(SCHEMA_NAME, schema));
        (ChatRequest::new(user).with_system(instructions), options)
    }
}

#[async_trait]
impl Mind for WireMind {
    fn terms(&self) -> &Terms {
        &self.terms
    }

    async fn answer(&self, question: Question<'_>) -> Result<Reply, MindError> {
        let (request, options) = self.request(question);
        let call = self.client.exec_chat(self.target.clone(), request, Some(&options));
        match tokio::time::timeout(self.timeout, call).await {
            Ok(answered) => reply(&answered.map_err(|error| trouble(&error))?),
            Err(_) => Err(MindError::Late { waited_seconds: self.timeout.as_secs() }),
        }
    }
}

fn reply(response: &ChatResponse) -> Result<Reply, MindError> {
    let text = response.content.texts().concat();
    let is_cut = response.stop_reason.as_ref().is_some_and(StopReason::is_max_tokens);
    if matches!(response.stop_reason, Some(StopReason::ContentFilter(_))) {
        return Err(MindError::Withheld);
    }
    if text.is_empty() && !is_cut {
        return Err(MindError::Broken);
    }
    let tokens = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok());
    let usage = match (tokens(response.usage.prompt_tokens), tokens(response.usage.completion_tokens)) {
        (Some(input), Some(output)) => Some(Usage { input, output }),
        _ => None,
    };
    Ok(Reply { text, is_cut, usage })
}

fn trouble(error: &genai::Error) -> MindError {
    if let Some(status) = error.status() {
        let retry_after = error.headers().and_then(retry_after);
        return match status {
            StatusCode::TOO_MANY_REQUESTS => MindError::Busy { status: status.as_u16(), retry_after },
            _ if status.as_u16() == OVERLOADED => MindError::Busy { status: status.as_u16(), retry_after },
            _ if status.is_server_error() => MindError::Failed { status: status.as_u16(), retry_after },
            _ => MindError::Refused { status: status.as_u16() },
        };
    }
    match error {
        genai::Error::WebModelCall { webc_error: genai::webc::Error::Reqwest(error), .. } if error.is_connect() => {
            MindError::Unreachable
        }
        _ => MindError::Broken,
    }
}

/// The seconds that a server asks for. One that names a date instead is treated as one that asks for nothing.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
