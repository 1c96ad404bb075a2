//! Employees and how they are reached. Contract: `organisation.md` section 3.

use super::customers::{ContactGroup, ContactType};
use crate::fault::Fault;
use crate::kind::Kind;
use crate::object::nested;
use crate::query::Listed;
use crate::query::{Paging, ParamDoc, Parameters, Params};
use crate::rule::*;
use crate::wire::{Accepted, Array, Json, JsonList, Nothing, Page, Query};
use crate::{endpoints, object};
use serde_json::json;

object! {
    /// How an employee is reached.
    pub struct EmployeeContact null element "wrong_type" {
        /// By which means.
        r#type as "type": ContactType = required(word()),
        /// In which role.
        group: ContactGroup = required(word()),
        /// Number or address; its form is not checked.
        value: String = required(line(256).not_blank()),
        /// 1 is used first; null last.
        preference_level: Option<i64> = optional(integer(1, 127)),
    }

    /// An employee as every read shows it.
    pub struct Employee {
        /// Unique over all employees; never changes.
        identifier: String = required(id(32)),
        /// Given name.
        given_name: Option<String> = optional(line(256)),
        /// Middle name.
        middle_name: Option<String> = optional(line(256)),
        /// Surname.
        surname: Option<String> = optional(line(256)),
        /// The office in which the employee works.
        assigned_office: Option<String> = optional(line(32)),
        /// How the employee is reached, in the order of preference.
        contact_details: Vec<EmployeeContact> = required(list(nested(), usize::MAX)),
    }

    /// A new or changed employee. On a change null unassigns the office and keeps everything else.
    pub struct EmployeeInput {
        /// Unique over all employees; never changes.
        identifier: String = required(id(32)),
        /// Given name; the empty text empties it.
        given_name: Option<String> = optional(line(256)),
        /// Middle name; the empty text empties it.
        middle_name: Option<String> = optional(line(256)),
        /// Surname; the empty text empties it.
        surname: Option<String> = optional(line(256)),
        /// The office in which the employee works; null is none.
        assigned_office: Option<String> = reference(32),
        /// How the employee is reached; a list replaces the whole list.
        contact_details: Option<Vec<EmployeeContact>> = optional(list(nested(), usize::MAX)),
    }
}

impl Listed for Employee {
    const PLURAL: &'static str = "employees";
    const COLUMNS: &'static [&'static str] = &[
        "identifier",
        "givenName",
        "middleName",
        "surname",
        "assignedOffice",
        "createdBy",
        "createdOn",
        "lastModifiedBy",
        "lastModifiedOn",
    ];
}

/// Which employees, and which part of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EmployeeQuery {
    /// Which part, in which order.
    pub paging: Paging<Employee>,
    /// Only the employees of this office.
    pub office: Option<String>,
}

impl Parameters for EmployeeQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let paging = Paging::read(params)?;
        let office = params.one("office")?.filter(|office| !office.is_empty());
        Ok(Self { paging, office: office.map(str::to_owned) })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = self.paging.write();
        pairs.extend(self.office.clone().map(|office| ("office", office)));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let mut docs = Paging::<Employee>::docs();
        let name = "office";
        let doc = "Only the employees who are assigned to this office.";
        docs.push(ParamDoc { name, doc, required: false, schema: json!({ "type": "string" }) });
        docs
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("employee", "/employees/{}", "identifier", "GetEmployee")];

endpoints! {
    application "office-v1";
    /// Register an employee.
    CreateEmployee {} Post "/employees" Json<EmployeeInput> => Accepted;
    /// List employees.
    ListEmployees {} Get "/employees" Query<EmployeeQuery> => Page<Employee>;
    /// Read an employee.
    GetEmployee { employee } Get "/employees/{employee}" Nothing => Json<Employee>, tag GetEmployee;
    /// Change an employee.
    UpdateEmployee { employee } Put "/employees/{employee}" Json<EmployeeInput> => Accepted, tag GetEmployee;
    /// Delete an employee to whom nothing is entrusted any more.
    DeleteEmployee { employee } Delete "/employees/{employee}" Nothing => Accepted, tag GetEmployee;
    /// Replace the contact details of an employee.
    SetEmployeeContacts { employee } Put "/employees/{employee}/contacts" JsonList<EmployeeContact>
        => Accepted, tag GetEmployee;
    /// Read the contact details of an employee.
    ListEmployeeContacts { employee } Get "/employees/{employee}/contacts" Nothing => Array<EmployeeContact>,
        tag GetEmployee;
    /// Remove the contact details of an employee.
    DeleteEmployeeContacts { employee } Delete "/employees/{employee}/contacts" Nothing => Accepted,
        tag GetEmployee;
}
