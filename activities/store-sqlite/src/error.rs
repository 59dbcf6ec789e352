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

/// Primary result codes of SQLite that mean "later": `SQLITE_BUSY` and `SQLITE_LOCKED`.
const BUSY_CODES: [&str; 2] = ["5", "6"];

fn store_error(operation: &'static str, error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default().into_owned();
            let primary = code.parse::<i32>().map_or_else(|_| code.clone(), |code| (code & 0xff).to_string());
            if BUSY_CODES.contains(&primary.as_str()) {
                StoreError::Busy { operation, code }
            } else if primary == "1" && error.message().starts_with("no such table: dream_") {
                StoreError::NotMigrated
            } else {
                StoreError::Refused { operation, code }
            }
        }
        sqlx::Error::ColumnDecode { index, .. } => {
            StoreError::Unreadable { operation, what: format!("column {index}") }
        }
        sqlx::Error::ColumnNotFound(column) => StoreError::Unreadable { operation, what: format!("column {column}") },
        sqlx::Error::Decode(_) | sqlx::Error::RowNotFound => {
            StoreError::Unreadable { operation, what: "a record".to_owned() }
        }
        _ => StoreError::Unavailable { operation },
    }
}
