//! kill -9 of the worker and of the database, at every boundary and between them: nothing is lost, nothing is done twice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dream_workflows::contract::Reported;
use serde_json::json;

use crate::lab::{Lab, completed, history, input, result};
use crate::support::world::{Chance, World, timeless};

/// The id of the runs, so that all of them write the same.
const RUN: &str = "01900000-0000-7000-8000-000000000002";

/// Labs that are disturbed at once; each waits most of its time for a silent worker to be given up. Each has a thread of its
/// own, as commands are waited for without giving it back.
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
        assert_eq!(reported.state, self.reported.state, "{what}");
        assert_eq!(reported.ops, self.reported.ops, "{what}: no op twice, none lost");
        assert_eq!(reported.plan_hash, self.reported.plan_hash, "{what}");
        assert_eq!(timeless(&lab.content()), self.content, "{what}");
        let run = &lab.status(&reported.run_id)["run"];
        assert_eq!(run["state"], "completed", "{what}");
        lab.program.run(&["undo", "--run", &reported.run_id]).expect(0);
    }
}

/// Disturbs a lab for each number, some at once, and answers what came of each.
async fn each<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    numbers: impl Iterator<Item = u64>,
    disturb: impl Fn(u64) -> F,
) -> Vec<T> {
    let numbers: Vec<u64> = numbers.collect();
    let mut outcomes = Vec::new();
    for some in numbers.chunks(AT_ONCE) {
        let tasks: Vec<_> = some.iter().map(|number| tokio::spawn(disturb(*number))).collect();
        for task in tasks {
            outcomes.push(task.await.unwrap());
        }
    }
    outcomes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_worker_that_is_killed_at_any_activity_boundary_loses_and_doubles_nothing() {
    let calm = Arc::new(Calm::of(300).await);
    assert!(calm.activities >= 9, "{}", calm.activities);
    let boundaries = calm.activities as u64;
    each(0..boundaries, |boundary| killed_at(calm.clone(), boundary)).await;
}

/// Kills the worker as soon as `boundary` activities are done.
async fn killed_at(calm: Arc<Calm>, boundary: u64) {
    let lab = Lab::with(&calm.lines).await;
    let worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "apply", "run_id": RUN }))).await;
    while (completed(&history(&handle).await) as u64) < boundary {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    worker.kill();
    let _next = lab.worker(&[]);
    let reported = result(&handle).await.unwrap();
    calm.is_left_by(&lab, &reported, &format!("killed after activity {boundary}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_worker_that_is_killed_inside_of_apply_loses_and_doubles_nothing() {
    let calm = Arc::new(Calm::of(4_000).await);
    let rounds = if std::env::var("DREAM_TEST_PROFILE").is_ok_and(|profile| profile == "long") { 12 } else { 4 };
    let kills: usize = each(0..rounds, |seed| killed_inside_apply(calm.clone(), seed)).await.into_iter().sum();
    assert!(kills as u64 >= rounds, "the runs were really disturbed: {kills} kills met one");
}

/// Kills the worker twice, at moments given by the seed; answers how many of the kills met a run that was not over.
async fn killed_inside_apply(calm: Arc<Calm>, seed: u64) -> usize {
    let mut chance = Chance(seed);
    let lab = Lab::with(&calm.lines).await;
    let mut worker = lab.worker(&[]);
    let handle = lab.start(input(json!({ "mode": "apply", "run_id": RUN }))).await;
    let begun = Instant::now();
    while applied(&lab).await == 0 {
        assert!(begun.elapsed() < crate::lab::PATIENCE, "seed {seed}: nothing is applied");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut disturbed = 0;
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(chance.below(300))).await;
        worker.kill();
        disturbed += usize::from(is_open(&lab).await);
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
    disturbed
}

async fn applied(lab: &Lab) -> i64 {
    let query = "SELECT count(*) FROM dream.op WHERE state = 'applied'";
    sqlx::query_scalar(query).fetch_one(&mut lab.database().await).await.unwrap()
}

async fn is_open(lab: &Lab) -> bool {
    let query = "SELECT finished_at IS NULL FROM dream.run";
    sqlx::query_scalar(query).fetch_one(&mut lab.database().await).await.unwrap()
}
