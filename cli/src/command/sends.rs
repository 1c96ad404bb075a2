//! Verbs that send one request about one record: rows of a table, without a type of their own.

use super::cx::{Cx, Done};
use super::flags::{Bodies, read};
use crate::failure::Outcome;
use crate::input::Row;
use crate::output::views::{RESULT, View};
use clap::{Arg, ArgMatches, Command};
use mfa_shared::endpoint::{Endpoint, Meta, path_params};
use mfa_shared::wire::Outgoing;

/// Such a verb.
#[derive(Clone, Copy)]
pub struct Sends {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) endpoint: &'static Meta,
    /// A word for the record.
    of: &'static str,
    /// How help calls the parameters of the path, and what they are.
    arguments: &'static [(&'static str, &'static str)],
    /// What is asked before; `{name}` is a parameter of the path.
    question: &'static str,
    /// What happened to the record.
    done: &'static str,
    /// The endpoint that reads what is shown, and its columns.
    read: &'static Meta,
    view: &'static View,
    then: Then,
}

/// What a verb does with the record.
#[derive(Clone, Copy)]
enum Then {
    Shows,
    Removes,
    Changes(Row, fn(Command) -> Command, fn(&ArgMatches, &Row) -> Outcome<Outgoing>),
}

/// A verb that shows what an endpoint answers about a record, of which `of` is a word; it lacks its examples.
pub const fn shows(
    name: &'static str,
    endpoint: &'static Meta,
    view: &'static View,
    of: &'static str,
) -> Sends {
    Sends { view, ..Sends::of(name, endpoint, of, "", Then::Shows) }
}

/// A verb that asks and removes something of a record.
pub const fn removes(
    name: &'static str,
    endpoint: &'static Meta,
    of: &'static str,
    done: &'static str,
) -> Sends {
    Sends::of(name, endpoint, of, done, Then::Removes)
}

/// A verb that changes something of a record as its flags say, and shows what it is told to read.
pub const fn changes<E: Endpoint, F: Bodies>(
    name: &'static str,
    of: &'static str,
    done: &'static str,
) -> Sends {
    let row = Row::of::<E>();
    let changes = Then::Changes(row, F::augment_args, |matches, row| read::<F>(matches)?.body(row));
    Sends::of(name, row.meta, of, done, changes)
}

impl Sends {
    const fn of(
        name: &'static str,
        endpoint: &'static Meta,
        of: &'static str,
        done: &'static str,
        then: Then,
    ) -> Self {
        let (about, read) = (endpoint.doc, endpoint);
        Self { name, about, endpoint, of, arguments: &[], question: "", done, read, view: &RESULT, then }
    }

    /// The same with another purpose than that of the endpoint.
    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The same with other words for the parameters of the path than the identifier of the record.
    pub const fn arguments(self, arguments: &'static [(&'static str, &'static str)]) -> Self {
        Self { arguments, ..self }
    }

    /// What is read and shown after a change.
    pub const fn reading(self, read: &'static Meta, view: &'static View) -> Self {
        Self { read, view, ..self }
    }

    pub const fn asking(self, question: &'static str) -> Self {
        Self { question, ..self }
    }

    /// Adds its arguments and flags.
    pub(super) fn add(&self, command: Command) -> Command {
        let identifier = ("ID", format!("Identifier of the {}", self.of));
        let named = self.arguments.iter().map(|(name, help)| (*name, (*help).to_owned()));
        let words = named.chain(std::iter::repeat(identifier));
        let arguments = path_params(self.endpoint.path)
            .zip(words)
            .map(|(param, (name, help))| Arg::new(param).value_name(name).help(help).required(true));
        let command = command.args(arguments);
        if let Then::Changes(_, add, _) = self.then { add(command) } else { command }
    }

    pub(super) async fn run(&self, at: &[&str], matches: &ArgMatches, cx: &Cx) -> Outcome {
        let last = at.last().copied().unwrap_or_default();
        let named: Vec<_> = path_params(self.endpoint.path).zip(at.iter().copied()).collect();
        let id = named.iter().find(|(name, _)| *name == self.of).map_or(last, |(_, id)| id);
        let done = Done { noun: self.of, id, what: self.done };
        match self.then {
            Then::Shows => cx.show_row((self.read, at), self.view).await,
            Then::Removes => {
                cx.check_columns(self.view)?;
                let filled =
                    |text: String, (name, value): &(&str, &str)| text.replace(&format!("{{{name}}}"), value);
                cx.prompt.before_destroying(&named.iter().fold(self.question.to_owned(), filled), last)?;
                cx.client.send_row((self.endpoint, at), Outgoing::default()).await?;
                cx.done(done)
            }
            Then::Changes(row, _, body) => {
                let body = body(matches, &row)?;
                cx.check_columns(self.view)?;
                cx.client.send_row((self.endpoint, at), body).await?;
                cx.changed_at(done, (self.read, at), self.view).await
            }
        }
    }
}
