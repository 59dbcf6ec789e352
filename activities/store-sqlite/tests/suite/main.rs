//! The behavioural suite on the embedded store: in memory, and on a file that Khora made.

#![allow(clippy::unwrap_used, reason = "a test says where it fails")]

mod kit;
mod statements;

mod memory {
    dream_store_suite::store_suite!(crate::kit::in_memory);
}

mod khoras_file {
    dream_store_suite::store_suite!(crate::kit::khoras_file);
}

mod own_file {
    dream_store_suite::store_suite!(crate::kit::own_file);
}
