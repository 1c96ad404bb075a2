//! Rules as pure functions of values: no store, no clock, no HTTP.

pub mod customer;
pub mod employee;
pub mod ledger;
pub mod teller;
pub mod transaction;
