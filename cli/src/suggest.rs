//! What somebody may have meant who named a record that is not there.

use crate::client::{Client, Dangling};
use crate::commands::identifiers;
use crate::failure::{Failure, Missing};
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

/// The failure with a near identifier, where the daemon soon tells which there are; `office` is that of this
/// machine.
pub async fn with_suggestion(client: &Client, office: &str, failure: Failure) -> Failure {
    let missing = failure.missing.clone().or_else(|| unknown_reference(&failure));
    let Some(mut missing) = missing else { return failure };
    missing.office.get_or_insert_with(|| office.to_owned());
    match near(client, &missing).await {
        Some(near) => {
            let hint = format!("did you mean {near}? {}", failure.hint);
            failure.hint(hint)
        }
        None => failure,
    }
}

/// The near identifier of what a field names, where there is one.
pub async fn instead_of(client: &Client, dangling: &Dangling) -> Option<String> {
    near(client, &named(&dangling.field, dangling.name.as_deref()?)?).await
}

/// What a field names that is not there, as a sentence, with the near identifier.
pub async fn what_is_missing(client: &Client, dangling: &Dangling) -> String {
    let said = match (noun_of_field(&dangling.field), &dangling.name) {
        (Some(noun), Some(name)) => format!("there is no {noun} \"{name}\""),
        _ => dangling.to_string(),
    };
    match instead_of(client, dangling).await {
        Some(near) => format!("{said}; did you mean {near}?"),
        None => said,
    }
}

/// What a field names, which is not there.
fn named(field: &str, name: &str) -> Option<Missing> {
    let noun = noun_of_field(field)?.to_owned();
    Some(Missing { noun, identifier: name.to_owned(), office: None })
}

/// What the one field of a body names, which is not there.
fn unknown_reference(failure: &Failure) -> Option<Missing> {
    match failure.errors.as_slice() {
        [only] if only.code == UNKNOWN_REFERENCE.code => named(&only.field, only.detail.split('"').nth(1)?),
        _ => None,
    }
}

/// The noun of the records that a field names.
fn noun_of_field(pointer: &str) -> Option<&'static str> {
    let name = pointer.rsplit('/').find(|step| step.parse::<usize>().is_err())?.to_lowercase();
    if name == "identifier" {
        // The only field of that name which names another record is in the body of a user's role.
        return Some("role");
    }
    NAMING.iter().find(|(word, _)| name.contains(word)).map(|(_, noun)| *noun)
}

async fn near(client: &Client, missing: &Missing) -> Option<String> {
    let Missing { noun, identifier: typed, office } = missing;
    let (client, office) = (client.hasty(TIMEOUT), office.as_deref().unwrap_or_default());
    let mut known = Vec::new();
    // One wrong character leaves one half of the identifier as it is, so each half is looked for.
    let half = typed.chars().count().div_ceil(2);
    let halves: [String; 2] = [typed.chars().take(half).collect(), typed.chars().skip(half).collect()];
    for term in halves.iter().filter(|half| !half.is_empty()) {
        let found = tokio::time::timeout(TIMEOUT, identifiers(&client, noun, office, term)).await;
        known.extend(found.unwrap_or_default());
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
            ("/identifier", Some("role")),
            ("/name", None),
            ("", None),
        ] {
            assert_eq!(noun_of_field(field), noun, "{field}");
        }
    }
}
