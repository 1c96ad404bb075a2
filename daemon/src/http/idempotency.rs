//! `Idempotency-Key`: a repeated request gets the first answer again (`decisions.md` section 8).
//!
//! The answer is remembered in the transaction of the change itself, so a client who lost it learns for
//! certain how the request ended. The request is remembered only as a keyed hash under the key file, which is
//! in no store and no backup; so nothing that is kept allows a guess at a secret in its body (`identity.md`
//! section 13).

use super::reply::{Content, Reply};
use crate::ops::OrderName;
use crate::store::Tx;
use crate::store::records::{IDEMPOTENCY_BY_TIME, Remembered};
use mfa_shared::endpoint::percent_encode;
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::Params;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use warp::http::HeaderMap;

/// How long an answer is remembered.
const REMEMBERED_SECONDS: i64 = 24 * 60 * 60;
/// One request of so many clears forgotten answers away, and so many of them: if each did, requests at the
/// same time would all want to remove the same ones, and would have to wait for each other.
const CLEARING_ONE_OF: u8 = 8;
const CLEARED_AT_ONCE: usize = 32;
/// Longest key.
const KEY_LENGTH_MAX: usize = 255;

/// The purpose of the keyed hashes.
const PURPOSE: &str = "idempotency";

/// The parameters of a query string in the order of their names, each written in one way, so that requests
/// with equal ones are equal. One parameter of plain letters is as it came, and so is what cannot be decoded.
pub fn plain(query: &str) -> Cow<'_, str> {
    let params = Params::parse(query);
    if params.malformed() {
        return query.into();
    }
    let mut pairs: Vec<_> = params.pairs().iter().collect();
    // A stable order: which of two values of one name comes first may count.
    pairs.sort_by_key(|(name, _)| name);
    let written =
        pairs.iter().map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)));
    written.collect::<Vec<_>>().join("&").into()
}

/// The key of a request and a digest of everything that makes it that request.
#[derive(Clone)]
pub struct Repeatable {
    key: String,
    digest: [u8; 32],
}

impl std::fmt::Debug for Repeatable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repeatable").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Repeatable {
    /// Reads the key of a request, if it has one.
    pub fn read(headers: &HeaderMap, parts: &[&[u8]]) -> Result<Option<Self>, Fault> {
        let mut given = headers.get_all("idempotency-key").iter();
        let Some(value) = given.next() else { return Ok(None) };
        let bytes = value.as_bytes();
        let visible = bytes.iter().all(u8::is_ascii_graphic);
        if given.next().is_some() || bytes.is_empty() || bytes.len() > KEY_LENGTH_MAX || !visible {
            let detail = "Idempotency-Key must be given once, with 1 to 255 visible ASCII characters";
            return Err(Fault::new(fault::INVALID_IDEMPOTENCY_KEY, detail));
        }
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Ok(Some(Self { key: String::from_utf8_lossy(bytes).into_owned(), digest: digest.finalize().into() }))
    }

    /// The key that the client chose.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A name of this request, the same each time it comes, by which work that takes many transactions knows
    /// what it has done for it.
    pub fn order(&self, tx: &Tx<'_>, caller: &str) -> Result<OrderName, Fault> {
        let request = [caller.as_bytes(), b"\0", self.key.as_bytes(), b"\0", &self.digest].concat();
        Ok(OrderName::new(tx.hashes(PURPOSE, &request)?))
    }

    /// The first answer to this request, if there was one; a fault if the key was used for another.
    pub fn recall(&self, tx: &mut Tx<'_>, caller: &str) -> Result<Option<Reply>, Fault> {
        Ok(self.first(tx, caller)?.map(again))
    }

    /// The same in a transaction that writes. Where several daemons share a database, its standby may lack an
    /// answer that is visible; so it is put once more, and this commit waits for the standby.
    pub fn recall_lasting(
        &self,
        tx: &mut Tx<'_>,
        caller: &str,
        shared: bool,
    ) -> Result<Option<Reply>, Fault> {
        let first = self.first(tx, caller)?;
        if let Some(first) = first.as_ref().filter(|_| shared) {
            tx.replace(first, first);
        }
        Ok(first.map(again))
    }

    /// What is remembered of this request.
    fn first(&self, tx: &mut Tx<'_>, caller: &str) -> Result<Option<Remembered>, Fault> {
        let Some(first) = tx.get::<Remembered>(&[caller, &self.key])? else { return Ok(None) };
        if first.at.plus_seconds(REMEMBERED_SECONDS) <= tx.now() {
            return Ok(None);
        }
        // What was remembered before a change of key is compared with that key.
        if !tx.hashes(PURPOSE, &self.digest)?.contains(&first.request) {
            let detail = "this Idempotency-Key was used for another request";
            return Err(Fault::new(fault::IDEMPOTENCY_KEY_REUSED, detail));
        }
        Ok(Some(first))
    }

    /// Remembers the answer, and forgets some that are too old.
    pub fn remember(&self, tx: &mut Tx<'_>, caller: &str, reply: &Reply) -> Result<(), Fault> {
        if crate::random::is_one_of(CLEARING_ONE_OF) {
            self.forget_old(tx)?;
        }
        // There is a hash under each key, that of the key in use first.
        let request = tx.hashes(PURPOSE, &self.digest)?.swap_remove(0);
        tx.put(&Remembered {
            caller: caller.to_owned(),
            key: self.key.clone(),
            request,
            at: tx.now(),
            status: reply.status,
            content_type: reply.content_type.clone(),
            headers: reply.headers.clone(),
            body: String::from_utf8_lossy(reply.bytes()).into_owned(),
        })
    }

    fn forget_old(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let until = tx.now().plus_seconds(-REMEMBERED_SECONDS);
        for old in tx.expired::<Remembered>(IDEMPOTENCY_BY_TIME, until, CLEARED_AT_ONCE)? {
            tx.remove(&old);
        }
        Ok(())
    }
}

/// The answer to a repeated request.
fn again(first: Remembered) -> Reply {
    let Remembered { status, content_type, mut headers, body, .. } = first;
    headers.push(("idempotency-replayed".to_owned(), "true".to_owned()));
    Reply { status, content_type, headers, content: Content::Bytes(body.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parameters_are_written_in_one_way() {
        for (query, written) in [
            ("", ""),
            ("command=ACTIVE", "command=ACTIVE"),
            ("date=2031-05-06", "date=2031-05-06"),
            ("b=1&a=2", "a=2&b=1"),
            ("a=%64&b=x+y", "a=d&b=x%20y"),
            ("b=2&a=1&b=1", "a=1&b=2&b=1"),
            ("%61&&b=%26%3D", "a=&b=%26%3D"),
            ("b=1&a=%zz", "b=1&a=%zz"),
        ] {
            assert_eq!(plain(query), written, "{query}");
        }
    }
}
