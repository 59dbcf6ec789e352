//! Begin of a run over a space: switches, the lease, the run row, and whose model is asked.
//!
//! A refusal comes before anything is written.

use dream_core::failure::{Code, Failure};
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::realm::space::day::Day;
use dream_core::realm::space::due::may_begin;
use dream_core::realm::space::fact::DreamMode;
use dream_core::run::{Mode, Realm};
use dream_ports::StoreError;
use dream_ports::run::{BeginRun, Begun as StoreBegun, Namespace, RunRecord};
use dream_ports::space::SpaceRecord;
use dream_workflows::contract::{Begin, Begun, RunRef, SpaceLeft};

use super::step;
use crate::begin::{RunSettings, check_resumed, check_target, check_writable, input_of, refusal, run_id};
use crate::failure::{ResultExt, defect};
use crate::world::{StoreHandle, World};

/// Takes the space of a run and says what is left of it.
pub async fn begin(world: &World, mut call: Begin) -> Result<Begun, Failure> {
    let id = NamespaceId(call.input.check()?);
    let mode = call.input.mode.unwrap_or(Mode::Apply);
    if mode.may_write() && world.settings.disable_apply {
        return Err(Failure::new(Code::ApplyDisabled, "KHORA_DREAM_DISABLE_APPLY is set for this worker"));
    }
    let handle = world.store(&call.input.store)?;
    if !handle.store.probe().await.or_fail()?.is_migrated {
        return Err(Failure::new(Code::NotMigrated, "the tables of Dream Worker are not in this store"));
    }
    let space = handle.store.space(id).await.or_fail()?;
    let target = Namespace { id, stable_id: StableNamespaceId(id.0), is_read_only: false };
    if mode.may_write() {
        check_writable(world, handle, &target).await?;
    }
    if let (Some(night), None) = (call.input.night, call.input.resume_from) {
        check_night(handle, &call, &space, night).await?;
    }
    if let Some(abandon) = call.input.abandon {
        check_target(handle, RunId(abandon), &target).await?;
    }
    if let Some(resumed) = call.input.resume_from {
        let record = check_target(handle, RunId(resumed), &target).await?;
        check_resumed(&call.input, &record)?;
    }
    // A run goes on as it was begun, whatever becomes of the space's own mode meanwhile.
    call.input.mind = Some(call.input.mind.unwrap_or(space.mode));
    let spell = |value: Result<String, serde_json::Error>| value.map_err(|_| defect("the input of the run"));
    let settings = RunSettings { settings: world.settings.clone(), ops: Vec::new() };
    let request = BeginRun {
        run: run_id(&call)?,
        realm: Realm::Space,
        namespace: target,
        mode,
        trigger: call.input.trigger,
        holder: world.holder.clone(),
        engine: call.engine.clone(),
        workflow_id: call.workflow_id.clone(),
        input: spell(serde_json::to_string(&call.input))?,
        settings: spell(serde_json::to_string(&settings))?,
        skip_reasons: Vec::new(),
        is_resume: call.input.resume_from.is_some(),
        abandon: call.input.abandon.map(RunId),
    };
    let record = match handle.store.begin(&request).await.or_fail()? {
        StoreBegun::Holds { run, .. } | StoreBegun::Closed(run) => *run,
        StoreBegun::Refused(admission) => return Err(refusal(&admission)),
    };
    what_is_left(world, handle, &call, record).await
}

/// The dream of a night begins while it is due. One that has begun goes on, and nobody else's beginning takes it over.
async fn check_night(handle: &StoreHandle, call: &Begin, space: &SpaceRecord, night: Day) -> Result<(), Failure> {
    let refuse = |why: String| Err(Failure::new(Code::NotDue, format!("space {} is not due: {why}", space.id)));
    let run = run_id(call)?;
    match handle.store.run(run).await {
        Ok(begun) if (&begun.engine, &begun.workflow_id) == (&call.engine, &call.workflow_id) => Ok(()),
        Ok(begun) => refuse(format!("its dream of this night is run {run}, begun on the engine {}", begun.engine)),
        Err(StoreError::NoRun { .. }) => {
            let now = handle.store.now().await.or_fail()?;
            may_begin(now, &space.of_due(), night).or_else(|why| refuse(why.to_string()))
        }
        Err(error) => Err(error).or_fail(),
    }
}

/// Whose model a run asks.
pub fn mind_of(record: &RunRecord) -> Result<DreamMode, Failure> {
    Ok(input_of(record)?.mind.unwrap_or(DreamMode::Off))
}

async fn what_is_left(world: &World, handle: &StoreHandle, call: &Begin, record: RunRecord) -> Result<Begun, Failure> {
    let steps = handle.store.steps(record.run).await.or_fail()?;
    let is_done = |name: &str| steps.iter().any(|step| step.name == name);
    let left = SpaceLeft {
        mind: mind_of(&record)?,
        is_tidied: is_done(step::HOUSEKEEPING),
        is_judged: is_done(step::CONSOLIDATION),
    };
    Ok(Begun {
        run: RunRef { store: call.input.store.clone(), run_id: record.run.to_string() },
        mode: record.mode,
        target: record.stable_namespace.to_string(),
        realm: record.realm.to_string(),
        state: record.state,
        audits: Vec::new(),
        planners: Vec::new(),
        sealed: crate::seal::sealed(handle, record.run).await?,
        review_wait_seconds: 0,
        has_search_attributes: world.has_search_attributes,
        has_graph: false,
        graph_wait_seconds: 0,
        space: Some(left),
    })
}
