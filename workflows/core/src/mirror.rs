//! What the graph database must know of an op, and what it makes of it.
//!
//! The graph is a second store of the same memories, so an op is carried out on it by the same code, over its own rows: what
//! ingestion wrote there and not to the tables is neither lost nor overruled. The outbox holds [`Verb`]s; a drainer loads
//! what they speak of into [`GraphRows`], lets [`tell`] run them in their order, commits the [`GraphRecord`]s to the store
//! that is being mirrored, and then writes the [`GraphWrites`].
//!
//! **Invariant:** verbs hold ids and numbers, never memory text. A new op that the graph must know is a new verb here, with
//! an arm in [`verbs`] and one in `tell.rs`.

mod adopt;
mod hold;
pub mod repair;
mod rows;
mod tell;
pub mod verify;
mod writes;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use adopt::{Adoption, Pending, pending};
pub use hold::{Waiting, ready};
pub use rows::{GraphEdge, GraphNeeds, GraphRows};
pub use tell::{Answer, GraphRecord, KeptCell, RemovedEdge, Telling, Told, tell};
pub use writes::{EdgeCreate, EdgeMove, EdgeRemove, EdgeSet, GraphWrites, NodeSet, VersionWrite};

use crate::apply::EffectNumbers;
use crate::change::{Column, RowChange, RowKey};
use crate::digest::Fingerprint;
use crate::op::Intent;

/// One thing to do to the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verb {
    /// The nodes of `absorbed` become that of `keep`.
    Merge {
        /// The survivor.
        keep: Uuid,
        /// Those that end.
        absorbed: Vec<Uuid>,
    },
    /// What came back of `absorbed` goes to `keep`.
    Reabsorb {
        /// The survivor.
        keep: Uuid,
        /// The entity that was absorbed before.
        absorbed: Uuid,
        /// Mentions that the survivor did not count yet.
        mentions_added: i64,
    },
    /// References of a node or an edge go.
    DropReferences {
        /// Which row.
        row: RowKey,
        /// The chunks that are gone.
        chunks: Vec<Uuid>,
        /// Where an edge may run that the tables do not know.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ends: Vec<(Uuid, Uuid)>,
    },
    /// What an op of Khora's did to its tables and not to the graph, in Khora's order: edges get other ends, edges end, nodes
    /// end.
    Adopted {
        /// Nodes that end.
        retire: Vec<Uuid>,
        /// Edges that end.
        invalidate: Vec<Uuid>,
        /// Edges that get other ends.
        rewrite: Vec<Rewrite>,
    },
    /// A node or an edge becomes what the tables say, whatever it is.
    Repair {
        /// Which row.
        row: RowKey,
        /// Where an edge shall run that the graph alone has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<(Uuid, Uuid)>,
        /// Properties that go back to what an op left, by its digest, where the tables still hold that.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        columns: BTreeMap<Column, Fingerprint>,
    },
    /// The op is taken back, by what the store kept of the graph when it was told.
    TakeBack {
        /// Whether cells that were changed since are put back too.
        overwrite: bool,
    },
}

/// An edge that gets other ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// The edge.
    pub relationship: Uuid,
    /// Where it shall start.
    pub source: Uuid,
    /// Where it shall end.
    pub target: Uuid,
}

/// Which way an op went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It was carried out.
    Apply,
    /// It was taken back.
    Undo,
}

impl Direction {
    /// Its name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Undo => "undo",
        }
    }
}

impl std::str::FromStr for Direction {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "apply" => Ok(Self::Apply),
            "undo" => Ok(Self::Undo),
            _ => Err(()),
        }
    }
}

impl Verb {
    /// The nodes and edges it names. Two verbs that share one are done in their order.
    pub fn ids(&self) -> Vec<Uuid> {
        match self {
            Self::Merge { keep, absorbed } => absorbed.iter().copied().chain([*keep]).collect(),
            Self::Reabsorb { keep, absorbed, .. } => vec![*keep, *absorbed],
            // Where it runs is known as far as every merge of its ends was told before.
            Self::DropReferences { row, ends, .. } => {
                ends.iter().flat_map(|(source, target)| [*source, *target]).chain([row.id]).collect()
            }
            Self::Adopted { retire, invalidate, rewrite } => {
                let rewritten =
                    rewrite.iter().flat_map(|rewrite| [rewrite.relationship, rewrite.source, rewrite.target]);
                retire.iter().chain(invalidate).copied().chain(rewritten).collect()
            }
            Self::Repair { row, ends, .. } => {
                ends.iter().flat_map(|(source, target)| [*source, *target]).chain([row.id]).collect()
            }
            Self::TakeBack { .. } => Vec::new(),
        }
    }
}

/// What the graph must know of an op that changed rows.
pub fn verbs(intent: &Intent, numbers: &EffectNumbers, changes: &[RowChange]) -> Vec<Verb> {
    match intent {
        _ if changes.is_empty() => Vec::new(),
        Intent::MergeEntities { keep, absorb } => vec![Verb::Merge { keep: *keep, absorbed: absorb.clone() }],
        Intent::Reabsorb { keep, absorbed } => {
            vec![Verb::Reabsorb { keep: *keep, absorbed: *absorbed, mentions_added: numbers.mentions_added }]
        }
        Intent::DropReferences { row, .. } => changes.iter().filter_map(|change| dropped(*row, change)).collect(),
        // Khora's graph holds no vectors, and none mirrors a space; a repair changes no row, and brings its verb itself.
        Intent::Centroid { .. }
        | Intent::Repair { .. }
        | Intent::Observe { .. }
        | Intent::RemoveFact { .. }
        | Intent::MergeFacts { .. }
        | Intent::MoveFact { .. }
        | Intent::WriteDigest { .. }
        | Intent::WriteProfile { .. }
        | Intent::WriteRecord { .. } => Vec::new(),
    }
}

/// What the graph must know of an op that was taken back, if that changed anything.
pub fn verbs_of_undo(intent: &Intent, is_changed: bool, overwrite: bool) -> Vec<Verb> {
    let is_mirrored = match intent {
        Intent::MergeEntities { .. }
        | Intent::Reabsorb { .. }
        | Intent::DropReferences { .. }
        | Intent::Repair { .. } => true,
        Intent::Centroid { .. }
        | Intent::Observe { .. }
        | Intent::RemoveFact { .. }
        | Intent::MergeFacts { .. }
        | Intent::MoveFact { .. }
        | Intent::WriteDigest { .. }
        | Intent::WriteProfile { .. }
        | Intent::WriteRecord { .. } => false,
    };
    if is_mirrored && is_changed { vec![Verb::TakeBack { overwrite }] } else { Vec::new() }
}

fn dropped(row: RowKey, change: &RowChange) -> Option<Verb> {
    let cell = change.columns.iter().find(|cell| cell.column == Column::SourceChunkIds)?;
    let kept = cell.after.ids();
    let chunks = cell.before.value.ids().iter().filter(|chunk| !kept.contains(chunk)).copied().collect();
    Some(Verb::DropReferences { row, chunks, ends: Vec::new() })
}
