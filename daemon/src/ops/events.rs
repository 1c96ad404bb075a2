//! Events: what the audit trail sends to its listeners. Contract: `audit.md` section 4.

use super::Caller;
use super::access::decide;
use super::listing::json;
use crate::domain::numbers::ListNumbers;
use crate::domain::recent_events::{Announced, Known};
use crate::store::Tx;
use crate::store::record::numbered;
use crate::store::records::{AUDIT, AuditEnd, StoredAudit};
use mfa_shared::api::audit::{AuditChange, AuditOutcome, AuditRecord, ListAudit};
use mfa_shared::api::events::{Event, EventQuery};
use mfa_shared::api::gateways::SENT_TO;
use mfa_shared::api::interest::ListInterestRuns;
use mfa_shared::api::kinds;
use mfa_shared::api::ledger::GetLedgerAccount;
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Endpoint, Meta, segments};
use mfa_shared::fault::{self, Fault};
use mfa_shared::kind::ShownBy;
use std::sync::Arc;

/// Records that are looked at in one transaction.
const LOOKED_AT_ONCE: u64 = 500;

/// Events, and up to where the trail was looked at for them.
#[derive(Debug, Default)]
pub struct Heard {
    /// The events, in their order.
    pub events: Vec<Arc<Announced>>,
    /// The last record that was looked at.
    pub upto: u64,
    /// The last record that there is.
    pub end: u64,
    /// Whether records follow that were not looked at.
    pub more: bool,
}

/// The number of the last record.
pub fn last(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    Ok(tx.get::<AuditEnd>(AuditEnd::KEY)?.map_or(0, |end| end.sequence))
}

/// The position before the first record that is kept.
pub fn before_first(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    Ok(tx.get::<AuditEnd>(AuditEnd::KEY)?.map_or(0, |end| end.first.saturating_sub(1)))
}

/// The next events after a record that a listener may see.
pub fn heard(
    tx: &mut Tx<'_>,
    caller: &Caller,
    query: &EventQuery,
    after: u64,
    size: usize,
) -> Result<Heard, Fault> {
    let Some(end) = tx.get::<AuditEnd>(AuditEnd::KEY)? else {
        return Ok(Heard { upto: after, ..Heard::default() });
    };
    check_kept(after, end.first)?;
    let mut heard = Heard { upto: after, end: end.sequence, ..Heard::default() };
    let until = end.sequence.min(after.saturating_add(LOOKED_AT_ONCE));
    let recent = tx.numbers();
    let last = (end.sequence, end.hash.as_str());
    let known = recent.as_ref().map(|recent| recent.events().after(after, until, last)).unwrap_or_default();
    let unknown = after.saturating_add(1 + known.len() as u64)..=until.min(after.saturating_add(size as u64));
    if !unknown.is_empty() {
        tx.expect(AUDIT, &unknown.map(|number| numbered(&[], number)).collect::<Vec<_>>())?;
    }
    let mut known = known.into_iter();
    while heard.upto < until && heard.events.len() < size {
        heard.upto += 1;
        let announced = match known.next() {
            Some(announced) => announced,
            None => read(tx, heard.upto, recent.as_deref())?,
        };
        heard
            .events
            .extend(announced.filter(|announced| is_wanted(announced, query) && may_hear(caller, announced)));
    }
    heard.more = heard.upto < end.sequence;
    Ok(heard)
}

/// Reads a record, and keeps what it is for the next listeners.
fn read(tx: &mut Tx<'_>, number: u64, recent: Option<&ListNumbers>) -> Result<Option<Arc<Announced>>, Fault> {
    let Some(StoredAudit(mut record)) = tx.at(&numbered(&[], number))? else { return Ok(None) };
    let (hash, before) = (record.hash.take(), record.previous_hash.take());
    let announced = if is_event(&record) { announced(record) } else { None };
    if let (Some(recent), Some(hash)) = (recent, hash) {
        recent.events().note(number, before.as_deref(), Known { hash, event: announced.clone() });
    }
    Ok(announced)
}

/// Refuses a position behind which events are missing; `first` is the first that is kept.
pub fn check_kept(after: u64, first: u64) -> Result<(), Fault> {
    if after.saturating_add(1) < first {
        let detail = format!("events are kept from number {first} on, and {after} is before that");
        return Err(Fault::new(fault::POSITION_TOO_OLD, detail));
    }
    Ok(())
}

/// Whether something was changed.
fn is_event(record: &AuditRecord) -> bool {
    let is_change = |change: &AuditChange| change.field != SENT_TO;
    record.outcome == AuditOutcome::Done && record.changes.iter().any(is_change)
}

fn is_wanted(announced: &Announced, query: &EventQuery) -> bool {
    query.kinds.is_empty() || query.kinds.contains(&announced.kind)
}

/// A record as an event, with what says who may hear it. What is about no single record is for those who may
/// read the trail.
fn announced(record: AuditRecord) -> Option<Arc<Announced>> {
    let event = Event {
        sequence: record.sequence?,
        occurred_on: record.occurred_on,
        operation: record.operation,
        resource: record.resource,
        affects: record.affects,
        actor: record.actor,
        request_id: record.request_id,
    };
    let resource = event.resource.as_deref().unwrap_or_default();
    let kind = resource.split('/').next().unwrap_or_default().to_owned();
    let by_kind = kinds().find(|known| known.name == kind).map(|kind| match kind.shown_by {
        ShownBy::Row(row) | ShownBy::List(row) | ShownBy::WithImage(row, _) => row,
    });
    let row = match (kind.as_str(), by_kind) {
        ("interest", _) => Some(ListInterestRuns::META),
        ("ledger", _) => Some(GetLedgerAccount::META),
        (_, Some(name)) => rows().find(|row| row.name == name).copied(),
        (_, None) => Some(ListAudit::META),
    };
    let text = String::from_utf8(json(&event)).ok()?;
    Some(Arc::new(Announced { event, text, kind, row }))
}

/// Whether a caller may read the record that was changed.
fn may_hear(caller: &Caller, announced: &Announced) -> bool {
    if caller.is_unchecked() {
        return true;
    }
    announced.row.as_ref().is_some_and(|row| {
        let words = announced.event.resource.as_deref().unwrap_or_default().split('/').skip(1);
        decide(caller, row, false, &filled(row, words)).is_ok()
    })
}

/// The segments of a row's path, with these identifiers in it.
fn filled<'r>(row: &Meta, mut parts: impl Iterator<Item = &'r str>) -> Vec<&'r str> {
    segments(row.path)
        .map(|segment| if segment.starts_with('{') { parts.next().unwrap_or_default() } else { segment })
        .collect()
}
