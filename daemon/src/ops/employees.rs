//! Employees and how they are reached. Contract: `organisation.md` section 3.

use super::listing::{Findable, Listing, Shelved, SortKey, json};
use super::{Caller, Unknown, Use, refuse_used};
use crate::domain::employee::by_preference;
use crate::store::Tx;
use crate::store::records::{
    Audit, CUSTOMERS_BY_EMPLOYEE, EMPLOYEES_BY_OFFICE, StoredEmployee, StoredOffice, TELLERS_BY_EMPLOYEE,
    TELLERS_NOTED,
};
use mfa_shared::api::employees::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Array, Json, JsonList, Nothing, Query};

/// What keeps an employee from being deleted.
const USES: &[Use] = &[(TELLERS_BY_EMPLOYEE, "open teller", "open tellers")];

/// Uses that count only where every reference must name a record.
const STRICT_USES: &[Use] =
    &[(TELLERS_NOTED, "closed teller", "closed tellers"), (CUSTOMERS_BY_EMPLOYEE, "customer", "customers")];

/// `POST /employees`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateEmployee,
    Json(new): &Json<EmployeeInput>,
) -> Result<Accepted, Fault> {
    check_office(tx, new, None)?;
    if tx.has::<StoredEmployee>(&[&new.identifier])? {
        let detail = format!("there is an employee \"{}\" already", new.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    let new = new.clone();
    tx.put(&StoredEmployee {
        identifier: new.identifier,
        given_name: new.given_name,
        middle_name: new.middle_name,
        surname: new.surname,
        assigned_office: new.assigned_office,
        contact_details: by_preference(&new.contact_details.unwrap_or_default()),
        audit: Audit::new(&caller.name, tx.now()),
    })?;
    Ok(Accepted)
}

/// `GET /employees`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListEmployees,
    Query(query): &Query<EmployeeQuery>,
) -> Result<Listing<StoredEmployee, Employee>, Fault> {
    let show = |_: &mut Tx<'_>, employee: StoredEmployee| Ok(json(&employee.shown()));
    let listing = Listing::of_shelf(&query.paging, None, show);
    Ok(match &query.office {
        Some(office) => listing.under(EMPLOYEES_BY_OFFICE, office),
        None => listing,
    })
}

impl Findable for StoredEmployee {
    fn identifier(&self) -> &str {
        &self.identifier
    }
    fn texts(&self) -> Vec<Option<&str>> {
        let names = [self.given_name.as_deref(), self.middle_name.as_deref(), self.surname.as_deref()];
        [Some(self.identifier.as_str())].into_iter().chain(names).collect()
    }
}

impl Shelved for StoredEmployee {
    type Brief = Self;
    fn sort_key(&self, column: &str) -> SortKey {
        sort_key(self, column)
    }
}

/// `GET /employees/{employee}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetEmployee, _: &Nothing) -> Result<Json<Employee>, Fault> {
    Ok(Json(find(tx, &at.employee)?.shown()))
}

/// `PUT /employees/{employee}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateEmployee,
    Json(change): &Json<EmployeeInput>,
) -> Result<Accepted, Fault> {
    let stored = find(tx, &at.employee)?;
    if change.identifier != at.employee {
        let detail =
            format!("the body names employee \"{}\", the path \"{}\"", change.identifier, at.employee);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    check_office(tx, change, Some(&stored))?;
    let change = change.clone();
    let employee = StoredEmployee {
        given_name: change.given_name.or(stored.given_name),
        middle_name: change.middle_name.or(stored.middle_name),
        surname: change.surname.or(stored.surname),
        assigned_office: change.assigned_office,
        contact_details: change.contact_details.map_or(stored.contact_details, |c| by_preference(&c)),
        ..stored
    };
    save(tx, caller, employee)
}

/// `DELETE /employees/{employee}`
pub fn delete(tx: &mut Tx<'_>, _: &Caller, at: &DeleteEmployee, _: &Nothing) -> Result<Accepted, Fault> {
    let employee = find(tx, &at.employee)?;
    let strict = if tx.strict_references() { STRICT_USES } else { &[] };
    refuse_used(tx, "employee", &at.employee, USES.iter().chain(strict))?;
    tx.remove(&employee);
    Ok(Accepted)
}

/// `PUT /employees/{employee}/contacts`
pub fn set_contacts(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetEmployeeContacts,
    JsonList(contacts): &JsonList<EmployeeContact>,
) -> Result<Accepted, Fault> {
    let mut employee = find(tx, &at.employee)?;
    employee.contact_details = by_preference(contacts);
    save(tx, caller, employee)
}

/// `GET /employees/{employee}/contacts`
pub fn list_contacts(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListEmployeeContacts,
    _: &Nothing,
) -> Result<Array<EmployeeContact>, Fault> {
    Ok(Array(find(tx, &at.employee)?.contact_details))
}

/// `DELETE /employees/{employee}/contacts`
pub fn delete_contacts(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &DeleteEmployeeContacts,
    _: &Nothing,
) -> Result<Accepted, Fault> {
    let mut employee = find(tx, &at.employee)?;
    if employee.contact_details.is_empty() {
        return Ok(Accepted);
    }
    employee.contact_details.clear();
    save(tx, caller, employee)
}

fn find(tx: &mut Tx<'_>, employee: &str) -> Result<StoredEmployee, Fault> {
    let found = tx.get(&[employee])?;
    found.ok_or_else(|| Fault::new(fault::EMPLOYEE_NOT_FOUND, format!("there is no employee \"{employee}\"")))
}

fn save(tx: &mut Tx<'_>, caller: &Caller, mut employee: StoredEmployee) -> Result<Accepted, Fault> {
    employee.audit.touch(&caller.name, tx.now());
    tx.put(&employee)?;
    Ok(Accepted)
}

/// An office that is new or differs from the stored one should be there.
fn check_office(tx: &mut Tx<'_>, new: &EmployeeInput, stored: Option<&StoredEmployee>) -> Result<(), Fault> {
    let Some(office) = new.assigned_office.as_ref() else { return Ok(()) };
    if stored.is_some_and(|stored| stored.assigned_office.as_ref() == Some(office)) {
        return Ok(());
    }
    let mut unknown = Unknown::default();
    unknown.look::<StoredOffice>(tx, "/assignedOffice", "office", office)?;
    unknown.settle(tx)
}

fn sort_key(employee: &StoredEmployee, column: &str) -> SortKey {
    let audit = &employee.audit;
    match column {
        "givenName" => employee.given_name.as_ref().into(),
        "middleName" => employee.middle_name.as_ref().into(),
        "surname" => employee.surname.as_ref().into(),
        "assignedOffice" => employee.assigned_office.as_ref().into(),
        "createdBy" => (&audit.created_by).into(),
        "createdOn" => audit.created_on.millis().into(),
        "lastModifiedBy" => audit.last_modified_by.as_ref().into(),
        "lastModifiedOn" => audit.last_modified_on.map(|on| on.millis()).into(),
        _ => (&employee.identifier).into(),
    }
}
