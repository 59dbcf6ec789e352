//! From driver errors to [`GraphError`]: the code is kept, the text, which quotes values, is not.

use dream_ports::GraphError;
use neo4rs::{Error, Neo4jError};

/// Says what was being done when the driver failed.
pub(crate) trait ResultExt<T> {
    /// Names the operation.
    fn doing(self, operation: &'static str) -> Result<T, GraphError>;
}

impl<T> ResultExt<T> for Result<T, Error> {
    fn doing(self, operation: &'static str) -> Result<T, GraphError> {
        self.map_err(|error| graph_error(operation, &error))
    }
}

pub(crate) fn graph_error(operation: &'static str, error: &Error) -> GraphError {
    let refused = |code: &str| GraphError::Refused { operation, code: code.to_owned() };
    let unfit = |code: &str| GraphError::Unfit { operation, code: code.to_owned() };
    match error {
        Error::Neo4j(error) => by_code(operation, error),
        // The driver keeps the text alone of what a server says to a greeting.
        Error::AuthenticationError(_) => unfit("authentication"),
        Error::UrlParseError(_)
        | Error::UnsupportedScheme(_)
        | Error::InvalidDnsName(_)
        | Error::InvalidConfig => unfit("configuration"),
        Error::UnsupportedVersion(..) | Error::ProtocolMismatch(_) => unfit("protocol"),
        Error::StringTooLong
        | Error::MapTooBig
        | Error::BytesTooBig
        | Error::ListTooLong
        | Error::InvalidInteger(..)
        | Error::IntegerOverflow(..) => refused("too big"),
        Error::UnknownType(_)
        | Error::ConversionError
        | Error::InvalidTypeMarker(_)
        | Error::DeserializationError(_)
        | Error::NoMoreRows
        | Error::NotSingleResult => GraphError::Unreadable { operation, what: "an answer of the server".to_owned() },
        Error::IOError { .. }
        | Error::ConnectionError
        | Error::ConnectionTimedOut
        | Error::ServerUnavailableError(_)
        | Error::RequestIgnoredError
        // Both sides no longer speak of the same request; a new connection helps.
        | Error::IncompleteBoltExchange
        | Error::UnexpectedMessage(_)
        | Error::UnknownMessage(_)
        | Error::Ignored(_) => GraphError::Unavailable { operation },
        _ => refused("driver"),
    }
}

/// What Memgraph says of a conflict; older versions do so with the code of any other error.
const CONFLICT: &str = "conflicting transactions";

fn by_code(operation: &'static str, error: &Neo4jError) -> GraphError {
    if error.message().contains(CONFLICT) {
        return GraphError::Busy { operation, code: error.code().to_owned() };
    }
    by_parts(operation, error.code())
}

/// What a server's code asks of the caller: `Neo.ClientError.Security.Unauthorized` is vendor, class, category and title.
/// One table: the first line that fits holds.
fn by_parts(operation: &'static str, code: &str) -> GraphError {
    let parts: Vec<&str> = code.split('.').skip(1).collect();
    let code = code.to_owned();
    match parts[..] {
        ["TransientError", "General", "DatabaseUnavailable"] => GraphError::Unavailable { operation },
        ["TransientError", ..]
        // A transaction that was ended from outside: a stop, a time-out, an operator. The driver names the first two so.
        | ["ClientError", "Transaction", "Terminated" | "LockClientStopped" | "TransactionTimedOut"
            | "TransactionTimedOutClientConfiguration"]
        // A node or an edge that somebody deleted while the statement ran.
        | ["ClientError", "Statement", "EntityNotFound"] => GraphError::Busy { operation, code },
        // A follower by now.
        ["ClientError", "Cluster", "NotALeader"] | ["ClientError", "General", "ForbiddenOnReadOnlyDatabase"] => {
            GraphError::Unavailable { operation }
        }
        // Identity, rights, a database that is not there, a language that is not spoken: no row is at fault.
        ["ClientError", "Security" | "Database", ..] | ["ClientError", "Statement", "SyntaxError"] => {
            GraphError::Unfit { operation, code }
        }
        _ => GraphError::Refused { operation, code },
    }
}

/// Whether a server does not know what it was asked.
pub(crate) fn is_syntax(error: &Error) -> bool {
    matches!(error, Error::Neo4j(error) if error.code() == "Neo.ClientError.Statement.SyntaxError")
}

/// Whether a server refuses to make what is there.
pub(crate) fn exists_already(error: &Error) -> bool {
    let Error::Neo4j(error) = error else { return false };
    // Memgraph has one code for everything, Neo4j one for each of its rules of a schema.
    let is_schema = error.code().starts_with("Neo.ClientError.Schema.") && error.code().ends_with("AlreadyExists");
    is_schema || (error.code().starts_with("Memgraph.") && error.message().contains("already exists"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_succeed_later_is_told_from_what_cannot() {
        for code in [
            "Neo.TransientError.Transaction.DeadlockDetected",
            "Neo.TransientError.Transaction.LockAcquisitionTimeout",
            "Neo.TransientError.General.DatabaseUnavailable",
            "Neo.ClientError.Transaction.Terminated",
            "Neo.ClientError.Statement.EntityNotFound",
            "Neo.ClientError.Cluster.NotALeader",
            "Memgraph.TransientError.MemgraphError.MemgraphError",
        ] {
            assert!(by_parts("try", code).is_transient(), "{code}");
        }
        for code in [
            "Neo.ClientError.Schema.ConstraintValidationFailed",
            "Neo.ClientError.Statement.TypeError",
            "Neo.DatabaseError.General.UnknownError",
            "Memgraph.ClientError.MemgraphError.MemgraphError",
            "",
        ] {
            assert!(matches!(by_parts("try", code), GraphError::Refused { .. }), "{code}");
        }
    }

    #[test]
    fn a_write_that_is_refused_is_told_from_a_server_that_does_not_fit() {
        for code in [
            "Neo.ClientError.Security.Unauthorized",
            "Neo.ClientError.Database.DatabaseNotFound",
            "Neo.ClientError.Statement.SyntaxError",
        ] {
            assert!(matches!(by_parts("try", code), GraphError::Unfit { .. }), "{code}");
        }
        let greeting = Error::AuthenticationError("wrong password of somebody".to_owned());
        let error = graph_error("try", &greeting);
        assert!(matches!(error, GraphError::Unfit { .. }));
        assert!(!error.to_string().contains("somebody"), "{error}");
    }

    #[test]
    fn trouble_with_the_connection_is_no_answer() {
        let io = Error::IOError { detail: std::io::ErrorKind::ConnectionRefused.into() };
        for error in [io, Error::ConnectionError, Error::ConnectionTimedOut, Error::RequestIgnoredError] {
            assert!(matches!(graph_error("try", &error), GraphError::Unavailable { .. }), "{error}");
        }
    }
}
