//! Customers and their lifecycle. Contract: `customers.md` sections 1 to 3.

use super::listing::{Findable, Listing, Shelved, SortKey, as_stored};
use super::{Caller, Stored, Unknown, counted};
use crate::domain::customer::{KnownCustomer, next_state, possible};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::prefix;
use crate::store::records::{INSTANCES_NOT_CLOSED, StoredCommand, StoredEmployee, StoredOffice};
use mfa_shared::api::customers::*;
use mfa_shared::api::offices::Address;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, JsonList, Nothing, Query};

/// `POST /customers`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateCustomer,
    Json(new): &Json<CustomerInput>,
) -> Result<Accepted, Fault> {
    check_references(tx, new, None)?;
    if tx.has::<Customer>(&[&new.identifier])? {
        let detail = format!("there is a customer \"{}\" already", new.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    let new = new.clone();
    tx.add(&Customer {
        identifier: new.identifier,
        r#type: new.r#type.unwrap_or(CustomerType::Person),
        given_name: new.given_name,
        middle_name: new.middle_name,
        surname: new.surname,
        date_of_birth: new.date_of_birth,
        member: new.member.unwrap_or(false),
        account_beneficiary: new.account_beneficiary,
        reference_customer: new.reference_customer,
        assigned_office: new.assigned_office,
        assigned_employee: new.assigned_employee,
        address: new.address,
        contact_details: new.contact_details.unwrap_or_default(),
        current_state: CustomerState::Pending,
        application_date: new.application_date,
        custom_values: new.custom_values.unwrap_or_default(),
        created_by: caller.name.clone(),
        created_on: tx.now(),
        last_modified_by: None,
        last_modified_on: None,
    });
    Ok(Accepted)
}

/// Groups of customers in lists.
const OPEN: u8 = 0;
const CLOSED: u8 = 1;

/// `GET /customers`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListCustomers,
    Query(query): &Query<CustomerQuery>,
) -> Result<Listing<Customer, Customer>, Fault> {
    Ok(Listing::of_shelf(&query.paging, (!query.include_closed).then_some(OPEN), as_stored))
}

/// The stored customer, and what is read of it to find it.
macro_rules! findable {
    ($($customer:ty),*) => {$(
        impl Findable for $customer {
            fn identifier(&self) -> &str {
                &self.identifier
            }
            fn texts(&self) -> Vec<Option<&str>> {
                let names = [&self.given_name, &self.middle_name, &self.surname].map(Option::as_deref);
                [Some(self.identifier.as_str())].into_iter().chain(names).collect()
            }
            fn group(&self) -> u8 {
                if self.current_state == CustomerState::Closed { CLOSED } else { OPEN }
            }
        }
    )*};
}
findable!(Customer, KnownCustomer);

impl Shelved for Customer {
    type Brief = KnownCustomer;
    fn sort_key(&self, column: &str) -> SortKey {
        sort_key(self, column)
    }
}

/// `GET /customers/{customer}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetCustomer, _: &Nothing) -> Result<Stored<Customer>, Fault> {
    let stored = tx.bytes::<Customer>(&[&at.customer])?;
    stored.map(Stored::new).ok_or_else(|| not_found(&at.customer))
}

/// `PUT /customers/{customer}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateCustomer,
    Json(change): &Json<CustomerInput>,
) -> Result<Accepted, Fault> {
    let stored = find(tx, &at.customer)?;
    if change.identifier != at.customer {
        let detail =
            format!("the body names customer \"{}\", the path \"{}\"", change.identifier, at.customer);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    check_references(tx, change, Some(&stored))?;
    let change = change.clone();
    let customer = Customer {
        r#type: change.r#type.unwrap_or(stored.r#type),
        given_name: change.given_name,
        middle_name: change.middle_name,
        surname: change.surname,
        date_of_birth: change.date_of_birth,
        member: change.member.unwrap_or(stored.member),
        account_beneficiary: change.account_beneficiary,
        reference_customer: change.reference_customer,
        assigned_office: change.assigned_office,
        assigned_employee: change.assigned_employee,
        address: change.address.or(stored.address),
        contact_details: change.contact_details.unwrap_or(stored.contact_details),
        application_date: change.application_date.or(stored.application_date),
        custom_values: change.custom_values.unwrap_or(stored.custom_values),
        ..stored
    };
    save(tx, caller, customer)
}

/// `POST /customers/{customer}/commands`
pub fn command(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CommandCustomer,
    Json(command): &Json<CustomerCommand>,
) -> Result<Accepted, Fault> {
    let mut customer = find(tx, &at.customer)?;
    let last = tx.last::<StoredCommand>(&Range::prefix(&prefix(&[&at.customer])))?;
    let was_activated = was_activated(tx, &customer, last.as_ref())?;
    let Some(state) = next_state(customer.current_state, command.action, was_activated) else {
        let state = customer.current_state;
        let possible = possible(customer.current_state);
        let detail = format!(
            "customer {} is {state}, so {} is not possible, only {possible}",
            at.customer, command.action
        );
        return Err(Fault::new(fault::WRONG_STATE, detail));
    };
    if command.action == CustomerAction::Close {
        refuse_open_accounts(tx, &at.customer)?;
    }
    if command.action == CustomerAction::Activate && customer.application_date.is_none() {
        customer.application_date = Some(tx.now().day());
    }
    customer.current_state = state;
    let record = CustomerCommandRecord {
        action: command.action,
        comment: command.comment.clone(),
        created_on: tx.now(),
        created_by: caller.name.clone(),
    };
    let number = last.map_or(0, |last| last.number) + 1;
    let was_activated = Some(was_activated || command.action == CustomerAction::Activate);
    tx.put(&StoredCommand { customer: at.customer.clone(), number, record, was_activated })?;
    save(tx, caller, customer)
}

/// Whether a customer was ever activated. The last command knows it, so a command costs the same however many
/// there were.
fn was_activated(tx: &mut Tx<'_>, customer: &Customer, last: Option<&StoredCommand>) -> Result<bool, Fault> {
    match last {
        _ if [CustomerState::Active, CustomerState::Locked].contains(&customer.current_state) => Ok(true),
        None => Ok(false),
        Some(StoredCommand { was_activated: Some(known), .. }) => Ok(*known),
        Some(_) => {
            let mut done = tx.all::<StoredCommand>(&[&customer.identifier])?.into_iter();
            Ok(done.any(|command| command.record.action == CustomerAction::Activate))
        }
    }
}

/// `GET /customers/{customer}/commands`
pub fn list_commands(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListCustomerCommands,
    _: &Nothing,
) -> Result<Rows<StoredCommand, CustomerCommandRecord>, Fault> {
    if !tx.has::<Customer>(&[&at.customer])? {
        return Err(not_found(&at.customer));
    }
    Ok(Rows::all(&[&at.customer], |_, command| Ok(command.record)))
}

/// `PUT /customers/{customer}/address`
pub fn set_address(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetCustomerAddress,
    Json(address): &Json<Address>,
) -> Result<Accepted, Fault> {
    let mut customer = find(tx, &at.customer)?;
    customer.address = Some(address.clone());
    save(tx, caller, customer)
}

/// `PUT /customers/{customer}/contact`
pub fn set_contacts(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetCustomerContacts,
    JsonList(contacts): &JsonList<CustomerContact>,
) -> Result<Accepted, Fault> {
    let mut customer = find(tx, &at.customer)?;
    customer.contact_details.clone_from(contacts);
    save(tx, caller, customer)
}

fn not_found(customer: &str) -> Fault {
    Fault::new(fault::CUSTOMER_NOT_FOUND, format!("there is no customer \"{customer}\""))
}

pub(super) fn find(tx: &mut Tx<'_>, customer: &str) -> Result<Customer, Fault> {
    tx.get(&[customer])?.ok_or_else(|| not_found(customer))
}

pub(super) fn save(tx: &mut Tx<'_>, caller: &Caller, mut customer: Customer) -> Result<Accepted, Fault> {
    customer.last_modified_by = Some(caller.name.clone());
    customer.last_modified_on = Some(tx.now());
    tx.put(&customer)?;
    Ok(Accepted)
}

/// A customer with an account that is not CLOSED cannot be closed.
fn refuse_open_accounts(tx: &mut Tx<'_>, customer: &str) -> Result<(), Fault> {
    match tx.count(INSTANCES_NOT_CLOSED, &[customer])? {
        0 => Ok(()),
        count => {
            let uses = counted(count, "product instance that is", "product instances that are");
            Err(Fault::new(fault::IN_USE, format!("customer {customer} has {uses} not CLOSED")))
        }
    }
}

/// A value that is new or differs from the stored one should name a record.
fn check_references(tx: &mut Tx<'_>, new: &CustomerInput, stored: Option<&Customer>) -> Result<(), Fault> {
    let changed = |value: fn(&CustomerInput) -> &Option<String>, old: fn(&Customer) -> &Option<String>| {
        value(new).as_ref().filter(|name| stored.is_none_or(|stored| old(stored).as_ref() != Some(*name)))
    };
    let mut unknown = Unknown::default();
    if let Some(name) = changed(|new| &new.reference_customer, |stored| &stored.reference_customer) {
        unknown.look::<Customer>(tx, "/referenceCustomer", "customer", name)?;
    }
    if let Some(name) = changed(|new| &new.assigned_office, |stored| &stored.assigned_office) {
        unknown.look::<StoredOffice>(tx, "/assignedOffice", "office", name)?;
    }
    if let Some(name) = changed(|new| &new.assigned_employee, |stored| &stored.assigned_employee) {
        unknown.look::<StoredEmployee>(tx, "/assignedEmployee", "employee", name)?;
    }
    unknown.settle(tx)
}

fn sort_key(customer: &Customer, column: &str) -> SortKey {
    match column {
        "type" => customer.r#type.as_str().into(),
        "givenName" => customer.given_name.as_ref().into(),
        "middleName" => customer.middle_name.as_ref().into(),
        "surname" => customer.surname.as_ref().into(),
        "dateOfBirth" => customer.date_of_birth.as_ref().map(|d| (d.year * 12 + d.month) * 31 + d.day).into(),
        "member" => customer.member.into(),
        "accountBeneficiary" => customer.account_beneficiary.as_ref().into(),
        "referenceCustomer" => customer.reference_customer.as_ref().into(),
        "assignedOffice" => customer.assigned_office.as_ref().into(),
        "assignedEmployee" => customer.assigned_employee.as_ref().into(),
        "currentState" => customer.current_state.as_str().into(),
        "applicationDate" => customer.application_date.map(|d| d.start().millis()).into(),
        "createdBy" => (&customer.created_by).into(),
        "createdOn" => customer.created_on.millis().into(),
        "lastModifiedBy" => customer.last_modified_by.as_ref().into(),
        "lastModifiedOn" => customer.last_modified_on.map(|on| on.millis()).into(),
        _ => (&customer.identifier).into(),
    }
}
