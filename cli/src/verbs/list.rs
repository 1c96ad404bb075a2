//! `mfa NOUN list`, for lists that take no flags of their own.

use super::twice;
use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use mfa_shared::endpoint::path_params;
use mfa_shared::wire::AnswerKind;
use std::convert::identity;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let list = noun.list.filter(|list| list.answer.kind == AnswerKind::List)?;
    let args = noun.args_of(path_params(list.path));
    // The examples name the record that leads the path, as those of one record do.
    let words: Vec<_> = noun.samples.one.split(' ').take(args.len()).collect();
    let leaf = Leaf::made("list", args, identity, move |at, _, cx| {
        Box::pin(async move { cx.show_row((list, at), noun.view).await })
    });
    let examples = twice(noun, "list", &words.join(" "));
    Some(Node::Leaf(Leaf { endpoint: Some(list), about: list.doc, examples, ..leaf }))
}
