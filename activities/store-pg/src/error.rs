//! From driver errors to [`StoreError`]: the code is kept, the text, which may quote values, is not.

use dream_ports::StoreError;

/// Says what was being done when the driver failed.
pub(crate) trait ResultExt<T> {
    /// Names the operation.
    fn doing(self, operation: &'static str) -> Result<T, StoreError>;
}

impl<T> ResultExt<T> for Result<T, sqlx::Error> {
    fn doing(self, operation: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| store_error(operation, &error))
    }
}

fn store_error(operation: &'static str, error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(error) => by_code(operation, error.code().unwrap_or_default().into_owned()),
        sqlx::Error::Configuration(_) => StoreError::Unfit { operation, code: "configuration".to_owned() },
        sqlx::Error::ColumnDecode { index, .. } => {
            StoreError::Unreadable { operation, what: format!("column {index}") }
        }
        sqlx::Error::ColumnNotFound(column) => StoreError::Unreadable { operation, what: format!("column {column}") },
        sqlx::Error::Decode(_) | sqlx::Error::RowNotFound => {
            StoreError::Unreadable { operation, what: "a record".to_owned() }
        }
        sqlx::Error::Encode(_) => StoreError::Refused { operation, code: "encode".to_owned() },
        _ => StoreError::Unavailable { operation },
    }
}

/// What a server's code asks of the caller. One table: the first line that fits holds.
fn by_code(operation: &'static str, code: String) -> StoreError {
    match code.as_str() {
        // A deadlock, a serialization conflict, a lock or statement time-out; a transaction that idled or lasted too long.
        "40001" | "40P01" | "55P03" | "57014" | "25P03" | "25P04" => StoreError::Busy { operation, code },
        // No schema of ours, or no such table, be it ours or one of the content.
        "3F000" | "42P01" => StoreError::NotMigrated,
        // A stand-by by now: connections to it end soon, and the next one leads to its successor.
        "25006" => StoreError::Unavailable { operation },
        // An extension that the server does not have.
        "58P01" => StoreError::Unfit { operation, code },
        _ => match code.get(..2).unwrap_or_default() {
            // A value or a row.
            "21" | "22" | "23" | "44" | "54" => StoreError::Refused { operation, code },
            // Connections, resources, an operator's intervention, the server's own files.
            "08" | "53" | "57" | "58" => StoreError::Unavailable { operation },
            // Names, types, rights, identity: the schema or the user is not what this program needs.
            _ => StoreError::Unfit { operation, code },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_succeed_later_is_told_from_what_cannot() {
        for code in ["40001", "40P01", "55P03", "57014", "25P03", "08006", "53300", "57P01", "25006"] {
            assert!(by_code("try", code.to_owned()).is_transient(), "{code}");
        }
        for code in ["23505", "22001", "22P02", "42P01", "42703", "42501", "28P01", "XX001", ""] {
            assert!(!by_code("try", code.to_owned()).is_transient(), "{code}");
        }
    }

    #[test]
    fn a_row_that_is_refused_is_told_from_a_schema_that_does_not_fit() {
        assert!(matches!(by_code("try", "23505".to_owned()), StoreError::Refused { .. }));
        assert!(matches!(by_code("try", "22003".to_owned()), StoreError::Refused { .. }));
        assert!(matches!(by_code("try", "42703".to_owned()), StoreError::Unfit { .. }));
    }
}
