//! What a request says of a customer, as far as others may be like it.

use crate::domain::alike::Alike;
use mfa_shared::api::customers::{
    CreateCustomer, CustomerContact, CustomerInput, SetCustomerContacts, UpdateCustomer,
};
use mfa_shared::wire::{Json, JsonList};

/// A customer that is made or changed.
#[derive(Debug, Clone)]
pub struct SaidCustomer {
    /// The identifier.
    pub identifier: String,
    /// What it will be known by.
    pub alike: Alike,
}

impl SaidCustomer {
    /// A new one.
    pub fn made(_: &CreateCustomer, Json(input): &Json<CustomerInput>) -> Self {
        Self { identifier: input.identifier.clone(), alike: Alike::of_input(input) }
    }

    /// One that is replaced.
    pub fn changed(at: &UpdateCustomer, Json(input): &Json<CustomerInput>) -> Self {
        Self { identifier: at.customer.clone(), alike: Alike::of_input(input) }
    }

    /// One whose contacts are replaced.
    pub fn contacted(at: &SetCustomerContacts, JsonList(contacts): &JsonList<CustomerContact>) -> Self {
        Self { identifier: at.customer.clone(), alike: Alike::of_contacts(contacts) }
    }
}
