//! Tests that need no server: the program on the embedded store with the local engine, the rules of this repository, the
//! formats.

#![allow(clippy::missing_panics_doc, reason = "a test panics where it fails")]

#[path = "../support/mod.rs"]
mod support;

mod crash;
mod knobs;
mod review;
mod runs;
mod tidy;
mod transfer;
mod undo;
