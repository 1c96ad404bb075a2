//! `mfa NOUN activate`, `close` and others, which change the state of a record.

use crate::command::cx::Cx;
use crate::command::noun::{CommandVerb, Commands, Noun};
use crate::command::verb::{Leaf, Node};
use crate::failure::Outcome;
use crate::input::Draft;
use clap::{Arg, Command};

pub(super) fn of(noun: &'static Noun) -> Vec<Node> {
    let Some(commands) = &noun.commands else { return Vec::new() };
    commands.verbs.iter().map(|verb| one(noun, commands, verb)).collect()
}

fn one(noun: &'static Noun, commands: &'static Commands, verb: &'static CommandVerb) -> Node {
    let remark = commands.remark;
    let flags = move |command: Command| {
        let why = || Arg::new(remark).long(remark).value_name("TEXT").help("Why");
        command.args((!remark.is_empty()).then(why))
    };
    let leaf = Leaf::made(verb.name, noun.args(), flags, move |at, matches, cx| {
        let remark = if remark.is_empty() { None } else { matches.get_one::<String>(remark) };
        Box::pin(run(cx, noun, (commands, verb), at, remark.cloned()))
    });
    let endpoint = Some(commands.row.meta);
    Node::Leaf(Leaf { endpoint, about: verb.about, examples: verb.examples, ..leaf })
}

/// Asks where something ends, sends the word, and shows the record.
async fn run(
    cx: &Cx,
    noun: &Noun,
    (commands, verb): (&Commands, &CommandVerb),
    at: &[&str],
    remark: Option<String>,
) -> Outcome {
    let draft = Draft::default().set(commands.property, Some(verb.name.to_uppercase()));
    let body = draft.set(commands.remark, remark).body_of(&commands.row)?;
    cx.check_columns(noun.view)?;
    if !verb.question.is_empty() {
        let id = at.last().copied().unwrap_or_default();
        cx.prompt.before_ending(&verb.question.replace("{}", id), id)?;
    }
    cx.client.send_row((commands.row.meta, at), body).await?;
    cx.changed_row(noun, at, verb.done).await
}
