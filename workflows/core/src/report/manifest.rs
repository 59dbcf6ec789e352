//! `manifest.json`: what a report consists of, and how to tell that it is whole.
//!
//! It carries the schema of the report, Khora's keys, and under `dream` the hashes of plan and findings and, for every file,
//! its length and SHA-256. Its own SHA-256 stands in the row of the run, so that nothing of a report can change unseen.
//!
//! **Invariant:** [`Manifest::read`] answers a manifest of this schema or refuses; it never guesses at another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::clock::Moment;
use crate::id::{RunId, StableNamespaceId, hex};
use crate::plan::PlanHash;
use crate::redact::RedactText;
use crate::report::REPORT_SCHEMA;
use crate::report::event::has_failed;
use crate::report::facts::RunFacts;
use crate::run::RunState;

/// The manifest of one report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    schema: String,
    /// The run.
    pub run_id: RunId,
    /// Its target, as callers know it.
    pub namespace_id: StableNamespaceId,
    /// How much memory text the files show.
    pub redact_text: RedactText,
    /// Whether the run came to its end, and not by an error.
    pub completed: bool,
    /// When the manifest was written.
    pub written_at: Moment,
    /// What is ours.
    pub dream: ManifestDream,
}

/// What a manifest says beyond Khora's keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestDream {
    /// Where the run stood when it was reported.
    pub state: RunState,
    /// The sealed plan.
    pub plan_hash: Option<PlanHash>,
    /// The findings.
    pub audit_hash: Option<PlanHash>,
    /// The files, by name without a folder.
    pub files: BTreeMap<String, FileEntry>,
}

/// What identifies the content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of it, as 64 hexadecimal digits.
    pub sha256: String,
}

impl FileEntry {
    /// Of a whole file.
    pub fn of(content: &[u8]) -> Self {
        let mut digest = FileDigest::default();
        digest.feed(content);
        digest.finish()
    }
}

/// Digests a file while it is written or read.
#[derive(Clone, Debug, Default)]
pub struct FileDigest {
    bytes: u64,
    sha256: Sha256,
}

impl FileDigest {
    /// Takes the next part of the file.
    pub fn feed(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        self.sha256.update(part);
    }

    /// What identifies all parts so far as one file.
    pub fn finish(self) -> FileEntry {
        FileEntry { bytes: self.bytes, sha256: hex(&self.sha256.finalize()) }
    }
}

/// Why a report cannot be trusted. It names files and repeats nothing of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Not JSON, or not of this shape.
    #[error("the manifest is not in the form of {REPORT_SCHEMA}")]
    Unreadable,
    /// Another schema.
    #[error("the manifest is of another schema than {REPORT_SCHEMA}")]
    OtherSchema,
    /// The manifest is not the one that the run's row names.
    #[error("the manifest is not the one that the run wrote")]
    OtherManifest,
    /// A file is named and was not found.
    #[error("{name} is missing")]
    Missing {
        /// The file.
        name: String,
    },
    /// A file is not named.
    #[error("{name} is not part of this report")]
    Unknown {
        /// The file.
        name: String,
    },
    /// A file is not what was written.
    #[error("{name} is not the file that the run wrote")]
    Differs {
        /// The file.
        name: String,
    },
}

impl Manifest {
    /// The manifest of a run's report, with no file yet.
    pub fn new(run: &RunFacts, redact_text: RedactText, written_at: Moment) -> Self {
        Self {
            schema: REPORT_SCHEMA.to_owned(),
            run_id: run.run,
            namespace_id: run.namespace,
            redact_text,
            completed: !run.state.is_open() && !has_failed(run.state),
            written_at,
            dream: ManifestDream {
                state: run.state,
                plan_hash: run.plan_hash.clone(),
                audit_hash: run.audit_hash.clone(),
                files: BTreeMap::new(),
            },
        }
    }

    /// Adds a file.
    pub fn add(&mut self, name: impl Into<String>, file: FileEntry) {
        self.dream.files.insert(name.into(), file);
    }

    /// The text of `manifest.json`.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_else(|_| unreachable!("a manifest is plain data"));
        text.push('\n');
        text
    }

    /// Reads a manifest.
    pub fn read(text: &str) -> Result<Self, ManifestError> {
        #[derive(Deserialize)]
        struct Tag {
            schema: String,
        }
        let tag: Tag = serde_json::from_str(text).map_err(|_| ManifestError::Unreadable)?;
        if tag.schema != REPORT_SCHEMA {
            return Err(ManifestError::OtherSchema);
        }
        serde_json::from_str(text).map_err(|_| ManifestError::Unreadable)
    }

    /// Reads a manifest of which the SHA-256 is known from the run's row.
    pub fn read_sealed(text: &str, sha256: &str) -> Result<Self, ManifestError> {
        if FileEntry::of(text.as_bytes()).sha256 != sha256 {
            return Err(ManifestError::OtherManifest);
        }
        Self::read(text)
    }

    /// Whether a file is the one that was written.
    pub fn verify(&self, name: &str, found: &FileEntry) -> Result<(), ManifestError> {
        let written = self.dream.files.get(name).ok_or_else(|| ManifestError::Unknown { name: name.to_owned() })?;
        if written == found { Ok(()) } else { Err(ManifestError::Differs { name: name.to_owned() }) }
    }

    /// Whether a set of files is this report, whole and unchanged.
    pub fn verify_all(&self, found: &BTreeMap<String, FileEntry>) -> Result<(), ManifestError> {
        if let Some(name) = self.dream.files.keys().find(|name| !found.contains_key(*name)) {
            return Err(ManifestError::Missing { name: name.clone() });
        }
        found.iter().try_for_each(|(name, file)| self.verify(name, file))
    }
}
