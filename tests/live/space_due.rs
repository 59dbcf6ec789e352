//! The check for due dreams, on Temporal and PostgreSQL: one dream per space and night, whatever becomes of the check.

use std::time::{Duration, Instant};

use dream_core::clock::Moment;
use dream_core::realm::space::due::{judge, run_of_night};
use dream_core::realm::space::fact::{DreamMode, Space};
use dream_core::realm::space::zone::Zone;
use dream_core::run::DreamInput;
use dream_workflows::contract::{DueChecked, DueInput};
use dream_workflows::dream::Dream;
use dream_workflows::due::DueDreams;
use dream_workflows::lenient::Lenient;
use serde_json::json;
use temporalio_client::{Client, WorkflowGetResultOptions, WorkflowHandle, WorkflowStartOptions};
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;
use uuid::Uuid;

use crate::lab::{Lab, PATIENCE, STORE, history, result};
use crate::support::zones::{night, now, zone_where_it_is};

/// A lab with tables for spaces.
pub async fn lab() -> Lab {
    let lab = Lab::new().await;
    lab.program.run(&["migrate", "--realm", "space"]).expect(0);
    lab
}

/// Makes spaces in one go; they were used just now, and hold nothing.
pub async fn make(lab: &Lab, zone: &str, mode: &str, count: i64) -> Vec<Uuid> {
    let insert = "INSERT INTO dream.space (id, name, time_zone, dream_mode, created_at, last_used_at) \
                  SELECT gen_random_uuid(), 'one of many', $1, $2, now(), now() FROM generate_series(1, $3) RETURNING id";
    let query = sqlx::query_scalar(insert).bind(zone).bind(mode).bind(count);
    query.fetch_all(&mut lab.database().await).await.unwrap()
}

/// A check that is under way.
pub struct Check {
    pub handle: WorkflowHandle<Client, DueDreams>,
    /// The first part of it.
    pub first: String,
}

/// Starts a check.
pub async fn start_check(lab: &Lab, spread_seconds: u32) -> Check {
    let input = DueInput { store: STORE.to_owned(), spread_seconds, ..DueInput::default() };
    let id = format!("test/{}", Uuid::now_v7());
    let options = WorkflowStartOptions::new(lab.queue.clone(), id.clone()).build();
    let started = lab.client.start_workflow(DueDreams::run, Lenient::Ok(Some(input)), options).await.unwrap();
    Check { handle: lab.client.get_workflow_handle(id), first: started.run_id().unwrap().to_owned() }
}

pub async fn end(check: &Check) -> DueChecked {
    check.handle.get_result(WorkflowGetResultOptions::default()).await.unwrap()
}

async fn check(lab: &Lab) -> DueChecked {
    end(&start_check(lab, 0).await).await
}

async fn count(lab: &Lab, what: &str) -> i64 {
    let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {what}"));
    sqlx::query_scalar(query).fetch_one(&mut lab.database().await).await.unwrap()
}

/// Waits until so many rows are there.
pub async fn until(lab: &Lab, what: &str, expected: i64) {
    let mut changed = (Instant::now(), -1);
    loop {
        let found = count(lab, what).await;
        if found >= expected {
            return;
        }
        if found != changed.1 {
            changed = (Instant::now(), found);
        }
        assert!(changed.0.elapsed() < PATIENCE, "waited in vain for {expected} {what}: {found}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

pub const OVER: &str = "dream.run WHERE realm = 'space' AND finished_at IS NOT NULL";

/// Spaces that have dreamed, and the dreams they had.
pub async fn dreamed(lab: &Lab) -> (i64, i64) {
    let query = "SELECT count(DISTINCT namespace_id), count(*) FROM dream.run WHERE realm = 'space'";
    sqlx::query_as(query).fetch_one(&mut lab.database().await).await.unwrap()
}

/// Lets nobody write into a space, so that each of its dreams fails.
pub async fn stop(lab: &Lab, space: Uuid) {
    let insert = "INSERT INTO dream.control (namespace_id, by_whom, why, set_at) VALUES ($1, 'test', 'always', now())";
    sqlx::query(insert).bind(space).execute(&mut lab.database().await).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_due_space_dreams_once_and_another_check_starts_nothing_more() {
    let lab = lab().await;
    let due = make(&lab, &night(), "client", 3).await;
    make(&lab, &night(), "off", 1).await;
    make(&lab, &zone_where_it_is(12), "client", 2).await;
    let unknown = make(&lab, "Mars/Olympus", "client", 1).await;
    let _worker = lab.worker(&[]);
    let first = check(&lab).await;
    assert_eq!((first.started, first.not_due, first.failed, first.waiting), (3, 3, 0, 0), "{first:?}");
    assert_eq!(first.unknown_zones, [unknown[0].to_string()], "never silently UTC");
    let again = check(&lab).await;
    assert_eq!((again.started, again.under_way + again.not_due), (0, 6), "{again:?}");
    until(&lab, OVER, 3).await;
    let third = check(&lab).await;
    assert_eq!((third.started, third.under_way, third.not_due), (0, 0, 6), "{third:?}");
    assert_eq!(dreamed(&lab).await, (3, 3));
    let rows: Vec<(Uuid, Uuid, String, String)> =
        sqlx::query_as("SELECT namespace_id, run_id, workflow_id, trigger FROM dream.run")
            .fetch_all(&mut lab.database().await)
            .await
            .unwrap();
    for (space, run, workflow, trigger) in rows {
        let night = workflow.rsplit_once('/').unwrap().1;
        assert_eq!(workflow, format!("dream/space/{space}/{night}"));
        assert_eq!(run, run_of_night(space, night.parse().unwrap()).0);
        assert!(due.contains(&space) && trigger == "schedule");
    }
    let events = history(&lab.client.get_workflow_handle::<Dream>(workflow_of(due[0]))).await;
    let Some(Attributes::WorkflowExecutionStartedEventAttributes(started)) = &events[0].attributes else { panic!() };
    let priority = started.priority.as_ref().unwrap().priority_key;
    assert_eq!(priority, 4, "the check and people who wait come before the dreams of the night");
    let local = lab.program.run(&["due", "--on", "local", "--json"]).expect(1);
    assert_eq!(local.json()["started"], json!([]), "without Temporal it is the same dream, and was had");
    assert!(local.stderr.contains(&unknown[0].to_string()), "{}", local.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_that_always_fails_starves_no_other_and_is_tried_by_every_check() {
    let lab = lab().await;
    let spaces = make(&lab, &night(), "client", 3).await;
    stop(&lab, spaces[1]).await;
    let _worker = lab.worker(&[]);
    assert_eq!(check(&lab).await.started, 3);
    until(&lab, OVER, 2).await;
    let failing = lab.client.get_workflow_handle::<Dream>(workflow_of(spaces[1]));
    let failure = format!("{:?}", result(&failing).await.unwrap_err());
    assert!(failure.contains("DreamApplyDisabled"), "{failure}");
    let again = check(&lab).await;
    assert_eq!((again.started, again.not_due), (1, 2), "what failed before it began is tried again: {again:?}");
    assert_eq!(dreamed(&lab).await, (2, 2));
}

/// The workflow of a space's dream tonight.
pub fn workflow_of(space: Uuid) -> String {
    format!("dream/space/{space}/{}", Zone::named(&night()).unwrap().day_of(now()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dream_that_waits_is_left_alone_for_a_day_and_then_given_up() {
    let lab = lab().await;
    let space = make(&lab, &night(), "client", 1).await[0];
    lab.program.run(&["facts", "add", "--space", &space.to_string(), "likes tea"]).expect(0);
    let _worker = lab.worker(&[]);
    let first = lab.start(DreamInput::of_space(space.to_string())).await;
    let view = lab.reach(&first, "the dream asks", |view| view.waiting_for.as_deref() == Some("answer")).await;
    grow_older(&lab, 21).await;
    let young = check(&lab).await;
    assert_eq!((young.started, young.waiting, young.failed), (0, 1, 0), "{young:?}");
    grow_older(&lab, 4).await;
    let old = check(&lab).await;
    assert_eq!((old.started, old.waiting), (1, 0), "{old:?}");
    let second = lab.client.get_workflow_handle::<Dream>(workflow_of(space));
    lab.reach(&second, "the next dream asks", |view| view.waiting_for.as_deref() == Some("answer")).await;
    assert_eq!(lab.status(&view.run_id)["run"]["state"], "abandoned");
    let job = lab.program.run(&["job", "next", "--space", &space.to_string()]).expect(0).json();
    assert_ne!(job["job"]["run_id"], view.run_id.as_str());
}

/// Makes all that was begun and asked so many hours older.
async fn grow_older(lab: &Lab, hours: i32) {
    for older in [
        "UPDATE dream.run SET started_at = started_at - make_interval(hours => $1)",
        "UPDATE dream.job SET asked_at = asked_at - make_interval(hours => $1)",
    ] {
        sqlx::query(older).bind(hours).execute(&mut lab.database().await).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dream_whose_time_comes_when_it_is_no_longer_due_does_not_begin() {
    let lab = lab().await;
    let spaces = [late(), late()];
    for space in spaces {
        let old = make(&lab, &night(), "client", 1).await[0];
        let rename = sqlx::query("UPDATE dream.space SET id = $2 WHERE id = $1").bind(old).bind(space);
        rename.execute(&mut lab.database().await).await.unwrap();
    }
    // Nobody works until the dreams are to begin; meanwhile one is had by hand, and one space is switched off.
    let worker = lab.worker(&[]);
    assert_eq!(end(&start_check(&lab, LATE_SECONDS).await).await.started, 2);
    worker.kill();
    lab.program.run(&["run", "space", "--space", &spaces[0].to_string(), "--mode", "off", "--on", "local"]).expect(0);
    lab.program.run(&["spaces", "set", &spaces[1].to_string(), "--mode", "off"]).expect(0);
    let _worker = lab.worker(&[]);
    for (space, why) in [(spaces[0], "its last dream started at"), (spaces[1], "its dream mode is off")] {
        let handle = lab.client.get_workflow_handle::<Dream>(workflow_of(space));
        let failure = format!("{:?}", result(&handle).await.unwrap_err());
        assert!(failure.contains("DreamNotDue") && failure.contains(why), "{failure}");
    }
    assert_eq!(dreamed(&lab).await, (1, 1));
}

/// Seconds over which starts are spread where they must not come at once.
const LATE_SECONDS: u32 = 60;

/// A space whose start comes late among those that are spread over [`LATE_SECONDS`].
fn late() -> Uuid {
    let now = Moment::from_micros(0).plus_seconds(3 * 3_600);
    let space = |id| Space {
        id,
        zone: "UTC".to_owned(),
        mode: DreamMode::Client,
        last_used_at: Some(now),
        last_dream_started_at: None,
    };
    let is_late = |id: &Uuid| judge(now, &space(*id), LATE_SECONDS).unwrap().start_at.seconds_since(now) >= 20;
    std::iter::repeat_with(Uuid::new_v4).find(is_late).unwrap()
}
