//! Product instances and the counters of their numbers.

use super::{
    ACCOUNT_COUNTERS, INSTANCES, INSTANCES_BY_CUSTOMER, INSTANCES_BY_NUMBER, INSTANCES_BY_PRODUCT,
    INSTANCES_NOT_CLOSED,
};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use mfa_shared::api::instances::InstanceState;
use mfa_shared::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// A product instance. Its balance and its last posting are in its ledger account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredInstance {
    /// Identifier of the account, which is that of its ledger account.
    pub account_identifier: String,
    /// The customer.
    pub customer_identifier: String,
    /// The product.
    pub product_identifier: String,
    /// Another number by which the account is known.
    pub alternative_account_number: Option<String>,
    /// Who benefits.
    pub beneficiaries: Vec<String>,
    /// Day on which it became ACTIVE for the first time.
    pub opened_on: Option<Date>,
    /// Last TRANSACTION command, or confirmed transaction whose charges the customer paid in cash and that
    /// moved nothing on the account.
    pub transaction_command_on: Option<Timestamp>,
    /// When it became CLOSED.
    pub closed_on: Option<Timestamp>,
    /// State.
    pub state: InstanceState,
}

impl StoredInstance {
    /// Makes it ACTIVE; the first time sets the day of its opening.
    pub fn open(&mut self, now: Timestamp) {
        self.state = InstanceState::Active;
        self.opened_on.get_or_insert(now.day());
    }

    /// Notes a movement that its ledger account does not know.
    pub fn note(&mut self, at: Timestamp) {
        self.transaction_command_on = self.transaction_command_on.max(Some(at));
    }

    /// Makes it CLOSED.
    pub fn close(&mut self, now: Timestamp) {
        self.state = InstanceState::Closed;
        self.closed_on.get_or_insert(now);
    }
}

impl Record for StoredInstance {
    const SPACE: Space = INSTANCES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.account_identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let mut entries = vec![
            (INSTANCES_BY_CUSTOMER, key(&[&self.customer_identifier])),
            (INSTANCES_BY_PRODUCT, key(&[&self.product_identifier])),
        ];
        if self.state != InstanceState::Closed {
            entries.push((INSTANCES_NOT_CLOSED, key(&[&self.customer_identifier])));
        }
        entries.extend(self.alternative_account_number.iter().map(|n| (INSTANCES_BY_NUMBER, key(&[n]))));
        entries
    }
}

/// The last number that an account of a customer got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountCounter {
    /// The customer.
    pub customer: String,
    /// The last number.
    pub last: u32,
}

impl Record for AccountCounter {
    const SPACE: Space = ACCOUNT_COUNTERS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.customer])
    }
}
