//! New customers who may exist already, as the daemon reports them.

use super::Client;
use serde_json::Value;
use std::sync::PoisonError;

/// The header by which the daemon names customers who may be the same person as a new one.
pub(super) const HEADER: &str = "possible-duplicates";

/// A new customer and those who may be the same person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicates {
    /// Identifier of the new customer.
    pub customer: String,
    /// Identifiers of the others.
    pub others: Vec<String>,
}

impl Client {
    /// Notes who may be the same person as the customer of a body.
    pub(super) fn note_duplicates(&self, body: &Value, others: Vec<String>) {
        let customer = body["identifier"].as_str().unwrap_or_default().to_owned();
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.duplicates.push(Duplicates { customer, others });
    }

    /// What was noted about the changes of this command, in its order.
    pub fn take_duplicates(&self) -> Vec<Duplicates> {
        std::mem::take(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner).duplicates)
    }
}
