//! What can go wrong in a way that an operator meets: a code, a name, and what to do next.
//!
//! The name is the failure type in the Temporal UI and the exception of Khora's API where Khora has one. Every code has a
//! page, `docs/errors/DREAM-NNNN.md`; a test says so.
//!
//! **Invariant:** a failure says what happened and to which id. It never repeats a server's words, which may quote memories.

use std::fmt;

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The realm is switched off.
    Disabled,
    /// The kill switch is set.
    ApplyDisabled,
    /// A forbidden effect, or a namespace that must not be written.
    Forbidden,
    /// An earlier run died while it applied.
    Stuck,
    /// Somebody else works on the target.
    Locked,
    /// The plan is not the one that was meant.
    PlanChanged,
    /// The input cannot be used.
    InvalidInput,
    /// No such namespace.
    NoNamespace,
    /// No such run.
    NoRun,
    /// No such store in the configuration.
    NoStore,
    /// A later run builds on what should be taken back.
    BuiltUpon,
    /// The run is not in a state for this.
    WrongState,
    /// A run waits for an answer.
    AwaitingClient,
    /// The time in which something could be taken back is over.
    Gone,
    /// No such space.
    NoSpace,
    /// An answer that cannot be used.
    BadAnswer,
    /// A space that is not due, or not any more.
    NotDue,
    /// The worker's own model gives no answers that can be used.
    ModelUnfit,
    /// The store does not answer.
    StoreUnavailable,
    /// The store was busy.
    StoreBusy,
    /// The store refused a row.
    StoreRefused,
    /// The store holds something unreadable.
    StoreUnreadable,
    /// Our tables are missing.
    NotMigrated,
    /// The store cannot do this.
    BackendUnsupported,
    /// Another attempt took over.
    LeaseLost,
    /// A report could not be written.
    ReportUnwritable,
    /// The embedder does not answer.
    EmbedderUnavailable,
    /// The graph database does not answer, or does not do what it is asked.
    GraphUnavailable,
    /// The configuration contradicts itself or is out of bounds.
    Configuration,
    /// The engine does not answer.
    EngineUnavailable,
    /// A file cannot be read or written.
    File,
    /// A defect of this program.
    Defect,
}

impl Code {
    /// Every code.
    pub const ALL: &'static [Self] = &[
        Self::Disabled,
        Self::ApplyDisabled,
        Self::Forbidden,
        Self::Stuck,
        Self::Locked,
        Self::PlanChanged,
        Self::InvalidInput,
        Self::NoNamespace,
        Self::NoRun,
        Self::NoStore,
        Self::BuiltUpon,
        Self::WrongState,
        Self::AwaitingClient,
        Self::Gone,
        Self::NoSpace,
        Self::BadAnswer,
        Self::NotDue,
        Self::ModelUnfit,
        Self::StoreUnavailable,
        Self::StoreBusy,
        Self::StoreRefused,
        Self::StoreUnreadable,
        Self::NotMigrated,
        Self::BackendUnsupported,
        Self::LeaseLost,
        Self::ReportUnwritable,
        Self::EmbedderUnavailable,
        Self::GraphUnavailable,
        Self::Configuration,
        Self::EngineUnavailable,
        Self::File,
        Self::Defect,
    ];

    /// The number behind `DREAM-`.
    pub const fn number(self) -> u16 {
        match self {
            Self::Disabled => 1001,
            Self::ApplyDisabled => 1002,
            Self::Forbidden => 1003,
            Self::Stuck => 1004,
            Self::Locked => 1005,
            Self::PlanChanged => 1006,
            Self::InvalidInput => 1007,
            Self::NoNamespace => 1008,
            Self::NoRun => 1009,
            Self::NoStore => 1010,
            Self::BuiltUpon => 1011,
            Self::WrongState => 1012,
            Self::AwaitingClient => 1013,
            Self::Gone => 1014,
            Self::NoSpace => 1015,
            Self::BadAnswer => 1016,
            Self::NotDue => 1017,
            Self::ModelUnfit => 1018,
            Self::StoreUnavailable => 2001,
            Self::StoreBusy => 2002,
            Self::StoreRefused => 2003,
            Self::StoreUnreadable => 2004,
            Self::NotMigrated => 2005,
            Self::BackendUnsupported => 2006,
            Self::LeaseLost => 2007,
            Self::ReportUnwritable => 3001,
            Self::EmbedderUnavailable => 3002,
            Self::GraphUnavailable => 3003,
            Self::Configuration => 4001,
            Self::EngineUnavailable => 4002,
            Self::File => 4003,
            Self::Defect => 9001,
        }
    }

    /// The failure type on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DreamDisabledError",
            Self::ApplyDisabled => "DreamApplyDisabled",
            Self::Forbidden => "DreamForbiddenOpError",
            Self::Stuck => "DreamRunStuckError",
            Self::Locked => "DreamLockUnavailable",
            Self::PlanChanged => "DreamPlanChanged",
            Self::InvalidInput => "InvalidInput",
            Self::NoNamespace => "NoSuchNamespace",
            Self::NoRun => "NoSuchRun",
            Self::NoStore => "NoSuchStore",
            Self::BuiltUpon => "UndoBuiltUpon",
            Self::WrongState => "WrongState",
            Self::AwaitingClient => "DreamAwaitingClient",
            Self::Gone => "UndoGone",
            Self::NoSpace => "NoSuchSpace",
            Self::BadAnswer => "BadAnswer",
            Self::NotDue => "DreamNotDue",
            Self::ModelUnfit => "ModelUnfit",
            Self::StoreUnavailable => "StoreUnavailable",
            Self::StoreBusy => "StoreBusy",
            Self::StoreRefused => "StoreRefused",
            Self::StoreUnreadable => "StoreUnreadable",
            Self::NotMigrated => "NotMigrated",
            Self::BackendUnsupported => "DreamBackendUnsupported",
            Self::LeaseLost => "LeaseLost",
            Self::ReportUnwritable => "ReportUnwritable",
            Self::EmbedderUnavailable => "EmbedderUnavailable",
            Self::GraphUnavailable => "GraphUnavailable",
            Self::Configuration => "ConfigurationError",
            Self::EngineUnavailable => "EngineUnavailable",
            Self::File => "FileError",
            Self::Defect => "Defect",
        }
    }

    /// Whether the same attempt can succeed later, without anybody doing anything.
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::StoreUnavailable
            | Self::StoreBusy
            | Self::ReportUnwritable
            | Self::EmbedderUnavailable
            | Self::GraphUnavailable => true,
            Self::Disabled
            | Self::ApplyDisabled
            | Self::Forbidden
            | Self::Stuck
            | Self::Locked
            | Self::PlanChanged
            | Self::InvalidInput
            | Self::NoNamespace
            | Self::NoRun
            | Self::NoStore
            | Self::BuiltUpon
            | Self::WrongState
            | Self::AwaitingClient
            | Self::Gone
            | Self::NoSpace
            | Self::BadAnswer
            | Self::NotDue
            | Self::ModelUnfit
            | Self::StoreRefused
            | Self::StoreUnreadable
            | Self::NotMigrated
            | Self::BackendUnsupported
            | Self::LeaseLost
            | Self::Configuration
            | Self::EngineUnavailable
            | Self::File
            | Self::Defect => false,
        }
    }

    /// What to do next, in a line. It holds wherever the failure is met: in a command, in a workflow, on a page.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Disabled => {
                "set KHORA_DREAM_ENABLED=true where the run is carried out, or enable this run alone with --enable (\"enable\": true)"
            }
            Self::ApplyDisabled => {
                "find out why with `dream status`; then lift the switch with `dream go`, or unset KHORA_DREAM_DISABLE_APPLY"
            }
            Self::Forbidden => "dream over it with --mode dry-run, or take off what makes it read-only",
            Self::Stuck => {
                "go on with `dream run graph --namespace ID --resume RUN`, or close it and start anew with `dream run graph --namespace ID --abandon RUN`"
            }
            Self::Locked => {
                "wait until whoever is named is done, or ask it to stop with `dream cancel RUN`; if its process is gone, `dream run graph --namespace ID --resume RUN` goes on with it"
            }
            Self::PlanChanged => {
                "make a dry run, look at it with `dream plan RUN`, and apply that plan with `--mode apply --plan-of RUN`"
            }
            Self::InvalidInput => {
                "correct what is named; `dream COMMAND --help` and docs/operating.md say what is expected"
            }
            Self::NoNamespace => "list namespaces with `dream namespaces`",
            Self::NoRun => "list runs with `dream history`, and the ops of one with `dream plan RUN`",
            Self::NoStore => "name a store of the worker's configuration; `dream config show` lists them",
            Self::BuiltUpon => "undo the later run that is named first",
            Self::WrongState => "look at the run with `dream status RUN`",
            Self::AwaitingClient => {
                "fetch its question with `dream job next --space ID` and answer it with `dream job submit RUN --result FILE`; or close it and start anew with `dream run space --space ID --abandon RUN`"
            }
            Self::Gone => "a dream over a space can be taken back for seven days; what it changed is as it is now",
            Self::NoSpace => "list spaces with `dream spaces list`",
            Self::BadAnswer => "correct the answer at the place that is named and submit it again; the run still waits",
            Self::NotDue => {
                "nothing is to be done: the next check starts it when it is due; `dream due --explain SPACE` says why it did not dream"
            }
            Self::ModelUnfit => {
                "see in `dream report RUN` where its answers broke; give [mind] another model, or more output_tokens_max, and start anew with `dream run space --space ID`"
            }
            Self::StoreUnavailable => {
                "check with `dream doctor` that the store can be reached; a step of a run is tried again by itself for a while, a command is not"
            }
            Self::StoreBusy => "a step of a run is tried again by itself; give a command again in a moment",
            Self::StoreRefused => {
                "look the code up in docs/errors/DREAM-2003.md: it tells a row from rights, schema and address"
            }
            Self::StoreUnreadable => "look at the table and column that are named; `dream doctor` checks the schema",
            Self::NotMigrated => "create the tables with `dream migrate --realm graph`",
            Self::BackendUnsupported => "use a store that can: PostgreSQL with pgvector, or SQLite",
            Self::LeaseLost => {
                "look at the run with `dream status RUN`: another attempt has taken it over, or somebody closed it"
            }
            Self::ReportUnwritable => {
                "check the reports folder and its disk; `dream report RUN --write` writes it again"
            }
            Self::EmbedderUnavailable => {
                "check the embedder's address, model and key, or go on without it: survivors keep the vector they have"
            }
            Self::GraphUnavailable => {
                "check the address, user and password of the graph database with `dream doctor`; what it was not told stays in the outbox, and `dream reconcile` tells it"
            }
            Self::Configuration => "correct what is named; docs/operating.md lists every setting with its bounds",
            Self::EngineUnavailable => {
                "check TEMPORAL_ADDRESS and the server with `dream doctor`; a run needs none with --on local"
            }
            Self::File => "check the path that is named and its permissions",
            Self::Defect => "report it, with the run's id and the log or the output",
        }
    }

    /// The code whose name this is.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DREAM-{}", self.number())
    }
}

/// A failure, as people read it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code} {}); next: {}", .code.name(), .code.advice())]
pub struct Failure {
    /// Its kind.
    pub code: Code,
    /// What happened, and to which id.
    pub message: String,
}

impl Failure {
    /// A failure of a kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<crate::run::InvalidInput> for Failure {
    fn from(input: crate::run::InvalidInput) -> Self {
        Self::new(Code::InvalidInput, input.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_number_and_name() {
        for (position, code) in Code::ALL.iter().enumerate() {
            for other in &Code::ALL[position + 1..] {
                assert_ne!(code.number(), other.number());
                assert_ne!(code.name(), other.name());
            }
            assert_eq!(Code::named(code.name()), Some(*code));
        }
    }
}
