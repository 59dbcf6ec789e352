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
        Self::StoreUnavailable,
        Self::StoreBusy,
        Self::StoreRefused,
        Self::StoreUnreadable,
        Self::NotMigrated,
        Self::BackendUnsupported,
        Self::LeaseLost,
        Self::ReportUnwritable,
        Self::EmbedderUnavailable,
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
            Self::StoreUnavailable => 2001,
            Self::StoreBusy => 2002,
            Self::StoreRefused => 2003,
            Self::StoreUnreadable => 2004,
            Self::NotMigrated => 2005,
            Self::BackendUnsupported => 2006,
            Self::LeaseLost => 2007,
            Self::ReportUnwritable => 3001,
            Self::EmbedderUnavailable => 3002,
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
            Self::StoreUnavailable => "StoreUnavailable",
            Self::StoreBusy => "StoreBusy",
            Self::StoreRefused => "StoreRefused",
            Self::StoreUnreadable => "StoreUnreadable",
            Self::NotMigrated => "NotMigrated",
            Self::BackendUnsupported => "DreamBackendUnsupported",
            Self::LeaseLost => "LeaseLost",
            Self::ReportUnwritable => "ReportUnwritable",
            Self::EmbedderUnavailable => "EmbedderUnavailable",
            Self::Configuration => "ConfigurationError",
            Self::EngineUnavailable => "EngineUnavailable",
            Self::File => "FileError",
            Self::Defect => "Defect",
        }
    }

    /// Whether the same attempt can succeed later, without anybody doing anything.
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::StoreUnavailable | Self::StoreBusy | Self::ReportUnwritable | Self::EmbedderUnavailable => true,
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

    /// What to do next, in a line.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Disabled => "set KHORA_DREAM_ENABLED=true, or pass --enable for this run",
            Self::ApplyDisabled => "unset KHORA_DREAM_DISABLE_APPLY, or lift the switch with `dream go`",
            Self::Forbidden => "look at the run's report; a read-only namespace can still be dreamt over as a dry run",
            Self::Stuck => "go on with `dream run --resume RUN`, or close it with `--abandon RUN`; what it applied can be undone",
            Self::Locked => "wait for the run that is named, or cancel it with `dream cancel RUN`",
            Self::PlanChanged => "look at the new plan with `dream plan RUN`, then apply that one",
            Self::InvalidInput => "correct the field that is named; docs/operating.md shows an example for each mode",
            Self::NoNamespace => "list namespaces with `dream namespaces`",
            Self::NoRun => "list runs with `dream history`",
            Self::NoStore => "name a store of the worker's configuration; `dream config show` lists them",
            Self::BuiltUpon => "undo the later run that is named first",
            Self::WrongState => "look at the run with `dream status RUN`",
            Self::StoreUnavailable => "check that the server runs and that the address is right; it is tried again",
            Self::StoreBusy => "nothing; it is tried again",
            Self::StoreRefused => "look up the server's code; the op is marked failed and the run goes on",
            Self::StoreUnreadable => "look at the table and column that are named; `dream doctor` checks the schema",
            Self::NotMigrated => "create the tables with `dream migrate --realm graph`",
            Self::BackendUnsupported => "use a store that can; the rest of the run is not affected",
            Self::LeaseLost => "nothing; another attempt of this run has taken over",
            Self::ReportUnwritable => "check the reports folder and its disk; `dream report RUN` writes it again",
            Self::EmbedderUnavailable => "check the embedder's address and key; survivors keep the vector they have",
            Self::Configuration => "correct the setting that is named; `dream config show` says where each comes from",
            Self::EngineUnavailable => "check TEMPORAL_ADDRESS, or run with --on local",
            Self::File => "check the path that is named and its permissions",
            Self::Defect => "report it with the run's id and the worker's log",
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
