//! What Khora left for the graph: entries in its own run table, of ops that are in its tables and not in the graph.
//!
//! Khora's next dream over the namespace carries out what stands there, whoever wrote it. So an entry is either taken over
//! whole, and gone from there, or left as it is.
//!
//! **Communities stay with Khora.** Nothing here reads or writes them, and they name no end of an edge: what an entry says of
//! them is left to Khora, without the rest of the entry.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::clock::Moment;
use crate::id::{OpId, RunId};
use crate::mirror::{Rewrite, Verb};

/// An op of Khora's that is taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// The op: Khora's own id, if that is a UUID.
    pub op: OpId,
    /// When it was committed, if Khora says so.
    pub at: Option<Moment>,
    /// What the graph lacks.
    pub verb: Verb,
}

/// What a run of Khora's left, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// What is taken over, in the order of the ops.
    pub adoptions: Vec<Adoption>,
    /// What stays, as JSON.
    pub left: String,
    /// Whether there is something among it that cannot be read.
    pub is_unreadable: bool,
}

#[derive(Deserialize)]
struct Entry {
    op_seq: i64,
    #[serde(default)]
    op_id: String,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(default)]
    retire_entity_ids: Vec<Uuid>,
    #[serde(default)]
    invalidate_relationship_ids: Vec<Uuid>,
    #[serde(default)]
    rewrite_relationships: Vec<Rewritten>,
    #[serde(default)]
    communities: Vec<IgnoredAny>,
    applied_at: Option<Moment>,
}

#[derive(Deserialize)]
struct Rewritten {
    relationship_id: Uuid,
    source_entity_id: Uuid,
    target_entity_id: Uuid,
}

/// The lists of an entry that are taken over.
const TAKEN_OVER: [&str; 3] = ["retire_entity_ids", "invalidate_relationship_ids", "rewrite_relationships"];

/// Takes apart what a run of Khora's left.
pub fn pending(run: RunId, text: &str) -> Pending {
    let Ok(entries) = serde_json::from_str::<Vec<Box<RawValue>>>(text) else {
        return Pending { left: text.to_owned(), is_unreadable: true, ..Pending::default() };
    };
    let mut adoptions: Vec<(i64, Adoption)> = Vec::new();
    let mut left: Vec<Box<RawValue>> = Vec::new();
    let mut is_unreadable = false;
    let mut ops: BTreeSet<OpId> = BTreeSet::new();
    for raw in entries {
        // Two entries of one op contradict each other.
        let entry = serde_json::from_str::<Entry>(raw.get()).ok();
        let Some(entry) = entry.filter(|entry| ops.insert(op(run, entry))) else {
            is_unreadable = true;
            left.push(raw);
            continue;
        };
        let has_communities = !entry.payload.communities.is_empty();
        let adoption = adoption(run, &entry);
        if has_communities && adoption.verb.ids().is_empty() {
            left.push(raw);
            continue;
        }
        left.extend(has_communities.then(|| communities_of(&raw)));
        adoptions.push((entry.op_seq, adoption));
    }
    adoptions.sort_by_key(|(seq, _)| *seq);
    Pending {
        adoptions: adoptions.into_iter().map(|(_, adoption)| adoption).collect(),
        left: serde_json::to_string(&left).unwrap_or_else(|_| unreachable!("a list of JSON is JSON")),
        is_unreadable,
    }
}

/// The op of an entry. An id that is no UUID is replaced by one that is the same each time.
fn op(run: RunId, entry: &Entry) -> OpId {
    let own = || Uuid::new_v5(&run.0, &entry.op_seq.to_be_bytes());
    OpId(Uuid::parse_str(&entry.op_id).unwrap_or_else(|_| own()))
}

fn adoption(run: RunId, entry: &Entry) -> Adoption {
    let payload = &entry.payload;
    let rewrite = |rewritten: &Rewritten| Rewrite {
        relationship: rewritten.relationship_id,
        source: rewritten.source_entity_id,
        target: rewritten.target_entity_id,
    };
    Adoption {
        op: op(run, entry),
        at: payload.applied_at,
        verb: Verb::Adopted {
            retire: payload.retire_entity_ids.clone(),
            invalidate: payload.invalidate_relationship_ids.clone(),
            rewrite: payload.rewrite_relationships.iter().map(rewrite).collect(),
        },
    }
}

/// An entry without what is taken over of it.
fn communities_of(entry: &RawValue) -> Box<RawValue> {
    let mut json: Json = serde_json::from_str(entry.get()).unwrap_or_default();
    for list in TAKEN_OVER {
        json["payload"][list] = json!([]);
    }
    to_raw_value(&json).unwrap_or_else(|_| unreachable!("JSON is JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: RunId = RunId(Uuid::from_u128(0xabc));

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    fn entry(seq: i64, op: &str, payload: Json) -> Json {
        json!({ "op_seq": seq, "op_id": op, "op_type": "vectorcypher_dedupe_entities", "payload": payload })
    }

    fn retires(number: u128) -> Json {
        json!({
            "retire_entity_ids": [id(number)],
            "invalidate_relationship_ids": [],
            "rewrite_relationships": [],
            "communities": [],
            "applied_at": "2026-03-01T03:04:05.000001+00:00",
        })
    }

    fn of(entries: &[Json]) -> Pending {
        pending(RUN, &json!(entries).to_string())
    }

    #[test]
    fn an_entry_says_what_the_graph_lacks_and_since_when() {
        let payload = json!({
            "retire_entity_ids": [id(1)],
            "invalidate_relationship_ids": [id(2)],
            "rewrite_relationships": [{
                "relationship_id": id(3), "source_entity_id": id(4), "target_entity_id": id(5), "relationship_type": "KNOWS",
            }],
            "communities": [],
            "applied_at": "2026-03-01T03:04:05.000001+00:00",
        });
        let pending = of(&[entry(7, &id(9).to_string(), payload)]);
        let rewrite = vec![Rewrite { relationship: id(3), source: id(4), target: id(5) }];
        let expected = Adoption {
            op: OpId(id(9)),
            at: Some(Moment::from_micros(1_772_334_245_000_001)),
            verb: Verb::Adopted { retire: vec![id(1)], invalidate: vec![id(2)], rewrite },
        };
        assert_eq!(pending, Pending { adoptions: vec![expected], left: "[]".to_owned(), is_unreadable: false });
    }

    #[test]
    fn entries_come_in_the_order_of_their_ops_each_with_an_id_of_its_own() {
        let pending = of(&[entry(2, "second", retires(2)), entry(1, "first", retires(1)), entry(3, "", retires(3))]);
        let ids: Vec<Vec<Uuid>> = pending.adoptions.iter().map(|adoption| adoption.verb.ids()).collect();
        assert_eq!(ids, [[id(1)], [id(2)], [id(3)]]);
        let again = of(&[entry(1, "first", retires(1))]);
        assert_eq!(again.adoptions[0].op, pending.adoptions[0].op);
        assert_ne!(pending.adoptions[0].op, pending.adoptions[1].op);
    }

    #[test]
    fn what_cannot_be_read_stays_to_the_letter_and_the_rest_goes() {
        let broken = [
            json!("no entry"),
            json!({ "op_seq": 1, "op_id": "x" }),
            json!({ "op_seq": "one", "op_id": "x", "payload": retires(1) }),
            entry(1, "x", json!({ "retire_entity_ids": ["nobody"] })),
            entry(1, "x", json!({ "applied_at": "yesterday" })),
            entry(1, "x", json!({ "retire_entity_ids": { "a": 1.50 } })),
        ];
        for broken in &broken {
            let pending = of(&[broken.clone(), entry(2, "y", retires(2))]);
            assert!(pending.is_unreadable && pending.adoptions.len() == 1, "{broken}");
            assert_eq!(pending.left, json!([broken]).to_string());
        }
        let twice = of(&[entry(1, "x", retires(1)), entry(1, "x", retires(2))]);
        assert!(twice.is_unreadable && twice.adoptions.len() == 1);
        for text in ["{}", "null", "[", "", "\"x\""] {
            let expected = Pending { left: text.to_owned(), is_unreadable: true, ..Pending::default() };
            assert_eq!(pending(RUN, text), expected);
        }
    }

    #[test]
    fn communities_stay_with_khora() {
        let mut payload = retires(1);
        payload["communities"] = json!([{ "id": id(8), "summary": "Said.", "member_ids": [], "summary_depth": 1 }]);
        let mut only = payload.clone();
        only["retire_entity_ids"] = json!([]);
        let left = of(&[entry(1, "x", only.clone())]);
        let stays = json!([entry(1, "x", only)]);
        assert_eq!((left.adoptions.len(), left.is_unreadable), (0, false));
        assert_eq!(left.left, stays.to_string());
        let parted = of(&[entry(1, "x", payload)]);
        assert_eq!(parted.adoptions[0].verb.ids(), [id(1)]);
        assert_eq!(serde_json::from_str::<Json>(&parted.left).unwrap(), stays);
    }

    #[test]
    fn lists_that_khora_leaves_out_are_empty() {
        let pending = of(&[entry(1, "x", json!({ "applied_at": null }))]);
        assert_eq!((pending.adoptions[0].at, pending.adoptions[0].verb.ids().len()), (None, 0));
        assert!(!pending.is_unreadable);
    }
}
