//! What somebody may have meant who named a record that is not there.

use crate::client::{Client, Dangling};
use crate::commands::identifiers;
use crate::failure::Failure;
use crate::input::nearest;
use mfa_shared::fault::UNKNOWN_REFERENCE;
use std::time::Duration;

/// Longest wait for the list in which a mistyped identifier is looked for.
const TIMEOUT: Duration = Duration::from_millis(700);

/// Words in the names of fields that name a record, with its noun; the first that is found counts.
const NAMING: &[(&str, &str)] = &[
    ("account", "account"),
    ("office", "office"),
    ("parent", "office"),
    ("employee", "employee"),
    ("customer", "customer"),
    ("product", "definition"),
    ("role", "role"),
    ("group", "group"),
];

/// The failure with a near identifier, where the daemon soon tells which there are.
pub async fn with_suggestion(client: &Client, failure: Failure) -> Failure {
    let missing = failure.missing.clone().or_else(|| unknown_reference(&failure));
    let Some((noun, typed)) = missing else { return failure };
    match near(client, &noun, &typed).await {
        Some(near) => {
            let hint = format!("did you mean {near}? {}", failure.hint);
            failure.hint(hint)
        }
        None => failure,
    }
}

/// The near identifier of what a field names, where there is one.
pub async fn instead_of(client: &Client, dangling: &Dangling) -> Option<String> {
    near(client, noun_of_field(&dangling.field)?, dangling.name.as_deref()?).await
}

/// The noun and the name in the one field of a body that names nothing.
fn unknown_reference(failure: &Failure) -> Option<(String, String)> {
    match failure.errors.as_slice() {
        [only] if only.code == UNKNOWN_REFERENCE.code => {
            let name = only.detail.split('"').nth(1)?;
            Some((noun_of_field(&only.field)?.to_owned(), name.to_owned()))
        }
        _ => None,
    }
}

/// The noun of the records that a field names.
fn noun_of_field(pointer: &str) -> Option<&'static str> {
    let name = pointer.rsplit('/').find(|step| step.parse::<usize>().is_err())?.to_lowercase();
    NAMING.iter().find(|(word, _)| name.contains(word)).map(|(_, noun)| *noun)
}

async fn near(client: &Client, noun: &str, typed: &str) -> Option<String> {
    let client = client.hasty(TIMEOUT);
    let mut known = Vec::new();
    // One wrong character leaves one half of the identifier as it is, so each half is looked for.
    let half = typed.chars().count().div_ceil(2);
    let halves: [String; 2] = [typed.chars().take(half).collect(), typed.chars().skip(half).collect()];
    for term in halves.iter().filter(|half| !half.is_empty()) {
        known.extend(identifiers(&client, noun, term).await);
    }
    known.sort();
    known.dedup();
    nearest(typed, known.iter().map(String::as_str)).first().map(|near| (*near).to_owned())
}

#[cfg(test)]
mod tests {
    use super::noun_of_field;

    #[test]
    fn a_field_tells_which_records_it_names() {
        for (field, noun) in [
            ("/assignedOffice", Some("office")),
            ("/parentIdentifier", Some("office")),
            ("/productIdentifier", Some("definition")),
            ("/permissions/3/permittableEndpointGroupIdentifier", Some("group")),
            ("/permittableEndpointGroupIdentifiers/0", Some("group")),
            ("/customerAccountIdentifier", Some("account")),
            ("/name", None),
            ("", None),
        ] {
            assert_eq!(noun_of_field(field), noun, "{field}");
        }
    }
}
