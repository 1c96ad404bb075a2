//! Offices and their external references.

use super::{Audit, OFFICE_REFERENCES, OFFICE_REFERENCES_ACTIVE, OFFICES, OFFICES_BY_PARENT};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use mfa_shared::api::offices::{Address, ExternalReference, Office, ReferenceState};
use serde::{Deserialize, Serialize};

/// An office.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredOffice {
    /// Its identifier.
    pub identifier: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The office of which it is a branch.
    pub parent_identifier: Option<String>,
    /// Its address.
    pub address: Option<Address>,
    /// Who made and last changed it.
    pub audit: Audit,
}

impl StoredOffice {
    /// The office as reads show it.
    pub fn shown(self, external_references: bool) -> Office {
        Office {
            identifier: self.identifier,
            name: self.name,
            description: self.description,
            parent_identifier: self.parent_identifier,
            address: self.address,
            external_references,
        }
    }
}

impl Record for StoredOffice {
    const SPACE: Space = OFFICES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        self.parent_identifier.iter().map(|parent| (OFFICES_BY_PARENT, key(&[parent]))).collect()
    }
}

/// An external reference of an office.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredReference {
    /// The office.
    pub office: String,
    /// Type of the reference.
    pub r#type: String,
    /// Its state.
    pub state: ReferenceState,
}

impl StoredReference {
    /// The reference as reads show it.
    pub fn shown(self) -> ExternalReference {
        ExternalReference { r#type: self.r#type, state: self.state }
    }
}

impl Record for StoredReference {
    const SPACE: Space = OFFICE_REFERENCES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.office, &self.r#type])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let active = self.state == ReferenceState::Active;
        active.then(|| (OFFICE_REFERENCES_ACTIVE, key(&[&self.office]))).into_iter().collect()
    }
}
