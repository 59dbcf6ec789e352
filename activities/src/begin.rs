//! Begin: switches, capabilities, the stuck-run check, the lease, the run row, and which ops will run.
//!
//! A refusal comes before anything is written.

use dream_core::failure::{Code, Failure};
use dream_core::id::RunId;
use dream_core::op::{OpKind, Reason};
use dream_core::run::{Admission, DreamInput, Mode, Realm, RunState, SkipReason};
use dream_core::settings::{REVIEW_DAYS, Settings};
use dream_ports::run::{BeginRun, Begun as StoreBegun, Capabilities, Namespace, RunRecord, VectorsAt};
use dream_workflows::contract::{Begin, Begun, Namespaces, NamespacesPage, RunRef};
use serde::{Deserialize, Serialize};

use crate::failure::{ResultExt, defect};
use crate::world::{StoreHandle, World};

const SECONDS_PER_DAY: u64 = 86_400;

/// What a run keeps of its configuration: later changes to the worker's do not reach into it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSettings {
    /// What the operator had set.
    pub settings: Settings,
    /// The ops that run, in their order.
    pub ops: Vec<OpKind>,
}

impl RunSettings {
    /// The settings in a run's row.
    pub fn read(run: &RunRecord) -> Result<Self, Failure> {
        serde_json::from_str(&run.settings).map_err(|_| defect("the settings of the run"))
    }
}

/// The input in a run's row.
pub fn input_of(run: &RunRecord) -> Result<DreamInput, Failure> {
    serde_json::from_str(&run.input).map_err(|_| defect("the input of the run"))
}

/// The order in which ops run. What came back is settled before duplicates are looked for, and references are dropped last,
/// from the rows that will be left. A repair of the graph comes behind all of them.
const ORDER: [OpKind; 8] = [
    OpKind::SchemaDriftReport,
    OpKind::OrphanReport,
    OpKind::SourceChunkIdsAudit,
    OpKind::Reabsorb,
    OpKind::DedupeEntities,
    OpKind::CentroidRecompute,
    OpKind::SourceChunkIdsGc,
    OpKind::MirrorRepair,
];

/// Takes the target of a run and says what is left of it.
pub async fn begin(world: &World, call: Begin) -> Result<Begun, Failure> {
    if call.input.realm == Realm::Space.as_str() {
        return crate::space::begin::begin(world, call).await;
    }
    let namespace_id = call.input.check()?;
    let mode = call.input.mode.unwrap_or(world.settings.default_mode);
    check_switches(world, &call.input, mode)?;
    let handle = world.store(&call.input.store)?;
    let capabilities = handle.store.probe().await.or_fail()?;
    if !capabilities.is_migrated {
        return Err(Failure::new(Code::NotMigrated, "the tables of Dream Worker are not in this store"));
    }
    let namespace = handle.store.resolve_namespace(namespace_id).await.or_fail()?;
    if mode.may_write() {
        check_writable(world, handle, &namespace).await?;
    }
    let run = run_id(&call)?;
    let (ops, skip_reasons) = choose_ops(&world.settings, &call.input, &capabilities, handle.graph.is_some());
    if let Some(abandon) = call.input.abandon {
        check_target(handle, RunId(abandon), &namespace).await?;
    }
    if let Some(resumed) = call.input.resume_from {
        let record = check_target(handle, RunId(resumed), &namespace).await?;
        check_resumed(&call.input, &record)?;
    }
    if let Some(plan_of) = call.input.plan_of {
        check_plan_of(handle, RunId(plan_of), &namespace).await?;
    }
    let settings = RunSettings { settings: world.settings.clone(), ops };
    let spell = |value: Result<String, serde_json::Error>| value.map_err(|_| defect("the input of the run"));
    let request = BeginRun {
        run,
        realm: Realm::Graph,
        namespace: namespace.clone(),
        mode,
        trigger: call.input.trigger,
        holder: world.holder.clone(),
        engine: call.engine.clone(),
        workflow_id: call.workflow_id.clone(),
        input: spell(serde_json::to_string(&call.input))?,
        settings: spell(serde_json::to_string(&settings))?,
        skip_reasons,
        is_resume: call.input.resume_from.is_some(),
        abandon: call.input.abandon.map(RunId),
    };
    let record = match handle.store.begin(&request).await.or_fail()? {
        StoreBegun::Holds { run, .. } | StoreBegun::Closed(run) => *run,
        StoreBegun::Refused(admission) => return Err(refusal(&admission)),
    };
    what_is_left(world, handle, &call, record).await
}

fn check_switches(world: &World, input: &DreamInput, mode: Mode) -> Result<(), Failure> {
    if !world.settings.enabled && !input.enable {
        return Err(Failure::new(Code::Disabled, "dreaming over graph namespaces is switched off"));
    }
    if mode.may_write() && world.settings.disable_apply {
        return Err(Failure::new(Code::ApplyDisabled, "KHORA_DREAM_DISABLE_APPLY is set for this worker"));
    }
    Ok(())
}

pub(crate) async fn check_writable(world: &World, handle: &StoreHandle, namespace: &Namespace) -> Result<(), Failure> {
    let stops = handle.store.stops().await.or_fail()?;
    if let Some(stop) = stops.iter().find(|stop| stop.namespace.is_none_or(|id| id == namespace.id)) {
        let reach = if stop.namespace.is_some() { "this namespace" } else { "this store" };
        return Err(Failure::new(
            Code::ApplyDisabled,
            format!("the kill switch of {reach} was set at {} by {}", stop.at, stop.by),
        ));
    }
    let is_listed = world
        .settings
        .read_only_namespaces
        .iter()
        .any(|id| id.parse().is_ok_and(|id: uuid::Uuid| id == namespace.id.0 || id == namespace.stable_id.0));
    if namespace.is_read_only || is_listed {
        let origin = if is_listed { "read_only_namespaces" } else { "its own config_overrides" };
        return Err(Failure::new(
            Code::Forbidden,
            format!("namespace {} must not be written, by {origin}", namespace.stable_id),
        ));
    }
    Ok(())
}

/// A run goes on as it was begun: whoever asks for something else would get what they did not ask for.
pub(crate) fn check_resumed(input: &DreamInput, record: &RunRecord) -> Result<(), Failure> {
    let run = record.run;
    if let Some(mode) = input.mode.filter(|mode| *mode != record.mode) {
        let message = format!("run {run} was begun in the mode {}, and cannot go on in {mode}", record.mode);
        return Err(Failure::new(Code::WrongState, message));
    }
    let sealed = record.plan_hash.as_ref().map(|hash| hash.0.as_str());
    match input.expected_plan_hash.as_deref() {
        Some(expected) if sealed.is_some_and(|sealed| sealed != expected) => {
            let message = format!("the plan of run {run} is {}, and {expected} was expected", sealed.unwrap_or("none"));
            Err(Failure::new(Code::PlanChanged, message))
        }
        _ => Ok(()),
    }
}

pub(crate) async fn check_target(
    handle: &StoreHandle,
    run: RunId,
    namespace: &Namespace,
) -> Result<RunRecord, Failure> {
    let record = handle.store.run(run).await.or_fail()?;
    if record.namespace == namespace.id {
        return Ok(record);
    }
    Err(Failure::new(Code::WrongState, format!("run {run} is no run of namespace {}", namespace.stable_id)))
}

async fn check_plan_of(handle: &StoreHandle, plan_of: RunId, namespace: &Namespace) -> Result<(), Failure> {
    let run = handle.store.run(plan_of).await.or_fail()?;
    if run.namespace != namespace.id || run.mode != Mode::DryRun || run.plan_hash.is_none() {
        return Err(Failure::new(
            Code::WrongState,
            format!("run {plan_of} is no dry run of namespace {} with a sealed plan", namespace.stable_id),
        ));
    }
    Ok(())
}

pub(crate) fn run_id(call: &Begin) -> Result<RunId, Failure> {
    match call.input.resume_from.or(call.input.run_id) {
        Some(id) => Ok(RunId(id)),
        None => parse_run(&call.run_id),
    }
}

fn parse_run(text: &str) -> Result<RunId, Failure> {
    text.parse().map_err(|_| Failure::new(Code::InvalidInput, "run_id: expected a UUID"))
}

/// Which ops run, and for each other one the reason.
fn choose_ops(
    settings: &Settings,
    input: &DreamInput,
    capabilities: &Capabilities,
    has_graph: bool,
) -> (Vec<OpKind>, Vec<SkipReason>) {
    let requested = input.requested_ops();
    let mut ops = Vec::new();
    let mut skipped = Vec::new();
    let is_meant = |kind: &OpKind| requested.as_ref().map_or(!kind.is_on_request(), |ops| ops.contains(kind));
    for kind in ORDER.into_iter().filter(is_meant) {
        let reason = if !settings.is_on(kind) {
            Some(Reason::OpDisabledByConfig)
        } else if kind == OpKind::SchemaDriftReport && input.expertise.is_none() {
            Some(Reason::OpRequiresExpertise)
        } else if kind == OpKind::CentroidRecompute && capabilities.vectors == VectorsAt::Lancedb {
            Some(Reason::VectorsInLancedb)
        } else if kind == OpKind::MirrorRepair && !has_graph {
            Some(Reason::BackendUnsupported)
        } else if kind == OpKind::MirrorRepair && input.scope.is_some() {
            // What a graph lacks has no moment and no document.
            Some(Reason::OutOfScope)
        } else {
            None
        };
        match reason {
            Some(reason) => skipped.push(SkipReason { op_kind: kind, reason, count: None }),
            None => ops.push(kind),
        }
    }
    (ops, skipped)
}

pub(crate) fn refusal(admission: &Admission) -> Failure {
    match admission {
        Admission::Locked { run, holder } => {
            let holder = holder.as_deref().map(|holder| format!(" on {holder}")).unwrap_or_default();
            Failure::new(Code::Locked, format!("run {run}{holder} works on this namespace"))
        }
        Admission::Waiting { run } => {
            Failure::new(Code::AwaitingClient, format!("run {run} waits for an answer to its question"))
        }
        Admission::Stuck { run, silent_seconds } => Failure::new(
            Code::Stuck,
            format!("run {run} was applying and has given no sign of life for {silent_seconds} seconds"),
        ),
        Admission::Admit { .. } => Failure::new(Code::Defect, "a run that may start was refused"),
    }
}

async fn what_is_left(world: &World, handle: &StoreHandle, call: &Begin, record: RunRecord) -> Result<Begun, Failure> {
    let settings = RunSettings::read(&record)?;
    let steps = handle.store.steps(record.run).await.or_fail()?;
    let is_done = |name: String| steps.iter().any(|step| step.name == name);
    let is_copied = input_of(&record)?.plan_of.is_some();
    let left = |kinds: &mut dyn Iterator<Item = OpKind>, prefix: &str| -> Vec<OpKind> {
        kinds.filter(|kind| !is_copied && !is_done(format!("{prefix}:{kind}"))).collect()
    };
    let audits = left(&mut settings.ops.iter().copied().filter(|kind| kind.is_audit()), "audit");
    let planners = left(&mut settings.ops.iter().copied().filter(|kind| !kind.is_audit()), "plan");
    let sealed = crate::seal::sealed(handle, record.run).await?;
    let is_waiting_state = record.state == RunState::Applying && record.waiting_for.is_some();
    Ok(Begun {
        run: RunRef { store: call.input.store.clone(), run_id: record.run.to_string() },
        mode: record.mode,
        target: record.stable_namespace.to_string(),
        realm: record.realm.to_string(),
        state: if is_waiting_state { RunState::Applying } else { record.state },
        audits,
        planners,
        sealed,
        review_wait_seconds: input_of(&record)?.review_wait_seconds.unwrap_or(REVIEW_DAYS * SECONDS_PER_DAY),
        has_search_attributes: world.has_search_attributes,
        has_graph: handle.graph.is_some(),
        graph_wait_seconds: input_of(&record)?.graph_wait_seconds.unwrap_or(0),
        space: None,
    })
}

/// Namespaces on one page.
const NAMESPACES_PER_PAGE: u32 = 200;

/// A page of the namespaces of a store.
pub async fn namespaces(world: &World, call: Namespaces) -> Result<NamespacesPage, Failure> {
    let handle = world.store(&call.store)?;
    let after = call.after.as_deref().map(str::parse).transpose();
    let after = after.map_err(|_| Failure::new(Code::InvalidInput, "after: expected a UUID"))?;
    let page = handle.store.namespaces(after, NAMESPACES_PER_PAGE).await.or_fail()?;
    Ok(NamespacesPage {
        is_more: page.len() == NAMESPACES_PER_PAGE as usize,
        namespaces: page.into_iter().map(|namespace| namespace.stable_id.to_string()).collect(),
    })
}
