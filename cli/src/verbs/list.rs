//! `mfa NOUN list`, for lists that take no flags of their own.

use super::examples;
use crate::command::noun::{Noun, params};
use crate::command::verb::{Common, Node};
use mfa_shared::wire::AnswerKind;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let list = noun.list.filter(|list| list.answer.kind == AnswerKind::List)?;
    // The examples name the record that leads the path, as those of one record do.
    let words: Vec<_> = noun.samples.one.split(' ').take(params(list.path).count()).collect();
    let common = Common {
        name: "list",
        endpoint: Some(list),
        about: list.doc.to_owned(),
        examples: examples(noun, "list", &words.join(" ")),
        bulk: false,
        flags: |noun, command| command.args(noun.arguments(&path(noun))),
        run: |noun, matches, cx| {
            Box::pin(async move {
                let given = noun.given(&path(noun), matches);
                let at: Vec<_> = given.iter().map(String::as_str).collect();
                match noun.list {
                    Some(list) => cx.show_row((list, &at), noun.view).await,
                    None => Ok(()),
                }
            })
        },
    };
    Some(common.of(noun))
}

fn path(noun: &Noun) -> Vec<&'static str> {
    noun.list.map_or(Vec::new(), |list| params(list.path).collect())
}
