//! The realms: what differs between one memory and another. Plan, seal, guard, apply, undo and reports are not here.

pub mod graph;
pub mod space;
