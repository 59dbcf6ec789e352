//! The heart of Dream Worker: values and functions, no I/O.
#![forbid(unsafe_code)]

pub mod algo;
pub mod realm;
