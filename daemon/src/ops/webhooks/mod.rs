//! Subscriptions of webhooks. Contract: `audit.md` section 4.

pub mod deliver;
pub mod trial;

use super::Caller;
use super::callers::{Absent, absent};
use super::events;
use super::rows::Rows;
use crate::domain::webhook;
use crate::random;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record as _, numbered, prefix};
use crate::store::records::{AuditEnd, StoredDelivery, StoredSubscription, TokenKind, WEBHOOK_SECRET};
use crate::store::tx::decode;
use mfa_shared::api::webhooks::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Nothing};

/// Subscriptions of an institution: each looks at every change.
pub const SUBSCRIPTIONS_MAX: usize = 100;

/// `GET /events/subscriptions`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListSubscriptions,
    _: &Nothing,
) -> Result<Rows<StoredSubscription, Subscription>, Fault> {
    Ok(Rows::all(&[], |_, subscription| Ok(subscription.shown(None))))
}

/// `POST /events/subscriptions`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateSubscription,
    Json(new): &Json<NewSubscription>,
) -> Result<Json<Subscription>, Fault> {
    check_url(tx, Some(&new.url))?;
    if tx.has::<StoredSubscription>(&[&new.identifier])? {
        let detail = format!("there is a subscription \"{}\" already", new.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    if tx.all::<StoredSubscription>(&[])?.len() >= SUBSCRIPTIONS_MAX {
        let detail = format!("there are {SUBSCRIPTIONS_MAX} subscriptions, and more are not served");
        return Err(Fault::new(fault::TOO_MANY_SUBSCRIPTIONS, detail));
    }
    let secret = match &new.secret {
        Some(given) => Secret::new(given),
        None => webhook::secret(random::bytes()),
    };
    let stored = StoredSubscription {
        identifier: new.identifier.clone(),
        url: new.url.clone(),
        kinds: new.kinds.clone(),
        secret: tx.seal_for::<StoredSubscription>(&[&new.identifier], WEBHOOK_SECRET, &secret)?,
        state: new.state,
        reason: None,
        user: caller.user.clone(),
        application: caller.application.clone(),
        scope: caller.scope().map(<[String]>::to_vec),
        intended: caller.intended().to_vec(),
        created_by: caller.name.clone(),
        created_on: tx.now(),
        position: events::last(tx)?,
        moved: 0,
        failures: 0,
        failing_since: None,
        next_try_on: None,
        upto: None,
        tries: 0,
    };
    tx.put(&stored)?;
    Ok(Json(stored.shown(Some(secret.expose().to_owned()))))
}

/// `GET /events/subscriptions/{subscription}`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetSubscription,
    _: &Nothing,
) -> Result<Json<Subscription>, Fault> {
    Ok(Json(find(tx, &at.subscription)?.shown(None)))
}

/// `PUT /events/subscriptions/{subscription}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateSubscription,
    Json(change): &Json<SubscriptionChange>,
) -> Result<Accepted, Fault> {
    check_url(tx, change.url.as_ref())?;
    let mut stored = find(tx, &at.subscription)?;
    let has_owner = has_owner(tx, caller, &stored)?;
    if let Some(other) = change.identifier.as_ref().filter(|name| **name != at.subscription) {
        let detail = format!("the body names subscription \"{other}\", the path \"{}\"", at.subscription);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    let anew = |url: &&String| **url != stored.url || !has_owner;
    if let Some(url) = change.url.as_ref().filter(anew) {
        // The caller who sets the address gets the events that they may read, and no others.
        (stored.user, stored.application) = (caller.user.clone(), caller.application.clone());
        (stored.scope, stored.intended) =
            (caller.scope().map(<[String]>::to_vec), caller.intended().to_vec());
        stored.url.clone_from(url);
        restart(&mut stored);
    }
    if let Some(secret) = &change.secret {
        stored.secret = tx.seal(&stored, WEBHOOK_SECRET, &Secret::new(secret))?;
    }
    if let Some(kinds) = &change.kinds {
        stored.kinds.clone_from(kinds);
    }
    if let Some(state) = change.state {
        stored.state = state;
        stored.reason = None;
        if state == SubscriptionState::Active {
            restart(&mut stored);
        }
    }
    tx.put(&stored)?;
    Ok(Accepted)
}

/// `DELETE /events/subscriptions/{subscription}`
pub fn delete(tx: &mut Tx<'_>, _: &Caller, at: &DeleteSubscription, _: &Nothing) -> Result<Accepted, Fault> {
    let stored = find(tx, &at.subscription)?;
    let space = StoredDelivery::SPACE;
    for (_, value) in tx.scan(space, &kept(&stored), false, StoredDelivery::KEPT as usize + 1)? {
        tx.remove(&decode::<StoredDelivery>(space, &value)?);
    }
    tx.remove(&stored);
    Ok(Accepted)
}

/// `PUT /events/subscriptions/{subscription}/position`
pub fn set_position(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &MoveSubscription,
    Json(wanted): &Json<SubscriptionPosition>,
) -> Result<Accepted, Fault> {
    let mut stored = find(tx, &at.subscription)?;
    let position = u64::try_from(wanted.position).unwrap_or_default();
    let (first, last) = match tx.get::<AuditEnd>(AuditEnd::KEY)? {
        Some(end) => (end.first, end.sequence),
        None => (1, 0),
    };
    if position > last {
        let what = format!("must be at most {last}, the number of the last event");
        return Err(Fault::field("/position", "out_of_range", &what));
    }
    events::check_kept(position, first)?;
    stored.position = position;
    stored.moved += 1;
    restart(&mut stored);
    tx.put(&stored)?;
    Ok(Accepted)
}

/// `GET /events/subscriptions/{subscription}/deliveries`
pub fn deliveries(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListDeliveries,
    _: &Nothing,
) -> Result<Rows<StoredDelivery, Delivery>, Fault> {
    let stored = find(tx, &at.subscription)?;
    Ok(Rows::within(kept(&stored), |_, stored: StoredDelivery| Ok(stored.delivery)).newest_first())
}

/// The deliveries of a subscription that are kept. On a database a scan of all there ever were would pass
/// over those that were removed.
fn kept(stored: &StoredSubscription) -> Range {
    let first = stored.tries.saturating_sub(StoredDelivery::KEPT);
    Range { from: numbered(&[&stored.identifier], first), ..Range::prefix(&prefix(&[&stored.identifier])) }
}

/// The subscription of an identifier.
fn find(tx: &mut Tx<'_>, identifier: &str) -> Result<StoredSubscription, Fault> {
    let none = || {
        let detail = format!("there is no subscription \"{identifier}\"");
        Fault::new(fault::SUBSCRIPTION_NOT_FOUND, detail)
    };
    tx.get(&[identifier])?.ok_or_else(none)
}

/// Pauses the subscriptions whose address an application has set that is deleted. They forget who it was:
/// another one may come to bear its name.
pub fn leave(tx: &mut Tx<'_>, application: &str) -> Result<(), Fault> {
    let all = tx.all::<StoredSubscription>(&[])?.into_iter();
    for mut stored in all.filter(|stored| stored.application.as_deref() == Some(application)) {
        (stored.user, stored.application, stored.scope) = (None, None, None);
        stored.intended.clear();
        if stored.state == SubscriptionState::Active {
            stored.state = SubscriptionState::Paused;
            stored.reason = Some(format!("application {application}, which set its url, was deleted"));
        }
        tx.note_changed("webhook", &[&stored.identifier]);
        tx.put(&stored)?;
    }
    Ok(())
}

/// Who set the address, and gets the events that they may read.
fn owner(stored: &StoredSubscription) -> Absent<'_> {
    let kind = stored.application.as_ref().map(|application| TokenKind::Application {
        application: application.clone(),
        key: String::new(),
        scope: stored.scope.clone(),
        intended: stored.intended.clone(),
    });
    (stored.user.as_deref(), kind)
}

/// Whether those who set the address can still sign in and read events; if not, the next one who sets it
/// takes it over.
fn has_owner(tx: &mut Tx<'_>, caller: &Caller, stored: &StoredSubscription) -> Result<bool, Fault> {
    let owner = absent(tx, owner(stored), caller.reach.groups(), (&caller.rules, &caller.uses))?;
    // Where permissions are not asked for, the caller knows of none.
    Ok(owner.is_some_and(|owner| caller.is_unchecked() || events::may_listen(&owner)))
}

/// Refuses an address to which nothing may be delivered.
fn check_url(tx: &Tx<'_>, url: Option<&String>) -> Result<(), Fault> {
    let refuse = |why: String| Fault::field("/url", "unknown_value", &why);
    url.map_or(Ok(()), |url| tx.receivers().allow(url).map(drop).map_err(refuse))
}

/// Forgets what failed: the next delivery is tried at once.
fn restart(stored: &mut StoredSubscription) {
    (stored.failures, stored.failing_since, stored.next_try_on, stored.upto) = (0, None, None, None);
}
