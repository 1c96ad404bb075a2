//! `POST /token`: the only request that is no single transaction, because a password is compared between
//! looking its user up and beginning the session. Contract: `identity.md` section 6.

use super::counts;
use super::head::Head;
use super::heavy::Lane;
use super::rate;
use super::reply::{CACHE_CONTROL, Reply};
use super::state::State;
use super::trail::Trail;
use crate::ops::assertions::Checked;
use crate::ops::attempts;
use crate::ops::listing::json;
use crate::ops::sessions::Fresh;
use crate::ops::{assertions, callers, login, sessions};
use crate::store::Tx;
use mfa_shared::api::tokens::{CreateToken, Token, TokenRequest};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Body, RawBody};
use std::sync::Arc;

/// How often a login is tried again because the password changed meanwhile.
const TRIES: usize = 3;

/// Issues a token, or returns why not.
pub async fn answer(state: &Arc<State>, head: &Head, raw: &RawBody<'_>) -> Result<Reply, Fault> {
    let request = match TokenRequest::read(raw) {
        Ok(request @ TokenRequest::Refresh { .. }) => {
            rate::count_stranger(state, head)?;
            request
        }
        Ok(request) => request,
        Err(fault) => {
            rate::count_stranger(state, head)?;
            return Err(fault);
        }
    };
    let grant = counts::grant(&request);
    let token = match request {
        TokenRequest::Password { username, password, otp } => {
            by_password(state, head, username, password, otp).await
        }
        TokenRequest::Refresh { refresh_token } => by_refresh(state, head, refresh_token).await,
        TokenRequest::Assertion { assertion, scope } => by_assertion(state, head, assertion, scope).await,
    };
    state.counts.login(grant, token.as_ref().err());
    let token = token?;
    let mut body = serde_json::to_value(&token).unwrap_or_default();
    if must_set_up_factor(state, &token).await? {
        body["second_factor_setup_required"] = true.into();
    }
    let mut reply = Reply::json(json(&body));
    reply.headers.push((CACHE_CONTROL.to_owned(), "no-store".to_owned()));
    Ok(reply)
}

/// Whether a fresh token only allows setting up a second factor.
async fn must_set_up_factor(state: &Arc<State>, token: &Token) -> Result<bool, Fault> {
    if state.config.second_factor_roles.is_empty() {
        return Ok(false);
    }
    let shared = state.clone();
    let hash = callers::access_hash(&token.access_token);
    let look = move |tx: &mut Tx<'_>| match &hash {
        Some(hash) => Ok(shared.callers.find(tx, hash)?.is_some_and(|caller| caller.must_set_up_factor)),
        None => Ok(false),
    };
    state.store.read(false, look).await
}

/// The audit record of a login.
fn trail(head: &Head) -> Arc<Trail> {
    Arc::new(Trail::of(head, CreateToken::META, &[], None))
}

async fn by_password(
    state: &Arc<State>,
    head: &Head,
    username: String,
    password: String,
    otp: Option<String>,
) -> Result<Token, Fault> {
    let username = Arc::new(username);
    let password = Arc::new(password);
    let fresh = Fresh::draw(head.origin);
    let lifetimes = state.lifetimes();
    let from = head.origin;
    let trail = trail(head);
    for _ in 0..TRIES {
        let name = username.clone();
        let noted = head.noted.clone();
        let look = move |tx: &mut Tx<'_>| {
            noted.actor(if login::is_user(tx, &name)? { &name } else { "unknown" });
            login::candidate(tx, &name, from)
        };
        let candidate = state.store.read(false, look).await?;
        let compared = candidate.clone();
        let plain = password.clone();
        let fits = state.heavy.run(Lane::Logins, head.origin, move || compared.fits(&plain)).await?;
        let name = username.clone();
        let fresh = fresh.clone();
        let otp = otp.clone();
        let trail = trail.clone();
        let log_in = move |tx: &mut Tx<'_>| {
            let shown = login::Shown { fits, otp: otp.as_deref() };
            let token = login::log_in(tx, (&name, from), &candidate, &shown, lifetimes, &fresh)?;
            if token.is_some() {
                trail.record_login(tx, Some(&name), None);
            }
            Ok(token)
        };
        if let Some(token) = state.store.write(&head.request_id, log_in).await? {
            return Ok(token);
        }
    }
    Err(login::login_failed())
}

async fn by_refresh(state: &Arc<State>, head: &Head, refresh_token: String) -> Result<Token, Fault> {
    let invalid = || Fault::new(fault::REFRESH_TOKEN_INVALID, "the session has ended: log in again");
    let hash = sessions::refresh_hash(&refresh_token).ok_or_else(invalid)?;
    let fresh = Fresh::draw(head.origin);
    let lifetimes = state.lifetimes();
    let noted = head.noted.clone();
    let shared = state.clone();
    let trail = trail(head);
    let refresh = move |tx: &mut Tx<'_>| {
        let idle = (shared.callers.uses(), shared.config.session_idle_seconds);
        let token = sessions::refresh(tx, &hash, lifetimes, &fresh, idle)?;
        // Whose token was spent before is known, too.
        let user = Some(tx.actor().to_owned()).filter(|user| !user.is_empty());
        user.iter().for_each(|user| noted.actor(user));
        let token = token.ok_or_else(invalid)?;
        trail.record_login(tx, user.as_deref(), None);
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
    state.store.read(false, move |tx| attempts::check_address(tx, from)).await?;
    let refused = match signed_in(state, head, assertion, scope).await {
        Err(fault) if fault.kind == fault::ASSERTION_INVALID => fault,
        answer => return answer,
    };
    let count = move |tx: &mut Tx<'_>| {
        tx.set_actor("guest");
        attempts::count_for_address(tx, from)
    };
    let locked = state.store.write(&head.request_id, count).await?;
    Err(refused.locking(locked))
}

async fn signed_in(
    state: &Arc<State>,
    head: &Head,
    assertion: String,
    scope: Option<String>,
) -> Result<Token, Fault> {
    let claimed = assertions::claimed(&assertion)?;
    let key = state.store.read(false, move |tx| assertions::key(tx, &claimed)).await?;
    let now = state.store.clock().now();
    let audiences = state.audiences();
    let check = move || assertions::check(&assertion, key, now, &audiences);
    let proven = state.heavy.run(Lane::Assertions, head.origin, check).await??;
    let signed_by = callers::actor(None, Some(&proven.application));
    let given = give(state, head, proven.checked, scope).await;
    // Where it was given, the user for whom it is is named, too.
    given.inspect_err(|_| head.noted.actor(&signed_by))
}

/// Gives the token to an application whose signature is right.
async fn give(
    state: &Arc<State>,
    head: &Head,
    checked: Result<Checked, Fault>,
    scope: Option<String>,
) -> Result<Token, Fault> {
    let checked = checked?;
    let fresh = Fresh::draw(head.origin);
    let lifetimes = state.lifetimes();
    let trail = trail(head);
    let accept = move |tx: &mut Tx<'_>| {
        let token = assertions::accept(tx, &checked, scope.as_deref(), lifetimes, &fresh)?;
        trail.record_login(tx, checked.subject(), Some(checked.application()));
        Ok((token, tx.actor().to_owned()))
    };
    let (token, actor) = state.store.write(&head.request_id, accept).await?;
    head.noted.actor(&actor);
    Ok(token)
}
