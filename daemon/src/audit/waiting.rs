//! The records that wait to be written after an answer, and what keeps them from becoming too many.

use crate::store::Tx;
use crate::store::seed::SYSTEM_ACTOR;
use mfa_shared::api::audit::{AuditChange, AuditOutcome, AuditRecord};
use mfa_shared::api::tokens::CreateToken;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::node::Node;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Most records that may wait, so that no one can fill the disk with failed logins.
pub(super) const WAITING_MAX: usize = 1_000;
/// Of these places refusals leave so many to what was looked at, so that nobody hides an export behind a
/// flood of refused requests.
pub(super) const KEPT_FOR_LOOKS: usize = WAITING_MAX / 4;
/// Refused logins, which anybody can cause, that are recorded when they come at once, and for how long each
/// of them counts. Beyond that they are counted only: nobody can fill the disk with them.
const STRANGERS_AT_ONCE: u32 = 1_000;
const STRANGER_COUNTS: Duration = Duration::from_millis(100);
/// Records that one transaction takes from those that wait.
pub(super) const TAKEN_AT_ONCE: usize = 100;

/// What waits to be written, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) records: Vec<AuditRecord>,
    pub(super) left_out: BTreeMap<String, u64>,
    strangers: Strangers,
}

/// The refused logins that were recorded.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    /// When the last of them counts no more, if each counts after the one before.
    until: Option<Instant>,
}

impl Strangers {
    /// Whether one more is recorded.
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        let until = self.until.map_or(now, |until| until.max(now));
        let admits = until.duration_since(now) < STRANGER_COUNTS * STRANGERS_AT_ONCE;
        if admits {
            self.until = Some(until + STRANGER_COUNTS);
        }
        admits
    }
}

impl Waiting {
    /// Takes a record; where there is no place for it, it is only counted.
    pub(super) fn add(&mut self, record: AuditRecord) {
        let is_refusal = record.outcome == AuditOutcome::Refused;
        let places = if is_refusal { WAITING_MAX - KEPT_FOR_LOOKS } else { WAITING_MAX };
        let has_place = self.records.len() < places;
        let is_login = is_refusal && record.operation == CreateToken::META.name;
        if has_place && (!is_login || self.strangers.admits(Instant::now())) {
            self.records.push(record);
        } else {
            *self.left_out.entry(record.operation).or_default() += 1;
        }
    }

    /// Takes the next records out of the queue. What was left out goes with the last of the `left` that are
    /// written together.
    pub(super) fn take(&mut self, left: usize) -> (Vec<AuditRecord>, BTreeMap<String, u64>) {
        let count = self.records.len().min(TAKEN_AT_ONCE);
        let records: Vec<_> = self.records.drain(..count).collect();
        let last = self.records.is_empty() || count >= left;
        (records, if last { std::mem::take(&mut self.left_out) } else { BTreeMap::new() })
    }

    /// Puts what could not be written back, in front of what has come meanwhile.
    pub(super) fn put_back(&mut self, records: Vec<AuditRecord>, left_out: BTreeMap<String, u64>) {
        let newer = std::mem::replace(&mut self.records, records);
        for record in newer {
            if self.records.len() < WAITING_MAX {
                self.records.push(record);
            } else {
                *self.left_out.entry(record.operation).or_default() += 1;
            }
        }
        for (operation, count) in left_out {
            *self.left_out.entry(operation).or_default() += count;
        }
    }
}

/// Says how many records were left out, and of which operations.
pub(super) fn overflow(tx: &Tx<'_>, left_out: &BTreeMap<String, u64>) -> AuditRecord {
    let change = |(operation, count): (&String, &u64)| AuditChange {
        field: format!("/{operation}"),
        before: None,
        after: Some(Node::Number(count.to_string())),
    };
    AuditRecord {
        actor: SYSTEM_ACTOR.to_owned(),
        request_id: "audit".to_owned(),
        changes: left_out.iter().map(change).collect(),
        ..AuditRecord::of("AuditOverflow", tx.now())
    }
}
