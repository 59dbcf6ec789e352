//! A writer that ingests as Khora does, beside a run that applies thousands of ops: none of its updates is lost, none of its
//! batches fails or waits for long.
//!
//! The lock of ingestion puts batches and groups into one order. The order is written down on both sides by the server's
//! clock, and replayed in memory afterwards: what the tables hold must be what the replay says.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dream_core::change::{Column, Row, Value};
use dream_core::clock::Moment;
use dream_core::id::NamespaceId;
use dream_core::op::{Draft, Intent, OpState};
use dream_ports::apply::{GroupOutcome, GroupRequest};
use dream_ports::plan::OpFilter;
use dream_ports::run::Fence;
use dream_ports::transfer::OnNameClash;
use dream_ports::{ApplyStore as _, PlanStore as _, StoreError, TransferStore as _};
use dream_store_pg::PgStore;
use dream_store_suite::actor::{group, merge, run};
use dream_store_suite::kit::WorldKit as _;
use dream_store_suite::world::{Scene, edge, entity, id, vector};
use sqlx::{Connection as _, PgConnection, Row as _};

use crate::kit::{PgKit, khoras, own};

/// Upserts in one of Khora's batches.
const BATCH: usize = 10;

/// A batch must be through so long after it was due.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// Batches that are written however soon the run is done.
const BATCHES_MIN: usize = 3;

/// What a group aims at, as the activity does.
const GROUP_TIME_AIM: Duration = Duration::from_millis(200);

/// Rows of one import.
const IMPORT_BATCH: usize = 1_000;

/// How much is done, and how fast.
struct Load {
    /// Merges, each of two entities.
    merges: u128,
    /// Time from one batch to the next.
    batch_every: Duration,
}

fn name(number: u128) -> String {
    format!("Person {number}")
}

/// Pairs of entities to be merged, with an edge from each to its neighbour.
async fn world<'k>(kit: &'k PgKit, load: &Load) -> Scene<'k> {
    let scene = Scene::new(kit).await;
    let namespace = scene.namespace.id;
    let entities: Vec<Row> = (1..=2 * load.merges)
        .map(|number| {
            let axis = usize::try_from(number % 300).unwrap();
            entity(number, &name(number)).with(Column::Embedding, vector(axis, 0.1))
        })
        .collect();
    for rows in entities.chunks(IMPORT_BATCH) {
        kit.store.import_entities(namespace, rows, OnNameClash::Skip).await.unwrap();
    }
    let edges: Vec<Row> =
        (1..2 * load.merges).map(|number| edge(1_000_000 + number, number, number + 1, "KNOWS")).collect();
    for rows in edges.chunks(IMPORT_BATCH) {
        kit.store.import_relationships(namespace, rows).await.unwrap();
    }
    kit.execute("analyze entities, relationships").await;
    scene
}

/// One update of the writer.
#[derive(Clone, Debug)]
struct Write {
    at: Moment,
    entity: u128,
    mention_count: i64,
    description: String,
    axis: usize,
}

/// What the writer did.
#[derive(Default)]
struct Written {
    writes: Vec<Write>,
    slowest: Duration,
    batches: usize,
}

/// Numbers that look like chance and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u128) -> u128 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u128::from(self.0) % end
    }
}

/// As Khora's upsert: what was retired lives again, and counts, vector and description are overwritten.
const UPSERT: &str = "
    insert into entities (id, namespace_id, name, entity_type, description, mention_count, embedding, embedding_model, updated_at)
    select x.id, $1, x.name, 'PERSON', x.description, x.mention_count, x.embedding::vector, 'test-model', clock_timestamp()
      from unnest($2::uuid[], $3::text[], $4::text[], $5::integer[], $6::text[])
           as x (id, name, description, mention_count, embedding)
    on conflict (namespace_id, name, entity_type) do update
       set description = excluded.description, mention_count = excluded.mention_count, embedding = excluded.embedding,
           embedding_model = excluded.embedding_model, valid_until = excluded.valid_until, updated_at = excluded.updated_at
    returning (extract(epoch from updated_at) * 1000000)::bigint as at, name";

async fn upsert(connection: &mut PgConnection, namespace: NamespaceId, batch: &[Write]) -> Vec<(String, Moment)> {
    let (high, low) = namespace.0.as_u64_pair();
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    let fold = |half: u64| i32::from_be_bytes(((half ^ (half >> 32)) as u32).to_be_bytes());
    let mut tx = connection.begin().await.unwrap();
    sqlx::query("select pg_advisory_xact_lock($1, $2)")
        .bind(fold(high))
        .bind(fold(low))
        .execute(&mut *tx)
        .await
        .unwrap();
    let spelled = |write: &Write| {
        let vector = vector(write.axis, 0.2);
        let components: Vec<String> = vector.vector().unwrap().iter().map(f32::to_string).collect();
        format!("[{}]", components.join(","))
    };
    let rows = sqlx::query(UPSERT)
        .bind(namespace.0)
        .bind(batch.iter().map(|write| id(write.entity)).collect::<Vec<_>>())
        .bind(batch.iter().map(|write| name(write.entity)).collect::<Vec<_>>())
        .bind(batch.iter().map(|write| write.description.clone()).collect::<Vec<_>>())
        .bind(batch.iter().map(|write| i32::try_from(write.mention_count).unwrap()).collect::<Vec<_>>())
        .bind(batch.iter().map(spelled).collect::<Vec<_>>())
        .fetch_all(&mut *tx)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    rows.iter().map(|row| (row.get("name"), Moment::from_micros(row.get("at")))).collect()
}

/// Writes batch after batch, a few at least, until it is told to stop; each is timed from when it was due.
async fn ingest(
    url: String,
    namespace: NamespaceId,
    people: u128,
    every: Duration,
    stop: tokio::sync::oneshot::Receiver<()>,
) -> Written {
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let mut written = Written::default();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut ticks = tokio::time::interval(every);
    let mut stop = std::pin::pin!(stop);
    loop {
        let due = tokio::select! {
            due = ticks.tick() => due,
            _ = &mut stop, if written.batches >= BATCHES_MIN => return written,
        };
        let mut batch: BTreeMap<u128, Write> = BTreeMap::new();
        while batch.len() < BATCH {
            let entity = 1 + dice.below(people);
            let number = written.writes.len() + batch.len();
            let write = Write {
                at: Moment::from_micros(0),
                entity,
                mention_count: i64::try_from(1 + dice.below(9)).unwrap(),
                description: format!("as of write {number}"),
                axis: number % 300,
            };
            batch.insert(entity, write);
        }
        let mut batch: Vec<Write> = batch.into_values().collect();
        let times: BTreeMap<String, Moment> = upsert(&mut connection, namespace, &batch).await.into_iter().collect();
        for write in &mut batch {
            write.at = times[&name(write.entity)];
        }
        written.writes.extend(batch);
        written.slowest = written.slowest.max(due.elapsed());
        written.batches += 1;
    }
}

/// Applies all of a plan in groups that aim at a time, as the activity does.
async fn apply(store: &PgStore, fence: &Fence) -> Duration {
    let started = Instant::now();
    let mut request: GroupRequest = group(32);
    loop {
        let group_started = Instant::now();
        match store.apply_group(fence, &request).await {
            Ok(GroupOutcome::Committed { .. }) => {
                let took = group_started.elapsed();
                if took > GROUP_TIME_AIM {
                    request.ops_max = (request.ops_max / 2).max(1);
                } else if took < GROUP_TIME_AIM / 2 {
                    request.ops_max = (request.ops_max * 2).min(500);
                }
            }
            Ok(GroupOutcome::Nothing) => return started.elapsed(),
            Err(StoreError::Busy { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// A row as the replay has it.
#[derive(Clone, Debug, PartialEq)]
struct Person {
    mention_count: i64,
    is_live: bool,
    description: String,
    axis: Option<usize>,
}

/// Something that happened, in the order of the server's clock; ops of one group by their place.
enum Event {
    Write(Write),
    Merge { keep: u128, absorbed: u128 },
}

async fn events(store: &PgStore, written: &Written) -> Vec<Event> {
    let mut events: Vec<((Moment, u32), Event)> =
        written.writes.iter().map(|write| ((write.at, 0), Event::Write(write.clone()))).collect();
    let ops = store.ops(run(1), &OpFilter { limit: u32::MAX, ..OpFilter::default() }).await.unwrap();
    for record in ops {
        assert_eq!(
            record.op.state,
            OpState::Applied,
            "no name changed and no vector was relied on: {:?}",
            record.op.reason
        );
        let Intent::MergeEntities { keep, absorb } = record.op.draft.intent else { panic!("only merges") };
        let number = |entity: uuid::Uuid| entity.as_u128() - id(0).as_u128();
        let merge = Event::Merge { keep: number(keep), absorbed: number(absorb[0]) };
        events.push(((record.applied_at.unwrap(), record.op.seq), merge));
    }
    events.sort_by_key(|(place, _)| *place);
    events.into_iter().map(|(_, event)| event).collect()
}

fn replay(people: u128, events: Vec<Event>) -> BTreeMap<u128, Person> {
    let born = |number| Person {
        mention_count: 1,
        is_live: true,
        description: format!("About {}.", name(number)),
        axis: None,
    };
    let mut world: BTreeMap<u128, Person> = (1..=people).map(|number| (number, born(number))).collect();
    for event in events {
        match event {
            Event::Write(write) => {
                let person = world.get_mut(&write.entity).unwrap();
                *person = Person {
                    mention_count: write.mention_count,
                    is_live: true,
                    description: write.description,
                    axis: Some(write.axis),
                };
            }
            Event::Merge { keep, absorbed } => {
                let taken = world[&absorbed].mention_count;
                world.get_mut(&absorbed).unwrap().is_live = false;
                world.get_mut(&keep).unwrap().mention_count += taken;
            }
        }
    }
    world
}

async fn beside_an_ingesting_writer(kit: PgKit, load: Load) {
    let scene = world(&kit, &load).await;
    let people = 2 * load.merges;
    let drafts: Vec<Draft> = premised_merges(&scene, load.merges).await;
    let (fence, plan) = scene.planned(1, drafts).await;
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let namespace = scene.namespace.id;
    let writer = tokio::spawn(ingest(kit.database.url.clone(), namespace, people, load.batch_every, stopped));
    let took = apply(&kit.store, &fence).await;
    stop.send(()).unwrap();
    let written = writer.await.unwrap();

    let expected = replay(people, events(&kit.store, &written).await);
    let mut seen = 0;
    let rows =
        kit.rows("select name, mention_count, valid_until is null, description, embedding::text from entities").await;
    for row in rows {
        let text = |at: usize| row[at].as_deref().unwrap();
        let number: u128 = text(0).strip_prefix("Person ").unwrap().parse().unwrap();
        let person = &expected[&number];
        assert_eq!(text(1).parse::<i64>().unwrap(), person.mention_count, "mentions of person {number}");
        assert_eq!(text(2) == "t", person.is_live, "life of person {number}");
        assert_eq!(text(3), person.description, "description of person {number}");
        if let Some(axis) = person.axis {
            let Value::Vector(vector) = vector(axis, 0.2) else { unreachable!() };
            let expected: Vec<String> = vector.iter().map(f32::to_string).collect();
            assert_eq!(text(4), format!("[{}]", expected.join(",")), "vector of person {number}");
        }
        seen += 1;
    }
    assert_eq!(seen, people);
    println!(
        "{} merges in {took:.1?}, beside {} batches of {BATCH}; the slowest batch was through {:.0?} after it was due",
        plan.ops.len(),
        written.batches,
        written.slowest
    );
    assert!(written.slowest < WAIT_MAX, "a batch waited {:?}", written.slowest);
    kit.close().await;
}

/// Merges of neighbours, each relying on both names.
async fn premised_merges(scene: &Scene<'_>, merges: u128) -> Vec<Draft> {
    let key = scene.store.text_key().await.unwrap();
    let premise = |number: u128| dream_core::op::Premise::EntityNamed {
        entity: id(number),
        name_and_type: dream_core::verdict::name_key(&key, &name(number), "PERSON"),
    };
    (1..=merges)
        .map(|number| merge(2 * number - 1, &[2 * number], vec![premise(2 * number - 1), premise(2 * number)]))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_of_an_ingesting_writer_is_lost() {
    // A hundred upserts a second.
    beside_an_ingesting_writer(own().await, Load { merges: 5_000, batch_every: Duration::from_millis(100) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost_beside_khoras_vector_indexes_either() {
    // Each update of an entity costs milliseconds there, for the writer as for the run.
    beside_an_ingesting_writer(khoras().await, Load { merges: 200, batch_every: Duration::from_millis(400) }).await;
}
