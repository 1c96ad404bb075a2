//! Changes that would name what does not exist: a person is asked before they are made, and where that was
//! wished the daemon refuses them.

use super::dry_run::{self, DRY_RUN};
use super::{Client, Parcel};
use crate::failure::{Failure, Outcome};
use crate::prompt::Prompt;
use crate::suggest;
use mfa_shared::fault::exit;
use reqwest::Response;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

/// The header by which a change is refused that names what does not exist.
const EXISTING_ONLY: HeaderName = HeaderName::from_static("existing-only");

/// Properties that may name what does not exist; what any other one names, the daemon checks always.
const FREE: &[&str] = &[
    "assignedEmployee",
    "assignedEmployeeIdentifier",
    "assignedOffice",
    "customerIdentifier",
    "permittableEndpointGroupIdentifier",
    "permittableEndpointGroupIdentifiers",
    "referenceCustomer",
    "role",
];

/// Ends of addresses whose changes nobody is asked about. At the counter the daemon checks all that counts;
/// operations of a batch may name what others of it make.
const NOT_ASKED: &[&str] = &["/transactions", "/batch"];

/// References of one change that are asked about one by one.
const ASKED_MAX: usize = 5;

/// What is done about a change that names what does not exist.
#[derive(Debug, Clone)]
pub enum References {
    /// It is made, and told afterwards.
    Told,
    /// It is tried first, and somebody is asked.
    Asked(Prompt),
    /// The daemon refuses it.
    Refused,
}

impl References {
    /// What is done where somebody may be asked, unless only what exists is to be named.
    pub fn of(existing_only: bool, prompt: &Prompt) -> Self {
        match existing_only {
            true => References::Refused,
            false if prompt.can_ask() && !prompt.yes => References::Asked(prompt.clone()),
            false => References::Told,
        }
    }
}

impl Client {
    /// Sees to the references of a change before it is sent.
    pub(super) async fn heed(&self, mut parcel: Parcel) -> Outcome<Parcel> {
        let path = parcel.url.split('?').next().unwrap_or_default();
        if parcel.method.is_safe() || path.ends_with("/token") {
            return Ok(parcel);
        }
        match &self.references {
            References::Refused => {
                parcel.headers.insert(EXISTING_ONLY, HeaderValue::from_static("true"));
            }
            References::Asked(prompt)
                if !self.dry_run && !NOT_ASKED.iter().any(|end| path.ends_with(end)) =>
            {
                self.ask_about(&parcel, prompt).await?;
            }
            References::Asked(_) | References::Told => {}
        }
        Ok(parcel)
    }

    /// Lets the daemon try a change with references, and asks about those that it does not find. Looking for
    /// near identifiers sends requests in turn, so the compiler must not have to look inside.
    fn ask_about<'a>(
        &'a self,
        parcel: &'a Parcel,
        prompt: &'a Prompt,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(self.asked_about(parcel, prompt))
    }

    async fn asked_about(&self, parcel: &Parcel, prompt: &Prompt) -> Outcome {
        let Some((kind, bytes)) = &parcel.body else { return Ok(()) };
        let is_role = parcel.url.ends_with("/roleIdentifier");
        if !is_role && !serde_json::from_slice(bytes).is_ok_and(|body| is_free(&body)) {
            return Ok(());
        }
        // The trial has no key, so that the one of the change stays unused.
        let trial = Self {
            dry_run: true,
            references: References::Told,
            curl: None,
            changes: Default::default(),
            noted: Default::default(),
            ..self.clone()
        };
        let mut headers = parcel.headers.clone();
        headers.insert(DRY_RUN, HeaderValue::from_static("true"));
        let copy = Parcel {
            method: parcel.method.clone(),
            url: parcel.url.clone(),
            headers,
            body: Some((kind.clone(), bytes.clone())),
            watch: None,
            keyed: false,
            bulk: false,
        };
        let answer = trial.deliver(copy).await?;
        // What is refused is refused again when it is sent, or repeats what was done under its key before.
        if answer.status().is_success() && !answer.headers().contains_key(DRY_RUN) {
            return Err(dry_run::ignored(&self.url));
        }
        let found = trial.take_dangling();
        if found.is_empty() {
            return Ok(());
        }
        let mut question = String::new();
        for dangling in found.iter().take(ASKED_MAX) {
            question += &suggest::what_is_missing(self, dangling).await;
            question.push('\n');
        }
        if found.len() > ASKED_MAX {
            question += &format!("{} more fields name what does not exist\n", found.len() - ASKED_MAX);
        }
        prompt.confirm_or_interrupted(&format!("{question}make the change all the same?")).await?;
        self.agree_to(found);
        Ok(())
    }

    /// Finds a daemon that does not know the header and has made the change.
    pub(super) fn check_heeded(&self, sent: &HeaderMap, answer: &Response) -> Outcome {
        let heard = answer.headers().contains_key(EXISTING_ONLY);
        if heard || !sent.contains_key(EXISTING_ONLY) || !answer.status().is_success() {
            return Ok(());
        }
        let what =
            format!("the daemon at {} does not know --existing-only, and has done what was asked", self.url);
        Err(Failure::new("existing_only_ignored", exit::INCOMPATIBLE, what))
    }
}

/// Whether a body names something that need not exist.
fn is_free(body: &Value) -> bool {
    let names = |value: &Value| match value {
        Value::String(name) => !name.is_empty(),
        Value::Array(names) => !names.is_empty(),
        _ => false,
    };
    match body {
        Value::Object(properties) => properties
            .iter()
            .any(|(name, value)| is_free(value) || FREE.contains(&name.as_str()) && names(value)),
        Value::Array(values) => values.iter().any(is_free),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_free;
    use serde_json::json;

    #[test]
    fn only_a_body_that_names_another_record_is_tried_first() {
        for body in [
            json!({ "assignedOffice": "market" }),
            json!({ "permissions": [{ "permittableEndpointGroupIdentifier": "all" }] }),
            json!({ "permittableEndpointGroupIdentifiers": ["all"] }),
        ] {
            assert!(is_free(&body), "{body}");
        }
        for body in [
            json!({ "assignedOffice": null, "assignedEmployee": "" }),
            json!({ "permittableEndpointGroupIdentifiers": [] }),
            json!({ "identifier": "market", "name": "Market" }),
            json!("market"),
        ] {
            assert!(!is_free(&body), "{body}");
        }
    }
}
