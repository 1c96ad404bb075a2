//! Customers and their lifecycle. Contract: `customers.md` sections 1 to 3.

use super::offices::Address;
use crate::fault::Fault;
use crate::kind::Kind;
use crate::object::nested;
use crate::query::Listed;
use crate::query::{Paging, ParamDoc, Parameters, Params};
use crate::rule::*;
use crate::time::{Date, Timestamp};
use crate::wire::{Accepted, Array, Json, JsonList, Nothing, Page, Query};
use crate::{endpoints, object, words};
use serde_json::json;

words! {
    /// What a customer is.
    pub enum CustomerType {
        /// A natural person.
        Person = "PERSON",
        /// A business.
        Business = "BUSINESS",
    }

    /// The state of a customer.
    pub enum CustomerState {
        /// Registered, not yet activated.
        Pending = "PENDING",
        /// In good standing.
        Active = "ACTIVE",
        /// Locked for a time.
        Locked = "LOCKED",
        /// Closed.
        Closed = "CLOSED",
    }

    /// What can be done to a customer.
    pub enum CustomerAction {
        /// Activate a pending customer.
        Activate = "ACTIVATE",
        /// Lock an active customer.
        Lock = "LOCK",
        /// Unlock a locked customer.
        Unlock = "UNLOCK",
        /// Close a customer that has no open accounts.
        Close = "CLOSE",
        /// Open a closed customer again.
        Reopen = "REOPEN",
    }

    /// How a person is reached.
    pub enum ContactType {
        /// By electronic mail.
        Email = "EMAIL",
        /// By telephone.
        Phone = "PHONE",
        /// By mobile telephone.
        Mobile = "MOBILE",
    }

    /// In which role a person is reached.
    pub enum ContactGroup {
        /// At work.
        Business = "BUSINESS",
        /// At home.
        Private = "PRIVATE",
    }
}

const fn identifier() -> Text {
    line(32).not_blank().segment()
}

object! {
    /// A day of birth; a missing month or day is 1.
    pub struct DateOfBirth then exists {
        /// Year.
        year: i64 = required(integer(1000, 9999)),
        /// Month, 1 to 12.
        month: i64 = or(integer(1, 12), 1),
        /// Day, 1 to 31.
        day: i64 = or(integer(1, 31), 1),
    }

    /// How a customer is reached.
    pub struct CustomerContact {
        /// By which means.
        r#type as "type": ContactType = required(word()),
        /// In which role.
        group: ContactGroup = required(word()),
        /// Number or address; its form is not checked.
        value: String = required(line(256).not_blank()),
        /// 1 is used first.
        preference_level: Option<i64> = optional(integer(1, 127)),
        /// Whether it was tried.
        validated: Option<bool> = optional(flag()),
    }

    /// A value that the institution keeps beside the fields of a customer.
    pub struct CustomValue {
        /// The catalog of the field.
        catalog_identifier: String = required(id(32)),
        /// The field.
        field_identifier: String = required(id(32)),
        /// The value.
        value: String = required(text(4096)),
    }

    /// A customer as every read shows it.
    pub struct Customer {
        /// Unique over all customers; never changes.
        identifier: String = required(identifier()),
        /// Person or business.
        r#type as "type": CustomerType = required(word()),
        /// Given name.
        given_name: Option<String> = optional(line(256)),
        /// Middle name.
        middle_name: Option<String> = optional(line(256)),
        /// Surname.
        surname: Option<String> = optional(line(256)),
        /// Day of birth.
        date_of_birth: Option<DateOfBirth> = optional(nested()),
        /// Whether the customer is a member of the institution.
        member: bool = required(flag()),
        /// Who benefits from the accounts.
        account_beneficiary: Option<String> = optional(line(512)),
        /// The customer who vouches for this one.
        reference_customer: Option<String> = optional(line(32)),
        /// The office that looks after the customer.
        assigned_office: Option<String> = optional(line(32)),
        /// The employee who looks after the customer.
        assigned_employee: Option<String> = optional(line(32)),
        /// Address.
        address: Option<Address> = optional(nested()),
        /// How the customer is reached.
        contact_details: Vec<CustomerContact> = required(list(nested(), usize::MAX)),
        /// State; only commands change it.
        current_state: CustomerState = required(word()),
        /// Day of the application; activation sets it where it is missing.
        application_date: Option<Date> = optional(date()),
        /// Values that the institution keeps beside the fields.
        custom_values: Vec<CustomValue> = required(list(nested(), usize::MAX)),
        /// Who created the record.
        created_by: String = required(line(256)),
        /// When it was created.
        created_on: Timestamp = required(timestamp()),
        /// Who changed it last.
        last_modified_by: Option<String> = optional(line(256)),
        /// When it was changed last.
        last_modified_on: Option<Timestamp> = optional(timestamp()),
    }

    /// A new or changed customer. On a change null clears the names, references and the day of birth, and
    /// keeps everything else.
    pub struct CustomerInput {
        /// Unique over all customers; never changes.
        identifier: String = required(identifier()),
        /// Person or business; a new customer is a person unless it says otherwise.
        r#type as "type": Option<CustomerType> = optional(word()),
        /// Given name.
        given_name: Option<String> = optional(line(256)),
        /// Middle name.
        middle_name: Option<String> = optional(line(256)),
        /// Surname.
        surname: Option<String> = optional(line(256)),
        /// Day of birth.
        date_of_birth: Option<DateOfBirth> = optional(nested()),
        /// Whether the customer is a member of the institution.
        member: Option<bool> = optional(flag()),
        /// Who benefits from the accounts.
        account_beneficiary: Option<String> = optional(line(512)),
        /// The customer who vouches for this one.
        reference_customer: Option<String> = reference(32),
        /// The office that looks after the customer.
        assigned_office: Option<String> = reference(32),
        /// The employee who looks after the customer.
        assigned_employee: Option<String> = reference(32),
        /// Address, replaced as a whole.
        address: Option<Address> = optional(nested()),
        /// How the customer is reached; a list replaces the whole list.
        contact_details: Option<Vec<CustomerContact>> = optional(list(nested(), usize::MAX)),
        /// Checked and ignored: only commands change the state.
        current_state: Option<CustomerState> = optional(word()),
        /// Day of the application.
        application_date: Option<Date> = optional(date()),
        /// Values beside the fields; a list replaces the whole list.
        custom_values: Option<Vec<CustomValue>> = optional(list(nested::<CustomValue>(), usize::MAX)
            .distinct_by(&["catalogIdentifier", "fieldIdentifier"])),
    }

    /// A lifecycle command.
    pub struct CustomerCommand {
        /// What to do.
        action: CustomerAction = required(word()),
        /// Why.
        comment: Option<String> = optional(text(4096)),
    }

    /// A lifecycle command that was carried out.
    pub struct CustomerCommandRecord {
        /// What was done.
        action: CustomerAction = required(word()),
        /// Why.
        comment: Option<String> = optional(text(4096)),
        /// When.
        created_on: Timestamp = required(timestamp()),
        /// By whom.
        created_by: String = required(line(256)),
    }
}

fn exists(birth: &DateOfBirth, at: &mut Checks) -> Option<()> {
    let Some(day) = Date::new(birth.year, birth.month, birth.day) else {
        return at.refuse("impossible_date", "must be a date of the calendar");
    };
    if day > at.today.next() {
        return at.refuse("out_of_range", "must not lie in the future");
    }
    Some(())
}

impl Listed for Customer {
    const PLURAL: &'static str = "customers";
    const COLUMNS: &'static [&'static str] = &[
        "identifier",
        "type",
        "givenName",
        "middleName",
        "surname",
        "dateOfBirth",
        "member",
        "accountBeneficiary",
        "referenceCustomer",
        "assignedOffice",
        "assignedEmployee",
        "currentState",
        "applicationDate",
        "createdBy",
        "createdOn",
        "lastModifiedBy",
        "lastModifiedOn",
    ];
}

/// Which customers, and which part of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CustomerQuery {
    /// Which part, in which order.
    pub paging: Paging<Customer>,
    /// Whether closed customers are listed, too.
    pub include_closed: bool,
}

impl Parameters for CustomerQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let paging = Paging::read(params)?;
        Ok(Self { paging, include_closed: params.flag("includeClosed")?.unwrap_or(false) })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = self.paging.write();
        if self.include_closed {
            pairs.push(("includeClosed", "true".to_owned()));
        }
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let mut docs = Paging::<Customer>::docs();
        let name = "includeClosed";
        let doc = "Whether closed customers are listed, too.";
        docs.push(ParamDoc {
            name,
            doc,
            required: false,
            schema: json!({ "type": "boolean", "default": false }),
        });
        docs
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("customer", "/customers/{}", "identifier", "GetCustomer")];

endpoints! {
    application "customer-v1";
    /// Register a customer, in state PENDING.
    CreateCustomer {} Post "/customers" Json<CustomerInput> => Accepted;
    /// List customers.
    ListCustomers {} Get "/customers" Query<CustomerQuery> => Page<Customer>;
    /// Read a customer.
    GetCustomer { customer } Get "/customers/{customer}" Nothing => Json<Customer>, tag GetCustomer;
    /// Change a customer.
    UpdateCustomer { customer } Put "/customers/{customer}" Json<CustomerInput> => Accepted, tag GetCustomer;
    /// Carry out a lifecycle command on a customer.
    CommandCustomer { customer } Post "/customers/{customer}/commands" Json<CustomerCommand> => Accepted;
    /// List the lifecycle commands that were carried out on a customer.
    ListCustomerCommands { customer } Get "/customers/{customer}/commands" Nothing
        => Array<CustomerCommandRecord>;
    /// Set the address of a customer.
    SetCustomerAddress { customer } Put "/customers/{customer}/address" Json<Address> => Accepted,
        tag GetCustomer;
    /// Replace the contact details of a customer.
    SetCustomerContacts { customer } Put "/customers/{customer}/contact" JsonList<CustomerContact>
        => Accepted, tag GetCustomer;
}
