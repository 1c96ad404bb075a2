//! The question about a change that names missing records.

use crate::client::{Asking, Asks, Client, Dangling, References};
use crate::input::prompt::Prompt;
use crate::nouns;
use crate::verbs::suggest;
use serde_json::Value;
use std::sync::Arc;

/// References of one change that are asked about one by one.
const ASKED_MAX: usize = 5;

/// What is done about dangling references: refuse them if only existing records may be named, ask if the user
/// can be asked, otherwise report them.
pub fn about(existing_only: bool, prompt: &Prompt) -> References {
    match existing_only {
        true => References::Refused,
        false if prompt.can_ask() && !prompt.yes => References::Asked(Arc::new(AtTerminal(prompt.clone()))),
        false => References::Reported,
    }
}

/// A user at a terminal.
#[derive(Debug)]
struct AtTerminal(Prompt);

impl Asks for AtTerminal {
    fn is_free(&self, body: &Value) -> bool {
        is_free(body)
    }

    fn ask<'a>(&'a self, client: &'a Client, found: &'a [Dangling]) -> Asking<'a> {
        Box::pin(async move {
            let mut question = String::new();
            for dangling in found.iter().take(ASKED_MAX) {
                question += &suggest::what_is_missing(client, dangling).await;
                question.push('\n');
            }
            if found.len() > ASKED_MAX {
                question += &format!("{} more fields name what does not exist\n", found.len() - ASKED_MAX);
            }
            self.0.confirm_or_interrupted(&format!("{question}make the change anyway?")).await
        })
    }
}

/// Whether a body names something that need not exist. What any other field names, the daemon checks always.
fn is_free(body: &Value) -> bool {
    let names = |value: &Value| match value {
        Value::String(name) => !name.is_empty(),
        Value::Array(names) => !names.is_empty(),
        _ => false,
    };
    let may = |name: &String| nouns::all().iter().any(|noun| noun.free.contains(&name.as_str()));
    match body {
        Value::Object(properties) => {
            properties.iter().any(|(name, value)| is_free(value) || may(name) && names(value))
        }
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
