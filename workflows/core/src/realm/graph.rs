//! The `graph` realm: a Khora namespace of entities, relationships and chunks. One file per family of ops.

pub mod centroid;
pub mod dedupe;
pub mod drift;
pub mod edges;
pub mod evidence;
pub mod gc;
pub mod merge;
pub mod orphan;
pub mod propose;
pub mod reabsorb;
pub mod references;
pub mod scope;
