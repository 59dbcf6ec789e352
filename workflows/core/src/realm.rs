//! The realms: what differs between one memory and another.

pub mod graph;
