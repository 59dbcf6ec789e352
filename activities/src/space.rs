//! Spaces: what a run over one does between begin and report, and the small memory API beside it.
//!
//! Everything here is a plain function over a [`World`](crate::World) or a store; commands, REST, gRPC and MCP call the same
//! ones.

pub mod answer;
pub mod ask;
pub mod begin;
pub mod due;
pub mod judge;
pub mod memory;
pub mod mind;
pub mod report;
pub mod rows;
pub mod tidy;
pub mod transfer;
pub mod undo;

/// The steps of a run over a space, as the store remembers them.
pub mod step {
    /// Actions and values past their end.
    pub const TIDY: &str = "space:tidy";
    /// The round of housekeeping.
    pub const HOUSEKEEPING: &str = "space:housekeeping";
    /// Why there was no question.
    pub const NO_QUESTION: &str = "space:no_question";
    /// The round that came of an answer.
    pub const CONSOLIDATION: &str = "space:consolidation";
}
