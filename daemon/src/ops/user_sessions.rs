//! Sessions of a user, seen and ended one by one. Contract: `identity.md` section 13.

use super::last_use::minute;
use super::{Caller, sessions};
use crate::ops::find;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::prefix;
use crate::store::records::{StoredSession, StoredToken, TOKENS_BY_USER, TokenKind};
use crate::store::tx::indexed_key;
use mfa_shared::api::sessions::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Array, Nothing, Query};

/// What a session of a user is: a login with its tokens, or a token with which an application acts.
enum Found {
    Login(StoredSession),
    Application(StoredToken),
}

/// Tokens of applications that are shown, or ended one by one.
const APPLICATIONS_MAX: usize = 1_000;
/// Tokens of a user that are looked at for them.
const LOOKED_AT_MAX: usize = 20_000;
/// What stands before the part of a hash in such a name.
const APPLICATION: &str = "application-";
/// Characters of the hash of a token by which the session of an application is named.
const NAME_CHARACTERS: usize = 16;

impl Found {
    fn identifier(&self) -> String {
        match self {
            Found::Login(session) => session.name.clone(),
            Found::Application(token) => format!("{APPLICATION}{}", &token.hash[..NAME_CHARACTERS]),
        }
    }

    fn is_current(&self, caller: &Caller) -> bool {
        let Some(token) = &caller.token else { return false };
        match (self, &token.kind) {
            (Found::Login(session), TokenKind::Access { session: name }) => {
                session.name == *name && token.user.as_ref() == Some(&session.user)
            }
            (Found::Application(own), _) => own.hash == token.hash,
            _ => false,
        }
    }

    fn shown(&self, caller: &Caller) -> UserSession {
        let identifier = self.identifier();
        let current = self.is_current(caller);
        match self {
            Found::Login(session) => UserSession {
                identifier,
                created_on: session.began,
                last_used_on: minute(sessions::last_use(session, &caller.uses)),
                origin: session.origin.clone(),
                application: None,
                expires_on: session.ends,
                current,
            },
            Found::Application(token) => {
                let given = token.given.unwrap_or(token.ends);
                let used = caller.uses.of(&token.hash).unwrap_or(given);
                UserSession {
                    identifier,
                    created_on: given,
                    last_used_on: minute(used.max(given)),
                    origin: token.origin.clone(),
                    application: application(token).map(str::to_owned),
                    expires_on: token.ends,
                    current,
                }
            }
        }
    }

    fn end(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<(), Fault> {
        let used = match self {
            Found::Login(session) => &session.name,
            Found::Application(token) => &token.hash,
        };
        if !tx.is_rehearsal() {
            caller.uses.forget(used);
        }
        match self {
            Found::Login(session) => {
                sessions::end(tx, &session.user, &session.name)?;
            }
            Found::Application(token) => tx.remove(token),
        }
        Ok(())
    }
}

fn application(token: &StoredToken) -> Option<&str> {
    match &token.kind {
        TokenKind::Application { application, .. } => Some(application),
        _ => None,
    }
}

/// The live sessions of a user, the newest first, and whether these are all: of applications there may be
/// more tokens than anybody wants to see.
fn of_user(tx: &mut Tx<'_>, caller: &Caller, user: &str) -> Result<(Vec<Found>, bool), Fault> {
    let stored = find::user(tx, user)?;
    let now = tx.now();
    let idle = caller.rules.session_idle_seconds;
    let mut found = Vec::new();
    for session in tx.all::<StoredSession>(&[user])? {
        if session.ends > now && !sessions::is_idle(&session, &caller.uses, idle, now) {
            found.push((session.began, Found::Login(session)));
        }
    }
    let mut tokens = Vec::new();
    tx.walk(TOKENS_BY_USER, Range::prefix(&prefix(&[user])), &mut |entry, _| {
        tokens.push(indexed_key(&[user], entry).to_vec());
        Ok(tokens.len() < LOOKED_AT_MAX)
    })?;
    let mut all = tokens.len() < LOOKED_AT_MAX;
    let mut applications = 0;
    for token in tx.fetch::<StoredToken>(tokens)? {
        if application(&token).is_some() && token.ends > now && sessions::is_alive(tx, &token, Some(&stored))?
        {
            if applications == APPLICATIONS_MAX {
                all = false;
                break;
            }
            found.push((token.given.unwrap_or(token.ends), Found::Application(token)));
            applications += 1;
        }
    }
    found.sort_by_cached_key(|(began, found)| std::cmp::Reverse((*began, found.identifier())));
    Ok((found.into_iter().map(|(_, found)| found).collect(), all))
}

/// `GET /users/{user}/sessions`
pub fn list(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &ListUserSessions,
    _: &Nothing,
) -> Result<Array<UserSession>, Fault> {
    let (found, _) = of_user(tx, caller, &at.user)?;
    Ok(Array(found.iter().map(|session| session.shown(caller)).collect()))
}

/// `DELETE /users/{user}/sessions/{session}`
pub fn end(tx: &mut Tx<'_>, caller: &Caller, at: &EndUserSession, _: &Nothing) -> Result<Accepted, Fault> {
    let Some(session) = named(tx, caller, &at.user, &at.session)? else {
        let detail = format!("user {} has no session \"{}\"", at.user, at.session);
        return Err(Fault::new(fault::SESSION_NOT_FOUND, detail));
    };
    session.end(tx, caller)?;
    Ok(Accepted)
}

/// A live session as the list shows it.
pub fn one(tx: &mut Tx<'_>, caller: &Caller, user: &str, name: &str) -> Result<Option<UserSession>, Fault> {
    Ok(named(tx, caller, user, name)?.map(|session| session.shown(caller)))
}

/// The live session of a name, without a look at the others.
fn named(tx: &mut Tx<'_>, caller: &Caller, user: &str, name: &str) -> Result<Option<Found>, Fault> {
    let stored = find::user(tx, user)?;
    let now = tx.now();
    let Some(hash) = name.strip_prefix(APPLICATION) else {
        let idle = caller.rules.session_idle_seconds;
        let session: Option<StoredSession> = tx.get(&[user, name])?;
        let live = |session: &StoredSession| {
            session.ends > now && !sessions::is_idle(session, &caller.uses, idle, now)
        };
        return Ok(session.filter(live).map(Found::Login));
    };
    if hash.len() != NAME_CHARACTERS {
        return Ok(None);
    }
    let begins = [prefix(&[user]).as_slice(), hash.as_bytes()].concat();
    let entries = tx.scan(TOKENS_BY_USER, &Range::prefix(&begins), false, APPLICATIONS_MAX)?;
    let keys = entries.iter().map(|(entry, _)| indexed_key(&[user], entry).to_vec()).collect();
    for token in tx.fetch::<StoredToken>(keys)? {
        if application(&token).is_some() && token.ends > now && sessions::is_alive(tx, &token, Some(&stored))?
        {
            return Ok(Some(Found::Application(token)));
        }
    }
    Ok(None)
}

/// `DELETE /users/{user}/sessions`
pub fn end_all(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &EndUserSessions,
    Query(except): &Query<ExceptQuery>,
) -> Result<Accepted, Fault> {
    let mut keeps_application = false;
    let (found, all) = of_user(tx, caller, &at.user)?;
    for session in found {
        if except.current && session.is_current(caller) {
            keeps_application = matches!(session, Found::Application(_));
        } else {
            session.end(tx, caller)?;
            tx.note_changed("session", &[&at.user, &session.identifier()]);
        }
    }
    if !all && !keeps_application {
        sessions::end_tokens_for(tx, &at.user)?;
    }
    Ok(Accepted)
}
