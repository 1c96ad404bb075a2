//! Customers and their lifecycle commands.

use super::{CUSTOMER_COMMANDS, CUSTOMERS, CUSTOMERS_BY_EMPLOYEE, CUSTOMERS_BY_OFFICE};
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::api::customers::{Customer, CustomerCommandRecord};
use serde::{Deserialize, Serialize};

/// A customer is stored as reads show it; [`Record`] says what that means for a new field.
impl Record for Customer {
    const SPACE: Space = CUSTOMERS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let office = self.assigned_office.iter().map(|office| (CUSTOMERS_BY_OFFICE, key(&[office])));
        let employee =
            self.assigned_employee.iter().map(|employee| (CUSTOMERS_BY_EMPLOYEE, key(&[employee])));
        office.chain(employee).collect()
    }
}

/// A lifecycle command that was carried out on a customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCommand {
    /// The customer.
    pub customer: String,
    /// Its place among the commands of the customer, from 1.
    pub number: u64,
    /// The command as reads show it.
    pub record: CustomerCommandRecord,
    /// Whether the customer had been activated once by then; commands of earlier programs do not say it.
    #[serde(default)]
    pub was_activated: Option<bool>,
}

impl Record for StoredCommand {
    const SPACE: Space = CUSTOMER_COMMANDS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.customer], self.number)
    }
}
