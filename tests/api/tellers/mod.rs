//! `tellers.md`, section by section.

mod callers;
mod commands;
mod counter;
mod denominations;
mod drawer;
mod management;
mod races;
mod reports;
mod session;
mod states;
mod transactions;
