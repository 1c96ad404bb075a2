//! Cutting the trail: what precedes a day is removed, and the trail itself records where it was cut.
//! Contract: `audit.md` section 3.

use super::record_own;
use crate::ops::in_time::first_at;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::numbered;
use crate::store::records::{AUDIT, AUDIT_LISTS, AuditEnd, AuditIndexed, AuditList, StoredAudit};
use crate::store::tx::{decode, record};
use mfa_shared::api::audit::AuditChange;
use mfa_shared::fault::{self, Fault};
use mfa_shared::node::Node;
use mfa_shared::time::Date;
use std::ops::Range as Span;

/// Records that one transaction removes.
const REMOVED_AT_ONCE: usize = 500;

/// The numbers of the records from before a day.
pub fn before(tx: &mut Tx<'_>, day: Date) -> Result<Span<u64>, Fault> {
    let Some(end) = tx.get::<AuditEnd>(AuditEnd::KEY)? else { return Ok(1..1) };
    let next = first_at::<StoredAudit>(tx, end.first..end.sequence + 1, day.start())?;
    Ok(end.first..next)
}

/// The next lines of these records, and what is left behind them.
pub fn lines(tx: &mut Tx<'_>, numbers: Span<u64>) -> Result<(Vec<u8>, Span<u64>), Fault> {
    let range = Range { from: numbered(&[], numbers.start), to: Some(numbered(&[], numbers.end)) };
    let pairs = tx.scan(AUDIT, &range, false, REMOVED_AT_ONCE)?;
    let left = numbers.start + pairs.len() as u64..numbers.end;
    let line = |(_, value): (_, Vec<u8>)| [value, b"\n".to_vec()].concat();
    Ok((pairs.into_iter().flat_map(line).collect(), left))
}

/// Cuts the trail after these records, which are no longer part of it from then on.
pub fn cut(tx: &mut Tx<'_>, numbers: &Span<u64>, day: Date) -> Result<(), Fault> {
    let end = tx.get::<AuditEnd>(AuditEnd::KEY)?;
    let last = tx.at::<StoredAudit>(&numbered(&[], numbers.end - 1))?;
    let (Some(end), Some(StoredAudit(last))) = (end, last) else {
        return Err(Fault::new(fault::INTERNAL, "the record after which the trail is cut is not there"));
    };
    let text =
        |field: &str, after: Node| AuditChange { field: field.to_owned(), before: None, after: Some(after) };
    let changes = vec![
        text("/before", Node::Text(day.to_string())),
        text("/sequence", Node::Number((numbers.end - 1).to_string())),
        text("/hash", Node::Text(last.hash.unwrap_or_default())),
    ];
    record_own(tx, "AuditPrune", "audit-prune", None, changes);
    tx.add(&AuditEnd { first: numbers.end, ..end });
    tx.add(&AuditIndexed { sequence: numbers.end - 1, clearing: true });
    Ok(())
}

/// Up to where records and lists were removed. What was removed is not looked at again: an engine passes over
/// its traces until they are cleaned up.
#[derive(Debug, Clone, Default)]
pub struct Cleared {
    records: Vec<u8>,
    lists: Vec<u8>,
}

/// Removes the next of what was cut off, and of the lists, which are worked out anew. Returns how far it
/// came; nothing when nothing is left.
pub fn clear(tx: &mut Tx<'_>, so_far: &Cleared) -> Result<Option<Cleared>, Fault> {
    let indexed = tx.get::<AuditIndexed>(AuditIndexed::KEY)?;
    let (Some(indexed), Some(end)) =
        (indexed.filter(|indexed| indexed.clearing), tx.get::<AuditEnd>(AuditEnd::KEY)?)
    else {
        return Ok(None);
    };
    let mut cleared = so_far.clone();
    let cut_off = Range { from: so_far.records.clone(), to: Some(numbered(&[], end.first)) };
    let records = tx.scan(AUDIT, &cut_off, false, REMOVED_AT_ONCE)?;
    for (key, value) in &records {
        tx.remove(&decode::<StoredAudit>(AUDIT, value)?);
        cleared.records.clone_from(key);
    }
    let all_lists = Range { from: so_far.lists.clone(), to: None };
    let lists = tx.scan(AUDIT_LISTS, &all_lists, false, REMOVED_AT_ONCE)?;
    for (key, value) in &lists {
        tx.remove(&record::<AuditList>(key, value)?);
        cleared.lists.clone_from(key);
    }
    if records.is_empty() && lists.is_empty() {
        tx.add(&AuditIndexed { clearing: false, ..indexed });
    }
    Ok(Some(cleared))
}
