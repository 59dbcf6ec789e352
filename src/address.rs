//! Addresses of stores and servers, as they may be shown and typed.
//!
//! **Invariant:** whatever prints an address passes it through here first. It rather hides too much than too little: a
//! password that is not spelled as it should be is a password all the same.

/// What stands where something was taken out.
const HIDDEN: &str = "***";

/// An address without the password in it.
pub(crate) fn without_password(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", without_login(rest, scheme.starts_with("postgres"))),
        None if address.contains('=') && address.to_lowercase().contains("password") => without_words(address),
        // A scheme that was forgotten.
        None if address.rsplit_once('@').is_some_and(|(login, _)| login.contains(':')) => without_login(address, true),
        None => address.to_owned(),
    }
}

/// What stands behind the scheme. A password may hold every character that ends it in the right spelling, so it reaches to
/// the last `@`. Where a user's name may be a key, it is hidden too.
fn without_login(rest: &str, shows_user: bool) -> String {
    let (login, place) = match rest.rsplit_once('@') {
        Some((login, place)) => (Some(login), place),
        None => (None, rest),
    };
    let place = match place.split_once('?') {
        Some((place, _)) => format!("{place}?{HIDDEN}"),
        None => place.to_owned(),
    };
    match login.map(|login| login.split_once(':').map_or((login, false), |(user, _)| (user, true))) {
        None => place,
        Some((user, true)) if shows_user => format!("{user}:{HIDDEN}@{place}"),
        Some((user, false)) if shows_user => format!("{user}@{place}"),
        Some(_) => format!("{HIDDEN}@{place}"),
    }
}

/// `host=… password=…`, as some programs want it.
fn without_words(address: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some((name, _)) if !name.to_lowercase().contains("password") => word.to_owned(),
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None => HIDDEN.to_owned(),
    };
    address.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// A word as a shell has to read it.
pub(crate) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (address, expected) in [
            ("postgres://me:secret@host:5432/db", "postgres://me:***@host:5432/db"),
            ("postgres://me:sec@ret@host/db?password=secret", "postgres://me:***@host/db?***"),
            ("postgres://me:se/cr?et@host/db", "postgres://me:***@host/db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres://host/db?user=me&password=secret", "postgres://host/db?***"),
            ("mysql://me:secret@host/db", "mysql://***@host/db"),
            ("https://secret@host/v1", "https://***@host/v1"),
            ("me:secret@host/db", "me:***@host/db"),
            ("host=h user=me password=secret dbname=db", "host=h user=me password=*** dbname=db"),
            ("host=h password = secret", "host=h *** = ***"),
            ("/a/b.db", "/a/b.db"),
            ("/a/passwords.db", "/a/passwords.db"),
            ("127.0.0.1:7233", "127.0.0.1:7233"),
        ] {
            assert_eq!(without_password(address), expected);
        }
    }
}
