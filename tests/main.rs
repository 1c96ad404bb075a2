//! All tests of the product through its interfaces: the API, the binary, the store's files.

mod world;

mod api {
    mod cards;
    mod connections;
    mod conventions;
    mod customers;
    mod documents;
    mod employees;
    mod gateways;
    mod offices;
}
mod cli {
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
mod stories;
mod tidy;
