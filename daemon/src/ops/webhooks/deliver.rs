//! The next delivery, and its outcome. Contract: `audit.md` section 4.

use crate::config::{Auth, Config};
use crate::domain::gateway::{Failed, Taken};
use crate::domain::webhook::{Message, is_beyond_plan, message_id, next_try};
use crate::ops::Caller;
use crate::ops::audit::record_failed;
use crate::ops::callers::KnownCallers;
use crate::ops::events::{self, Heard, Reach, heard};
use crate::ops::listing::json;
use crate::store::Tx;
use crate::store::record::numbered;
use crate::store::records::{StoredDelivery, StoredSubscription, WEBHOOK_SECRET};
use mfa_shared::api::audit::AuditChange;
use mfa_shared::api::events::{Event, EventQuery};
use mfa_shared::api::webhooks::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::kind::resource;
use mfa_shared::node::Node;
use mfa_shared::time::Timestamp;

/// Most characters that are kept of a receiver's words.
const DETAIL_MAX: usize = 200;
/// Why a subscription is paused whose secret does not decrypt, as after a restore without the key file.
const SECRET_LOST: &str =
    "its secret cannot be read with the daemon's key file; set another secret and resume the webhook";
/// The command that a record names when a delivery is given up.
const DELIVER: &str = "DeliverWebhook";

/// The position of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The subscription.
    pub subscription: String,
    /// How often its position was moved by a user.
    pub moved: u64,
    /// The last event that was looked at for it.
    pub position: u64,
}

/// What there is to do for a subscription.
#[derive(Debug)]
pub enum Next {
    /// Nothing at present.
    Nothing,
    /// None of the events up to this one concerns it.
    PassOver {
        /// The last event that was looked at.
        upto: u64,
        /// Whether more follow.
        more: bool,
        /// Whether that has to be noted, because a delivery of them had begun before.
        note: bool,
    },
    /// These are to be delivered.
    Send(Box<Message>, Batch),
    /// It cannot be served any more.
    Pause(String),
}

/// Events that are delivered together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The position of the subscription before them.
    pub from: Place,
    /// The address that they go to.
    url: String,
    /// The header `webhook-id`.
    pub id: String,
    first: i64,
    last: i64,
    count: usize,
    /// The last event that was looked at.
    upto: u64,
    /// Whether more follow that were not looked at.
    more: bool,
}

impl Batch {
    /// The position of the subscription once they are delivered.
    pub fn delivered(&self) -> Place {
        Place { position: self.upto, ..self.from.clone() }
    }

    /// Whether it had room for what happens next.
    pub fn has_room(&self) -> bool {
        self.count < EVENTS_AT_ONCE && !self.more
    }
}

/// The subscriptions that are to be served at this moment, and the number of the last event.
pub fn due(tx: &mut Tx<'_>) -> Result<(Vec<Place>, u64), Fault> {
    let now = tx.now();
    let last = events::last(tx)?;
    let all = tx.all::<StoredSubscription>(&[])?.into_iter();
    let due = all.filter(|stored| is_due(stored, now) && stored.position < last).map(|s| place(&s));
    Ok((due.collect(), last))
}

fn is_due(stored: &StoredSubscription, now: Timestamp) -> bool {
    let is_time = |next| next <= now || is_beyond_plan(next, now);
    stored.state == SubscriptionState::Active && stored.next_try_on.is_none_or(is_time)
}

fn place(stored: &StoredSubscription) -> Place {
    let subscription = stored.identifier.clone();
    let moved = stored.moved;
    Place { subscription, moved, position: stored.position }
}

/// What is to be done for a subscription of which everything up to `looked` was looked at in vain.
pub fn next(
    tx: &mut Tx<'_>,
    callers: &KnownCallers,
    config: &Config,
    from: &Place,
    looked: u64,
) -> Result<Next, Fault> {
    let Some(stored) = tx.get::<StoredSubscription>(&[&from.subscription])? else { return Ok(Next::Nothing) };
    if place(&stored) != *from || !is_due(&stored, tx.now()) {
        return Ok(Next::Nothing);
    }
    let Some(owner) = owner(tx, callers, config, &stored)? else {
        return Ok(Next::Pause(is_gone(&stored)));
    };
    if !events::may_listen(&owner) {
        return Ok(Next::Pause(may_not_listen(&stored)));
    }
    let to = match tx.receivers().allow(&stored.url) {
        Ok(to) => to,
        Err(why) => return Ok(Next::Pause(format!("its url {why}"))),
    };
    let after = stored.position.max(looked);
    let query = EventQuery { kinds: stored.kinds.clone(), ..EventQuery::default() };
    let Heard { events, mut upto, mut more, .. } = match waiting(tx, &owner, &query, after, stored.upto) {
        Err(fault) if fault.kind == fault::POSITION_TOO_OLD => return Ok(Next::Pause(fault.detail.clone())),
        heard => heard?,
    };
    let mut events: Vec<_> = events.iter().map(|announced| announced.event.clone()).collect();
    if let Some(bound) = stored.upto {
        // What had begun is sent again with the same events.
        events.retain(|event| u64::try_from(event.sequence).is_ok_and(|number| number <= bound));
        more |= upto > bound;
        upto = upto.min(bound);
    }
    events.retain(|event| !is_own_creation(event, &stored.identifier));
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        // A delivery that had begun is over only where nothing is left up to its last event.
        return Ok(Next::PassOver { upto, more, note: stored.upto.is_some_and(|bound| upto >= bound) });
    };
    let first = first.sequence;
    let last = last.sequence;
    let id = message_id(&stored.identifier, stored.created_on, stored.moved, first, last);
    let (from, count, url) = (from.clone(), events.len(), stored.url.clone());
    let batch = Batch { from, url, id: id.clone(), first, last, count, upto, more };
    let Ok(secret) = tx.unseal(&stored, WEBHOOK_SECRET, &stored.secret) else {
        // No later look would read it: a person has to set another one.
        return Ok(Next::Pause(SECRET_LOST.to_owned()));
    };
    let limits = super::trial::limits(config);
    let body = json(&EventDelivery { events });
    // The signature says when it is sent, so that a receiver can refuse what is old.
    let message = Message { to, limits, secret, id, at: tx.now(), body };
    Ok(Next::Send(Box::new(message), batch))
}

/// The next events; of a delivery that had begun, all up to its last one, wherever the look at them begins.
fn waiting(
    tx: &mut Tx<'_>,
    owner: &Caller,
    query: &EventQuery,
    after: u64,
    begun: Option<u64>,
) -> Result<Heard, Fault> {
    let mut found = heard(tx, owner, query, Reach::All, (after, EVENTS_AT_ONCE))?;
    let is_part =
        |found: &Heard| !found.events.is_empty() && found.events.len() < EVENTS_AT_ONCE && found.more;
    while begun.is_some_and(|bound| found.upto < bound) && is_part(&found) {
        let left = EVENTS_AT_ONCE - found.events.len();
        let rest = heard(tx, owner, query, Reach::All, (found.upto, left))?;
        found.events.extend(rest.events);
        (found.upto, found.more) = (rest.upto, rest.more);
    }
    Ok(found)
}

/// A subscription does not receive its own creation: its creator knows.
fn is_own_creation(event: &Event, subscription: &str) -> bool {
    event.operation == "CreateSubscription"
        && event.resource == Some(resource("webhook", &[subscription.to_owned()]))
}

/// Whose events are delivered: those that the one who set the address may read.
fn owner(
    tx: &mut Tx<'_>,
    callers: &KnownCallers,
    config: &Config,
    stored: &StoredSubscription,
) -> Result<Option<Caller>, Fault> {
    match config.auth {
        Auth::Off => Ok(Some(Caller::guest())),
        Auth::On => callers.absent(tx, super::owner(stored)),
    }
}

/// Why there is nobody whose events could be delivered.
fn is_gone(stored: &StoredSubscription) -> String {
    match (&stored.user, &stored.application) {
        (Some(user), None) => format!("{user}, who set its url, is no user any more who could log in"),
        (Some(user), Some(application)) => {
            format!("application {application}, which set its url, cannot sign in for user {user} any more")
        }
        (None, Some(application)) => {
            format!("application {application}, which set its url, has no key any more to sign in with")
        }
        (None, None) => "it is not known who set its url; set it again".to_owned(),
    }
}

/// Why its owner, who can sign in, hears of no events.
fn may_not_listen(stored: &StoredSubscription) -> String {
    match (&stored.user, &stored.application) {
        (Some(user), Some(application)) => {
            format!(
                "application {application}, which set its url, may not read events for user {user} any more"
            )
        }
        (None, Some(application)) => {
            format!("application {application}, which set its url, may not read events any more")
        }
        (user, None) => {
            let user = user.as_deref().unwrap_or_default();
            format!("{user}, who set its url, may not read events any more")
        }
    }
}

/// Notes that nothing up to an event concerns a subscription.
pub fn pass_over(tx: &mut Tx<'_>, from: &Place, upto: u64) -> Result<(), Fault> {
    if let Some(mut stored) = unmoved(tx, from)? {
        stored.position = upto;
        // A delivery that had begun and has nothing left to send is over.
        if stored.upto.is_none_or(|bound| upto >= bound) {
            super::restart(&mut stored);
        }
        tx.put(&stored)?;
    }
    Ok(())
}

/// The subscription, if its position has not changed.
fn unmoved(tx: &mut Tx<'_>, from: &Place) -> Result<Option<StoredSubscription>, Fault> {
    let stored = tx.get::<StoredSubscription>(&[&from.subscription])?;
    Ok(stored.filter(|stored| place(stored) == *from))
}

/// Notes that a delivery begins, unless the subscription was changed meanwhile: nothing goes to an address
/// that it does not have any more. Should the daemon end before the outcome is noted, the same events are
/// sent again under the same name, whatever happened since.
pub fn begin(tx: &mut Tx<'_>, batch: &Batch) -> Result<bool, Fault> {
    let now = tx.now();
    let stored = unmoved(tx, &batch.from)?;
    let stored = stored.filter(|stored| is_due(stored, now) && stored.url == batch.url);
    let Some(mut stored) = stored else { return Ok(false) };
    if stored.upto != Some(batch.upto) {
        stored.upto = Some(batch.upto);
        tx.put(&stored)?;
    }
    Ok(true)
}

/// Notes the outcome of a delivery. A position that was moved meanwhile takes precedence, and what an address
/// of before has answered says nothing about that which was set meanwhile.
pub fn settle(tx: &mut Tx<'_>, batch: &Batch, outcome: &Result<Taken, Failed>) -> Result<(), Fault> {
    let Some(mut stored) = unmoved(tx, &batch.from)? else { return Ok(()) };
    let now = tx.now();
    stored.tries += 1;
    let (status, mut detail) = match outcome {
        Ok(taken) => (taken.code, taken.answer.clone()),
        Err(failed) => (failed.code, failed.why.clone()),
    };
    match outcome {
        _ if stored.url != batch.url => detail.insert_str(0, "sent to the url of before: "),
        Ok(_) => {
            stored.position = batch.upto;
            super::restart(&mut stored);
        }
        Err(failed) => {
            stored.failures += 1;
            let since = *stored.failing_since.get_or_insert(now);
            stored.upto = Some(batch.upto);
            stored.next_try_on = next_try(stored.failures, since, now);
            if stored.next_try_on.is_none() {
                let why = format!("given up after {} tries in three days: {}", stored.failures, failed.why);
                pause(tx, &mut stored, why);
            }
        }
    }
    let delivery = Delivery {
        number: i64::try_from(stored.tries).unwrap_or(i64::MAX),
        webhook_identifier: batch.id.clone(),
        first_sequence: batch.first,
        last_sequence: batch.last,
        events: i64::try_from(batch.count).unwrap_or(i64::MAX),
        tried_on: now,
        outcome: if outcome.is_ok() { DeliveryOutcome::Delivered } else { DeliveryOutcome::Failed },
        status: status.map(i64::from),
        detail: detail.chars().take(DETAIL_MAX).collect(),
        next_try_on: stored.next_try_on,
    };
    let subscription = stored.identifier.clone();
    let number = stored.tries;
    tx.put(&StoredDelivery { subscription, number, delivery })?;
    if let Some(old) = number.checked_sub(StoredDelivery::KEPT)
        && let Some(old) = tx.at::<StoredDelivery>(&numbered(&[&stored.identifier], old))?
    {
        tx.remove(&old);
    }
    tx.put(&stored)
}

/// Pauses a subscription that cannot be served.
pub fn give_up(tx: &mut Tx<'_>, from: &Place, why: &str) -> Result<(), Fault> {
    if let Some(mut stored) = unmoved(tx, from)?.filter(|stored| stored.state == SubscriptionState::Active) {
        pause(tx, &mut stored, why.to_owned());
        tx.put(&stored)?;
    }
    Ok(())
}

fn pause(tx: &mut Tx<'_>, stored: &mut StoredSubscription, why: String) {
    let text = |text: &str| Some(Node::Text(text.to_owned()));
    let reason: String = why.chars().take(1000).collect();
    let changes = vec![
        AuditChange { field: "/state".to_owned(), before: text("ACTIVE"), after: text("PAUSED") },
        AuditChange { field: "/reason".to_owned(), before: Some(Node::Null), after: text(&reason) },
    ];
    tracing::warn!(subscription = stored.identifier, reason, "a webhook is paused");
    let name = resource("webhook", std::slice::from_ref(&stored.identifier));
    record_failed(tx, DELIVER, "webhooks", name, changes);
    stored.state = SubscriptionState::Paused;
    stored.reason = Some(reason);
    stored.next_try_on = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::store::Store;
    use crate::store::embedded::{Embedded, Options};
    use serde_json::json;

    #[tokio::test]
    async fn nothing_goes_to_an_address_that_was_changed_before_it_began() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let stored: StoredSubscription = serde_json::from_value(json!({
            "identifier": "sync", "url": "https://example.org", "kinds": [], "secret": "k:",
            "state": "ACTIVE", "reason": null, "user": null, "application": null, "createdBy": "guest",
            "createdOn": store.clock().now(), "position": 4, "moved": 0, "failures": 0,
            "failingSince": null, "nextTryOn": null, "upto": null, "tries": 0,
        }))
        .unwrap();
        let (from, url, id) = (place(&stored), stored.url.clone(), "msg".to_owned());
        let batch = Batch { from, url, id, first: 5, last: 5, count: 1, upto: 5, more: false };
        let begins = |url: &str| {
            let (batch, changed) =
                (batch.clone(), StoredSubscription { url: url.to_owned(), ..stored.clone() });
            store.write("test", move |tx| {
                tx.put(&changed)?;
                begin(tx, &batch)
            })
        };
        assert!(begins("https://example.org").await.unwrap());
        assert!(!begins("https://example.com").await.unwrap());
    }
}
