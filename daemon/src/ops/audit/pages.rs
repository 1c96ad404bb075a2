//! Lists of the audit trail: the shortest list that holds all matches is only counted through where it holds
//! nothing else. Where several lists are asked for, the numbers that all of them have are worked out, from
//! the lists or, where one is short, from its records, and stay in memory; time and numbers are found by
//! halving.

use super::lists::{self, ACTOR, OPERATION, OUTCOME, REQUEST, RESOURCE, names_of};
use crate::domain::numbers::{ListOf, Numbers};
use crate::domain::trail_tail::NOTED_MAX;
use crate::ops::in_time::first_at;
use crate::ops::known::{Asked, Page, known};
use crate::ops::list::{CHUNK_BYTES, Cursor, List, Shown};
use crate::ops::listing::json;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, number, numbered};
use crate::store::records::{
    AUDIT, AuditEnd, AuditIndexed, AuditList, AuditPlace, LIST_LENGTH_MAX, PendingAudit, StoredAudit,
};
use crate::store::tx::decode;
use mfa_shared::api::audit::{AuditQuery, AuditRecord};
use mfa_shared::fault::Fault;
use mfa_shared::query::Listed;
use mfa_shared::query::PAGE_SIZE_DEFAULT;
use std::ops::Range as Span;
use std::sync::Arc;

/// Records that are read together, and of a stream in one transaction.
const CHUNK_RECORDS: u64 = 500;
/// Records of the trail that are in memory at once: one of a long record has it twice.
const AT_ONCE: u64 = 128;

/// Up to so many records are read to see whether they match, or so many that reading pieces of the other
/// lists is no faster; of more, the lists are compared. A few in tests, so that both is tried.
const READ_MAX: u64 = if cfg!(test) { 3 } else { 256 };
/// Reading a record somewhere in the trail takes as long as so many pieces of a list, one behind the other.
const PIECES_PER_RECORD: u64 = 8;

/// Numbers of a list that are compared with the other lists in one step.
const SIFTED_AT_ONCE: u64 = if cfg!(test) { 10 } else { 100_000 };
/// Matches from before the days that are asked for are looked for, too, if that is no more than so many
/// records of the trail.
const NEAR: u64 = if cfg!(test) { 10 } else { 1_000 };

/// Records that wait to be sealed of which a page takes notice, the oldest ones: while a long transaction of
/// another program holds the trail back, there can be any number.
const PENDING_MAX: usize = 10_000;

/// A list of records of the trail.
#[derive(Debug)]
pub struct Trail {
    query: AuditQuery,
    /// The list that is gone through; none for the whole trail.
    list: Option<String>,
    /// The other lists that a match is in, and how many pieces these have in all.
    others: Vec<String>,
    other_pieces: u64,
    /// The numbers of the records that are asked for, and their places in the list.
    numbers: Span<u64>,
    places: Span<u64>,
    /// Number of the first record that is kept, and of the last one that is in the lists.
    first: u64,
    indexed: u64,
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
            others: Vec::new(),
            other_pieces: 0,
            numbers: 0..0,
            places: 0..0,
            first,
            indexed: 0,
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
        for (kind, value) in asked.into_iter().filter_map(|(kind, value)| Some((kind, value?))) {
            let name = AuditList::name(kind, value);
            let count = lists::length(tx, &name)?;
            if trail.list.is_none() {
                (trail.list, length) = (Some(name), count);
                continue;
            }
            let (longer, elements) = if count < length {
                (trail.list.replace(name), std::mem::replace(&mut length, count))
            } else {
                (Some(name), count)
            };
            trail.others.extend(longer);
            trail.other_pieces += elements / LIST_LENGTH_MAX as u64;
        }
        if trail.list.is_some() {
            let indexed = tx.get::<AuditIndexed>(AuditIndexed::KEY)?;
            // Lists that are being removed still have records that they will get anew.
            let is_whole = indexed.as_ref().is_none_or(|indexed| !indexed.clearing);
            trail.listed = if is_whole { length } else { 0 };
            trail.indexed = indexed.map_or(0, |indexed| indexed.sequence);
            trail.tail = trail.look_through(tx, next)?;
            length = trail.listed + trail.tail.len() as u64;
        }
        let numbers = trail.asked(tx, first..next)?;
        trail.places = match &trail.list {
            None => numbers.start - first..numbers.end - first,
            Some(_) => {
                let from = trail.place_of(tx, 0..length, numbers.start)?;
                from..trail.place_of(tx, from..length, numbers.end)?
            }
        };
        trail.numbers = numbers;
        Ok(trail)
    }

    /// The numbers of what happened on the days, and after the record, that are asked for.
    fn asked(&self, tx: &mut Tx<'_>, all: Span<u64>) -> Result<Span<u64>, Fault> {
        let mut numbers = all.clone();
        if let Some(after) = self.query.after {
            let from = after.unsigned_abs().saturating_add(1);
            numbers.start = numbers.start.max(from.min(numbers.end));
        }
        if let Some(dates) = &self.query.dates {
            let from = dates.first.start();
            let to = dates.last.next().start();
            let from = first_at::<StoredAudit>(tx, all.clone(), from)?;
            let to = first_at::<StoredAudit>(tx, all, to)?;
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
        let missing = self.first.max(self.indexed + 1)..next;
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
            tail.add(number(key), lists::lists_of(value)?);
            Ok(true)
        })?;
        let mut found = tail.named(list, missing);
        for other in &self.others {
            let named = tail.named(other, missing);
            found.retain(|number| named.binary_search(number).is_ok());
        }
        Ok(Some(found))
    }

    /// Whether the list may hold what does not match.
    fn is_sifted(&self) -> bool {
        !self.others.is_empty()
    }

    /// The page of a query for what several lists have. What they have in common never changes, so it stays
    /// in memory, and only what was listed since is compared.
    fn common(&self, tx: &mut Tx<'_>) -> Result<Page, Fault> {
        let paging = &self.query.paging;
        let (index, size) = (paging.page_index.unwrap_or(0), paging.size.unwrap_or(PAGE_SIZE_DEFAULT));
        let mut page = Page::new(paging.descending, index.into(), size.into());
        let mut common: Vec<_> = self.list.iter().chain(&self.others).cloned().collect();
        common.sort_unstable();
        let numbers = self.numbers.start..self.numbers.end.min(self.indexed + 1);
        let whole = ListOf::Common(common).into();
        let asked = Asked { whole, numbers: numbers.clone(), near: NEAR };
        let mut known = known(tx, asked, |tx, left, all| self.sift(tx, left, all))?;
        while known.upto() < numbers.end {
            let left = known.upto().max(numbers.start)..numbers.end;
            self.sift(tx, left, Arc::make_mut(&mut known))?;
        }
        // These match by themselves.
        let behind = self.numbers_of(tx, self.places.start.max(self.listed)..self.places.end)?;
        if paging.descending {
            page.add(behind.into_iter().rev());
            page.add_known(&known, &numbers);
        } else {
            page.add_known(&known, &numbers);
            page.add(behind);
        }
        Ok(page)
    }

    /// Adds the next matches of those with these numbers, which are listed.
    fn sift(&self, tx: &mut Tx<'_>, left: Span<u64>, all: &mut Numbers) -> Result<(), Fault> {
        let start = self.place_of(tx, 0..self.listed, left.start)?;
        let end = self.place_of(tx, start..self.listed, left.end)?;
        let some = start..end.min(start + SIFTED_AT_ONCE);
        let mut numbers = self.numbers_of(tx, some.clone())?;
        let looked_at = numbers.len();
        let upto = numbers.last().filter(|_| some.end < end).map_or(left.end, |last| last + 1);
        if looked_at as u64 <= READ_MAX.max(self.other_pieces_of(&numbers) / PIECES_PER_RECORD) {
            let mut matching = Vec::new();
            for some in numbers.chunks(CHUNK_RECORDS as usize) {
                tx.limits.in_time()?;
                let records = records(tx, some)?.into_iter().filter(|record| self.matches(record));
                matching.extend(records.filter_map(|record| u64::try_from(record.sequence?).ok()));
            }
            numbers = matching;
        } else {
            for other in &self.others {
                numbers = lists::common(tx, other, &numbers)?;
            }
        }
        all.add(numbers, looked_at, upto);
        Ok(())
    }

    /// About how many pieces of the other lists there are for the records from the first of these to the
    /// last, as if each list grew as the trail does.
    fn other_pieces_of(&self, numbers: &[u64]) -> u64 {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return 0 };
        let records = (self.indexed + 1).saturating_sub(self.first).max(1);
        self.other_pieces.saturating_mul(last - first + 1) / records
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
        records(tx, &numbers)
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

    /// What is committed and not sealed yet; it comes last. The journal tells it, up to whose place all is
    /// sealed: a scan would pass over all that was sealed until the database has cleaned it up.
    fn pending(&self, tx: &mut Tx<'_>) -> Result<Vec<AuditRecord>, Fault> {
        let space = PendingAudit::SPACE;
        let sealed = match tx.sealed() {
            0 => tx.get::<AuditPlace>(AuditPlace::KEY)?.map_or(0, |place| place.journal),
            sealed => sealed,
        };
        let pairs = match tx.put_after(space, sealed, PENDING_MAX)? {
            Some(pairs) => pairs,
            None => tx.scan(space, &Range::prefix(b""), false, PENDING_MAX)?,
        };
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

/// The records with these numbers, in their order.
fn records(tx: &mut Tx<'_>, numbers: &[u64]) -> Result<Vec<AuditRecord>, Fault> {
    let keys: Vec<_> = numbers.iter().map(|number| numbered(&[], *number)).collect();
    tx.expect(AUDIT, &keys)?;
    let mut records = Vec::with_capacity(keys.len());
    for key in keys {
        records.extend(tx.at::<StoredAudit>(&key)?.map(|stored| stored.0));
    }
    Ok(records)
}

/// The keys of the records with these numbers.
fn range_of(numbers: &Span<u64>) -> Range {
    Range { from: numbered(&[], numbers.start), to: Some(numbered(&[], numbers.end)) }
}

impl List for Trail {
    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
        let paging = &self.query.paging;
        let size: u64 = paging.size.unwrap_or(PAGE_SIZE_DEFAULT).into();
        let skipped = u64::from(paging.page_index.unwrap_or(0)).saturating_mul(size);
        let wanted = |total: u64| skipped.min(total)..skipped.saturating_add(size).min(total);
        let mut total = self.places.end - self.places.start;
        let mut shown = Shown::default();
        if self.is_sifted() {
            let page = self.common(tx)?;
            total = page.total;
            for numbers in page.numbers.chunks(AT_ONCE as usize) {
                records(tx, numbers)?.iter().try_for_each(|record| shown.push(json(record)))?;
            }
        } else {
            let mut left = wanted(total);
            while !left.is_empty() {
                let next = left.start..left.end.min(left.start + AT_ONCE);
                left.start = next.end;
                let found = self.records_at(tx, &self.places, next)?;
                found.iter().try_for_each(|record| shown.push(json(record)))?;
            }
        }
        for record in self.pending(tx)? {
            if (skipped..skipped.saturating_add(size)).contains(&total) {
                shown.push(json(&record))?;
            }
            total += 1;
        }
        let pages = total.div_ceil(size);
        let mut out = format!("{{\"{}\":[", AuditRecord::PLURAL).into_bytes();
        out.extend_from_slice(&shown.elements.join(&b','));
        out.extend_from_slice(format!("],\"totalPages\":{pages},\"totalElements\":{total}}}").as_bytes());
        Ok(out)
    }

    /// Sealed records only, so that the output can be verified directly.
    fn lines(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
        let left = match cursor {
            Cursor::Span(left) => left,
            _ => self.places.clone(),
        };
        let most = (left.end - left.start).min(CHUNK_RECORDS);
        let (mut out, mut count) = (Vec::new(), 0);
        while count < most && out.len() < CHUNK_BYTES {
            let upto = most.min(count + AT_ONCE);
            let found = self.records_at(tx, &left, count..upto)?;
            // Where a damaged store lacks one, the others do not tell their places.
            let is_whole = found.len() as u64 == upto - count;
            let places = count..;
            count = upto;
            for (place, record) in places.zip(found) {
                if is_whole && out.len() >= CHUNK_BYTES {
                    count = place;
                    break;
                }
                if !self.is_sifted() || self.matches(&record) {
                    out.extend(json(&record));
                    out.push(b'\n');
                }
            }
        }
        let descending = self.query.paging.descending;
        let left = if descending { left.start..left.end - count } else { left.start + count..left.end };
        Ok((out, if left.is_empty() { Cursor::End } else { Cursor::Span(left) }))
    }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
