//! Import and export as JSON lines.
//!
//! A line is an entity, a relationship or a chunk; `docs/formats/import.schema.json` is the published schema, and
//! `docs/formats/import.md` says the rest. Export writes what import reads.

pub(crate) mod export;
pub(crate) mod format;
pub(crate) mod import;
pub(crate) mod lines;
pub(crate) mod problems;
