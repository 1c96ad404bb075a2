//! `mfa NOUN edit`.

use super::{line, pair};
use crate::command::globals::ChangeFlags;
use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use clap::Args;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let change = noun.change.filter(|_| noun.edited)?;
    let line = line(noun, "edit", &format!("{} --yes", noun.samples.one));
    let second = match noun.samples.edit {
        "" => format!("EDITOR=true {line} -o json"),
        edit => format!("EDITOR='sed -i {edit}' {line}"),
    };
    let about = format!("Change {} in the editor that VISUAL or EDITOR names", noun.one()).leak();
    let examples = pair([format!("EDITOR=true {line}"), second]);
    let leaf = Leaf::made("edit", noun.args(), ChangeFlags::augment_args, move |at, _, cx| {
        Box::pin(cx.edit(noun, at))
    });
    Some(Node::Leaf(Leaf { endpoint: Some(change.meta), about, examples, ..leaf }))
}
