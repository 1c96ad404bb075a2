//! Input: files and standard input, flags, and questions.

mod draft;
pub mod local;
pub mod names;
pub mod pick;
pub mod prompt;
pub mod shape;
mod values;
pub mod yaml;

pub use draft::{Draft, Row, body, checked};
pub use local::{date, days, moment, money};
pub use values::{account_kind, custom_value, date_parts, flag, integer, pairs, permission};

use crate::failure::{Failure, Outcome};
use crate::settings::bounded::{self, DOCUMENT_BYTES_MAX, SECRET_BYTES_MAX};
use mfa_shared::node::Node;
use mfa_shared::time::{Date, Timestamp};
use serde_json::Value;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::time::{SystemTime, UNIX_EPOCH};

/// A word of the command line that is missing.
pub fn missing(word: &str) -> Failure {
    Failure::usage(format!("<{word}> is needed, or --from FILE")).hint("see the command with --help")
}

/// The secret in a file, without a byte order mark, which nobody can type, and without the line feed at its
/// end; nothing where no file is named.
pub fn secret_file(file: &str) -> Outcome<Option<String>> {
    typed(file, "password")
}

/// The same for an access token.
pub fn token_file(file: &str) -> Outcome<Option<String>> {
    typed(file, "token")
}

fn typed(file: &str, what: &str) -> Outcome<Option<String>> {
    let secret = kept(file, what)?;
    let typed = secret.map(|secret| secret.strip_prefix('\u{feff}').unwrap_or(&secret).to_owned());
    if typed.as_ref().is_some_and(String::is_empty) { Err(nothing(file, what)) } else { Ok(typed) }
}

/// The same for a passphrase, with a byte order mark, where the file has one: there are backups that were
/// encrypted with it.
pub fn passphrase_file(file: &str) -> Outcome<Option<String>> {
    kept(file, "password")
}

fn kept(file: &str, what: &str) -> Outcome<Option<String>> {
    if file.is_empty() {
        return Ok(None);
    }
    let mut secret = text(file, SECRET_BYTES_MAX)?;
    let end = secret.trim_end_matches(['\r', '\n']).len();
    secret.truncate(end);
    if secret.is_empty() { Err(nothing(file, what)) } else { Ok(Some(secret)) }
}

fn nothing(file: &str, what: &str) -> Failure {
    Failure::usage(format!("{file} holds no {what}"))
}

/// Reads a file of JSON or YAML; `-` is standard input.
pub fn structured(file: &str) -> Outcome<Value> {
    let text = text(file, DOCUMENT_BYTES_MAX)?;
    let name = if file == "-" { "standard input" } else { file };
    // JSON first, because it keeps every digit of a number.
    match serde_json::from_str(&text) {
        Ok(value) => {
            let unclear = |why| Failure::usage(format!("{name} cannot be read: {why}"));
            repeated(text.as_bytes()).map(|()| value).map_err(unclear)
        }
        Err(error) if text.trim_start().starts_with(['{', '[']) => {
            Err(Failure::usage(format!("{name} is not JSON: {error}")))
        }
        Err(_) => yaml::parse(&text).map_err(|why| Failure::usage(format!("{name} is not YAML: {why}"))),
    }
}

/// Refuses JSON that has a property twice: one of its values would be lost.
pub fn repeated(json: &[u8]) -> Result<(), String> {
    match Node::parse(json).ok().as_ref().and_then(twice) {
        Some(name) => Err(format!("the property \"{name}\" is given twice")),
        None => Ok(()),
    }
}

fn twice(node: &Node) -> Option<&str> {
    match node {
        Node::List(elements) => elements.iter().find_map(twice),
        Node::Object(properties) => {
            let mut seen = HashSet::new();
            properties.iter().find_map(|property| {
                if seen.insert(property.0.as_str()) { twice(&property.1) } else { Some(property.0.as_str()) }
            })
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => None,
    }
}

/// Reads a file of text up to a limit; `-` is standard input.
pub fn text(file: &str, bytes_max: u64) -> Outcome<String> {
    bounded::given(file, bytes_max).map_err(|error| {
        let failure = Failure::usage(format!("cannot read {file}: {error}"));
        match error.kind() {
            ErrorKind::FileTooLarge if bytes_max == SECRET_BYTES_MAX => {
                failure.hint("name a file that holds the secret and nothing else")
            }
            ErrorKind::FileTooLarge => {
                failure.hint("is it the file that you mean? a larger one must be split")
            }
            _ => failure,
        }
    })
}

/// The present day in UTC, by the clock of this machine.
pub fn today() -> Date {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)).day()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_property_is_refused_at_any_depth() {
        for (json, name) in [
            (r#"{"a":1,"b":{"a":2}}"#, None),
            (r#"[{"a":1},{"a":2}]"#, None),
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"[{"x":[{"a":1,"\u0061":null}]}]"#, Some("a")),
        ] {
            let refused = name.map(|name| format!("the property \"{name}\" is given twice"));
            assert_eq!(repeated(json.as_bytes()).err(), refused, "{json}");
        }
    }
}
