//! Webhooks: events that the daemon brings to an address, by the Standard Webhooks specification. Contract:
//! `audit.md` section 4.

use super::events::{Event, find_kind, kinds};
use super::gateways::TestOutcome;
use crate::address::{ServiceAddress, URL_LENGTH_MAX};
use crate::node::Node;
use crate::object::nested;
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object, words};
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// What every secret begins with.
pub const SECRET_PREFIX: &str = "whsec_";
/// Bytes of a secret, which follow in Base64.
pub const SECRET_BYTES: RangeInclusive<usize> = 24..=64;
/// Events of one delivery.
pub const EVENTS_AT_ONCE: usize = 100;

object! {
    /// Where events are brought to.
    pub struct Subscription {
        /// Its name.
        identifier: String = required(id(32)),
        /// Address of the receiver.
        url: String = required(url()),
        /// Kinds of records whose events are wanted; none means all.
        kinds: Vec<String> = required(list(kind(), kinds().count())),
        /// The key of the signatures; it is shown at creation only.
        secret: Option<String> = optional(secret()),
        /// Whether events are delivered.
        state: SubscriptionState = required(word()),
        /// Why it is paused, where the daemon paused it.
        reason: Option<String> = optional(line(1000)),
        /// Who created it.
        created_by: String = required(line(256)),
        /// When.
        created_on: Timestamp = required(timestamp()),
        /// Number of the last event that was looked at for it; what comes behind is not delivered yet.
        position: i64 = required(integer(0, i64::MAX)),
        /// How often the next delivery was tried without success.
        failures: i64 = required(integer(0, i64::MAX)),
    }

    /// A new subscription.
    pub struct NewSubscription {
        /// Its name.
        identifier: String = required(id(32)),
        /// Address of the receiver: `https:`, or `http:` with the setting `webhook_plaintext`.
        url: String = required(url()),
        /// Kinds of records whose events are wanted; none means all.
        kinds: Vec<String> = or(list(kind(), kinds().count()).distinct(), Vec::new()),
        /// The key of the signatures: `whsec_` and 24 to 64 bytes in Base64; null has one made.
        secret: Option<String> = optional(secret()),
        /// Whether events are delivered.
        state: SubscriptionState = or(word(), SubscriptionState::Active),
    }

    /// A changed subscription; null keeps what is stored.
    pub struct SubscriptionChange {
        /// Its name, if it is given.
        identifier: Option<String> = optional(id(32)),
        /// Address of the receiver.
        url: Option<String> = optional(url()),
        /// Kinds of records whose events are wanted; none means all.
        kinds: Option<Vec<String>> = optional(list(kind(), kinds().count()).distinct()),
        /// The key of the signatures.
        secret: Option<String> = optional(secret()),
        /// `ACTIVE` begins anew: what failed is tried again at once.
        state: Option<SubscriptionState> = optional(word()),
    }

    /// From where on events are delivered.
    pub struct SubscriptionPosition {
        /// Number of the event after which it continues; 0 is the beginning.
        position: i64 = required(integer(0, i64::MAX)),
    }

    /// What is sent.
    pub struct EventDelivery {
        /// The events, in their order.
        events: Vec<Event> = required(list(nested::<Event>(), EVENTS_AT_ONCE)),
    }

    /// One try of a delivery.
    pub struct Delivery {
        /// Number of the try, from 1.
        number: i64 = required(integer(1, i64::MAX)),
        /// The header `webhook-id`: each try of the same events has the same.
        webhook_identifier: String = required(line(256)),
        /// Number of the first event in it.
        first_sequence: i64 = required(integer(1, i64::MAX)),
        /// Number of the last event in it.
        last_sequence: i64 = required(integer(1, i64::MAX)),
        /// How many events.
        events: i64 = required(integer(1, 100)),
        /// When it was tried.
        tried_on: Timestamp = required(timestamp()),
        /// What became of it.
        outcome: DeliveryOutcome = required(word()),
        /// The status that the receiver answered.
        status: Option<i64> = optional(integer(100, 999)),
        /// The receiver's words, or how far it came.
        detail: String = required(line(1000)),
        /// When it is tried again.
        next_try_on: Option<Timestamp> = optional(timestamp()),
    }
}

words! {
    /// Whether a subscription is served.
    pub enum SubscriptionState {
        /// Events are delivered.
        Active = "ACTIVE",
        /// Events wait.
        Paused = "PAUSED",
    }

    /// What became of a delivery.
    pub enum DeliveryOutcome {
        /// The receiver took it.
        Delivered = "DELIVERED",
        /// It did not.
        Failed = "FAILED",
    }
}

/// The bytes that so many digits of Base64 encode; `None` for an impossible number.
fn bytes_of(digits: usize) -> Option<usize> {
    (digits % 4 != 1).then_some(digits * 3 / 4)
}

fn secret() -> SecretRule {
    SecretRule
}

/// `whsec_` and Base64 of [`SECRET_BYTES`].
#[derive(Debug, Clone, Copy)]
struct SecretRule;

impl Rule for SecretRule {
    type Out = String;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<String> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        let least = SECRET_BYTES.start();
        let most = SECRET_BYTES.end();
        let wanted = format!("must be {SECRET_PREFIX} and {least} to {most} bytes in Base64");
        let Some(digits) = text.strip_prefix(SECRET_PREFIX) else { return at.refuse("too_short", wanted) };
        let bare = digits.trim_end_matches('=');
        let is_base64 = digits.len() - bare.len() <= 2
            && bare.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/');
        match bytes_of(bare.len()) {
            Some(bytes) if is_base64 && SECRET_BYTES.contains(&bytes) => Some(text.clone()),
            Some(bytes) if is_base64 && bytes > *most => at.refuse("too_long", wanted),
            _ if is_base64 && bare.len() < least * 4 / 3 => at.refuse("too_short", wanted),
            _ => at.refuse("bad_characters", wanted),
        }
    }
    fn schema(&self) -> Value {
        json!({ "type": "string", "pattern": format!("^{SECRET_PREFIX}[A-Za-z0-9+/]{{32,86}}={{0,2}}$") })
    }
}

fn url() -> Url {
    Url
}

/// The form of an address; whether the daemon may call it is a matter of its settings.
#[derive(Debug, Clone, Copy)]
struct Url;

impl Rule for Url {
    type Out = String;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<String> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        if text.chars().count() > URL_LENGTH_MAX {
            return at.refuse("too_long", format!("must have at most {URL_LENGTH_MAX} characters"));
        }
        if ServiceAddress::parse(text).is_none() {
            let what = "must be an https: address without a name or password in it, such as \
                        https://example.org/mfa";
            return at.refuse("bad_characters", what);
        }
        Some(text.clone())
    }
    fn schema(&self) -> Value {
        json!({ "type": "string", "format": "uri", "maxLength": URL_LENGTH_MAX })
    }
}

fn kind() -> KindRule {
    KindRule
}

/// The name of a kind of records.
#[derive(Debug, Clone, Copy)]
struct KindRule;

impl Rule for KindRule {
    type Out = String;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<String> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        find_kind(text).map(str::to_owned).or_else(|| {
            let known: Vec<_> = kinds().collect();
            at.refuse("unknown_value", format!("must be one of {}", known.join(", ")))
        })
    }
    fn schema(&self) -> Value {
        json!({ "type": "string", "enum": kinds().collect::<Vec<_>>() })
    }
}

endpoints! {
    application "events-v1";
    /// List the subscriptions.
    ListSubscriptions {} Get "/events/subscriptions" Nothing => Array<Subscription>;
    /// Have events delivered to an address from now on; the answer shows the secret, and no other does.
    CreateSubscription {} Post "/events/subscriptions" Json<NewSubscription> => Json<Subscription>;
    /// Read a subscription, without its secret.
    GetSubscription { subscription } Get "/events/subscriptions/{subscription}" Nothing
        => Json<Subscription>, tag GetSubscription;
    /// Change a subscription, pause it, or have it go on.
    UpdateSubscription { subscription } Put "/events/subscriptions/{subscription}"
        Json<SubscriptionChange> => Accepted, tag GetSubscription;
    /// Delete a subscription with its secret.
    DeleteSubscription { subscription } Delete "/events/subscriptions/{subscription}" Nothing => Accepted,
        tag GetSubscription;
    /// Send one test event.
    TestSubscription { subscription } Post "/events/subscriptions/{subscription}/test" Nothing
        => Json<TestOutcome>;
    /// Go back or forward: events are delivered from behind this position on.
    MoveSubscription { subscription } Put "/events/subscriptions/{subscription}/position"
        Json<SubscriptionPosition> => Accepted, tag GetSubscription;
    /// List the latest tries of deliveries, the newest first.
    ListDeliveries { subscription } Get "/events/subscriptions/{subscription}/deliveries" Nothing
        => Array<Delivery>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Object;
    use crate::time::Date;

    fn codes(field: &str, value: &str) -> Vec<String> {
        let mut body = json!({ "identifier": "hook", "url": "https://example.org/" });
        body[field] = json!(value);
        let node = Node::parse(body.to_string().as_bytes()).unwrap();
        let mut checks = Checks::new(Date::parse("2031-01-01").unwrap());
        NewSubscription::check(&node, &mut checks);
        checks.finish(&node).into_iter().map(|error| error.code).collect()
    }

    #[test]
    fn a_secret_is_24_to_64_bytes_of_base64_behind_its_prefix() {
        let none: [&str; 0] = [];
        let of = |digits: usize, end: &str| format!("whsec_{}{end}", "A".repeat(digits));
        for good in [of(32, ""), of(34, ""), of(34, "=="), of(86, ""), of(86, "==")] {
            assert_eq!(codes("secret", &good), none, "{good}");
        }
        for short in ["", "whsec_", "A".repeat(40).as_str(), of(31, "=").as_str(), of(20, "").as_str()] {
            assert_eq!(codes("secret", short), ["too_short"], "{short}");
        }
        assert_eq!(codes("secret", &of(87, "=")), ["too_long"]);
        for bad in [of(33, ""), format!("whsec_{}", "-".repeat(40)), of(40, "===")] {
            assert_eq!(codes("secret", &bad), ["bad_characters"], "{bad}");
        }
    }

    #[test]
    fn an_address_has_its_form() {
        let none: [&str; 0] = [];
        for good in ["https://example.org", "http://example.org/x", "https://localhost:8443/a?b"] {
            assert_eq!(codes("url", good), none, "{good}");
        }
        for bad in ["ftp://x", "https://", "https://a:b@example.org/", "example.org", "https://x/ y", ""] {
            assert_eq!(codes("url", bad), ["bad_characters"], "{bad}");
        }
        assert_eq!(codes("url", &format!("https://x/{}", "y".repeat(2048))), ["too_long"]);
    }
}
