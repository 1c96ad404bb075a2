//! The audit trail, its end, and the lists by which its records are found.

use super::{AUDIT, AUDIT_LISTS, AUDIT_MARKS, AUDIT_PENDING, AUDIT_PLACE};
use crate::hex::hexadecimal;
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::api::audit::AuditRecord;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Sequences in one piece of a list; only the last piece has fewer.
pub const LIST_LENGTH_MAX: usize = 128;
/// A longer name of a list is known by its hash.
const NAME_BYTES_MAX: usize = 200;

/// A sealed record of the audit trail. Its stored form is the line that is hashed, with the hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredAudit(pub AuditRecord);

impl Record for StoredAudit {
    const SPACE: Space = AUDIT;
    fn key(&self) -> Vec<u8> {
        numbered(&[], self.0.sequence.map_or(0, i64::unsigned_abs))
    }
}

/// A record that is committed and waits to be sealed, on an engine that several daemons share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingAudit {
    /// A name of its own, which begins with its time.
    pub name: String,
    /// The record.
    pub record: AuditRecord,
}

impl Record for PendingAudit {
    const SPACE: Space = AUDIT_PENDING;
    fn key(&self) -> Vec<u8> {
        key(&[&self.name])
    }
}

/// The last sealed record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEnd {
    /// Number of the first record that is kept.
    pub first: u64,
    /// Its number.
    pub sequence: u64,
    /// Its hash.
    pub hash: String,
    /// When the recorded event happened.
    pub occurred_on: Timestamp,
}

impl AuditEnd {
    /// The parts of its key.
    pub const KEY: &[&str] = &["end"];
}

impl Record for AuditEnd {
    const SPACE: Space = AUDIT_MARKS;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}

/// The line of a store that was restored. The store of which the backup was made may go on under the same
/// name; what follows is another history, with backups and journal files of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreLine {
    /// Its name, drawn by lot.
    pub line: String,
}

impl StoreLine {
    /// The parts of its key.
    pub const KEY: &[&str] = &["line"];
}

impl Record for StoreLine {
    const SPACE: Space = AUDIT_MARKS;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}

/// How far the lists go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditIndexed {
    /// The last record that is in them.
    pub sequence: u64,
    /// Whether the trail was cut, and what was cut off is not removed yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clearing: bool,
}

impl AuditIndexed {
    /// The parts of its key.
    pub const KEY: &[&str] = &["indexed"];
}

impl Record for AuditIndexed {
    const SPACE: Space = AUDIT_MARKS;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}

/// Up to where in the journal of a shared engine records were sealed. It says something about this store
/// alone, so no copy has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditPlace {
    /// Sequence of the journal.
    pub journal: u64,
}

impl AuditPlace {
    /// The parts of its key.
    pub const KEY: &[&str] = &["sealed"];
}

impl Record for AuditPlace {
    const SPACE: Space = AUDIT_PLACE;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}

/// A piece of a list: the numbers of records that have something in common, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditList {
    /// What they have in common, as a key has it.
    pub name: String,
    /// Place of the piece in the list, from 0.
    pub piece: u64,
    /// The numbers.
    pub sequences: Vec<u64>,
}

impl AuditList {
    /// The name of a list of what has this value, of this kind. What cannot be part of a key is known by its
    /// hash.
    pub fn name(kind: char, value: &str) -> String {
        let has_control = if value.is_ascii() {
            value.bytes().any(|byte| byte.is_ascii_control())
        } else {
            value.contains(char::is_control)
        };
        if value.len() <= NAME_BYTES_MAX && !has_control {
            let mut name = String::with_capacity(value.len() + 2);
            name.push(kind);
            name.push(' ');
            name.push_str(value);
            return name;
        }
        let digest = Sha256::digest(value.as_bytes());
        format!("{kind}# {}", hexadecimal(&digest))
    }
}

impl AuditList {
    /// Its numbers at these places of the list.
    pub fn within(self, places: &Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let first = self.piece * LIST_LENGTH_MAX as u64;
        (first..).zip(self.sequences).filter(|(place, _)| places.contains(place)).map(|(_, number)| number)
    }
}

impl Record for AuditList {
    const SPACE: Space = AUDIT_LISTS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.name], self.piece)
    }
}
