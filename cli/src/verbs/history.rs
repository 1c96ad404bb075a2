//! `mfa NOUN history`: who changed a record, when, from what into what.

use super::examples;
use crate::command::noun::Noun;
use crate::command::verb::{COMMON, Common, Node};
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
        path: noun.address(),
        run: |noun, at, _, cx| Box::pin(async move { cx.history(&[&[noun.history], at].concat()).await }),
        ..COMMON
    };
    Some(common.of(noun))
}
