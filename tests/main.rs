//! All tests of the product through its interfaces: the API, the binary, the store's files.

mod world;

mod api {
    mod actions;
    mod cards;
    mod connections;
    mod conventions;
    mod customers;
    mod definitions;
    mod documents;
    mod employees;
    mod gateways;
    mod instances;
    mod ledger;
    mod offices;
}
mod cli {
    mod accounts;
    mod complete;
    mod daemon;
    mod errors;
    mod output;
    mod retries;
    mod run;
    mod settings;
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
