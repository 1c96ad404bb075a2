//! The endpoint table with its operations: one line for each row, in the order of the rows.

use super::route::{Route, operation, status};
use super::state;
use crate::ops::{cards, customers, employees, offices};
use mfa_shared::api::cards::*;
use mfa_shared::api::customers::*;
use mfa_shared::api::employees::*;
use mfa_shared::api::offices::*;
use mfa_shared::api::system::*;

/// Every row with what answers it.
pub fn table() -> Vec<Route> {
    vec![
        status::<GetLive>(state::live),
        status::<GetReady>(state::ready),
        status::<GetVersion>(state::version),
        operation::<CreateOffice, _>(offices::create),
        operation::<ListOffices, _>(offices::list),
        operation::<GetOffice, _>(offices::get),
        operation::<UpdateOffice, _>(offices::update),
        operation::<DeleteOffice, _>(offices::delete),
        operation::<CreateBranch, _>(offices::create_branch),
        operation::<ListBranches, _>(offices::list_branches),
        operation::<SetOfficeAddress, _>(offices::set_address),
        operation::<GetOfficeAddress, _>(offices::get_address),
        operation::<DeleteOfficeAddress, _>(offices::delete_address),
        operation::<SetOfficeReference, _>(offices::set_reference),
        operation::<ListOfficeReferences, _>(offices::list_references),
        operation::<CreateEmployee, _>(employees::create),
        operation::<ListEmployees, _>(employees::list),
        operation::<GetEmployee, _>(employees::get),
        operation::<UpdateEmployee, _>(employees::update),
        operation::<DeleteEmployee, _>(employees::delete),
        operation::<SetEmployeeContacts, _>(employees::set_contacts),
        operation::<ListEmployeeContacts, _>(employees::list_contacts),
        operation::<DeleteEmployeeContacts, _>(employees::delete_contacts),
        operation::<CreateCustomer, _>(customers::create),
        operation::<ListCustomers, _>(customers::list),
        operation::<GetCustomer, _>(customers::get),
        operation::<UpdateCustomer, _>(customers::update),
        operation::<CommandCustomer, _>(customers::command),
        operation::<ListCustomerCommands, _>(customers::list_commands),
        operation::<SetCustomerAddress, _>(customers::set_address),
        operation::<SetCustomerContacts, _>(customers::set_contacts),
        operation::<CreateCard, _>(cards::create),
        operation::<ListCards, _>(cards::list),
        operation::<GetCard, _>(cards::get),
        operation::<UpdateCard, _>(cards::update),
        operation::<DeleteCard, _>(cards::delete),
    ]
}
