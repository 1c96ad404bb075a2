//! Records of access control: users, roles, groups, applications.

use super::engine::Space;
use super::record::{Record, key};
use super::records::*;
use mfa_shared::api::applications::{CallEndpointSet, Signature};
use mfa_shared::api::groups::PermittableGroup;
use mfa_shared::api::roles::{Permission, Role};
use mfa_shared::api::users::User;
use serde::{Deserialize, Serialize};

/// A user. The password is stored apart, so that whoever reads users never meets its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredUser {
    /// Its identifier.
    pub identifier: String,
    /// The role, which need not exist.
    pub role: String,
    /// Whether the password was set by someone else and must be changed first.
    pub must_change_password: bool,
    /// Whether the user ever logged in: then records may bear the name, and nobody else gets it.
    pub logged_in: bool,
}

impl StoredUser {
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

/// Counts the changes of permittable groups, so that nobody compiles them twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupsVersion {
    /// Changes so far.
    pub number: u64,
}

impl Record for GroupsVersion {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(&["groups"])
    }
}

/// That the store was initialised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialisation {
    /// The first user.
    pub first_user: String,
}

impl Record for Initialisation {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(&["initialised"])
    }
}

/// An application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredApplication {
    /// Its identifier.
    pub identifier: String,
}

impl Record for StoredApplication {
    const SPACE: Space = APPLICATIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

/// A public key of an application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSignature {
    /// The application.
    pub application: String,
    /// The timestamp that names the key.
    pub timestamp: String,
    /// The key as reads show it.
    pub signature: Signature,
}

impl Record for StoredSignature {
    const SPACE: Space = SIGNATURES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.application, &self.timestamp])
    }
}

/// A permission of an application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredPermission {
    /// The application.
    pub application: String,
    /// The permission as reads show it.
    pub permission: Permission,
}

impl Record for StoredPermission {
    const SPACE: Space = APPLICATION_PERMISSIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.application, &self.permission.permittable_endpoint_group_identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let group = &self.permission.permittable_endpoint_group_identifier;
        vec![(APPLICATION_PERMISSIONS_BY_GROUP, key(&[group]))]
    }
}

/// A call endpoint set of an application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSet {
    /// The application.
    pub application: String,
    /// The set as reads show it.
    pub set: CallEndpointSet,
}

impl Record for StoredSet {
    const SPACE: Space = CALL_ENDPOINT_SETS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.application, &self.set.identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let groups = self.set.permittable_endpoint_group_identifiers.iter();
        groups.map(|group| (CALL_ENDPOINT_SETS_BY_GROUP, key(&[group]))).collect()
    }
}

/// That a user lets an application use a permission; without the record it may not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredConsent {
    /// The application.
    pub application: String,
    /// The group of the permission.
    pub group: String,
    /// The user.
    pub user: String,
}

impl Record for StoredConsent {
    const SPACE: Space = CONSENTS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.application, &self.group, &self.user])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(CONSENTS_BY_USER, key(&[&self.user]))]
    }
}
