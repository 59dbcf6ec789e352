//! The story of a dream, told the same way on two engines, and the contract between the side that decides when and the side
//! that does.
//!
//! **Invariant:** a workflow never sees a row, a prompt or a vector; it sees references, counts, hashes and states. Nothing
//! here reads a clock, a file, the environment, the network or chance.

#![forbid(unsafe_code)]

pub mod activities;
pub mod contract;
pub mod dream;
pub mod due;
pub mod lenient;
pub mod policy;
pub mod reconcile;
mod space;
pub mod start;
pub mod steps;
pub mod story;
pub mod sweep;
mod telling;
pub mod undo;
