//! Suggestions for a missing record.

use crate::client::{Client, Dangling};
use crate::command::noun::Noun;
use crate::failure::Failure;
use crate::nouns::{self, accounts, roles};
use crate::words::{nearest, quoted};
use mfa_shared::api::customers::GetCustomer;
use mfa_shared::fault::UNKNOWN_REFERENCE;
use mfa_shared::wire::Nothing;
use std::time::Duration;

/// Longest wait for the list in which a mistyped identifier is looked for.
const TIMEOUT: Duration = Duration::from_millis(700);

struct Missing {
    noun: &'static Noun,
    identifier: String,
    /// The office in which it was looked for; nothing for one that is in no office, or in any of them.
    office: Option<String>,
}

/// The failure with a near identifier, if the daemon soon says which ones exist; `office` is that of this
/// machine.
pub async fn with_suggestion(client: &Client, office: &str, failure: Failure) -> Failure {
    let missing = not_found(&failure).or_else(|| unknown_reference(&failure));
    let Some(missing) = missing else { return failure };
    if is_customer(client, &missing).await {
        let customer = quoted(&missing.identifier);
        return failure.hint(format!(
            "{customer} is a customer; their accounts: mfa accounts list --customer {customer}"
        ));
    }
    match near(client, &missing, office).await {
        Some(near) => {
            let hint = format!("did you mean {near}? {}", failure.hint);
            failure.hint(hint)
        }
        None => failure,
    }
}

/// Whether a missing account has the identifier of a customer, as people type it who mean their only account.
async fn is_customer(client: &Client, missing: &Missing) -> bool {
    if missing.noun.singular != accounts::NOUN.singular {
        return false;
    }
    let read = GetCustomer { customer: missing.identifier.clone() };
    let client = client.hasty(TIMEOUT);
    let found = tokio::time::timeout(TIMEOUT, client.send(&read, &Nothing)).await;
    found.is_ok_and(|reply| reply.is_ok())
}

/// The near identifier of what a field names, where there is one.
pub async fn instead_of(client: &Client, dangling: &Dangling) -> Option<String> {
    near(client, &named(&dangling.field, dangling.name.as_deref()?)?, "").await
}

/// The missing record that a field names, as a sentence, with the near identifier.
pub async fn what_is_missing(client: &Client, dangling: &Dangling) -> String {
    let said = match (noun_of_field(&dangling.field), &dangling.name) {
        (Some(noun), Some(name)) => format!("there is no {} \"{name}\"", noun.singular),
        _ => dangling.to_string(),
    };
    match instead_of(client, dangling).await {
        Some(near) => format!("{said}; did you mean {near}?"),
        None => said,
    }
}

/// The missing record that a field names.
fn named(field: &str, name: &str) -> Option<Missing> {
    Some(Missing { noun: noun_of_field(field)?, identifier: name.to_owned(), office: None })
}

/// What the path of a request names: `office_not_found` is about its `{office}`.
fn not_found(failure: &Failure) -> Option<Missing> {
    let word = failure.code.strip_suffix("_not_found")?;
    let path = failure.path.as_slice();
    let given = |param: &str| path.iter().find(|(name, _)| *name == param).map(|(_, id)| id.clone());
    let is_missing = |noun: &Noun| {
        let param = noun.param();
        if noun.missing.is_empty() { param == word } else { noun.missing == word }
    };
    let noun = nouns::all().iter().find(|noun| noun.whole().is_some() && is_missing(noun))?;
    let office = given("office").filter(|_| word != "office");
    Some(Missing { noun, identifier: given(noun.param())?, office })
}

/// The missing record that the one field of a body names.
fn unknown_reference(failure: &Failure) -> Option<Missing> {
    match failure.errors.as_slice() {
        [only] if only.code == UNKNOWN_REFERENCE.code => named(&only.field, only.detail.split('"').nth(1)?),
        _ => None,
    }
}

/// The noun of the records that a field names: the one of the last of its words.
fn noun_of_field(pointer: &str) -> Option<&'static Noun> {
    let name = pointer.rsplit('/').find(|step| step.parse::<usize>().is_err())?.to_lowercase();
    if name == "identifier" {
        // The only field of that name which names another record is in the body of a user's role.
        return Some(&roles::NOUN);
    }
    let place = |noun: &Noun| noun.fields.iter().filter_map(|word| name.rfind(word)).max();
    let found = nouns::all().iter().filter_map(|noun| Some((place(noun)?, *noun)));
    found.max_by_key(|(place, _)| *place).map(|(_, noun)| noun)
}

async fn near(client: &Client, missing: &Missing, office: &str) -> Option<String> {
    let Missing { noun, identifier: typed, office: own } = missing;
    let client = client.hasty(TIMEOUT);
    let office = own.as_deref().unwrap_or(office);
    let mut known = Vec::new();
    // One wrong character leaves one half of the identifier as it is, so each half is looked for.
    let half = typed.chars().count().div_ceil(2);
    let halves: [String; 2] = [typed.chars().take(half).collect(), typed.chars().skip(half).collect()];
    for term in halves.iter().filter(|half| !half.is_empty()) {
        let found = tokio::time::timeout(TIMEOUT, noun.identifiers(&client, office, term)).await;
        known.extend(found.unwrap_or_default());
    }
    known.sort();
    known.dedup();
    // What was typed is there, as another kind of record: an account of the ledger that no customer holds.
    if known.contains(typed) {
        return None;
    }
    nearest(typed, known.iter().map(String::as_str)).first().map(|near| (*near).to_owned())
}

#[cfg(test)]
mod tests {
    use super::noun_of_field;

    #[test]
    fn the_name_of_a_field_says_which_records_it_names() {
        for (field, noun) in [
            ("/assignedOffice", Some("office")),
            ("/parentIdentifier", Some("office")),
            ("/productIdentifier", Some("product")),
            ("/permissions/3/permittableEndpointGroupIdentifier", Some("group")),
            ("/permittableEndpointGroupIdentifiers/0", Some("group")),
            ("/customerAccountIdentifier", Some("account")),
            ("/identifier", Some("role")),
            ("/name", None),
            ("", None),
        ] {
            assert_eq!(noun_of_field(field).map(|noun| noun.singular), noun, "{field}");
        }
    }
}
