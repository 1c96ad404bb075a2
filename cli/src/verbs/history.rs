//! `mfa NOUN history`: who changed a record, when, from what into what.

use super::twice;
use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use mfa_shared::api::audit::ListAudit;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::exit;
use std::convert::identity;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    if noun.history.is_empty() {
        return None;
    }
    let about =
        format!("Show who changed the {}, when and what, the oldest change first", noun.singular).leak();
    let examples = twice(noun, "history", noun.samples.one);
    let exits: &[i32] = if noun.read.is_some() { &[exit::NOT_FOUND] } else { &[] };
    let leaf = Leaf::made("history", noun.args(), identity, move |at, _, cx| {
        Box::pin(async move { cx.history(noun.history, at, noun.read).await })
    });
    Some(Node::Leaf(Leaf { exits, endpoint: Some(&ListAudit::META), about, examples, ..leaf }))
}
