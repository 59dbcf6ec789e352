//! What Khora left for the graph in its own run table: it is taken over once, and what cannot be is left where it is.

use std::collections::BTreeMap;

use dream_core::change::{Column, ColumnChange, Existence, RowChange, RowKey, Value};
use dream_core::clock::Moment;
use dream_core::id::{OpId, RunId};
use dream_core::mirror::{Answer, Direction, GraphRecord, Rewrite, Verb};
use dream_core::undo::UndoRecord;
use dream_ports::mirror::{Adopted, KeptRow, OutboxFilter, OutboxRow, OutboxState};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::actor::{drop_references, run};
use crate::kit::WorldKit;
use crate::world::{INGESTED_AT, Scene, entity, id};

/// A run of Khora's by its number.
const fn khoras(number: u128) -> RunId {
    RunId(Uuid::from_u128(0xca00_0000_0000_4000_8000_0000_0000_0000 + number))
}

/// An op of Khora's by its number.
const fn op(number: u128) -> Uuid {
    Uuid::from_u128(0xcb00_0000_0000_4000_8000_0000_0000_0000 + number)
}

/// An entry as Khora writes it, of a merge of one entity into another.
fn entry(seq: i64, absorbed: u128) -> Json {
    json!({
        "op_seq": seq,
        "op_id": op(absorbed),
        "op_type": "vectorcypher_dedupe_entities",
        "payload": {
            "retire_entity_ids": [id(absorbed)],
            "invalidate_relationship_ids": [id(50)],
            "rewrite_relationships": [{
                "relationship_id": id(51), "source_entity_id": id(1), "target_entity_id": id(2), "relationship_type": "KNOWS",
            }],
            "communities": [],
            "applied_at": INGESTED_AT.plus_seconds(seq).to_string().replace('Z', "+00:00"),
        },
    })
}

/// Writes the row of a run of Khora's with what it left; `namespace` is either of the two ids.
async fn left(kit: &dyn WorldKit, number: u128, namespace: Uuid, pending: &str) {
    let (at, run) = (kit.dialect().moment(INGESTED_AT), khoras(number));
    kit.execute(&format!(
        "insert into khora_dream_runs (run_id, namespace_id, \"trigger\", mode, state, started_at, heartbeat_at, \
                                       graph_mirror_pending)
         values ('{run}', '{namespace}', 'manual', 'apply', 'failed', {at}, {at}, '{pending}')"
    ))
    .await;
}

/// What stands in the row of a run of Khora's.
async fn pending(kit: &dyn WorldKit, run: RunId) -> Option<String> {
    let query =
        format!("select cast(graph_mirror_pending as varchar(9999)) from khora_dream_runs where run_id = '{run}'");
    kit.rows(&query).await.remove(0).remove(0)
}

async fn outbox(scene: &Scene<'_>) -> Vec<OutboxRow> {
    scene.store.outbox(&OutboxFilter { limit: u32::MAX, ..OutboxFilter::default() }).await.unwrap()
}

async fn adopt(scene: &Scene<'_>) -> (u64, Vec<RunId>) {
    let Adopted { entries, unreadable, waits_for_khora } = scene.store.adopt(scene.namespace.id).await.unwrap();
    assert!(!waits_for_khora, "nobody dreams there");
    (entries, unreadable)
}

pub async fn what_khora_left_is_taken_over_once(kit: &dyn WorldKit) {
    if !kit.is_khoras() {
        return;
    }
    let scene = Scene::new(kit).await;
    let other = Scene::numbered(kit, 2).await;
    let adoptable = async |after, limit| scene.store.adoptable(after, limit).await.unwrap();
    assert_eq!((adoptable(None, 10).await, adopt(&scene).await), (Vec::new(), (0, Vec::new())));
    let (stable, row_id) = (scene.namespace.stable_id.0, scene.namespace.id.0);
    left(kit, 1, stable, &json!([entry(1, 11), entry(0, 10)]).to_string()).await;
    left(kit, 2, row_id, &json!([entry(5, 12)]).to_string()).await;
    left(kit, 3, other.namespace.stable_id.0, &json!([entry(0, 13)]).to_string()).await;
    left(kit, 4, stable, "[]").await;
    left(kit, 5, stable, "null").await;
    let mut both = vec![scene.namespace.id, other.namespace.id];
    both.sort_unstable();
    assert_eq!(adoptable(None, 10).await, both);
    assert_eq!(
        (adoptable(None, 1).await, adoptable(Some(both[0]), 10).await),
        (both[..1].to_vec(), both[1..].to_vec())
    );

    assert_eq!(adopt(&scene).await, (3, Vec::new()));
    let rows = outbox(&scene).await;
    let seen: Vec<(RunId, Uuid, Moment)> = rows.iter().map(|row| (row.run, row.op.0, row.written_at)).collect();
    let at = |seconds| INGESTED_AT.plus_seconds(seconds);
    assert_eq!(seen, [(khoras(1), op(10), at(0)), (khoras(1), op(11), at(1)), (khoras(2), op(12), at(5))]);
    let fresh = |row: &OutboxRow| (row.direction, row.state, row.attempts) == (Direction::Apply, OutboxState::Open, 0);
    assert!(rows.iter().all(fresh), "{rows:?}");
    let rewrite = vec![Rewrite { relationship: id(51), source: id(1), target: id(2) }];
    assert_eq!(rows[0].verbs, [Verb::Adopted { retire: vec![id(10)], invalidate: vec![id(50)], rewrite }]);
    let cleared = Some("[]".to_owned());
    assert_eq!((pending(kit, khoras(1)).await, pending(kit, khoras(2)).await), (cleared.clone(), cleared));
    assert_eq!(scene.store.owing_of(scene.namespace.id).await.unwrap().map(|owing| owing.open), Some(3));

    assert_eq!(adopt(&scene).await, (0, Vec::new()));
    kit.execute(&format!(
        "update khora_dream_runs set graph_mirror_pending = '{}' where run_id = '{}'",
        json!([entry(0, 10)]),
        khoras(1)
    ))
    .await;
    assert_eq!(adopt(&scene).await, (0, Vec::new()), "what Khora notes anew is in the queue already");
    assert_eq!(pending(kit, khoras(1)).await.as_deref(), Some("[]"));
    assert_eq!((outbox(&scene).await, adoptable(None, 10).await), (rows, vec![other.namespace.id]));
}

pub async fn what_cannot_be_taken_over_stays_with_khora(kit: &dyn WorldKit) {
    if !kit.is_khoras() {
        return;
    }
    let scene = Scene::new(kit).await;
    let stable = scene.namespace.stable_id.0;
    let broken = json!({ "op_seq": 1, "op_id": op(20), "payload": { "retire_entity_ids": ["Ada"] } });
    let mut communities = entry(2, 21);
    communities["payload"] = json!({ "communities": [{ "id": op(1), "summary": "Said." }] });
    left(kit, 1, stable, &json!([broken, entry(0, 10), communities]).to_string()).await;
    left(kit, 2, stable, r#"{"no": "list"}"#).await;
    left(kit, 3, stable, &json!([entry(0, 11)]).to_string()).await;
    assert_eq!(adopt(&scene).await, (2, vec![khoras(1), khoras(2)]));
    let stays = |text: Option<String>| serde_json::from_str::<Json>(&text.unwrap()).unwrap();
    let (first, second) = (stays(pending(kit, khoras(1)).await), stays(pending(kit, khoras(2)).await));
    assert_eq!((&first, &second), (&json!([broken, communities]), &json!({ "no": "list" })));
    let ops: Vec<Uuid> = outbox(&scene).await.iter().map(|row| row.op.0).collect();
    assert_eq!(ops, [op(10), op(11)]);
    assert_eq!(adopt(&scene).await, (0, vec![khoras(1), khoras(2)]));
    assert_eq!(stays(pending(kit, khoras(1)).await), first);
}

pub async fn our_own_runs_leave_nothing_for_khora(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada")]).await;
    scene.dream(1, vec![drop_references(RowKey::entity(id(1)), &[1])]).await;
    assert_eq!(adopt(&scene).await, (0, Vec::new()));
    assert_eq!(scene.store.adoptable(None, 10).await.unwrap(), []);
    assert_eq!(outbox(&scene).await.iter().map(|row| row.run).collect::<Vec<_>>(), [run(1)]);
    if !kit.is_khoras() {
        return;
    }
    assert_eq!(pending(kit, run(1)).await, None);
    kit.execute("alter table khora_dream_runs drop column graph_mirror_pending").await;
    assert_eq!(adopt(&scene).await, (0, Vec::new()), "an older version of Khora notes nothing");
    assert_eq!(scene.store.adoptable(None, 10).await.unwrap(), []);
}

pub async fn what_was_told_of_khoras_runs_goes_when_it_is_old(kit: &dyn WorldKit) {
    if !kit.is_khoras() {
        return;
    }
    let scene = Scene::new(kit).await;
    let store = &scene.store;
    left(kit, 1, scene.namespace.stable_id.0, &json!([entry(0, 10), entry(1, 11)]).to_string()).await;
    assert_eq!(adopt(&scene).await.0, 2);
    let later = INGESTED_AT.plus_seconds(60);
    let sweepable = async |before| store.sweepable(before, 0).await.unwrap();
    assert_eq!((sweepable(later).await, store.forget(&[khoras(1)]).await.unwrap()), (Vec::new(), 0), "it is owed");

    let fence = store.begin_drain(scene.namespace.id, "drainer").await.unwrap().unwrap();
    let rows = outbox(&scene).await;
    let kept: Vec<KeptRow> = rows.iter().map(kept).collect();
    store.keep_batch(&fence, op(0), &kept).await.unwrap();
    assert_eq!(
        (kit.count("touched").await, kit.count("graph_record").await),
        (0, 2),
        "nothing here is told by its ops"
    );
    assert_eq!(store.close_batch(&fence, op(0)).await.unwrap(), 0);
    let ops: Vec<OpId> = rows.iter().map(|row| row.op).collect();
    assert_eq!(store.graph_records(&ops).await.unwrap().len(), 2);

    assert_eq!(sweepable(INGESTED_AT).await, [], "it is as young as its last op");
    assert_eq!(sweepable(later).await, [(khoras(1), None)]);
    assert_eq!(store.forget(&[khoras(1)]).await.unwrap(), 1);
    assert_eq!((kit.count("outbox").await, kit.count("graph_record").await), (0, 0));
    assert_eq!((sweepable(later).await, pending(kit, khoras(1)).await.as_deref()), (Vec::new(), Some("[]")));
}

/// A row with the record of a node that was retired.
fn kept(row: &OutboxRow) -> KeptRow {
    let until =
        ColumnChange { column: Column::ValidUntil, before: Value::Null.into(), after: Value::Time(row.written_at) };
    let key = RowKey::entity(row.verbs[0].ids()[0]);
    let change = RowChange { key, existence: Existence::Kept, columns: vec![until] };
    let record = GraphRecord {
        op: row.op,
        at: row.written_at,
        undo: UndoRecord::of(&[change]),
        ends: BTreeMap::new(),
        removed: Vec::new(),
        retired: vec![key.id],
    };
    KeptRow { id: row.id, op: row.op, direction: row.direction, record, answer: Answer::Done }
}
