//! Messages through mail servers and to services, and events to their receivers. Nothing here holds the
//! store, and no word of the other side leaves before every trace of the secret in it is covered.

mod dial;
mod exchange;
pub mod mail;
mod post;
mod span;
mod talk;
pub mod webhook;
mod words;

use crate::config::Config;
use crate::domain::gateway::{Failed, Message, Taken, Trial, Tried, sms_endpoint};
use mfa_shared::api::gateways::is_mail_address;

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

/// Sends a message of any gateway.
pub async fn message(message: Message) -> Result<Taken, Failed> {
    match message {
        Message::Mail(mail) => mail::send(*mail).await,
        Message::Post(post) => post::send(*post).await,
    }
}

/// Sends a planned message.
pub async fn send<M, F>(trial: Trial<M>, send: fn(M) -> F) -> Tried
where
    F: Future<Output = Result<Taken, Failed>>,
{
    Tried { to: trial.to, at: trial.at, outcome: send(trial.message).await }
}
