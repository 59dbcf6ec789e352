//! A call of the REST face, declared once: it is routed, read, answered and described from the same types.
//!
//! A handler takes the caller, what the address names, what the query says and what the body holds, each as a type with a
//! schema. A new kind of body implements [`Body`], a new kind of answer [`Answer`].
//!
//! **Invariant:** a body is bounded before it is read, and a refusal names the field and never what stood in it.

#![expect(clippy::result_large_err, reason = "a refusal is made once, and ends its call")]

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts as _, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use axum::{Json, Router};
use dream_core::realm::space::answer::{ANSWER_BYTES_MAX, schema as answer_schema};
use futures::StreamExt as _;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::gate::Caller;
use super::problem::Problem;
use crate::face::Refusal;
use crate::misfit;

/// Most bytes of a body that is no answer of a model: an entry of the journal, all of it escaped.
const BODY_BYTES_MAX: usize = 256 * 1024;

/// Where shared schemas stand in the description.
const SCHEMAS: &str = "/components/schemas";

/// No part of the address, or no query.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// No body.
pub(super) struct NoBody;

/// A JSON body.
pub(super) struct Read<T>(pub(super) T);

/// A JSON body that may be left out.
pub(super) struct Perhaps<T>(pub(super) T);

/// The answer of a model, which is judged by the dream itself.
pub(super) struct RawAnswer(pub(super) Vec<u8>);

/// An answer without content.
pub(super) struct Done;

/// What a call is called, and where it is.
pub(super) struct Endpoint {
    method: Method,
    id: &'static str,
    path: &'static str,
    summary: &'static str,
    status: StatusCode,
}

impl Endpoint {
    const fn new(method: Method, id: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self { method, id, path, summary, status: StatusCode::OK }
    }

    pub(super) const fn get(id: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::GET, id, path, summary)
    }

    pub(super) const fn post(id: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::POST, id, path, summary)
    }

    pub(super) const fn put(id: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::PUT, id, path, summary)
    }

    pub(super) const fn patch(id: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::PATCH, id, path, summary)
    }

    pub(super) const fn delete(id: &'static str, path: &'static str, summary: &'static str) -> Self {
        let mut endpoint = Self::new(Method::DELETE, id, path, summary);
        endpoint.status = StatusCode::NO_CONTENT;
        endpoint
    }

    /// It makes something.
    pub(super) const fn creating(mut self) -> Self {
        self.status = StatusCode::CREATED;
        self
    }

    /// It begins something.
    pub(super) const fn accepting(mut self) -> Self {
        self.status = StatusCode::ACCEPTED;
        self
    }
}

/// How a body is read and described.
pub(super) trait Body: Sized + Send {
    /// Most bytes that are taken in.
    const BYTES_MAX: usize;

    /// Reads it; what is longer than it may be comes with one byte too many.
    fn read(bytes: Vec<u8>) -> Result<Self, Problem>;

    /// Its schema, and whether it must be there.
    fn schema(schemas: &mut SchemaGenerator) -> Option<(Value, bool)>;
}

/// How an answer is given and described.
pub(super) trait Answer: Send {
    /// Its schema; none if it has no content.
    fn schema(schemas: &mut SchemaGenerator) -> Option<Schema>;

    /// Gives it.
    fn respond(self, status: StatusCode) -> Response;
}

impl<T: Serialize + JsonSchema + Send> Answer for T {
    fn schema(schemas: &mut SchemaGenerator) -> Option<Schema> {
        Some(schemas.subschema_for::<T>())
    }

    fn respond(self, status: StatusCode) -> Response {
        (status, Json(self)).into_response()
    }
}

impl Answer for Done {
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    fn respond(self, status: StatusCode) -> Response {
        status.into_response()
    }
}

fn bounded(bytes: &[u8], bytes_max: usize) -> Result<&str, Problem> {
    if bytes.len() > bytes_max {
        let detail = format!("body: expected at most {bytes_max} bytes");
        return Err(Problem::of(StatusCode::PAYLOAD_TOO_LARGE, &detail));
    }
    std::str::from_utf8(bytes).map_err(|_| Problem::invalid("body: expected UTF-8"))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = bounded(bytes, BODY_BYTES_MAX)?;
    misfit::json(text).map_err(|misfit| Problem::invalid(format!("body: {misfit}")))
}

impl Body for NoBody {
    const BYTES_MAX: usize = 0;

    fn read(_: Vec<u8>) -> Result<Self, Problem> {
        // What is sent along for nothing is not looked at.
        Ok(Self)
    }

    fn schema(_: &mut SchemaGenerator) -> Option<(Value, bool)> {
        None
    }
}

impl<T: DeserializeOwned + JsonSchema + Send> Body for Read<T> {
    const BYTES_MAX: usize = BODY_BYTES_MAX;

    fn read(bytes: Vec<u8>) -> Result<Self, Problem> {
        read(&bytes).map(Self)
    }

    fn schema(schemas: &mut SchemaGenerator) -> Option<(Value, bool)> {
        Some((schemas.subschema_for::<T>().to_value(), true))
    }
}

impl<T: DeserializeOwned + Default + JsonSchema + Send> Body for Perhaps<T> {
    const BYTES_MAX: usize = BODY_BYTES_MAX;

    fn read(bytes: Vec<u8>) -> Result<Self, Problem> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(T::default()));
        }
        read(&bytes).map(Self)
    }

    fn schema(schemas: &mut SchemaGenerator) -> Option<(Value, bool)> {
        Some((schemas.subschema_for::<T>().to_value(), false))
    }
}

impl Body for RawAnswer {
    const BYTES_MAX: usize = ANSWER_BYTES_MAX;

    fn read(bytes: Vec<u8>) -> Result<Self, Problem> {
        Ok(Self(bytes))
    }

    fn schema(_: &mut SchemaGenerator) -> Option<(Value, bool)> {
        Some((answer_schema(), true))
    }
}

/// Reads a body up to one byte more than it may have.
async fn bytes_of(body: axum::body::Body, bytes_max: usize) -> Result<Vec<u8>, Problem> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Problem::invalid("body: it ended before its end"))?;
        let room = (bytes_max + 1).saturating_sub(bytes.len());
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if bytes.len() > bytes_max {
            break;
        }
    }
    Ok(bytes)
}

/// What a query does not fit by, without what stands in it.
fn query_misfit(rejection: &QueryRejection) -> Problem {
    let text = rejection.body_text();
    let said = text.rsplit_once("query string: ").map_or("", |(_, said)| said);
    if said.starts_with("unknown field") {
        return Problem::invalid("query: there is a parameter that this address does not know");
    }
    let field = said.split(':').next().unwrap_or_default();
    let is_name = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let at = if is_name { format!("{field}: ") } else { String::new() };
    Problem::invalid(format!("query: {at}a value of another kind is expected"))
}

async fn path_of<P: DeserializeOwned + Send>(parts: &mut Parts) -> Result<P, Problem> {
    // An id that is none is the id of nothing.
    let absent = |_| Problem::of(StatusCode::NOT_FOUND, "there is nothing at this address");
    Path::<P>::from_request_parts(parts, &()).await.map(|Path(path)| path).map_err(absent)
}

/// The calls, as they are declared one by one.
pub(super) struct Api {
    router: Router,
    paths: Map<String, Value>,
    sent: SchemaGenerator,
    answered: SchemaGenerator,
}

impl Default for Api {
    fn default() -> Self {
        let settings = || SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = SCHEMAS.into());
        Self {
            router: Router::new(),
            paths: Map::new(),
            sent: settings().into_generator(),
            answered: settings().for_serialize().into_generator(),
        }
    }
}

impl Api {
    /// Declares a call.
    pub(super) fn add<P, Q, B, A, F, Answering>(&mut self, endpoint: Endpoint, handler: F)
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        B: Body + 'static,
        A: Answer + 'static,
        F: Fn(Caller, P, Q, B) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = Result<A, Refusal>> + Send,
    {
        self.describe::<P, Q, B, A>(&endpoint);
        let handler = Arc::new(handler);
        let status = endpoint.status;
        let answer = move |request: Request| {
            let handler = handler.clone();
            async move {
                let (mut parts, body) = request.into_parts();
                let answered = async {
                    let caller = parts.extensions.get::<Caller>().cloned();
                    let caller = caller.ok_or_else(Problem::keyless)?;
                    let path = path_of::<P>(&mut parts).await?;
                    let Query(query) = Query::<Q>::try_from_uri(&parts.uri).map_err(|error| query_misfit(&error))?;
                    let body = B::read(bytes_of(body, B::BYTES_MAX).await?)?;
                    Ok::<A, Problem>(handler(caller, path, query, body).await?)
                };
                match answered.await {
                    Ok(answer) => answer.respond(status),
                    Err(problem) => problem.into_response(),
                }
            }
        };
        let filter = MethodFilter::try_from(endpoint.method).unwrap_or(MethodFilter::GET);
        self.router = std::mem::take(&mut self.router).route(endpoint.path, on(filter, answer));
    }

    fn describe<P: JsonSchema, Q: JsonSchema, B: Body, A: Answer>(&mut self, endpoint: &Endpoint) {
        let mut parameters = fields::<P>(&mut self.sent, "path");
        parameters.extend(fields::<Q>(&mut self.sent, "query"));
        let mut operation = json!({
            "operationId": endpoint.id,
            "summary": endpoint.summary,
            "parameters": parameters,
            "responses": { "default": {
                "description": "A problem",
                "content": { "application/problem+json": { "schema": self.answered.subschema_for::<Problem>() } },
            } },
        });
        if let Some((schema, required)) = B::schema(&mut self.sent) {
            operation["requestBody"] =
                json!({ "required": required, "content": { "application/json": { "schema": schema } } });
        }
        let mut answer = json!({ "description": endpoint.status.canonical_reason().unwrap_or("Done") });
        if let Some(schema) = A::schema(&mut self.answered) {
            answer["content"] = json!({ "application/json": { "schema": schema } });
        }
        operation["responses"][endpoint.status.as_str()] = answer;
        let path = self.paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[endpoint.method.as_str().to_lowercase()] = operation;
    }

    /// The routes, and the description of them.
    pub(super) fn build(mut self) -> (Router, String) {
        let mut schemas = self.sent.take_definitions(true);
        schemas.extend(self.answered.take_definitions(true));
        let description = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Dream Worker",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Spaces of facts, and the dreams over them. A key opens one space.",
            },
            "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
            "security": [{ "key": [] }],
            "paths": self.paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            },
        });
        (self.router, description.to_string())
    }
}

/// The fields of a type, as parameters.
fn fields<T: JsonSchema>(schemas: &mut SchemaGenerator, place: &str) -> Vec<Value> {
    let schema = T::json_schema(schemas).to_value();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let said = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let required = place == "path" || required.contains(&Value::String(name.clone()));
        let mut parameter = json!({ "name": name, "in": place, "required": required, "schema": schema });
        if let Some(said) = said {
            parameter["description"] = said;
        }
        parameter
    };
    fields.into_iter().map(parameter).collect()
}
