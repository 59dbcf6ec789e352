//! Reports: what a run leaves behind for people and programs to read.
//!
//! A run is told as one stream of [`event::Event`]s, and every report is a fold over it: `events.jsonl` ([`line`]),
//! `undo.json` ([`undo`]) and `summary.md` ([`summary`]). `manifest.json` ([`manifest`]) seals the files, [`table`] draws
//! the same values for a terminal. The caller reads the run from its store in batches, feeds each event to the folds, and
//! writes what they answer; nothing here grows with the length of a run.
//!
//! Names are no part of a plan. They are joined in when a page is written, through a [`Lens`], which is also the only way
//! past the redaction.
//!
//! **Invariant:** nothing here reads a clock, a file or a store, so that the same run gives the same report, byte for byte,
//! whenever it is written again. What is Khora's keeps Khora's keys and values; what is ours stands under one key, `dream`.
//!
//! A new op kind gets its shapes in `khora.rs`, where Khora has them, and its words in [`words`]; a new report is a new
//! fold.

pub mod event;
pub mod facts;
mod khora;
pub mod lens;
pub mod line;
pub mod manifest;
pub mod plain;
pub mod summary;
pub mod table;
pub mod undo;
pub mod words;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use event::Event;
pub use facts::{AuditFacts, Finding, OpFacts, RunFacts};
pub use lens::{EntityName, Lens};

/// The schema of `events.jsonl` and `manifest.json`.
pub const REPORT_SCHEMA: &str = "dream-report/1";

/// The schema of `undo.json`.
pub const UNDO_SCHEMA: &str = "dream-undo/1";
