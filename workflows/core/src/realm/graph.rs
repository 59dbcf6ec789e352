//! The `graph` realm: a Khora namespace of entities, relationships and chunks.

pub mod dedupe;
