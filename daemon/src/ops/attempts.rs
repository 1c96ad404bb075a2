//! Failed logins: what is counted, for whom, and which lock follows. Contract: `identity.md` section 6.

use super::sessions;
use crate::domain::lockout::{Attempts, FAILURES_OF_ADDRESS_MAX, KNOWN_SECONDS};
use crate::domain::network::client_of;
use crate::store::Tx;
use crate::store::records::{KnownAddress, StoredAttempts};
use mfa_shared::fault::{self, Fault};
use mfa_shared::rule::id;
use std::net::IpAddr;

/// Counts a failed login, and says so in its refusal.
pub fn failed(tx: &mut Tx<'_>, name: &str, from: IpAddr, refusal: Fault) -> Result<Fault, Fault> {
    let of_name = count_failure(tx, name)?;
    count_at_known(tx, name, from)?;
    let of_address = count_for_address(tx, from)?;
    tx.set_actor("guest");
    Ok(refusal.locking(of_name.max(of_address)))
}

/// Refuses a present password that is wrong, which counts like a failed login.
pub fn check_present(tx: &mut Tx<'_>, user: &str, fits: bool) -> Result<(), Fault> {
    check_open(tx, user)?;
    if fits {
        return Ok(());
    }
    let detail = format!("the present password of user {user} is wrong");
    Err(failed_within(tx, user, Fault::new(fault::WRONG_PASSWORD, detail))?)
}

/// Refuses passwords and codes that come with a login of the user while the user is locked at each address
/// where they are known: otherwise a stranger who knows only the name could keep them from changing the
/// password. What is wrong within a login counts at all of these addresses.
pub fn check_open(tx: &mut Tx<'_>, user: &str) -> Result<(), Fault> {
    locked_within(tx, user)?.map_or(Ok(()), |seconds| Err(locked(seconds)))
}

/// The seconds for which [`check_open`] refuses.
pub fn locked_within(tx: &mut Tx<'_>, user: &str) -> Result<Option<u32>, Fault> {
    let now = tx.now();
    let known = tx.all::<KnownAddress>(&[user])?.into_iter().filter(|known| known.until > now);
    match known.map(|known| known.attempts.locked_seconds(now)).min() {
        Some(locked) => Ok(locked),
        None => Ok(attempts(tx, user)?.locked_seconds(now)),
    }
}

fn locked(seconds: u32) -> Fault {
    let detail = format!("too many failed logins; the next attempt counts in {seconds} seconds");
    Fault::new(fault::TOO_MANY_ATTEMPTS, detail).retry_after(seconds)
}

/// Counts a wrong password or code that came with a login of the user, and says so in its refusal.
pub fn failed_within(tx: &mut Tx<'_>, user: &str, refusal: Fault) -> Result<Fault, Fault> {
    count_failure(tx, user)?;
    // It came with a login of the user, so it counts wherever they are known.
    for known in tx.all::<KnownAddress>(&[user])? {
        let attempts = known.attempts.failed(tx.now());
        tx.put(&KnownAddress { attempts, ..known })?;
    }
    Ok(refusal.locking(locked_within(tx, user)?))
}

/// Counts one more failed attempt, although the request is refused; the seconds of the lock that it begins.
fn count_failure(tx: &mut Tx<'_>, name: &str) -> Result<Option<u32>, Fault> {
    sessions::clear_old(tx)?;
    let attempts = attempts(tx, name)?.failed(tx.now());
    let names = attempts_names(tx, name)?;
    let locked = attempts.locked_seconds(tx.now());
    keep(tx, names, attempts)?;
    Ok(locked)
}

/// Refuses while a name, or the address of the caller, is locked.
pub fn check_lock(tx: &mut Tx<'_>, name: &str, from: IpAddr) -> Result<(), Fault> {
    check_address(tx, from)?;
    let attempts = match known(tx, name, from)? {
        Some(known) => known.attempts,
        None => attempts(tx, name)?,
    };
    attempts.locked_seconds(tx.now()).map_or(Ok(()), |seconds| Err(locked(seconds)))
}

/// The failed attempts of a name.
pub fn attempts(tx: &mut Tx<'_>, name: &str) -> Result<Attempts, Fault> {
    let names = attempts_names(tx, name)?;
    Ok(stored_attempts(tx, &names)?.map_or(Attempts::default(), counted))
}

/// Whether a text can be the name of a user.
pub fn is_name(name: &str) -> bool {
    id(32).judge(name).is_ok()
}

/// People type a password in the place of their name. So what was typed is kept only as a keyed hash, whether
/// or not there is a user of that name: under each key, that of the key in use first.
fn attempts_names(tx: &Tx<'_>, name: &str) -> Result<Vec<String>, Fault> {
    tx.hashes("failed logins", name.as_bytes())
}

fn stored_attempts(tx: &mut Tx<'_>, names: &[String]) -> Result<Option<StoredAttempts>, Fault> {
    for name in names {
        if let Some(stored) = tx.get(&[name])? {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

/// Ends the lock of a name and forgets its failures.
pub fn forget_failures(tx: &mut Tx<'_>, name: &str) -> Result<(), Fault> {
    let names = attempts_names(tx, name)?;
    remove(tx, &names)?;
    if is_name(name) {
        for known in tx.all::<KnownAddress>(&[name])? {
            tx.put(&KnownAddress { attempts: Attempts::default(), ..known })?;
        }
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

fn counted(stored: StoredAttempts) -> Attempts {
    Attempts {
        failures: stored.failures,
        locks: stored.locks,
        locked_until: stored.locked_until,
        forgotten_from: Some(stored.forgotten_from),
    }
}

/// Keeps what was counted under the first of the names. What was counted before a change of key goes on under
/// the key in use.
fn keep(tx: &mut Tx<'_>, mut names: Vec<String>, attempts: Attempts) -> Result<(), Fault> {
    let forgotten_from = attempts.forgotten_from.unwrap_or(tx.now());
    let Attempts { failures, locks, locked_until, .. } = attempts;
    remove(tx, &names)?;
    let name = names.swap_remove(0);
    tx.put(&StoredAttempts { name, failures, locks, locked_until, forgotten_from })?;
    tx.keep_when_refused();
    Ok(())
}

fn remove(tx: &mut Tx<'_>, names: &[String]) -> Result<(), Fault> {
    while let Some(stored) = stored_attempts(tx, names)? {
        tx.remove(&stored);
    }
    Ok(())
}

/// What counts as one address: of IPv6 a whole network, of which one client has all addresses.
fn client(from: IpAddr) -> String {
    client_of(from).to_string()
}

fn address_names(tx: &Tx<'_>, from: IpAddr) -> Result<Vec<String>, Fault> {
    tx.hashes("failed logins of an address", client(from).as_bytes())
}

/// Refuses an address from which too many logins and assertions have failed.
pub fn check_address(tx: &mut Tx<'_>, from: IpAddr) -> Result<(), Fault> {
    let names = address_names(tx, from)?;
    let attempts = stored_attempts(tx, &names)?.map_or(Attempts::default(), counted);
    attempts.locked_seconds(tx.now()).map_or(Ok(()), |seconds| {
        let detail =
            format!("too many failed logins from your address; the next attempt counts in {seconds} seconds");
        Err(Fault::new(fault::TOO_MANY_ATTEMPTS, detail).retry_after(seconds))
    })
}

/// Counts one more failed login or assertion of an address; the seconds of the lock that it begins.
pub fn count_for_address(tx: &mut Tx<'_>, from: IpAddr) -> Result<Option<u32>, Fault> {
    let names = address_names(tx, from)?;
    let attempts = stored_attempts(tx, &names)?.map_or(Attempts::default(), counted);
    let attempts = attempts.failed_of(tx.now(), FAILURES_OF_ADDRESS_MAX);
    let locked = attempts.locked_seconds(tx.now());
    keep(tx, names, attempts)?;
    Ok(locked)
}

/// The address as one from which the user has logged in not long ago.
fn known(tx: &mut Tx<'_>, name: &str, from: IpAddr) -> Result<Option<KnownAddress>, Fault> {
    if !is_name(name) {
        return Ok(None);
    }
    for address in tx.hashes("known address", client(from).as_bytes())? {
        let stored = tx.get::<KnownAddress>(&[name, &address])?;
        if let Some(known) = stored.filter(|known| known.until > tx.now()) {
            return Ok(Some(known));
        }
    }
    Ok(None)
}

fn count_at_known(tx: &mut Tx<'_>, name: &str, from: IpAddr) -> Result<(), Fault> {
    let Some(known) = known(tx, name, from)? else { return Ok(()) };
    let attempts = known.attempts.failed(tx.now());
    tx.put(&KnownAddress { attempts, ..known })
}

/// Notes that the user has logged in from an address.
pub fn know(tx: &mut Tx<'_>, user: &str, from: IpAddr) -> Result<(), Fault> {
    let address = tx.hashes("known address", client(from).as_bytes())?.swap_remove(0);
    let until = tx.now().plus_seconds(KNOWN_SECONDS);
    tx.put(&KnownAddress { user: user.to_owned(), address, until, attempts: Attempts::default() })
}

/// Forgets the addresses of a user who is deleted.
pub fn forget_addresses(tx: &mut Tx<'_>, user: &str) -> Result<(), Fault> {
    for known in tx.all::<KnownAddress>(&[user])? {
        tx.remove(&known);
    }
    Ok(())
}
