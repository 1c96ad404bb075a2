//! The beginning of a store: what every one holds, and what its initialisation adds. Contract:
//! `identity.md` section 11.

use super::{groups, login, second_factor, sessions, users};
use crate::domain::bootstrap;
use crate::store::Tx;
use crate::store::records::{Initialisation, StoredPassword, StoredUser, USERS_BY_ROLE};
use mfa_shared::api::groups::PermittableGroup;
use mfa_shared::api::roles::{PHARAOH, Role};
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
    /// What was there and stays as it is.
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

/// Adds groups, starter roles and the first users, once. What exists already stays as it is.
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
    tx.put(&Initialisation { first_user: first.name.clone() })?;
    Ok(made)
}

/// Sets a lost password; the user must change it at first use.
pub fn recover(tx: &mut Tx<'_>, name: &str, hash: &str) -> Result<(), Fault> {
    let mut user = users::find(tx, name)?;
    user.must_change_password = true;
    tx.put(&user)?;
    tx.put(&StoredPassword { user: name.to_owned(), hash: hash.to_owned() })?;
    login::forget_failures(tx, name)?;
    second_factor::take_away(tx, name)?;
    sessions::end_all_of_user(tx, name)
}

/// Whether nobody can log in, because there are no users yet.
pub fn is_empty(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(!tx.any(USERS_BY_ROLE, &[])?)
}
