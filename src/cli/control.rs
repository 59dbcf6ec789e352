//! `dream cancel`, `pause`, `unpause`, `stop`, `go`: requests, as rows.

use clap::Args;
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_ports::Store;
use dream_core::run::RunState;
use dream_ports::run::{Request, RequestKind, RequestOutcome, RunRecord};
use uuid::Uuid;

use super::StoreArg;
use crate::config::Config;
use crate::exit::Exit;
use crate::{engine, term, wiring};

/// A request to one run.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The run.
    run: Uuid,
    /// Who asks; the login name if it is not said.
    #[arg(long, env = "USER")]
    by: Option<String>,
    #[command(flatten)]
    store: StoreArg,
}

impl Ask {
    async fn ask(self, config: &Config, kind: RequestKind) -> anyhow::Result<Exit> {
        let wanted = wiring::store_config(config, self.store.store.as_deref());
        let store = wiring::open(&wanted.url, false).await?;
        let request = Request {
            run: dream_core::id::RunId(self.run),
            kind,
            by: self.by.unwrap_or_else(|| "unnamed".to_owned()),
            plan_hash: None,
        };
        let record = store.run(request.run).await?;
        let exit = answer(self.run, store.request(&request).await?)?;
        pass_on(&record).await;
        Ok(exit)
    }
}

/// Sees to it that a request is heeded now: a workflow is woken. A run that waits for a person outside of an engine has no
/// process that could heed it, so it is said how to go on.
pub(crate) async fn pass_on(record: &RunRecord) {
    if record.engine != "local" {
        engine::wake(record.workflow_id.as_deref()).await;
    } else if record.state == RunState::AwaitingReview {
        let namespace = record.stable_namespace;
        term::note(&format!("go on with `dream run graph --namespace {namespace} --resume {}`", record.run));
    }
}

/// Says what became of a request.
pub(crate) fn answer(run: Uuid, outcome: RequestOutcome) -> anyhow::Result<Exit> {
    let refused = |text: String| Err(Failure::new(Code::WrongState, text).into());
    match outcome {
        RequestOutcome::Recorded => {
            term::note(&format!("recorded; run {run} heeds it at its next group"));
            Ok(Exit::Done)
        }
        RequestOutcome::AlreadyRecorded => {
            term::note(&format!("run {run} was asked for this before"));
            Ok(Exit::Nothing)
        }
        RequestOutcome::TooLate => refused(format!("run {run} was asked for the opposite before")),
        RequestOutcome::RunClosed => refused(format!("run {run} is over")),
        RequestOutcome::NotWaiting => refused(format!("run {run} does not wait for this")),
        RequestOutcome::OtherPlan => refused(format!("run {run} has another plan than the one that is meant")),
    }
}

macro_rules! asks {
    ($($name:ident: $kind:expr),+ $(,)?) => {$(
        #[derive(Debug, Args)]
        pub(crate) struct $name {
            #[command(flatten)]
            ask: Ask,
        }

        impl $name {
            pub(crate) async fn run(self, config: &Config) -> anyhow::Result<Exit> {
                self.ask.ask(config, $kind).await
            }
        }
    )+};
}

asks! {
    Cancel: RequestKind::Cancel,
    Pause: RequestKind::Pause,
    Unpause: RequestKind::Unpause,
}

#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// Why, for whoever finds the switch set.
    #[arg(long)]
    why: String,
    #[command(flatten)]
    switch: Switch,
}

#[derive(Debug, Args)]
pub(crate) struct Go {
    #[command(flatten)]
    switch: Switch,
}

#[derive(Debug, Args)]
struct Switch {
    /// Only for this namespace; the whole store if it is not said.
    #[arg(long)]
    namespace: Option<Uuid>,
    /// Who; the login name if it is not said.
    #[arg(long, env = "USER")]
    by: Option<String>,
    #[command(flatten)]
    store: StoreArg,
}

impl Switch {
    async fn open(&self, config: &Config) -> anyhow::Result<(std::sync::Arc<dyn Store>, Option<NamespaceId>)> {
        let wanted = wiring::store_config(config, self.store.store.as_deref());
        let store = wiring::open(&wanted.url, false).await?;
        let namespace = match self.namespace {
            Some(id) => Some(store.resolve_namespace(id).await?.id),
            None => None,
        };
        Ok((store, namespace))
    }
}

impl Stop {
    pub(crate) async fn run(self, config: &Config) -> anyhow::Result<Exit> {
        let (store, namespace) = self.switch.open(config).await?;
        let by = self.switch.by.as_deref().unwrap_or("unnamed");
        store.set_stop(namespace, Some((by, &self.why))).await?;
        term::note("nothing is applied there until `dream go`; a running apply stops at its next group");
        Ok(Exit::Done)
    }
}

impl Go {
    pub(crate) async fn run(self, config: &Config) -> anyhow::Result<Exit> {
        let (store, namespace) = self.switch.open(config).await?;
        store.set_stop(namespace, None).await?;
        term::note("the switch is lifted");
        Ok(Exit::Done)
    }
}
