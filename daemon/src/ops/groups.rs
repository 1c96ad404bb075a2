//! Permittable groups: which endpoints a permission covers. Contract: `identity.md` section 9.

use super::grants::exceeds;
use super::{Caller, Stored, counted};
use crate::domain::bootstrap;
use crate::domain::permission::Groups;
use crate::ops::rows::Rows;
use crate::random;
use crate::store::Tx;
use crate::store::engine::Space;
use crate::store::record::{Record as _, key};
use crate::store::records::{
    APPLICATION_PERMISSIONS_BY_GROUP, CALL_ENDPOINT_SETS_BY_GROUP, GroupsVersion, ROLES_BY_GROUP,
};
use mfa_shared::api::groups::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Nothing};
use std::sync::{Arc, Mutex, PoisonError};

/// What keeps a group from being deleted: an index of the uses under the group, and their noun.
const USES: &[(Space, &str, &str)] = &[
    (ROLES_BY_GROUP, "role", "roles"),
    (APPLICATION_PERMISSIONS_BY_GROUP, "application permission", "application permissions"),
    (CALL_ENDPOINT_SETS_BY_GROUP, "call endpoint set", "call endpoint sets"),
];

/// `POST /permittablegroups`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateGroup,
    Json(group): &Json<PermittableGroup>,
) -> Result<Accepted, Fault> {
    let name = &group.identifier;
    if tx.any(ROLES_BY_GROUP, &[name])? || tx.any(APPLICATION_PERMISSIONS_BY_GROUP, &[name])? {
        let allowed = caller.holding.may_widen();
        allowed.map_err(|e| exceeds(e, &format!("group {name} is named by permissions already")))?;
    }
    if tx.has::<PermittableGroup>(&[name])? {
        let detail = format!("there is a permittable group \"{name}\" already");
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    save(tx, group)
}

/// `GET /permittablegroups`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListGroups,
    _: &Nothing,
) -> Result<Rows<PermittableGroup, PermittableGroup>, Fault> {
    Ok(Rows::all(&[], |_, group| Ok(group)))
}

/// `GET /permittablegroups/{group}`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetGroup,
    _: &Nothing,
) -> Result<Stored<PermittableGroup>, Fault> {
    let found = tx.bytes::<PermittableGroup>(&[&at.group])?;
    found.map(Stored::new).ok_or_else(|| not_found(&at.group))
}

/// `PUT /permittablegroups/{group}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateGroup,
    Json(group): &Json<PermittableGroup>,
) -> Result<Accepted, Fault> {
    find(tx, &at.group)?;
    if group.identifier != at.group {
        let detail = format!("the body names group \"{}\", the path \"{}\"", group.identifier, at.group);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    caller.holding.may_widen().map_err(|e| exceeds(e, &format!("group {}", at.group)))?;
    check_built_in(&at.group)?;
    save(tx, group)
}

/// `DELETE /permittablegroups/{group}`
pub fn delete(tx: &mut Tx<'_>, _: &Caller, at: &DeleteGroup, _: &Nothing) -> Result<Accepted, Fault> {
    let group = find(tx, &at.group)?;
    check_built_in(&at.group)?;
    let mut reasons = Vec::new();
    for (index, one, many) in USES {
        match tx.count(*index, &[&at.group])? {
            0 => {}
            count => reasons.push(counted(count, one, many)),
        }
    }
    if !reasons.is_empty() {
        let detail = format!("group {} is named by {}", at.group, reasons.join(", "));
        return Err(Fault::new(fault::IN_USE, detail));
    }
    tx.remove(&group);
    note_change(tx)?;
    Ok(Accepted)
}

/// Stores a group, and notes the change of the groups.
pub fn save(tx: &mut Tx<'_>, group: &PermittableGroup) -> Result<Accepted, Fault> {
    tx.put(group)?;
    note_change(tx)?;
    Ok(Accepted)
}

/// Notes that the groups are others. The number is drawn by lot: one that was compiled and then taken back
/// must never come again.
fn note_change(tx: &mut Tx<'_>) -> Result<(), Fault> {
    tx.put(&GroupsVersion { number: u64::from_be_bytes(random::bytes()) })
}

/// The permittable groups, compiled.
pub fn compile(tx: &mut Tx<'_>) -> Result<Arc<Groups>, Fault> {
    Ok(Arc::new(Groups::compile(tx.all::<PermittableGroup>(&[])?)))
}

/// The permittable groups, compiled once for each state of the stored ones.
#[derive(Debug, Default)]
pub struct CompiledGroups(Mutex<Option<(u64, Arc<Groups>)>>);

impl CompiledGroups {
    /// Those of the transaction's state.
    pub fn get(&self, tx: &mut Tx<'_>) -> Result<Arc<Groups>, Fault> {
        let version = version(tx)?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, groups)) = known.filter(|(of, _)| *of == version) {
            return Ok(groups);
        }
        let groups = compile(tx)?;
        if tx.is_rehearsal() {
            // Number and groups may be of two moments.
            return Ok(groups);
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, groups.clone()));
        Ok(groups)
    }
}

/// The key of the number of the groups.
const VERSION: &[&str] = &["groups"];

/// Where the number is stored that is another one after each change.
pub fn version_place() -> (Space, Vec<u8>) {
    (GroupsVersion::SPACE, key(VERSION))
}

/// The number of the groups as they are.
fn version(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    Ok(tx.get::<GroupsVersion>(VERSION)?.map_or(0, |version| version.number))
}

fn find(tx: &mut Tx<'_>, group: &str) -> Result<PermittableGroup, Fault> {
    tx.get(&[group])?.ok_or_else(|| not_found(group))
}

fn not_found(group: &str) -> Fault {
    Fault::new(fault::GROUP_NOT_FOUND, format!("there is no permittable group \"{group}\""))
}

fn check_built_in(group: &str) -> Result<(), Fault> {
    if bootstrap::is_built_in(group) {
        Err(Fault::new(fault::BUILT_IN, format!("group {group} is built in")))
    } else {
        Ok(())
    }
}
