//! An engine may run any activity again after it has done its work: what a run leaves is the same as if each ran once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dream_activities::observed;
use dream_activities::space::answer::{submit, waiting_job};
use dream_activities::world::{StoreHandle, World};
use dream_core::failure::Failure;
use dream_core::run::Realm;
use dream_core::settings::Settings;
use dream_store_sqlite::SqliteStore;
use dream_workflows::contract::{
    Applied, ApplyStretch, Asked, Begin, Begun, Judged, Look, Mirrored, Part, PartDone, Report, Reported, RequestCall,
    RunRef, Sealed, SettleReview, Stretch,
};
use dream_workflows::steps::{Progress, StepError, Steps, WaitFor};
use dream_workflows::story::story;
use serde_json::json;

use crate::spaces;
use crate::support::program::Program;
use crate::support::world::{NAMESPACE, World as Memories, timeless};

const RUN: &str = "01900000-0000-7000-8000-000000000003";

/// Runs every activity a number of times, one after the other, and goes on with the last answer.
struct Again {
    world: Arc<World>,
    times: usize,
    approved: bool,
    /// The run that asks, as soon as it has begun.
    run: Option<RunRef>,
}

impl Again {
    async fn each<T, F: Future<Output = Result<T, Failure>>>(&self, work: impl Fn() -> F) -> Result<T, StepError> {
        let mut answer = work().await;
        for _ in 1..self.times {
            answer = work().await;
        }
        answer.map_err(|failure| StepError::Failed { name: failure.code.name().to_owned(), message: failure.message })
    }
}

impl Steps for Again {
    async fn begin(&mut self, call: Begin) -> Result<Begun, StepError> {
        let begun = self.each(|| observed::begin(&self.world, call.clone())).await?;
        self.run = Some(begun.run.clone());
        Ok(begun)
    }

    async fn audit(&mut self, part: Part) -> Result<PartDone, StepError> {
        self.each(|| observed::audit(&self.world, part.clone())).await
    }

    async fn plan(&mut self, part: Part) -> Result<PartDone, StepError> {
        self.each(|| observed::plan(&self.world, part.clone())).await
    }

    async fn seal(&mut self, run: RunRef) -> Result<Sealed, StepError> {
        self.each(|| observed::seal(&self.world, run.clone())).await
    }

    async fn prepare(&mut self, run: RunRef) -> Result<PartDone, StepError> {
        self.each(|| observed::prepare(&self.world, run.clone())).await
    }

    async fn park_for_review(&mut self, run: RunRef) -> Result<(), StepError> {
        self.each(|| observed::park_for_review(&self.world, run.clone())).await
    }

    async fn look(&mut self, run: RunRef) -> Result<Look, StepError> {
        let (handle, id) = self.world.run(&run).unwrap();
        if handle.store.run(id).await.unwrap().realm == Realm::Space {
            return self.each(|| observed::look(&self.world, run.clone())).await;
        }
        if !std::mem::replace(&mut self.approved, true) {
            let plan_hash =
                self.world.run(&run).map(|(handle, id)| handle.store.run(id)).unwrap().await.unwrap().plan_hash;
            let call = RequestCall {
                run: run.clone(),
                kind: "approve".to_owned(),
                by: "a test".to_owned(),
                plan_hash: plan_hash.map(|hash| hash.0),
            };
            self.each(|| observed::record_request(&self.world, call.clone())).await?;
        }
        self.each(|| observed::look(&self.world, run.clone())).await
    }

    async fn apply(&mut self, run: RunRef, stretch: Stretch) -> Result<Applied, StepError> {
        let call = ApplyStretch { run, stretch };
        self.each(|| observed::apply(&self.world, call.clone(), &|_seq| {})).await
    }

    async fn settle_review(&mut self, settle: SettleReview) -> Result<(), StepError> {
        self.each(|| observed::settle_review(&self.world, settle.clone())).await
    }

    async fn mirror(&mut self, run: RunRef) -> Result<Mirrored, StepError> {
        self.each(|| observed::mirror(&self.world, run.clone())).await
    }

    async fn tidy(&mut self, run: RunRef) -> Result<Sealed, StepError> {
        self.each(|| observed::tidy(&self.world, run.clone())).await
    }

    async fn ask(&mut self, run: RunRef) -> Result<Asked, StepError> {
        self.each(|| observed::ask(&self.world, run.clone())).await
    }

    async fn judge(&mut self, run: RunRef) -> Result<Judged, StepError> {
        self.each(|| observed::judge(&self.world, run.clone())).await
    }

    async fn report(&mut self, call: Report) -> Result<Reported, StepError> {
        self.each(|| observed::report(&self.world, call.clone())).await
    }

    async fn wait(&mut self, wait: WaitFor, _patience: Duration) -> Result<(), StepError> {
        assert_eq!(wait, WaitFor::Client, "nothing else is waited for: a plan is approved before the first look");
        let (handle, run) = self.world.run(self.run.as_ref().unwrap()).unwrap();
        let space = handle.store.run(run).await.unwrap().namespace;
        let job = serde_json::to_value(waiting_job(handle, space).await.unwrap().unwrap()).unwrap();
        let answer = spaces::answer(&job);
        for _ in 0..self.times {
            submit(handle, run, answer.as_bytes()).await.unwrap();
        }
        Ok(())
    }

    fn progress(&mut self, _progress: Progress) {}
}

async fn world(program: &Program, store: &str) -> Arc<World> {
    let settings = Settings {
        enabled: true,
        dedupe_entities_enabled: true,
        centroid_recompute_enabled: true,
        source_chunk_ids_gc_enabled: true,
        ..Settings::default()
    };
    let store: Arc<dyn dream_ports::Store> =
        Arc::new(SqliteStore::open(Path::new(&program.path(store)), false).await.unwrap());
    Arc::new(World {
        stores: BTreeMap::from([("default".to_owned(), StoreHandle { store, graph: None, argument: None })]),
        settings,
        reports: program.path("reports"),
        embedder: None,
        mind: None,
        holder: "a test".to_owned(),
        has_search_attributes: false,
        stopping: tokio_util::sync::CancellationToken::new(),
        cut_off: 0.into(),
    })
}

/// Dreams with every activity run so many times; answers the report and the content it leaves.
async fn dream(program: &Program, lines: &str, mode: &str, times: usize) -> (Reported, String) {
    let store = format!("{mode}-{times}.db");
    program.import(&store, NAMESPACE, lines);
    let input = json!({ "namespace": NAMESPACE, "mode": mode, "run_id": RUN, "enable": true });
    let begin = Begin {
        input: serde_json::from_value(input).unwrap(),
        run_id: RUN.to_owned(),
        engine: "local".to_owned(),
        workflow_id: None,
    };
    let mut steps = Again { world: world(program, &store).await, times, approved: false, run: None };
    let reported = story(&mut steps, begin).await.unwrap();
    (reported, timeless(&program.content(&store, NAMESPACE)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_every_activity_runs_again_leaves_what_one_leaves_whose_activities_run_once() {
    let program = Program::new();
    let lines = Memories::new(200).lines();
    for mode in ["dry-run", "apply", "review"] {
        let (once, content) = dream(&program, &lines, mode, 1).await;
        let (thrice, content_again) = dream(&program, &lines, mode, 3).await;
        assert!(once.ops.values().sum::<u32>() > 0, "{mode}");
        assert_eq!(
            (once.state, &once.plan_hash, &once.ops, &once.skip_reasons),
            (thrice.state, &thrice.plan_hash, &thrice.ops, &thrice.skip_reasons),
            "{mode}"
        );
        assert_eq!(content, content_again, "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dream_over_a_space_whose_every_activity_runs_again_leaves_what_one_leaves_whose_activities_run_once() {
    let program = Program::bare();
    let mut left = Vec::new();
    for times in [1, 3] {
        let store = format!("space-{times}.db");
        let space = spaces::lived_in_again(&program, &store);
        let input = json!({ "realm": "space", "space": space, "run_id": RUN });
        let begin = Begin {
            input: serde_json::from_value(input).unwrap(),
            run_id: RUN.to_owned(),
            engine: "local".to_owned(),
            workflow_id: None,
        };
        let mut steps = Again { world: world(&program, &store).await, times, approved: false, run: None };
        let reported = story(&mut steps, begin).await.unwrap();
        let report = program.run(&["report", RUN, "--store", &store, "--json"]).expect(0).json();
        left.push((reported.state, reported.plan_hash, reported.ops, report["report"].clone()));
        left.last().unwrap().2.get("applied").filter(|applied| **applied == 8).expect("everything was applied");
        assert_eq!(
            spaces::timeless_content(&program, &space, &store),
            spaces::timeless_content(&program, &space, "space-1.db")
        );
    }
    // The plan's hash covers digests of texts under the key of each store, so only what it came to is the same.
    let came_to =
        |(state, _, ops, report): &(_, _, _, _)| (*state, BTreeMap::clone(ops), serde_json::Value::clone(report));
    assert_eq!(came_to(&left[0]), came_to(&left[1]));
}
