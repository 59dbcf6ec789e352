//! The heart of Dream Worker: values and functions.
//!
//! Planners, guards, plans, undo, verdicts and reports live here. Nothing here reads a clock, a file, the environment, the
//! network or chance, and nothing depends on the order of a hash map, so that everything decided can be decided again.
//!
//! **Invariant:** this crate cannot fail on I/O, because it does none.

#![forbid(unsafe_code)]

pub mod algo;
pub mod apply;
pub mod budget;
pub mod change;
pub mod clock;
pub mod digest;
pub mod failure;
pub mod guard;
pub mod id;
pub mod json;
pub mod mirror;
pub mod op;
pub mod plan;
pub mod realm;
pub mod redact;
pub mod report;
pub mod rows;
pub mod run;
pub mod settings;
pub mod undo;
pub mod verdict;
