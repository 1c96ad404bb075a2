//! Logging in with a password. Contract: `identity.md` section 6.
//!
//! The order is: look whether the name is locked, compare the password outside of any transaction, then
//! count or begin a session in one transaction, which looks at the lock and the stored hash again. A wrong
//! password is counted although the request is refused.

use super::attempts::{attempts, check_lock, failed, forget_failures, is_name, know, locked_within};
use super::sessions::{self, Fresh};
use super::{second_factor, secret};
use crate::domain::token::Lifetimes;
use crate::store::Tx;
use crate::store::records::{StoredPassword, StoredUser};
use mfa_shared::api::roles::DEACTIVATED;
use mfa_shared::api::tokens::Token;
use mfa_shared::api::users::PASSWORD_BYTES_MAX;
use mfa_shared::fault::{self, Fault};
use std::net::IpAddr;

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

/// Whether a name is a user's, so that the log may have it.
pub fn is_user(tx: &mut Tx<'_>, name: &str) -> Result<bool, Fault> {
    Ok(is_name(name) && tx.get::<StoredUser>(&[name])?.is_some())
}

/// Looks a login up; refuses where the name is locked.
pub fn candidate(tx: &mut Tx<'_>, name: &str, from: IpAddr) -> Result<Candidate, Fault> {
    check_lock(tx, name, from)?;
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

/// What a login shows.
pub struct Shown<'a> {
    /// Whether the password is right.
    pub fits: bool,
    /// A code of the second factor.
    pub otp: Option<&'a str>,
}

/// Begins a session if the password was right, and counts a failure if not. `None` where the password was
/// changed since it was compared: then it has to be compared again.
pub fn log_in(
    tx: &mut Tx<'_>,
    (name, from): (&str, IpAddr),
    compared: &Candidate,
    shown: &Shown<'_>,
    lifetimes: Lifetimes,
    fresh: &Fresh,
) -> Result<Option<Token>, Fault> {
    check_lock(tx, name, from)?;
    if present(tx, name)? != *compared {
        return Ok(None);
    }
    let user = if shown.fits { tx.get::<StoredUser>(&[name])? } else { None };
    let Some(mut user) = user.filter(|user| user.role != DEACTIVATED) else {
        return Err(failed(tx, name, from, login_failed())?);
    };
    if user.second_factor {
        let Some(otp) = shown.otp else {
            let detail = format!("user {name} has a second factor: send its code as otp");
            return Err(Fault::new(fault::SECOND_FACTOR_REQUIRED, detail));
        };
        if !second_factor::check(tx, name, otp)? {
            let detail = "the code is not right, or it was used before";
            return Err(failed(tx, name, from, Fault::new(fault::SECOND_FACTOR_INVALID, detail))?);
        }
    }
    tx.set_actor(name);
    let is_locked = attempts(tx, name)?.locked_seconds(tx.now()).is_some();
    // While others have locked the name, a login from a known address does not lift their lock.
    if !is_locked {
        forget_failures(tx, name)?;
    }
    know(tx, name, from)?;
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
/// the name is locked, so that no one can make the daemon hash for nothing.
pub fn hash_while_open(tx: &mut Tx<'_>, user: &str) -> Result<Option<String>, Fault> {
    match locked_within(tx, user)? {
        Some(_) => Ok(None),
        None => Ok(present(tx, user)?.hash),
    }
}
