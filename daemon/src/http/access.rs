//! Who asks, and may they? Decided from data, in the transaction of the request.

use super::head::Head;
use super::noted::Noted;
use super::state::State;
use crate::config::Auth;
use crate::ops::access::decide;
use crate::ops::{Caller, callers};
use crate::store::Tx;
use crate::store::engine::Space;
use mfa_shared::endpoint::Meta;
use mfa_shared::fault::{self, Fault};
use std::sync::Arc;
use warp::http::header::AUTHORIZATION;
use warp::http::{HeaderMap, Method as HttpMethod};

/// What a request says about its sender, and what it wants to do.
#[derive(Debug, Clone)]
pub struct AccessRequest {
    /// The row, where the path and method name one.
    pub meta: Option<Meta>,
    /// Whether only the headers of the answer are wanted.
    pub head: bool,
    /// The segments of the path, decoded, without an old prefix.
    pub segments: Vec<String>,
    /// The hash of the access token, where there is exactly one that looks like one.
    pub token: Option<String>,
    /// What the log shows of the request.
    pub noted: Arc<Noted>,
}

impl AccessRequest {
    /// What a request asks for.
    pub fn new(head: &Head, meta: Option<Meta>, segments: Vec<String>) -> Self {
        let is_head = head.method == HttpMethod::HEAD;
        let token = token(&head.headers);
        Self { meta, head: is_head, segments, token, noted: head.noted.clone() }
    }
}

/// The hash of the token of exactly one `Authorization: Bearer` header.
fn token(headers: &HeaderMap) -> Option<String> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { callers::access_hash(token.trim()) } else { None }
}

/// The caller, if the request is allowed.
pub fn admit(state: &State, tx: &mut Tx<'_>, asked: &AccessRequest) -> Result<Arc<Caller>, Fault> {
    let caller = identify(state, tx, asked)?;
    if !tx.is_rehearsal() {
        asked.noted.caller(&caller);
    }
    permit(state, &caller, asked)?;
    Ok(caller)
}

/// The records by which the sender is known again.
pub fn places(state: &State, asked: &AccessRequest) -> Vec<(Space, Vec<u8>)> {
    asked.token.as_deref().map_or_else(Vec::new, |hash| state.callers.places(hash))
}

/// Who asks.
fn identify(state: &State, tx: &mut Tx<'_>, asked: &AccessRequest) -> Result<Arc<Caller>, Fault> {
    let caller = match &asked.token {
        Some(hash) => state.callers.find(tx, hash)?,
        None => None,
    };
    if let (Some(hash), None, false) = (&asked.token, &caller, tx.is_rehearsal()) {
        state.buckets.forget(hash);
    }
    if state.config.auth == Auth::Off {
        let caller = caller.map(Arc::unwrap_or_clone);
        return Ok(Arc::new(caller.map_or_else(Caller::guest, Caller::unchecked)));
    }
    caller.ok_or_else(|| {
        Fault::new(fault::UNAUTHENTICATED, "this needs a login: there is no valid access token")
    })
}

/// Refuses what the caller may not do.
pub fn permit(state: &State, caller: &Caller, asked: &AccessRequest) -> Result<(), Fault> {
    let Some(meta) = asked.meta.as_ref().filter(|_| state.config.auth == Auth::On) else { return Ok(()) };
    let segments: Vec<_> = asked.segments.iter().map(String::as_str).collect();
    decide(caller, meta, asked.head, &segments)
}
