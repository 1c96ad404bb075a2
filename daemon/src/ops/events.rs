//! Events: what the audit trail sends to its listeners. Contract: `audit.md` section 4.

use super::Caller;
use super::access::decide;
use crate::store::Tx;
use crate::store::record::numbered;
use crate::store::records::{AuditEnd, StoredAudit};
use mfa_shared::api::audit::{AuditOutcome, AuditRecord, ListAudit};
use mfa_shared::api::events::{Event, EventQuery};
use mfa_shared::api::interest::ListInterestRuns;
use mfa_shared::api::ledger::GetLedgerAccount;
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Endpoint, Meta, segments};
use mfa_shared::fault::{self, Fault};
use mfa_shared::kind::{KINDS, ShownBy};

/// Records that are looked at in one transaction.
const LOOKED_AT_ONCE: u64 = 500;

/// Events, and up to where the trail was looked at for them.
#[derive(Debug, Default)]
pub struct Heard {
    /// The events, in their order.
    pub events: Vec<Event>,
    /// The last record that was looked at.
    pub upto: u64,
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
    let mut heard = Heard { upto: after, ..Heard::default() };
    let until = end.sequence.min(after.saturating_add(LOOKED_AT_ONCE));
    while heard.upto < until && heard.events.len() < size {
        heard.upto += 1;
        let Some(StoredAudit(record)) = tx.at(&numbered(&[], heard.upto))? else { continue };
        if is_event(&record) && is_wanted(&record, query) && may_hear(caller, record.resource.as_deref()) {
            heard.events.extend(event(record));
        }
    }
    heard.more = heard.upto < end.sequence;
    Ok(heard)
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
    record.outcome == AuditOutcome::Done && !record.changes.is_empty()
}

fn is_wanted(record: &AuditRecord, query: &EventQuery) -> bool {
    let kind = record.resource.as_deref().and_then(|name| name.split('/').next()).unwrap_or_default();
    query.kinds.is_empty() || query.kinds.iter().any(|wanted| wanted == kind)
}

fn event(record: AuditRecord) -> Option<Event> {
    Some(Event {
        sequence: record.sequence?,
        occurred_on: record.occurred_on,
        operation: record.operation,
        resource: record.resource,
        affects: record.affects,
        actor: record.actor,
        request_id: record.request_id,
    })
}

/// Whether a caller may read the record that was changed. What is about no single record is for those who may
/// read the trail.
fn may_hear(caller: &Caller, resource: Option<&str>) -> bool {
    if caller.is_unchecked() {
        return true;
    }
    let mut words = resource.unwrap_or_default().split('/');
    let noun = words.next().unwrap_or_default();
    let by_kind = KINDS.iter().find(|kind| kind.name == noun).map(|kind| match kind.shown_by {
        ShownBy::Row(row) | ShownBy::List(row) | ShownBy::WithImage(row, _) => row,
    });
    let row = match (noun, by_kind) {
        ("interest", _) => Some(ListInterestRuns::META),
        ("ledger", _) => Some(GetLedgerAccount::META),
        (_, Some(name)) => rows().find(|row| row.name == name).copied(),
        (_, None) => Some(ListAudit::META),
    };
    row.is_some_and(|row| {
        let path = filled(&row, words);
        decide(caller, &row, false, &path).is_ok()
    })
}

/// The segments of a row's path, with these identifiers in it.
fn filled<'r>(row: &Meta, mut parts: impl Iterator<Item = &'r str>) -> Vec<&'r str> {
    segments(row.path)
        .map(|segment| if segment.starts_with('{') { parts.next().unwrap_or_default() } else { segment })
        .collect()
}
