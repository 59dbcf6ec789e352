//! Compiles the protocol of the control API, with a compiler that is a library: a build needs no `protoc` and no network.

use std::io::Write as _;

/// The one file of the protocol; what it is about is said there.
const PROTOCOL: &str = "proto/dream/v1/control.proto";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    writeln!(std::io::stdout(), "cargo::rerun-if-changed={PROTOCOL}")?;
    let files = protox::compile([PROTOCOL], ["proto"])?;
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}
