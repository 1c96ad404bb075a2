//! `mfa NOUN get`.

use super::{line, pair};
use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use clap::{Arg, ArgAction, Command};
use mfa_shared::wire::Outgoing;

/// Shows the secret of a record that has one.
const SHOW_SECRETS: &str = "show-secrets";

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let read = noun.read?;
    let has_secret = !noun.secret.is_empty();
    let flags = move |command: Command| {
        let show = Arg::new(SHOW_SECRETS).long(SHOW_SECRETS).action(ArgAction::SetTrue);
        command.args(has_secret.then(|| show.help("Show the secret instead of ***")))
    };
    let leaf = Leaf::made("get", noun.args(), flags, move |at, matches, cx| {
        Box::pin(async move {
            let mut record = cx.client.send_row((read, at), Outgoing::default()).await?.value;
            if !has_secret || !matches.get_flag(SHOW_SECRETS) {
                noun.cover(&mut record);
            }
            cx.print_row((read, at), noun.view, record).await
        })
    });
    let line = line(noun, "get", noun.samples.one);
    let more = if has_secret { format!(" --{SHOW_SECRETS}") } else { String::new() };
    let examples = pair([line.clone(), format!("{line}{more} -o json")]);
    Some(Node::Leaf(Leaf { endpoint: Some(read), about: read.doc, examples, ..leaf }))
}
