//! What both test binaries share: the program as a person runs it, worlds to run it on, and ways to compare them.

#![allow(dead_code, reason = "each of the two binaries uses its own part")]

pub mod collector;
pub mod model;
pub mod program;
pub mod replay;
pub mod server;
pub mod world;
pub mod writer;
pub mod zones;

use std::path::PathBuf;

/// The folder of unpacked real data; none, said in one line, where it is not there.
pub fn real_data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DREAM_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("{test}: skipped, DREAM_DATA is not set");
    }
    folder
}
