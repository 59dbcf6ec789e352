//! The question of a run: cut from the space as housekeeping has left it, and kept in the store until it is answered.
//!
//! **Invariant:** a question that was asked is never asked anew: whoever fetches it twice gets the same.

use dream_core::change::Table;
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_core::realm::space::fact::{DreamMode, Fact, JournalEntry};
use dream_core::realm::space::job::{Job, JobInput, LeftOut, Material, cut};
use dream_core::realm::space::row::entry;
use dream_core::realm::space::ticket::Ticket;
use dream_core::realm::space::zone::Zone;
use dream_ports::plan::Step;
use dream_ports::run::{Fence, RunRecord};
use dream_ports::space::{JobRecord, NewJob};
use dream_workflows::contract::{Asked, RunRef};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::begin::mind_of;
use super::{rows, step};
use crate::failure::{ResultExt, defect};
use crate::lease::while_renewing;
use crate::world::{StoreHandle, World};

/// A question as the store keeps it: copies of memories.
#[derive(Serialize, Deserialize)]
pub struct Question {
    /// What a model gets.
    pub input: JobInput,
    /// Which facts it names, and as they were.
    pub ticket: Ticket,
    /// What there was no room for.
    #[serde(default)]
    pub left_out: LeftOut,
}

impl Question {
    /// The question of a run; none once it was forgotten, or the run is over.
    pub fn of(job: &JobRecord) -> Result<Option<Self>, Failure> {
        let read = |body: &String| serde_json::from_str(body).map_err(|_| defect("the question of the run"));
        job.body.as_ref().map(read).transpose()
    }
}

/// Why a run in server mode has no question where the worker has no model.
const NO_MODEL: &str = "no model is configured for server mode, so there was housekeeping only";

/// Why a run over an empty space has no question.
const NOTHING_TO_ASK: &str = "the space holds no facts and no journal that a model could look at";

/// Why a run has no question whose space never stands still.
const ALWAYS_FORGETTING: &str = "facts were forgotten faster than a question could be written";

/// How often a question is cut anew because a fact of it was forgotten before it was written: that takes milliseconds, and
/// whoever forgets all the time is not waited for.
const CUTS_MAX: u32 = 5;

/// Writes the question of a run; where a client answers it, the space is given back.
pub async fn ask(world: &World, run: RunRef) -> Result<Asked, Failure> {
    let (handle, record, _) = world.load(&run).await?;
    let store = handle.store.as_ref();
    let job = store.job(record.run).await.or_fail()?;
    if job.as_ref().is_some_and(|job| job.accepted.is_some()) {
        return Ok(Asked { is_asked: true, reason: None });
    }
    let mind = mind_of(&record)?;
    let fence = store.fence(record.run, &world.holder).await.or_fail()?;
    while_renewing(store, &fence, async {
        let model = match (mind, &world.mind) {
            (DreamMode::Server, None) => return no_question(handle, &fence, NO_MODEL).await,
            (DreamMode::Server, Some(model)) => Some(model.as_ref()),
            (DreamMode::Client | DreamMode::Off, _) => None,
        };
        let mut asked = job.as_ref().map(Question::of).transpose()?.flatten();
        let mut is_written = false;
        for _cut in 0..CUTS_MAX {
            let question = match asked.take() {
                Some(asked) => asked,
                None => match question(handle, &record).await? {
                    Some(question) => question,
                    None => return no_question(handle, &fence, NOTHING_TO_ASK).await,
                },
            };
            is_written = write(handle, &fence, &question, mind).await?;
            if is_written {
                break;
            }
        }
        if !is_written {
            return no_question(handle, &fence, ALWAYS_FORGETTING).await;
        }
        match model {
            Some(mind) => super::mind::ask_mind(mind, handle, &record, &fence).await,
            None => Ok(Asked { is_asked: true, reason: None }),
        }
    })
    .await
}

/// Writes a question, unless a fact of it was forgotten since it was cut; answers whether it stands.
async fn write(handle: &StoreHandle, fence: &Fence, question: &Question, mind: DreamMode) -> Result<bool, Failure> {
    let body = serde_json::to_string(question).map_err(|_| defect("the question"))?;
    let facts: Vec<Uuid> = question.ticket.facts.iter().map(|told| told.fact).collect();
    let job = NewJob { body: &body, facts: &facts, waits_for_client: mind == DreamMode::Client };
    handle.store.ask(fence, &job).await.or_fail()
}

/// Notes why there is no question.
pub async fn no_question(handle: &StoreHandle, fence: &Fence, reason: &str) -> Result<Asked, Failure> {
    let summary = json!({ "reason": reason }).to_string();
    let step = Step { name: step::NO_QUESTION.to_owned(), summary };
    handle.store.write_findings(fence, &step, &[]).await.or_fail()?;
    Ok(Asked { is_asked: false, reason: Some(reason.to_owned()) })
}

/// Cuts the question of a run; none if there is nothing to ask about.
async fn question(handle: &StoreHandle, record: &RunRecord) -> Result<Option<Question>, Failure> {
    let store = handle.store.as_ref();
    let space = store.space(record.namespace).await.or_fail()?;
    let zone = Zone::named(&space.zone).map_err(|_| {
        Failure::new(Code::Configuration, format!("space {} has a time zone that nobody knows", space.id))
    })?;
    let (facts, journal) = material(handle, record.namespace).await?;
    let key = store.text_key().await.or_fail()?;
    let now = store.now().await.or_fail()?;
    let Job { input, ticket, left_out } =
        cut(Material { facts: &facts, journal: &journal, zone: &zone, now, key: &key });
    let is_empty = input.memory.facts.is_empty() && input.memory.journal.is_empty();
    Ok((!is_empty).then_some(Question { input, ticket, left_out }))
}

async fn material(handle: &StoreHandle, space: NamespaceId) -> Result<(Vec<Fact>, Vec<JournalEntry>), Failure> {
    let facts = rows::facts(&rows::all(handle.store.as_ref(), space, Table::Facts).await?)?;
    let entries = rows::all(handle.store.as_ref(), space, Table::Journal).await?;
    let journal: Result<Vec<JournalEntry>, _> = entries.iter().map(entry).collect();
    Ok((facts, journal.map_err(|error| rows::unreadable(&error))?))
}
