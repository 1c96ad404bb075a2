//! What every command is given, and the few shapes that most commands have: list, show, change, update.

use crate::client::{Client, Reply};
use crate::failure::{Failure, Outcome};
use crate::globals::{ChangeFlags, ListFlags};
use crate::input::Draft;
use crate::money::Money;
use crate::names::pointer;
use crate::output::Output;
use crate::prompt::Prompt;
use crate::settings::Settings;
use crate::views::{self, View};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::query::{PAGE_SIZE_MAX, Paging};
use mfa_shared::wire::{Listed, Nothing, Page};
use serde_json::{Value, json};

/// What every command is given.
#[derive(Debug)]
pub struct Cx {
    /// Every setting.
    pub settings: Settings,
    /// The way to the daemon.
    pub client: Client,
    /// The way to the reader.
    pub out: Output,
    /// Questions.
    pub prompt: Prompt,
    /// Flags of a list.
    pub list: ListFlags,
    /// Flags of a change.
    pub change: ChangeFlags,
}

/// What a change comes to, in words: `customer c-001 created`.
#[derive(Debug, Clone, Copy)]
pub struct Done<'a> {
    /// Kind of the record.
    pub noun: &'a str,
    /// Its identifier.
    pub id: &'a str,
    /// What happened to it.
    pub what: &'a str,
}

impl Cx {
    /// Asks before a record is deleted that others may use. While something uses it the deletion is refused,
    /// and then nobody is asked.
    pub async fn before_deleting<E>(&self, endpoint: &E, what: &str, identifier: &str) -> Outcome
    where
        E: Endpoint<Body = Nothing>,
    {
        if self.prompt.must_ask() && self.prompt.can_ask() {
            self.client.try_out(endpoint, &Nothing).await?;
        }
        self.prompt.before_destroying(what, identifier)
    }

    /// Reads one record, or a plain array, and prints it.
    pub async fn show<E: Endpoint<Body = Nothing>>(&self, endpoint: E, view: &View) -> Outcome {
        let reply = self.client.send(&endpoint, &Nothing).await?;
        self.print(&endpoint, view, reply.value).await
    }

    /// Reads a record that a paper does without where it is missing or may not be read.
    pub async fn if_readable<E: Endpoint<Body = Nothing>>(&self, endpoint: &E) -> Outcome<Value> {
        match self.client.send(endpoint, &Nothing).await {
            Ok(reply) => Ok(reply.value),
            Err(failure) if matches!(failure.status, Some(403 | 404)) => Ok(Value::Null),
            Err(failure) => Err(failure),
        }
    }

    /// Prints what an endpoint answered: a record, an array of records, or nothing.
    pub async fn print<E: Endpoint>(&self, endpoint: &E, view: &View, value: Value) -> Outcome {
        self.out.show(view, &self.in_scale(endpoint, view, value).await)
    }

    /// What an endpoint answered, with its amounts as tables show them.
    pub async fn in_scale<E: Endpoint>(&self, endpoint: &E, view: &View, value: Value) -> Value {
        let mut money = Money::of(self, endpoint, view);
        let Value::Array(records) = value else { return money.shown(value).await };
        let mut shown = Vec::with_capacity(records.len());
        for record in records {
            shown.push(money.shown(record).await);
        }
        Value::Array(shown)
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
        self.client.send(&endpoint, &body).await?;
        self.changed(done, read, view).await
    }

    /// Reads a record, lays the draft over it, and writes it if nobody else has meanwhile.
    pub async fn update<R, E>(&self, read: R, write: E, draft: Draft, done: Done<'_>, view: &View) -> Outcome
    where
        R: Endpoint<Body = Nothing>,
        E: Endpoint,
    {
        if !draft.given {
            let hint = "give at least one flag with a new value, or --from FILE";
            return Err(Failure::usage("there is nothing to change").hint(hint));
        }
        let Reply { value, tag, .. } = self.client.send(&read, &Nothing).await?;
        let cleared = draft.cleared().to_vec();
        let body = Draft::from_record(value).merge(draft).body::<E>()?;
        let kept = self.kept(&read, &write, &body, tag.as_deref(), &cleared).await;
        let sent = match kept {
            Ok(Some(name)) => {
                let what = format!("{name} of {} {} cannot be emptied", done.noun, done.id);
                let hint = "it can only be given another value; nothing was changed";
                return Err(Failure::usage(what).hint(hint));
            }
            Ok(None) => self.client.send_if(&write, &body, tag.as_deref()).await,
            Err(failure) => Err(failure),
        };
        match sent {
            Err(failure) if failure.status == Some(412) => Err(self.raced(failure, &read).await),
            Err(failure) => Err(failure),
            Ok(_) => self.changed(done, read, view).await,
        }
    }

    /// The first property that is to be emptied and that the daemon would keep.
    async fn kept<R, E>(
        &self,
        read: &R,
        write: &E,
        body: &E::Body,
        tag: Option<&str>,
        cleared: &[String],
    ) -> Outcome<Option<String>>
    where
        R: Endpoint<Body = Nothing>,
        E: Endpoint,
    {
        if cleared.is_empty() {
            return Ok(None);
        }
        let would_be = self.client.try_then_read(write, body, tag, read).await?;
        let stays = |name: &&String| match would_be.pointer(&pointer(name)) {
            None | Some(Value::Null) => false,
            Some(Value::Array(values)) => !values.is_empty(),
            Some(value) => value != "",
        };
        Ok(cleared.iter().find(stays).cloned())
    }

    /// Says who was faster, where the record tells.
    pub async fn raced<R: Endpoint<Body = Nothing>>(&self, failure: Failure, read: &R) -> Failure {
        let Ok(Reply { value, .. }) = self.client.send(read, &Nothing).await else { return failure };
        match (value["lastModifiedBy"].as_str(), value["lastModifiedOn"].as_str()) {
            (Some(who), Some(when)) => failure.adding(&format!("; {who} changed it at {when}")),
            _ => failure,
        }
    }

    /// Tells what a change came to, and prints the record as it is now.
    pub async fn changed<R: Endpoint<Body = Nothing>>(
        &self,
        done: Done<'_>,
        read: R,
        view: &View,
    ) -> Outcome {
        if self.change.no_read {
            return self.done(done);
        }
        match self.client.send(&read, &Nothing).await {
            Ok(reply) => {
                let state = reply.value.pointer(view.state).and_then(Value::as_str);
                let state = state.map_or_else(String::new, |state| format!(" ({state})"));
                self.out.tip(&format!("{} {} {}{state}", done.noun, done.id, done.what));
                self.print(&read, view, reply.value).await
            }
            Err(failure) => {
                self.out.warn(&format!("it cannot be read back: {}", failure.message));
                self.done(done)
            }
        }
    }

    /// Tells what a change came to that leaves no record to print.
    pub fn done(&self, done: Done<'_>) -> Outcome {
        use crate::globals::Format::{Table, Wide};
        self.out.tip(&format!("{} {} {}", done.noun, done.id, done.what));
        if matches!(self.out.format, Table | Wide) {
            return Ok(());
        }
        self.out.show(&views::RESULT, &json!({ "identifier": done.id, "result": done.what }))
    }

    /// Identifiers of a list that contain a text, for suggestions and completions.
    pub async fn identifiers<E, T>(
        client: &Client,
        endpoint: E,
        term: &str,
        body: impl Fn(Paging<T>) -> E::Body,
    ) -> Vec<String>
    where
        E: Endpoint<Answer = Page<T>>,
        T: Listed,
    {
        let mut paging = Paging::default();
        (paging.size, paging.term) = (Some(PAGE_SIZE_MAX), Some(term.to_owned()));
        let Ok(reply) = client.send(&endpoint, &body(paging)).await else { return Vec::new() };
        let records = reply.value[T::PLURAL].as_array().cloned().unwrap_or_default();
        records.iter().filter_map(|record| Some(record["identifier"].as_str()?.to_owned())).collect()
    }
}
