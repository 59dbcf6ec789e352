//! The graph on a real Neo4j, whose address, user and password are in `DREAM_TEST_NEO4J_URL`, `_USER` and `_PASSWORD`. Each
//! test has a namespace of its own and leaves it there.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says where it fails, and what it measured")]

mod drainers;
mod kit;
mod streams;
mod tellings;
mod trouble;
mod writes;
