//! kill -9 of the worker and of the database, at every boundary and between them: nothing is lost, nothing is done twice.

use std::time::{Duration, Instant};

use dream_workflows::contract::Reported;
use serde_json::json;
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;

use crate::lab::{Lab, history, input, result};
use crate::support::world::{Chance, World, timeless};

/// The id of the runs, so that all of them write the same.
const RUN: &str = "01900000-0000-7000-8000-000000000002";

/// Labs that are disturbed at once; each waits most of its time for a silent worker to be given up.
const AT_ONCE: usize = 4;

/// What an undisturbed run leaves.
struct Calm {
    lines: String,
    content: String,
    reported: Reported,
    activities: usize,
}

impl Calm {
    async fn of(entities: usize) -> Self {
        let lines = World::new(entities).lines();
        let lab = Lab::with(&lines).await;
        let _worker = lab.worker(&[]);
        let handle = lab.start(input(json!({ "mode": "apply", "run_id": RUN }))).await;
        let reported = result(&handle).await.unwrap();
        let activities = completed(&history(&handle).await);
        Self { lines, content: timeless(&lab.content()), reported, activities }
    }

    fn is_left_by(&self, lab: &Lab, reported: &Reported, what: &str) {
        assert_eq!(reported.ops, self.reported.ops, "{what}: no op twice, none lost");
        assert_eq!(reported.plan_hash, self.reported.plan_hash, "{what}");
        assert_eq!(timeless(&lab.content()), self.content, "{what}");
        let run = &lab.status(&reported.run_id)["run"];
        assert_eq!(run["state"], "completed", "{what}");
        lab.program.run(&["undo", "--run", &reported.run_id]).expect(0);
    }
}

fn completed(events: &[temporalio_common::protos::temporal::api::history::v1::HistoryEvent]) -> usize {
    let is_completed =
        |attributes: &Attributes| matches!(attributes, Attributes::ActivityTaskCompletedEventAttributes(_));
    events.iter().filter(|event| event.attributes.as_ref().is_some_and(is_completed)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_at_any_activity_boundary_loses_and_doubles_nothing() {
    let calm = Calm::of(300).await;
    assert!(calm.activities >= 9, "{}", calm.activities);
    let boundaries: Vec<usize> = (0..calm.activities).collect();
    for group in boundaries.chunks(AT_ONCE) {
        futures::future::join_all(group.iter().map(|boundary| killed_at(&calm, *boundary))).await;
    }
}

/// Kills the worker as soon as `boundary` activities are done.
async fn killed_at(calm: &Calm, boundary: usize) {
    let lab = Lab::with(&calm.lines).await;
    let worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "apply", "run_id": RUN }))).await;
    while completed(&history(&handle).await) < boundary {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    worker.kill();
    let _next = lab.worker(&[]);
    let reported = result(&handle).await.unwrap();
    calm.is_left_by(&lab, &reported, &format!("killed after activity {boundary}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_inside_of_apply_loses_and_doubles_nothing() {
    let calm = Calm::of(4_000).await;
    let rounds = if std::env::var("DREAM_TEST_PROFILE").is_ok_and(|profile| profile == "long") { 12 } else { 4 };
    let seeds: Vec<u64> = (0..rounds).collect();
    for group in seeds.chunks(AT_ONCE) {
        futures::future::join_all(group.iter().map(|seed| killed_inside_apply(&calm, *seed))).await;
    }
}

async fn killed_inside_apply(calm: &Calm, seed: u64) {
    let mut chance = Chance(seed);
    let lab = Lab::with(&calm.lines).await;
    let mut worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "apply", "run_id": RUN }))).await;
    lab.reach(&handle, "the run applies", |view| view.phase == "applying").await;
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(chance.below(600))).await;
        worker.kill();
        worker = lab.worker(&[]);
        let before = applied(&lab).await;
        let begun = Instant::now();
        // The server gives a silent worker up after half a minute; then the next one goes on.
        while applied(&lab).await == before && is_open(&lab).await {
            assert!(begun.elapsed() < crate::lab::PATIENCE, "seed {seed}: nobody goes on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let reported = result(&handle).await.unwrap();
    calm.is_left_by(&lab, &reported, &format!("seed {seed}"));
}

async fn applied(lab: &Lab) -> i64 {
    let query = "SELECT count(*) FROM dream.op WHERE state = 'applied'";
    sqlx::query_scalar(query).fetch_one(&mut lab.database().await).await.unwrap()
}

async fn is_open(lab: &Lab) -> bool {
    let query = "SELECT finished_at IS NULL FROM dream.run";
    sqlx::query_scalar(query).fetch_one(&mut lab.database().await).await.unwrap()
}
