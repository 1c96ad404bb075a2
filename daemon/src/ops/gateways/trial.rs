//! Test messages of every kind of gateway: each kind plans its own while nothing is sent; the result
//! is settled here when the gateway has answered. Contract: `gateways.md` section 5.

use super::common::{Gateway, identifier, word};
use crate::config::Config;
use crate::domain::gateway::{Limits, Message, Refusal, Trial, Tried};
use crate::ops::{Caller, Given};
use crate::store::Tx;
use crate::store::records::{GatewayUse, StoreFacts};
use mfa_shared::api::gateways::TestOutcome;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::Json;
use std::time::Duration;

/// Plans a test message.
pub fn plan_test<G: Gateway>(
    tx: &mut Tx<'_>,
    _: &Caller,
    given: Given<'_>,
    at: &G::Test,
    Json(to): &Json<G::To>,
) -> Result<Trial<Message>, Fault> {
    G::plan(tx, given.config, identifier(at), to)
}

/// Notes the result of a test message, and reports it.
pub fn settle_test<G: Gateway>(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &G::Test,
    tried: &Tried,
) -> Result<Json<TestOutcome>, Fault> {
    let identifier = identifier(at);
    let outcome = match &tried.outcome {
        Ok(_) => "sent".to_owned(),
        Err(failed) => failed.stage.as_str().to_owned(),
    };
    tx.keep_when_refused();
    tx.put(&GatewayUse {
        kind: word::<G>().to_owned(),
        identifier: identifier.to_owned(),
        action: "TEST".to_owned(),
        by: caller.actor.clone(),
        at: tried.at,
        to: Some(tried.to.clone()),
        outcome: Some(outcome),
    })?;
    match &tried.outcome {
        Ok(taken) => Ok(Json(TestOutcome {
            identifier: identifier.to_owned(),
            to: tried.to.clone(),
            sent_on: tried.at,
            gateway_answer: taken.answer.clone(),
            message_identifier: taken.message.clone(),
        })),
        Err(failed) => {
            let detail = format!("{} {identifier}: {}", G::CALLED, failed.why);
            Err(Fault::new(fault::GATEWAY_FAILED, detail).gateway(failed.stage.as_str(), failed.code))
        }
    }
}

/// The fault for a message that may not be sent.
pub fn refused<G: Gateway>(identifier: &str, refusal: Refusal) -> Fault {
    let (code, what) = match refusal {
        Refusal::Deactivated => (fault::GATEWAY_DEACTIVATED, "is DEACTIVATED".to_owned()),
        Refusal::OnlyFetches(protocol) => {
            (fault::GATEWAY_CANNOT_SEND, format!("has the protocol {protocol}, which only fetches mail"))
        }
        Refusal::NoSender => (
            fault::GATEWAY_CANNOT_SEND,
            "has no mail address as username, and the setting mail_from is not set".to_owned(),
        ),
        Refusal::NoEndpoint { setting } => (
            fault::GATEWAY_CANNOT_SEND,
            format!("has no service to send through: the setting {setting} is not set"),
        ),
        Refusal::Insecure => {
            (fault::GATEWAY_INSECURE, "would send its secret unencrypted to another machine".to_owned())
        }
    };
    Fault::new(code, format!("{} {identifier} {what}", G::CALLED))
}

/// The text is fixed, so that no one can write to people through this endpoint.
pub fn text<G: Gateway>(tx: &mut Tx<'_>, identifier: &str) -> Result<String, Fault> {
    let facts = tx.get::<StoreFacts>(&["store"])?;
    let instance = facts.map_or_else(String::new, |facts| facts.instance);
    Ok(format!(
        "Test message of the mfa daemon urn:mfa:instance:{instance} through the {} {identifier}, sent {}.",
        G::CALLED,
        tx.now()
    ))
}

/// The limits of a test message.
pub fn limits(config: &Config) -> Limits {
    Limits {
        connect: Duration::from_secs(config.gateway_connect_timeout_seconds),
        whole: Duration::from_secs(config.gateway_timeout_seconds),
        authorities: config.gateway_ca_file.clone(),
        private: config.gateway_networks(),
        setting: "gateway_private_addresses",
    }
}
