//! Spaces: their content, the questions that a run asks of somebody else's model, and the answers.
//!
//! Facts, journal, actions, values, records and the profile of a space are rows of [`Table`]s like any other content, so a
//! dream changes them through groups of ops and undo, and everybody else through the few calls here. Memory text lies in
//! rows, in questions, in answers and in the texts beside a plan, and [`SpaceStore::forget_fact`] reaches all of them.
//!
//! **Invariant:** a run that waits holds no lease: its question is written and the lease given back in one transaction.

use async_trait::async_trait;
use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::clock::Moment;
use dream_core::digest::Fingerprint;
use dream_core::id::{NamespaceId, RunId};
use dream_core::plan::{Plan, PlanHash};
use dream_core::realm::space::fact::{DreamMode, Space};
use dream_core::run::SkipReason;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StoreError;
use crate::plan::Step;
use crate::run::Fence;

/// SHA-256 of a key: what a store holds of it.
pub type KeyHash = [u8; 32];

/// The first bytes of the hash of a key, under which it is found. They may be told: nobody gets from a hash to its key.
pub type KeyId = [u8; 8];

/// The first and the last hash that begin with an id.
pub fn key_range(id: KeyId) -> [KeyHash; 2] {
    [0, u8::MAX].map(|rest| {
        let mut hash = [rest; 32];
        hash[..id.len()].copy_from_slice(&id);
        hash
    })
}

/// A space, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceRecord {
    /// Its id.
    pub id: NamespaceId,
    /// What people call it.
    pub name: String,
    /// Its time zone, by its name in the IANA database.
    pub zone: String,
    /// Whose model consolidates it.
    pub mode: DreamMode,
    /// When it was made.
    pub created_at: Moment,
    /// When its memory was last used; a dream is no use.
    pub last_used_at: Option<Moment>,
    /// When its last dream started, whoever started it.
    pub last_dream_started_at: Option<Moment>,
}

impl SpaceRecord {
    /// The space, as far as it matters for when it dreams.
    pub fn of_due(&self) -> Space {
        Space {
            id: self.id.0,
            zone: self.zone.clone(),
            mode: self.mode,
            last_used_at: self.last_used_at,
            last_dream_started_at: self.last_dream_started_at,
        }
    }
}

/// A space that is to be made.
#[derive(Clone, Debug)]
pub struct NewSpace {
    /// Its id.
    pub id: NamespaceId,
    /// What people call it.
    pub name: String,
    /// Its time zone.
    pub zone: String,
    /// Whose model consolidates it.
    pub mode: DreamMode,
    /// What is kept of its first key.
    pub key_hash: KeyHash,
}

/// What is to change of a space. What is none stays.
#[derive(Clone, Debug, Default)]
pub struct SpacePatch {
    /// What people call it.
    pub name: Option<String>,
    /// Its time zone.
    pub zone: Option<String>,
    /// Whose model consolidates it.
    pub mode: Option<DreamMode>,
}

/// What forgetting a fact came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Whether the fact was still there.
    pub was_there: bool,
    /// Runs that waited with a copy of it, and were closed.
    pub abandoned: Vec<RunId>,
    /// Undo records out of which it was taken.
    pub undo_records: u32,
    /// Texts that dreams wrote with a word that only it had, and that went with it: profile, digests, records, and what undo
    /// would have brought back of them.
    pub derived: u32,
    /// Facts that absorbed it more than seven days ago: what they said before is no longer known, so they still say what a
    /// dream made of both.
    pub reworded: Vec<Uuid>,
}

/// What housekeeping did besides ops. It is not taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tidied {
    /// Pending and approved actions past their end.
    pub actions_expired: u32,
    /// Values past their end.
    pub key_values_deleted: u32,
}

/// A round that is to be sealed behind those that are.
#[derive(Clone, Debug)]
pub struct Round<'a> {
    /// Its ops, their places behind those of the rounds before.
    pub plan: &'a Plan,
    /// The hash of the run with this round.
    pub run_hash: &'a PlanHash,
    /// Its step; a round whose step is done is not written again.
    pub step: &'a Step,
    /// Texts that its ops write, by their digests.
    pub texts: &'a [(Fingerprint, String)],
    /// What it left out, and why.
    pub skip_reasons: &'a [SkipReason],
    /// Whether it comes of an answer: then it is sealed only while the question stands, that is, while nothing was forgotten
    /// since.
    pub is_answer: bool,
}

/// A question for somebody else's model.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    /// The question, as JSON: holds copies of memories.
    pub body: &'a str,
    /// The facts that it tells. Where one of them was forgotten since it was cut, it is not written.
    pub facts: &'a [Uuid],
    /// Whether the run gives its target back and waits for somebody to fetch it.
    pub waits_for_client: bool,
}

/// A question, as the store has it.
#[derive(Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// The run that asks.
    pub run: RunId,
    /// The space.
    pub space: NamespaceId,
    /// The question; none once it was forgotten, or the run is over.
    pub body: Option<String>,
    /// When it was asked.
    pub asked_at: Moment,
    /// Answers that could not be used.
    pub answers_bad: u32,
    /// The digest of the answer that was taken.
    pub accepted: Option<Fingerprint>,
    /// That answer; none once it was forgotten, or the run is over.
    pub answer: Option<String>,
}

impl std::fmt::Debug for JobRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { run, asked_at, answers_bad, accepted, .. } = self;
        f.debug_struct("JobRecord")
            .field("run", run)
            .field("asked_at", asked_at)
            .field("answers_bad", answers_bad)
            .field("accepted", accepted)
            .finish_non_exhaustive()
    }
}

/// An answer to a question.
#[derive(Clone)]
pub struct NewAnswer<'a> {
    /// Its keyed digest: the same answer has the same.
    pub digest: Fingerprint,
    /// What it says, if it can be used.
    pub body: Option<&'a str>,
    /// Why it cannot be used; no memory text.
    pub problem: Option<&'a str>,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// It stands.
    Accepted,
    /// It stood already.
    AlreadyAccepted,
    /// It was counted as one that cannot be used; so many there are now, each counted once.
    Bad {
        /// Answers that could not be used.
        answers_bad: u32,
    },
    /// Another answer stands.
    OtherAccepted,
    /// The run does not wait for one.
    NotWaiting,
}

/// Spaces of a store.
#[async_trait]
pub trait SpaceStore: Send + Sync {
    /// Makes a space with its first key.
    async fn create_space(&self, space: &NewSpace) -> Result<(), StoreError>;

    /// A space by its id.
    async fn space(&self, id: NamespaceId) -> Result<SpaceRecord, StoreError>;

    /// Spaces by id, behind `after`, at most `limit`.
    async fn spaces(&self, after: Option<NamespaceId>, limit: u32) -> Result<Vec<SpaceRecord>, StoreError>;

    /// Changes what a space is called, where it is, or whose model consolidates it.
    async fn change_space(&self, id: NamespaceId, patch: &SpacePatch) -> Result<(), StoreError>;

    /// Gives a space another key.
    async fn add_space_key(&self, id: NamespaceId, key_hash: &KeyHash) -> Result<(), StoreError>;

    /// The keys that are found under this id, each with its space. Whoever asks compares them.
    async fn keys_under(&self, id: KeyId) -> Result<Vec<(KeyHash, NamespaceId)>, StoreError>;

    /// Notes that the memory of a space was used now.
    async fn use_space(&self, id: NamespaceId) -> Result<(), StoreError>;

    /// Rows of one table of a space, by id, behind `after`, at most `limit`.
    async fn space_rows(
        &self,
        space: NamespaceId,
        table: Table,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError>;

    /// One row of a space.
    async fn space_row(&self, space: NamespaceId, key: RowKey) -> Result<Option<Row>, StoreError>;

    /// Writes whole rows, new or in place of those that are there. A row of another space is not touched.
    async fn put_rows(&self, space: NamespaceId, rows: &[Row]) -> Result<(), StoreError>;

    /// Sets cells of a row, read and written in one transaction; answers the row as it stands then, none if it is not there.
    async fn change_row(
        &self,
        space: NamespaceId,
        key: RowKey,
        cells: &[(Column, Value)],
    ) -> Result<Option<Row>, StoreError>;

    /// Takes rows out; answers how many there were.
    async fn remove_rows(&self, space: NamespaceId, table: Table, ids: &[Uuid]) -> Result<u32, StoreError>;

    /// Counts a recall of each of these facts; answers how many there are.
    async fn recall_facts(&self, space: NamespaceId, facts: &[Uuid]) -> Result<u32, StoreError>;

    /// Takes a fact out for good, in one transaction: its row, records of ours that speak of it, every undo record of it and of
    /// what was merged into it, wordings that were made of it, what else dreams wrote with a word that only it had, and all
    /// questions, answers and texts of the space, which may hold copies. Runs that wait for an answer are closed.
    async fn forget_fact(&self, space: NamespaceId, fact: Uuid) -> Result<Forgotten, StoreError>;

    /// Expires actions and deletes values past their end, once per run: the step keeps what it came to.
    async fn tidy(&self, fence: &Fence, step: &str, as_of: Moment) -> Result<Tidied, StoreError>;

    /// Seals a round behind those that are: ops, texts, the hash of the run and the step, in one transaction. Answers whether
    /// it is sealed; it is not where it comes of an answer whose question was forgotten.
    async fn append_round(&self, fence: &Fence, round: &Round<'_>) -> Result<bool, StoreError>;

    /// Writes the question of a run, and, where it waits for a client, says so and gives the lease back, in one transaction. A
    /// question that was asked stays as it was. Answers whether it is written; it is not where a fact of it was forgotten.
    async fn ask(&self, fence: &Fence, job: &NewJob<'_>) -> Result<bool, StoreError>;

    /// The question of a run, with what was answered.
    async fn job(&self, run: RunId) -> Result<Option<JobRecord>, StoreError>;

    /// Takes an answer, checked and written in one statement.
    async fn answer_job(&self, run: RunId, answer: &NewAnswer<'_>) -> Result<AnswerOutcome, StoreError>;

    /// Deletes what undo needs of runs over spaces that ended before this moment; answers how many records went.
    async fn purge_space_undo(&self, before: Moment) -> Result<u32, StoreError>;
}
