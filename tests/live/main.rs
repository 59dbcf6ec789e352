//! Tests against a real PostgreSQL and a real Temporal server, whose addresses `tests/services` gives.
//!
//! They run under `tests/run` alone: a plain `cargo test` needs no server, and here a missing one is a failure. Every test
//! has a database, a task queue and workers of its own. One file per subject; add a module here.

#![allow(clippy::missing_panics_doc, reason = "a test panics where it fails")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test says where it fails, and what it skips")]
#![allow(unreachable_pub, reason = "a test binary has no outside")]

#[path = "../support/mod.rs"]
mod support;

mod adopt;
mod canary;
mod engine;
mod graph;
mod grpc;
mod ingestion;
mod input;
mod khora;
mod kill;
mod lab;
mod mind;
mod mirror;
mod mirror_real;
mod record;
mod record_spaces;
mod reingest;
mod repair;
mod review;
mod schedule;
mod serve;
mod space;
mod space_due;
mod space_many;
mod starts;
mod telemetry;
mod worker;
mod writer;
