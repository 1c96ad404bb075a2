//! Rules as pure functions of values: no store, no clock, no HTTP.

pub mod access;
pub mod alike;
pub mod assertion;
pub mod bootstrap;
pub mod calendar;
pub mod customer;
pub mod employee;
pub mod gateway;
pub mod instance;
pub mod interest;
pub mod ledger;
pub mod lockout;
pub mod network;
pub mod numbers;
pub mod password;
pub mod permission;
pub mod privilege;
pub mod rsa;
pub mod search;
pub mod second_factor;
pub mod shelf;
pub mod teller;
pub mod thinning;
pub mod token;
pub mod transaction;
pub mod webhook;
