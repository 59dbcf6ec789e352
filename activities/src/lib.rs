//! The side that touches the world: load, let the core decide, write.
//!
//! One activity, one file; each is an async function over a [`World`] that the Temporal worker and the local engine call
//! alike.
//!
//! **Invariant:** an activity never decides what to change. If an `if` here is about memories, it is in the wrong crate.

#![forbid(unsafe_code)]

pub mod apply;
pub mod audit;
pub mod begin;
pub mod edges;
pub mod embed;
pub mod facts;
pub mod failure;
pub mod feed;
pub mod lease;
pub mod mirror;
pub mod observe;
pub mod observed;
pub mod plan;
pub mod reconcile;
pub mod report;
pub mod requests;
pub mod seal;
pub mod sink;
pub mod space;
pub mod sweep;
pub mod temporal;
pub mod undo;
pub mod verify;
pub mod world;

pub use world::World;
