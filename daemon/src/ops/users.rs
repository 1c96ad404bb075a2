//! Users: who may log in, and with which role. Contract: `identity.md` section 7.

use super::access::{decide, method_of};
use super::grants::{self, exceeds};
use super::secret::Judged;
use super::{Caller, Unknown, callers, counted, groups, second_factor, sessions};
use crate::domain::permission::{self, operation};
use crate::ops::attempts;
use crate::ops::find;
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{
    CONSENTS_BY_USER, RetiredUser, StoredConsent, StoredPassword, StoredUser, USERS_BY_ROLE,
};
use mfa_shared::api::roles::{DEACTIVATED, PHARAOH, Permission, Role};
use mfa_shared::api::rows_at;
use mfa_shared::api::users::*;
use mfa_shared::endpoint::{Meta, split};
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::bad;
use mfa_shared::wire::{Accepted, Array, Json, Nothing, Query};

/// `POST /users`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateUser,
    Json(new): &Json<NewUser>,
    password: &Judged,
) -> Result<Accepted, Fault> {
    check_role(tx, "/role", &new.role)?;
    let carried = grants::of_role(tx, &new.role)?;
    let allowed = caller.holding.may_change_user(&[(&new.role, &carried)]);
    allowed.map_err(|e| exceeds(e, &format!("user {} with role {}", new.identifier, new.role)))?;
    if tx.has::<StoredUser>(&[&new.identifier])? {
        let detail = format!("there is a user \"{}\" already", new.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    if tx.has::<RetiredUser>(&[&new.identifier])? {
        let detail = format!("user \"{}\" was deleted, and records still name it", new.identifier);
        return Err(Fault::new(fault::IDENTIFIER_RETIRED, detail));
    }
    insert(tx, &new.identifier, &new.role, password.hash()?, true)?;
    Ok(Accepted)
}

/// `GET /users`
pub fn list(_: &mut Tx<'_>, _: &Caller, _: &ListUsers, _: &Nothing) -> Result<Rows<StoredUser, User>, Fault> {
    Ok(Rows::all(&[], |_, user| Ok(user.shown())))
}

/// `GET /users/{user}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetUser, _: &Nothing) -> Result<Json<User>, Fault> {
    Ok(Json(find::user(tx, &at.user)?.shown()))
}

/// `GET /users/{user}/permissions`
pub fn list_permissions(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListUserPermissions,
    _: &Nothing,
) -> Result<Array<Permission>, Fault> {
    let role = find::user(tx, &at.user)?.role;
    let stored = tx.get::<Role>(&[&role])?;
    Ok(Array(permission::of_user(&role, stored.as_ref())))
}

/// `GET /users/{user}/access`
pub fn get_access(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &GetUserAccess,
    Query(asked): &Query<AccessQuery>,
) -> Result<Array<RequestAccess>, Fault> {
    let user = find::user(tx, &at.user)?;
    let path = split(&asked.path).unwrap_or_default();
    let (rows, path) = rows_at(&path).ok_or_else(|| bad("path", &asked.path, "the path of a request"))?;
    let rows = rows.into_iter().filter(|row| operation(method_of(row.method, false)) == asked.operation);
    let groups = groups::compile(tx)?;
    let caller = callers::by_login(tx, &user, &groups, (&caller.rules, &caller.uses))?;
    let segments: Vec<_> = path.iter().map(String::as_str).collect();
    let look = |row: &Meta| {
        let refused = match user.role == DEACTIVATED {
            _ if row.is_public() => None,
            true => Some(Fault::new(fault::UNAUTHENTICATED, format!("{} is deactivated", at.user))),
            false => decide(&caller, row, false, &segments).err(),
        };
        RequestAccess {
            method: method_of(row.method, false),
            path: asked.path.clone(),
            allowed: refused.is_none(),
            code: refused.as_ref().map(|fault| fault.kind.code.to_owned()),
            detail: refused.as_ref().map(|fault| fault.detail.clone()),
            missing: refused.and_then(|fault| fault.missing.clone()).unwrap_or_default(),
        }
    };
    let seen: Vec<_> = rows.map(look).collect();
    if seen.is_empty() {
        Err(bad("operation", asked.operation.as_str(), "one that the path has"))
    } else {
        Ok(Array(seen))
    }
}

/// `PUT /users/{user}/roleIdentifier`
pub fn set_role(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetUserRole,
    Json(change): &Json<RoleChange>,
) -> Result<Accepted, Fault> {
    let mut user = find::user(tx, &at.user)?;
    let role = &change.identifier;
    check_role(tx, "/identifier", role)?;
    let before = grants::of_role(tx, user.guarded_by())?;
    let after = grants::of_role(tx, role)?;
    let allowed = caller.holding.may_change_user(&[(user.guarded_by(), &before), (role, &after)]);
    allowed.map_err(|e| exceeds(e, &format!("user {} from role {} to {role}", at.user, user.role)))?;
    if user.role == *role {
        return Ok(Accepted);
    }
    keep_a_pharaoh(tx, &user)?;
    let before = std::mem::replace(&mut user.role, role.clone());
    user.role_before = (user.role == DEACTIVATED).then_some(before);
    tx.put(&user)?;
    sessions::end_all_of_user(tx, &at.user)?;
    Ok(Accepted)
}

/// `PUT /users/{user}/password`
pub fn set_password(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetUserPassword,
    Json(change): &Json<PasswordChange>,
    password: &Judged,
) -> Result<Accepted, Fault> {
    let mut user = find::user(tx, &at.user)?;
    let own = caller.is_login_of(&at.user);
    if !own {
        let carried = grants::of_role(tx, user.guarded_by())?;
        let allowed = caller.holding.may_change_user(&[(user.guarded_by(), &carried)]);
        allowed.map_err(|e| exceeds(e, &format!("the password of user {}", at.user)))?;
    }
    let present = tx.get::<StoredPassword>(&[&at.user])?.map(|stored| stored.hash);
    match change.current_password {
        None if own && caller.rules.current_password_required => {
            return Err(Fault::field("/currentPassword", "required", "is required"));
        }
        Some(_) => attempts::check_present(tx, &at.user, present.is_some() && present == password.present)?,
        None => {}
    }
    if own && user.must_change_password && present.is_some() && present == password.fits {
        return Err(Fault::field("/password", "password_unchanged", "must be another password"));
    }
    tx.put(&StoredPassword { user: at.user.clone(), hash: password.hash()? })?;
    user.must_change_password = !own;
    tx.put(&user)?;
    sessions::end_all_of_user(tx, &at.user)?;
    if !own {
        attempts::forget_failures(tx, &at.user)?;
    }
    Ok(Accepted)
}

/// The hash with which the new password is compared before the transaction of [`set_password`]: only a user
/// who must change the password may not set the present one again.
pub fn present_password(tx: &mut Tx<'_>, user: &str) -> Result<Option<String>, Fault> {
    if !tx.get::<StoredUser>(&[user])?.is_some_and(|user| user.must_change_password) {
        return Ok(None);
    }
    Ok(tx.get::<StoredPassword>(&[user])?.map(|stored| stored.hash))
}

/// `DELETE /users/{user}`
pub fn delete(tx: &mut Tx<'_>, caller: &Caller, at: &DeleteUser, _: &Nothing) -> Result<Accepted, Fault> {
    let user = find::user(tx, &at.user)?;
    let carried = grants::of_role(tx, user.guarded_by())?;
    let allowed = caller.holding.may_change_user(&[(user.guarded_by(), &carried)]);
    allowed.map_err(|e| exceeds(e, &format!("user {} with role {}", at.user, user.role)))?;
    keep_a_pharaoh(tx, &user)?;
    if second_factor::take_away(tx, &at.user)? {
        tx.note_changed("second-factor", &[&at.user]);
    }
    tx.remove(&user);
    if let Some(password) = tx.get::<StoredPassword>(&[&at.user])? {
        tx.remove(&password);
    }
    for consent in tx.indexed::<StoredConsent>(CONSENTS_BY_USER, &[&at.user])? {
        tx.remove(&consent);
        tx.note_changed("consent", &[&consent.application, &consent.group, &at.user]);
    }
    attempts::forget_addresses(tx, &at.user)?;
    sessions::end_all_of_user(tx, &at.user)?;
    if user.logged_in {
        tx.put(&RetiredUser { identifier: at.user.clone() })?;
    }
    Ok(Accepted)
}

/// Stores a new user.
pub fn insert(
    tx: &mut Tx<'_>,
    identifier: &str,
    role: &str,
    hash: String,
    must_change_password: bool,
) -> Result<(), Fault> {
    let identifier = identifier.to_owned();
    let role = role.to_owned();
    tx.put(&StoredPassword { user: identifier.clone(), hash })?;
    tx.put(&StoredUser {
        identifier,
        role,
        must_change_password,
        logged_in: false,
        second_factor: false,
        tokens_ended: None,
        role_before: None,
    })
}

fn check_role(tx: &mut Tx<'_>, pointer: &str, role: &str) -> Result<(), Fault> {
    if role == DEACTIVATED {
        return Ok(());
    }
    let mut unknown = Unknown::default();
    unknown.look::<Role>(tx, pointer, "role", role)?;
    unknown.settle(tx)
}

fn keep_a_pharaoh(tx: &mut Tx<'_>, user: &StoredUser) -> Result<(), Fault> {
    if user.role != PHARAOH || tx.count(USERS_BY_ROLE, &[PHARAOH])? > 1 {
        return Ok(());
    }
    let detail = format!("user {} is the last one with role {PHARAOH}", user.identifier);
    Err(Fault::new(fault::LAST_PHARAOH, detail))
}

/// How many users have a role, in words; `None` for none.
pub fn of_role(tx: &mut Tx<'_>, role: &str) -> Result<Option<String>, Fault> {
    let count = tx.count(USERS_BY_ROLE, &[role])?;
    Ok((count > 0).then(|| counted(count, "user", "users")))
}
