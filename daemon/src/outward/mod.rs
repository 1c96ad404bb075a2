//! Messages through mail servers and SMS services, and events to their receivers. Nothing here holds the
//! store, and no word of the other side leaves before every trace of the secret in it is covered.

mod dial;
mod exchange;
pub mod mail;
pub mod sms;
pub mod webhook;
mod words;

use crate::config::Config;
use crate::domain::gateway::{Failed, Stage, Taken, Trial, Tried, sms_endpoint};
use mfa_shared::api::gateways::is_mail_address;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Refuses settings with which no gateway could work.
pub fn check(config: &Config) -> Result<(), String> {
    if let Some(from) = config.mail_from.as_deref().filter(|from| !is_mail_address(from)) {
        return Err(format!("mail_from must be a mail address such as bank@example.org, not \"{from}\""));
    }
    if let Some(endpoint) = &config.sms_endpoint
        && sms_endpoint(endpoint).is_none()
    {
        return Err("sms_endpoint must be an http: or https: address without a name or password in it, \
                    where {account_sid} may stand behind the host"
            .to_owned());
    }
    if config.gateway_connect_timeout_seconds == 0 || config.gateway_timeout_seconds == 0 {
        return Err("gateway_connect_timeout_seconds and gateway_timeout_seconds must be above 0".to_owned());
    }
    match &config.gateway_ca_file {
        Some(file) => dial::read_authorities(file).map(|_| ()),
        None => Ok(()),
    }
}

/// Sends a planned message.
pub async fn send<M, F>(trial: Trial<M>, send: fn(M) -> F) -> Tried
where
    F: Future<Output = Result<Taken, Failed>>,
{
    Tried { to: trial.to, at: trial.at, outcome: send(trial.message).await }
}

/// The time that a message has in all.
#[derive(Debug, Clone, Copy)]
struct Span {
    end: Instant,
    whole: Duration,
    /// What the other side is called.
    peer: &'static str,
}

impl Span {
    fn new(whole: Duration) -> Self {
        Self { end: Instant::now() + whole, whole, peer: "the gateway" }
    }

    /// The same with another side of this name.
    fn with(self, peer: &'static str) -> Self {
        Self { peer, ..self }
    }

    /// Does one step of a stage, as long as there is time.
    async fn step<T>(self, stage: Stage, what: impl Future<Output = T>) -> Result<T, Failed> {
        timeout_at(self.end, what).await.map_err(|_| {
            let not = match stage {
                Stage::Connect => "was reached and did not greet",
                Stage::Tls => "did not bring the encryption about",
                Stage::SignIn => "did not answer the sign-in",
                Stage::Send => "did not answer the message",
            };
            failed(stage, format!("{} {not} within {} seconds in all", self.peer, self.whole.as_secs()))
        })
    }
}

/// When a connection broke off, in the words of its stage.
fn broke_off(stage: Stage) -> &'static str {
    match stage {
        Stage::Connect => "broke off before it greeted",
        Stage::Tls => "broke off before it was encrypted",
        Stage::SignIn => "broke off during the sign-in",
        Stage::Send => "broke off before it answered the message",
    }
}

fn failed(stage: Stage, why: impl Into<String>) -> Failed {
    Failed { stage, code: None, why: why.into() }
}
