//! `mfa NOUN get`.

use super::examples;
use crate::command::noun::Noun;
use crate::command::verb::{Common, Node};

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let read = noun.read?;
    let common = Common {
        name: "get",
        endpoint: Some(read),
        about: read.doc.to_owned(),
        examples: examples(noun, "get", noun.samples.one),
        bulk: false,
        flags: |noun, command| command.args(noun.arguments(&noun.address())),
        run: |noun, matches, cx| {
            Box::pin(async move {
                let given = noun.given(&noun.address(), matches);
                let at: Vec<_> = given.iter().map(String::as_str).collect();
                match noun.read {
                    Some(read) => cx.show_row((read, &at), noun.view).await,
                    None => Ok(()),
                }
            })
        },
    };
    Some(common.of(noun))
}
