//! What an operator may turn, and every bound with its reason.
//!
//! **Invariant:** a bound never changes silently what is decided: where one bites, the plan's report says so.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::algo::cosine::Score;

/// The operator's knobs of dedupe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DedupeSettings {
    /// The cosine at which two vectors speak for one thing, where the type has no threshold of its own.
    pub default_threshold: f32,
    /// Thresholds by exact type key.
    pub per_type_thresholds: BTreeMap<String, f32>,
    /// Most pairs the plan explains; the rest is counted by reason.
    pub kept_apart_listed_max: usize,
}

impl Default for DedupeSettings {
    fn default() -> Self {
        Self {
            default_threshold: 0.90,
            per_type_thresholds: BTreeMap::new(),
            kept_apart_listed_max: KEPT_APART_LISTED_MAX,
        }
    }
}

impl DedupeSettings {
    /// The threshold of a type, as it is compared.
    pub fn threshold(&self, entity_type: &str) -> Score {
        let cosine = self.per_type_thresholds.get(entity_type).unwrap_or(&self.default_threshold);
        Score::from_unit(f64::from(*cosine))
    }
}

/// Most pairs a plan explains by default: more than a person reads, few enough to store with every run.
const KEPT_APART_LISTED_MAX: usize = 2_000;

/// Most entities in one run: ranks are 32 bits wide, and a bound below that keeps memory in sight.
pub const ENTITIES_MAX: usize = 20_000_000;

/// Most members of a block that are compared each with each. 64 members are 2,016 pairs.
pub const BLOCK_MEMBERS_MAX: usize = 64;

/// Most members of a token-prefix block. It is the loosest family and the most expensive: 32 members are 496 pairs.
pub const PREFIX_BLOCK_MEMBERS_MAX: usize = 32;

/// Most members of a series that are compared each with each: they are only explained, never merged. 8 are 28 pairs.
pub const SERIES_MEMBERS_MAX: usize = 8;

/// Most candidate pairs per entity on average, over all families: what memory a plan may take grows with the store only.
pub const PAIRS_PER_ENTITY_MAX: usize = 16;

/// Largest type whose vectors are compared each with each: 1,024 entities are half a million cosines, a twentieth of a
/// second on one core.
pub const NEAREST_TYPE_SIZE_MAX: usize = 1_024;

/// Most cosines spent on nearest neighbours over all types, smallest types first.
pub const NEAREST_COSINES_MAX: usize = 2_000_000;

/// Most numbers held for nearest neighbours over all types: 64 MiB of vectors.
pub const NEAREST_FLOATS_MAX: usize = 16 << 20;

/// Nearest neighbours kept per entity: a cluster larger than this is found by its names.
pub const NEAREST_KEPT_MAX: usize = 8;

/// Neighbours, without co-occurrence, that each of two entities must have before disjoint neighbourhoods keep them
/// apart. Below it, two spellings of one thing simply collected different edges; in the real stores looked at, true
/// duplicates with disjoint neighbourhoods reach six.
pub const NEIGHBOURS_TO_SPEAK_MIN: usize = 8;

/// Most neighbours of a neighbour that still says something: a country or a year is everybody's neighbour.
pub const NEIGHBOUR_DEGREE_MAX: usize = 64;

/// Attributes that two entities must contradict each other in, agreeing in none, before that keeps them apart.
pub const ATTRIBUTES_TO_SPEAK_MIN: u16 = 2;

/// Largest cluster that is checked each with each. A larger one is not merged: no thing has so many names.
pub const CLUSTER_MEMBERS_MAX: usize = 256;
