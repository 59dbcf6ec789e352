//! What only a server can show: locks of others, attempts that overtake each other, lost connections, poolers.

use std::sync::Arc;
use std::time::Duration;

use dream_core::change::{Column, RowKey};
use dream_core::id::{NamespaceId, StableNamespaceId};
use dream_core::run::RunState;
use dream_core::undo::OnChanged;
use dream_ports::apply::{GroupOutcome, UndoRequest};
use dream_ports::run::{Begun, Closing, Fence};
use dream_ports::{ApplyStore as _, RunStore as _, Store, StoreError};
use dream_store_pg::PgStore;
use dream_store_suite::actor::{drop_references, group, run};
use dream_store_suite::kit::{NamespaceSeed, WorldKit, assert_same};
use dream_store_suite::world::{Scene, edge, entity, id};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use uuid::Uuid;

use crate::kit::{Database, PgKit, khoras, own};

/// The keys under which ingestion and dreams of Khora lock the namespaces of [`dreamt`], worked out by Khora's own code.
const INGEST_KEYS: (i32, i32) = (-1_149_286_509, -993_926_282);
const ROW_ID: &str = "48140776-f36b-40e5-8e98-a60e4a594578";
const DREAM_KEYS: [i64; 2] = [-5_504_846_028_104_013_185, 821_025_171_943_902_335];
const STABLE_ID: &str = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/// A namespace whose ids have known keys, with a run that has one op to apply.
async fn dreamt(kit: &PgKit) -> (Scene<'_>, Fence) {
    let seed = NamespaceSeed {
        id: NamespaceId(ROW_ID.parse().unwrap()),
        stable_id: StableNamespaceId(STABLE_ID.parse().unwrap()),
        version: 1,
        is_active: true,
        config_overrides: "{}".to_owned(),
    };
    kit.insert_namespace(&seed).await;
    let store = kit.store();
    let namespace = store.resolve_namespace(seed.id.0).await.unwrap();
    let scene = Scene { kit, store, namespace }.with(&[entity(1, "Ada"), entity(2, "Bob")]).await;
    let drafts = (1..=2).map(|number| drop_references(RowKey::entity(id(number)), &[number])).collect();
    let (fence, _) = scene.planned(1, drafts).await;
    (scene, fence)
}

pub(crate) async fn stranger(kit: &PgKit) -> PgConnection {
    PgConnection::connect(&kit.database.url).await.unwrap()
}

pub(crate) async fn say(connection: &mut PgConnection, statement: &str) {
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await.unwrap();
}

/// Returns once `waiting` sessions of this database wait for a lock of this type.
pub(crate) async fn until_waiting(connection: &mut PgConnection, lock_type: &str, waiting: i64) {
    loop {
        let found: i64 = sqlx::query_scalar(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)
              where not l.granted and l.locktype = $1 and a.datname = current_database()",
        )
        .bind(lock_type)
        .fetch_one(&mut *connection)
        .await
        .unwrap();
        if found >= waiting {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Applies a group in a task of its own.
fn applying(store: Arc<dyn Store>, fence: &Fence) -> tokio::task::JoinHandle<Result<GroupOutcome, StoreError>> {
    let fence = fence.clone();
    tokio::spawn(async move { store.apply_group(&fence, &group(500)).await })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_waits_its_turn_behind_ingestion() {
    let kit = own().await;
    let (scene, fence) = dreamt(&kit).await;
    let mut ingestion = stranger(&kit).await;
    say(&mut ingestion, "begin").await;
    say(&mut ingestion, &format!("select pg_advisory_xact_lock({}, {})", INGEST_KEYS.0, INGEST_KEYS.1)).await;
    let group = applying(kit.store(), &fence);
    until_waiting(&mut stranger(&kit).await, "advisory", 1).await;
    // The lease is not held shut meanwhile: the heartbeat goes on.
    scene.store.renew(&fence).await.unwrap();
    say(&mut ingestion, &format!("update entities set name = 'Somebody else' where id = '{}'", id(2))).await;
    say(&mut ingestion, "commit").await;
    let outcome = group.await.unwrap().unwrap();
    assert!(matches!(outcome, GroupOutcome::Committed { seq: 2, .. }), "{outcome:?}");
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_never_gets_its_turn_is_busy() {
    let kit = own().await;
    let (scene, fence) = dreamt(&kit).await;
    let content = kit.content().await;
    let mut ingestion = stranger(&kit).await;
    say(&mut ingestion, "begin").await;
    say(&mut ingestion, &format!("select pg_advisory_xact_lock({}, {})", INGEST_KEYS.0, INGEST_KEYS.1)).await;
    let outcome = scene.apply_group(&fence, 500).await;
    assert!(matches!(&outcome, Err(StoreError::Busy { code, .. }) if code == "55P03"), "{outcome:?}");
    assert_same(&kit.content().await, &content, "nothing was changed");
    say(&mut ingestion, "rollback").await;
    assert_eq!(scene.apply_all(&fence).await.len(), 2);
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_was_given_up_keeps_nobody_out() {
    let kit = own().await;
    let (scene, fence) = dreamt(&kit).await;
    assert_eq!(scene.apply_all(&fence).await.len(), 2);
    for _ in 0..100 {
        // Each is rolled back; the next one meets its locks if that is not over yet.
        assert_eq!(scene.apply_group(&fence, 500).await.unwrap(), GroupOutcome::Nothing);
    }
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_khora_left_is_taken_over_while_it_dreams() {
    let kit = khoras().await;
    let (scene, _) = dreamt(&kit).await;
    let entry =
        format!(r#"[{{"op_seq": 0, "op_id": "x", "payload": {{"retire_entity_ids": ["{}"]}}}}]"#, Uuid::from_u128(1));
    kit.execute(&format!(
        "insert into khora_dream_runs (run_id, namespace_id, trigger, mode, state, started_at, heartbeat_at, \
                                       graph_mirror_pending)
         values (gen_random_uuid(), '{STABLE_ID}', 'manual', 'apply', 'applying', now(), now(), '{entry}')"
    ))
    .await;
    let adopt = async || {
        let adopted = scene.store.adopt(scene.namespace.id).await.unwrap();
        (adopted.entries, adopted.waits_for_khora)
    };
    let mut khora = stranger(&kit).await;
    for key in DREAM_KEYS {
        say(&mut khora, "begin").await;
        say(&mut khora, &format!("select pg_advisory_xact_lock({key})")).await;
        assert_eq!(adopt().await, (0, true), "{key}");
        say(&mut khora, "rollback").await;
    }
    let adopted = futures::future::join_all((0..4).map(|_| adopt())).await;
    assert_eq!(
        adopted.iter().map(|adopted| adopted.0).sum::<u64>(),
        1,
        "of many at once one takes it over: {adopted:?}"
    );
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dream_of_khoras_by_either_id_makes_groups_yield() {
    let kit = own().await;
    let (scene, fence) = dreamt(&kit).await;
    let content = kit.content().await;
    let mut khora = stranger(&kit).await;
    for key in DREAM_KEYS {
        say(&mut khora, "begin").await;
        say(&mut khora, &format!("select pg_advisory_xact_lock({key})")).await;
        assert_eq!(scene.apply_group(&fence, 500).await.unwrap(), GroupOutcome::KhoraDreams, "{key}");
        assert_same(&kit.content().await, &content, key);
        say(&mut khora, "rollback").await;
    }
    assert_eq!(scene.apply_all(&fence).await.len(), 2);
    scene.close(&fence).await;

    say(&mut khora, "begin").await;
    say(&mut khora, &format!("select pg_advisory_xact_lock({})", DREAM_KEYS[0])).await;
    let undoing = scene.store.fence_for_undo(run(1), "u").await.unwrap();
    let ops = scene.ops(1).await.iter().map(|record| record.op.id).collect();
    let undo = UndoRequest { run: run(1), ops, on_changed: OnChanged::Keep, dry_run: false, has_graph: false };
    let refused = scene.store.undo_group(&undoing, &undo).await;
    assert!(matches!(refused, Err(StoreError::Busy { .. })), "an undo waits as well: {refused:?}");
    say(&mut khora, "rollback").await;
    assert_eq!(scene.store.undo_group(&undoing, &undo).await.unwrap().undone, 2);
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dream_of_ours_keeps_khoras_out() {
    let kit = own().await;
    let (_scene, fence) = dreamt(&kit).await;
    let mut blocker = stranger(&kit).await;
    say(&mut blocker, "begin").await;
    say(&mut blocker, &format!("select 1 from entities where id = '{}' for update", id(1))).await;
    let group = applying(kit.store(), &fence);
    let mut khora = stranger(&kit).await;
    until_waiting(&mut khora, "transactionid", 1).await;
    for key in DREAM_KEYS {
        let is_free: bool =
            sqlx::query_scalar("select pg_try_advisory_xact_lock($1)").bind(key).fetch_one(&mut khora).await.unwrap();
        assert!(!is_free, "{key}");
    }
    say(&mut blocker, "rollback").await;
    group.await.unwrap().unwrap();
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_overtaken_while_it_waits_writes_nothing() {
    let kit = own().await;
    let (scene, asleep) = dreamt(&kit).await;
    let content = kit.content().await;
    let mut ingestion = stranger(&kit).await;
    say(&mut ingestion, "begin").await;
    say(&mut ingestion, &format!("select pg_advisory_xact_lock({}, {})", INGEST_KEYS.0, INGEST_KEYS.1)).await;
    let group = applying(kit.store(), &asleep);
    until_waiting(&mut stranger(&kit).await, "advisory", 1).await;
    let awake = scene.store.fence(asleep.run, "next attempt").await.unwrap();
    say(&mut ingestion, "rollback").await;
    let outcome = group.await.unwrap();
    assert!(matches!(outcome, Err(StoreError::LeaseLost { .. })), "{outcome:?}");
    assert_same(&kit.content().await, &content, "nothing was changed");
    assert_eq!(scene.apply_all(&awake).await.len(), 2);
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_takes_a_target_over_waits_for_the_group_in_flight() {
    let kit = own().await;
    let (scene, fence) = dreamt(&kit).await;
    let mut blocker = stranger(&kit).await;
    say(&mut blocker, "begin").await;
    say(&mut blocker, &format!("select 1 from entities where id = '{}' for update", id(1))).await;
    let group = applying(kit.store(), &fence);
    let mut looker = stranger(&kit).await;
    until_waiting(&mut looker, "transactionid", 1).await;
    let (store, taken) = (kit.store(), fence.run);
    let take_over = tokio::spawn(async move { store.fence(taken, "next attempt").await });
    let (store, beginning) = (kit.store(), scene.beginning(2));
    let begin = tokio::spawn(async move { store.begin(&beginning).await });
    until_waiting(&mut looker, "transactionid", 2).await;
    say(&mut blocker, "rollback").await;
    let outcome = group.await.unwrap().unwrap();
    assert!(matches!(outcome, GroupOutcome::Committed { seq: 2, .. }), "{outcome:?}");
    let next = take_over.await.unwrap().unwrap();
    assert!(next.epoch > fence.epoch);
    assert!(matches!(begin.await.unwrap().unwrap(), Begun::Refused(_)));
    assert_eq!(scene.apply_group(&next, 500).await.unwrap(), GroupOutcome::Nothing, "it sees what was committed");
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_closed_during_a_group_lets_the_group_end() {
    let kit = own().await;
    let (scene, fence) = dreamt(&kit).await;
    let mut blocker = stranger(&kit).await;
    say(&mut blocker, "begin").await;
    say(&mut blocker, &format!("select 1 from entities where id = '{}' for update", id(1))).await;
    let group = applying(kit.store(), &fence);
    let mut looker = stranger(&kit).await;
    until_waiting(&mut looker, "transactionid", 1).await;
    let (store, closed) = (kit.store(), fence.run);
    let close = tokio::spawn(async move { store.close(closed, RunState::Cancelled, &Closing::default()).await });
    until_waiting(&mut looker, "transactionid", 2).await;
    say(&mut blocker, "rollback").await;
    group.await.unwrap().unwrap();
    close.await.unwrap().unwrap();
    let record = scene.store.run(fence.run).await.unwrap();
    assert_eq!((record.state, record.last_committed_seq), (RunState::Cancelled, 2), "no deadlock, no half");
    kit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_dies_in_a_group_is_told_and_nothing_is_half_done() {
    let kit = own().await;
    let (scene, fence) = dreamt(&kit).await;
    let content = kit.content().await;
    let mut blocker = stranger(&kit).await;
    say(&mut blocker, "begin").await;
    say(&mut blocker, &format!("select 1 from entities where id = '{}' for update", id(2))).await;
    let group = applying(kit.store(), &fence);
    until_waiting(&mut stranger(&kit).await, "transactionid", 1).await;
    say(
        &mut stranger(&kit).await,
        "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    )
    .await;
    let outcome = group.await.unwrap();
    assert!(outcome.as_ref().is_err_and(StoreError::is_transient), "{outcome:?}");
    say(&mut blocker, "rollback").await;
    assert_same(&kit.content().await, &content, "nothing was changed");
    assert_eq!(scene.apply_all(&fence).await.len(), 2);
    kit.close().await;
}

/// Every connection of a store as a pooler leaves it between two transactions.
async fn discard(store: &PgStore) {
    let mut connections = Vec::new();
    while let Some(connection) = store.pool().try_acquire() {
        connections.push(connection);
    }
    for connection in &mut connections {
        sqlx::raw_sql("discard all").execute(&mut **connection).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_relies_on_what_a_session_remembers() {
    let kit = khoras().await;
    // What an operator may set for everybody, and a dream must not inherit.
    let name = kit.database.url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    for setting in [
        "default_transaction_isolation = 'serializable'",
        "lock_timeout = '1ms'",
        "idle_in_transaction_session_timeout = '700ms'",
        "timezone = 'Asia/Tokyo'",
        "datestyle = 'SQL, DMY'",
        "extra_float_digits = 0",
    ] {
        kit.execute(&format!("alter database {name} set {setting}")).await;
    }
    let worker = kit.database.open().await;
    let scene = Scene { store: Arc::new(worker.clone()), ..Scene::new(&kit).await }
        .with(&[entity(1, "Ada"), entity(2, "Ada L."), edge(10, 2, 1, "IS")])
        .await;
    let draft = scene.merge(1, &[2]).await;
    discard(&worker).await;
    let Begun::Holds { fence, .. } = worker.begin(&scene.beginning(1)).await.unwrap() else { panic!("it holds") };
    discard(&worker).await;
    scene.seal(&fence, vec![draft]).await;
    for _ in 0..2 {
        worker.renew(&fence).await.unwrap();
        discard(&worker).await;
    }
    let mut snapshot = dream_ports::ContentStore::snapshot(&worker, scene.namespace.id).await.unwrap();
    snapshot.entities(&mut |_| ()).await.unwrap();
    drop(snapshot);
    discard(&worker).await;
    let outcome = worker.apply_group(&fence, &group(500)).await.unwrap();
    assert!(matches!(outcome, GroupOutcome::Committed { seq: 1, .. }), "{outcome:?}");
    discard(&worker).await;
    let retired = dream_ports::ContentStore::row(&worker, RowKey::entity(id(2))).await.unwrap().unwrap();
    let until = retired.get(Column::ValidUntil).time().unwrap();
    assert!(worker.now().await.unwrap().seconds_since(until) < 60, "a moment is a moment in any time zone");
    let leftovers = kit.rows("select count(*) from pg_locks where locktype = 'advisory'").await;
    assert_eq!(leftovers, [[Some("0".to_owned())]], "no lock outlives its transaction");
    worker.close().await;
    kit.close().await;
}

/// Columns, constraints, indexes and triggers of everything that is not ours.
const SCHEMA: &str = "
    select 'column', table_name || '.' || column_name, data_type || coalesce(column_default, '') || is_nullable
      from information_schema.columns where table_schema = 'public'
    union all
    select 'index', indexname::text, indexdef from pg_indexes where schemaname = 'public'
    union all
    select 'constraint', conname::text, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select 'trigger', tgname::text, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    order by 1, 2, 3";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn khoras_tables_are_never_altered() {
    let database = Database::new().await;
    let store = database.open().await;
    sqlx::raw_sql(dream_store_suite::KHORA_POSTGRES).execute(store.pool()).await.unwrap();
    // An index that an operator dropped on purpose stays dropped.
    sqlx::raw_sql("drop index ix_chunks_document_id").execute(store.pool()).await.unwrap();
    let schema = async || sqlx::query_as::<_, (String, String, String)>(SCHEMA).fetch_all(store.pool()).await.unwrap();
    let before = schema().await;
    assert!(before.len() > 100);
    store.migrate(true).await.unwrap();
    assert_eq!(schema().await, before);
    assert!(store.probe().await.unwrap().is_migrated);
    store.close().await;
    database.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_that_start_at_once_bring_the_tables_up_to_date_once() {
    let database = Database::new().await;
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let store = database.open().await;
        assert!(!store.probe().await.unwrap().is_migrated);
        workers.spawn(async move {
            store.migrate(true).await.unwrap();
            store.text_key().await.unwrap().0
        });
    }
    let keys = workers.join_all().await;
    assert!(keys.iter().all(|key| *key == keys[0]), "one key for all");
    let store = database.open().await;
    let capabilities = store.probe().await.unwrap();
    assert!(capabilities.is_migrated && capabilities.missing_columns.is_empty(), "{capabilities:?}");
    assert_eq!(capabilities.dimension, None, "the first vector will say");
    store.close().await;
    database.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_cannot_be_used_says_which_way() {
    let database = Database::new().await;
    let store = database.open().await;
    let unmigrated = store.run(run(1)).await;
    assert!(matches!(unmigrated, Err(StoreError::NotMigrated)), "{unmigrated:?}");
    let unmigrated = store.resolve_namespace(Uuid::nil()).await;
    assert!(matches!(unmigrated, Err(StoreError::NotMigrated)), "{unmigrated:?}");
    store.migrate(true).await.unwrap();
    let role = format!("dream_test_reader_{}", std::process::id());
    let statement = format!(
        "create role {role} login password 'p'; grant usage on schema dream to {role}; grant select on all tables in schema dream to {role}"
    );
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(store.pool()).await.unwrap();
    let (scheme, rest) = database.url.split_once("://").unwrap();
    let (_, address) = rest.rsplit_once('@').unwrap();
    let reader = PgStore::open(&format!("{scheme}://{role}:p@{address}"), 1).await.unwrap();
    let refused = reader.set_stop(None, Some(("x", "y"))).await;
    assert!(matches!(&refused, Err(StoreError::Unfit { code, .. }) if code == "42501"), "{refused:?}");
    let password = PgStore::open(&format!("{scheme}://{role}:wrong@{address}"), 1).await.err().unwrap();
    assert!(matches!(&password, StoreError::Unfit { code, .. } if code == "28P01"), "{password:?}");
    let nonsense = PgStore::open("postgres://host:not-a-port/x", 1).await.err().unwrap();
    assert!(!format!("{nonsense} {nonsense:?}").contains("not-a-port"), "{nonsense:?}");
    reader.close().await;
    let statement = format!("drop owned by {role}; drop role {role}");
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(store.pool()).await.unwrap();
    store.close().await;
    database.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_is_unavailable() {
    let refused = tokio::time::timeout(Duration::from_secs(30), PgStore::open("postgres://x:y@127.0.0.1:1/z", 1));
    let refused = refused.await.unwrap().err().unwrap();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
}
