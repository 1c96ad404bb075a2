//! E-mail and SMS gateways.

mod email;
mod sms;

use crate::command::cx::Cx;
use crate::command::noun::{self, Noun, Section};
use crate::command::prefix::elements;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Draft};
use crate::output::{MASK, views};
use clap::Args;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::wire::Outgoing;
use serde_json::Value;
use std::time::Duration;

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "gateways",
    alias: "gateway",
    about: "Gateways for e-mail and short messages",
    parts: &[&email::NOUN, &sms::NOUN],
    ..noun::NOUN
};

/// A gateway has 30 seconds for a message; the daemon's answer takes a little longer.
const TEST_TIMEOUT: Duration = Duration::from_secs(45);

// Where a secret comes from. The variable of the login password does not count here: no one should send that
// one to a mail server by accident.
#[derive(Args)]
struct SecretFlags {
    /// Read the secret from standard input
    #[arg(long, conflicts_with = "password_file")]
    password_stdin: bool,
    /// File of the secret, - for standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<String>,
}

impl SecretFlags {
    fn read(&self) -> Outcome<Option<String>> {
        let file = if self.password_stdin { Some("-") } else { self.password_file.as_deref() };
        file.map_or(Ok(None), input::secret_file)
    }
}

// What every gateway can be given.
#[derive(Args)]
struct CommonFlags {
    /// ACTIVE, or DEACTIVATED to send nothing through it
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    #[command(flatten)]
    secret: SecretFlags,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl CommonFlags {
    /// A masked secret in the file is dropped, so that the stored one is kept.
    fn draft(self, secret: &str) -> Outcome<Draft> {
        let draft = Draft::from_file(self.from.as_deref())?.without(secret, MASK);
        Ok(draft.set("state", self.state).set(secret, self.secret.read()?))
    }
}

/// Sends a new or changed configuration.
async fn send<E: Endpoint>(cx: &Cx, noun: &Noun, endpoint: E, draft: Draft, what: &str) -> Outcome {
    let id = draft.text("identifier").unwrap_or_default().to_owned();
    cx.check_columns(noun.view)?;
    cx.client.send(&endpoint, &draft.body::<E>()?).await?;
    changed(cx, noun, &id, what).await
}

/// Reports the result of a change, and shows the configuration from the list, which holds no secret.
async fn changed(cx: &Cx, noun: &Noun, id: &str, what: &str) -> Outcome {
    let (done, Some(list)) = (noun.done(&[id], what), noun.list.filter(|_| !cx.change.no_read)) else {
        return cx.done(noun.done(&[id], what));
    };
    let listed = match cx.client.send_row((list, &[]), Outgoing::default()).await {
        Ok(reply) => reply.value,
        Err(why) => return cx.unread(done, noun.view, &why),
    };
    match elements(&listed).iter().find(|record| record["identifier"] == id) {
        Some(record) => {
            let state = record["state"].as_str().unwrap_or_default();
            cx.out.tip(&format!("{} {} {} ({state})", done.noun, done.id, done.what));
            cx.out.show(noun.view, record)
        }
        None => cx.unread(done, noun.view, &Failure::local("the list does not have it")),
    }
}

/// Sends a test message, once: an automatic retry could lock an account at the gateway.
async fn test<E: Endpoint>(cx: &Cx, endpoint: E, to: String) -> Outcome {
    cx.check_columns_shown(&views::GATEWAY_TEST)?;
    let body = Draft::default().set("to", Some(to)).body::<E>()?;
    let client = cx.client.patient(TEST_TIMEOUT);
    let outcome: Value = client.send(&endpoint, &body).await?.value;
    cx.out.tip("the gateway took the message; whether it arrives is not known here");
    cx.out.show(&views::GATEWAY_TEST, &outcome)
}
