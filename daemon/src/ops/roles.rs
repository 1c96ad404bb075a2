//! Roles: what users may do. Contract: `identity.md` section 8.

use super::grants::exceeds;
use super::{Caller, Stored, Unknown, users};
use crate::ops::rows::Rows;
use crate::store::Tx;
use mfa_shared::api::groups::PermittableGroup;
use mfa_shared::api::roles::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `POST /roles`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateRole,
    Json(role): &Json<Role>,
) -> Result<Accepted, Fault> {
    check_groups(tx, role)?;
    let allowed = caller.holding.may_change(&[], &role.permissions);
    allowed.map_err(|e| exceeds(e, &format!("role {}", role.identifier)))?;
    if tx.has::<Role>(&[&role.identifier])? {
        let detail = format!("there is a role \"{}\" already", role.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    tx.put(role)?;
    Ok(Accepted)
}

/// `GET /roles`
pub fn list(_: &mut Tx<'_>, _: &Caller, _: &ListRoles, _: &Nothing) -> Result<Rows<Role, Role>, Fault> {
    Ok(Rows::all(&[], |_, role| Ok(role)))
}

/// `GET /roles/{role}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetRole, _: &Nothing) -> Result<Stored<Role>, Fault> {
    let found = tx.bytes::<Role>(&[&at.role])?;
    found.map(Stored::new).ok_or_else(|| not_found(&at.role))
}

/// `PUT /roles/{role}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateRole,
    Json(role): &Json<Role>,
) -> Result<Accepted, Fault> {
    let before = find(tx, &at.role)?;
    if role.identifier != at.role {
        let detail = format!("the body names role \"{}\", the path \"{}\"", role.identifier, at.role);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    check_groups(tx, role)?;
    let allowed = caller.holding.may_change(&before.permissions, &role.permissions);
    allowed.map_err(|e| exceeds(e, &format!("role {}", at.role)))?;
    check_built_in(&at.role)?;
    tx.put(role)?;
    Ok(Accepted)
}

/// `DELETE /roles/{role}`
pub fn delete(tx: &mut Tx<'_>, caller: &Caller, at: &DeleteRole, _: &Nothing) -> Result<Accepted, Fault> {
    let before = find(tx, &at.role)?;
    let allowed = caller.holding.may_change(&before.permissions, &[]);
    allowed.map_err(|e| exceeds(e, &format!("role {}", at.role)))?;
    check_built_in(&at.role)?;
    if let Some(users) = users::of_role(tx, &at.role)? {
        return Err(Fault::new(fault::IN_USE, format!("{users} with role {}", at.role)));
    }
    tx.remove(&before);
    Ok(Accepted)
}

fn find(tx: &mut Tx<'_>, role: &str) -> Result<Role, Fault> {
    tx.get(&[role])?.ok_or_else(|| not_found(role))
}

fn not_found(role: &str) -> Fault {
    Fault::new(fault::ROLE_NOT_FOUND, format!("there is no role \"{role}\""))
}

fn check_built_in(role: &str) -> Result<(), Fault> {
    if role == PHARAOH {
        Err(Fault::new(fault::BUILT_IN, format!("role {PHARAOH} is built in")))
    } else {
        Ok(())
    }
}

fn check_groups(tx: &mut Tx<'_>, role: &Role) -> Result<(), Fault> {
    let mut unknown = Unknown::default();
    for (i, permission) in role.permissions.iter().enumerate() {
        let field = format!("/permissions/{i}/permittableEndpointGroupIdentifier");
        let group = &permission.permittable_endpoint_group_identifier;
        unknown.look::<PermittableGroup>(tx, &field, "permittable group", group)?;
    }
    unknown.settle(tx)
}
