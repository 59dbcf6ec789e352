//! Which outbox rows may be told now.
//!
//! A namespace's rows are told in their order. One that keeps failing is set aside, and holds back every later one that
//! speaks of the same node or edge, for those may build on it; the others go on.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::id::OpId;
use crate::mirror::Verb;

/// An outbox row that is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting<'a> {
    /// The op.
    pub op: OpId,
    /// What it says.
    pub verbs: &'a [Verb],
    /// Whether it was set aside.
    pub is_parked: bool,
}

/// The places of the rows that may be told, of rows in their order.
pub fn ready(rows: &[Waiting<'_>]) -> Vec<usize> {
    let mut held: BTreeSet<Uuid> = BTreeSet::new();
    let mut ready = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        // An op is taken back behind where it was carried out, whatever its verbs name.
        let ids: Vec<Uuid> = row.verbs.iter().flat_map(Verb::ids).chain([row.op.0]).collect();
        if row.is_parked || ids.iter().any(|id| held.contains(id)) {
            held.extend(ids);
        } else {
            ready.push(place);
        }
    }
    ready
}
