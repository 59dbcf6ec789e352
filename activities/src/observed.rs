//! The activities as engines run them: each body with its span and its duration. One line per activity; what it does stands
//! in the file of its name.

use dream_core::failure::Failure;
use dream_ports::Starter;
use dream_workflows::contract::{
    Applied, ApplyStretch, Asked, Begin, Begun, DuePage, DuePageDone, Judged, Look, Mirrored, Namespaces,
    NamespacesPage, Part, PartDone, Reconciled, Report, Reported, RequestCall, RequestDone, RunRef, Sealed,
    SettleReview, Swept, UndoInput, Undone,
};

use crate::apply::OnGroup;
use crate::observe::{About, observe};
use crate::world::World;
use crate::{audit, begin, embed, mirror, plan, reconcile, report, requests, seal, space, sweep, undo};

const fn of_run<'a>(activity: &'static str, run: &'a RunRef) -> About<'a> {
    About { activity, run_id: Some(run.run_id.as_str()), kind: None }
}

const fn of_store(activity: &'static str) -> About<'static> {
    About { activity, run_id: None, kind: None }
}

/// [`begin::begin`].
pub async fn begin(world: &World, call: Begin) -> Result<Begun, Failure> {
    let input = &call.input;
    let run_id = input.resume_from.or(input.run_id).map_or_else(|| call.run_id.clone(), |id| id.to_string());
    observe(About { activity: "begin", run_id: Some(&run_id), kind: None }, begin::begin(world, call)).await
}

/// [`audit::audit`].
pub async fn audit(world: &World, part: Part) -> Result<PartDone, Failure> {
    let run = part.run.clone();
    observe(About { kind: Some(part.kind), ..of_run("audit", &run) }, audit::audit(world, part)).await
}

/// [`plan::plan`].
pub async fn plan(world: &World, part: Part) -> Result<PartDone, Failure> {
    let (run, kind) = (part.run.clone(), part.kind);
    // A planner holds much; on the heap it makes nothing larger that holds it in turn.
    let work = Box::pin(plan::plan(world, part));
    observe(About { kind: Some(kind), ..of_run("plan", &run) }, work).await
}

/// [`seal::seal`].
pub async fn seal(world: &World, run: RunRef) -> Result<Sealed, Failure> {
    observe(of_run("seal", &run.clone()), seal::seal(world, run)).await
}

/// [`embed::prepare`].
pub async fn prepare(world: &World, run: RunRef) -> Result<PartDone, Failure> {
    observe(of_run("prepare", &run.clone()), embed::prepare(world, run)).await
}

/// [`requests::park_for_review`].
pub async fn park_for_review(world: &World, run: RunRef) -> Result<(), Failure> {
    observe(of_run("park_for_review", &run.clone()), requests::park_for_review(world, run)).await
}

/// [`requests::look`].
pub async fn look(world: &World, run: RunRef) -> Result<Look, Failure> {
    observe(of_run("look", &run.clone()), requests::look(world, run)).await
}

/// [`requests::record_request`].
pub async fn record_request(world: &World, call: RequestCall) -> Result<RequestDone, Failure> {
    observe(of_run("record_request", &call.run.clone()), requests::record_request(world, call)).await
}

/// [`requests::settle_review`].
pub async fn settle_review(world: &World, call: SettleReview) -> Result<(), Failure> {
    observe(of_run("settle_review", &call.run.clone()), requests::settle_review(world, call)).await
}

/// [`crate::apply::apply`].
pub async fn apply(world: &World, call: ApplyStretch, on_group: OnGroup<'_>) -> Result<Applied, Failure> {
    observe(of_run("apply", &call.run.clone()), crate::apply::apply(world, call, on_group)).await
}

/// [`mirror::mirror`].
pub async fn mirror(world: &World, run: RunRef) -> Result<Mirrored, Failure> {
    observe(of_run("mirror", &run.clone()), Box::pin(mirror::mirror(world, run))).await
}

/// [`reconcile::reconcile`].
pub async fn reconcile(world: &World) -> Result<Reconciled, Failure> {
    observe(of_store("reconcile"), Box::pin(reconcile::reconcile(world))).await
}

/// [`space::tidy::tidy`].
pub async fn tidy(world: &World, run: RunRef) -> Result<Sealed, Failure> {
    observe(of_run("tidy", &run.clone()), space::tidy::tidy(world, run)).await
}

/// [`space::ask::ask`].
pub async fn ask(world: &World, run: RunRef) -> Result<Asked, Failure> {
    observe(of_run("ask", &run.clone()), Box::pin(space::ask::ask(world, run))).await
}

/// [`space::judge::judge`].
pub async fn judge(world: &World, run: RunRef) -> Result<Judged, Failure> {
    observe(of_run("judge", &run.clone()), Box::pin(space::judge::judge(world, run))).await
}

/// [`report::report`].
pub async fn report(world: &World, call: Report) -> Result<Reported, Failure> {
    observe(of_run("report", &call.run.clone()), report::report(world, call)).await
}

/// [`undo::undo`].
pub async fn undo(world: &World, input: UndoInput) -> Result<Undone, Failure> {
    let run_id = input.run_id.clone();
    observe(About { activity: "undo", run_id: run_id.as_deref(), kind: None }, undo::undo(world, input)).await
}

/// [`space::due::start_page`].
pub async fn start_due(world: &World, starter: &dyn Starter, call: DuePage) -> Result<DuePageDone, Failure> {
    observe(of_store("start_due"), space::due::start_page(world, starter, call)).await
}

/// [`sweep::sweep`].
pub async fn sweep(world: &World, store: String) -> Result<Swept, Failure> {
    observe(of_store("sweep"), sweep::sweep(world, &store)).await
}

/// [`begin::namespaces`].
pub async fn namespaces(world: &World, call: Namespaces) -> Result<NamespacesPage, Failure> {
    observe(of_store("namespaces"), begin::namespaces(world, call)).await
}
