//! Logging in with a password. Contract: `identity.md` section 6.
//!
//! The order is: look whether the name is locked, compare the password outside of any transaction, then
//! count or begin a session in one transaction, which looks at the lock and the stored hash again. A wrong
//! password is counted although the request is refused.

use super::secret;
use super::sessions::{self, Fresh};
use crate::domain::lockout::Attempts;
use crate::domain::token::Lifetimes;
use crate::store::Tx;
use crate::store::records::{StoredAttempts, StoredPassword, StoredUser};
use mfa_shared::api::roles::DEACTIVATED;
use mfa_shared::api::tokens::Token;
use mfa_shared::api::users::PASSWORD_BYTES_MAX;
use mfa_shared::fault::{self, Fault};
use mfa_shared::rule::id;

/// What a login is compared with.
#[derive(Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The stored hash; none for a name that is no user's.
    hash: Option<String>,
}

impl std::fmt::Debug for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Candidate").finish_non_exhaustive()
    }
}

/// Looks a login up; refuses where the name is locked.
pub fn candidate(tx: &mut Tx<'_>, name: &str) -> Result<Candidate, Fault> {
    check_lock(tx, name)?;
    present(tx, name)
}

fn present(tx: &mut Tx<'_>, name: &str) -> Result<Candidate, Fault> {
    if !is_name(name) {
        return Ok(Candidate { hash: None });
    }
    Ok(Candidate { hash: tx.get::<StoredPassword>(&[name])?.map(|stored| stored.hash) })
}

impl Candidate {
    /// Whether the password is right; tens of milliseconds of work, the same for a name that is no user's.
    pub fn fits(&self, password: &str) -> bool {
        let hash = self.hash.as_deref().filter(|_| password.len() <= PASSWORD_BYTES_MAX);
        secret::fits(password, hash)
    }
}

/// Begins a session if the password was right, and counts a failure if not. `None` where the password was
/// changed since it was compared: then it has to be compared again.
pub fn log_in(
    tx: &mut Tx<'_>,
    name: &str,
    compared: &Candidate,
    fits: bool,
    lifetimes: Lifetimes,
    fresh: &Fresh,
) -> Result<Option<Token>, Fault> {
    check_lock(tx, name)?;
    if present(tx, name)? != *compared {
        return Ok(None);
    }
    let user = if fits { tx.get::<StoredUser>(&[name])? } else { None };
    let Some(mut user) = user.filter(|user| user.role != DEACTIVATED) else {
        count_failure(tx, name)?;
        tx.set_actor("guest");
        return Err(login_failed());
    };
    tx.set_actor(name);
    forget_failures(tx, name)?;
    if !user.logged_in {
        user.logged_in = true;
        tx.put(&user)?;
    }
    sessions::begin(tx, &user, lifetimes, fresh).map(Some)
}

/// The answer to every login that is not right, whatever was wrong with it.
pub fn login_failed() -> Fault {
    Fault::new(fault::LOGIN_FAILED, "user name or password is not right")
}

/// The hash with which the present password of a user is compared before the transaction begins; none while
/// the name is locked, so that nobody can make the daemon hash for nothing.
pub fn hash_while_open(tx: &mut Tx<'_>, user: &str) -> Result<Option<String>, Fault> {
    match attempts(tx, user)?.locked_seconds(tx.now()) {
        Some(_) => Ok(None),
        None => Ok(present(tx, user)?.hash),
    }
}

/// Refuses a present password that is wrong, which counts like a failed login.
pub fn check_present(tx: &mut Tx<'_>, user: &str, fits: bool) -> Result<(), Fault> {
    check_lock(tx, user)?;
    if fits {
        return Ok(());
    }
    count_failure(tx, user)?;
    Err(Fault::new(fault::WRONG_PASSWORD, format!("the present password of user {user} is another one")))
}

/// Counts one more failed attempt, although the request is refused.
fn count_failure(tx: &mut Tx<'_>, name: &str) -> Result<(), Fault> {
    sessions::clear_old(tx)?;
    let attempts = attempts(tx, name)?.failed(tx.now());
    let forgotten_from = attempts.forgotten_from.unwrap_or(tx.now());
    let Attempts { failures, locks, locked_until, .. } = attempts;
    // What was counted before a change of key goes on under the key in use.
    forget_failures(tx, name)?;
    let name = attempts_names(tx, name)?.swap_remove(0);
    tx.put(&StoredAttempts { name, failures, locks, locked_until, forgotten_from })?;
    tx.keep_when_refused();
    Ok(())
}

fn check_lock(tx: &mut Tx<'_>, name: &str) -> Result<(), Fault> {
    let locked = attempts(tx, name)?.locked_seconds(tx.now());
    locked.map_or(Ok(()), |seconds| {
        let detail = format!("too many failed logins; the next attempt counts in {seconds} seconds");
        Err(Fault::new(fault::TOO_MANY_ATTEMPTS, detail).retry_after(seconds))
    })
}

fn attempts(tx: &mut Tx<'_>, name: &str) -> Result<Attempts, Fault> {
    Ok(stored_attempts(tx, name)?.map_or(Attempts::default(), |stored| Attempts {
        failures: stored.failures,
        locks: stored.locks,
        locked_until: stored.locked_until,
        forgotten_from: Some(stored.forgotten_from),
    }))
}

fn is_name(name: &str) -> bool {
    id(32).judge(name).is_ok()
}

/// People type a password in the place of their name. So what was typed is kept only as a keyed hash, whether
/// or not there is a user of that name: under each key, that of the key in use first.
fn attempts_names(tx: &Tx<'_>, name: &str) -> Result<Vec<String>, Fault> {
    tx.hashes("failed logins", name.as_bytes())
}

fn stored_attempts(tx: &mut Tx<'_>, name: &str) -> Result<Option<StoredAttempts>, Fault> {
    for name in attempts_names(tx, name)? {
        if let Some(stored) = tx.get(&[&name])? {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

/// Ends the lock of a name and forgets its failures.
pub fn forget_failures(tx: &mut Tx<'_>, name: &str) -> Result<(), Fault> {
    while let Some(stored) = stored_attempts(tx, name)? {
        tx.remove(&stored);
    }
    Ok(())
}

/// Puts keyed hashes in the place of the names that earlier programs kept. Of what could be no name they
/// kept a hash without a key, which is forgotten.
pub fn hide_names(tx: &mut Tx<'_>) -> Result<(), Fault> {
    for stored in tx.all::<StoredAttempts>(&[])? {
        if stored.name.contains(':') {
            continue;
        }
        tx.remove(&stored);
        if is_name(&stored.name) {
            let name = attempts_names(tx, &stored.name)?.swap_remove(0);
            tx.put(&StoredAttempts { name, ..stored })?;
        }
    }
    Ok(())
}
