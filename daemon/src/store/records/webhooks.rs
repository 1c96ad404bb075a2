//! Subscriptions of webhooks, with their secrets encrypted, and the results of deliveries.

use super::{DELIVERER, DELIVERIES, SUBSCRIPTIONS};
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use crate::store::seal::{HoldsSecrets, Sealed};
use mfa_shared::api::webhooks::{Delivery, Subscription, SubscriptionState};
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The field of a subscription that is encrypted.
pub const WEBHOOK_SECRET: &str = "secret";

/// A subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSubscription {
    /// Its identifier.
    pub identifier: String,
    /// Address of the receiver.
    pub url: String,
    /// Kinds of records; none means all.
    pub kinds: Vec<String>,
    /// The key of the signatures.
    pub secret: Sealed,
    /// Whether events are delivered.
    pub state: SubscriptionState,
    /// Why it was paused, if no user or application paused it.
    pub reason: Option<String>,
    /// The user who last said where events are brought to: they are those that this user may read.
    pub user: Option<String>,
    /// The application that did so, by itself or for the user.
    pub application: Option<String>,
    /// The groups to which the token of that application was narrowed: what it could not read is not
    /// delivered either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<String>>,
    /// The applications that this token was intended for, which narrows it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intended: Vec<String>,
    /// Who created it.
    pub created_by: String,
    /// When.
    pub created_on: Timestamp,
    /// The last event that was looked at for it.
    pub position: u64,
    /// How often the position was moved by a user.
    pub moved: u64,
    /// How often the next delivery has failed.
    pub failures: u64,
    /// When it failed for the first time.
    pub failing_since: Option<Timestamp>,
    /// When it is tried again.
    pub next_try_on: Option<Timestamp>,
    /// The last event of the delivery that has begun and was not taken yet: each try has the same events.
    pub upto: Option<u64>,
    /// Tries so far, which number the next one.
    pub tries: u64,
}

impl StoredSubscription {
    /// The subscription as reads show it.
    pub fn shown(self, secret: Option<String>) -> Subscription {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        Subscription {
            identifier: self.identifier,
            url: self.url,
            kinds: self.kinds,
            secret,
            state: self.state,
            reason: self.reason,
            created_by: self.created_by,
            created_on: self.created_on,
            position: number(self.position),
            failures: number(self.failures),
        }
    }
}

impl Record for StoredSubscription {
    const SPACE: Space = SUBSCRIPTIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

impl HoldsSecrets for StoredSubscription {
    fn secrets(&mut self) -> Vec<(&'static str, &mut Sealed)> {
        vec![(WEBHOOK_SECRET, &mut self.secret)]
    }
    fn called(&self) -> String {
        format!("webhook {}", self.identifier)
    }
}

/// One try of a delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDelivery {
    /// The subscription.
    pub subscription: String,
    /// Number of the try.
    pub number: u64,
    /// The try as reads show it.
    pub delivery: Delivery,
}

impl StoredDelivery {
    /// So many of a subscription are kept.
    pub const KEPT: u64 = 100;
}

impl Record for StoredDelivery {
    const SPACE: Space = DELIVERIES;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.subscription], self.number)
    }
}

/// Which daemon does a piece of work, where several share a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// The work; a store of before has that of webhooks alone, without its name.
    #[serde(default = "deliverer")]
    pub work: String,
    /// The daemon, until it lets go.
    pub holder: Option<String>,
    /// Counts on while the daemon lives.
    pub beat: u64,
}

fn deliverer() -> String {
    "deliverer".to_owned()
}

impl Record for Worker {
    const SPACE: Space = DELIVERER;
    fn key(&self) -> Vec<u8> {
        key(&[&self.work])
    }
}
