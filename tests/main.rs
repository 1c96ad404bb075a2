//! All tests of the product through its interfaces: the API, the binary, the store's files.

mod world;

mod api {
    mod cards;
    mod connections;
    mod conventions;
    mod customers;
    mod employees;
    mod offices;
}
mod coverage;
mod crash;
mod stories;
mod tidy;
