//! `mfa NOUN delete`.

use super::twice;
use crate::command::cx::Cx;
use crate::command::globals::ChangeFlags;
use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use crate::failure::Outcome;
use crate::output::views;
use clap::Args;
use mfa_shared::endpoint::Meta;
use mfa_shared::wire::Outgoing;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let delete = noun.delete?;
    let examples = twice(noun, "delete", &format!("{} --yes", noun.samples.deleted));
    let leaf = Leaf::made("delete", noun.args(), ChangeFlags::augment_args, move |at, _, cx| {
        Box::pin(run(cx, noun, delete, at))
    });
    Some(Node::Leaf(Leaf { endpoint: Some(delete), about: delete.doc, examples, ..leaf }))
}

/// Asks and deletes. A record that others may use is not deleted while something uses it, and then no
/// question is asked.
async fn run(cx: &Cx, noun: &Noun, delete: &'static Meta, params: &[&str]) -> Outcome {
    let done = noun.done(params, "deleted");
    cx.check_columns(&views::RESULT)?;
    if noun.tried && cx.prompt.must_ask() && cx.prompt.can_ask() {
        cx.client.try_row((delete, params), Outgoing::default()).await?;
    }
    let names = noun.address().into_iter().zip(params).rev().skip(1);
    let of: String = names.map(|(name, id)| format!(" of {name} {id}")).collect();
    let what = format!("delete {} {}{of}{}", done.noun, done.id, noun.with);
    cx.prompt.before_destroying(&what, done.id)?;
    cx.client.send_row((delete, params), Outgoing::default()).await?;
    cx.done(done)
}
