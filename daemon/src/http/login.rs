//! `POST /token`: the only request that is no single transaction, because a password is compared between
//! looking its user up and beginning the session. Contract: `identity.md` section 6.

use super::answer::Head;
use super::heavy::Lane;
use super::reply::{CACHE_CONTROL, Reply};
use super::state::State;
use crate::ops::listing::json;
use crate::ops::sessions::Fresh;
use crate::ops::{assertions, login, sessions};
use crate::store::Tx;
use mfa_shared::api::tokens::{Token, TokenRequest};
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Body, RawBody};
use std::sync::Arc;

/// How often a login is tried again because the password changed meanwhile.
const TRIES: usize = 3;

/// Gives a token, or says why not.
pub async fn answer(state: &Arc<State>, head: &Head, raw: &RawBody<'_>) -> Result<Reply, Fault> {
    let token = match TokenRequest::read(raw)? {
        TokenRequest::Password { username, password } => by_password(state, head, username, password).await,
        TokenRequest::Refresh { refresh_token } => by_refresh(state, head, refresh_token).await,
        TokenRequest::Assertion { assertion, scope } => by_assertion(state, head, assertion, scope).await,
    };
    let mut reply = Reply::json(json(&token?));
    reply.headers.push((CACHE_CONTROL.to_owned(), "no-store".to_owned()));
    Ok(reply)
}

async fn by_password(
    state: &Arc<State>,
    head: &Head,
    username: String,
    password: String,
) -> Result<Token, Fault> {
    let (username, password) = (Arc::new(username), Arc::new(password));
    let (fresh, lifetimes, from) = (Fresh::draw(head.origin), state.lifetimes(), head.origin);
    for _ in 0..TRIES {
        let (name, noted) = (username.clone(), head.noted.clone());
        let look = move |tx: &mut Tx<'_>| {
            noted.actor(if login::is_user(tx, &name)? { &name } else { "unknown" });
            login::candidate(tx, &name, from)
        };
        let candidate = state.store.read(false, look).await?;
        let (compared, plain) = (candidate.clone(), password.clone());
        let fits = state.heavy.run(Lane::Logins, head.origin, move || compared.fits(&plain)).await?;
        let (name, fresh) = (username.clone(), fresh.clone());
        let log_in =
            move |tx: &mut Tx<'_>| login::log_in(tx, (&name, from), &candidate, fits, lifetimes, &fresh);
        if let Some(token) = state.store.write(&head.request_id, log_in).await? {
            return Ok(token);
        }
    }
    Err(login::login_failed())
}

async fn by_refresh(state: &Arc<State>, head: &Head, refresh_token: String) -> Result<Token, Fault> {
    let invalid = || Fault::new(fault::REFRESH_TOKEN_INVALID, "the session has ended: log in again");
    let hash = sessions::refresh_hash(&refresh_token).ok_or_else(invalid)?;
    let (fresh, lifetimes) = (Fresh::draw(head.origin), state.lifetimes());
    let (noted, shared) = (head.noted.clone(), state.clone());
    let refresh = move |tx: &mut Tx<'_>| {
        let idle = (shared.callers.uses(), shared.config.session_idle_seconds);
        let token = sessions::refresh(tx, &hash, lifetimes, &fresh, idle)?.ok_or_else(invalid)?;
        noted.actor(tx.actor());
        Ok(token)
    };
    state.store.write(&head.request_id, refresh).await
}

/// Assertions that are refused count for the address from which they come.
async fn by_assertion(
    state: &Arc<State>,
    head: &Head,
    assertion: String,
    scope: Option<String>,
) -> Result<Token, Fault> {
    let from = head.origin;
    state.store.read(false, move |tx| login::check_address(tx, from)).await?;
    let answer = signed_in(state, head, assertion, scope).await;
    if answer.as_ref().is_err_and(|fault| fault.kind == fault::ASSERTION_INVALID) {
        let count = move |tx: &mut Tx<'_>| {
            tx.set_actor("guest");
            login::count_for_address(tx, from)
        };
        state.store.write(&head.request_id, count).await?;
    }
    answer
}

async fn signed_in(
    state: &Arc<State>,
    head: &Head,
    assertion: String,
    scope: Option<String>,
) -> Result<Token, Fault> {
    let claimed = assertions::claimed(&assertion)?;
    let key = state.store.read(false, move |tx| assertions::key(tx, &claimed)).await?;
    let (now, audiences) = (state.store.clock().now(), state.audiences());
    let check = move || assertions::check(&assertion, key, now, &audiences);
    let checked = state.heavy.run(Lane::Assertions, head.origin, check).await??;
    let (fresh, lifetimes) = (Fresh::draw(head.origin), state.lifetimes());
    let noted = head.noted.clone();
    let accept = move |tx: &mut Tx<'_>| {
        let token = assertions::accept(tx, &checked, scope.as_deref(), lifetimes, &fresh)?;
        noted.actor(tx.actor());
        Ok(token)
    };
    state.store.write(&head.request_id, accept).await
}
