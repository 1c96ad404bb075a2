//! Backups, format `mfab/1`: one file that holds a store as it was at one moment, the same for both
//! engines.
//!
//! | bytes | |
//! |---|---|
//! | `mfab/1`, line feed | what this is |
//! | frames ([`frames`]) | one `H`, any number of `D`, one `T` |
//! | 8 | length of the frame `T` with its header, little-endian |
//! | `mfab-end` | the end of the file |
//!
//! A frame is its kind (1 byte), the lengths of its zstd data and of what that holds (4, 4), a SHA-256 (32)
//! and the zstd data. The SHA-256 is over the SHA-256 of the frame before (32 zero bytes before the first),
//! the kind, both lengths and the zstd data. So no frame can be changed, left out, repeated or moved, and the
//! SHA-256 of the frame `T` is the digest of the whole backup.
//!
//! An encrypted backup ([`crypt`]) may begin with the key file of its store: `mfab-key/1`, a line feed, its
//! length (4 bytes) and its bytes. It is no part of what is digested.
//!
//! `H` holds a [`Head`] and `T` a [`Trailer`] as JSON. What the frames `D` hold, joined, are these items:
//!
//! | bytes | |
//! |---|---|
//! | `p`, 1, 4, 4, key, value | a pair, in the order of space and key |
//! | `i`, 32, 4, bytes | an image, by its SHA-256 |
//! | `c`, 1, 4, 4, key, value | a later change: the new value of a key |
//! | `r`, 1, 4, key | a later change: the key was removed |
//! | `.` | the end |
//!
//! First come the pairs, then the images, then the changes, each with the images that it brought. A restore
//! puts the pairs and then makes the changes in their order.
//!
//! # Why this is the store at one moment
//!
//! A backup is made beside the writers, so nothing may be held for long: not the gate of the embedded engine,
//! under which no group is published, and no transaction of PostgreSQL. The pairs are read page by page, each
//! page in a transaction of its own, and so they mix the states between the first page and the last. The
//! journal puts that right, as it does for a checkpoint:
//!
//! 1. Before the first page a place in the journal is noted up to which every commit is visible.
//! 2. After the last page the place of the last commit that anybody can see is noted: the moment.
//! 3. All commits between the two follow in the stream, each with its keys and new values.
//!
//! Every change is a plain put or removal of a key. A key that no commit touched in between was read as it
//! was at the moment. The others get, by the last commit that touched them, the value that they had at the
//! moment, whatever a page has shown of them. No page can show a commit behind the moment without the key
//! being set right, as long as the page was read before the moment was noted; that is the order of 1 and 2.
//!
//! An image is not in the journal. It is there before the commit that names it and is removed after the
//! commit that ends its last use. So whatever a page or a commit names is either still there when it is
//! asked for, or a commit that is done by then has ended its use; then the moment moves behind that commit.

pub mod archive;
mod beside;
pub mod crypt;
pub mod file;
pub mod frames;
pub mod moment;
pub mod read;
pub mod restore;
#[cfg(test)]
mod tests;
pub mod write;

use crate::store::engine::JournalMark;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::ErrorKind;

/// The name of the format.
pub const FORMAT: &str = "mfab/1";

/// What a backup says of itself at its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The format.
    pub format: String,
    /// The form of the records.
    pub form: u32,
    /// Version of the program that made it.
    pub program: String,
    /// Name of the store.
    pub instance: String,
    /// Its line, if it was itself restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The engine that it was read from.
    pub engine: String,
    /// When it was begun.
    pub begun_on: Timestamp,
}

impl Head {
    /// What all backups of one store and line have in common.
    pub fn store(&self) -> String {
        store_name(&self.instance, self.line.as_deref())
    }
}

/// The name of a store with its line, as the names of backups and of archives of its journal have it.
pub fn store_name(instance: &str, line: Option<&str>) -> String {
    line.map_or_else(|| instance.to_owned(), |line| format!("{instance}-{line}"))
}

/// The last record of the audit trail in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrailHead {
    /// Its number.
    pub sequence: u64,
    /// Its hash.
    pub hash: String,
}

/// What a backup says of itself at its end, when it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trailer {
    /// It holds everything that was acknowledged before.
    pub moment: Timestamp,
    /// The last commit that it holds.
    pub journal_sequence: u64,
    /// What that commit is in the journal, for a restore to a later moment. A database keeps no such journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalMark>,
    /// The last sealed record of the audit trail.
    pub audit_head: Option<TrailHead>,
    /// Pairs.
    pub pairs: u64,
    /// Changes of keys that came while the pairs were read.
    pub changes: u64,
    /// Images.
    pub images: u64,
    /// Bytes of the images.
    pub image_bytes: u64,
}

/// Why there is no backup, or why it cannot be used.
#[derive(Debug)]
pub enum BackupError {
    /// The backup is damaged or none at all.
    Damaged(String),
    /// The backup is whole, and it cannot be used here.
    Refused(String),
    /// The target of a restore holds this, and what to do about it.
    Taken(&'static str),
    /// The backup is encrypted, and what is given does not open it.
    Locked(String),
    /// The engine failed, or the store is not whole.
    Store(Fault),
    /// A file failed.
    Io(std::io::Error),
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(why) | Self::Refused(why) | Self::Locked(why) => f.write_str(why),
            Self::Taken(what) => write!(f, "the target holds {what}"),
            Self::Store(fault) => f.write_str(&fault.detail),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BackupError {}

impl From<Fault> for BackupError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault)
    }
}

impl From<std::io::Error> for BackupError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // So says the decryption; a plain file never does.
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                damaged(format!("the backup is damaged: its encryption is not whole: {error}"))
            }
            _ => Self::Io(error),
        }
    }
}

fn damaged(why: impl Into<String>) -> BackupError {
    BackupError::Damaged(why.into())
}
