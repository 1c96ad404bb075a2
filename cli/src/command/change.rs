//! Changes of a record of a noun: create, update, read back, report.

use super::cx::{Cx, Done};
use super::noun::Noun;
use crate::client::{At, Reply};
use crate::failure::{Failure, Outcome};
use crate::input::names::pointer;
use crate::input::{Draft, Row};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Outgoing;
use serde_json::Value;

impl Cx {
    /// Makes a record of a noun, reads it back and prints it. `within` leads the path.
    pub async fn create(&self, noun: &Noun, within: &[&str], draft: Draft) -> Outcome {
        let id = draft.text(noun.key).unwrap_or_default().to_owned();
        let row = noun.creating()?;
        let body = draft.body_of(&row)?;
        self.check_columns(noun.view)?;
        self.client.send_row((row.meta, within), body).await?;
        self.changed_row(noun, &[within, &[&id]].concat(), "created").await
    }

    /// Reads a record, lays the draft over it, and writes it unless someone else has changed it meanwhile.
    pub async fn update(&self, noun: &Noun, params: &[&str], draft: Draft) -> Outcome {
        self.update_as(noun, params, draft, noun.done(params, "updated")).await
    }

    /// The same with another message.
    pub async fn update_as(&self, noun: &Noun, params: &[&str], draft: Draft, done: Done<'_>) -> Outcome {
        draft.check_given()?;
        self.check_columns(noun.view)?;
        let (read, row) = noun.changing()?;
        let (read, write) = ((read, params), (row.meta, params));
        let Reply { value, tag, .. } = self.client.send_row(read, Outgoing::default()).await?;
        let cleared = draft.cleared().to_vec();
        let body = Draft::from_record(value).merge(draft).body_of(&row)?;
        let kept = self.kept(read, write, &body, tag.as_deref(), &cleared).await;
        let sent = match kept {
            Ok(Some(name)) => {
                let what = format!("{name} of {} {} cannot be emptied", done.noun, done.id);
                let hint = "it can only be given another value; nothing was changed";
                return Err(Failure::usage(what).hint(hint));
            }
            Ok(None) => self.client.send_if(write, body, tag.as_deref()).await,
            Err(failure) => Err(failure),
        };
        match sent {
            Err(failure) if failure.status == Some(412) => Err(self.raced(failure, read).await),
            Err(failure) => Err(failure),
            Ok(_) => self.changed_at(done, read, noun.view).await,
        }
    }

    /// The first property that is to be emptied and that the daemon would keep.
    async fn kept(
        &self,
        read: At<'_>,
        write: At<'_>,
        body: &Outgoing,
        tag: Option<&str>,
        cleared: &[String],
    ) -> Outcome<Option<String>> {
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

    /// Sends a change about a record of a noun, whose path is that of the record; then reads the record back
    /// and prints it.
    pub async fn act<E: Endpoint>(&self, noun: &Noun, endpoint: E, body: E::Body, what: &str) -> Outcome {
        self.check_columns(noun.view)?;
        self.client.send(&endpoint, &body).await?;
        self.changed_row(noun, &endpoint.params(), what).await
    }

    /// Adds who changed it, if the record says.
    pub async fn raced(&self, failure: Failure, read: At<'_>) -> Failure {
        let Ok(reply) = self.client.send_row(read, Outgoing::default()).await else { return failure };
        match (reply.value["lastModifiedBy"].as_str(), reply.value["lastModifiedOn"].as_str()) {
            (Some(who), Some(when)) => failure.adding(&format!("; {who} changed it at {when}")),
            _ => failure,
        }
    }

    /// Reports the result of a change of a record, and prints the record as it is now.
    pub async fn changed_row(&self, noun: &Noun, params: &[&str], what: &str) -> Outcome {
        let done = noun.done(params, what);
        match noun.read {
            Some(read) => self.changed_at(done, (read, params), noun.view).await,
            None => self.done(done),
        }
    }
}

impl Noun {
    /// The result of a change of a record.
    pub fn done<'a>(&self, params: &[&'a str], what: &'a str) -> Done<'a> {
        Done { noun: self.singular, id: params.last().copied().unwrap_or_default(), what }
    }

    /// The row that makes a record.
    pub fn creating(&self) -> Outcome<Row> {
        self.create.ok_or_else(|| self.lacks("made"))
    }

    /// The row that reads a record, and the one that changes it.
    pub fn changing(&self) -> Outcome<(&'static Meta, Row)> {
        self.read.zip(self.change).ok_or_else(|| self.lacks("changed"))
    }

    fn lacks(&self, what: &str) -> Failure {
        Failure::local(format!("{} cannot be {what}", self.one()))
    }
}
