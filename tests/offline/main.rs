//! Tests that need no server: the program on the embedded store with the local engine, the rules of this repository, the
//! formats.

#![allow(clippy::missing_panics_doc, reason = "a test panics where it fails")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test says where it fails, and what it skips")]
#![allow(unreachable_pub, reason = "a test binary has no outside")]

#[path = "../support/mod.rs"]
mod support;

mod crash;
mod due;
mod embedder;
mod eval;
mod knobs;
mod mcp;
mod mind;
mod mind_trouble;
mod reingest;
mod replay;
mod review;
mod runs;
mod serve;
mod spaces;
mod telemetry;
mod tidy;
mod transfer;
mod twice;
mod undo;
mod writer;
