//! References of changes that lead nowhere, as the daemon tells them.

use super::Client;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::sync::PoisonError;

/// The header by which the daemon names fields of a body, as JSON pointers.
const HEADER: &str = "dangling-references";

impl Client {
    /// Notes what is to be said about the answer to a change.
    pub(super) fn note_dangling(&self, headers: &HeaderMap, body: Option<&[u8]>) {
        let Some(pointers) = headers.get(HEADER).and_then(|value| value.to_str().ok()) else { return };
        let body: Value = body.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        let told = pointers.split(", ").map(|pointer| match body.pointer(pointer).and_then(Value::as_str) {
            Some(name) => format!("{pointer} names \"{name}\", which does not exist"),
            None => format!("{pointer} names what does not exist"),
        });
        self.dangling.lock().unwrap_or_else(PoisonError::into_inner).extend(told);
    }

    /// What is to be said about the changes of this command.
    pub fn take_dangling(&self) -> Vec<String> {
        std::mem::take(&mut *self.dangling.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
