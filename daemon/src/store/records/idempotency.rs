//! Answers that are remembered for requests with an idempotency key.

use super::{IDEMPOTENCY, IDEMPOTENCY_BY_TIME};
use crate::store::engine::Space;
use crate::store::record::{Record, key, moment};
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An answer that is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remembered {
    /// Who asked.
    pub caller: String,
    /// The idempotency key.
    pub key: String,
    /// Keyed hash of the request, secrets left out.
    pub request: String,
    /// When.
    pub at: Timestamp,
    /// HTTP status.
    pub status: u16,
    /// Content type, where there is a body.
    pub content_type: Option<String>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Record for Remembered {
    const SPACE: Space = IDEMPOTENCY;
    fn key(&self) -> Vec<u8> {
        key(&[&self.caller, &self.key])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(IDEMPOTENCY_BY_TIME, key(&[&moment(self.at)]))]
    }
}
