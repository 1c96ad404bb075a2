//! What every command gets, and the few shapes that most commands have: list, show, change.

use crate::client::{At, Client};
use crate::command::globals::{ChangeFlags, ListFlags};
use crate::command::money::Money;
use crate::failure::{Failure, Outcome};
use crate::input::prompt::Prompt;
use crate::output::Output;
use crate::output::views::{self, View};
use crate::settings::Settings;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::wire::{Nothing, Outgoing};
use serde_json::{Value, json};

#[derive(Debug)]
pub struct Cx {
    pub settings: Settings,
    pub client: Client,
    pub out: Output,
    pub prompt: Prompt,
    pub list: ListFlags,
    pub change: ChangeFlags,
}

/// The result of a change, in words: `customer c-001 created`.
#[derive(Debug, Clone, Copy)]
pub struct Done<'a> {
    /// Kind of the record.
    pub noun: &'a str,
    pub id: &'a str,
    /// What happened to it.
    pub what: &'a str,
}

impl Cx {
    /// Reads one record, or a plain array, and prints it.
    pub async fn show<E: Endpoint<Body = Nothing>>(&self, endpoint: E, view: &View) -> Outcome {
        let reply = self.client.send(&endpoint, &Nothing).await?;
        self.print(&endpoint, view, reply.value).await
    }

    /// Reads a record that a paper can do without, where it is missing or may not be read.
    pub async fn if_readable<E: Endpoint<Body = Nothing>>(&self, endpoint: &E) -> Outcome<Value> {
        match self.client.send(endpoint, &Nothing).await {
            Ok(reply) => Ok(reply.value),
            Err(failure) if matches!(failure.status, Some(403 | 404)) => Ok(Value::Null),
            Err(failure) => Err(failure),
        }
    }

    /// Prints what an endpoint answered: a record, an array of records, or nothing.
    pub async fn print<E: Endpoint>(&self, endpoint: &E, view: &View, value: Value) -> Outcome {
        self.print_row((&E::META, &endpoint.params()), view, value).await
    }

    /// The same for a row of the endpoint table.
    pub async fn print_row(&self, at: At<'_>, view: &View, value: Value) -> Outcome {
        let shown = in_scale(Money::of_row(&self.client, &self.out, at, view), value).await;
        self.out.show(view, &shown)
    }

    /// Reads what a row of the endpoint table answers, and prints it.
    pub async fn show_row(&self, at: At<'_>, view: &View) -> Outcome {
        let reply = self.client.send_row(at, Outgoing::default()).await?;
        self.print_row(at, view, reply.value).await
    }

    /// What an endpoint answered, with its amounts as tables show them.
    pub async fn in_scale<E: Endpoint>(&self, endpoint: &E, view: &View, value: Value) -> Value {
        in_scale(Money::of(&self.client, &self.out, endpoint, view), value).await
    }

    /// Refuses columns that the result of a change does not have, before the change is made.
    pub fn check_columns(&self, view: &View) -> Outcome {
        self.out.check_columns(match (self.client.dry_run, self.change.no_read) {
            (true, _) => &views::DRY_RUN,
            (_, true) => &views::RESULT,
            _ => view,
        })
    }

    /// The same where the result is shown with `--no-read`, too.
    pub fn check_columns_shown(&self, view: &View) -> Outcome {
        self.out.check_columns(if self.client.dry_run { &views::DRY_RUN } else { view })
    }

    /// Sends a change, reads the record back and prints it.
    pub async fn change<E, R>(
        &self,
        endpoint: E,
        body: E::Body,
        done: Done<'_>,
        read: R,
        view: &View,
    ) -> Outcome
    where
        E: Endpoint,
        R: Endpoint<Body = Nothing>,
    {
        self.check_columns(view)?;
        self.client.send(&endpoint, &body).await?;
        self.changed(done, read, view).await
    }

    /// Reports the result of a change, and prints the record as it is now.
    pub async fn changed<R: Endpoint<Body = Nothing>>(
        &self,
        done: Done<'_>,
        read: R,
        view: &View,
    ) -> Outcome {
        self.changed_at(done, (&R::META, &read.params()), view).await
    }

    /// The same for a row of the endpoint table.
    pub async fn changed_at(&self, done: Done<'_>, read: At<'_>, view: &View) -> Outcome {
        if self.change.no_read {
            return self.done(done);
        }
        match self.client.send_row(read, Outgoing::default()).await {
            Ok(reply) => {
                let state = reply.value.pointer(view.state).and_then(Value::as_str);
                let state = state.map_or_else(String::new, |state| format!(" ({state})"));
                self.out.tip(&format!("{} {} {}{state}", done.noun, done.id, done.what));
                self.print_row(read, view, reply.value).await
            }
            Err(why) => self.unread(done, view, &why),
        }
    }

    /// Reports a change whose record cannot be read back. The change has not failed; but where columns or
    /// members of the record were asked for, there is nothing that could be shown in their place.
    pub fn unread(&self, done: Done<'_>, view: &View, why: &Failure) -> Outcome {
        if self.out.is_of_members() {
            let what = format!("{} {} cannot be read back: {}", done.noun, done.id, why.message);
            return Err(Failure::unshown(what).hint("leave out --columns or --jq"));
        }
        self.out.warn(&format!("it cannot be read back: {}", why.message));
        self.out.tip(&format!("{} {} {}", done.noun, done.id, done.what));
        if self.out.format.is_table() {
            return Ok(());
        }
        let mut result = json!({ "identifier": done.id, "result": done.what });
        // A program looks for the identifier where the record has it.
        if let Some(name) = view.id.strip_prefix('/').filter(|name| name.ends_with("Identifier")) {
            result[name] = done.id.into();
        }
        self.out.show(&views::RESULT, &result)
    }

    /// Reports the result of a change that leaves no record to print.
    pub fn done(&self, done: Done<'_>) -> Outcome {
        self.out.tip(&format!("{} {} {}", done.noun, done.id, done.what));
        self.result(done.id, done.what)
    }

    /// Prints a result for a program; people have read it in words.
    pub fn result(&self, id: &str, what: &str) -> Outcome {
        if self.out.format.is_table() {
            return Ok(());
        }
        self.out.show(&views::RESULT, &json!({ "identifier": id, "result": what }))
    }
}

/// A record, or an array of records, with amounts as tables show them.
async fn in_scale(mut money: Money<'_>, value: Value) -> Value {
    let Value::Array(records) = value else { return money.shown(value).await };
    let mut shown = Vec::with_capacity(records.len());
    for record in records {
        shown.push(money.shown(record).await);
    }
    Value::Array(shown)
}
