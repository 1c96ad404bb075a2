//! The store itself.

use super::{SECRETS, SYSTEM};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use crate::store::seal::Sealed;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Facts about the store itself: one record under the key `store`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreFacts {
    /// Name of the store, 32 hexadecimal digits.
    pub instance: String,
    /// When it was made.
    pub created_on: Timestamp,
    /// The form of its records; see [`StoreFacts::FORM`].
    #[serde(default)]
    pub form: u32,
    /// Version of the first program that opened it in this form; stores from before say nothing.
    #[serde(default)]
    pub program: Option<String>,
}

impl StoreFacts {
    /// The form of the records that this program writes. It counts up whenever a record gets another key,
    /// another meaning or another stored form. Since form 2 the lists of the trail store differences.
    pub const FORM: u32 = 2;
    /// The earliest form whose records are right as they are, so that they are served where the disk takes no
    /// changes. Nothing is stored in a later form before the store says that form.
    pub const SERVED: u32 = 1;
    /// The earliest form that this program brings up to its own; see `upgrade.rs`. It never counts up.
    const OLDEST: u32 = 1;
    /// The version of this program.
    pub const PROGRAM: &'static str = env!("CARGO_PKG_VERSION");

    /// Whether this program reads records of a form, be it after an upgrade.
    #[must_use]
    pub fn reads(form: u32) -> bool {
        (Self::OLDEST..=Self::FORM).contains(&form)
    }

    /// The forms that this program reads, for people.
    #[must_use]
    pub fn forms_read() -> String {
        match Self::OLDEST {
            Self::FORM => format!("form {}", Self::FORM),
            oldest => format!("forms {oldest} to {}", Self::FORM),
        }
    }
}

impl Record for StoreFacts {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(&["store"])
    }
}

/// The backups that daemons make by themselves: one record under the key `backups`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledBackups {
    /// The last one.
    pub made: Option<BackupMade>,
    /// What went wrong since.
    pub missed: Option<BackupMissed>,
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupMade {
    /// It holds everything that was acknowledged before.
    pub moment: Timestamp,
    /// Where it is.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
}

/// A backup that could not be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupMissed {
    /// When it was tried.
    pub on: Timestamp,
    /// What went wrong.
    pub why: String,
}

impl ScheduledBackups {
    /// Its only key.
    pub const KEY: &'static [&'static str] = &["backups"];
}

impl Record for ScheduledBackups {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}

/// The key with which the secrets of the store are encrypted: one record under the key `sealed-with`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedWith {
    /// Name of the key.
    pub key_name: String,
    /// A text that only this very key opens.
    pub proof: Sealed,
}

impl Record for SealedWith {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(&["sealed-with"])
    }
}

/// A secret that earlier programs kept in the store; see `upgrade.rs`. No new one is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreSecret {
    /// What it is for.
    pub name: String,
    /// Hexadecimal digits.
    pub secret: String,
}

impl StoreSecret {
    /// The secret of the keyed hashes of remembered requests.
    pub const IDEMPOTENCY: &'static str = "idempotency";
}

impl Record for StoreSecret {
    const SPACE: Space = SECRETS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.name])
    }
}

/// That the store was initialised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialisation {
    /// The first user.
    pub first_user: String,
    /// The groups that the program came to know after its first version, and that the store was given.
    #[serde(default)]
    pub groups_added: Vec<String>,
}

impl Record for Initialisation {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(&["initialised"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_from_the_oldest_to_this_one_is_read_and_no_other() {
        let read: Vec<u32> = (0..StoreFacts::FORM + 3).filter(|form| StoreFacts::reads(*form)).collect();
        assert_eq!(read, (1..=StoreFacts::FORM).collect::<Vec<_>>());
    }
}
