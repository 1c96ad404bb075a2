//! What applications may do: permissions, consents, call endpoint sets. Contract: `identity.md` section 10.

use super::applications::find;
use super::grants::exceeds;
use super::{Caller, Unknown};
use crate::ops::find;
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{StoredConsent, StoredPermission, StoredSet};
use mfa_shared::api::applications::*;
use mfa_shared::api::groups::PermittableGroup;
use mfa_shared::api::roles::Permission;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, JsonFlag, Nothing};

/// `POST /applications/{application}/permissions`
pub fn create_permission(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CreateApplicationPermission,
    Json(permission): &Json<Permission>,
) -> Result<Accepted, Fault> {
    find(tx, &at.application)?;
    let group = &permission.permittable_endpoint_group_identifier;
    if !tx.has::<PermittableGroup>(&[group])? {
        let pointer = "/permittableEndpointGroupIdentifier";
        return Err(Fault::unknown_reference(pointer, "permittable group", group));
    }
    let allowed = caller.holding.may_change(&[], std::slice::from_ref(permission));
    allowed.map_err(|e| exceeds(e, &format!("permission {group} of application {}", at.application)))?;
    if tx.has::<StoredPermission>(&[&at.application, group])? {
        let detail = format!("application {} has a permission {group} already", at.application);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    tx.put(&StoredPermission { application: at.application.clone(), permission: permission.clone() })?;
    Ok(Accepted)
}

/// `GET /applications/{application}/permissions`
pub fn list_permissions(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListApplicationPermissions,
    _: &Nothing,
) -> Result<Rows<StoredPermission, Permission>, Fault> {
    find(tx, &at.application)?;
    Ok(Rows::all(&[&at.application], |_, stored| Ok(stored.permission)))
}

/// `GET /applications/{application}/permissions/{group}`
pub fn get_permission(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetApplicationPermission,
    _: &Nothing,
) -> Result<Json<Permission>, Fault> {
    Ok(Json(find_permission(tx, &at.application, &at.group)?.permission))
}

/// `PUT /applications/{application}/permissions/{group}`
pub fn update_permission(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateApplicationPermission,
    Json(after): &Json<Permission>,
) -> Result<Accepted, Fault> {
    let mut stored = find_permission(tx, &at.application, &at.group)?;
    let named = &after.permittable_endpoint_group_identifier;
    if *named != at.group {
        let detail = format!("the body names group \"{named}\", the path \"{}\"", at.group);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    let before = std::mem::replace(&mut stored.permission, after.clone());
    let allowed = caller.holding.may_change(std::slice::from_ref(&before), std::slice::from_ref(after));
    allowed.map_err(|e| exceeds(e, &format!("permission {} of application {}", at.group, at.application)))?;
    let known = |operation| before.allowed_operations.contains(operation);
    if !after.allowed_operations.iter().all(known) {
        // A user agreed to less than what the application could do from now on.
        tx.remove_all::<StoredConsent>(&[&at.application, &at.group])?;
    }
    tx.put(&stored)?;
    Ok(Accepted)
}

/// `DELETE /applications/{application}/permissions/{group}`
pub fn delete_permission(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &DeleteApplicationPermission,
    _: &Nothing,
) -> Result<Accepted, Fault> {
    let stored = find_permission(tx, &at.application, &at.group)?;
    let allowed = caller.holding.may_change(std::slice::from_ref(&stored.permission), &[]);
    allowed.map_err(|e| exceeds(e, &format!("permission {} of application {}", at.group, at.application)))?;
    tx.remove_all::<StoredConsent>(&[&at.application, &at.group])?;
    tx.remove(&stored);
    Ok(Accepted)
}

/// `POST /applications/{application}/callendpointset`
pub fn create_set(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &CreateCallEndpointSet,
    Json(set): &Json<CallEndpointSet>,
) -> Result<Accepted, Fault> {
    find(tx, &at.application)?;
    check_groups(tx, set)?;
    if tx.has::<StoredSet>(&[&at.application, &set.identifier])? {
        let detail =
            format!("application {} has a call endpoint set \"{}\" already", at.application, set.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    tx.put(&StoredSet { application: at.application.clone(), set: set.clone() })?;
    Ok(Accepted)
}

/// `GET /applications/{application}/callendpointset`
pub fn list_sets(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListCallEndpointSets,
    _: &Nothing,
) -> Result<Rows<StoredSet, CallEndpointSet>, Fault> {
    find(tx, &at.application)?;
    Ok(Rows::all(&[&at.application], |_, stored| Ok(stored.set)))
}

/// `GET /applications/{application}/callendpointset/{set}`
pub fn get_set(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetCallEndpointSet,
    _: &Nothing,
) -> Result<Json<CallEndpointSet>, Fault> {
    Ok(Json(find_set(tx, &at.application, &at.set)?.set))
}

/// `PUT /applications/{application}/callendpointset/{set}`
pub fn update_set(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &UpdateCallEndpointSet,
    Json(set): &Json<CallEndpointSet>,
) -> Result<Accepted, Fault> {
    let mut stored = find_set(tx, &at.application, &at.set)?;
    if set.identifier != at.set {
        let detail = format!("the body names set \"{}\", the path \"{}\"", set.identifier, at.set);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    check_groups(tx, set)?;
    stored.set = set.clone();
    tx.put(&stored)?;
    Ok(Accepted)
}

/// `DELETE /applications/{application}/callendpointset/{set}`
pub fn delete_set(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &DeleteCallEndpointSet,
    _: &Nothing,
) -> Result<Accepted, Fault> {
    let stored = find_set(tx, &at.application, &at.set)?;
    tx.remove(&stored);
    Ok(Accepted)
}

/// `GET /applications/{application}/permissions/{group}/users/{user}/enabled`
pub fn get_consent(tx: &mut Tx<'_>, _: &Caller, at: &GetConsent, _: &Nothing) -> Result<JsonFlag, Fault> {
    find_permission(tx, &at.application, &at.group)?;
    find::user(tx, &at.user)?;
    Ok(JsonFlag(tx.has::<StoredConsent>(&[&at.application, &at.group, &at.user])?))
}

/// `PUT /applications/{application}/permissions/{group}/users/{user}/enabled`
pub fn set_consent(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &SetConsent,
    JsonFlag(enabled): &JsonFlag,
) -> Result<Accepted, Fault> {
    find_permission(tx, &at.application, &at.group)?;
    find::user(tx, &at.user)?;
    let application = at.application.clone();
    let group = at.group.clone();
    let user = at.user.clone();
    let consent = StoredConsent { application, group, user };
    if *enabled {
        tx.put(&consent)?
    } else {
        tx.remove(&consent)
    }
    Ok(Accepted)
}

fn find_permission(tx: &mut Tx<'_>, application: &str, group: &str) -> Result<StoredPermission, Fault> {
    find(tx, application)?;
    let missing = || format!("application {application} has no permission \"{group}\"");
    tx.get(&[application, group])?.ok_or_else(|| Fault::new(fault::PERMISSION_NOT_FOUND, missing()))
}

fn find_set(tx: &mut Tx<'_>, application: &str, set: &str) -> Result<StoredSet, Fault> {
    find(tx, application)?;
    let missing = || format!("application {application} has no call endpoint set \"{set}\"");
    tx.get(&[application, set])?.ok_or_else(|| Fault::new(fault::CALL_ENDPOINT_SET_NOT_FOUND, missing()))
}

fn check_groups(tx: &mut Tx<'_>, set: &CallEndpointSet) -> Result<(), Fault> {
    let mut unknown = Unknown::default();
    for (i, group) in set.permittable_endpoint_group_identifiers.iter().enumerate() {
        let field = format!("/permittableEndpointGroupIdentifiers/{i}");
        unknown.look::<PermittableGroup>(tx, &field, "permittable group", group)?;
    }
    unknown.settle(tx)
}
