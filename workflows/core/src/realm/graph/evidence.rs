//! What speaks for an op and what against, in numbers: the part of a plan that people and reports read.
//!
//! **Invariant:** evidence is never part of a content key or of a plan hash, and holds no memory text.

use serde::{Deserialize, Serialize};

use crate::algo::cosine::Score;
use crate::mirror::verify::Difference;
use crate::realm::graph::dedupe::PairEvidence;

/// The evidence of one op.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Evidence {
    /// Of a merge.
    Merge(MergeEvidence),
    /// Of two that stay two.
    Apart(Box<PairEvidence>),
    /// Of a cluster that would collide.
    Collision(CollisionEvidence),
    /// Of a re-absorption.
    Reabsorb(ReabsorbEvidence),
    /// Of a new vector for a survivor.
    Centroid(CentroidEvidence),
    /// Of a removal of dead references.
    Drop(DropEvidence),
    /// Of a repair of the graph database.
    Repair(RepairEvidence),
    /// Of an op on a space.
    Space(SpaceEvidence),
}

/// What an op on a space comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceEvidence {
    /// What it counts for under the bound on the changes of a run; nothing for housekeeping.
    pub changes: u32,
    /// How often the facts that go were recalled.
    pub recalls: i64,
}

/// Why entities are one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeEvidence {
    /// Entities in the cluster, the survivor included.
    pub members: u32,
    /// The pairs that joined it.
    pub pairs: Vec<PairEvidence>,
    /// Whether each of them has a cosine at or above the threshold of the type.
    pub every_pair_reached_cosine_threshold: bool,
}

/// What a cluster would collide with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollisionEvidence {
    /// Entities in the cluster.
    pub members: u32,
    /// The row it collides with.
    pub with: uuid::Uuid,
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
    /// Least cosine between two members; none with fewer than two vectors.
    pub cosine_min: Option<Score>,
    /// Greatest edit distance between two members' names, in characters.
    pub edit_distance_max: u32,
}

/// Why references are dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropEvidence {
    /// References of the row, and of the rows that this run merges into it.
    pub references: u32,
    /// Those whose chunk is gone.
    pub dead: u32,
}

/// Why a node or an edge is repaired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairEvidence {
    /// How the graph differs from the tables.
    pub difference: Difference,
}
