//! The outbox: a queue per namespace, one drainer at a time, and what the graph held before it was told.

use std::collections::BTreeMap;

use dream_core::change::{Column, ColumnChange, Existence, RowChange, RowKey, Table, Value};
use dream_core::clock::Moment;
use dream_core::id::OpId;
use dream_core::mirror::{Answer, Direction, GraphRecord, KeptCell, RemovedEdge, Verb};
use dream_core::undo::{OnChanged, UndoRecord};
use dream_ports::StoreError;
use dream_ports::mirror::{DrainFence, KeptRow, OutboxFilter, OutboxRow, OutboxState, Owing};
use uuid::Uuid;

use crate::actor::{drop_references, group, run};
use crate::kit::WorldKit;
use crate::world::{INGESTED_AT, Scene, chunk, edge, entity, id};

/// A batch by its number.
const fn batch(number: u128) -> Uuid {
    Uuid::from_u128(0xb100_0000_0000_4000_8000_0000_0000_0000 + number)
}

/// An edge that only the graph has.
const GRAPHS_EDGE: u128 = 77;

/// A namespace in which run 1 dropped one reference of each of so many entities: so many rows wait.
async fn told(kit: &dyn WorldKit, ops: u128) -> Scene<'_> {
    let rows: Vec<_> = (1..=ops).map(|number| entity(number, &format!("Person {number}"))).collect();
    let scene = Scene::new(kit).await.with(&rows).await;
    dropped(&scene, 1, 1..=ops).await;
    scene
}

/// A run that drops references of these entities.
async fn dropped(scene: &Scene<'_>, number: u128, entities: std::ops::RangeInclusive<u128>) {
    let drafts = entities.map(|number| drop_references(RowKey::entity(id(number)), &[number])).collect();
    scene.dream(number, drafts).await;
}

async fn take(scene: &Scene<'_>) -> DrainFence {
    scene.store.begin_drain(scene.namespace.id, "drainer").await.unwrap().expect("nobody else drains")
}

fn all() -> OutboxFilter {
    OutboxFilter { limit: u32::MAX, ..OutboxFilter::default() }
}

/// The rows that wait in the namespace's queue.
async fn waiting(scene: &Scene<'_>) -> Vec<OutboxRow> {
    let states = vec![OutboxState::Open, OutboxState::Parked];
    let filter = OutboxFilter { namespace: Some(scene.namespace.id), states, ..all() };
    scene.store.outbox(&filter).await.unwrap()
}

/// What the graph held of one of its edges before an op made it heavier.
fn record(op: OpId, before: f64) -> GraphRecord {
    let weight =
        ColumnChange { column: Column::Weight, before: Value::Float(before).into(), after: Value::Float(before + 1.0) };
    let key = RowKey::relationship(id(GRAPHS_EDGE));
    let change = RowChange { key, existence: Existence::Kept, columns: vec![weight] };
    let removed = RemovedEdge {
        id: id(GRAPHS_EDGE + 1),
        source: id(1),
        target: id(2),
        label: "KNOWS".to_owned(),
        properties: r#"{"since": 1833, "said": "it's \"so\""}"#.to_owned(),
        cells: [(Column::Weight, KeptCell(Value::Float(0.5).into()))].into(),
    };
    GraphRecord {
        op,
        at: INGESTED_AT,
        undo: UndoRecord::of(&[change]),
        ends: BTreeMap::from([(id(GRAPHS_EDGE), [(id(1), id(2)), (id(1), id(3))])]),
        removed: vec![removed],
        retired: vec![id(2)],
    }
}

fn kept(row: &OutboxRow, before: f64, answer: Answer) -> KeptRow {
    KeptRow { id: row.id, op: row.op, direction: row.direction, record: record(row.op, before), answer }
}

/// Keeps and closes rows as one batch.
async fn tell(scene: &Scene<'_>, fence: &DrainFence, number: u128, rows: &[OutboxRow]) {
    let rows: Vec<KeptRow> = rows.iter().map(|row| kept(row, 1.0, Answer::Done)).collect();
    scene.store.keep_batch(fence, batch(number), &rows).await.unwrap();
    scene.store.close_batch(fence, batch(number)).await.unwrap();
}

async fn records(scene: &Scene<'_>, ops: &[OpId]) -> BTreeMap<OpId, GraphRecord> {
    scene.store.graph_records(ops).await.unwrap()
}

/// The outbox, the records and the touched rows, as the store has them.
async fn traces(kit: &dyn WorldKit) -> Vec<Vec<Vec<Option<String>>>> {
    let mut traces = Vec::new();
    for (table, columns) in [
        ("outbox", "id, state, attempts, next_at, reason, batch, answer"),
        ("graph_record", "op_id, direction, record"),
        ("touched", "row_id, run_id, seq"),
    ] {
        let own = kit.dialect().own(table);
        traces.push(kit.rows(&format!("select {columns} from {own} order by 1, 2")).await);
    }
    traces
}

/// Every way of writing with a fence that somebody else's replaced.
async fn assert_stranger(scene: &Scene<'_>, fence: &DrainFence, rows: &[OutboxRow]) {
    let lost = |what: &str, result: Result<(), StoreError>| {
        assert!(matches!(&result, Err(StoreError::Busy { code, .. }) if code == "drainer_lost"), "{what}: {result:?}");
    };
    let store = &scene.store;
    let before = traces(scene.kit).await;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let kept: Vec<KeptRow> = rows.iter().map(|row| kept(row, 5.0, Answer::Missing)).collect();
    lost("renew_drain", store.renew_drain(fence).await);
    lost("keep_batch", store.keep_batch(fence, batch(9), &kept).await);
    lost("close_batch", store.close_batch(fence, batch(1)).await.map(|_| ()));
    lost("forget_batch", store.forget_batch(fence, batch(1)).await);
    lost("put_off", store.put_off(fence, &ids, "x", None).await);
    store.end_drain(fence).await.unwrap();
    assert_eq!(traces(scene.kit).await, before);
}

pub async fn a_namespace_has_one_drainer_at_a_time(kit: &dyn WorldKit) {
    let scene = told(kit, 1).await;
    let first = take(&scene).await;
    let other = kit.other_worker().await;
    let (namespace, elsewhere) = (scene.namespace.id, Scene::numbered(kit, 2).await.namespace.id);
    assert_eq!(other.begin_drain(namespace, "other").await.unwrap(), None);
    assert!(other.begin_drain(elsewhere, "other").await.unwrap().is_some(), "another namespace's queue is another one");
    scene.store.renew_drain(&first).await.unwrap();
    scene.store.end_drain(&first).await.unwrap();
    scene.store.end_drain(&first).await.unwrap();
    assert_stranger(&scene, &first, &waiting(&scene).await).await;
    let second = other.begin_drain(namespace, "other").await.unwrap().expect("it was given back");
    assert!(second.epoch > first.epoch);
    scene.store.end_drain(&first).await.unwrap();
    other.renew_drain(&second).await.unwrap();
    let workers: Vec<_> = (0..4).map(|_| scene.store.begin_drain(elsewhere, "one of many")).collect();
    kit.expire_drainers().await;
    let taken = futures::future::join_all(workers).await;
    assert_eq!(taken.into_iter().filter(|taken| taken.as_ref().unwrap().is_some()).count(), 1, "of many at once");
}

pub async fn a_drainer_that_slept_past_its_lease_writes_nothing(kit: &dyn WorldKit) {
    let scene = told(kit, 2).await;
    let asleep = take(&scene).await;
    let rows = waiting(&scene).await;
    scene.store.keep_batch(&asleep, batch(1), &[kept(&rows[0], 1.0, Answer::Done)]).await.unwrap();
    kit.expire_drainers().await;
    let awake = take(&scene).await;
    assert!(awake.epoch > asleep.epoch);
    assert_stranger(&scene, &asleep, &rows).await;
    scene.store.renew_drain(&awake).await.unwrap();
    assert_eq!(
        waiting(&scene).await[0].batch,
        Some(batch(1)),
        "whoever follows finds the batch whose end is not known"
    );
    scene.store.close_batch(&awake, batch(1)).await.unwrap();
    assert_eq!(waiting(&scene).await, rows[1..]);
}

pub async fn an_expired_drainer_that_nobody_followed_is_renewed(kit: &dyn WorldKit) {
    let scene = told(kit, 1).await;
    let fence = take(&scene).await;
    kit.expire_drainers().await;
    scene.store.renew_drain(&fence).await.unwrap();
    assert_eq!(scene.store.begin_drain(scene.namespace.id, "other").await.unwrap(), None);
}

pub async fn rows_come_in_the_order_of_their_ops(kit: &dyn WorldKit) {
    let scene = told(kit, 3).await;
    scene.undo(1, OnChanged::Overwrite).await;
    let other = Scene::numbered(kit, 2).await.with(&[entity(9, "Else")]).await;
    dropped(&other, 2, 9..=9).await;
    let ops: Vec<OpId> = scene.ops(1).await.iter().map(|record| record.op.id).collect();
    let rows = waiting(&scene).await;
    let listed: Vec<(OpId, Direction)> = rows.iter().map(|row| (row.op, row.direction)).collect();
    let (apply, undo) = (Direction::Apply, Direction::Undo);
    let expected = [(ops[0], apply), (ops[1], apply), (ops[2], apply), (ops[2], undo), (ops[1], undo), (ops[0], undo)];
    assert_eq!(listed, expected);
    assert!(rows.is_sorted_by_key(|row| row.id));
    let Verb::DropReferences { row, chunks, .. } = &rows[0].verbs[0] else { panic!("{:?}", rows[0]) };
    assert!(chunks.len() == 1 && chunks.iter().all(|gone| [1, 2, 3].map(chunk).contains(gone)), "{row:?}");
    assert_eq!(rows[3].verbs, [Verb::TakeBack { overwrite: true }]);
    let fresh = (rows[0].run, rows[0].state, rows[0].attempts, rows[0].next_at, rows[0].batch);
    assert_eq!(fresh, (run(1), OutboxState::Open, 0, None, None));

    let listed = async |filter: OutboxFilter| {
        scene.store.outbox(&filter).await.unwrap().iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let namespace = Some(scene.namespace.id);
    let states = vec![OutboxState::Open];
    let open = OutboxFilter { namespace, states: states.clone(), after: ids[1], limit: 2, ..all() };
    assert_eq!(listed(open.clone()).await, ids[2..4]);
    assert_eq!(listed(OutboxFilter { run: Some(run(1)), limit: 100, ..open.clone() }).await, ids[2..]);
    assert_eq!(listed(OutboxFilter { run: Some(run(2)), ..open }).await, Vec::<i64>::new());
    assert_eq!(listed(OutboxFilter { run: Some(run(2)), ..all() }).await.len(), 1);
    assert_eq!(listed(OutboxFilter { namespace, ..all() }).await, ids);
    assert_eq!(listed(all()).await.len(), 7);
    assert_eq!(listed(OutboxFilter { states: vec![OutboxState::Done, OutboxState::Dropped], ..all() }).await.len(), 0);
}

pub async fn what_was_written_for_no_graph_is_listed_in_whatever_format(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada")]).await;
    let (fence, _) = scene.planned(1, vec![drop_references(RowKey::entity(id(1)), &[1])]).await;
    let request = dream_ports::apply::GroupRequest { has_graph: false, ..group(500) };
    scene.store.apply_group(&fence, &request).await.unwrap();
    let outbox = kit.dialect().own("outbox");
    let of_old = r#"[{"verb": "set_node", "entity": "00000000-0000-0000-0000-000000000001", "columns": []}]"#;
    kit.execute(&format!("update {outbox} set verbs = '{of_old}'")).await;
    assert_eq!(waiting(&scene).await, []);
    let rows = scene.store.outbox(&all()).await.unwrap();
    assert_eq!(rows.iter().map(|row| (row.state, row.verbs.len())).collect::<Vec<_>>(), [(OutboxState::NoGraph, 0)]);
    assert_eq!(scene.store.owing(None, 10).await.unwrap(), []);
}

pub async fn a_batch_that_happened_is_closed_and_remembered_for_the_undo(kit: &dyn WorldKit) {
    let scene = told(kit, 3).await;
    let fence = take(&scene).await;
    let store = &scene.store;
    let rows = waiting(&scene).await;
    let answers = [Answer::Done, Answer::Already, Answer::Missing];
    let batch_one: Vec<KeptRow> = rows.iter().zip(answers).map(|(row, answer)| kept(row, 1.0, answer)).collect();
    store.put_off(&fence, &[rows[0].id], "x", Some(INGESTED_AT)).await.unwrap();
    store.keep_batch(&fence, batch(1), &batch_one).await.unwrap();
    let marked = waiting(&scene).await;
    assert!(marked.iter().all(|row| row.batch == Some(batch(1)) && row.state == OutboxState::Open));
    assert_eq!(store.close_batch(&fence, batch(2)).await.unwrap(), 0, "another batch has nothing to do with it");
    assert_eq!(waiting(&scene).await, marked);
    assert_eq!(store.close_batch(&fence, batch(1)).await.unwrap(), 1, "one missed something");
    assert_eq!(store.close_batch(&fence, batch(1)).await.unwrap(), 0, "it is closed once");
    assert_eq!(waiting(&scene).await, []);
    let done = store.outbox(&OutboxFilter { states: vec![OutboxState::Done], ..all() }).await.unwrap();
    let cleared = |row: &OutboxRow| (row.attempts, row.next_at, row.reason.clone(), row.batch) == (0, None, None, None);
    assert!(done.len() == 3 && done.iter().all(cleared), "{done:?}");
    let outbox = kit.dialect().own("outbox");
    let met = kit.rows(&format!("select answer from {outbox} order by id")).await;
    assert_eq!(met, ["done", "already", "missing"].map(|met| [Some(met.to_owned())]));

    let ops: Vec<OpId> = rows.iter().map(|row| row.op).collect();
    let expected: BTreeMap<OpId, GraphRecord> = ops.iter().map(|op| (*op, record(*op, 1.0))).collect();
    assert_eq!(records(&scene, &ops).await, expected);
    scene.undo_ops(1, vec![ops[0]], OnChanged::Keep).await;
    let undo = waiting(&scene).await;
    assert_eq!(records(&scene, &ops[..1]).await.len(), 1, "it stands until the graph has taken it back");
    store.keep_batch(&fence, batch(2), &[kept(&undo[0], 2.0, Answer::Missing)]).await.unwrap();
    assert_eq!(records(&scene, &ops[..1]).await, BTreeMap::from([(ops[0], record(ops[0], 1.0))]));
    assert_eq!(store.close_batch(&fence, batch(2)).await.unwrap(), 1);
    assert_eq!(records(&scene, &ops).await.keys().copied().collect::<Vec<_>>(), {
        let mut left = ops[1..].to_vec();
        left.sort_unstable();
        left
    });
    let behind = store.graph_records_behind(scene.namespace.id, 0, 10).await.unwrap();
    let behind: Vec<_> = behind.into_iter().map(|(_, record)| record).collect();
    assert_eq!(behind, [record(ops[1], 1.0), record(ops[2], 1.0), record(ops[0], 2.0)], "how the undo left it, last");
}

pub async fn a_batch_that_did_not_happen_is_forgotten(kit: &dyn WorldKit) {
    let scene = told(kit, 2).await;
    let fence = take(&scene).await;
    let rows = waiting(&scene).await;
    tell(&scene, &fence, 1, &rows[..1]).await;
    scene.undo_ops(1, vec![rows[0].op], OnChanged::Keep).await;
    let rows = waiting(&scene).await;
    assert_eq!(rows.iter().map(|row| row.direction).collect::<Vec<_>>(), [Direction::Apply, Direction::Undo]);
    let lost: Vec<KeptRow> = rows.iter().map(|row| kept(row, 3.0, Answer::Missing)).collect();
    scene.store.keep_batch(&fence, batch(2), &lost).await.unwrap();
    scene.store.forget_batch(&fence, batch(2)).await.unwrap();
    assert_eq!(waiting(&scene).await, rows, "they come again");
    assert_eq!(scene.store.close_batch(&fence, batch(2)).await.unwrap(), 0);
    let told = records(&scene, &[rows[0].op, rows[1].op]).await;
    assert_eq!(told, BTreeMap::from([(rows[1].op, record(rows[1].op, 1.0))]), "only what happened can be taken back");
}

pub async fn a_batch_that_is_kept_again_replaces_the_earlier_one(kit: &dyn WorldKit) {
    let scene = told(kit, 2).await;
    let fence = take(&scene).await;
    let rows = waiting(&scene).await;
    let keep = async |number, before, answer| {
        let rows: Vec<KeptRow> = rows.iter().map(|row| kept(row, before, answer)).collect();
        scene.store.keep_batch(&fence, batch(number), &rows).await.unwrap();
    };
    keep(1, 1.0, Answer::Missing).await;
    let touched = kit.count("touched").await;
    keep(2, 2.0, Answer::Done).await;
    assert_eq!(kit.count("touched").await, touched);
    assert_eq!(kit.count("graph_record").await, 2);
    assert!(waiting(&scene).await.iter().all(|row| row.batch == Some(batch(2))));
    assert_eq!(scene.store.close_batch(&fence, batch(1)).await.unwrap(), 0);
    assert_eq!(waiting(&scene).await.len(), 2, "the first batch is nobody's any more");
    assert_eq!(scene.store.close_batch(&fence, batch(2)).await.unwrap(), 0, "what it met is what the later says");
    let op = rows[0].op;
    assert_eq!(records(&scene, &[op]).await, BTreeMap::from([(op, record(op, 2.0))]));
}

pub async fn nothing_is_kept_of_rows_that_do_not_wait(kit: &dyn WorldKit) {
    let scene = told(kit, 2).await;
    let fence = take(&scene).await;
    let rows = waiting(&scene).await;
    tell(&scene, &fence, 1, &rows[..1]).await;
    let before = traces(kit).await;
    let again: Vec<KeptRow> = rows.iter().map(|row| kept(row, 9.0, Answer::Done)).collect();
    let refused = scene.store.keep_batch(&fence, batch(2), &again).await;
    assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
    assert_eq!(traces(kit).await, before);
    scene.store.keep_batch(&fence, batch(2), &[]).await.unwrap();
    assert_eq!(traces(kit).await, before);
}

pub async fn a_row_that_failed_is_put_off_and_then_set_aside(kit: &dyn WorldKit) {
    let scene = told(kit, 3).await;
    let fence = take(&scene).await;
    let rows = waiting(&scene).await;
    let ids = [rows[0].id, rows[2].id];
    let later = scene.store.now().await.unwrap().plus_seconds(60);
    scene.store.put_off(&fence, &ids, "unavailable", Some(later)).await.unwrap();
    let seen = |row: &OutboxRow| (row.state, row.attempts, row.next_at.is_some(), row.reason.clone());
    let put_off = waiting(&scene).await;
    assert_eq!(seen(&put_off[0]), (OutboxState::Open, 1, true, Some("unavailable".to_owned())));
    assert_eq!(put_off[2].next_at.map(Moment::micros), Some(later.micros()));
    assert_eq!(put_off[1], rows[1]);
    scene.store.put_off(&fence, &ids[..1], "refused", None).await.unwrap();
    let set_aside = waiting(&scene).await;
    assert_eq!(seen(&set_aside[0]), (OutboxState::Parked, 2, false, Some("refused".to_owned())));
    assert_eq!(set_aside[1..], put_off[1..]);
    scene.store.put_off(&fence, &ids[..1], "again", Some(later)).await.unwrap();
    assert_eq!(waiting(&scene).await, set_aside, "what is set aside stays there until somebody says so");
}

pub async fn what_was_set_aside_is_released_or_dropped(kit: &dyn WorldKit) {
    let scene = told(kit, 4).await;
    let store = &scene.store;
    let fence = take(&scene).await;
    let rows = waiting(&scene).await;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    store.put_off(&fence, &ids[..3], "refused", None).await.unwrap();
    let namespace = scene.namespace.id;
    let elsewhere = Scene::numbered(kit, 2).await.namespace.id;
    assert_eq!(store.release_parked(elsewhere, None, true).await.unwrap(), 0);
    assert_eq!(store.release_parked(namespace, Some(&[]), false).await.unwrap(), 0);
    assert_eq!(store.release_parked(namespace, Some(&[ids[0], ids[3]]), true).await.unwrap(), 1, "the last is open");
    assert_eq!(store.owed_by_run(run(1)).await.unwrap(), (1, 2));
    assert_eq!(store.release_parked(namespace, Some(&ids[1..2]), false).await.unwrap(), 1);
    assert_eq!(store.owed_by_run(run(1)).await.unwrap(), (2, 1));
    assert_eq!(store.release_parked(namespace, None, false).await.unwrap(), 1);
    assert_eq!(store.owed_by_run(run(1)).await.unwrap(), (3, 0));
    assert_eq!(waiting(&scene).await, rows[1..], "as if for the first time");
    let given_up = store.outbox(&OutboxFilter { states: vec![OutboxState::Dropped], ..all() }).await.unwrap();
    let told = given_up.iter().map(|row| (row.id, row.attempts, row.reason.as_deref())).collect::<Vec<_>>();
    assert_eq!(told, [(ids[0], 1, Some("refused"))]);
}

pub async fn a_namespace_owes_what_is_open_and_what_is_set_aside(kit: &dyn WorldKit) {
    let scene = told(kit, 3).await;
    let store = &scene.store;
    let fence = take(&scene).await;
    let other = Scene::numbered(kit, 2).await.with(&[entity(9, "Else")]).await;
    dropped(&other, 2, 9..=9).await;
    let rows = waiting(&scene).await;
    let later = store.now().await.unwrap().plus_seconds(60);
    let owing = async |after| store.owing(after, 10).await.unwrap();
    let expected = |open, parked, next_at| {
        let oldest = if open + parked == 3 { rows[0].written_at } else { rows[1].written_at };
        Owing { namespace: scene.namespace.id, open, parked, oldest, next_at }
    };
    assert_eq!(owing(None).await[0], expected(3, 0, None));
    assert_eq!(owing(None).await[1].namespace, other.namespace.id);
    assert_eq!(store.owing(None, 1).await.unwrap().len(), 1);
    assert_eq!(owing(Some(scene.namespace.id)).await.len(), 1);
    assert_eq!(owing(Some(other.namespace.id)).await, []);
    store.put_off(&fence, &[rows[1].id], "x", Some(later.plus_seconds(60))).await.unwrap();
    assert_eq!(owing(None).await[0], expected(3, 0, None), "two of them at once");
    store.put_off(&fence, &[rows[0].id], "x", None).await.unwrap();
    store.put_off(&fence, &[rows[2].id], "x", Some(later)).await.unwrap();
    assert_eq!(owing(None).await[0], expected(2, 1, Some(later)));
    assert_eq!((store.hurry().await.unwrap(), store.hurry().await.unwrap()), (2, 0));
    assert_eq!(owing(None).await[0], expected(2, 1, None), "what is set aside stays there");
    store.put_off(&fence, &[rows[1].id, rows[2].id], "x", Some(later)).await.unwrap();
    store.release_parked(scene.namespace.id, None, true).await.unwrap();
    assert_eq!(owing(None).await[0], expected(2, 0, Some(later)));
    store.put_off(&fence, &[rows[1].id, rows[2].id], "x", None).await.unwrap();
    assert_eq!(owing(None).await[0], expected(0, 2, None));
    assert_eq!(store.owed_by_run(run(1)).await.unwrap(), (0, 2));
    store.release_parked(scene.namespace.id, None, true).await.unwrap();
    assert_eq!(owing(None).await.len(), 1, "what was given up is owed no more");
    assert_eq!(store.owed_by_run(run(1)).await.unwrap(), (0, 0));
}

pub async fn a_run_that_built_on_an_edge_of_the_graph_is_named(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob"), entity(3, "Cy")]).await;
    let store = &scene.store;
    let fence = take(&scene).await;
    for number in 1..=3 {
        dropped(&scene, number, number..=number).await;
    }
    let rows = waiting(&scene).await;
    tell(&scene, &fence, 1, &rows[..1]).await;
    assert_eq!(store.built_upon_by(run(1), None).await.unwrap(), []);
    tell(&scene, &fence, 2, &rows[1..2]).await;
    assert_eq!(store.built_upon_by(run(1), None).await.unwrap(), [run(2)], "they share an edge that is not here");
    assert_eq!(store.built_upon_by(run(1), Some(rows[0].op)).await.unwrap(), [run(2)]);
    assert_eq!(store.built_upon_by(run(2), None).await.unwrap(), []);
    let touches = store.touches(RowKey::relationship(id(GRAPHS_EDGE)), 10).await.unwrap();
    assert_eq!(touches.iter().map(|touch| touch.op).collect::<Vec<_>>(), [rows[1].op, rows[0].op]);
    scene.undo(2, OnChanged::Keep).await;
    assert_eq!(store.built_upon_by(run(1), None).await.unwrap(), []);
    let undo = waiting(&scene).await.remove(1);
    assert_eq!(undo.direction, Direction::Undo);
    let touched = kit.count("touched").await;
    tell(&scene, &fence, 3, &[undo]).await;
    assert_eq!(kit.count("touched").await, touched, "what an undo puts back, it does not build on");
}

pub async fn content_is_read_as_it_stands(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(2, "Bob"), entity(1, "Ada"), edge(10, 1, 2, "KNOWS")]).await;
    let other = Scene::numbered(kit, 2).await.with(&[entity(9, "Else")]).await;
    let keys = [
        RowKey::relationship(id(10)),
        RowKey::entity(id(2)),
        RowKey::entity(id(1)),
        RowKey::entity(id(9)),
        RowKey::entity(id(99)),
        RowKey { table: Table::Aliases, id: id(1) },
    ];
    let rows = scene.store.content_rows(scene.namespace.id, &keys).await.unwrap();
    assert_eq!(
        rows.iter().map(|row| (row.table, row.id)).collect::<Vec<_>>(),
        [(Table::Entities, id(1)), (Table::Entities, id(2)), (Table::Relationships, id(10)),]
    );
    assert_eq!(rows[0], scene.entity(1).await);
    assert_eq!(rows[2], scene.edge(10).await);
    assert_eq!(scene.store.content_rows(other.namespace.id, &keys).await.unwrap().len(), 1);
    assert_eq!(scene.store.content_rows(other.namespace.id, &[]).await.unwrap(), []);
}

pub async fn swept_runs_take_what_the_graph_held_along(kit: &dyn WorldKit) {
    let scene = Scene::new(kit).await.with(&[entity(1, "Ada"), entity(2, "Bob")]).await;
    dropped(&scene, 1, 1..=1).await;
    dropped(&scene, 2, 2..=2).await;
    let fence = take(&scene).await;
    let rows = waiting(&scene).await;
    tell(&scene, &fence, 1, &rows).await;
    assert_eq!(kit.count("graph_record").await, 2);
    assert_eq!(scene.store.forget(&[run(1)]).await.unwrap(), 1);
    let left = records(&scene, &[rows[0].op, rows[1].op]).await;
    assert_eq!(left.keys().copied().collect::<Vec<_>>(), [rows[1].op]);
    assert_eq!(kit.count("graph_record").await, 1);
}

pub async fn a_run_that_owes_the_graph_is_not_swept(kit: &dyn WorldKit) {
    let scene = told(kit, 2).await;
    let store = &scene.store;
    let tomorrow = store.now().await.unwrap().plus_seconds(86_400);
    let fence = take(&scene).await;
    let rows = waiting(&scene).await;
    let is_kept = async || {
        let none = store.sweepable(tomorrow, 10).await.unwrap().is_empty();
        none && store.forget(&[run(1)]).await.unwrap() == 0
    };
    assert!(is_kept().await, "two rows are open");
    tell(&scene, &fence, 1, &rows[..1]).await;
    store.put_off(&fence, &[rows[1].id], "refused", None).await.unwrap();
    assert!(is_kept().await, "one was set aside");
    store.release_parked(scene.namespace.id, None, true).await.unwrap();
    assert_eq!(store.sweepable(tomorrow, 10).await.unwrap().len(), 1);
    assert_eq!(store.forget(&[run(1)]).await.unwrap(), 1);
    assert_eq!((kit.count("outbox").await, kit.count("graph_record").await), (0, 0));
}
