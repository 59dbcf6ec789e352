//! Which outbox rows may be told now.
//!
//! A namespace's rows are told in their order. One that keeps failing is set aside, and holds back every later one that
//! speaks of the same node or edge, for those may build on it; the others go on.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::id::OpId;

/// An outbox row that is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The op.
    pub op: OpId,
    /// The nodes and edges it speaks of; of one that takes an op back, those that the op touched.
    pub ids: Vec<Uuid>,
    /// Whether it was set aside.
    pub is_parked: bool,
}

/// The places of the rows that may be told, of rows in their order.
pub fn ready(rows: &[Waiting]) -> Vec<usize> {
    let mut held: BTreeSet<Uuid> = BTreeSet::new();
    let mut ready = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        // An op is taken back behind where it was carried out, whatever it speaks of.
        let ids = || row.ids.iter().chain([&row.op.0]);
        if row.is_parked || ids().any(|id| held.contains(id)) {
            held.extend(ids());
        } else {
            ready.push(place);
        }
    }
    ready
}
