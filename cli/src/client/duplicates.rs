//! New customers who may exist already, as the daemon reports them.

use super::Client;
use mfa_shared::api::batch::OperationResult;
use mfa_shared::endpoint::percent_decode;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::sync::PoisonError;

/// The header by which the daemon names customers who may be the same person as a new one.
const HEADER: &str = "possible-duplicates";

/// A new customer and those who may be the same person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicates {
    /// Identifier of the new customer.
    pub customer: String,
    /// Identifiers of the others.
    pub others: Vec<String>,
}

impl Client {
    /// Notes what the answer to a change reports.
    pub(super) fn note_duplicates(&self, headers: &HeaderMap, body: Option<&[u8]>) {
        let Some(others) = headers.get(HEADER).and_then(|value| value.to_str().ok()) else { return };
        let body: Value = body.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        let others = others.split(", ").filter_map(percent_decode).collect();
        self.note_alike(&body, others);
    }

    /// Notes what the result of one operation of a batch reports.
    pub(super) fn note_duplicates_of(&self, operation: &str, result: &OperationResult) {
        if let Some(others) = &result.possible_duplicates {
            let operation: Value = serde_json::from_str(operation).unwrap_or_default();
            self.note_alike(&operation["body"], others.clone());
        }
    }

    fn note_alike(&self, body: &Value, others: Vec<String>) {
        let customer = body["identifier"].as_str().unwrap_or_default().to_owned();
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.duplicates.push(Duplicates { customer, others });
    }

    /// What was noted about the changes of this command, in its order.
    pub fn take_duplicates(&self) -> Vec<Duplicates> {
        std::mem::take(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner).duplicates)
    }
}
