//! Ports: what the activities ask of a store, and how a store says no.
//!
//! A store loads rows locked and writes images; it never decides what to change. Where a port says "in one transaction",
//! all of it is committed or none.
//!
//! **Invariant:** no SQL, no driver type and no engine type is named here. A new need of an activity is a method on the trait
//! whose subject it is; both stores implement it, and the behavioural suite tries it on both.

#![forbid(unsafe_code)]

pub mod apply;
pub mod content;
pub mod error;
pub mod graph;
pub mod mind;
pub mod mirror;
pub mod plan;
pub mod run;
pub mod space;
pub mod starter;
pub mod transfer;

pub use apply::ApplyStore;
pub use content::{ContentStore, Snapshot};
pub use error::StoreError;
pub use graph::{Graph, GraphError, GraphTx};
pub use mind::{Mind, MindStore};
pub use mirror::MirrorStore;
pub use plan::PlanStore;
pub use run::RunStore;
pub use space::SpaceStore;
pub use starter::Starter;
pub use transfer::TransferStore;

/// Everything a store offers.
pub trait Store:
    RunStore + PlanStore + ApplyStore + ContentStore + TransferStore + MirrorStore + SpaceStore + MindStore
{
}

impl<S: RunStore + PlanStore + ApplyStore + ContentStore + TransferStore + MirrorStore + SpaceStore + MindStore> Store
    for S
{
}
