//! A new store: what every one holds, and what its initialisation adds. Contract:
//! `identity.md` section 11.

use super::{groups, second_factor, sessions, users};
use crate::domain::bootstrap;
use crate::ops::attempts;
use crate::ops::find;
use crate::store::Tx;
use crate::store::records::{Initialisation, StoredPassword, StoredUser, USERS_BY_ROLE};
use mfa_shared::api::groups::PermittableGroup;
use mfa_shared::api::roles::{PHARAOH, Permission, Role};
use mfa_shared::fault::Fault;

/// The role of a second user who does the daily work of administration.
pub const ADMINISTRATOR: &str = "administrator";

/// A user to be made.
#[derive(Clone)]
pub struct FirstUser {
    /// The name.
    pub name: String,
    /// The hash of the password.
    pub hash: String,
    /// Whether the password was made up and must be changed at first use.
    pub must_change_password: bool,
}

/// What an initialisation did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    /// Whether the store had been initialised before, so that nothing was done.
    pub before: bool,
    /// What was added: `user admin`, `role clerk`, `group office__v1__offices`.
    pub added: Vec<String>,
    /// What existed already.
    pub kept: Vec<String>,
}

impl Made {
    fn note(&mut self, there: bool, what: String) -> bool {
        if there {
            self.kept.push(what)
        } else {
            self.added.push(what)
        }
        !there
    }
}

/// Writes what every store holds, if it does not: the built-in groups and the role `pharaoh`.
pub fn seed(tx: &mut Tx<'_>) -> Result<(), Fault> {
    if tx.has::<Role>(&[PHARAOH])? {
        return Ok(());
    }
    for group in bootstrap::built_in_groups() {
        groups::save(tx, &group)?;
    }
    tx.put(&bootstrap::pharaoh())
}

/// Adds groups, starter roles and the first users, once. What exists already is not changed.
pub fn initialise(tx: &mut Tx<'_>, first: &FirstUser, operator: Option<&FirstUser>) -> Result<Made, Fault> {
    let mut made = Made::default();
    if tx.has::<Initialisation>(&["initialised"])? {
        made.before = true;
        return Ok(made);
    }
    for group in bootstrap::groups().filter(|group| !bootstrap::is_built_in(&group.identifier)) {
        let there = tx.has::<PermittableGroup>(&[&group.identifier])?;
        if made.note(there, format!("group {}", group.identifier)) {
            groups::save(tx, &group)?;
        }
    }
    for role in bootstrap::roles() {
        let there = tx.has::<Role>(&[&role.identifier])?;
        if made.note(there, format!("role {}", role.identifier)) {
            tx.put(&role)?;
        }
    }
    let operator = operator.map(|operator| (operator, ADMINISTRATOR));
    for (user, role) in [(first, PHARAOH)].into_iter().chain(operator) {
        let there = tx.has::<StoredUser>(&[&user.name])?;
        if made.note(there, format!("user {}", user.name)) {
            users::insert(tx, &user.name, role, user.hash.clone(), user.must_change_password)?;
        }
    }
    let groups_added = bootstrap::LATER_GROUPS.iter().map(|group| (*group).to_owned()).collect();
    tx.put(&Initialisation { first_user: first.name.clone(), groups_added })?;
    Ok(made)
}

/// Whether an initialised store has not been given the groups that came later.
pub fn lacks_later_groups(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let Some(initialised) = tx.get::<Initialisation>(&["initialised"])? else { return Ok(false) };
    Ok(bootstrap::LATER_GROUPS.iter().any(|group| !initialised.groups_added.iter().any(|g| g == group)))
}

/// Gives an initialised store the groups that came later, and the starter roles their rights on them; only
/// once, so that a later removal is respected.
pub fn add_later_groups(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let Some(mut initialised) = tx.get::<Initialisation>(&["initialised"])? else { return Ok(()) };
    for identifier in bootstrap::LATER_GROUPS {
        if initialised.groups_added.iter().any(|group| group == identifier) {
            continue;
        }
        initialised.groups_added.push((*identifier).to_owned());
        if tx.has::<PermittableGroup>(&[identifier])? {
            continue;
        }
        if let Some(group) = bootstrap::groups().find(|group| group.identifier == *identifier) {
            groups::save(tx, &group)?;
        }
        for starter in bootstrap::roles() {
            let Some(mut role) = tx.get::<Role>(&[&starter.identifier])? else { continue };
            let of_group =
                |permission: &&Permission| permission.permittable_endpoint_group_identifier == *identifier;
            role.permissions.extend(starter.permissions.iter().filter(of_group).cloned());
            tx.put(&role)?;
        }
    }
    tx.put(&initialised)
}

/// Sets a lost password; the user must change it at first use.
pub fn recover(tx: &mut Tx<'_>, name: &str, hash: &str) -> Result<(), Fault> {
    let mut user = find::user(tx, name)?;
    user.must_change_password = true;
    tx.put(&user)?;
    tx.put(&StoredPassword { user: name.to_owned(), hash: hash.to_owned() })?;
    attempts::forget_failures(tx, name)?;
    if second_factor::take_away(tx, name)? {
        tx.note_changed("second-factor", &[name]);
    }
    sessions::end_all_of_user(tx, name)
}

/// Whether no one can log in, because there are no users yet.
pub fn is_empty(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(!tx.any(USERS_BY_ROLE, &[])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::ledger::tests::memory::Memory;

    fn rights(tx: &mut Tx<'_>, role: &str, group: &str) -> Vec<usize> {
        let role = tx.get::<Role>(&[role]).unwrap().unwrap();
        let of_group = |p: &&Permission| p.permittable_endpoint_group_identifier == group;
        role.permissions.iter().filter(of_group).map(|p| p.allowed_operations.len()).collect()
    }

    /// A store as an earlier program would have left it: without a group, and with the mark that it was given
    /// one only where an institution has removed it.
    fn forget(store: &mut Memory, group: &str, with_mark: bool) {
        store
            .write(|tx| {
                let found = tx.get::<PermittableGroup>(&[group])?;
                found.iter().for_each(|group| tx.remove(group));
                for mut role in tx.all::<Role>(&[])? {
                    role.permissions.retain(|p| p.permittable_endpoint_group_identifier != group);
                    tx.put(&role)?;
                }
                if let (Some(mut made), true) = (tx.get::<Initialisation>(&["initialised"])?, with_mark) {
                    made.groups_added.retain(|added| added != group);
                    tx.put(&made)?;
                }
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn an_earlier_store_gets_later_groups_once_with_the_rights_of_its_roles() {
        let mut store = Memory::new();
        let first = FirstUser { name: "admin".to_owned(), hash: String::new(), must_change_password: false };
        store.write(|tx| initialise(tx, &first, None).map(drop)).unwrap();
        assert!(!store.read(lacks_later_groups));
        let roles = ["administrator", "branch-manager", "clerk", "teller", "auditor"];
        for group in bootstrap::LATER_GROUPS {
            forget(&mut store, group, true);
            assert!(store.read(lacks_later_groups), "{group}");
            store.write(add_later_groups).unwrap();
            let given = store.read(|tx| Ok(roles.map(|role| rights(tx, role, group)).concat()));
            assert_eq!(given, [3, 2, 1, 1, 1], "{group}");
            // Who takes the group away again is not overruled.
            forget(&mut store, group, false);
            store.write(add_later_groups).unwrap();
            let given = store.read(|tx| Ok(roles.map(|role| rights(tx, role, group)).concat()));
            assert_eq!(given, Vec::<usize>::new(), "{group}");
        }
    }
}
