//! The end of a transaction in the audit trail: what it says of itself becomes part of its own commit.
//!
//! Where one process alone writes, a record is sealed at once: it gets its number and the hash that ties it
//! to the one before. Where several do, all would fight for the last record; there it waits with its commit,
//! and one of them seals it soon after, in the order of the commits. Contract: `audit.md` section 2.

use super::noted::{Besides, Noted, Whole, with_whole};
use super::record::{Record, moment, numbered};
use super::records::{AuditEnd, PendingAudit, StoredAudit};
use super::tx::Tx;
use crate::hex::hexadecimal;
use mfa_shared::api::audit::{AuditChange, AuditOutcome, AuditRecord, COVER, NO_HASH};
use mfa_shared::fault::Fault;
use mfa_shared::kind::resource;
use mfa_shared::node::Node;
use sha2::{Digest, Sha256};

impl Tx<'_> {
    /// Adds a record to the audit trail, if the transaction goes well.
    pub fn audit(&mut self, record: AuditRecord) {
        self.records.push(Noted(record, None));
    }

    /// Notes a further record that the operation changes, by its kind and the identifiers in its path.
    pub fn note_changed(&mut self, kind: &str, parts: &[&str]) {
        let parts: Vec<_> = parts.iter().map(|part| (*part).to_owned()).collect();
        self.besides.records.push(resource(kind, &parts));
    }

    /// Notes that the operation sets a secret, which no read shows, and whether there was one before.
    pub fn note_secret(&mut self, field: &str, before: bool) {
        let cover = || Some(Node::Text(COVER.to_owned()));
        let before = if before { cover() } else { None };
        self.besides.secrets.push(AuditChange { field: field.to_owned(), before, after: cover() });
    }

    /// What was noted since the last call.
    pub fn take_besides(&mut self) -> Besides {
        std::mem::take(&mut self.besides)
    }

    /// Adds a record of something that was made or removed, which is its only change.
    pub fn audit_whole(&mut self, record: AuditRecord, whole: Whole) {
        self.records.push(Noted(AuditRecord { changes: Vec::new(), ..record }, Some(whole)));
    }
}

/// Writes the audit records of a transaction.
///
/// A transaction that is refused, but still stores what it must, has done nothing: only its records of
/// failures are written.
pub(super) fn write(tx: &mut Tx<'_>, done: bool, shared: bool) -> Result<(), Fault> {
    let mut records = std::mem::take(&mut tx.records);
    records.retain(|Noted(record, _)| done || record.outcome == AuditOutcome::Failed);
    if records.is_empty() {
        return Ok(());
    }
    if !shared {
        return seal_noted(tx, records);
    }
    let chance = crate::random::hex::<8>();
    for (at, Noted(record, whole)) in records.into_iter().enumerate() {
        // They are sealed in the order of their names, which is that in which they happened.
        let name = format!("{} {chance} {at:06}", moment(record.occurred_on));
        let pending = PendingAudit { name, record };
        tx.put_line::<PendingAudit>(pending.key(), with_whole(pending.stored(), whole.as_ref()));
    }
    Ok(())
}

/// Gives records their numbers and hashes, behind the last one.
pub fn seal(tx: &mut Tx<'_>, records: Vec<AuditRecord>) -> Result<(), Fault> {
    seal_noted(tx, records.into_iter().map(|record| Noted(record, None)).collect())
}

fn seal_noted(tx: &mut Tx<'_>, records: Vec<Noted>) -> Result<(), Fault> {
    let mut end = tx.get::<AuditEnd>(AuditEnd::KEY)?;
    for Noted(mut record, whole) in records {
        let next = end.as_ref().map_or(1, |end| end.sequence + 1);
        record.sequence = i64::try_from(next).ok();
        if let Some(end) = &end {
            // Clocks of several machines differ; so that a day is a part of the trail, time never goes back.
            record.occurred_on = record.occurred_on.max(end.occurred_on);
        }
        record.previous_hash = Some(end.as_ref().map_or_else(|| NO_HASH.to_owned(), |end| end.hash.clone()));
        record.hash = None;
        let mut line = with_whole(record.hashed_part(), whole.as_ref());
        let hash = hexadecimal(&Sha256::digest(&line));
        line.extend_from_slice(format!(",\"hash\":\"{hash}\"}}").as_bytes());
        let first = end.as_ref().map_or(next, |end| end.first);
        end = Some(AuditEnd { first, sequence: next, hash, occurred_on: record.occurred_on });
        tx.put_line::<StoredAudit>(numbered(&[], next), line);
    }
    if let Some(end) = end {
        tx.add(&end);
    }
    Ok(())
}

/// The hash that a record must have.
pub fn hash(record: &AuditRecord) -> String {
    hexadecimal(&Sha256::digest(record.hashed_part()))
}
