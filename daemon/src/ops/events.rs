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
use mfa_shared::api::events::{Event, EventQuery, ListEvents};
use mfa_shared::api::gateways::SENT_TO;
use mfa_shared::api::interest::ListInterestRuns;
use mfa_shared::api::kinds;
use mfa_shared::api::ledger::GetLedgerAccount;
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Endpoint, Meta, segments};
use mfa_shared::fault::{self, Fault};
use mfa_shared::kind::{self, ShownBy};
use std::sync::Arc;

/// Records that are looked at in one transaction.
const LOOKED_AT_ONCE: u64 = 500;
/// Records that are asked for together once the first ones, as many as events are wanted, had too few events.
const ASKED_AT_ONCE: usize = 100;

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
    /// Whether the next record is too far from the news to be read as such.
    pub away: bool,
}

/// Which records are read, if they are not in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Those that many listeners are about to hear.
    News,
    /// All.
    All,
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
    reach: Reach,
    (after, size): (u64, usize),
) -> Result<Heard, Fault> {
    let Some(end) = tx.get::<AuditEnd>(AuditEnd::KEY)? else {
        return Ok(Heard { upto: after, ..Heard::default() });
    };
    check_kept(after, end.first)?;
    let mut heard = Heard { upto: after, end: end.sequence, ..Heard::default() };
    let until = end.sequence.min(after.saturating_add(LOOKED_AT_ONCE));
    let recent = tx.numbers();
    let last = (end.sequence, end.hash.as_str());
    let known_after = |upto: u64| {
        let count = size.max(1) as u64;
        let known = recent
            .as_ref()
            .map(|recent| recent.events().after(upto, until.min(upto.saturating_add(count)), last));
        known.unwrap_or_default().into_iter()
    };
    let mut known = known_after(after);
    // The last record that was asked for.
    let mut asked = None;
    while heard.upto < until && heard.events.len() < size {
        let number = heard.upto + 1;
        if known.len() == 0 {
            known = known_after(heard.upto);
        }
        let announced = if let Some(announced) = known.next() {
            announced
        } else {
            let is_away = |recent: &ListNumbers| recent.events().is_away(number, end.sequence);
            if reach == Reach::News && recent.as_deref().is_some_and(is_away) {
                heard.away = true;
                break;
            }
            if asked.is_none_or(|asked| number > asked) {
                let least = if asked.is_none() { 0 } else { ASKED_AT_ONCE };
                let count = (size - heard.events.len()).max(least) as u64;
                asked = Some(ask(tx, number, until.min(number + count - 1))?);
            }
            read(tx, number, recent.as_deref())?
        };
        heard.upto = number;
        heard
            .events
            .extend(announced.filter(|announced| is_wanted(announced, query) && may_hear(caller, announced)));
    }
    heard.more = heard.upto < end.sequence;
    Ok(heard)
}

/// Asks for records together, since an engine on another machine is asked once for all of them. Returns the
/// number of the last one.
fn ask(tx: &mut Tx<'_>, first: u64, last: u64) -> Result<u64, Fault> {
    tx.expect(AUDIT, &(first..=last).map(|number| numbered(&[], number)).collect::<Vec<_>>())?;
    Ok(last)
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
    Some(Arc::new(Announced::new(event, &text, kind, row)))
}

/// Whether a caller may read the record that was changed.
/// Whether a caller may hear of anything.
pub fn may_listen(caller: &Caller) -> bool {
    let row = &ListEvents::META;
    caller.is_unchecked() || decide(caller, row, false, &segments(row.path).collect::<Vec<_>>()).is_ok()
}

fn may_hear(caller: &Caller, announced: &Announced) -> bool {
    if caller.is_unchecked() {
        return true;
    }
    announced.row.as_ref().is_some_and(|row| {
        let words = kind::identifiers(announced.event.resource.as_deref().unwrap_or_default());
        decide(caller, row, false, &filled(row, words.into_iter())).is_ok()
    })
}

/// The segments of a row's path, with these identifiers in it.
fn filled<'r>(row: &Meta, mut parts: impl Iterator<Item = &'r str>) -> Vec<&'r str> {
    segments(row.path)
        .map(|segment| if segment.starts_with('{') { parts.next().unwrap_or_default() } else { segment })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::{Pair, Range, Space, View};
    use mfa_shared::node::Node;
    use mfa_shared::time::Timestamp;
    use std::collections::{BTreeMap, HashSet};

    /// A trail of 600 records, of which one in so many is an event, and what is asked of it.
    struct Trail {
        pairs: BTreeMap<(u8, Vec<u8>), Vec<u8>>,
        asked: HashSet<Vec<u8>>,
        messages: usize,
        alone: usize,
    }

    impl Trail {
        fn of(one_in: i64) -> Self {
            let mut trail = Self { pairs: BTreeMap::new(), asked: HashSet::new(), messages: 0, alone: 0 };
            let now = Timestamp::from_millis(0);
            let mut tx = Tx::new(&mut trail, now, false);
            for number in 1..=600 {
                let mut record = AuditRecord::of("CreateCustomer", now);
                record.sequence = Some(number);
                if number % one_in == 0 {
                    let after = Some(Node::Text("c".to_owned()));
                    record.changes = vec![AuditChange { field: "/x".to_owned(), before: None, after }];
                }
                tx.add(&StoredAudit(record));
            }
            tx.add(&AuditEnd { first: 1, sequence: 600, hash: String::new(), occurred_on: now });
            let changes = tx.into_changes();
            let pairs = changes.into_iter().map(|change| ((change.space.id, change.key), change.value));
            trail.pairs = pairs.filter_map(|(place, value)| Some((place, value?))).collect();
            trail
        }

        /// Looks for so many events: how many were found, and how far was looked.
        fn hear(&mut self, size: usize) -> (usize, u64) {
            let mut tx = Tx::new(self, Timestamp::from_millis(0), false);
            let heard =
                heard(&mut tx, &Caller::guest(), &EventQuery::default(), Reach::All, (0, size)).unwrap();
            (heard.events.len(), heard.upto)
        }
    }

    impl View for Trail {
        fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
            self.alone += usize::from(space == AUDIT && !self.asked.contains(key));
            Ok(self.pairs.get(&(space.id, key.to_vec())).cloned())
        }

        fn scan(&mut self, _: Space, _: &Range, _: bool, _: usize) -> Result<Vec<Pair>, Fault> {
            Ok(Vec::new())
        }

        fn expect(&mut self, _: Space, keys: &[Vec<u8>]) -> Result<(), Fault> {
            self.messages += 1;
            self.asked.extend(keys.iter().cloned());
            Ok(())
        }
    }

    #[test]
    fn records_are_asked_for_in_pieces_and_none_alone() {
        // Where every record is an event, no more are asked for than are wanted.
        for (one_in, size, found, messages, asked) in [
            (1, 100, (100, 100), 1, 100),
            (2, 100, (100, 200), 2, 200),
            (10, 100, (50, 500), 5, 500),
            (1_000, 1, (0, 500), 6, 500),
            (1, 1_000, (500, 500), 1, 500),
            (1, 0, (0, 0), 0, 0),
        ] {
            let mut trail = Trail::of(one_in);
            assert_eq!(trail.hear(size), found, "one in {one_in}");
            assert_eq!((trail.messages, trail.asked.len(), trail.alone), (messages, asked, 0));
        }
    }
}
