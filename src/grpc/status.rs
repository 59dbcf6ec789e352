//! From a failure to the status that a client of gRPC acts upon.
//!
//! **Invariant:** the message is the failure's text, which never holds memory text and never repeats what was asked for.

use dream_core::failure::{Code, Failure};
use tonic::metadata::MetadataValue;

use crate::exit::Fault;

/// The metadata that holds the code alone, for clients that tell failures apart.
const CODE: &str = "dream-code";

/// A field of a request that cannot be used.
pub(super) fn invalid(field: &str, expected: &str) -> Fault {
    Fault::new(Code::InvalidInput, format!("{field}: expected {expected}"))
}

/// A status whose text has a code and a next step, like that of every failure.
pub(super) fn status(code: tonic::Code, fault: &Fault) -> tonic::Status {
    let mut status = tonic::Status::new(code, fault.to_string());
    if let Ok(value) = MetadataValue::try_from(fault.code().to_string()) {
        status.metadata_mut().insert(CODE, value);
    }
    status
}

impl From<Fault> for tonic::Status {
    fn from(fault: Fault) -> Self {
        status(kind(fault.code()), &fault)
    }
}

/// A failure as a status.
pub(super) fn failed(failure: Failure) -> tonic::Status {
    Fault::from(failure).into()
}

/// What a client can do about a failure: correct the call, do something first, ask again, or ask a person.
const fn kind(code: Code) -> tonic::Code {
    match code {
        Code::InvalidInput => tonic::Code::InvalidArgument,
        Code::NoNamespace | Code::NoRun | Code::NoStore | Code::NoSpace => tonic::Code::NotFound,
        Code::Forbidden => tonic::Code::PermissionDenied,
        Code::Disabled
        | Code::ApplyDisabled
        | Code::Stuck
        | Code::PlanChanged
        | Code::BuiltUpon
        | Code::WrongState
        | Code::AwaitingClient
        | Code::Gone
        | Code::BadAnswer
        | Code::NotDue
        | Code::ModelUnfit
        | Code::NotMigrated
        | Code::Configuration => tonic::Code::FailedPrecondition,
        Code::Locked | Code::LeaseLost => tonic::Code::Aborted,
        Code::StoreUnavailable
        | Code::StoreBusy
        | Code::ReportUnwritable
        | Code::EmbedderUnavailable
        | Code::GraphUnavailable
        | Code::EngineUnavailable => tonic::Code::Unavailable,
        Code::BackendUnsupported => tonic::Code::Unimplemented,
        Code::StoreRefused | Code::StoreUnreadable | Code::File | Code::Defect => tonic::Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_tried_again_says_so_and_every_status_has_code_and_next_step() {
        for code in Code::ALL {
            let status = tonic::Status::from(Fault::new(*code, "what happened"));
            assert_eq!(status.metadata().get(CODE).unwrap(), &code.to_string());
            assert!(status.message().starts_with("what happened (DREAM-"), "{status}");
            assert!(status.message().contains("next: "), "{status}");
            if code.is_retryable() {
                assert_eq!(status.code(), tonic::Code::Unavailable, "{code}");
            }
        }
    }
}
