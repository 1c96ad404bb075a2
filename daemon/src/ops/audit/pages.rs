//! Lists of the audit trail: the shortest list that holds all matches is walked, or only counted through
//! where it holds nothing else; time and numbers are found by halving.

use super::lists::{self, ACTOR, OPERATION, OUTCOME, REQUEST, RESOURCE, names_of};
use crate::domain::trail_tail::NOTED_MAX;
use crate::ops::listing::{Cursor, List, json};
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, number, numbered};
use crate::store::records::{AUDIT, AuditEnd, AuditIndexed, AuditList, PendingAudit, StoredAudit};
use crate::store::tx::decode;
use mfa_shared::api::audit::{AuditQuery, AuditRecord};
use mfa_shared::fault::Fault;
use mfa_shared::query::Listed;
use mfa_shared::query::PAGE_SIZE_DEFAULT;
use mfa_shared::time::Timestamp;
use std::ops::Range as Span;

/// Records of a stream that are looked at in one transaction.
const CHUNK_RECORDS: u64 = 500;

/// Records that wait to be sealed of which a page takes notice, the oldest ones: while a long transaction of
/// another program holds the trail back, there can be any number.
const PENDING_MAX: usize = 10_000;

/// A list of records of the trail.
#[derive(Debug)]
pub struct Trail {
    query: AuditQuery,
    /// The list that is gone through; none for the whole trail.
    list: Option<String>,
    /// Whether it may hold what does not match.
    sifted: bool,
    /// The places in it that are gone through.
    places: Span<u64>,
    /// Number of the first record that is kept.
    first: u64,
    /// How many elements the list has, and the numbers that belong behind them and are not in it yet.
    listed: u64,
    tail: Vec<u64>,
}

impl Trail {
    /// The records that the query asks for, as they are at this moment.
    pub fn new(tx: &mut Tx<'_>, query: &AuditQuery) -> Result<Self, Fault> {
        let end = tx.get::<AuditEnd>(AuditEnd::KEY)?;
        let (first, next) = end.map_or((1, 1), |end| (end.first, end.sequence + 1));
        let mut trail = Self {
            query: query.clone(),
            list: None,
            sifted: false,
            places: 0..0,
            first,
            listed: 0,
            tail: Vec::new(),
        };
        let asked = [
            (RESOURCE, query.resource.as_deref()),
            (ACTOR, query.actor.as_deref()),
            (REQUEST, query.request_id.as_deref()),
            (OPERATION, query.operation.as_deref()),
            (OUTCOME, query.outcome.map(|outcome| outcome.as_str())),
        ];
        let mut length = next - first;
        let mut named = 0;
        for (kind, value) in asked.into_iter().filter_map(|(kind, value)| Some((kind, value?))) {
            let name = AuditList::name(kind, value);
            let count = lists::length(tx, &name)?;
            if trail.list.is_none() || count < length {
                (trail.list, length) = (Some(name), count);
            }
            named += 1;
        }
        trail.sifted = named > 1;
        if trail.list.is_some() {
            trail.listed = length;
            trail.tail = trail.look_through(tx, next)?;
            length += trail.tail.len() as u64;
        }
        let numbers = trail.numbers(tx, first..next)?;
        trail.places = match &trail.list {
            None => numbers.start - first..numbers.end - first,
            Some(_) => {
                let from = trail.place_of(tx, 0..length, numbers.start)?;
                from..trail.place_of(tx, from..length, numbers.end)?
            }
        };
        Ok(trail)
    }

    /// The numbers of what happened on the days, and after the record, that are asked for.
    fn numbers(&self, tx: &mut Tx<'_>, all: Span<u64>) -> Result<Span<u64>, Fault> {
        let mut numbers = all.clone();
        if let Some(after) = self.query.after {
            let from = after.unsigned_abs().saturating_add(1);
            numbers.start = numbers.start.max(from.min(numbers.end));
        }
        if let Some(dates) = &self.query.dates {
            let from = dates.first.start();
            let to = dates.last.next().start();
            let from = number_at(tx, all.clone(), from)?;
            let to = number_at(tx, all, to)?;
            numbers = numbers.start.max(from)..numbers.end.min(to);
        }
        Ok(numbers.start..numbers.end.max(numbers.start))
    }

    /// The first place whose number is not below this one. Most queries are for everything, so both ends are
    /// looked at first.
    fn place_of(&self, tx: &mut Tx<'_>, places: Span<u64>, number: u64) -> Result<u64, Fault> {
        let Span { mut start, mut end } = places;
        if start < end && self.number_of(tx, start)?.is_none_or(|first| first >= number) {
            return Ok(start);
        }
        if start < end && self.number_of(tx, end - 1)?.is_some_and(|last| last < number) {
            return Ok(end);
        }
        while start < end {
            let middle = start + (end - start) / 2;
            match self.number_of(tx, middle)? {
                Some(found) if found < number => start = middle + 1,
                _ => end = middle,
            }
        }
        Ok(start)
    }

    fn number_of(&self, tx: &mut Tx<'_>, place: u64) -> Result<Option<u64>, Fault> {
        Ok(self.numbers_of(tx, place..place + 1)?.first().copied())
    }

    /// The numbers at places that follow each other.
    fn numbers_of(&self, tx: &mut Tx<'_>, places: Span<u64>) -> Result<Vec<u64>, Fault> {
        let Some(name) = &self.list else {
            return Ok((self.first + places.start..self.first + places.end).collect());
        };
        let mut numbers = lists::elements(tx, name, places.start..places.end.min(self.listed))?;
        let behind = places.start.max(self.listed)..places.end.max(self.listed);
        let within = |place: u64| usize::try_from(place - self.listed).unwrap_or(usize::MAX);
        let tail = self.tail.iter().take(within(behind.end)).skip(within(behind.start));
        numbers.extend(tail);
        Ok(numbers)
    }

    /// The matches that are not in the lists yet, which are the last ones.
    fn look_through(&self, tx: &mut Tx<'_>, next: u64) -> Result<Vec<u64>, Fault> {
        let indexed = tx.get::<AuditIndexed>(AuditIndexed::KEY)?.map_or(0, |indexed| indexed.sequence);
        let missing = self.first.max(indexed + 1)..next;
        if let Some(found) = self.indexed(tx, &missing)? {
            return Ok(found);
        }
        let mut found = Vec::new();
        tx.walk(AUDIT, range_of(&missing), &mut |key, value| {
            let StoredAudit(record) = decode(AUDIT, value)?;
            if self.matches(&record) {
                found.push(number(key));
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// The matches among records that no list has yet, by the index in memory; `None` if it lacks some.
    fn indexed(&self, tx: &mut Tx<'_>, missing: &Span<u64>) -> Result<Option<Vec<u64>>, Fault> {
        let few = missing.end.saturating_sub(missing.start) <= NOTED_MAX;
        let (Some(kept), Some(list), true) = (tx.numbers(), &self.list, few) else { return Ok(None) };
        let mut tail = tx.lock(kept.trail());
        let Some(from) = tail.begin(missing.start) else { return Ok(None) };
        tx.walk(AUDIT, range_of(&(from..missing.end)), &mut |key, value| {
            tail.add(number(key), &lists::lists_of(value)?);
            Ok(true)
        })?;
        let mut found = tail.named(list, missing);
        drop(tail);
        if self.sifted {
            let keys: Vec<_> = found.iter().map(|found| numbered(&[], *found)).collect();
            tx.expect(AUDIT, &keys)?;
            let mut matching = Vec::new();
            for (found, key) in found.into_iter().zip(keys) {
                matching.extend(tx.at::<StoredAudit>(&key)?.filter(|s| self.matches(&s.0)).map(|_| found));
            }
            found = matching;
        }
        Ok(Some(found))
    }

    /// The records at places that follow each other in the order of the list.
    fn records_at(
        &self,
        tx: &mut Tx<'_>,
        places: &Span<u64>,
        passed: Span<u64>,
    ) -> Result<Vec<AuditRecord>, Fault> {
        let mut numbers = self.numbers_of(tx, self.part(places, &passed))?;
        if self.query.paging.descending {
            numbers.reverse();
        }
        let keys: Vec<_> = numbers.into_iter().map(|number| numbered(&[], number)).collect();
        tx.expect(AUDIT, &keys)?;
        let mut records = Vec::with_capacity(keys.len());
        for key in keys {
            records.extend(tx.at::<StoredAudit>(&key)?.map(|stored| stored.0));
        }
        Ok(records)
    }

    fn matches(&self, record: &AuditRecord) -> bool {
        let is = |asked: &Option<String>, given: &str| asked.as_ref().is_none_or(|asked| asked == given);
        let query = &self.query;
        is(&query.actor, &record.actor)
            && is(&query.request_id, &record.request_id)
            && is(&query.operation, &record.operation)
            && query.outcome.is_none_or(|asked| asked == record.outcome)
            && query.resource.as_ref().is_none_or(|asked| {
                let named = record.resource.iter().chain(&record.affects);
                named.flat_map(|resource| names_of(resource)).any(|name| name == *asked)
            })
    }

    /// The places of what comes, in the order of the query, behind the first ones.
    fn part(&self, places: &Span<u64>, passed: &Span<u64>) -> Span<u64> {
        if self.query.paging.descending {
            places.end - passed.end..places.end - passed.start
        } else {
            places.start + passed.start..places.start + passed.end
        }
    }

    /// What is committed and not sealed yet; it comes last.
    fn pending(&self, tx: &mut Tx<'_>) -> Result<Vec<AuditRecord>, Fault> {
        let space = PendingAudit::SPACE;
        let pairs = tx.scan(space, &Range::prefix(b""), false, PENDING_MAX)?;
        let records = pairs.iter().map(|(_, value)| Ok(decode::<PendingAudit>(space, value)?.record));
        let mut pending: Vec<_> = records
            .collect::<Result<Vec<_>, Fault>>()?
            .into_iter()
            .filter(|record| self.matches(record))
            .filter(|record| self.query.dates.as_ref().is_none_or(|dates| dates.contains(record.occurred_on)))
            .collect();
        if self.query.paging.descending {
            pending.reverse();
        }
        Ok(pending)
    }
}

/// The keys of the records with these numbers.
fn range_of(numbers: &Span<u64>) -> Range {
    Range { from: numbered(&[], numbers.start), to: Some(numbered(&[], numbers.end)) }
}

/// The first number of these whose record is not from before a moment. Time never goes back in the trail.
pub(super) fn number_at(tx: &mut Tx<'_>, numbers: Span<u64>, moment: Timestamp) -> Result<u64, Fault> {
    let Span { mut start, mut end } = numbers;
    while start < end {
        let middle = start + (end - start) / 2;
        match tx.at::<StoredAudit>(&numbered(&[], middle))? {
            Some(stored) if stored.0.occurred_on < moment => start = middle + 1,
            _ => end = middle,
        }
    }
    Ok(start)
}

impl List for Trail {
    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
        let paging = &self.query.paging;
        let size: u64 = paging.size.unwrap_or(PAGE_SIZE_DEFAULT).into();
        let skipped = u64::from(paging.page_index.unwrap_or(0)).saturating_mul(size);
        let mut total = 0;
        let mut shown = Vec::new();
        let count = self.places.end - self.places.start;
        if self.sifted {
            let mut passed = 0;
            while passed < count {
                let next = count.min(passed + CHUNK_RECORDS);
                for record in self.records_at(tx, &self.places, passed..next)? {
                    if self.matches(&record) {
                        if (skipped..skipped.saturating_add(size)).contains(&total) {
                            shown.push(json(&record));
                        }
                        total += 1;
                    }
                }
                passed = next;
            }
        } else {
            let passed = skipped.min(count)..skipped.saturating_add(size).min(count);
            shown.extend(self.records_at(tx, &self.places, passed)?.iter().map(json));
            total = count;
        }
        for record in self.pending(tx)? {
            if (skipped..skipped.saturating_add(size)).contains(&total) {
                shown.push(json(&record));
            }
            total += 1;
        }
        let pages = total.div_ceil(size);
        let mut out = format!("{{\"{}\":[", AuditRecord::PLURAL).into_bytes();
        out.extend_from_slice(&shown.join(&b','));
        out.extend_from_slice(format!("],\"totalPages\":{pages},\"totalElements\":{total}}}").as_bytes());
        Ok(out)
    }

    /// Sealed records only, so that the output can be verified directly.
    fn lines(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
        let left = match cursor {
            Cursor::Span(left) => left,
            _ => self.places.clone(),
        };
        let count = (left.end - left.start).min(CHUNK_RECORDS);
        let mut out = Vec::new();
        for record in self.records_at(tx, &left, 0..count)? {
            if !self.sifted || self.matches(&record) {
                out.extend(json(&record));
                out.push(b'\n');
            }
        }
        let descending = self.query.paging.descending;
        let left = if descending { left.start..left.end - count } else { left.start + count..left.end };
        Ok((out, if left.is_empty() { Cursor::End } else { Cursor::Span(left) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::numbers::ListNumbers;
    use crate::ops::audit::lists::{pieces, put_pieces};
    use crate::ops::ledger::tests::memory::Memory;
    use proptest::prelude::*;
    use std::sync::Arc;

    const NAMES: [&str; 3] = ["ama", "kofi", "esi"];
    const OPERATIONS: [&str; 2] = ["CreateCustomer", "PutCustomer"];

    fn seal(store: &mut Memory, actor: usize, operation: usize) {
        let sealed = store.write(|tx| {
            let end = tx.get::<AuditEnd>(AuditEnd::KEY)?;
            let sequence = end.as_ref().map_or(0, |end| end.sequence) + 1;
            let mut record = AuditRecord::of(OPERATIONS[operation], tx.now());
            record.sequence = i64::try_from(sequence).ok();
            record.actor = NAMES[actor].to_owned();
            record.resource = Some(format!("customer/c-{}", sequence % 4));
            let first = end.map_or(1, |end| end.first);
            tx.put(&AuditEnd { first, sequence, hash: String::new(), occurred_on: tx.now() })?;
            tx.put(&StoredAudit(record))
        });
        sealed.unwrap();
    }

    fn list(store: &mut Memory, records: u64) {
        if let Some(work) = store.read(|tx| pieces(tx, records)) {
            store.write(|tx| put_pieces(tx, &work)).unwrap();
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Seal(usize, usize),
        List(u64),
        Look(AuditQuery),
    }

    fn looks() -> impl Strategy<Value = AuditQuery> {
        let some = |below: usize| proptest::option::of(0..below);
        let paging = (any::<bool>(), 0u32..3, 1u32..8);
        (some(NAMES.len()), some(OPERATIONS.len()), some(4), paging).prop_map(
            |(actor, operation, resource, (descending, page, size))| {
                let mut query = AuditQuery {
                    actor: actor.map(|actor| NAMES[actor].to_owned()),
                    operation: operation.map(|operation| OPERATIONS[operation].to_owned()),
                    resource: resource.map(|number| format!("customer/c-{number}")),
                    ..AuditQuery::default()
                };
                query.paging.descending = descending;
                (query.paging.page_index, query.paging.size) = (Some(page), Some(size));
                query
            },
        )
    }

    /// The numbers that a page must show, by a look at each record, and how many match.
    fn expected(tx: &mut Tx<'_>, query: &AuditQuery) -> Result<(Vec<i64>, usize), Fault> {
        let trail = Trail::new(tx, query)?;
        let mut numbers: Vec<_> = tx
            .all::<StoredAudit>(&[])?
            .into_iter()
            .filter(|stored| trail.matches(&stored.0))
            .filter_map(|stored| stored.0.sequence)
            .collect();
        if query.paging.descending {
            numbers.reverse();
        }
        let all = numbers.len();
        let size = query.paging.size.unwrap() as usize;
        let skipped = query.paging.page_index.unwrap() as usize * size;
        Ok((numbers.into_iter().skip(skipped).take(size).collect(), all))
    }

    /// The numbers that a page shows, and how many it says there are.
    fn shown(page: &[u8]) -> (Vec<i64>, usize) {
        let page: serde_json::Value = serde_json::from_slice(page).unwrap();
        let numbers = page["records"].as_array().unwrap().iter().map(|record| record["sequence"].as_i64());
        (numbers.map(Option::unwrap).collect(), page["totalElements"].as_u64().unwrap() as usize)
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..NAMES.len(), 0..OPERATIONS.len()).prop_map(|(actor, operation)| Step::Seal(actor, operation)),
            1 => (1u64..5).prop_map(Step::List),
            3 => looks().prop_map(Step::Look),
        ];
        proptest::collection::vec(step, 0..60)
    }

    #[test]
    fn a_page_takes_notice_of_the_first_records_that_wait_to_be_sealed() {
        let mut store = Memory::new();
        let wait = |tx: &mut Tx<'_>| {
            let record = AuditRecord::of(OPERATIONS[0], tx.now());
            let pending = |name: usize| PendingAudit { name: format!("{name:06}"), record: record.clone() };
            (0..PENDING_MAX + 5).try_for_each(|name| tx.put(&pending(name)))
        };
        store.write(wait).unwrap();
        let total = store.read(|tx| Ok(Trail::new(tx, &AuditQuery::default())?.pending(tx)?.len()));
        assert_eq!(total, PENDING_MAX);
    }

    proptest! {
        #[test]
        fn a_page_shows_what_a_look_at_each_record_finds(steps in steps()) {
            let (mut store, kept) = (Memory::new(), Arc::new(ListNumbers::default()));
            for step in steps {
                match step {
                    Step::Seal(actor, operation) => seal(&mut store, actor, operation),
                    Step::List(records) => list(&mut store, records),
                    Step::Look(query) => {
                        let expected = store.read(|tx| expected(tx, &query));
                        let page = |tx: &mut Tx<'_>| Trail::new(tx, &query)?.page(tx);
                        prop_assert_eq!(shown(&store.read(page)), expected.clone());
                        // The same, with the records that no list has yet indexed in memory.
                        prop_assert_eq!(shown(&store.read_with(&kept, page)), expected);
                    }
                }
            }
        }
    }
}
