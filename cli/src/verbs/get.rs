//! `mfa NOUN get`.

use super::examples;
use crate::command::noun::Noun;
use crate::command::verb::{COMMON, Common, Node};
use clap::{Arg, ArgAction, Command};
use mfa_shared::wire::Outgoing;

/// Shows the secret of a record that has one.
const SHOW_SECRETS: &str = "show-secrets";

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let read = noun.read?;
    let mut examples = examples(noun, "get", noun.samples.one);
    if !noun.secret.is_empty() {
        examples[1] = format!("{} --{SHOW_SECRETS} -o json", examples[0]);
    }
    let common = Common {
        name: "get",
        endpoint: Some(read),
        about: read.doc.to_owned(),
        examples,
        path: noun.address(),
        flags,
        run: |noun, at, matches, cx| {
            Box::pin(async move {
                let Some(read) = noun.read else { return Ok(()) };
                let mut record = cx.client.send_row((read, at), Outgoing::default()).await?.value;
                if noun.secret.is_empty() || !matches.get_flag(SHOW_SECRETS) {
                    noun.cover(&mut record);
                }
                cx.print_row((read, at), noun.view, record).await
            })
        },
        ..COMMON
    };
    Some(common.of(noun))
}

fn flags(noun: &'static Noun, command: Command) -> Command {
    if noun.secret.is_empty() {
        return command;
    }
    let show = Arg::new(SHOW_SECRETS).long(SHOW_SECRETS).action(ArgAction::SetTrue);
    command.arg(show.help("Show the secret instead of ***"))
}
