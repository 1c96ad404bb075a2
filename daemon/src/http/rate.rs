//! How often a token and an address may ask, so that no single caller can take the time of all others.
//!
//! Each has a bucket of requests that fills again evenly. A request is counted before any work is done for
//! it, with one exception: a token without a bucket is looked up first, because only one that is live may
//! have a bucket. Requests without a live token count for their address. So made-up tokens cost no memory.

use super::access::AccessRequest;
use super::head::Head;
use super::metrics;
use super::route::{Handler, Look, Route};
use super::state::State;
use crate::domain::network::client_of;
use crate::domain::rate::{Bucket, Limit};
use mfa_shared::fault::{self, Fault};
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;

/// Counts a request, and refuses it where its address or its token has asked too often.
pub async fn count(
    state: &Arc<State>,
    head: &Head,
    asked: &AccessRequest,
    route: Option<&Route>,
) -> Result<(), Fault> {
    if route.is_some_and(answers_always) {
        return Ok(());
    }
    let address = client_of(head.origin);
    // Who may watch over the daemon can do so however much comes from the same address.
    let watches = route.is_some_and(Route::watches);
    if watches && metrics::is_open_to(state, head) {
        return Ok(());
    }
    if !watches {
        take(state, head, Bucket::Address, &address)?;
    }
    match live_token(state, head, asked).await? {
        Some(_) if watches => Ok(()),
        Some(token) => take(state, head, Bucket::Token, &token),
        None => take(state, head, Bucket::Unauthenticated, &address),
    }
}

/// Counts what only asks which methods a path has: it comes without a token from every browser.
pub fn count_options(state: &State, head: &Head) -> Result<(), Fault> {
    take(state, head, Bucket::Address, &client_of(head.origin))
}

/// Counts the operations of a batch beside its own request. They were read already, so they are not refused,
/// but the next request waits for them.
pub fn count_more(state: &State, head: &Head, asked: &AccessRequest, operations: u64) {
    let now = state.store.clock().elapsed();
    let address = client_of(head.origin);
    let limit = |bucket| state.config.rates.limit(bucket, head.origin);
    if let Some(limit) = limit(Bucket::Address) {
        state.buckets.owe(Bucket::Address, &address, limit, operations, now);
    }
    let token = asked.token.as_deref().filter(|token| state.buckets.has(Bucket::Token, token));
    match (token, limit(Bucket::Token), limit(Bucket::Unauthenticated)) {
        (Some(token), Some(limit), _) => state.buckets.owe(Bucket::Token, &token, limit, operations, now),
        (None, _, Some(limit)) => {
            state.buckets.owe(Bucket::Unauthenticated, &address, limit, operations, now);
        }
        _ => {}
    }
}

/// Counts what is neither a login nor sent with a token: a refresh, or a request for a token that is none.
pub fn count_stranger(state: &State, head: &Head) -> Result<(), Fault> {
    take(state, head, Bucket::Unauthenticated, &client_of(head.origin))
}

/// Health checks are always answered, and logins have queues and limits of their own.
pub fn answers_always(route: &Route) -> bool {
    matches!(route.handler, Handler::Status(Look::Live | Look::Ready) | Handler::Login)
}

/// The token of a request, if it is live.
async fn live_token<'a>(
    state: &Arc<State>,
    head: &Head,
    asked: &'a AccessRequest,
) -> Result<Option<&'a str>, Fault> {
    let limited = |bucket| state.config.rates.limit(bucket, head.origin).is_some();
    let Some(token) = asked.token.as_deref() else { return Ok(None) };
    let known = state.buckets.has(Bucket::Token, &token);
    if known || !limited(Bucket::Token) && !limited(Bucket::Unauthenticated) {
        return Ok(Some(token));
    }
    let shared = state.clone();
    let hash = token.to_owned();
    let found = state.store.read(false, move |tx| shared.callers.find(tx, &hash)).await?;
    Ok(found.map(|_| token))
}

fn take(state: &State, head: &Head, bucket: Bucket, key: &impl Hash) -> Result<(), Fault> {
    let Some(limit) = state.config.rates.limit(bucket, head.origin) else { return Ok(()) };
    let taken = state.buckets.take(bucket, key, limit, state.store.clock().elapsed());
    match taken {
        Ok(standing) => {
            head.noted.standing(standing);
            Ok(())
        }
        Err(standing) => {
            head.noted.standing(standing);
            state.counts.limited(bucket);
            Err(too_many(bucket, limit, head.origin).retry_after(standing.seconds()))
        }
    }
}

fn too_many(bucket: Bucket, limit: Limit, origin: IpAddr) -> Fault {
    let who = match bucket {
        Bucket::Address => format!("{origin} has sent"),
        Bucket::Unauthenticated => format!("{origin} has sent, without a valid access token,"),
        Bucket::Token => "this access token has sent".to_owned(),
    };
    let Limit { a_second, seconds } = limit;
    let detail = format!("{who} more than {a_second} requests a second over {seconds} s");
    Fault::new(fault::TOO_MANY_REQUESTS, detail)
}
