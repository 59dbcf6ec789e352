//! Dream Worker: the slow pass at night over what agents remembered by day.
//!
//! The door: parse, dispatch, exit. What is decided is decided in `workflows/core`; what is touched is touched in
//! `activities`.

#![forbid(unsafe_code)]

mod address;
mod bench;
mod cli;
mod config;
mod demo;
mod engine;
mod eval;
mod exit;
mod face;
mod grpc;
mod health;
mod local;
mod mcp;
mod misfit;
mod outcome;
mod remote;
mod requests;
mod rest;
mod signals;
mod spaces;
mod starter;
mod telemetry;
mod term;
mod transfer;
mod wiring;
mod worker;

use clap::Parser as _;

/// Rows, properties and cells are many small pieces: the allocator of the system spends a sixth of a drain on them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let cli = cli::Cli::parse();
    match cli::dispatch(cli).await {
        Ok(exit) => exit.into(),
        Err(fault) => exit::report(&fault).into(),
    }
}
