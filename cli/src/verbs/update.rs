//! `mfa NOUN update`.

use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let (change, flags) = noun.change.zip(noun.updates)?;
    let leaf = Leaf::made("update", noun.args(), flags.add, move |at, matches, cx| {
        Box::pin(async move { cx.update(noun, at, (flags.draft)(matches)?).await })
    });
    let (endpoint, about) = (Some(change.meta), change.meta.doc);
    Some(Node::Leaf(Leaf { endpoint, about, examples: flags.examples, ..leaf }))
}
