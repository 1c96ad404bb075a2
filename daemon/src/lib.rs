//! The mfa daemon as a library: `mfa daemon run` and the tests start it.
//!
//! | module | holds |
//! |---|---|
//! | [`http`] | connections, routing, the checking order, answers |
//! | [`ops`] | one function for each row of the endpoint table |
//! | [`domain`] | rules as pure functions of values |
//! | [`outward`] | messages through mail servers and SMS services, events to their receivers |
//! | [`search`] | finding records by words, over a column in memory that follows the store |
//! | [`store`] | one serializable transaction for each request, over an engine |
//! | [`config`], [`clock`], [`random`] | the only places for settings, for "now" and for randomness |
//! | [`hex`] | bytes as hexadecimal digits |
//! | [`count`] | numbers that are counted while work goes on |
//! | [`secret`] | a secret in memory, shown nowhere by accident |
//!
//! The futures that the command line awaits are boxed, so that their code is built once, in this crate.
//!
//! What always holds: a request is one transaction; a refused request changes nothing; an acknowledged one
//! is durable and visible.

pub mod clock;
pub mod config;
pub mod count;
pub mod domain;
pub mod hex;
pub mod http;
pub mod ops;
pub mod outward;
pub mod random;
pub mod search;
pub mod secret;
pub mod store;

mod admin;
mod audit;
mod backup;
mod backups;
mod check;
mod days;
mod files;
mod init;
mod interest;
mod journal_archive;
mod look;
mod memory;
mod migrate;
mod open;
mod priority;
mod prune;
mod reports;
mod restore;
mod shelves;
mod start;
mod tls;
mod turn;
mod upgrade;
mod upgrade_backup;
mod webhooks;

pub use admin::{Rotated, add_account, recover_user, rotate_key};
pub use backup::{LocalBackup, Verified, back_up, backup_facts, verify_backup};
pub use check::{Check, Found, check};
pub use clock::Clock;
pub use config::{Auth, BackupSchedule, Config, StorePlace};
pub use domain::network::Network;
pub use domain::rate::Rates;
pub use domain::thinning::Keep;
pub use files::{FilesSeen, look_at_files};
pub use http::line::LOG_OF_REQUESTS;
pub use init::{Initialized, NewLogin, init};
pub use journal_archive::{ArchivedJournal, archive_journal};
pub use look::{
    ImagesSeen, JournalSeen, KeyFileSeen, journal_begins, look_at_images, look_at_journal, look_at_key_file,
};
pub use migrate::migrate;
pub use open::StartError;
pub use prune::{PruneError, Pruned, prune_audit};
pub use restore::{RestoreHow, Restored, restore_backup};
pub use start::Daemon;
pub use store::backup::BackupError;
pub use store::backup::crypt::{
    BackupKeys, EncryptTo, PublicKey, Seal, SealWriter, is_encrypted, needs_passphrase, open as open_backup,
};
pub use store::backup::file::{
    Draft, check_key_file, is_named as is_backup_name, read as read_backup, store_and_moment,
};
pub use store::backup::moment::ToMoment;
pub use store::backup::read::{Facts as BackupFacts, Whole as WholeBackup, whole as whole_backup};
pub use store::postgres::{Address, HeldBack, look_at_database};
pub use store::transfer::Progress;
pub use tls::{CertificateFacts, TlsFiles, certificate_facts, look_at_certificate, read_certificates};
