//! The records that wait to be written after an answer, and what keeps them from becoming too many.

use crate::store::Tx;
use crate::store::seed::SYSTEM_ACTOR;
use mfa_shared::api::audit::{AuditChange, AuditOutcome, AuditRecord};
use mfa_shared::api::tokens::CreateToken;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::node::Node;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Most records that may wait, so that no one can fill the disk with failed logins.
pub(super) const WAITING_MAX: usize = 1_000;
/// Of these places refusals leave so many to what was looked at, so that nobody hides an export behind a
/// flood of refused requests.
pub(super) const KEPT_FOR_LOOKS: usize = WAITING_MAX / 4;
/// Refusals that are recorded when they come at once: of logins, which anybody can cause, and of one caller.
/// How long each of them counts. Beyond that they are counted only: nobody can fill the disk with them.
const LOGINS_AT_ONCE: u32 = 1_000;
const OF_CALLER_AT_ONCE: u32 = 10_000;
const COUNTS_FOR: Duration = Duration::from_millis(100);
/// Callers above which those whose refusals count no more are forgotten.
const CALLERS_KEPT: usize = 1_000;
/// While more is left out all the time, a record says how much so often, unless somebody looks at the trail.
const LEFT_OUT_EVERY: Duration = Duration::from_secs(60);
/// Records that one transaction takes from those that wait.
pub(super) const TAKEN_AT_ONCE: usize = 100;

/// What waits to be written, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) records: Vec<AuditRecord>,
    pub(super) left_out: BTreeMap<String, u64>,
    /// Before this moment no record says what was left out.
    left_out_not_before: Option<Instant>,
    logins: Refused,
    callers: HashMap<String, Refused>,
}

/// The refusals that were recorded.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// When the last of them counts no more, if each counts after the one before.
    until: Option<Instant>,
}

impl Refused {
    /// Whether one more is recorded, where so many may come at once.
    pub(super) fn admits(&mut self, at_once: u32, now: Instant) -> bool {
        let until = self.until.map_or(now, |until| until.max(now));
        let admits = until.duration_since(now) < COUNTS_FOR * at_once;
        if admits {
            self.until = Some(until + COUNTS_FOR);
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
        if has_place && (!is_refusal || self.admits(&record, Instant::now())) {
            self.records.push(record);
        } else {
            *self.left_out.entry(record.operation).or_default() += 1;
        }
    }

    /// Whether a refusal is recorded.
    fn admits(&mut self, record: &AuditRecord, now: Instant) -> bool {
        if record.operation == CreateToken::META.name {
            return self.logins.admits(LOGINS_AT_ONCE, now);
        }
        if self.callers.len() >= CALLERS_KEPT {
            self.callers.retain(|_, refused| refused.until.is_some_and(|until| until > now));
        }
        self.callers.entry(record.actor.clone()).or_default().admits(OF_CALLER_AT_ONCE, now)
    }

    /// Takes the next records out of the queue. What was left out goes with the last of the `left` that are
    /// written together, if it is time for it.
    pub(super) fn take(&mut self, left: usize, now: Instant) -> (Vec<AuditRecord>, BTreeMap<String, u64>) {
        let count = self.records.len().min(TAKEN_AT_ONCE);
        let records: Vec<_> = self.records.drain(..count).collect();
        let is_last = self.records.is_empty() || count >= left;
        let is_time = self.left_out_not_before.is_none_or(|moment| moment <= now);
        if !is_last || !is_time || self.left_out.is_empty() {
            return (records, BTreeMap::new());
        }
        self.left_out_not_before = Some(now + LEFT_OUT_EVERY);
        (records, std::mem::take(&mut self.left_out))
    }

    /// Somebody wants to see everything, also what was left out up to now.
    pub(super) fn is_looked_at(&mut self) {
        self.left_out_not_before = None;
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
