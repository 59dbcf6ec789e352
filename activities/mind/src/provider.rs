//! Whose dialect a model speaks.

use std::str::FromStr;

use genai::adapter::AdapterKind;

/// Whose dialect a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Chat completions: `OpenAI`, and the many that speak like it.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Models on a machine of one's own.
    Ollama,
}

/// A name that is none of a provider's.
#[derive(Debug, thiserror::Error)]
#[error("expected openai, anthropic or ollama")]
pub struct UnknownProvider;

impl Provider {
    /// Every provider.
    pub const ALL: &'static [Self] = &[Self::OpenAi, Self::Anthropic, Self::Ollama];

    /// The name it has in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Where it is, unless somewhere else is said.
    pub const fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Ollama => "http://localhost:11434",
        }
    }

    /// Whether it answers nobody without a key, where it is by default.
    pub const fn wants_key(self) -> bool {
        match self {
            Self::OpenAi | Self::Anthropic => true,
            Self::Ollama => false,
        }
    }

    /// Whether the client hands it the schema of the answer; else it is told the schema in words, and asked for JSON.
    pub(crate) const fn takes_schema(self) -> bool {
        match self {
            Self::OpenAi | Self::Anthropic => true,
            Self::Ollama => false,
        }
    }

    pub(crate) const fn adapter(self) -> AdapterKind {
        match self {
            Self::OpenAi => AdapterKind::OpenAI,
            Self::Anthropic => AdapterKind::Anthropic,
            Self::Ollama => AdapterKind::Ollama,
        }
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, UnknownProvider> {
        Self::ALL.iter().copied().find(|provider| provider.as_str() == name).ok_or(UnknownProvider)
    }
}
