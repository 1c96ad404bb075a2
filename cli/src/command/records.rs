//! The records of a noun: all of them, one after the other as they arrive, and their identifiers.

use crate::client::{Client, Stream};
use crate::command::noun::Noun;
use crate::command::prefix::{self, elements};
use crate::failure::Outcome;
use crate::output::record_of;
use mfa_shared::endpoint::{Endpoint, Meta, path_params};
use mfa_shared::query::PAGE_SIZE_MAX;
use mfa_shared::wire::{AnswerKind, Body, Outgoing};
use serde_json::{Value, json};

/// The query of a list.
type Asked = Vec<(&'static str, String)>;

impl Noun {
    /// The list that has every record, and its query.
    pub fn whole(&self) -> Option<(&'static Meta, Asked)> {
        let (list, asked) = self.every.or(self.list.map(|list| (list, &[][..])))?;
        Some((list, asked.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()))
    }

    /// Hands over every record. A record inside another gets the identifier of the outer one as the property
    /// of its path.
    pub async fn each(&self, client: &Client, take: &mut dyn FnMut(Value) -> Outcome) -> Outcome {
        let Some((list, asked)) = self.whole() else { return Ok(()) };
        let Some(outer) = self.of else { return drain(open(client, list, &[], asked).await?, take).await };
        let Some((owners, asked_of_owners)) = outer.whole() else { return Ok(()) };
        let mut owners = open(client, owners, &[], asked_of_owners).await?;
        while let Some(line) = owners.next().await? {
            let owner = record_of(&line)?["identifier"].as_str().unwrap_or_default().to_owned();
            let of_owner = &mut |mut record: Value| {
                if let Some(within) = self.within.first() {
                    record[*within] = json!(owner);
                }
                take(record)
            };
            drain(open(client, list, &[&owner], asked.clone()).await?, of_owner).await?;
        }
        Ok(())
    }

    /// Identifiers that contain a text. Records inside an office are looked for in this one, or in all
    /// offices if it is empty.
    pub async fn identifiers(&self, client: &Client, office: &str, term: &str) -> Vec<String> {
        let noun = self.among.unwrap_or(self);
        let Some((list, mut asked)) = noun.whole() else { return Vec::new() };
        let mut owners = vec![String::new()];
        if let Some(outer) = noun.of {
            owners = match office {
                "" => Box::pin(outer.identifiers(client, "", "")).await,
                office => vec![office.to_owned()],
            };
        }
        if list.answer.kind == AnswerKind::Page {
            asked.extend([("size", PAGE_SIZE_MAX.to_string()), ("term", term.to_owned())]);
        }
        let mut found = Vec::new();
        for owner in &owners {
            let at: &[&str] = if path_params(list.path).next().is_some() { &[owner] } else { &[] };
            let outgoing = Outgoing { query: asked.clone(), body: None };
            let Ok(reply) = client.send_row((list, at), outgoing).await else { continue };
            let names =
                elements(&reply.value).iter().map(|record| record.as_str().or(record[noun.key].as_str()));
            found.extend(names.flatten().map(str::to_owned));
        }
        if list.answer.kind != AnswerKind::Page {
            let term = term.to_lowercase();
            found.retain(|name| name.to_lowercase().contains(&term));
        }
        found
    }

    /// Identifiers that begin with a text, at any number of records.
    pub async fn beginning(&self, client: &Client, office: &str, typed: &str) -> Vec<String> {
        let noun = self.among.unwrap_or(self);
        match noun.whole() {
            Some((list, asked)) if list.answer.kind == AnswerKind::Page => {
                prefix::identifiers(client, list, &asked, typed).await
            }
            _ => self.identifiers(client, office, typed).await,
        }
    }
}

/// The identifiers on the first page of a list.
pub async fn identifiers<E: Endpoint>(client: &Client, list: &E, asked: &E::Body) -> Vec<String> {
    let mut outgoing = asked.write();
    outgoing.query.push(("size", PAGE_SIZE_MAX.to_string()));
    let Ok(reply) = client.send_row((&E::META, &list.params()), outgoing).await else { return Vec::new() };
    let names = elements(&reply.value).iter().map(|record| record["identifier"].as_str());
    names.flatten().map(str::to_owned).collect()
}

async fn open(client: &Client, list: &'static Meta, at: &[&str], asked: Asked) -> Outcome<Stream> {
    client.stream_row((list, at), Outgoing { query: asked, body: None }).await
}

async fn drain(mut stream: Stream, take: &mut dyn FnMut(Value) -> Outcome) -> Outcome {
    while let Some(line) = stream.next().await? {
        take(record_of(&line)?)?;
    }
    Ok(())
}
