//! `mfa NOUN create`.

use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use clap::Arg;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let (create, flags) = noun.create.zip(noun.creates)?;
    let help = format!("Identifier of the new {}, 2 to 32 letters, digits and . - * _", noun.singular);
    let identifier = Arg::new("identifier").value_name("ID").help(help).required_unless_present("from");
    let leaf = Leaf::made("create", vec![identifier], flags.add, move |given, matches, cx| {
        Box::pin(async move {
            let draft = (flags.draft)(matches)?.set(noun.key, given.first().copied());
            cx.create(noun, &[], draft).await
        })
    });
    let (endpoint, about) = (Some(create.meta), create.meta.doc);
    Some(Node::Leaf(Leaf { endpoint, about, examples: flags.examples, ..leaf }))
}
