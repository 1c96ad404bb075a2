//! All tests of the product through its interfaces: the API, the binary, the store's files.

mod assertion;
mod guarded;
mod served;
mod servers;
mod stored;
mod template;
mod world;

mod api {
    mod access;
    mod actions;
    mod applications;
    mod batch;
    mod cards;
    mod connections;
    mod conventions;
    mod customers;
    mod dangling;
    pub mod definitions;
    mod documents;
    mod dry_run;
    mod employees;
    mod gateway_mail;
    mod gateway_sms;
    mod gateways;
    mod groups;
    pub mod images;
    mod instances;
    mod ledger;
    mod login;
    mod offices;
    mod people_groups;
    mod privileges;
    mod references;
    mod roles;
    mod scans;
    mod secrets;
    mod streams;
    pub mod tellers;
    mod tokens;
    mod uploads;
    mod users;
    mod uses;
}
mod cli {
    mod access_settings;
    mod accounts;
    mod api;
    mod apply;
    mod apply_asked;
    mod bulk;
    mod bulk_told;
    mod complete;
    mod daemon;
    mod dangling;
    mod doctor;
    mod dry_run;
    mod edit;
    mod errors;
    mod explain;
    mod find;
    mod formats;
    mod gateways;
    mod guided;
    mod lists;
    mod login;
    mod money;
    mod output;
    mod pictures;
    mod profiles;
    mod retries;
    pub mod run;
    mod screens;
    mod service;
    mod settings;
    mod tellers;
    mod tellers_day;
    pub mod tree;
}
mod coverage;
mod crash;
mod store {
    mod admin;
    mod books;
    mod check;
    mod conformance;
    mod daemons;
    mod gaps;
    mod images;
    mod postgres;
    mod tellers;
    mod tls;
    mod transfer;
}
mod stories;
mod terminal;
mod tidy;
