//! `Idempotency-Key`: a repeated request gets the first answer again (`decisions.md` section 8).
//!
//! The answer is remembered in the transaction of the change itself, so a client who lost it learns for
//! certain what became of the request. The body is remembered only as a keyed hash.

use super::reply::{Content, Reply};
use crate::store::Tx;
use crate::store::engine::Space;
use crate::store::record::{Record, key, moment};
use crate::store::records::{IDEMPOTENCY, IDEMPOTENCY_BY_TIME};
use hmac::{Hmac, KeyInit, Mac};
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use warp::http::HeaderMap;

/// How long an answer is remembered.
const REMEMBERED_SECONDS: i64 = 24 * 60 * 60;
/// One request of so many clears forgotten answers away, and so many of them: if each did, requests at the
/// same time would all want to remove the same ones, and would have to wait for each other.
const CLEARING_ONE_OF: u8 = 8;
const CLEARED_AT_ONCE: usize = 32;
/// Longest key.
const KEY_LENGTH_MAX: usize = 255;

/// An answer that is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remembered {
    caller: String,
    key: String,
    request: String,
    at: Timestamp,
    status: u16,
    content_type: Option<String>,
    headers: Vec<(String, String)>,
    body: String,
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

/// The key of a request and the hash of everything that makes it that request.
#[derive(Debug, Clone)]
pub struct Repeatable {
    key: String,
    request: String,
}

impl Repeatable {
    /// Reads the key of a request, if it has one.
    pub fn read(headers: &HeaderMap, secret: &[u8], parts: &[&[u8]]) -> Result<Option<Self>, Fault> {
        let mut given = headers.get_all("idempotency-key").iter();
        let Some(value) = given.next() else { return Ok(None) };
        let bytes = value.as_bytes();
        let visible = bytes.iter().all(u8::is_ascii_graphic);
        if given.next().is_some() || bytes.is_empty() || bytes.len() > KEY_LENGTH_MAX || !visible {
            let detail = "Idempotency-Key must be given once, with 1 to 255 visible ASCII characters";
            return Err(Fault::new(fault::INVALID_IDEMPOTENCY_KEY, detail));
        }
        // HMAC takes keys of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes any key");
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        let hash = mac.finalize().into_bytes();
        let request = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(Self { key: String::from_utf8_lossy(bytes).into_owned(), request }))
    }

    /// The first answer to this request, if there was one; a fault if the key was used for another.
    pub fn recall(&self, tx: &mut Tx<'_>, caller: &str) -> Result<Option<Reply>, Fault> {
        let Some(first) = tx.get::<Remembered>(&[caller, &self.key])? else { return Ok(None) };
        if first.at.plus_seconds(REMEMBERED_SECONDS) <= tx.now() {
            return Ok(None);
        }
        if first.request != self.request {
            let detail = "this Idempotency-Key was used for another request";
            return Err(Fault::new(fault::IDEMPOTENCY_KEY_REUSED, detail));
        }
        let mut headers = first.headers;
        headers.push(("idempotency-replayed".to_owned(), "true".to_owned()));
        let content = Content::Bytes(first.body.into());
        Ok(Some(Reply { status: first.status, content_type: first.content_type, headers, content }))
    }

    /// Remembers the answer, and forgets some that are too old.
    pub fn remember(&self, tx: &mut Tx<'_>, caller: &str, reply: &Reply) -> Result<(), Fault> {
        if crate::random::bytes::<1>()[0].is_multiple_of(CLEARING_ONE_OF) {
            self.forget_old(tx)?;
        }
        tx.put(&Remembered {
            caller: caller.to_owned(),
            key: self.key.clone(),
            request: self.request.clone(),
            at: tx.now(),
            status: reply.status,
            content_type: reply.content_type.clone(),
            headers: reply.headers.clone(),
            body: String::from_utf8_lossy(reply.bytes()).into_owned(),
        })
    }

    fn forget_old(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let until = tx.now().plus_seconds(-REMEMBERED_SECONDS);
        for old in tx.before::<Remembered>(IDEMPOTENCY_BY_TIME, until, CLEARED_AT_ONCE)? {
            tx.remove(&old);
        }
        Ok(())
    }
}
