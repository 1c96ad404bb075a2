//! Sessions and tokens: how they begin, go on and end. Contract: `identity.md` section 6.

use super::last_use::LastUse;
use crate::domain::token::{self, Kind, Lifetimes, Refresh, SESSIONS_MAX, Session, TOKEN_BYTES};
use crate::random;
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::{Record, key, moment, prefix};
use crate::store::records::{
    ASSERTIONS_BY_TIME, KNOWN_ADDRESSES_BY_TIME, KnownAddress, LOGIN_ATTEMPTS_BY_TIME, SESSIONS_BY_TIME,
    StoredAttempts, StoredSession, StoredSignature, StoredToken, StoredUser, TOKENS_BY_KEY,
    TOKENS_BY_SESSION, TOKENS_BY_TIME, TOKENS_BY_USER, TokenKind, UsedAssertion,
};
use crate::store::tx::indexed_key;
use mfa_shared::api::tokens::Token;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::net::IpAddr;

/// One login of so many clears away records whose time is over, and so many of each kind: more than all of
/// these logins make, so that they never pile up. If each did, logins at the same time would remove the same
/// ones, and would have to wait for each other.
const CLEARING_ONE_OF: u8 = 8;
const CLEARED_AT_ONCE: usize = 32;
/// Tokens that one end of a session, a user or a key removes.
const REMOVED_AT_ONCE: usize = 500;

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
    let written = session.last_used.map(|at| uses.counts_to(at));
    let used = written.max(uses.of(&session.name)).unwrap_or(session.began);
    idle_seconds > 0 && used.plus_seconds(idle_seconds.into()) <= now
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
            clear_old(tx)?;
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

/// Ends a session. Its tokens are worth nothing without it ([`is_alive`]), however many they are.
pub fn end(tx: &mut Tx<'_>, user: &str, session: &str) -> Result<(), Fault> {
    if let Some(stored) = tx.get::<StoredSession>(&[user, session])? {
        tx.remove(&stored);
    }
    remove_some(tx, TOKENS_BY_SESSION, &[user, session])?;
    Ok(())
}

/// Whether that is still there on which a token rests: its session, or the key with which it was obtained and
/// the user as whom it acts.
pub fn is_alive(tx: &mut Tx<'_>, token: &StoredToken, user: Option<&StoredUser>) -> Result<bool, Fault> {
    match (&token.kind, user) {
        (TokenKind::Access { session } | TokenKind::Refresh { session, .. }, Some(user)) => {
            tx.has::<StoredSession>(&[&user.identifier, session])
        }
        (TokenKind::Application { application, key, .. }, user) => {
            let ended = user.and_then(|user| user.tokens_ended).is_some_and(|at| token.given <= Some(at));
            Ok(!ended && tx.has::<StoredSignature>(&[application, key])?)
        }
        _ => Ok(false),
    }
}

/// The records besides the token itself on which its life rests.
pub fn place_of_life(token: &StoredToken) -> (Space, Vec<u8>) {
    match (&token.kind, &token.user) {
        (TokenKind::Application { application, key: name, .. }, _) => {
            (StoredSignature::SPACE, key(&[application, name]))
        }
        (TokenKind::Access { session } | TokenKind::Refresh { session, .. }, user) => {
            (StoredSession::SPACE, key(&[user.as_deref().unwrap_or_default(), session]))
        }
    }
}

/// Ends all sessions of a user.
pub fn end_sessions_of_user(tx: &mut Tx<'_>, user: &str) -> Result<(), Fault> {
    for session in tx.all::<StoredSession>(&[user])? {
        end(tx, user, &session.name)?;
    }
    Ok(())
}

/// Ends all sessions of a user, and the tokens with which applications act for the user: those that are not
/// removed at once are older than what the user's record says from then on.
pub fn end_all_of_user(tx: &mut Tx<'_>, user: &str) -> Result<(), Fault> {
    end_sessions_of_user(tx, user)?;
    if remove_some(tx, TOKENS_BY_USER, &[user])? { Ok(()) } else { end_tokens_for(tx, user) }
}

/// Ends all tokens with which applications act for a user, however many are left.
pub fn end_tokens_for(tx: &mut Tx<'_>, user: &str) -> Result<(), Fault> {
    match tx.get::<StoredUser>(&[user])? {
        Some(stored) => tx.put(&StoredUser { tokens_ended: Some(tx.now()), ..stored }),
        None => Ok(()),
    }
}

/// Ends the tokens that were obtained with a key of an application, whose record the caller removes. False if
/// there are so many that some are left, which are worth nothing without it.
pub fn end_all_of_key(tx: &mut Tx<'_>, application: &str, key: &str) -> Result<bool, Fault> {
    remove_some(tx, TOKENS_BY_KEY, &[application, key])
}

/// Removes the first tokens that an index has under these parts; false if some are left, which clear away
/// when their time is over. Nobody who makes tokens without end makes their removal too large to be stored.
fn remove_some(tx: &mut Tx<'_>, index: Space, parts: &[&str]) -> Result<bool, Fault> {
    let mut keys = Vec::new();
    tx.walk(index, Range::prefix(&prefix(parts)), &mut |entry, _| {
        keys.push(indexed_key(parts, entry).to_vec());
        Ok(keys.len() <= REMOVED_AT_ONCE)
    })?;
    let all = keys.len() <= REMOVED_AT_ONCE;
    keys.truncate(REMOVED_AT_ONCE);
    for token in tx.fetch::<StoredToken>(keys)? {
        tx.remove(&token);
    }
    Ok(all)
}

/// Clears away some of what is over, if the lot falls on this login.
pub fn clear_old(tx: &mut Tx<'_>) -> Result<(), Fault> {
    if !random::is_one_of(CLEARING_ONE_OF) {
        return Ok(());
    }
    let now = tx.now();
    for session in tx.expired::<StoredSession>(SESSIONS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&session);
    }
    for token in tx.expired::<StoredToken>(TOKENS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&token);
    }
    for attempts in tx.expired::<StoredAttempts>(LOGIN_ATTEMPTS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&attempts);
    }
    for address in tx.expired::<KnownAddress>(KNOWN_ADDRESSES_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&address);
    }
    for assertion in tx.expired::<UsedAssertion>(ASSERTIONS_BY_TIME, now, CLEARED_AT_ONCE)? {
        tx.remove(&assertion);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::ledger::tests::memory::Memory;
    use crate::ops::users;
    use mfa_shared::api::applications::Signature;

    const MANY: usize = 3 * REMOVED_AT_ONCE;
    const KEY: &str = "2031-05-06T07:08:09.000Z";

    fn token(tx: &Tx<'_>, name: &str, user: Option<&str>, kind: TokenKind) -> StoredToken {
        let (hash, user, given) = (token::hash(name), user.map(str::to_owned), Some(tx.now()));
        StoredToken { hash, user, ends: tx.now().plus_seconds(1_200), kind, given, origin: None }
    }

    fn of_application(tx: &Tx<'_>, name: &str, user: Option<&str>) -> StoredToken {
        let (application, key) = ("crm-v1".to_owned(), KEY.to_owned());
        token(tx, name, user, TokenKind::Application { application, key, scope: None, intended: Vec::new() })
    }

    fn with_a_key(store: &mut Memory) {
        let number = || serde_json::from_str("3").unwrap();
        let signature = Signature { public_key_mod: number(), public_key_exp: number() };
        let (application, timestamp) = ("crm-v1".to_owned(), KEY.to_owned());
        store.write(|tx| tx.put(&StoredSignature { application, timestamp, signature })).unwrap();
    }

    /// How many of the tokens count.
    fn alive(store: &mut Memory, user: Option<&str>) -> usize {
        store.read(|tx| {
            let user = user.map(|name| tx.get::<StoredUser>(&[name])).transpose()?.flatten();
            let mut alive = 0;
            for token in tx.all::<StoredToken>(&[])? {
                alive += usize::from(is_alive(tx, &token, user.as_ref())?);
            }
            Ok(alive)
        })
    }

    #[test]
    fn a_session_ends_with_all_its_tokens_however_often_it_was_refreshed() {
        let mut store = Memory::new();
        let lifetimes = Lifetimes { access_seconds: 1_200, session_seconds: 54_000 };
        let fresh = || Fresh::draw(IpAddr::from([127, 0, 0, 1]));
        store.write(|tx| users::insert(tx, "ama", "clerk", "hash".to_owned(), false)).unwrap();
        let user = store.read(|tx| tx.get::<StoredUser>(&["ama"])).unwrap();
        let mut refresh_token = store
            .write(|tx| begin(tx, &user, lifetimes, &fresh()))
            .map(|token| token.refresh_token.unwrap())
            .unwrap();
        let first = refresh_hash(&refresh_token).unwrap();
        for _ in 0..MANY {
            let hash = refresh_hash(&refresh_token).unwrap();
            let again = |tx: &mut Tx<'_>| refresh(tx, &hash, lifetimes, &fresh(), (&LastUse::default(), 0));
            refresh_token = store.write(again).unwrap().unwrap().refresh_token.unwrap();
        }
        assert_eq!(alive(&mut store, Some("ama")), 2 * MANY + 2);
        let last = refresh_hash(&refresh_token).unwrap();
        let mut tried = |hash: &str| {
            let again = |tx: &mut Tx<'_>| refresh(tx, hash, lifetimes, &fresh(), (&LastUse::default(), 0));
            store.write(again).unwrap().is_some()
        };
        assert!(!tried(&first), "a spent token is spent");
        assert!(!tried(&last), "a spent token that came again ends the session");
        assert_eq!(alive(&mut store, Some("ama")), 0);
    }

    #[test]
    fn all_tokens_for_a_user_end_and_later_ones_count() {
        let mut store = Memory::new();
        with_a_key(&mut store);
        store.write(|tx| users::insert(tx, "ama", "clerk", "hash".to_owned(), false)).unwrap();
        for name in 0..MANY {
            store.write(|tx| tx.put(&of_application(tx, &name.to_string(), Some("ama")))).unwrap();
        }
        assert_eq!(alive(&mut store, Some("ama")), MANY);
        store.write(|tx| end_all_of_user(tx, "ama")).unwrap();
        assert_eq!(alive(&mut store, Some("ama")), 0, "those of the same moment, too");
        store.now = store.now.plus_seconds(1);
        store.write(|tx| tx.put(&of_application(tx, "later", Some("ama")))).unwrap();
        assert_eq!(alive(&mut store, Some("ama")), 1);
    }

    #[test]
    fn all_tokens_of_a_key_end_with_it_and_live_no_second_time() {
        let mut store = Memory::new();
        with_a_key(&mut store);
        for name in 0..MANY {
            store.write(|tx| tx.put(&of_application(tx, &name.to_string(), None))).unwrap();
        }
        assert_eq!(alive(&mut store, None), MANY);
        let end = |tx: &mut Tx<'_>| {
            let all = end_all_of_key(tx, "crm-v1", KEY)?;
            if let Some(signature) = tx.get::<StoredSignature>(&["crm-v1", KEY])? {
                tx.remove(&signature);
            }
            Ok(all)
        };
        assert_eq!(store.write(end), Ok(false));
        assert_eq!(alive(&mut store, None), 0);
        // Who puts a key under this name again hears that some are left.
        assert_eq!(store.write(end), Ok(false));
        assert_eq!(store.write(end), Ok(true));
    }
}
