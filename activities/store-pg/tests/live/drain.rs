//! What only a server can show of drainers: the fence is a lock, not a look.

use dream_core::change::RowKey;
use dream_core::mirror::{Answer, GraphRecord};
use dream_core::undo::UndoRecord;
use dream_ports::mirror::{KeptRow, OutboxFilter};
use dream_ports::{MirrorStore as _, StoreError};
use dream_store_suite::actor::drop_references;
use dream_store_suite::kit::WorldKit;
use dream_store_suite::world::{Scene, entity, id};
use uuid::Uuid;

use crate::kit::own;
use crate::server::{say, stranger, until_waiting};

const BATCH: Uuid = Uuid::from_u128(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_takes_a_queue_over_waits_for_the_batch_in_flight() {
    let kit = own().await;
    let scene = Scene::new(&kit).await.with(&[entity(1, "Ada")]).await;
    scene.dream(1, vec![drop_references(RowKey::entity(id(1)), &[1])]).await;
    let namespace = scene.namespace.id;
    let row = scene.store.outbox(&OutboxFilter { limit: 1, ..OutboxFilter::default() }).await.unwrap().remove(0);
    let record = GraphRecord {
        op: row.op,
        at: row.written_at,
        undo: UndoRecord { changes: Vec::new() },
        ends: std::collections::BTreeMap::new(),
        removed: Vec::new(),
        retired: Vec::new(),
    };
    let kept = KeptRow { id: row.id, op: row.op, direction: row.direction, record, answer: Answer::Done };
    let fence = kit.store.begin_drain(namespace, "first").await.unwrap().unwrap();
    (&kit as &dyn WorldKit).expire_drainers().await;

    let mut blocker = stranger(&kit).await;
    say(&mut blocker, "begin").await;
    say(&mut blocker, "select 1 from dream.outbox for update").await;
    let store = kit.store();
    let keep = tokio::spawn(async move { store.keep_batch(&fence, BATCH, &[kept]).await });
    let mut looker = stranger(&kit).await;
    until_waiting(&mut looker, "transactionid", 1).await;
    let store = kit.store();
    let take_over = tokio::spawn(async move { store.begin_drain(namespace, "second").await });
    until_waiting(&mut looker, "transactionid", 2).await;
    say(&mut blocker, "rollback").await;
    keep.await.unwrap().unwrap();
    let next = take_over.await.unwrap().unwrap().expect("the first one's time is over");
    assert!(next.epoch > fence.epoch);
    let late = kit.store.close_batch(&fence, BATCH).await;
    assert!(matches!(&late, Err(StoreError::Busy { code, .. }) if code == "drainer_lost"), "{late:?}");
    let row = scene.store.outbox(&OutboxFilter { limit: 1, ..OutboxFilter::default() }).await.unwrap().remove(0);
    assert_eq!(row.batch, Some(BATCH), "it sees what was committed");
    kit.close().await;
}
