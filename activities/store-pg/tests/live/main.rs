//! The PostgreSQL store on a real server, whose address is in `DREAM_TEST_POSTGRES_URL`: the behavioural suite on Khora's
//! schema and on our own, statements against three schemas, and what only a server can show.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says where it fails, and what it measured")]

mod drain;
mod ingest;
mod kit;
mod server;
mod statements;

mod khoras {
    dream_store_suite::store_suite!(crate::kit::khoras);
}

mod own {
    dream_store_suite::store_suite!(crate::kit::own);
}
