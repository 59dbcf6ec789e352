//! The check for due dreams: a page of it as a worker does it, with an engine that starts nothing, and the local engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dream_activities::World;
use dream_activities::space::due::start_page;
use dream_activities::world::StoreHandle;
use dream_core::realm::space::due::{SPREAD_SECONDS, run_of_night};
use dream_core::run::Trigger;
use dream_ports::Starter;
use dream_ports::starter::{NewDream, Start, StartError};
use dream_store_sqlite::SqliteStore;
use dream_workflows::contract::{DuePage, DuePageDone};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::program::Program;
use crate::support::zones::{night, zone_where_it_is};

const STORE: &str = "a.db";

/// A program with spaces that were used just now, in the zones that are named.
fn spaces(zones: &[&str]) -> (Program, Vec<String>) {
    let program = Program::bare();
    program.run(&["migrate", "--realm", "space", "--store", STORE]).expect(0);
    let create = |zone: &&str| {
        let made = ["spaces", "create", "--name", "me", "--time-zone", zone, "--store", STORE];
        let space = program.run(&made).expect(0).stdout.trim().to_owned();
        program.run(&["facts", "add", "--space", &space, "likes tea", "--store", STORE]).expect(0);
        space
    };
    let mut spaces: Vec<String> = zones.iter().map(create).collect();
    spaces.sort();
    (program, spaces)
}

/// An engine that keeps what it is asked to start, and refuses one space.
#[derive(Default)]
struct Engine {
    refused: Option<String>,
    asked: Mutex<Vec<NewDream>>,
}

#[async_trait]
impl Starter for Engine {
    async fn start(&self, dream: &NewDream) -> Result<Start, StartError> {
        self.asked.lock().unwrap().push(dream.clone());
        if self.refused.as_ref() == Some(&dream.input.namespace) {
            return Err(StartError::Refused { code: "InvalidArgument".to_owned() });
        }
        Ok(Start::Started)
    }
}

async fn world(program: &Program) -> World {
    let store = SqliteStore::open(&program.path(STORE), false).await.unwrap();
    let handle = StoreHandle { store: Arc::new(store), graph: None, argument: None };
    World {
        stores: BTreeMap::from([("default".to_owned(), handle)]),
        settings: dream_core::settings::Settings::default(),
        reports: program.path("reports"),
        embedder: None,
        mind: None,
        holder: "a test".to_owned(),
        has_search_attributes: false,
        stopping: CancellationToken::default(),
        cut_off: AtomicU32::new(0),
    }
}

async fn page(world: &World, engine: &Engine, after: Option<&DuePageDone>) -> DuePageDone {
    let call = DuePage {
        store: "default".to_owned(),
        spread_seconds: SPREAD_SECONDS,
        checked_at: after.map(|page| page.checked_at),
        after: None,
    };
    start_page(world, engine, call).await.unwrap()
}

#[tokio::test]
async fn a_start_that_the_engine_refuses_is_counted_with_its_space_and_the_page_goes_on() {
    let (program, spaces) = spaces(&[&night(), &night(), &night(), &zone_where_it_is(12)]);
    let world = world(&program).await;
    let due: Vec<String> = {
        let engine = Engine::default();
        page(&world, &engine, None).await;
        engine.asked.into_inner().unwrap().iter().map(|dream| dream.input.namespace.clone()).collect()
    };
    assert_eq!(due.len(), 3);
    let engine = Engine { refused: Some(due[0].clone()), ..Engine::default() };
    let done = page(&world, &engine, None).await;
    assert_eq!((done.came_to.started, done.came_to.failed, done.came_to.not_due), (2, 1, 1), "{done:?}");
    let failure = &done.came_to.failures[0];
    assert_eq!((&failure.space, failure.reason.contains("InvalidArgument")), (&due[0], true), "{failure:?}");
    assert_eq!((done.last.as_ref(), done.is_more), (spaces.last(), false));
}

#[tokio::test]
async fn a_page_that_is_done_twice_makes_the_same_starts_and_another_check_others_of_the_same_dreams() {
    let (program, _) = spaces(&[&night(), &night()]);
    let world = world(&program).await;
    let engine = Engine::default();
    let first = page(&world, &engine, None).await;
    page(&world, &engine, Some(&first)).await;
    page(&world, &engine, None).await;
    let asked = engine.asked.into_inner().unwrap();
    // Starts of one page are made at once, in whatever order.
    let of = |check: usize| asked[check * 2..check * 2 + 2].iter();
    let names = |check| of(check).map(|dream| dream.workflow_id.clone()).collect::<BTreeSet<_>>();
    let requests = |check| of(check).map(|dream| dream.request_id.clone()).collect::<BTreeSet<_>>();
    assert_eq!(names(0).len(), 2);
    assert_eq!((names(0), requests(0)), (names(1), requests(1)));
    assert_eq!(names(0), names(2));
    assert!(requests(0).is_disjoint(&requests(2)), "what failed before it began may be tried again");
    for dream in of(0) {
        let (space, night) = (dream.input.namespace.parse().unwrap(), dream.input.night.unwrap());
        assert_eq!(dream.workflow_id, format!("dream/space/{space}/{night}"));
        assert_eq!(dream.input.run_id, Some(run_of_night(space, night).0));
        assert_eq!(dream.input.trigger, Trigger::Schedule);
        assert!(dream.delay.as_secs() < u64::from(SPREAD_SECONDS));
    }
}

#[test]
fn without_a_server_a_due_space_dreams_once_a_night_too() {
    let (program, spaces) = spaces(&[&night(), &zone_where_it_is(12)]);
    let done = program.run(&["due", "--json", "--store", STORE]).expect(0).json();
    let started = done["started"].as_array().unwrap();
    assert_eq!((started.len(), &done["not_due"]), (1, &json!(1)), "{done:#}");
    assert!(spaces.iter().any(|space| started[0] == space.as_str()));
    let again = program.run(&["due", "--json", "--store", STORE]).expect(3).json();
    assert_eq!((&again["started"], &again["not_due"]), (&json!([]), &json!(2)), "{again:#}");
    let why = program.run(&["due", "--explain", started[0].as_str().unwrap(), "--store", STORE]).expect(0);
    assert!(!why.stdout.is_empty());
}
