//! Employees.

use super::{Audit, EMPLOYEES, EMPLOYEES_BY_OFFICE};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use mfa_shared::api::employees::{Employee, EmployeeContact};
use serde::{Deserialize, Serialize};

/// An employee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredEmployee {
    /// Its identifier.
    pub identifier: String,
    /// Given name.
    pub given_name: Option<String>,
    /// Middle name.
    pub middle_name: Option<String>,
    /// Surname.
    pub surname: Option<String>,
    /// The office in which the employee works.
    pub assigned_office: Option<String>,
    /// How the employee is reached, in the order of preference.
    pub contact_details: Vec<EmployeeContact>,
    /// Who made and last changed it.
    pub audit: Audit,
}

impl StoredEmployee {
    /// The employee as reads show it.
    pub fn shown(self) -> Employee {
        Employee {
            identifier: self.identifier,
            given_name: self.given_name,
            middle_name: self.middle_name,
            surname: self.surname,
            assigned_office: self.assigned_office,
            contact_details: self.contact_details,
        }
    }
}

impl Record for StoredEmployee {
    const SPACE: Space = EMPLOYEES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        self.assigned_office.iter().map(|office| (EMPLOYEES_BY_OFFICE, key(&[office]))).collect()
    }
}
