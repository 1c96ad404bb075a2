//! `mfa NOUN history`: who changed a record, when, from what into what.

use super::examples;
use crate::command::noun::Noun;
use crate::command::verb::{Common, Node};
use mfa_shared::api::audit::ListAudit;
use mfa_shared::endpoint::Endpoint;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    if noun.history.is_empty() {
        return None;
    }
    let common = Common {
        name: "history",
        endpoint: Some(&ListAudit::META),
        about: format!("Show who changed the {}, when and what, the oldest change first", noun.singular),
        examples: examples(noun, "history", noun.samples.one),
        bulk: false,
        flags: |noun, command| command.args(noun.arguments(&noun.address())),
        run: |noun, matches, cx| {
            Box::pin(async move {
                let given = noun.given(&noun.address(), matches);
                let words: Vec<_> =
                    [noun.history].into_iter().chain(given.iter().map(String::as_str)).collect();
                cx.history(&words).await
            })
        },
    };
    Some(common.of(noun))
}
