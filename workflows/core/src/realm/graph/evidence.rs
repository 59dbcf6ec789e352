//! What speaks for an op and what against, in numbers: the part of a plan that people and reports read.
//!
//! **Invariant:** evidence is never part of a content key or of a plan hash, and holds no memory text.

use serde::{Deserialize, Serialize};

/// The evidence of one op.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Evidence {
    /// Of a removal of dead references.
    Drop(DropEvidence),
    /// Of a re-absorption.
    Reabsorb(ReabsorbEvidence),
    /// Of a new vector for a survivor.
    Centroid(CentroidEvidence),
}

/// Why references are dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropEvidence {
    /// References of the row.
    pub references: u32,
    /// Those whose chunk is gone.
    pub dead: u32,
}

/// What came back of an absorbed entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReabsorbEvidence {
    /// Whether the absorbed row itself lives again.
    pub revived: bool,
    /// Mentions that its survivor does not count yet.
    pub mentions_new: i64,
    /// Live edges that hang on it.
    pub edges_live: u32,
}

/// How a survivor gets its vector, and why so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CentroidEvidence {
    /// Members of the cluster.
    pub members: u32,
    /// Members that have a usable vector.
    pub vectors: u32,
    /// Least cosine between two members, in ten thousandths; none with fewer than two vectors.
    pub cosine_ten_thousandths_min: Option<i32>,
    /// Greatest edit distance between two members' names, in characters.
    pub edit_distance_max: u32,
}
