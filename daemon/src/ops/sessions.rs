//! Sessions and tokens: how they begin, go on and end. Contract: `identity.md` section 6.

use super::last_use::LastUse;
use crate::domain::token::{self, Kind, Lifetimes, Refresh, SESSIONS_MAX, Session, TOKEN_BYTES};
use crate::random;
use crate::store::Tx;
use crate::store::record::moment;
use crate::store::records::{
    ASSERTIONS_BY_TIME, KNOWN_ADDRESSES_BY_TIME, KnownAddress, LOGIN_ATTEMPTS_BY_TIME, SESSIONS_BY_TIME,
    StoredAttempts, StoredSession, StoredToken, StoredUser, TOKENS_BY_KEY, TOKENS_BY_SESSION, TOKENS_BY_TIME,
    TOKENS_BY_USER, TokenKind, UsedAssertion,
};
use mfa_shared::api::tokens::Token;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::net::IpAddr;

/// Records whose time is over that one login clears away: more than it makes, so that they never pile up.
const CLEARED_AT_ONCE: usize = 16;

/// The randomness of fresh tokens, and for whom they are. It is drawn once for each request, because a
/// transaction may run twice.
#[derive(Clone)]
pub struct Fresh {
    access: [u8; TOKEN_BYTES],
    refresh: [u8; TOKEN_BYTES],
    session: [u8; 8],
    /// Address of the client.
    origin: IpAddr,
}

impl std::fmt::Debug for Fresh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fresh").finish_non_exhaustive()
    }
}

impl Fresh {
    /// Draws it.
    pub fn draw(origin: IpAddr) -> Self {
        Self { access: random::bytes(), refresh: random::bytes(), session: random::bytes(), origin }
    }

    fn origin(&self) -> Option<String> {
        Some(self.origin.to_canonical().to_string())
    }
}

/// Begins a session.
pub fn begin(
    tx: &mut Tx<'_>,
    user: &StoredUser,
    lifetimes: Lifetimes,
    fresh: &Fresh,
) -> Result<Token, Fault> {
    clear_old(tx)?;
    let open = tx.all::<StoredSession>(&[&user.identifier])?;
    let over = (open.len() + 1).saturating_sub(SESSIONS_MAX);
    for oldest in &open[..over] {
        end(tx, &oldest.user, &oldest.name)?;
    }
    let session = Session::begin(tx.now(), lifetimes);
    let name = format!("{}-{:016x}", moment(tx.now()), u64::from_be_bytes(fresh.session));
    give(tx, user, &name, &session, lifetimes, fresh, fresh.origin())
}

/// When a session was used last.
pub fn last_use(session: &StoredSession, uses: &LastUse) -> Timestamp {
    session.last_used.max(uses.of(&session.name)).unwrap_or(session.began)
}

/// Whether a session ended because it was not used for so many seconds; 0 is never.
pub fn is_idle(session: &StoredSession, uses: &LastUse, idle_seconds: u32, now: Timestamp) -> bool {
    idle_seconds > 0 && last_use(session, uses).plus_seconds(idle_seconds.into()) <= now
}

/// Whether a text has the form of a refresh token; if so, the hash under which it is known.
pub fn refresh_hash(text: &str) -> Option<String> {
    Kind::Refresh.fits(text).then(|| token::hash(text))
}

/// Lets a session go on, with the hash of its refresh token. `None` where the token is unknown, expired or
/// spent; a spent one ends the session, because someone else has it.
pub fn refresh(
    tx: &mut Tx<'_>,
    hash: &str,
    lifetimes: Lifetimes,
    fresh: &Fresh,
    (uses, idle_seconds): (&LastUse, u32),
) -> Result<Option<Token>, Fault> {
    let Some(StoredToken { user: Some(user), kind: TokenKind::Refresh { session: name, rotation }, .. }) =
        tx.get(&[hash])?
    else {
        return Ok(None);
    };
    let (Some(stored), Some(user)) =
        (tx.get::<StoredSession>(&[&user, &name])?, tx.get::<StoredUser>(&[&user])?)
    else {
        return Ok(None);
    };
    if is_idle(&stored, uses, idle_seconds, tx.now()) {
        return Ok(None);
    }
    let origin = stored.origin;
    let session = Session { began: stored.began, ends: stored.ends, rotation: stored.rotation };
    match session.refresh(rotation, tx.now()) {
        Refresh::Rotated(session) => {
            tx.set_actor(&user.identifier);
            give(tx, &user, &name, &session, lifetimes, fresh, origin).map(Some)
        }
        Refresh::Over => Ok(None),
        Refresh::Reused => {
            tracing::warn!(user = user.identifier, "a spent refresh token came again; its session ends");
            tx.set_actor(&user.identifier);
            end(tx, &user.identifier, &name)?;
            tx.keep_when_refused();
            Ok(None)
        }
    }
}

/// Gives the tokens of a session, and stores it.
fn give(
    tx: &mut Tx<'_>,
    user: &StoredUser,
    name: &str,
    session: &Session,
    lifetimes: Lifetimes,
    fresh: &Fresh,
    origin: Option<String>,
) -> Result<Token, Fault> {
    let identifier = user.identifier.clone();
    let now = tx.now();
    tx.put(&StoredSession {
        user: identifier.clone(),
        name: name.to_owned(),
        began: session.began,
        ends: session.ends,
        rotation: session.rotation,
        origin,
        last_used: Some(now),
    })?;
    let access = Kind::Access.write(&fresh.access);
    let ends = session.access_ends(now, lifetimes);
    let kind = TokenKind::Access { session: name.to_owned() };
    put(tx, &access, Some(identifier.clone()), ends, kind)?;
    let refresh = if user.must_change_password {
        None
    } else {
        let refresh = Kind::Refresh.write(&fresh.refresh);
        let kind = TokenKind::Refresh { session: name.to_owned(), rotation: session.rotation };
        put(tx, &refresh, Some(identifier), session.ends, kind)?;
        Some(refresh)
    };
    Ok(answer(access, ends, now, refresh, user.must_change_password))
}

/// Gives a token to an application.
pub fn give_application(
    tx: &mut Tx<'_>,
    user: Option<String>,
    kind: TokenKind,
    lifetimes: Lifetimes,
    fresh: &Fresh,
) -> Result<Token, Fault> {
    clear_old(tx)?;
    let access = Kind::Access.write(&fresh.access);
    let now = tx.now();
    let ends = now.plus_seconds(lifetimes.access_seconds.into());
    let hash = token::hash(&access);
    let given = Some(now);
    tx.put(&StoredToken { hash, user, ends, kind, given, origin: fresh.origin() })?;
    Ok(answer(access, ends, now, None, false))
}

fn put(
    tx: &mut Tx<'_>,
    text: &str,
    user: Option<String>,
    ends: Timestamp,
    kind: TokenKind,
) -> Result<(), Fault> {
    tx.put(&StoredToken { hash: token::hash(text), user, ends, kind, given: None, origin: None })
}

fn answer(
    access_token: String,
    ends: Timestamp,
    now: Timestamp,
    refresh_token: Option<String>,
    password_change_required: bool,
) -> Token {
    Token {
        access_token,
        token_type: "Bearer".to_owned(),
        expires_in: token::expires_in_seconds(ends, now),
        refresh_token,
        password_change_required,
    }
}

/// Ends a session with its tokens.
pub fn end(tx: &mut Tx<'_>, user: &str, session: &str) -> Result<(), Fault> {
    if let Some(stored) = tx.get::<StoredSession>(&[user, session])? {
        tx.remove(&stored);
    }
    for token in tx.indexed::<StoredToken>(TOKENS_BY_SESSION, &[user, session])? {
        tx.remove(&token);
    }
    Ok(())
}

/// Ends all sessions of a user.
pub fn end_sessions_of_user(tx: &mut Tx<'_>, user: &str) -> Result<(), Fault> {
    for session in tx.all::<StoredSession>(&[user])? {
        end(tx, user, &session.name)?;
    }
    Ok(())
}

/// Ends all sessions of a user, and the tokens with which applications act for the user.
pub fn end_all_of_user(tx: &mut Tx<'_>, user: &str) -> Result<(), Fault> {
    end_sessions_of_user(tx, user)?;
    for token in tx.indexed::<StoredToken>(TOKENS_BY_USER, &[user])? {
        tx.remove(&token);
    }
    Ok(())
}

/// Ends the tokens that were obtained with a key of an application.
pub fn end_all_of_key(tx: &mut Tx<'_>, application: &str, key: &str) -> Result<(), Fault> {
    for token in tx.indexed::<StoredToken>(TOKENS_BY_KEY, &[application, key])? {
        tx.remove(&token);
    }
    Ok(())
}

/// Clears away some of what is over.
pub fn clear_old(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let now = tx.now();
    for session in tx.before::<StoredSession>(SESSIONS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&session);
    }
    for token in tx.before::<StoredToken>(TOKENS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&token);
    }
    for attempts in tx.before::<StoredAttempts>(LOGIN_ATTEMPTS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&attempts);
    }
    for address in tx.before::<KnownAddress>(KNOWN_ADDRESSES_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&address);
    }
    for assertion in tx.before::<UsedAssertion>(ASSERTIONS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&assertion);
    }
    Ok(())
}
