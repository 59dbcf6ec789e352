//! Dedupe as a caller sees it: the pairs that matter, the laws that always hold, a small world measured like the real ones.

mod dedupe {
    pub(crate) mod laws;
    pub(crate) mod pairs;
    pub(crate) mod small_world;
    pub(crate) mod support;
}

use dedupe::support;
