//! All tests of the product through its interfaces: the API, the binary, the store's files.

mod assertion;
mod guarded;
mod world;

mod api {
    mod access;
    mod actions;
    mod applications;
    mod cards;
    mod connections;
    mod conventions;
    mod customers;
    mod definitions;
    mod employees;
    mod gateways;
    mod groups;
    mod login;
    mod offices;
    mod privileges;
    mod roles;
    mod tellers;
    mod tokens;
    mod users;
}
mod cli {
    mod complete;
    mod daemon;
    mod errors;
    mod output;
    mod retries;
    mod run;
    mod settings;
    mod tellers;
    mod tree;
}
mod coverage;
mod crash;
mod store {
    mod conformance;
    mod postgres;
}
mod stories;
mod tidy;
