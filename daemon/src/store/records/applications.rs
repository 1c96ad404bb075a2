//! Applications: keys, permissions, call endpoint sets, consents.

use super::{
    APPLICATION_PERMISSIONS, APPLICATION_PERMISSIONS_BY_GROUP, APPLICATIONS, CALL_ENDPOINT_SETS,
    CALL_ENDPOINT_SETS_BY_GROUP, CONSENTS, CONSENTS_BY_USER, SIGNATURES,
};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use mfa_shared::api::applications::{CallEndpointSet, Signature};
use mfa_shared::api::roles::Permission;
use serde::{Deserialize, Serialize};

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
