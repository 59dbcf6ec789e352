//! How much memory text a report shows.
//!
//! Ids, kinds, enums and numbers are always kept; only free text is cut or taken out, wherever it stands.

use crate::change::named_variants;

named_variants! {
    /// The three degrees.
    pub enum RedactText {
        /// As it is.
        None = "none",
        /// Cut to [`SUMMARY_CHARACTERS_MAX`] characters.
        Summary = "summary",
        /// Taken out.
        All = "all",
    }
}

/// Characters that a text keeps under [`RedactText::Summary`].
pub const SUMMARY_CHARACTERS_MAX: usize = 200;

impl RedactText {
    /// The text as a report may show it; none if it may not.
    pub fn apply(self, text: &str) -> Option<String> {
        match self {
            Self::None => Some(text.to_owned()),
            Self::Summary => Some(text.chars().take(SUMMARY_CHARACTERS_MAX).collect()),
            Self::All => None,
        }
    }
}
