//! Users, their passwords, roles and permittable groups.

use super::{
    GROUPS, PASSWORDS, RETIRED_USERS, ROLES, ROLES_BY_GROUP, SECOND_FACTORS, SYSTEM, USERS, USERS_BY_ROLE,
};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use crate::store::seal::{HoldsSecrets, Sealed};
use mfa_shared::api::groups::PermittableGroup;
use mfa_shared::api::roles::Role;
use mfa_shared::api::users::User;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A user. The password is stored separately, so that readers of users never load its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredUser {
    /// Its identifier.
    pub identifier: String,
    /// The role, which need not exist.
    pub role: String,
    /// Whether the password was set by someone else and must be changed first.
    pub must_change_password: bool,
    /// Whether the user ever logged in: then records may bear the name, and no one else gets it.
    pub logged_in: bool,
    /// Whether a login needs a code of the second factor.
    #[serde(default)]
    pub second_factor: bool,
    /// When all tokens with which applications act for the user ended, as far as some of them are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_ended: Option<Timestamp>,
    /// Of a deactivated user the role before, which the user may get again: nobody changes the user who could
    /// not change one with that role. Who set the password would only have to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_before: Option<String>,
}

impl StoredUser {
    /// The role whose pairs somebody needs to change the user.
    pub fn guarded_by(&self) -> &str {
        self.role_before.as_ref().unwrap_or(&self.role)
    }

    /// The user as reads show it.
    pub fn shown(self) -> User {
        User { identifier: self.identifier, role: self.role }
    }
}

impl Record for StoredUser {
    const SPACE: Space = USERS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(USERS_BY_ROLE, key(&[&self.role]))]
    }
}

/// The password of a user.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredPassword {
    /// The user.
    pub user: String,
    /// Its argon2id hash.
    pub hash: String,
}

impl Record for StoredPassword {
    const SPACE: Space = PASSWORDS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.user])
    }
}

/// The name of the field with the secret of a second factor.
pub const FACTOR_SECRET: &str = "secret";

/// The second factor of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredFactor {
    /// The user.
    pub user: String,
    /// The secret of the authenticator.
    pub secret: Sealed,
    /// Since when a login needs a code; before, no code was shown yet.
    pub enabled_on: Option<Timestamp>,
    /// The step of the last code that was used.
    pub last_step: Option<u64>,
    /// Keyed hashes of the recovery codes that are left.
    pub recovery: Vec<String>,
}

impl Record for StoredFactor {
    const SPACE: Space = SECOND_FACTORS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.user])
    }
}

impl HoldsSecrets for StoredFactor {
    fn secrets(&mut self) -> Vec<(&'static str, &mut Sealed)> {
        vec![(FACTOR_SECRET, &mut self.secret)]
    }
    fn called(&self) -> String {
        format!("second factor of user {}", self.user)
    }
}

/// The name of a deleted user that records bear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetiredUser {
    /// The name.
    pub identifier: String,
}

impl Record for RetiredUser {
    const SPACE: Space = RETIRED_USERS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

/// A role is stored as reads show it.
impl Record for Role {
    const SPACE: Space = ROLES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let groups = self.permissions.iter().map(|p| &p.permittable_endpoint_group_identifier);
        groups.map(|group| (ROLES_BY_GROUP, key(&[group]))).collect()
    }
}

/// A permittable group is stored as reads show it.
impl Record for PermittableGroup {
    const SPACE: Space = GROUPS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

/// Says whether the permittable groups are those that were compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupsVersion {
    /// Another one after each change.
    pub number: u64,
}

impl Record for GroupsVersion {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(&["groups"])
    }
}
