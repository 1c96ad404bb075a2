//! What can be seen of a store from outside, whether or not a daemon has it open: its key file, and the
//! frames of its journal. Nothing is opened for good, nothing is changed, no lock is taken.

use crate::config::Config;
use crate::store::embedded::last_value;
use crate::store::key_file::{self, KeyFileError};
use crate::store::record::{Record, key};
use crate::store::records::SealedWith;
use crate::store::unlock::prove;
use std::path::Path;
use std::time::Instant;

pub use crate::store::embedded::{ImagesSeen, JournalSeen, journal_begins, look_at_images, look_at_journal};

/// What is the case with a key file.
#[derive(Debug)]
pub enum KeyFileSeen {
    /// It can be used, and it is the one of the store as far as that could be seen.
    Fine,
    /// It does not exist, and the store has never had one: the first start makes it.
    NotYet,
    /// It is missing, and secrets of the store are encrypted with it.
    Missing,
    /// Others than its owner may read it.
    Open,
    /// It cannot be used, or belongs to another store: why.
    Wrong(String),
}

/// Looks at the key file of a configuration. The store is looked into until `deadline`; one in PostgreSQL
/// is not.
pub fn look_at_key_file(config: &Config, deadline: Instant) -> KeyFileSeen {
    let sealed = config.folder().and_then(|folder| sealed_with(folder, deadline));
    if let Err(error) = key_file::check_place(&config.secret_key_file, &config.data_dir) {
        return KeyFileSeen::Wrong(error.to_string());
    }
    match (key_file::read(&config.secret_key_file), sealed) {
        (Err(KeyFileError::Missing(_)), None) => KeyFileSeen::NotYet,
        (Err(KeyFileError::Missing(_)), Some(_)) => KeyFileSeen::Missing,
        (Err(KeyFileError::Open(..)), _) => KeyFileSeen::Open,
        (Err(error), _) => KeyFileSeen::Wrong(error.to_string()),
        (Ok(keys), Some(sealed)) => match prove(&keys, &sealed, &config.secret_key_file) {
            Ok(()) => KeyFileSeen::Fine,
            Err(error) => KeyFileSeen::Wrong(error.to_string()),
        },
        (Ok(_), None) => KeyFileSeen::Fine,
    }
}

/// The last note in the journal of the key with which the store is encrypted.
fn sealed_with(data_dir: &Path, deadline: Instant) -> Option<SealedWith> {
    let bytes = last_value(data_dir, SealedWith::SPACE, &key(&["sealed-with"]), deadline)?;
    serde_json::from_slice(&bytes).ok()
}
