//! The HTTP side: connections, routing, the checking order, answers.

pub mod access;
mod addresses;
pub mod answer;
mod batch;
pub mod body;
mod dry_run;
pub mod errand;
mod existing_only;
pub mod heavy;
pub mod idempotency;
mod image;
pub mod login;
pub mod openapi;
mod origin;
pub mod pace;
mod payload;
mod queue;
pub mod reply;
pub mod request;
pub mod route;
pub mod routes;
mod search;
pub mod server;
pub mod state;
pub mod table;
pub mod tag;
pub mod upload;
