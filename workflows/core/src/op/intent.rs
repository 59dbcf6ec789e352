//! What an op does, in ids, and what its decision relied on.
//!
//! **Invariant:** there is no memory text here. Text that an op writes lies in the store beside its run, under a keyed digest
//! ([`Intent::text`]); where it is gone, because somebody forgot it, the op does nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::algo::cosine::Score;
use crate::change::{Column, RowKey};
use crate::digest::{Digester, Fingerprint};
use crate::realm::space::effect::RecordKind;
use crate::realm::space::fact::Tier;
use crate::realm::space::ticket;

/// What an op does, in ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "intent", rename_all = "snake_case", deny_unknown_fields)]
pub enum Intent {
    /// Makes one entity of several.
    MergeEntities {
        /// The survivor.
        keep: Uuid,
        /// Those that are retired, in id order.
        absorb: Vec<Uuid>,
    },
    /// Takes what ingestion brought back of an absorbed entity over to its survivor.
    Reabsorb {
        /// The survivor.
        keep: Uuid,
        /// The entity that came back.
        absorbed: Uuid,
    },
    /// Gives a survivor a vector.
    Centroid {
        /// The survivor.
        entity: Uuid,
        /// Those whose vectors are averaged, the survivor included, in id order.
        members: Vec<Uuid>,
    },
    /// Removes dead references from a row.
    DropReferences {
        /// The row.
        row: RowKey,
        /// The chunks that are gone, in id order.
        chunks: Vec<Uuid>,
    },
    /// Takes a fact out of its space.
    RemoveFact {
        /// The fact.
        fact: Uuid,
    },
    /// Makes one fact of several.
    MergeFacts {
        /// The fact that is kept.
        keep: Uuid,
        /// Those that go, in id order.
        absorb: Vec<Uuid>,
        /// Whether the kept one takes over how often the others were recalled.
        adds_recalls: bool,
        /// New wording of the kept fact.
        wording: Option<Fingerprint>,
    },
    /// Keeps a fact in another tier.
    MoveFact {
        /// The fact.
        fact: Uuid,
        /// Its new tier.
        tier: Tier,
    },
    /// Writes the digest of a week.
    WriteDigest {
        /// The entry.
        entry: Uuid,
        /// The Monday of the week.
        starts_on: String,
        /// What it says.
        text: Fingerprint,
    },
    /// Writes the profile of a space.
    WriteProfile {
        /// The space.
        space: Uuid,
        /// What it says.
        text: Fingerprint,
    },
    /// Adds a record.
    WriteRecord {
        /// The record.
        record: Uuid,
        /// What it is.
        kind: RecordKind,
        /// The facts it speaks of, in its order.
        facts: Vec<Uuid>,
        /// Its JSON document.
        body: Fingerprint,
    },
    /// Makes the graph database say of a row what the tables say.
    Repair {
        /// The row.
        row: RowKey,
        /// Where an edge shall run that the graph alone has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<(Uuid, Uuid)>,
        /// Properties that go back to what an op left, by its digest, where the tables still hold that.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        columns: BTreeMap<Column, Fingerprint>,
    },
    /// Looks, or explains why nothing is done, about these rows in id order.
    Observe {
        /// The rows spoken of.
        rows: Vec<Uuid>,
    },
}

impl Intent {
    /// The rows whose ops must be decided together are named by one id: the survivor's, or the row's own.
    pub fn cluster(&self) -> Uuid {
        match self {
            Self::MergeEntities { keep, .. } | Self::Reabsorb { keep, .. } | Self::MergeFacts { keep, .. } => *keep,
            Self::Centroid { entity, .. } => *entity,
            Self::DropReferences { row, .. } | Self::Repair { row, .. } => row.id,
            Self::RemoveFact { fact } | Self::MoveFact { fact, .. } => *fact,
            Self::WriteDigest { entry, .. } => *entry,
            Self::WriteProfile { space, .. } => *space,
            Self::WriteRecord { record, .. } => *record,
            Self::Observe { rows } => rows.first().copied().unwrap_or_default(),
        }
    }

    /// The text that the op writes, by its digest.
    pub const fn text(&self) -> Option<Fingerprint> {
        match self {
            Self::MergeFacts { wording, .. } => *wording,
            Self::WriteDigest { text, .. } | Self::WriteProfile { text, .. } => Some(*text),
            Self::WriteRecord { body, .. } => Some(*body),
            _ => None,
        }
    }

    pub(super) fn digest(&self, digester: Digester) -> Digester {
        let ids = |digester: Digester, ids: &[Uuid]| {
            ids.iter().fold(digester.number(ids.len() as u64), |digester, id| digester.bytes(id.as_bytes()))
        };
        match self {
            Self::MergeEntities { keep, absorb } => ids(digester.text("merge").bytes(keep.as_bytes()), absorb),
            Self::Reabsorb { keep, absorbed } => {
                digester.text("reabsorb").bytes(keep.as_bytes()).bytes(absorbed.as_bytes())
            }
            Self::Centroid { entity, members } => ids(digester.text("centroid").bytes(entity.as_bytes()), members),
            Self::DropReferences { row, chunks } => {
                ids(digester.text("drop_references").text(row.table.as_str()).bytes(row.id.as_bytes()), chunks)
            }
            Self::Repair { row, ends, columns } => {
                let ends = ends.iter().flat_map(|(source, target)| [*source, *target]).collect::<Vec<_>>();
                let digester = ids(digester.text("repair").text(row.table.as_str()).bytes(row.id.as_bytes()), &ends);
                columns
                    .iter()
                    .fold(digester, |digester, (column, digest)| digester.text(column.as_str()).bytes(&digest.0))
            }
            Self::Observe { rows } => ids(digester.text("observe"), rows),
            Self::RemoveFact { fact } => digester.text("remove_fact").bytes(fact.as_bytes()),
            Self::MergeFacts { keep, absorb, adds_recalls, wording } => {
                let digester = ids(digester.text("merge_facts").bytes(keep.as_bytes()), absorb);
                let wording = wording.as_ref().map_or(&[][..], |wording| &wording.0);
                digester.number(u64::from(*adds_recalls)).bytes(wording)
            }
            Self::MoveFact { fact, tier } => digester.text("move_fact").bytes(fact.as_bytes()).text(tier.as_str()),
            Self::WriteDigest { entry, starts_on, text } => {
                digester.text("write_digest").bytes(entry.as_bytes()).text(starts_on).bytes(&text.0)
            }
            Self::WriteProfile { space, text } => digester.text("write_profile").bytes(space.as_bytes()).bytes(&text.0),
            Self::WriteRecord { record, kind, facts, body } => {
                let digester = digester.text("write_record").bytes(record.as_bytes()).text(kind.collection());
                ids(digester, facts).bytes(&body.0)
            }
        }
    }
}

/// What a decision relied on, and what must still hold when it is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "premise", rename_all = "snake_case", deny_unknown_fields)]
pub enum Premise {
    /// The entity exists, is live, and has the name and type it had.
    Entity {
        /// Which one.
        entity: Uuid,
        /// Keyed digest of its name and type.
        name_and_type: Fingerprint,
    },
    /// The entity exists and has the name and type it had, live or not.
    EntityNamed {
        /// Which one.
        entity: Uuid,
        /// Keyed digest of its name and type.
        name_and_type: Fingerprint,
    },
    /// Both vectors come from one model and agree this well.
    Cosine {
        /// One entity.
        left: Uuid,
        /// The other.
        right: Uuid,
        /// Least cosine.
        score_min: Score,
    },
    /// The row exists and is live.
    RowLive {
        /// Which one.
        row: RowKey,
    },
    /// The row is an edge that the graph database alone has. Whether it still has it shows when it is told.
    EdgeInGraph {
        /// Where it runs: as it was read, and as merges of the same run may lead it.
        ends: Vec<(Uuid, Uuid)>,
    },
    /// The alias still says that this entity was absorbed by that one.
    Alias {
        /// The absorbed entity.
        absorbed: Uuid,
        /// Its survivor, at the end of the chain.
        keep: Uuid,
    },
    /// The fact is there, and is what it was: by everything except how often it was recalled.
    Fact {
        /// Which one.
        fact: Uuid,
        /// Keyed digest of it.
        state: Fingerprint,
    },
    /// The fact is what a model was told, or what its own answer has made of it by now.
    FactAsTold(ticket::Premise),
    /// The fact was never recalled.
    NeverRecalled {
        /// Which one.
        fact: Uuid,
    },
}
