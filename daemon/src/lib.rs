//! The daemon of a microfinance institution.

pub mod store;
