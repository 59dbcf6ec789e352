//! What does not fit in a file that somebody wrote, by its line and the name of its field.
//!
//! **Invariant:** what stands in a field is never repeated. Parsers quote it, and it may be a password or a memory.

use serde::de::DeserializeOwned;

/// Reads TOML; else says in which line and field it does not fit.
pub(crate) fn toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let line = |error: &toml::de::Error| error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
    // What is said of the syntax quotes nothing.
    let toml = toml::Deserializer::parse(text).map_err(|error| {
        format!("line {}: {}", line(&error), error.message().lines().collect::<Vec<_>>().join(", "))
    })?;
    serde_path_to_error::deserialize(toml)
        .map_err(|error| format!("line {}: {}", line(error.inner()), misfit(error.path(), error.inner().message())))
}

/// Reads JSON; else says in which line and field it does not fit.
pub(crate) fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let inner = error.inner();
        let what =
            if inner.is_data() { misfit(error.path(), &inner.to_string()) } else { "this is no JSON".to_owned() };
        format!("line {}: {what}", inner.line())
    })
}

/// Reads YAML; else says in which line and field it does not fit.
pub(crate) fn yaml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value: serde_json::Value = serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().map(|location| format!("line {}: ", location.line())).unwrap_or_default();
        format!("{line}this is no YAML")
    })?;
    serde_path_to_error::deserialize(value).map_err(|error| misfit(error.path(), &error.inner().to_string()))
}

/// What a parser says, without what it quotes of a value. Names of fields it may keep.
pub(crate) fn misfit(path: &serde_path_to_error::Path, said: &str) -> String {
    let named = || said.split('`').nth(1).unwrap_or_default();
    let at = |what: String| if path.iter().len() == 0 { what } else { format!("{path}: {what}") };
    if said.starts_with("missing field") {
        at(format!("field {} is missing", named()))
    } else if said.starts_with("unknown field") {
        format!("there is no field {}", named())
    } else {
        at("a value of another kind is expected".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is read and not looked at")]
    struct Outer {
        stores: BTreeMap<String, Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is read and not looked at")]
    struct Inner {
        url: String,
    }

    #[test]
    fn what_does_not_fit_is_named_by_line_and_field_and_what_stands_there_is_not_repeated() {
        for (text, expected) in [
            ("\n[stores]\ndefault = \"postgres://me:secret@h/d\"\n", "line 3: stores.default: a value of another kind"),
            ("[stores.a]\nurl = [\"secret\"]\n", "line 2: stores.a.url: a value of another kind"),
            ("[stores.a]\n", "line 1: stores.a: field url is missing"),
            ("[stores.a]\nurl = \"x\"\nlink = \"secret\"\n", "line 3: there is no field link"),
            ("[stores.a]\nurl = secret\n", "line 2: "),
        ] {
            let misfit = toml::<Outer>(text).unwrap_err();
            assert!(misfit.contains(expected), "{text}: {misfit}");
            assert!(!misfit.contains("secret"), "{misfit}");
        }
        let misfit = json::<Outer>("{\"stores\": {\"a\": \n\"secret\"}}").unwrap_err();
        assert_eq!(misfit, "line 2: stores.a: a value of another kind is expected");
        let misfit = yaml::<Outer>("stores:\n  a: secret\n").unwrap_err();
        assert_eq!(misfit, "stores.a: a value of another kind is expected");
        assert!(!yaml::<Outer>("stores: [secret\n").unwrap_err().contains("secret"));
    }
}
