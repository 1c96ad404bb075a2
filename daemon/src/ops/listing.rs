//! Lists: which records, in which order, as one page or as a stream of lines (`organisation.md` 1.4).
//!
//! An operation says what a list is made of; how much of it is read, and when, is decided here. A page is
//! read in the transaction of its request. A stream is read chunk by chunk, a short transaction each, so that
//! a long export blocks no one. It holds one chunk in memory, and its order where that is not one of the
//! store: four bytes for each record that a shelf has, and else its key.

use super::list::{CHUNK_BYTES, Cursor, List, Shown, bytes_of};
pub use crate::domain::shelf::SortKey;
use crate::domain::shelf::{Found, Order, OtherKeys, Shelf, Wanted, lower};
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::{self, Record, prefix};
use crate::store::tx::{decode, indexed_key};
use mfa_shared::fault::Fault;
use mfa_shared::query::Listed;
use mfa_shared::query::{PAGE_SIZE_DEFAULT, Paging};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Records of a stream that are read at once, unless they are long. A client that reads slowly holds some
/// 100 KB of them.
const CHUNK_RECORDS: usize = 100;
/// The same behind a long one, as others may follow: what does not go into the chunk is read in vain.
const LONG_RECORDS: usize = 4;

type SortBy<R> = fn(&R, &str) -> SortKey;
type Keep<R> = Box<dyn Fn(&R) -> bool + Send + Sync>;
type Restore<R> = Box<dyn Fn(&mut Tx<'_>, R) -> Result<Option<R>, Fault> + Send + Sync>;
/// The identifiers of the records that `restore` may show with other keys.
type Touched = Box<dyn Fn(&mut Tx<'_>) -> Result<BTreeSet<String>, Fault> + Send + Sync>;
type Show<R> = fn(&mut Tx<'_>, R) -> Result<Vec<u8>, Fault>;

/// A list of the records `R`, shown as `T`.
pub struct Listing<R, T> {
    index: Option<(Space, String)>,
    /// The keys that are looked at, where it has no index.
    range: Range,
    keep: Option<Keep<R>>,
    sort: Option<(String, SortBy<R>)>,
    descending: bool,
    page_index: u64,
    size: u64,
    restore: Option<Restore<R>>,
    touched: Option<Touched>,
    show: Show<R>,
    shown: PhantomData<fn() -> T>,
    /// The lower-cased term.
    term: Option<String>,
    /// Whether it is a list of which a shelf knows the order; and the group that it shows, if not all.
    shelved: Option<Option<u8>>,
}

/// A record whose place in its lists is kept in memory.
pub trait Shelved: Record + Findable {
    /// What is read of its stored form where no column sorts: itself, or less.
    type Brief: Findable + DeserializeOwned;
    /// The key of a column.
    fn sort_key(&self, column: &str) -> SortKey;
}

/// By what lists find a record.
pub trait Findable {
    /// Its identifier.
    fn identifier(&self) -> &str;
    /// The texts in which a term is looked for.
    fn texts(&self) -> Vec<Option<&str>>;
    /// Its group: lists may show one group only.
    fn group(&self) -> u8 {
        0
    }
}

impl<R, T> fmt::Debug for Listing<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing").field("page_index", &self.page_index).finish_non_exhaustive()
    }
}

impl<R: Record, T: Listed> Listing<R, T> {
    /// Every record, in the order and part that the request asks for.
    pub fn new(paging: &Paging<T>, sort: SortBy<R>, show: Show<R>) -> Self {
        let by_column = paging.sort_column.as_ref().filter(|column| *column != T::COLUMNS[0]);
        Self {
            index: None,
            range: Range::prefix(&[]),
            keep: None,
            sort: by_column.map(|column| (column.clone(), sort)),
            descending: paging.descending,
            page_index: paging.page_index.unwrap_or(0).into(),
            size: paging.size.unwrap_or(PAGE_SIZE_DEFAULT).into(),
            restore: None,
            touched: None,
            show,
            shown: PhantomData,
            term: None,
            shelved: None,
        }
    }

    /// Every record of a noun that has a shelf, or those of one group.
    pub fn of_shelf(paging: &Paging<T>, group: Option<u8>, show: Show<R>) -> Self
    where
        R: Shelved,
    {
        let listing = Self::new(paging, R::sort_key, show).term(paging.term.as_ref(), R::texts);
        let listing = Self { shelved: Some(group), ..listing };
        match group {
            Some(group) => listing.only(move |record| record.group() == group),
            None => listing,
        }
    }

    /// In this order, whatever the request asks for; equal ones by their keys.
    pub fn by(mut self, sort: fn(&R, &str) -> SortKey) -> Self {
        self.sort = Some((String::new(), sort));
        self
    }

    /// Only the records that an index has under `part`.
    pub fn under(mut self, index: Space, part: &str) -> Self {
        self.shelved = None;
        self.index = Some((index, part.to_owned()));
        self
    }

    /// Only the records whose keys are within a range.
    pub fn between(mut self, range: Range) -> Self {
        self.shelved = None;
        self.range = range;
        self
    }

    /// Only the records that pass; several filters must all pass.
    pub fn only(mut self, keep: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
        self.keep = match self.keep.take() {
            None => Some(Box::new(keep)),
            Some(before) => Some(Box::new(move |record| before(record) && keep(record))),
        };
        self
    }

    /// Only the records of which one text contains the term, after lower-casing.
    pub fn term(self, term: Option<&String>, texts: fn(&R) -> Vec<Option<&str>>) -> Self {
        let Some(term) = term.map(|term| lower(term)) else { return self };
        let listing = Self { term: Some(term.clone()), ..self };
        listing
            .only(move |record| texts(record).into_iter().flatten().any(|text| lower(text).contains(&term)))
    }

    /// As a stream, the records as they were when the list was asked for: `restore` brings one back to that
    /// moment, or leaves it out; `touched` names those that may have had other keys then.
    pub fn as_of(
        mut self,
        restore: impl Fn(&mut Tx<'_>, R) -> Result<Option<R>, Fault> + Send + Sync + 'static,
        touched: impl Fn(&mut Tx<'_>) -> Result<BTreeSet<String>, Fault> + Send + Sync + 'static,
    ) -> Self {
        self.restore = Some(Box::new(restore));
        self.touched = Some(Box::new(touched));
        self
    }

    fn range(&self) -> (Space, Range) {
        match &self.index {
            Some((space, part)) => (*space, Range::prefix(&prefix(&[part]))),
            None => (R::SPACE, self.range.clone()),
        }
    }

    fn key_of(&self, entry: &[u8]) -> Vec<u8> {
        match &self.index {
            Some((_, part)) => indexed_key(&[part], entry).to_vec(),
            None => entry.to_vec(),
        }
    }

    fn record(&self, tx: &mut Tx<'_>, key: &[u8]) -> Result<Option<R>, Fault> {
        tx.value(R::SPACE, key)?.map(|bytes| decode(R::SPACE, &bytes)).transpose()
    }

    /// The record with a key as a stream shows it.
    fn streamed(&self, tx: &mut Tx<'_>, key: &[u8]) -> Result<Option<R>, Fault> {
        match (self.record(tx, key)?, &self.restore) {
            (Some(record), Some(restore)) => restore(tx, record),
            (found, _) => Ok(found),
        }
    }

    /// The keys of all matches, in the order of the list; for a stream or for a page.
    fn keys(&self, tx: &mut Tx<'_>, streams: bool) -> Result<Vec<Vec<u8>>, Fault> {
        let (space, range) = self.range();
        let restores = streams && self.restore.is_some();
        let whole = self.keep.is_some() || self.sort.is_some();
        let mut found: Vec<(SortKey, Vec<u8>)> = Vec::new();
        let mut entries = Vec::new();
        tx.walk(space, range, &mut |entry, value| {
            if !whole {
                found.push((SortKey::Null, self.key_of(entry)));
            } else if self.index.is_some() || restores {
                entries.push(self.key_of(entry));
            } else {
                found.extend(self.sorted(entry.to_vec(), decode(R::SPACE, value)?));
            }
            Ok(true)
        })?;
        for key in entries {
            let record = if restores { self.streamed(tx, &key)? } else { self.record(tx, &key)? };
            if let Some(record) = record {
                found.extend(self.sorted(key, record));
            }
        }
        match (self.sort.is_some(), self.descending) {
            (false, true) => found.reverse(),
            (false, false) => {}
            // Equal ones stay in the order of their identifiers, in both directions.
            (true, false) => found.sort_by(|a, b| a.0.cmp(&b.0)),
            (true, true) => found.sort_by(|a, b| b.0.cmp(&a.0)),
        }
        Ok(found.into_iter().map(|(_, key)| key).collect())
    }

    fn sorted(&self, key: Vec<u8>, record: R) -> Option<(SortKey, Vec<u8>)> {
        if self.keep.as_ref().is_some_and(|keep| !keep(&record)) {
            return None;
        }
        let by = self.sort.as_ref().map_or(SortKey::Null, |(column, sort)| sort(&record, column));
        Some((by, key))
    }

    /// The keys of the next records, and the cursor after them.
    fn chunk(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<Vec<u8>>, Cursor), Fault> {
        let next = |at: usize, count: usize, cursor: &dyn Fn(usize) -> Cursor| {
            let behind = at.saturating_add(CHUNK_RECORDS);
            if behind < count { cursor(behind) } else { Cursor::End }
        };
        match cursor {
            Cursor::Span(_) | Cursor::End => Ok((Vec::new(), Cursor::End)),
            Cursor::Keys(keys, at) => {
                let chunk = keys.iter().skip(at).take(CHUNK_RECORDS).cloned().collect();
                Ok((chunk, next(at, keys.len(), &|at| Cursor::Keys(keys.clone(), at))))
            }
            Cursor::Order(order, at) => {
                let names = order.names(at..at.saturating_add(CHUNK_RECORDS));
                let chunk = names.iter().map(|name| record::key(&[name])).collect();
                Ok((chunk, next(at, order.records(), &|at| Cursor::Order(order.clone(), at))))
            }
            Cursor::Left(keys, at, next) => {
                let upto = at.saturating_add(LONG_RECORDS).min(keys.len());
                let chunk = keys.get(at..upto).unwrap_or_default().to_vec();
                Ok((chunk, if upto < keys.len() { Cursor::Left(keys, upto, next) } else { *next }))
            }
            Cursor::Start => self.walked(tx, self.range()),
            Cursor::Walk(place) => {
                let (space, range) = self.range();
                let left = if self.descending {
                    Range { to: Some(place), ..range }
                } else {
                    Range { from: place, ..range }
                };
                self.walked(tx, (space, left))
            }
        }
    }

    /// The keys of the first records of what is left of a space, and the cursor after them.
    fn walked(
        &self,
        tx: &mut Tx<'_>,
        (space, left): (Space, Range),
    ) -> Result<(Vec<Vec<u8>>, Cursor), Fault> {
        let pairs = tx.scan(space, &left, self.descending, CHUNK_RECORDS)?;
        let next = match pairs.last() {
            Some((last, _)) if pairs.len() == CHUNK_RECORDS && self.descending => Cursor::Walk(last.clone()),
            Some((last, _)) if pairs.len() == CHUNK_RECORDS => Cursor::Walk([last.as_slice(), &[0]].concat()),
            _ => Cursor::End,
        };
        Ok((pairs.iter().map(|(entry, _)| self.key_of(entry)).collect(), next))
    }

    /// What a shelf is asked for.
    fn wanted(&self, (passed, size): (usize, usize)) -> Option<Wanted<'_>> {
        let (descending, term) = (self.descending, self.term.as_deref());
        let group = self.shelved?;
        Some(Wanted { column: self.column(), descending, group, term, passed, size })
    }

    /// How many records precede the page, and how many are on it.
    fn part(&self) -> (usize, usize) {
        let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        (number(self.page_index.saturating_mul(self.size)), number(self.size))
    }

    /// The records of the page and the total, where they were looked up on a shelf. The shelf had followed
    /// the store up to a moment after the request came; a record that is no longer in its place has been
    /// changed since, and the page is looked up again.
    fn looked_up(&self, tx: &mut Tx<'_>) -> Result<Option<(Shown, usize)>, Fault> {
        let Some(Found { records, total }) = tx.take_found() else { return Ok(None) };
        let mut shown = Shown::default();
        let keys: Vec<_> = records.iter().map(|(identifier, _)| record::key(&[identifier])).collect();
        tx.expect(R::SPACE, &keys)?;
        for ((_, key), place) in records.into_iter().zip(keys) {
            let record = self.record(tx, &place)?;
            let stands = |record: &R| {
                let by = self.sort.as_ref().map_or(SortKey::Null, |(column, sort)| sort(record, column));
                by == key && self.keep.as_ref().is_none_or(|keep| keep(record))
            };
            match record.filter(stands) {
                Some(record) => shown.push((self.show)(tx, record)?)?,
                None => {
                    // The reader learns of it, and looks again.
                    tx.note_moved();
                    return Ok(Some((Shown::default(), 0)));
                }
            }
        }
        Ok(Some((shown, total)))
    }
}

impl<R: Record, T: Listed> List for Listing<R, T> {
    fn is_shelved(&self) -> bool {
        self.shelved.is_some()
    }

    fn column(&self) -> Option<&str> {
        self.sort.as_ref().map(|(column, _)| column.as_str())
    }

    fn find(&self, shelf: &Shelf) -> Option<Found> {
        shelf.page(&self.wanted(self.part())?)
    }

    fn is_ordered(&self) -> bool {
        self.shelved.is_some() && (self.sort.is_some() || self.term.is_some())
    }

    fn order(&self, shelf: &Shelf, others: &OtherKeys) -> Option<Order> {
        shelf.order(&self.wanted((0, usize::MAX))?, others)
    }

    fn other_keys(&self, tx: &mut Tx<'_>) -> Result<OtherKeys, Fault> {
        let (Some((column, sort)), Some(touched)) = (&self.sort, &self.touched) else {
            return Ok(OtherKeys::new());
        };
        let names = touched(tx)?;
        tx.limits.answer_grows(names.iter().map(|name| name.len() + size_of::<(String, SortKey)>()).sum())?;
        tx.expect(R::SPACE, &names.iter().map(|name| record::key(&[name])).collect::<Vec<_>>())?;
        let key = |name: String| {
            tx.limits.in_time()?;
            let record = self.streamed(tx, &record::key(&[&name]))?;
            Ok((name, record.map(|record| sort(&record, column))))
        };
        names.into_iter().map(key).collect()
    }

    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
        let (passed, size) = self.part();
        let (shown, total) = match self.looked_up(tx)? {
            Some(found) => found,
            None => {
                let keys = self.keys(tx, false)?;
                let part = &keys[passed.min(keys.len())..passed.saturating_add(size).min(keys.len())];
                tx.expect(R::SPACE, part)?;
                let mut shown = Shown::default();
                for key in part {
                    if let Some(record) = self.record(tx, key)? {
                        shown.push((self.show)(tx, record)?)?;
                    }
                }
                (shown, keys.len())
            }
        };
        Ok(envelope::<T>(&shown.elements, total as u64, self.size))
    }

    fn begin(&self, tx: &mut Tx<'_>) -> Result<Cursor, Fault> {
        // The order of identifiers is that of the store.
        if self.sort.is_none() {
            return Ok(Cursor::Start);
        }
        let keys = self.keys(tx, true)?;
        tx.limits.answer_grows(bytes_of(&keys))?;
        Ok(Cursor::Keys(Arc::new(keys), 0))
    }

    fn lines(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
        let cursor = if matches!(cursor, Cursor::Start) { self.begin(tx)? } else { cursor };
        let (chunk, next) = self.chunk(tx, cursor)?;
        tx.expect(R::SPACE, &chunk)?;
        let mut out = Vec::new();
        for (at, key) in chunk.iter().enumerate() {
            if out.len() >= CHUNK_BYTES {
                return Ok((out, Cursor::Left(Arc::new(chunk), at, Box::new(next))));
            }
            let Some(record) = self.streamed(tx, key)? else { continue };
            if self.keep.as_ref().is_none_or(|keep| keep(&record)) {
                out.extend_from_slice(&(self.show)(tx, record)?);
                out.push(b'\n');
            }
        }
        Ok((out, next))
    }
}

/// A page of elements that are shown already.
pub fn envelope<T: Listed>(shown: &[Vec<u8>], total: u64, size: u64) -> Vec<u8> {
    let mut out = format!("{{\"{}\":[", T::PLURAL).into_bytes();
    out.extend_from_slice(&shown.join(&b','));
    let pages = total.div_ceil(size);
    out.extend_from_slice(format!("],\"totalPages\":{pages},\"totalElements\":{total}}}").as_bytes());
    out
}

/// Shows a record whose stored form is its form on the wire.
pub fn as_stored<R: Serialize>(_: &mut Tx<'_>, record: R) -> Result<Vec<u8>, Fault> {
    Ok(json(&record))
}

/// The JSON text of a wire type.
#[expect(
    clippy::expect_used,
    reason = "wire types have string keys only, so there is nothing that JSON could not hold"
)]
pub fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("wire types are JSON")
}
