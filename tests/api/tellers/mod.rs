//! `tellers.md`, section by section.

mod commands;
mod counter;
mod drawer;
mod denominations;
mod management;
mod model;
mod races;
mod session;
mod states;
mod transactions;
