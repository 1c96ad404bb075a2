//! Test events: planned while nothing is sent, settled when the receiver has answered. Contract: `audit.md`
//! section 4, and for the answers `gateways.md` section 5.

use super::find;
use crate::config::Config;
use crate::domain::gateway::{Limits, Trial, Tried};
use crate::domain::webhook::{Message, PRIVATE_SETTING};
use crate::ops::listing::json;
use crate::ops::{Caller, Given};
use crate::random;
use crate::store::Tx;
use crate::store::records::WEBHOOK_SECRET;
use mfa_shared::api::events::Event;
use mfa_shared::api::gateways::TestOutcome;
use mfa_shared::api::webhooks::{EventDelivery, TestSubscription};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use mfa_shared::kind::resource;
use mfa_shared::wire::{Json, Nothing};
use std::time::Duration;

/// Time to reach a receiver, and for a delivery in all.
const CONNECT: Duration = Duration::from_secs(10);
const WHOLE: Duration = Duration::from_secs(20);

/// The limits of a delivery.
pub fn limits(config: &Config) -> Limits {
    Limits {
        connect: CONNECT,
        whole: WHOLE,
        authorities: config.gateway_ca_file.clone(),
        private: config.webhook_private_addresses.clone(),
        setting: PRIVATE_SETTING,
    }
}

/// Plans `POST /events/subscriptions/{subscription}/test`
pub fn plan(
    tx: &mut Tx<'_>,
    caller: &Caller,
    given: Given<'_>,
    at: &TestSubscription,
    _: &Nothing,
) -> Result<Trial<Message>, Fault> {
    let stored = find(tx, &at.subscription)?;
    let refused = |why: String| {
        let detail = format!("subscription {}: its url {why}", at.subscription);
        Fault::new(fault::GATEWAY_FAILED, detail).gateway("connect", None)
    };
    let to = tx.receivers().allow(&stored.url).map_err(refused)?;
    let event = Event {
        // No event has this number, so it cannot be mistaken for one.
        sequence: 0,
        occurred_on: tx.now(),
        operation: TestSubscription::META.name.to_owned(),
        resource: Some(resource("webhook", std::slice::from_ref(&at.subscription))),
        affects: Vec::new(),
        actor: caller.name.clone(),
        request_id: String::new(),
    };
    let message = Message {
        to,
        limits: limits(given.config),
        secret: tx.unseal(&stored, WEBHOOK_SECRET, &stored.secret)?,
        id: format!("msg_{}", random::hex::<16>()),
        at: tx.now(),
        body: json(&EventDelivery { events: vec![event] }),
    };
    Ok(Trial { message, to: stored.url, at: tx.now() })
}

/// Settles `POST /events/subscriptions/{subscription}/test`
pub fn settle(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &TestSubscription,
    tried: &Tried,
) -> Result<Json<TestOutcome>, Fault> {
    tx.keep_when_refused();
    match &tried.outcome {
        Ok(taken) => Ok(Json(TestOutcome {
            identifier: at.subscription.clone(),
            to: tried.to.clone(),
            sent_on: tried.at,
            gateway_answer: taken.answer.clone(),
            message_identifier: taken.message.clone(),
        })),
        Err(failed) => {
            let detail = format!("subscription {}: {}", at.subscription, failed.why);
            Err(Fault::new(fault::GATEWAY_FAILED, detail).gateway(failed.stage.as_str(), failed.code))
        }
    }
}
