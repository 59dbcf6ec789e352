//! Why an answer cannot be read, and where it broke.
//!
//! **Invariant:** nothing of the answer is repeated: the parser's own messages quote it, so of them only the kind is
//! kept, and of a path only the names that the schema has.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};

use crate::change::named_variants;

named_variants! {
    /// What is wrong with an answer.
    pub enum Fault {
        /// It is longer than an answer may be.
        TooLong = "too_long",
        /// Its bytes are no UTF-8.
        NotText = "not_text",
        /// It ends before its JSON does.
        Truncated = "truncated",
        /// It is no JSON.
        NotJson = "not_json",
        /// Something follows the JSON.
        Trailing = "trailing",
        /// It has a field that the schema does not have.
        UnknownField = "unknown_field",
        /// It has a field twice.
        RepeatedField = "repeated_field",
        /// It lacks a field.
        MissingField = "missing_field",
        /// It has a value that is none of those allowed.
        UnknownValue = "unknown_value",
        /// It has a value of another type.
        WrongType = "wrong_type",
    }
}

/// An answer that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenAnswer {
    /// What is wrong.
    pub fault: Fault,
    /// The line, from 1; 0 if there is no place.
    pub line: usize,
    /// The column in bytes, from 1; 0 at the end of a line that has ended.
    pub column: usize,
    /// Where in the JSON, such as `merges[2].wording`; empty at its top.
    pub path: String,
    /// The most bytes there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<usize>,
}

/// The names of fields that a path may show.
const FIELDS: &[&str] = &[
    "contradictions",
    "detail",
    "fact_id",
    "fact_ids",
    "keep_id",
    "merges",
    "note",
    "profile",
    "promotions",
    "proposals",
    "remove_ids",
    "tier",
    "title",
    "weekly_digest",
    "wording",
];

impl BrokenAnswer {
    pub(super) fn too_long(bytes_max: usize) -> Self {
        Self { fault: Fault::TooLong, line: 0, column: 0, path: String::new(), bytes_max: Some(bytes_max) }
    }

    pub(super) fn not_text(bytes: &[u8], valid_up_to: usize) -> Self {
        let before = &bytes[..valid_up_to];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = before.split(|byte| *byte == b'\n').count();
        Self::at(Fault::NotText, line, valid_up_to - line_start + 1, String::new())
    }

    pub(super) fn new(error: &serde_json::Error, path: &Path, lines_before: usize) -> Self {
        Self::at(fault(error), error.line() + lines_before, error.column(), shown(path))
    }

    pub(super) fn after(error: &serde_json::Error, lines_before: usize) -> Self {
        Self::at(Fault::Trailing, error.line() + lines_before, error.column(), String::new())
    }

    fn at(fault: Fault, line: usize, column: usize, path: String) -> Self {
        Self { fault, line, column, path, bytes_max: None }
    }
}

fn fault(error: &serde_json::Error) -> Fault {
    match error.classify() {
        Category::Eof => Fault::Truncated,
        Category::Syntax | Category::Io => Fault::NotJson,
        Category::Data => {
            // Only the beginning of the message is the parser's; the rest may be the answer's.
            let message = error.to_string();
            let kinds = [
                ("unknown field", Fault::UnknownField),
                ("duplicate field", Fault::RepeatedField),
                ("missing field", Fault::MissingField),
                ("unknown name", Fault::UnknownValue),
                ("unknown variant", Fault::UnknownValue),
            ];
            kinds.iter().find(|(start, _)| message.starts_with(start)).map_or(Fault::WrongType, |(_, fault)| *fault)
        }
    }
}

fn shown(path: &Path) -> String {
    let mut shown = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => shown.push_str(&format!("[{index}]")),
            Segment::Map { key } if FIELDS.contains(&key.as_str()) => {
                if !shown.is_empty() {
                    shown.push('.');
                }
                shown.push_str(key);
            }
            Segment::Map { .. } | Segment::Enum { .. } | Segment::Unknown => break,
        }
    }
    shown
}

impl fmt::Display for BrokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.fault {
            Fault::TooLong => {
                return write!(f, "the answer is longer than {} bytes", self.bytes_max.unwrap_or_default());
            }
            Fault::NotText => "is not UTF-8",
            Fault::Truncated => "breaks off",
            Fault::NotJson => "is not JSON",
            Fault::Trailing => "goes on after its end",
            Fault::UnknownField => "has a field that the schema does not have,",
            Fault::RepeatedField => "has a field twice,",
            Fault::MissingField => "lacks a field",
            Fault::UnknownValue => "has a value that the schema does not allow",
            Fault::WrongType => "has a value of the wrong type",
        };
        write!(f, "the answer {what} at line {}, column {}", self.line, self.column)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, ", in {}", self.path) }
    }
}

impl std::error::Error for BrokenAnswer {}
