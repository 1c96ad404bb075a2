//! The audit trail and its end.

use super::{AUDIT, AUDIT_MARKS, AUDIT_PENDING, AUDIT_PLACE};
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::api::audit::AuditRecord;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

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
