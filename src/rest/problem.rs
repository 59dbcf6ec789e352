//! What is answered where a call is not: a problem as RFC 9457 has it, with the code that its page in `docs/errors` goes by.
//!
//! **Invariant:** a problem says ids, codes and names of fields. What somebody sent is never repeated.

use axum::Json;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use dream_core::failure::{Code, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::face::Refusal;

/// Seconds after which what can be tried again is worth it.
const RETRY_AFTER_SECONDS: u64 = 2;

/// A problem.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// What kind of problem, as an address of ours or `about:blank`.
    #[serde(rename = "type")]
    kind: String,
    /// The kind by its name.
    title: String,
    /// The status of the answer.
    status: u16,
    /// What happened, and to which id.
    detail: String,
    /// The code of its page, `DREAM-` and four digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// The run that stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<Uuid>,
    /// Seconds after which it is worth trying again.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

impl Problem {
    /// A problem of HTTP itself.
    pub(crate) fn of(status: StatusCode, detail: &str) -> Self {
        Self {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("problem").to_owned(),
            status: status.as_u16(),
            detail: detail.to_owned(),
            code: None,
            next: None,
            run_id: None,
            retry_after: None,
        }
    }

    /// The same, with when to try again.
    pub(crate) fn after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// A call that brings no key, or none that opens a space.
    pub(crate) fn keyless() -> Self {
        Self::of(StatusCode::UNAUTHORIZED, "a key of a space is needed: Authorization: Bearer …")
    }

    /// Whether it is that no key came that opens.
    pub(crate) const fn is_keyless(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED.as_u16()
    }

    /// Input that cannot be used.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Failure::new(Code::InvalidInput, detail).into()
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let code = failure.code;
        Self {
            kind: format!("urn:dream-worker:{code}"),
            title: code.name().to_owned(),
            status: status(code).as_u16(),
            detail: failure.message,
            code: Some(code.to_string()),
            next: Some(code.advice().to_owned()),
            run_id: None,
            retry_after: code.is_retryable().then_some(RETRY_AFTER_SECONDS),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Failed(failure) => failure.into(),
            Refusal::InTheWay { failure, run } => Self { run_id: Some(run.0), ..failure.into() },
            Refusal::Absent { what: "run", .. } => Self::from(Failure::new(Code::NoRun, refusal.to_string())),
            Refusal::Absent { .. } => Self::of(StatusCode::NOT_FOUND, &refusal.to_string()),
        }
    }
}

/// The status under which a failure is told.
fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidInput => StatusCode::BAD_REQUEST,
        Code::BadAnswer => StatusCode::UNPROCESSABLE_ENTITY,
        Code::ModelUnfit => StatusCode::BAD_GATEWAY,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::NoNamespace | Code::NoRun | Code::NoSpace => StatusCode::NOT_FOUND,
        Code::Stuck
        | Code::Locked
        | Code::PlanChanged
        | Code::BuiltUpon
        | Code::WrongState
        | Code::AwaitingClient
        | Code::NotDue
        | Code::LeaseLost => StatusCode::CONFLICT,
        Code::Gone => StatusCode::GONE,
        Code::Disabled
        | Code::ApplyDisabled
        | Code::StoreUnavailable
        | Code::StoreBusy
        | Code::EmbedderUnavailable
        | Code::GraphUnavailable
        | Code::EngineUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::BackendUnsupported => StatusCode::NOT_IMPLEMENTED,
        Code::NoStore
        | Code::StoreRefused
        | Code::StoreUnreadable
        | Code::NotMigrated
        | Code::ReportUnwritable
        | Code::Configuration
        | Code::File
        | Code::Defect => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}
