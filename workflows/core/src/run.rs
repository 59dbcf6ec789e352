//! A run: what it is asked to do, the states it goes through, and ([`admission`]) whether it may start.

pub mod admission;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::change::named_variants;
use crate::clock::Moment;
use crate::op::{OpKind, Reason};
use crate::realm::space::day::Day;
use crate::realm::space::fact::DreamMode;

pub use admission::{
    Admission, CLIENT_WAIT_SECONDS, LEASE_TERM_SECONDS, Lease, OpenRun, STUCK_AFTER_SECONDS, Standing, admit,
};

named_variants! {
    /// The kinds of memory a run can dream over.
    pub enum Realm {
        /// A Khora namespace.
        Graph = "graph",
        /// A space of facts.
        Space = "space",
    }
}

named_variants! {
    /// What a run may do.
    #[derive(JsonSchema)]
    pub enum Mode {
        /// Plans and reports.
        #[schemars(rename = "dry-run")]
        DryRun = "dry-run",
        /// Plans and carries out.
        #[schemars(rename = "apply")]
        Apply = "apply",
        /// Plans, waits for a person, and carries out what was approved.
        #[schemars(rename = "review")]
        Review = "review",
    }
}

impl Mode {
    /// Whether a run in this mode may change memories.
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Apply | Self::Review)
    }
}

named_variants! {
    /// Where a run stands.
    pub enum RunState {
        /// Auditing and planning.
        Planning = "planning",
        /// The plan waits for a person.
        AwaitingReview = "awaiting_review",
        /// A question waits for somebody else's model.
        AwaitingClient = "awaiting_client",
        /// Carrying out.
        Applying = "applying",
        /// Done.
        Completed = "completed",
        /// Ended by an error.
        Failed = "failed",
        /// Ended by a person.
        Cancelled = "cancelled",
        /// Ended because an op would have had a forbidden effect.
        AbortedSafety = "aborted_safety",
        /// Closed without being finished.
        Abandoned = "abandoned",
        /// Done, and all of it taken back.
        Undone = "undone",
        /// Done, and some of it taken back.
        PartlyUndone = "partly_undone",
    }
}

impl RunState {
    /// Whether a run in this state still has something to do.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Planning | Self::AwaitingReview | Self::AwaitingClient | Self::Applying)
    }

    /// Whether a closed run in this state can be gone on with: it ended before its plan was done.
    pub const fn may_reopen(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled | Self::Abandoned)
    }

    /// The word that Khora's own run table has for this state.
    pub const fn in_khoras_words(self) -> &'static str {
        match self {
            Self::Planning | Self::AwaitingReview | Self::AwaitingClient => "planning",
            Self::Applying => "applying",
            Self::Completed | Self::Undone | Self::PartlyUndone | Self::Cancelled => "completed",
            Self::Failed | Self::Abandoned => "failed",
            Self::AbortedSafety => "aborted_safety",
        }
    }
}

named_variants! {
    /// Who started a run.
    #[derive(JsonSchema)]
    pub enum Trigger {
        /// A person or a program.
        #[schemars(rename = "manual")]
        Manual = "manual",
        /// A schedule or a timer.
        #[schemars(rename = "schedule")]
        Schedule = "schedule",
    }
}

/// Which rows a run may change. It may look at all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Only rows written at or after this moment.
    #[schemars(with = "Option<String>")]
    pub since: Option<Moment>,
    /// Only rows written before this moment.
    #[schemars(with = "Option<String>")]
    pub until: Option<Moment>,
    /// Only these entities, and relationships that touch them.
    pub entity_ids: Option<Vec<Uuid>>,
    /// Only entities and relationships extracted from these documents.
    pub document_ids: Option<Vec<Uuid>>,
}

/// Most ids one scope may list: what a workflow's input can carry within the payload bound.
pub const SCOPE_IDS_MAX: usize = 1_000;

/// Types that a namespace is expected to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Expertise {
    /// Declared entity types: names, or objects with a `name`.
    pub entity_types: Vec<DeclaredType>,
    /// Declared relationship types: names, or objects with a `name`.
    pub relationship_types: Vec<DeclaredType>,
}

/// One declared type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DeclaredType {
    /// By name.
    Name(String),
    /// By an object that has a name, and more that is of no interest here.
    Object {
        /// The name.
        name: String,
    },
}

impl DeclaredType {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::Object { name } => name,
        }
    }
}

/// What a run is asked to do. This is the input of the workflow `Dream`, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DreamInput {
    /// The kind of memory: `graph` or `space`.
    #[serde(default = "default_realm")]
    pub realm: String,
    /// The store, by its name in the worker's configuration.
    #[serde(default = "default_store")]
    pub store: String,
    /// The namespace, by its stable id or its row id; of the realm `space`, the space.
    #[serde(alias = "space")]
    pub namespace: String,
    /// Whose model a space is consolidated with: `client`, `server`, or `off` for housekeeping only; the space's own mode if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub mind: Option<DreamMode>,
    /// `dry-run`, `apply` or `review`; the worker's configured default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Which rows may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The ops to run, by wire name; all that are switched on if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops: Option<Vec<String>>,
    /// Goes on with this run where it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_from: Option<Uuid>,
    /// Closes this silent run of the namespace first; what it applied stays and can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandon: Option<Uuid>,
    /// Carries out the plan that this dry run sealed; needs the mode `apply` or `review`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_of: Option<Uuid>,
    /// Refuses to apply any other plan than the one with this hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_plan_hash: Option<String>,
    /// Declared types, for the schema drift report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expertise: Option<Expertise>,
    /// Runs although `KHORA_DREAM_ENABLED` is off.
    #[serde(default, skip_serializing_if = "is_false")]
    pub enable: bool,
    /// Removes references although more than half of them look dead.
    #[serde(default, skip_serializing_if = "is_false")]
    pub force_liveness: bool,
    /// How long the run waits for a graph database that is behind, before it plans, in seconds; not at all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_wait_seconds: Option<u64>,
    /// How long a review waits, in seconds; seven days if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_wait_seconds: Option<u64>,
    /// Who started it.
    #[serde(default = "default_trigger")]
    pub trigger: Trigger,
    /// The id of the run; made by the engine if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Uuid>,
    /// The local night of a space that it dreams for: it begins only while that night lasts and the space is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub night: Option<Day>,
}

fn default_realm() -> String {
    Realm::Graph.as_str().to_owned()
}

fn default_store() -> String {
    "default".to_owned()
}

const fn default_trigger() -> Trigger {
    Trigger::Manual
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl DreamInput {
    /// An input that names a namespace and leaves the rest to defaults.
    pub fn of_namespace(namespace: impl Into<String>) -> Self {
        Self {
            realm: default_realm(),
            store: default_store(),
            namespace: namespace.into(),
            mind: None,
            mode: None,
            scope: None,
            ops: None,
            resume_from: None,
            abandon: None,
            plan_of: None,
            expected_plan_hash: None,
            expertise: None,
            enable: false,
            force_liveness: false,
            graph_wait_seconds: None,
            review_wait_seconds: None,
            trigger: Trigger::Manual,
            run_id: None,
            night: None,
        }
    }

    /// An input that names a space and leaves the rest to defaults.
    pub fn of_space(space: impl Into<String>) -> Self {
        Self { realm: Realm::Space.as_str().to_owned(), ..Self::of_namespace(space) }
    }

    /// What does not go with the realm, by its field.
    fn field_of_other_realm(&self, realm: Realm) -> Option<&'static str> {
        let fields = match realm {
            Realm::Graph => vec![("mind", self.mind.is_some()), ("night", self.night.is_some())],
            Realm::Space => vec![
                ("ops", self.ops.is_some()),
                ("scope", self.scope.is_some()),
                ("plan_of", self.plan_of.is_some()),
                ("expected_plan_hash", self.expected_plan_hash.is_some()),
                ("expertise", self.expertise.is_some()),
                ("force_liveness", self.force_liveness),
                ("graph_wait_seconds", self.graph_wait_seconds.is_some()),
                ("review_wait_seconds", self.review_wait_seconds.is_some()),
                ("mode review", self.mode == Some(Mode::Review)),
            ],
        };
        fields.into_iter().find(|(_, is_set)| *is_set).map(|(field, _)| field)
    }

    /// Checks everything that can be checked without a store; answers the namespace id as it was given.
    pub fn check(&self) -> Result<Uuid, InvalidInput> {
        let realm = self.realm.parse::<Realm>().map_err(|_| InvalidInput::Realm)?;
        if let Some(field) = self.field_of_other_realm(realm) {
            return Err(InvalidInput::OtherRealm { field, realm });
        }
        let namespace = Uuid::parse_str(self.namespace.trim()).map_err(|_| InvalidInput::Namespace)?;
        for (position, op) in self.ops.iter().flatten().enumerate() {
            let kind = op.parse::<OpKind>().ok().filter(|kind| kind.realm() == realm);
            kind.ok_or(InvalidInput::Op { position: position + 1 })?;
        }
        if let Some(scope) = &self.scope {
            let ids = scope.entity_ids.iter().chain(&scope.document_ids).map(Vec::len).sum::<usize>();
            if ids > SCOPE_IDS_MAX {
                return Err(InvalidInput::ScopeTooLarge { ids });
            }
            if scope.since.zip(scope.until).is_some_and(|(since, until)| since >= until) {
                return Err(InvalidInput::ScopeEmpty);
            }
        }
        if self.resume_from.is_some() && self.plan_of.is_some() {
            return Err(InvalidInput::ResumeAndPlanOf);
        }
        // Without a word on the mode it would be the worker's default, and as a rule that is another dry run.
        if self.plan_of.is_some() && !self.mode.is_some_and(Mode::may_write) {
            return Err(InvalidInput::PlanOfMode);
        }
        if self.expected_plan_hash.as_ref().is_some_and(|hash| hash.parse::<crate::id::ContentKey>().is_err()) {
            return Err(InvalidInput::PlanHash);
        }
        Ok(namespace)
    }

    /// The ops asked for by name; none if all are meant.
    pub fn requested_ops(&self) -> Option<Vec<OpKind>> {
        self.ops.as_ref().map(|ops| ops.iter().filter_map(|op| op.parse().ok()).collect())
    }
}

/// Why an input cannot be used. It names the field and never repeats what stood there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The JSON does not fit.
    #[error("the input does not fit: {advice}")]
    Shape {
        /// Which field, and what is expected there.
        advice: String,
    },
    /// No such realm.
    #[error("realm: expected \"graph\" or \"space\"")]
    Realm,
    /// Of another realm.
    #[error("{field}: does not go with the realm {realm}")]
    OtherRealm {
        /// The field.
        field: &'static str,
        /// The realm.
        realm: Realm,
    },
    /// Not an id.
    #[error("namespace: expected a UUID")]
    Namespace,
    /// Not an op.
    #[error("ops: entry {position} is no op of this realm; docs/operating.md lists them")]
    Op {
        /// Counted from 1.
        position: usize,
    },
    /// Too many ids.
    #[error("scope: {ids} ids, at most {SCOPE_IDS_MAX} fit; use since and until")]
    ScopeTooLarge {
        /// How many there were.
        ids: usize,
    },
    /// Nothing can lie in it.
    #[error("scope: since must lie before until")]
    ScopeEmpty,
    /// Two plans at once.
    #[error("resume_from and plan_of exclude each other")]
    ResumeAndPlanOf,
    /// A plan that would not be carried out.
    #[error("plan_of: carries a plan out, which a dry run does not; add mode apply, or mode review to be asked first")]
    PlanOfMode,
    /// Not a hash.
    #[error("expected_plan_hash: expected 64 hexadecimal digits")]
    PlanHash,
}

/// Something a run did not do, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkipReason {
    /// The op.
    pub op_kind: OpKind,
    /// Why.
    pub reason: Reason,
    /// How many rows it is about, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// What a run did not do, with more of it; a reason that is known for its op is replaced, so that saying it twice is saying it
/// once.
pub fn with_skip_reasons(mut known: Vec<SkipReason>, new: &[SkipReason]) -> Vec<SkipReason> {
    let is_same = |one: &SkipReason, two: &SkipReason| (one.op_kind, one.reason) == (two.op_kind, two.reason);
    known.retain(|known| !new.iter().any(|new| is_same(known, new)));
    known.extend_from_slice(new);
    known
}

/// Ops of a run by what became of them, per kind.
pub type Counts = BTreeMap<OpKind, BTreeMap<crate::op::OpState, u32>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_carried_out_only_by_a_mode_that_says_so() {
        let mut input = DreamInput::of_namespace("48140776-f36b-40e5-8e98-a60e4a594578");
        input.plan_of = Some(Uuid::from_u128(1));
        for mode in [None, Some(Mode::DryRun)] {
            input.mode = mode;
            assert_eq!(input.check(), Err(InvalidInput::PlanOfMode));
        }
        for mode in [Mode::Apply, Mode::Review] {
            input.mode = Some(mode);
            assert!(input.check().is_ok());
        }
    }

    #[test]
    fn an_input_names_the_field_that_is_wrong_and_not_what_stood_there() {
        let mut input = DreamInput::of_namespace("secret");
        assert_eq!(input.check().unwrap_err().to_string(), "namespace: expected a UUID");
        input.namespace = "48140776-f36b-40e5-8e98-a60e4a594578".into();
        input.ops = Some(vec!["dream_reabsorb".into(), "secret".into()]);
        let text = input.check().unwrap_err().to_string();
        assert!(text.contains("entry 2") && !text.contains("secret"));
    }
}
