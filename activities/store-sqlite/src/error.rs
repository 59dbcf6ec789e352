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

pub(crate) fn store_error(operation: &'static str, error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(error) => {
            if error.message().starts_with("no such table: ") {
                return StoreError::NotMigrated;
            }
            by_code(operation, error.code().unwrap_or_default().into_owned())
        }
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

/// What a result code asks of the caller; the low eight bits are the primary code, the rest says more.
fn by_code(operation: &'static str, code: String) -> StoreError {
    let primary = code.parse::<i32>().map_or(-1, |code| code & 0xff);
    match primary {
        // Busy, locked, interrupted.
        5 | 6 | 9 => StoreError::Busy { operation, code },
        // Out of memory, an error of the disk, a full one, a file that cannot be opened.
        7 | 10 | 13 | 14 => StoreError::Unavailable { operation },
        // Too big, a constraint, a value of the wrong type.
        18..=20 => StoreError::Refused { operation, code },
        // No rights, a damaged file or none of SQLite's, a schema that does not fit.
        _ => StoreError::Unfit { operation, code },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_refused_is_told_from_a_busy_file_and_from_one_that_does_not_fit() {
        let told = |code: &str| by_code("try", code.to_owned());
        assert!(matches!(told("517"), StoreError::Busy { .. }));
        assert!(matches!(told("2067"), StoreError::Refused { .. }));
        assert!(matches!(told("1"), StoreError::Unfit { .. }));
        assert!(matches!(told("266"), StoreError::Unavailable { .. }));
    }
}
