//! The daemon and its machine: settings, logins, backups, services, and what works on the store itself.

pub mod archive;
pub mod auth;
pub mod background;
pub mod backup;
pub mod config;
pub mod daemon;
pub mod dev;
pub mod doctor;
pub mod log;
pub mod login;
pub mod metrics;
pub mod privacy;
pub mod profile;
pub mod quickstart;
pub mod service;
pub mod session;
pub mod signals;
pub mod tls;
