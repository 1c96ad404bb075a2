//! What the daemon and its clients agree on.
//!
//! | module | holds |
//! |---|---|
//! | [`endpoint`], [`path`] | the endpoint table: one row per endpoint; rendering and reading of paths |
//! | [`wire`], [`shape`] | what a request body and an answer can be |
//! | [`mod@object`], [`rule`] | wire objects declared like the tables of the contract: fields, rules |
//! | [`upload`], [`arrived`] | multipart forms with an image |
//! | [`query`] | query parameters, paging included |
//! | [`fault`] | the table of everything that can be refused: code, HTTP status, exit code, title, hint |
//! | [`amount`], [`time`], [`identifier`], [`address`] | values that are checked at the edge |
//! | [`password`] | passwords that are guessed first |
//! | [`permission`] | what a user may do |
//! | [`kind`], [`subject`] | kinds of records, and which record a path is about |
//! | [`api`] | wire types and rows, one file for each noun |
//!
//! Nothing here names HTTP, a store, a terminal, a runtime or a clock.

pub mod address;
pub mod amount;
pub mod api;
pub mod arrived;
pub mod endpoint;
pub mod fault;
pub mod identifier;
pub mod kind;
pub mod node;
pub mod object;
pub mod password;
pub mod path;
pub mod permission;
pub mod query;
pub mod rule;
pub mod shape;
pub mod subject;
pub mod time;
pub mod upload;
pub mod wire;

pub use fault::Fault;
