//! Dedupe: which entities of a namespace are one thing under several names.
//!
//! A [`DedupePlanner`] is fed with rows; [`DedupePlanner::propose`] finds candidates by their names; the
//! [`DedupeScorer`] says which vectors it wants, is fed with them, and draws up a [`DedupePlan`]. Nothing here reads a
//! store: the caller streams.
//!
//! The stages, each a file: `input` (what is fed) → `world` (sorted and read, with `text`, `fold`, `legal`,
//! `lexicon`, `reader`, `keys`, `name`) →
//! `block` (candidates) → `compare`, `veto`, `weigh`, `rule` (one pair) → `cluster` (no transitive swallowing) →
//! `outcome` (the plan).
//!
//! **Invariant:** same data, same plan: row order, page size and thread count change nothing, and no approximate index
//! is asked.

mod align;
mod block;
mod cluster;
mod compare;
pub mod eval;
mod fold;
mod input;
mod keys;
mod legal;
mod lexicon;
mod name;
mod neighbourhood;
mod outcome;
mod plan;
mod planner;
mod reader;
mod rule;
mod settings;
mod text;
mod vectors;
mod veto;
mod weigh;
mod world;

use uuid::Uuid;

pub use input::{Claim, EmbeddingState, EntityInput};
pub use plan::*;
pub use planner::{DedupePlanner, DedupeScorer};
pub use settings::*;

/// Why no plan can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DedupeError {
    /// A store returned one row twice.
    #[error("entity {id} was fed twice")]
    FedTwice {
        /// The row.
        id: Uuid,
    },
    /// Ranks would not fit.
    #[error("more than {entities_max} entities in one namespace")]
    TooManyEntities {
        /// The bound.
        entities_max: usize,
    },
}
