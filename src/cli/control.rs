//! `dream cancel`, `pause`, `unpause`, `stop`, `go`: requests, as rows.

use std::sync::Arc;

use clap::Args;
use dream_core::id::{NamespaceId, RunId};
use dream_core::run::{LEASE_TERM_SECONDS, Mode, RunState};
use dream_ports::Store;
use dream_ports::run::{Request, RequestKind, RunRecord};
use uuid::Uuid;

use super::StoreArg;
use super::hint::Hints;
use crate::config::Config;
use crate::exit::{Exit, Fault};
use crate::requests::{self, LOCAL, Made, UNNAMED};
use crate::term;

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
    async fn ask(self, config: &Config, kind: RequestKind) -> Result<Exit, Fault> {
        let store = self.store.open(config).await?;
        let request =
            Request { run: RunId(self.run), kind, by: self.by.unwrap_or_else(|| UNNAMED.to_owned()), plan_hash: None };
        make(store.as_ref(), &request, self.store.hints(config)).await
    }
}

/// Makes a request, and says what will become of it.
pub(crate) async fn make(store: &dyn Store, request: &Request, hints: Hints<'_>) -> Result<Exit, Fault> {
    match requests::make(store, request, None).await? {
        Made::Recorded { record, is_woken } => {
            let silent_seconds = store.now().await?.seconds_since(record.heartbeat_at);
            let fate = Fate { record: &record, resume: hints.resume(&record), is_woken, silent_seconds };
            term::note(&format!("recorded; {}", fate.of(request.kind)));
            Ok(Exit::Done)
        }
        Made::AskedBefore => {
            term::note(&format!("run {} was asked for this before", request.run));
            Ok(Exit::Nothing)
        }
    }
}

/// What a request meets with: whether somebody works for the run, and when it looks at its requests.
struct Fate<'a> {
    record: &'a RunRecord,
    /// The command that goes on with the run.
    resume: String,
    /// Whether the workflow was told to look at once.
    is_woken: bool,
    /// Since the run's last sign of life.
    silent_seconds: i64,
}

impl Fate<'_> {
    /// What becomes of a request that was recorded, in a sentence.
    fn of(&self, kind: RequestKind) -> String {
        let (run, is_parked) = (self.record.run, self.record.state == RunState::AwaitingReview);
        let (is_local, resume) = (self.record.engine == LOCAL, &self.resume);
        match kind {
            RequestKind::Approve if is_local => format!("carry the plan out with `{resume}`"),
            RequestKind::Approve => format!("run {run} carries the plan out {}", self.soon()),
            RequestKind::Reject if is_local => {
                format!("the plan is not carried out; close the run, and have it remembered, with `{resume}`")
            }
            RequestKind::Reject => format!("run {run} closes {}, and what was rejected is remembered", self.soon()),
            RequestKind::Cancel if is_parked && is_local => format!("close the run with `{resume}`"),
            RequestKind::Cancel if self.is_waiting() => format!("run {run} closes {}", self.soon()),
            RequestKind::Cancel => format!("run {run} closes {}{}", self.next_step(), self.should_it_be_dead()),
            RequestKind::Pause if self.record.mode == Mode::DryRun => {
                format!("run {run} is a dry run and carries nothing out, so that it does not pause")
            }
            RequestKind::Pause if self.record.state == RunState::Applying => {
                format!("run {run} pauses {}{}", self.next_step(), self.should_it_be_dead())
            }
            RequestKind::Pause => format!("run {run} pauses when it begins to carry its plan out"),
            RequestKind::Unpause if self.is_waiting() && !is_parked => format!("run {run} goes on {}", self.soon()),
            RequestKind::Unpause => format!("run {run} does not pause"),
        }
    }

    fn is_waiting(&self) -> bool {
        self.record.waiting_for.is_some()
    }

    /// When a waiting run looks at its requests.
    fn soon(&self) -> String {
        match (self.record.engine.as_str(), self.is_woken) {
            (LOCAL, _) => format!("within a second; should its process be gone, `{}` goes on with it", self.resume),
            (_, true) => "now".to_owned(),
            (_, false) => "within a minute".to_owned(),
        }
    }

    /// When a run that works looks at its requests.
    fn next_step(&self) -> &'static str {
        if self.record.state == RunState::Applying { "at its next group" } else { "after the step it is in" }
    }

    /// A run whose process died heeds nothing until somebody goes on with it.
    fn should_it_be_dead(&self) -> String {
        if self.record.engine != LOCAL || self.silent_seconds < LEASE_TERM_SECONDS {
            return String::new();
        }
        format!(
            "; it has been silent for {} seconds: should it be dead, `{}` heeds this",
            self.silent_seconds, self.resume
        )
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
            pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
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
    async fn open(&self, config: &Config) -> Result<(Arc<dyn Store>, Option<NamespaceId>), Fault> {
        let store = self.store.open(config).await?;
        let namespace = requests::namespace(store.as_ref(), self.namespace).await?;
        Ok((store, namespace))
    }

    /// What the switch is about.
    fn reach(&self) -> String {
        self.namespace.map_or_else(|| "this store".to_owned(), |id| format!("namespace {id}"))
    }

    /// The command that lifts it.
    fn go(&self, config: &Config) -> String {
        let namespace = self.namespace.map(|id| format!(" --namespace {id}")).unwrap_or_default();
        self.store.hints(config).command(&format!("go{namespace}"))
    }
}

impl Stop {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let (store, namespace) = self.switch.open(config).await?;
        let by = self.switch.by.as_deref().unwrap_or(UNNAMED);
        requests::set_stop(store.as_ref(), namespace, by, &self.why).await?;
        let go = self.switch.go(config);
        term::note(&format!("nothing is applied to {} until `{go}`", self.switch.reach()));
        term::note("a run that applies there stops at its next group");
        Ok(Exit::Done)
    }
}

impl Go {
    pub(crate) async fn run(self, config: &Config) -> Result<Exit, Fault> {
        let (store, namespace) = self.switch.open(config).await?;
        if !requests::lift_stop(store.as_ref(), namespace).await? {
            term::note(&format!(
                "no kill switch was set for {}; `dream status` lists those that are",
                self.switch.reach()
            ));
            return Ok(Exit::Nothing);
        }
        term::note(&format!("the kill switch of {} is lifted", self.switch.reach()));
        Ok(Exit::Done)
    }
}
