//! A request without its body, and the identifier that it has.

use super::noted::Noted;
use crate::random;
use mfa_shared::time::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use warp::http::{HeaderMap, Method};

/// Longest request identifier that is taken over.
const REQUEST_ID_LENGTH_MAX: usize = 128;

/// A request without its body.
#[derive(Debug, Clone)]
pub struct Head {
    /// Method as sent.
    pub method: Method,
    /// Path as sent.
    pub path: String,
    /// Query string as sent.
    pub query: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Identifier of the request.
    pub request_id: String,
    /// Address of the client.
    pub origin: IpAddr,
    /// What the log shows of it.
    pub noted: Arc<Noted>,
    /// Its place in a batch.
    pub place: Option<i64>,
}

/// The request's own identifier where it is a sane one, else a new one of this moment.
pub(super) fn request_id(headers: &HeaderMap, now: Timestamp) -> String {
    let sent = headers.get("x-request-id").and_then(|value| value.to_str().ok());
    let sane = |id: &&str| {
        (1..=REQUEST_ID_LENGTH_MAX).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'))
    };
    sent.filter(sane).map_or_else(|| random::hex_at::<6>(now), str::to_owned)
}
