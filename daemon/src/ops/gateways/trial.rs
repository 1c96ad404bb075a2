//! Test messages: planned while nothing is sent, settled when the gateway has answered. Contract:
//! `gateways.md` section 5.

use super::common::called;
use super::{email, sms};
use crate::config::Config;
use crate::domain::gateway::{Limits, Mail, Refusal, Sms, Trial, Tried, mail_way, sms_way};
use crate::ops::Caller;
use crate::outward::mail::is_deliverable;
use crate::random;
use crate::store::Tx;
use crate::store::records::{GatewayKind, GatewayUse, StoreFacts};
use mfa_shared::api::gateways::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::Json;
use std::time::Duration;

/// Plans `POST /configuration/email/{configuration}/test`
pub fn plan_mail(
    tx: &mut Tx<'_>,
    _: &Caller,
    config: &Config,
    at: &TestEmailConfiguration,
    Json(test): &Json<EmailTest>,
) -> Result<Trial<Mail>, Fault> {
    if !is_deliverable(&test.to) {
        return Err(Fault::field("/to", "bad_characters", "must be a mail address such as name@example.org"));
    }
    let stored = email::find(tx, &at.configuration)?;
    let secret = email::password(tx, &stored)?;
    let now = tx.now();
    let shown = stored.shown(None);
    let refuse = |refusal| refused(GatewayKind::Email, &at.configuration, refusal);
    let way = mail_way(&shown, config.mail_from.as_deref()).map_err(refuse)?;
    let text = format!("{}\r\n\r\nIt needs no answer.\r\n", text(tx, GatewayKind::Email, &at.configuration)?);
    let sign_in = shown.username.zip(secret).filter(|_| shown.smtp_auth.is_on());
    let message = Mail {
        host: shown.host,
        // A stored port keeps its rule, 1 to 65535.
        port: shown.port.parse().map_err(|_| Fault::new(fault::INTERNAL, "a stored port is not a number"))?,
        way,
        sign_in,
        to: test.to.clone(),
        subject: format!("Test of the e-mail configuration {}", at.configuration),
        text,
        name: random::hex::<16>(),
        at: now,
        limits: limits(config),
    };
    Ok(Trial { message, to: test.to.clone(), at: now })
}

/// Plans `POST /configuration/sms/{configuration}/test`
pub fn plan_sms(
    tx: &mut Tx<'_>,
    _: &Caller,
    config: &Config,
    at: &TestSmsConfiguration,
    Json(test): &Json<SmsTest>,
) -> Result<Trial<Sms>, Fault> {
    let stored = sms::find(tx, &at.configuration)?;
    let refuse = |refusal| refused(GatewayKind::Sms, &at.configuration, refusal);
    let endpoint = sms_way(stored.state, config.sms_endpoint.as_deref()).map_err(refuse)?;
    let message = Sms {
        endpoint,
        auth_token: sms::token(tx, &stored)?,
        account_sid: stored.account_sid,
        from: stored.sender_number,
        to: test.to.clone(),
        text: text(tx, GatewayKind::Sms, &at.configuration)?,
        limits: limits(config),
    };
    Ok(Trial { message, to: test.to.clone(), at: tx.now() })
}

/// Settles `POST /configuration/email/{configuration}/test`
pub fn settle_mail(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &TestEmailConfiguration,
    tried: &Tried,
) -> Result<Json<TestOutcome>, Fault> {
    settle(tx, caller, GatewayKind::Email, &at.configuration, tried)
}

/// Settles `POST /configuration/sms/{configuration}/test`
pub fn settle_sms(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &TestSmsConfiguration,
    tried: &Tried,
) -> Result<Json<TestOutcome>, Fault> {
    settle(tx, caller, GatewayKind::Sms, &at.configuration, tried)
}

fn settle(
    tx: &mut Tx<'_>,
    caller: &Caller,
    kind: GatewayKind,
    identifier: &str,
    tried: &Tried,
) -> Result<Json<TestOutcome>, Fault> {
    let outcome = match &tried.outcome {
        Ok(_) => "sent".to_owned(),
        Err(failed) => failed.stage.as_str().to_owned(),
    };
    tx.keep_when_refused();
    tx.put(&GatewayUse {
        kind,
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
            let detail = format!("{} {identifier}: {}", called(kind), failed.why);
            Err(Fault::new(fault::GATEWAY_FAILED, detail).gateway(failed.stage.as_str(), failed.code))
        }
    }
}

fn refused(kind: GatewayKind, identifier: &str, refusal: Refusal) -> Fault {
    let (code, what) = match refusal {
        Refusal::Deactivated => (fault::GATEWAY_DEACTIVATED, "is DEACTIVATED".to_owned()),
        Refusal::OnlyFetches(protocol) => {
            (fault::GATEWAY_CANNOT_SEND, format!("has the protocol {protocol}, which only fetches mail"))
        }
        Refusal::NoSender => (
            fault::GATEWAY_CANNOT_SEND,
            "has no mail address as username, and the setting mail_from is not set".to_owned(),
        ),
        Refusal::NoEndpoint => (
            fault::GATEWAY_CANNOT_SEND,
            "has no service to send through: the setting sms_endpoint is not set".to_owned(),
        ),
        Refusal::Insecure => {
            (fault::GATEWAY_INSECURE, "would send its secret unencrypted to another machine".to_owned())
        }
    };
    Fault::new(code, format!("{} {identifier} {what}", called(kind)))
}

/// The text is fixed, so that no one can write to people through this endpoint.
fn text(tx: &mut Tx<'_>, kind: GatewayKind, identifier: &str) -> Result<String, Fault> {
    let facts = tx.get::<StoreFacts>(&["store"])?;
    let instance = facts.map_or_else(String::new, |facts| facts.instance);
    Ok(format!(
        "Test message of the mfa daemon urn:mfa:instance:{instance} through the {} {identifier}, sent {}.",
        called(kind),
        tx.now()
    ))
}

fn limits(config: &Config) -> Limits {
    Limits {
        connect: Duration::from_secs(config.gateway_connect_timeout_seconds),
        whole: Duration::from_secs(config.gateway_timeout_seconds),
        authorities: config.gateway_ca_file.clone(),
        private: config.gateway_networks(),
        setting: "gateway_private_addresses",
    }
}
