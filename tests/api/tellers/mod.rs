//! `tellers.md`, section by section.

mod callers;
mod chance;
mod commands;
mod denominations;
mod drawer;
mod management;
mod pending;
pub mod races;
mod receipts;
mod reports;
mod session;
mod statements;
mod states;
mod traces;
mod transactions;
