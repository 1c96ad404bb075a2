//! `mfa NOUN delete`.

use crate::command::cx::Cx;
use crate::command::noun::Noun;
use crate::command::verb::{COMMON, Common, Node};
use crate::failure::Outcome;
use crate::output::views;
use mfa_shared::wire::Outgoing;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let delete = noun.delete?;
    let line = format!("mfa {} delete {} --yes", noun.typed, noun.samples.deleted);
    let common = Common {
        name: "delete",
        endpoint: Some(delete),
        about: delete.doc.to_owned(),
        examples: vec![line.clone(), format!("{line} -o json")],
        path: noun.address(),
        run: |noun, at, _, cx| Box::pin(run(cx, noun, at)),
        ..COMMON
    };
    Some(common.of(noun))
}

/// Asks and deletes. A record that others may use is not deleted while something uses it, and then no
/// question is asked.
async fn run(cx: &Cx, noun: &'static Noun, params: &[&str]) -> Outcome {
    let Some(delete) = noun.delete else { return Ok(()) };
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
