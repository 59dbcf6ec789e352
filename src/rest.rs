//! The REST face: one store's spaces over HTTP, each behind its key, and beside them the description of it all.
//!
//! One call is one line of [`memory`] or [`dreams`]: its address, its words, and the call of [`crate::face`] it makes. What
//! `/v1/openapi.json` says is generated from the same lines.
//!
//! **Invariant:** nothing is reached without a key but the description and the sign of life; see [`gate`].

mod api;
mod gate;
mod page;
mod problem;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use dream_activities::failure::ResultExt as _;
use dream_core::failure::Code;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::exit::Fault;
use crate::face::report::{AskJob, StartDream, UndoHow};
use crate::face::wire::{
    ContextSize, Forget, ListFacts, NewAction, NewEntry, NewFact, NewRecord, NewValue, Page, PatchFact, Recall,
    Standing,
};
use crate::face::{Face, Refusal};
use crate::mcp;
use crate::signals::told_to_stop;
use api::{Api, Done, Endpoint, NoBody, Nothing, Perhaps, RawAnswer, Read};
use gate::Gate;
use page::RunPage;

pub(crate) use gate::Caller;
pub(crate) use problem::Problem;

/// How long dreams may take to come to the end of their group after a signal. Whoever stops this process kills it soon after.
const GRACE: Duration = Duration::from_secs(20);

/// Serves the face until the process is told to stop; `ready` is told where it listens.
pub(crate) async fn serve(address: SocketAddr, face: Face, ready: impl FnOnce(SocketAddr)) -> Result<(), Fault> {
    let cannot = |error: std::io::Error| {
        Fault::new(Code::Configuration, format!("--listen {address}: cannot be served there: {}", error.kind()))
    };
    let listener = tokio::net::TcpListener::bind(address).await.map_err(cannot)?;
    ready(listener.local_addr().map_err(cannot)?);
    let told = async {
        if told_to_stop().await.is_err() {
            // Without signals only a kill ends it.
            std::future::pending::<()>().await;
        }
    };
    let served = router(&face).into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, served).with_graceful_shutdown(told).await.map_err(cannot)?;
    // What is not over by then goes on where it stopped, when somebody resumes it.
    let _settled = tokio::time::timeout(GRACE, face.settled()).await;
    Ok(())
}

fn router(face: &Face) -> Router {
    let mut api = Api::default();
    memory(&mut api);
    collections(&mut api);
    dreams(&mut api);
    let (routes, description) = api.build();
    let gate = Gate::new(face.clone());
    let behind_the_gate = gate.keep(routes.nest_service("/mcp", mcp::over_http(face)));
    let described = get(move || async move { ([(CONTENT_TYPE, "application/json")], description) });
    let open = Router::new()
        .route("/v1/openapi.json", described)
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready).with_state(face.clone()));
    let unknown = || async { Problem::of(StatusCode::NOT_FOUND, "there is nothing at this address") };
    let not_so = || async { Problem::of(StatusCode::METHOD_NOT_ALLOWED, "this address does not know the method") };
    open.merge(behind_the_gate).fallback(unknown).method_not_allowed_fallback(not_so)
}

async fn ready(axum::extract::State(face): axum::extract::State<Face>) -> Result<&'static str, Problem> {
    face.handle().map_err(Refusal::from)?.store.now().await.or_fail().map_err(Refusal::from)?;
    Ok("ready")
}

/// Part of an address: a row, or a run.
#[derive(Deserialize, JsonSchema)]
struct One {
    id: Uuid,
}

/// Part of an address: a run, or its page.
#[derive(Deserialize, JsonSchema)]
struct RunAddress {
    run_id: String,
}

/// Part of an address: the key of a value.
#[derive(Deserialize, JsonSchema)]
struct KeyAddress {
    key: String,
}

/// Part of an address: a collection.
#[derive(Deserialize, JsonSchema)]
struct CollectionAddress {
    collection: String,
}

/// Part of an address: a record of a collection.
#[derive(Deserialize, JsonSchema)]
struct RecordAddress {
    #[expect(dead_code, reason = "an id is unique without it, and reads better with it")]
    collection: String,
    id: Uuid,
}

fn run_of(text: &str) -> Result<Uuid, Refusal> {
    // A text that is no id belongs to no run.
    text.parse().map_err(|_| Refusal::Absent { what: "run", id: "with this id".to_owned() })
}

fn memory(api: &mut Api) {
    let space = Endpoint::get("get_space", "/v1/space", "The space that the key opens");
    api.add(space, async |c: Caller, _: Nothing, _: Nothing, _: NoBody| c.face.space(c.space).await);
    let context = Endpoint::get("get_context", "/v1/context", "What an agent gets at the start of a conversation");
    api.add(context, async |c: Caller, _: Nothing, size: ContextSize, _: NoBody| c.face.context(c.space, size).await);
    let list = Endpoint::get("list_facts", "/v1/facts", "Lists facts, by id");
    api.add(list, async |c: Caller, _: Nothing, list: ListFacts, _: NoBody| c.face.facts(c.space, list).await);
    let add = Endpoint::post("add_fact", "/v1/facts", "Remembers a fact").creating();
    api.add(add, async |c: Caller, _: Nothing, _: Nothing, new: Read<NewFact>| c.face.add_fact(c.space, new.0).await);
    let patch = Endpoint::patch("patch_fact", "/v1/facts/{id}", "Changes a fact");
    api.add(patch, async |c: Caller, one: One, _: Nothing, patch: Read<PatchFact>| {
        c.face.patch_fact(c.space, one.id, patch.0).await
    });
    let recall = Endpoint::post("recall", "/v1/recall", "Recalls facts that speak of some words, best first");
    api.add(recall, async |c: Caller, _: Nothing, _: Nothing, recall: Read<Recall>| {
        c.face.recall(c.space, recall.0).await
    });
    let forget =
        Endpoint::post("forget", "/v1/forget", "Forgets a fact for good, with every copy that dreams keep of it");
    api.add(forget, async |c: Caller, _: Nothing, _: Nothing, forget: Read<Forget>| {
        c.face.forget(c.space, forget.0).await
    });
}

fn collections(api: &mut Api) {
    let journal = Endpoint::get("get_journal", "/v1/journal", "The journal, newest day first");
    api.add(journal, async |c: Caller, _: Nothing, page: Page, _: NoBody| c.face.journal(c.space, page).await);
    let write = Endpoint::post("add_journal_entry", "/v1/journal", "Writes an entry of the journal").creating();
    api.add(write, async |c: Caller, _: Nothing, _: Nothing, new: Read<NewEntry>| {
        c.face.add_entry(c.space, new.0).await
    });
    let actions = Endpoint::get("list_actions", "/v1/actions", "Lists actions, by id");
    api.add(actions, async |c: Caller, _: Nothing, page: Page, _: NoBody| c.face.actions(c.space, page).await);
    let act = Endpoint::post("add_action", "/v1/actions", "Keeps an action, pending").creating();
    api.add(act, async |c: Caller, _: Nothing, _: Nothing, new: Read<NewAction>| {
        c.face.add_action(c.space, new.0).await
    });
    let set = Endpoint::patch("set_action", "/v1/actions/{id}", "Says where an action stands");
    api.add(set, async |c: Caller, one: One, _: Nothing, standing: Read<Standing>| {
        c.face.set_action(c.space, one.id, &standing.0.status).await
    });
    let values = Endpoint::get("list_values", "/v1/kv", "Lists values");
    api.add(values, async |c: Caller, _: Nothing, page: Page, _: NoBody| c.face.values(c.space, page).await);
    let value = Endpoint::get("get_value", "/v1/kv/{key}", "The value under a key");
    api.add(value, async |c: Caller, at: KeyAddress, _: Nothing, _: NoBody| c.face.value(c.space, &at.key).await);
    let put = Endpoint::put("put_value", "/v1/kv/{key}", "Keeps a value under a key");
    api.add(put, async |c: Caller, at: KeyAddress, _: Nothing, new: Read<NewValue>| {
        c.face.put_value(c.space, &at.key, new.0).await
    });
    let delete = Endpoint::delete("delete_value", "/v1/kv/{key}", "Takes the value under a key away");
    api.add(delete, async |c: Caller, at: KeyAddress, _: Nothing, _: NoBody| {
        c.face.delete_value(c.space, &at.key).await.map(|()| Done)
    });
    let records =
        Endpoint::get("list_records", "/v1/collections/{collection}", "Records of a collection, oldest first");
    api.add(records, async |c: Caller, at: CollectionAddress, page: Page, _: NoBody| {
        c.face.records(c.space, &at.collection, page).await
    });
    let record = Endpoint::post("add_record", "/v1/collections/{collection}", "Keeps a record").creating();
    api.add(record, async |c: Caller, at: CollectionAddress, _: Nothing, new: Read<NewRecord>| {
        c.face.add_record(c.space, at.collection, new.0).await
    });
    let set = Endpoint::patch("set_record", "/v1/collections/{collection}/{id}", "Says where a record stands");
    api.add(set, async |c: Caller, at: RecordAddress, _: Nothing, standing: Read<Standing>| {
        c.face.set_record(c.space, at.id, &standing.0.status).await
    });
}

fn dreams(api: &mut Api) {
    let next = Endpoint::get("next_job", "/v1/dream/jobs/next", "The job for the agent's model, or why there is none");
    api.add(next, async |c: Caller, _: Nothing, ask: AskJob, _: NoBody| {
        c.face.next_job(c.space, ask.start_if_due).await
    });
    let submit = Endpoint::post("submit_result", "/v1/dream/jobs/{id}/result", "Hands the model's answer in");
    api.add(submit, async |c: Caller, one: One, _: Nothing, answer: RawAnswer| {
        c.face.submit(c.space, one.id, answer.0).await
    });
    let start = Endpoint::post("start_dream", "/v1/dream", "Starts a dream now").accepting();
    api.add(start, async |c: Caller, _: Nothing, _: Nothing, how: Perhaps<StartDream>| {
        c.face.start(c.space, how.0).await
    });
    let due = Endpoint::get("explain", "/v1/dream/due", "Why the space did or did not dream last night");
    api.add(due, async |c: Caller, _: Nothing, _: Nothing, _: NoBody| c.face.why(c.space).await);
    let runs = Endpoint::get("list_runs", "/v1/dream/runs", "Dreams of the space, newest first");
    api.add(runs, async |c: Caller, _: Nothing, page: Page, _: NoBody| c.face.runs(c.space, page.limit).await);
    let summary = "A dream with its report; with `.html` behind the id, as a page for people";
    let run = Endpoint::get("get_run", "/v1/dream/runs/{run_id}", summary);
    api.add(run, async |c: Caller, at: RunAddress, _: Nothing, _: NoBody| match at.run_id.strip_suffix(".html") {
        Some(id) => Ok::<_, Refusal>(RunPage::Html(c.face.run(c.space, run_of(id)?).await?)),
        None => Ok(RunPage::Json(c.face.run(c.space, run_of(&at.run_id)?).await?)),
    });
    let undo = Endpoint::post("undo_run", "/v1/dream/runs/{id}/undo", "Takes a dream back, within seven days");
    api.add(undo, async |c: Caller, one: One, how: UndoHow, _: NoBody| c.face.undo(c.space, one.id, how).await);
}
