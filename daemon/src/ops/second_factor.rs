//! The second factor of a user. Contract: `identity.md` section 13.

use super::grants::{self, exceeds};
use super::{Caller, Stored};
use crate::domain::second_factor as rules;
use crate::ops::attempts;
use crate::ops::find;
use crate::ops::listing::json;
use crate::random;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::records::{FACTOR_SECRET, StoredFactor, StoredUser};
use mfa_shared::api::roles::PHARAOH;
use mfa_shared::api::second_factor::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, JsonOfSome, Nothing};
use serde_json::json;

/// The purpose of the keyed hashes of recovery codes.
const RECOVERY: &str = "recovery code";

/// `GET /users/{user}/second-factor`
pub fn get(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &GetSecondFactor,
    _: &Nothing,
) -> Result<Stored<SecondFactor>, Fault> {
    find::user(tx, &at.user)?;
    let factor = tx.get::<StoredFactor>(&[&at.user])?;
    let state = state(factor.as_ref());
    if !caller.is_login_of(&at.user) {
        return Ok(Stored::new(json(&json!({ "state": state }))));
    }
    let left = factor.as_ref().map_or(0, |factor| factor.recovery.len());
    let shown = SecondFactor {
        state,
        enabled_on: factor.and_then(|factor| factor.enabled_on),
        recovery_codes_left: i64::try_from(left).ok(),
    };
    Ok(Stored::new(json(&shown)))
}

/// `POST /users/{user}/second-factor`
pub fn begin(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &BeginSecondFactor,
    _: &Json<SecondFactorWish>,
) -> Result<Json<SecondFactorSecret>, Fault> {
    find::user(tx, &at.user)?;
    let before = tx.get::<StoredFactor>(&[&at.user])?;
    if state(before.as_ref()) == FactorState::Active {
        return Err(wrong_state(&at.user, "has a second factor already; take it away first"));
    }
    let secret = rules::base32(&random::bytes::<{ rules::SECRET_BYTES }>());
    let sealed = tx.seal_for::<StoredFactor>(&[&at.user], FACTOR_SECRET, &Secret::new(&secret))?;
    let user = at.user.clone();
    let recovery = Vec::new();
    tx.put(&StoredFactor { user, secret: sealed, enabled_on: None, last_step: None, recovery })?;
    tx.note_secret("/secret", before.is_some());
    let uri = rules::uri(&at.user, &secret);
    Ok(Json(SecondFactorSecret { secret, uri }))
}

/// `PUT /users/{user}/second-factor`
pub fn enable(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &EnableSecondFactor,
    Json(typed): &Json<SecondFactorCode>,
) -> Result<Json<NewRecoveryCodes>, Fault> {
    let mut user = find::user(tx, &at.user)?;
    let Some(mut factor) = tx.get::<StoredFactor>(&[&at.user])? else {
        return Err(wrong_state(&at.user, "has no secret of a second factor yet; begin with one"));
    };
    let counts = user.second_factor;
    if counts {
        attempts::check_open(tx, &at.user)?;
    }
    let Some(step) = step(tx, &factor, &typed.code)? else {
        return Err(if counts { attempts::failed_within(tx, &at.user, wrong_code())? } else { wrong_code() });
    };
    let had_codes = !factor.recovery.is_empty();
    let codes: Vec<_> = (0..rules::RECOVERY_CODES).map(|_| rules::recovery_code(random::bytes())).collect();
    factor.recovery = codes.iter().map(|code| recovery_hash(tx, code)).collect::<Result<_, _>>()?;
    factor.last_step = Some(step);
    factor.enabled_on = factor.enabled_on.or(Some(tx.now()));
    tx.put(&factor)?;
    user.second_factor = true;
    tx.put(&user)?;
    tx.note_secret("/recoveryCodes", had_codes);
    Ok(Json(NewRecoveryCodes { recovery_codes: codes }))
}

/// `DELETE /users/{user}/second-factor`
pub fn delete(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &DeleteSecondFactor,
    JsonOfSome(typed): &JsonOfSome<SecondFactorCode>,
) -> Result<Accepted, Fault> {
    let user = find::user(tx, &at.user)?;
    let own = caller.is_login_of(&at.user);
    if !own && caller.user.as_deref() == Some(&at.user) {
        // It has no code to show, and what protects the login of a user is not for those who act for it.
        let detail = format!("the second factor of user {} is removed with a login of its own", at.user);
        return Err(Fault::new(fault::LOGIN_TOKEN_REQUIRED, detail));
    }
    // Only pharaoh touches pharaoh.
    if !own && user.guarded_by() == PHARAOH {
        let carried = grants::of_role(tx, user.guarded_by())?;
        let allowed = caller.holding.may_change_user(&[(user.guarded_by(), &carried)]);
        allowed.map_err(|e| exceeds(e, &format!("the second factor of user {}", at.user)))?;
    }
    let Some(mut factor) = tx.get::<StoredFactor>(&[&at.user])? else {
        return Err(wrong_state(&at.user, "has no second factor"));
    };
    if own {
        let typed = typed.as_ref().map_err(Fault::clone)?.as_ref();
        let typed = typed.ok_or_else(|| Fault::field("/code", "required", "is required"))?;
        attempts::check_open(tx, &at.user)?;
        if !takes(tx, &mut factor, &typed.code)? {
            return Err(attempts::failed_within(tx, &at.user, wrong_code())?);
        }
    }
    take_away(tx, &at.user)?;
    Ok(Accepted)
}

/// Takes the second factor of a user away; false if there is none.
pub fn take_away(tx: &mut Tx<'_>, user: &str) -> Result<bool, Fault> {
    let factor = tx.get::<StoredFactor>(&[user])?;
    if let Some(factor) = &factor {
        tx.remove(factor);
    }
    if let Some(mut stored) = tx.get::<StoredUser>(&[user])?
        && stored.second_factor
    {
        stored.second_factor = false;
        tx.put(&stored)?;
    }
    Ok(factor.is_some())
}

/// Whether a login of a user with an active factor shows a good code, which is spent then.
pub fn check(tx: &mut Tx<'_>, user: &str, typed: &str) -> Result<bool, Fault> {
    let Some(mut factor) = tx.get::<StoredFactor>(&[user])? else { return Ok(false) };
    let is_good = takes(tx, &mut factor, typed)?;
    if is_good {
        tx.put(&factor)?;
    }
    Ok(is_good)
}

/// Spends a code of the authenticator or a recovery code; whether it was one.
fn takes(tx: &mut Tx<'_>, factor: &mut StoredFactor, typed: &str) -> Result<bool, Fault> {
    if let Some(step) = step(tx, factor, typed)? {
        factor.last_step = Some(step);
        return Ok(true);
    }
    let hashes = tx.hashes(RECOVERY, rules::recovery_text(typed).as_bytes())?;
    let before = factor.recovery.len();
    factor.recovery.retain(|left| !hashes.contains(left));
    Ok(factor.recovery.len() < before)
}

/// The step of a code of the authenticator.
fn step(tx: &mut Tx<'_>, factor: &StoredFactor, typed: &str) -> Result<Option<u64>, Fault> {
    let secret = tx.unseal(factor, FACTOR_SECRET, &factor.secret)?;
    let bytes = rules::from_base32(secret.expose()).unwrap_or_default();
    Ok(rules::used_step(&bytes, typed, tx.now(), factor.last_step))
}

fn recovery_hash(tx: &mut Tx<'_>, code: &str) -> Result<String, Fault> {
    Ok(tx.hashes(RECOVERY, rules::recovery_text(code).as_bytes())?.swap_remove(0))
}

fn state(factor: Option<&StoredFactor>) -> FactorState {
    match factor {
        None => FactorState::None,
        Some(StoredFactor { enabled_on: None, .. }) => FactorState::Pending,
        Some(_) => FactorState::Active,
    }
}

fn wrong_state(user: &str, what: &str) -> Fault {
    Fault::new(fault::WRONG_STATE, format!("user {user} {what}"))
}

fn wrong_code() -> Fault {
    Fault::new(fault::WRONG_CODE, "the code is not right, or it was used before")
}
