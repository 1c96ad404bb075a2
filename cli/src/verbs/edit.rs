//! `mfa NOUN edit`.

use crate::command::noun::Noun;
use crate::command::verb::{COMMON, Common, Node};

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let change = noun.change.filter(|_| noun.edited)?;
    let line = format!("mfa {} edit {} --yes", noun.typed, noun.samples.one);
    let second = match noun.samples.edit {
        "" => format!("EDITOR=true {line} -o json"),
        edit => format!("EDITOR='sed -i {edit}' {line}"),
    };
    let common = Common {
        name: "edit",
        endpoint: Some(change.meta),
        about: format!("Change {} in the editor that VISUAL or EDITOR names", noun.one()),
        examples: vec![format!("EDITOR=true {line}"), second],
        path: noun.address(),
        run: |noun, at, _, cx| Box::pin(cx.edit(noun, at)),
        ..COMMON
    };
    Some(common.of(noun))
}
