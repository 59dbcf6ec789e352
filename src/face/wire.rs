//! What agents send and get about their memory, word for word: the one place where memories become JSON of a face.
//!
//! Types here carry their own JSON Schema, out of which the description of REST and the schemas of MCP's tools are made.
//!
//! **Invariant:** nothing here is printed for debugging, because most of it is memory text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dream_activities::space::memory::{self, Context, NewEnd};
use dream_core::clock::Moment;
use dream_core::realm::space::day::Day;
use dream_core::realm::space::fact::{DreamMode, Fact, JournalEntry, JournalKind, Origin, Tier};
use dream_ports::space::{Forgotten, SpaceRecord};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::report::RunView;

/// Schemas of values that the domain spells itself.
pub(crate) struct DateTime;
pub(crate) struct Date;
pub(crate) struct TierName;
pub(crate) struct OriginName;
pub(crate) struct ModeName;
pub(crate) struct KindName;

macro_rules! spelled {
    ($name:ident, $schema:expr) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

fn one_of<T: Copy>(all: &[T], spell: fn(T) -> &'static str) -> Schema {
    let names: Vec<&str> = all.iter().map(|one| spell(*one)).collect();
    json_schema!({ "type": "string", "enum": names })
}

spelled!(DateTime, json_schema!({ "type": "string", "format": "date-time" }));
spelled!(Date, json_schema!({ "type": "string", "format": "date" }));
spelled!(TierName, one_of(Tier::ALL, Tier::as_str));
spelled!(OriginName, one_of(Origin::ALL, Origin::as_str));
spelled!(ModeName, one_of(DreamMode::ALL, DreamMode::as_str));
spelled!(KindName, one_of(JournalKind::ALL, JournalKind::as_str));

/// A space.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SpaceView {
    id: Uuid,
    name: String,
    /// Its time zone, by its name in the IANA database: when its night is.
    time_zone: String,
    /// Whose model consolidates it: the agent's own (client), the service's (server), or nobody's (off).
    #[schemars(with = "ModeName")]
    dream_mode: DreamMode,
    #[schemars(with = "DateTime")]
    created_at: Moment,
    #[schemars(with = "Option<DateTime>")]
    last_used_at: Option<Moment>,
    #[schemars(with = "Option<DateTime>")]
    last_dream_started_at: Option<Moment>,
}

impl From<SpaceRecord> for SpaceView {
    fn from(space: SpaceRecord) -> Self {
        let SpaceRecord { id, name, zone, mode, created_at, last_used_at, last_dream_started_at } = space;
        let (id, time_zone, dream_mode) = (id.0, zone, mode);
        Self { id, name, time_zone, dream_mode, created_at, last_used_at, last_dream_started_at }
    }
}

/// A fact.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FactView {
    id: Uuid,
    /// Whom or what it is about.
    subject: String,
    text: String,
    /// How near it is.
    #[schemars(with = "TierName")]
    tier: Tier,
    /// Who stated it.
    #[schemars(with = "OriginName")]
    origin: Origin,
    /// Whether it is fastened: no dream changes it.
    pinned: bool,
    recall_count: i64,
    #[schemars(with = "Option<DateTime>")]
    last_recalled_at: Option<Moment>,
    #[schemars(with = "DateTime")]
    created_at: Moment,
    #[schemars(with = "DateTime")]
    updated_at: Moment,
    #[schemars(with = "Option<DateTime>")]
    expires_at: Option<Moment>,
    /// The fact that took its place.
    superseded_by: Option<Uuid>,
    source: Option<String>,
}

impl From<Fact> for FactView {
    fn from(fact: Fact) -> Self {
        let Fact { id, subject, text, tier, origin, pinned, recall_count, last_recalled_at, .. } = fact;
        let Fact { created_at, updated_at, expires_at, superseded_by, source, .. } = fact;
        Self {
            id,
            subject,
            text,
            tier,
            origin,
            pinned,
            recall_count,
            last_recalled_at,
            created_at,
            updated_at,
            expires_at,
            superseded_by,
            source,
        }
    }
}

/// A page of facts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Facts {
    pub(crate) facts: Vec<FactView>,
}

impl From<Vec<Fact>> for Facts {
    fn from(facts: Vec<Fact>) -> Self {
        Self { facts: facts.into_iter().map(FactView::from).collect() }
    }
}

/// A fact that is to be remembered.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFact {
    /// Whom or what it is about; `user` if it is not said.
    #[serde(default)]
    subject: Option<String>,
    /// What is to be remembered.
    text: String,
    /// How near it is; `long` if it is not said.
    #[serde(default)]
    #[schemars(with = "Option<TierName>")]
    tier: Option<Tier>,
    /// Who states it; `agent` if it is not said. What the user said in so many words is of the origin `user`.
    #[serde(default)]
    #[schemars(with = "Option<OriginName>")]
    origin: Option<Origin>,
    /// Fastens it: no dream changes it.
    #[serde(default)]
    pinned: bool,
    /// When it stops being true.
    #[serde(default)]
    #[schemars(with = "Option<DateTime>")]
    expires_at: Option<Moment>,
    /// Where it came from.
    #[serde(default)]
    source: Option<String>,
}

impl From<NewFact> for memory::NewFact {
    fn from(new: NewFact) -> Self {
        let NewFact { subject, text, tier, origin, pinned, expires_at, source } = new;
        Self { subject, text, tier, origin, pinned, expires_at, source }
    }
}

/// What is to change of a fact. What is not said stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchFact {
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    #[schemars(with = "Option<TierName>")]
    tier: Option<Tier>,
    #[serde(default)]
    pinned: Option<bool>,
    /// When it stops being true; null takes the end away.
    #[serde(default)]
    #[schemars(with = "Option<DateTime>")]
    expires_at: NewEnd,
}

impl From<PatchFact> for memory::FactPatch {
    fn from(patch: PatchFact) -> Self {
        let PatchFact { subject, text, tier, pinned, expires_at } = patch;
        Self { subject, text, tier, pinned, expires_at }
    }
}

/// Which facts to list.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ListFacts {
    /// Only of this tier.
    #[schemars(with = "Option<TierName>")]
    tier: Option<Tier>,
    /// Those behind this id.
    after: Option<Uuid>,
    /// At most so many.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u32>,
}

impl From<ListFacts> for memory::FactFilter {
    fn from(list: ListFacts) -> Self {
        let ListFacts { tier, after, limit } = list;
        Self { tier, after, limit }
    }
}

/// What to recall.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recall {
    /// Words that the facts speak of.
    pub(crate) query: String,
    /// At most so many.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) limit: Option<u32>,
}

/// What to forget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forget {
    /// The fact.
    pub(crate) fact_id: Uuid,
}

/// What forgetting came to.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ForgottenView {
    /// Whether the fact was still there; otherwise only what dreams kept of it was.
    was_there: bool,
    /// Runs that waited with a copy of it, and are abandoned.
    abandoned_runs: Vec<Uuid>,
    /// Undo records out of which it was taken.
    undo_records: u32,
    /// Texts of dreams that said a word which only it had, and went with it.
    derived: u32,
    /// Facts that still say what a dream made of it long ago; look at them.
    reworded_facts: Vec<Uuid>,
}

impl From<Forgotten> for ForgottenView {
    fn from(forgotten: Forgotten) -> Self {
        let Forgotten { was_there, abandoned, undo_records, derived, reworded } = forgotten;
        let abandoned_runs = abandoned.into_iter().map(|run| run.0).collect();
        Self { was_there, abandoned_runs, undo_records, derived, reworded_facts: reworded }
    }
}

/// An entry of the journal.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EntryView {
    id: Uuid,
    #[schemars(with = "KindName")]
    kind: JournalKind,
    /// The day, or the Monday of the week.
    #[schemars(with = "Date")]
    day: Day,
    text: String,
    #[schemars(with = "DateTime")]
    created_at: Moment,
    #[schemars(with = "DateTime")]
    updated_at: Moment,
}

impl From<JournalEntry> for EntryView {
    fn from(entry: JournalEntry) -> Self {
        let JournalEntry { id, kind, day, text, created_at, updated_at } = entry;
        Self { id, kind, day, text, created_at, updated_at }
    }
}

/// The journal, newest day first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Journal {
    pub(crate) entries: Vec<EntryView>,
}

/// An entry that is to be written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEntry {
    /// What it is about; a day if it is not said. A week has one entry: writing it again replaces it.
    #[serde(default)]
    #[schemars(with = "Option<KindName>")]
    pub(crate) kind: Option<JournalKind>,
    /// The day, or any day of the week.
    #[schemars(with = "Date")]
    pub(crate) day: Day,
    pub(crate) text: String,
}

/// Something to be done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ActionView {
    id: Uuid,
    text: String,
    /// Where it stands: pending, approved, done, rejected or expired.
    status: String,
    #[schemars(with = "Option<DateTime>")]
    expires_at: Option<Moment>,
    #[schemars(with = "DateTime")]
    created_at: Moment,
}

impl From<memory::Action> for ActionView {
    fn from(action: memory::Action) -> Self {
        let memory::Action { id, text, status, expires_at, created_at } = action;
        Self { id, text, status, expires_at, created_at }
    }
}

/// A page of actions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Actions {
    pub(crate) actions: Vec<ActionView>,
}

/// An action that is to be kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAction {
    pub(crate) text: String,
    #[serde(default)]
    #[schemars(with = "Option<DateTime>")]
    pub(crate) expires_at: Option<Moment>,
}

/// Where something stands from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standing {
    pub(crate) status: String,
}

/// A value under a key.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ValueView {
    key: String,
    value: Value,
    #[schemars(with = "Option<DateTime>")]
    expires_at: Option<Moment>,
}

impl From<memory::KeyValue> for ValueView {
    fn from(value: memory::KeyValue) -> Self {
        let memory::KeyValue { key, value, expires_at } = value;
        Self { key, value, expires_at }
    }
}

/// Values of a space.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Values {
    pub(crate) values: Vec<ValueView>,
}

/// A value that is to be kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewValue {
    pub(crate) value: Value,
    #[serde(default)]
    #[schemars(with = "Option<DateTime>")]
    pub(crate) expires_at: Option<Moment>,
}

/// A record of a collection.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RecordView {
    id: Uuid,
    collection: String,
    body: Value,
    status: Option<String>,
    #[schemars(with = "DateTime")]
    created_at: Moment,
}

impl From<memory::Record> for RecordView {
    fn from(record: memory::Record) -> Self {
        let memory::Record { id, collection, body, status, created_at } = record;
        Self { id, collection, body, status, created_at }
    }
}

/// Records of a collection, oldest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Records {
    pub(crate) records: Vec<RecordView>,
}

/// A record that is to be kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRecord {
    pub(crate) body: Value,
    #[serde(default)]
    pub(crate) status: Option<String>,
}

/// How much of a list.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Page {
    /// Those behind this id, where the list is by id.
    pub(crate) after: Option<Uuid>,
    /// At most so many.
    #[schemars(range(min = 1, max = 500))]
    pub(crate) limit: Option<u32>,
}

/// How much of a context.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContextSize {
    /// At most so many characters of facts.
    #[schemars(range(max = 12_000))]
    pub(crate) characters: Option<usize>,
}

/// What dreams say of the owner.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProfileView {
    /// In a few sentences; null before the first dream.
    dream_summary: Option<String>,
}

/// What an agent gets at the start of a conversation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ContextView {
    /// Facts by tier, nearest first.
    facts: BTreeMap<&'static str, Vec<FactView>>,
    /// Facts that found no room.
    facts_left_out: usize,
    /// Conflicts that are open.
    conflicts: Vec<RecordView>,
    profile: ProfileView,
    last_dream: Option<RunView>,
}

impl From<Context> for ContextView {
    fn from(context: Context) -> Self {
        let Context { facts, facts_left_out, conflicts, profile, last_dream } = context;
        let of_tier = |(tier, facts): (Tier, Vec<Fact>)| (tier.as_str(), Facts::from(facts).facts);
        Self {
            facts: facts.into_iter().map(of_tier).collect(),
            facts_left_out,
            conflicts: conflicts.into_iter().map(RecordView::from).collect(),
            profile: ProfileView { dream_summary: profile.dream_summary },
            last_dream: last_dream.map(RunView::from),
        }
    }
}
