//! `mfa NOUN list`, for lists that take no flags of their own.

use super::examples;
use crate::command::noun::{Noun, params};
use crate::command::verb::{COMMON, Common, Node};
use mfa_shared::wire::AnswerKind;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let list = noun.list.filter(|list| list.answer.kind == AnswerKind::List)?;
    let path: Vec<_> = params(list.path).collect();
    // The examples name the record that leads the path, as those of one record do.
    let words: Vec<_> = noun.samples.one.split(' ').take(path.len()).collect();
    let common = Common {
        name: "list",
        endpoint: Some(list),
        about: list.doc.to_owned(),
        examples: examples(noun, "list", &words.join(" ")),
        path,
        run: |noun, at, _, cx| {
            Box::pin(async move {
                match noun.list {
                    Some(list) => cx.show_row((list, at), noun.view).await,
                    None => Ok(()),
                }
            })
        },
        ..COMMON
    };
    Some(common.of(noun))
}
