//! What every face for agents shares: which space a call is about, what it may ask, and what it gets.
//!
//! REST and MCP read a call, find its space, and ask here; what they answer is a type of [`wire`].
//!
//! **Invariant:** every call names its space first, and an id of another space is answered as an unknown one: [`Refusal::Absent`].
//! New calls go to [`memory`] or [`dreams`], with their words in [`wire`] or [`report`].

pub(crate) mod dreams;
pub(crate) mod memory;
pub(crate) mod report;
pub(crate) mod wire;

use std::sync::Arc;

use dream_activities::World;
use dream_activities::world::StoreHandle;
use dream_core::failure::{Code, Failure};
use dream_core::id::RunId;
use dream_ports::{Store, StoreError};
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::exit::Fault;

/// A store, as the faces for agents see it.
#[derive(Clone)]
pub(crate) struct Face {
    world: Arc<World>,
    store: Arc<str>,
    /// Dreams that this process tells. Whoever asked for one may hang up; it goes on.
    dreams: TaskTracker,
    /// Held while an answer is carried out, so that the same answer, handed in twice at once, is carried out once.
    answering: Arc<[Mutex<()>; RUNS_ANSWERED_AT_ONCE]>,
}

/// Answers that are carried out at once; a run has its place among them by its id.
const RUNS_ANSWERED_AT_ONCE: usize = 16;

/// Why a call was not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// There is no such thing in the space. It may be in another one, which is nobody's business here.
    #[error("no {what} {id} is in this space")]
    Absent {
        /// What kind of thing.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// A run stands in the way.
    #[error("{failure}")]
    InTheWay {
        /// What is said of it.
        failure: Failure,
        /// The run.
        run: RunId,
    },
    /// It failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.into_failure())
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::InTheWay { failure, .. } | Refusal::Failed(failure) => failure.into(),
            absent @ Refusal::Absent { .. } => Self::new(Code::InvalidInput, absent.to_string()),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Fault::from(error).into()
    }
}

impl Face {
    /// A face of the store that the world knows by this name.
    pub(crate) fn new(world: Arc<World>, store: &str) -> Result<Self, Fault> {
        world.store(store)?;
        let answering = Arc::new(std::array::from_fn(|_| Mutex::new(())));
        Ok(Self { world, store: store.into(), dreams: TaskTracker::new(), answering })
    }

    pub(crate) fn handle(&self) -> Result<&StoreHandle, Failure> {
        self.world.store(&self.store)
    }

    fn store(&self) -> Result<&dyn Store, Failure> {
        Ok(self.handle()?.store.as_ref())
    }

    fn answering(&self, run: Uuid) -> &Mutex<()> {
        // The last byte of an id is chance.
        &self.answering[usize::from(run.as_bytes()[15]) % RUNS_ANSWERED_AT_ONCE]
    }

    /// Waits until no dream is told in this process any more.
    pub(crate) async fn settled(&self) {
        self.dreams.close();
        self.dreams.wait().await;
    }
}
