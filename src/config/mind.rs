//! The model of server mode: `[mind]` of the file, then the variables `DREAM_MIND_…`, setting by setting.
//!
//! **Invariant:** a key is read where a model is made ready, and nowhere kept besides; what is wrong with a setting is said by
//! the setting's name, and never repeats what stands in the place of a key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dream_core::budget::Budget;
use dream_core::failure::Code;
use dream_mind::{Access, Provider};
use dream_ports::mind::Terms;
use serde::Deserialize;

use super::{Origin, Sourced};
use crate::exit::Fault;

/// Seconds that an answer may take unless it is said: a long question to a model that reasons.
const TIMEOUT_SECONDS: u64 = 120;

/// The most: eight such calls stay within the two hours of an attempt.
const TIMEOUT_SECONDS_MAX: u64 = 600;

/// Tokens of an answer unless it is said: fifty changes with their words, and the thoughts before them.
const OUTPUT_TOKENS: u32 = 16_384;

/// The variable with the key itself.
pub(super) const KEY: &str = "DREAM_MIND_KEY";

/// What is said of the model. What is not said has a default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MindConfig {
    /// Whose dialect it speaks: openai, anthropic or ollama.
    pub(crate) provider: Option<String>,
    /// The name of the model.
    pub(crate) model: Option<String>,
    /// Where it is; the provider's own address if it is not said.
    pub(crate) base_url: Option<String>,
    /// The variable of the environment that holds the key.
    pub(crate) key_env: Option<String>,
    /// The file that holds the key.
    pub(crate) key_file: Option<PathBuf>,
    /// Seconds that an answer may take.
    pub(crate) timeout_seconds: Option<u64>,
    /// Tokens of an answer.
    pub(crate) output_tokens_max: Option<u32>,
    /// Calls in one run.
    pub(crate) calls_per_run_max: Option<u32>,
    /// Tokens in one run, in and out.
    pub(crate) tokens_per_run_max: Option<u64>,
    /// Calls for one space on one day.
    pub(crate) calls_per_day_max: Option<u32>,
    /// Tokens for one space on one day, in and out.
    pub(crate) tokens_per_day_max: Option<u64>,
}

fn fault(message: impl Into<String>) -> Fault {
    Fault::new(Code::Configuration, message)
}

/// A number of the environment.
fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, Fault> {
    text.trim().parse().map_err(|_| fault(format!("{name}: expected a whole number")))
}

/// Lays what the environment says over what the file says; none where neither says anything.
pub(super) fn read(
    file: Option<Sourced<MindConfig>>,
    environment: &BTreeMap<String, String>,
) -> Result<Option<Sourced<MindConfig>>, Fault> {
    let mut mind = file.unwrap_or_else(|| Sourced { value: MindConfig::default(), origin: Origin::Default });
    let mut is_said = mind.origin != Origin::Default;
    for (name, text) in environment.iter().filter(|(_, text)| !text.trim().is_empty()) {
        let Some(setting) = name.strip_prefix("DREAM_MIND_") else { continue };
        let value = &mut mind.value;
        match setting {
            "PROVIDER" => value.provider = Some(text.trim().to_owned()),
            "MODEL" => value.model = Some(text.trim().to_owned()),
            "URL" => value.base_url = Some(text.trim().to_owned()),
            "KEY" => (value.key_env, value.key_file) = (Some(KEY.to_owned()), None),
            // The key itself wins over a file of it.
            "KEY_FILE" if environment.get(KEY).is_none_or(|key| key.trim().is_empty()) => {
                (value.key_env, value.key_file) = (None, Some(text.into()));
            }
            "KEY_FILE" => {}
            "TIMEOUT_SECONDS" => value.timeout_seconds = Some(number(name, text)?),
            "OUTPUT_TOKENS_MAX" => value.output_tokens_max = Some(number(name, text)?),
            "CALLS_PER_RUN_MAX" => value.calls_per_run_max = Some(number(name, text)?),
            "TOKENS_PER_RUN_MAX" => value.tokens_per_run_max = Some(number(name, text)?),
            "CALLS_PER_DAY_MAX" => value.calls_per_day_max = Some(number(name, text)?),
            "TOKENS_PER_DAY_MAX" => value.tokens_per_day_max = Some(number(name, text)?),
            _ => return Err(fault(format!("{name}: the model has no such setting"))),
        }
        // Who names a model wins over the file; a key alone is no model.
        if matches!(setting, "PROVIDER" | "MODEL" | "URL") {
            mind.origin = Origin::Environment(name.clone());
            is_said = true;
        }
    }
    Ok(is_said.then_some(mind))
}

impl MindConfig {
    fn provider(&self) -> Result<Provider, Fault> {
        let name = self.provider.as_deref().unwrap_or_default();
        name.parse().map_err(|error| {
            fault(format!("the model's provider is not known: {error}; set provider in [mind], or DREAM_MIND_PROVIDER"))
        })
    }

    fn model(&self) -> Result<&str, Fault> {
        let model = self.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        model.ok_or_else(|| fault("the model is not named; set model in [mind], or DREAM_MIND_MODEL"))
    }

    /// Where the model is.
    pub(crate) fn base_url(&self) -> Result<String, Fault> {
        let Some(url) = &self.base_url else { return Ok(self.provider()?.base_url().to_owned()) };
        let is_http = super::is_http(url) && !url.contains('@') && !url.contains('?');
        is_http.then(|| url.clone()).ok_or_else(|| {
            fault("base_url in [mind], or DREAM_MIND_URL: expected http://… or https://…, without a key or password in it")
        })
    }

    /// Provider and model, as reports name them.
    pub(crate) fn shown(&self) -> Result<String, Fault> {
        Ok(format!("{}/{}", self.provider()?.as_str(), self.model()?))
    }

    /// Whether a key is set, in words.
    pub(crate) fn key_shown(&self) -> &'static str {
        if self.key_env.is_some() || self.key_file.is_some() { "set" } else { "none" }
    }

    fn key(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Option<String>, Fault> {
        let key = match (&self.key_env, &self.key_file) {
            (Some(_), Some(_)) => return Err(fault("[mind] names both key_env and key_file; leave one of them")),
            // The name is not repeated: the key itself may stand in its place.
            (Some(name), None) => Some(variable(name).ok_or_else(|| {
                fault("the variable that key_env in [mind] names is not set; set it to the key of the model")
            })?),
            (None, Some(path)) => Some(read_key(path)?),
            (None, None) => None,
        };
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        if key.as_ref().is_some_and(|key| !key.chars().all(|letter| letter.is_ascii_graphic())) {
            return Err(fault("the key of the model has characters in it that no key has"));
        }
        let provider = self.provider()?;
        if key.is_none() && provider.wants_key() && self.base_url.is_none() {
            let message = format!(
                "{} answers nobody without a key; set DREAM_MIND_KEY, or key_env or key_file in [mind]",
                provider.as_str()
            );
            return Err(fault(message));
        }
        Ok(key)
    }

    /// How the model is reached and what it may be asked.
    pub(crate) fn ready(&self, variable: impl Fn(&str) -> Option<String>) -> Result<(Access, Terms), Fault> {
        let timeout_seconds = self.timeout_seconds.unwrap_or(TIMEOUT_SECONDS);
        if !(1..=TIMEOUT_SECONDS_MAX).contains(&timeout_seconds) {
            return Err(fault(format!("timeout_seconds in [mind]: expected 1 to {TIMEOUT_SECONDS_MAX}")));
        }
        let output_tokens_max = self.output_tokens_max.unwrap_or(OUTPUT_TOKENS);
        if output_tokens_max == 0 {
            return Err(fault("output_tokens_max in [mind]: expected 1 or more"));
        }
        let usual = Budget::default();
        let budget = Budget {
            calls_per_run: self.calls_per_run_max.unwrap_or(usual.calls_per_run),
            tokens_per_run: self.tokens_per_run_max.unwrap_or(usual.tokens_per_run),
            calls_per_day: self.calls_per_day_max.unwrap_or(usual.calls_per_day),
            tokens_per_day: self.tokens_per_day_max.unwrap_or(usual.tokens_per_day),
        };
        let access = Access {
            provider: self.provider()?,
            model: self.model()?.to_owned(),
            base_url: self.base_url()?,
            key: self.key(variable)?,
            timeout: Duration::from_secs(timeout_seconds),
        };
        Ok((access, Terms { model: self.shown()?, output_tokens_max, budget }))
    }
}

fn read_key(path: &Path) -> Result<String, Fault> {
    std::fs::read_to_string(path).map_err(|error| {
        let message = format!("key_file in [mind], {}: it cannot be read: {}", path.display(), error.kind());
        Fault::new(Code::File, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(pairs: &[(&str, &str)]) -> Result<(Access, Terms), Fault> {
        let environment: BTreeMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mind = read(None, &environment)?.expect("a model is named");
        mind.value.ready(|name| environment.get(name).cloned())
    }

    #[track_caller]
    fn lacks(pairs: &[(&str, &str)], what: &str) {
        let said = says(pairs).err().unwrap().to_string();
        assert!(said.contains(what), "{said}");
        assert!(!said.contains("sk-quokka"), "{said}");
    }

    const OPENAI: (&str, &str) = ("DREAM_MIND_PROVIDER", "openai");
    const MODEL: (&str, &str) = ("DREAM_MIND_MODEL", "gpt-5-mini");

    #[test]
    fn a_model_that_cannot_work_is_refused_with_the_name_of_what_to_set() {
        lacks(&[MODEL], "DREAM_MIND_PROVIDER");
        lacks(&[("DREAM_MIND_PROVIDER", "sk-quokka"), MODEL], "expected openai, anthropic or ollama");
        lacks(&[OPENAI], "DREAM_MIND_MODEL");
        lacks(&[OPENAI, MODEL], "DREAM_MIND_KEY");
        lacks(&[OPENAI, MODEL, ("DREAM_MIND_URL", "https://sk-quokka@host/v1")], "DREAM_MIND_URL");
        lacks(&[OPENAI, MODEL, ("DREAM_MIND_KEY", "sk-quokka\nx: y")], "characters");
        lacks(&[OPENAI, MODEL, ("DREAM_MIND_TIMEOUT_SECONDS", "0"), (KEY, "k")], "timeout_seconds");
        lacks(&[OPENAI, MODEL, ("DREAM_MIND_TIMEOUT_SECONDS", "sk-quokka"), (KEY, "k")], "whole number");
        lacks(&[OPENAI, MODEL, ("DREAM_MIND_KEYS", "sk-quokka")], "DREAM_MIND_KEYS");
        lacks(&[OPENAI, MODEL, ("DREAM_MIND_KEY_FILE", "/nowhere/key")], "/nowhere/key");
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key() {
        let (access, terms) = says(&[OPENAI, MODEL, ("DREAM_MIND_URL", "http://localhost:8080/v1")]).unwrap();
        assert_eq!((access.key, access.base_url.as_str()), (None, "http://localhost:8080/v1"));
        assert_eq!(terms.model, "openai/gpt-5-mini");
        assert_eq!(terms.budget, Budget::default());
        let (access, _) = says(&[("DREAM_MIND_PROVIDER", "ollama"), ("DREAM_MIND_MODEL", "qwen3")]).unwrap();
        assert_eq!(access.base_url, "http://localhost:11434");
    }

    #[test]
    fn the_environment_is_laid_over_the_file_setting_by_setting() {
        let value = MindConfig {
            provider: Some("anthropic".to_owned()),
            model: Some("claude".to_owned()),
            key_env: Some("SOME_KEY".to_owned()),
            ..MindConfig::default()
        };
        let file = Sourced { value, origin: Origin::File("dream.toml".into()) };
        let environment = BTreeMap::from([("DREAM_MIND_CALLS_PER_DAY_MAX".to_owned(), "2".to_owned())]);
        let mind = read(Some(file), &environment).unwrap().unwrap();
        let (access, terms) = mind.value.ready(|name| (name == "SOME_KEY").then(|| "k".to_owned())).unwrap();
        assert_eq!((access.key.as_deref(), terms.budget.calls_per_day), (Some("k"), 2));
        assert_eq!(mind.origin, Origin::File("dream.toml".into()));
    }

    #[test]
    fn a_key_alone_names_no_model() {
        let environment = BTreeMap::from([(KEY.to_owned(), "k".to_owned())]);
        assert!(read(None, &environment).unwrap().is_none());
    }
}
