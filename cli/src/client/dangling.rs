//! Dangling references of changes, as the daemon reports them.

use super::Client;
use super::duplicates::{self, Duplicates};
use mfa_shared::api::batch::OperationResult;
use mfa_shared::endpoint::percent_decode;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::sync::PoisonError;

/// The header by which the daemon names fields of a body, as JSON pointers.
const HEADER: &str = "dangling-references";

/// A field of a body that names what does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dangling {
    /// The field, as a JSON pointer.
    pub field: String,
    pub name: Option<String>,
    /// Whether others were sent after it, which may have made what it names.
    among_others: bool,
}

/// What was noted about the changes of a command.
#[derive(Debug, Default)]
pub(super) struct Noted {
    found: Vec<Dangling>,
    /// What the user has agreed to; it is not reported again.
    agreed: HashSet<Dangling>,
    /// New customers who may exist already.
    pub(super) duplicates: Vec<Duplicates>,
}

impl fmt::Display for Dangling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tense = if self.among_others { "did not exist when it was sent" } else { "does not exist" };
        match &self.name {
            Some(name) => write!(f, "{} names \"{name}\", which {tense}", self.field),
            None => write!(f, "{} names what {tense}", self.field),
        }
    }
}

impl Client {
    /// Notes what the answer to a change reports.
    pub(super) fn note_answer(&self, headers: &HeaderMap, body: Option<&[u8]>) {
        let given = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let (fields, others) = (given(HEADER), given(duplicates::HEADER));
        if fields.or(others).is_none() {
            return;
        }
        let body: Value = body.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        if let Some(fields) = fields {
            self.note(fields.split(", "), &body, false);
        }
        if let Some(others) = others {
            self.note_duplicates(&body, others.split(", ").filter_map(percent_decode).collect());
        }
    }

    /// Notes what the result of one operation of a batch reports.
    pub(super) fn note_result(&self, operation: &str, result: &OperationResult) {
        let body = || serde_json::from_str(operation).map_or(Value::Null, |sent: Value| sent["body"].clone());
        if let Some(fields) = &result.dangling_references {
            self.note(fields.iter().map(String::as_str), &body(), true);
        }
        if let Some(others) = &result.possible_duplicates {
            self.note_duplicates(&body(), others.clone());
        }
    }

    fn note<'a>(&self, fields: impl Iterator<Item = &'a str>, body: &Value, among_others: bool) {
        let named = fields.map(|field| {
            let name = body.pointer(field).and_then(Value::as_str).map(str::to_owned);
            Dangling { field: field.to_owned(), name, among_others }
        });
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<_> = named.filter(|dangling| !noted.agreed.contains(dangling)).collect();
        noted.found.extend(new);
    }

    /// Notes what the user has agreed to.
    pub(super) fn agree_to(&self, dangling: Vec<Dangling>) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).agreed.extend(dangling);
    }

    /// What was noted about the changes of this command, in its order.
    pub fn take_dangling(&self) -> Vec<Dangling> {
        std::mem::take(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner).found)
    }
}
