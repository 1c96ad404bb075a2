//! A transaction as operations see it: typed records over an engine's view, with staged writes.

use super::engine::{Change, Pair, Range, Space, View};
use super::expired::Expired;
use super::held_up::HeldUp;
use super::limits::{Limits, Time};
use super::noted::{Besides, Noted};
use super::overlay::Overlay;
use super::record::{Record, key, moment, number, prefix};
use super::references::References;
use super::seal::Keys;
use crate::clock::Deadline;
use crate::domain::calendar::Calendar;
use crate::domain::numbers::ListNumbers;
use crate::domain::shelf::Found;
use crate::domain::webhook::Receivers;
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Timestamp;
use serde::Deserialize;
use std::sync::{Arc, RwLock};

/// Pairs that are fetched at once while a range is walked.
const SCAN_PAIRS: usize = 256;

/// What is done with each pair of a walk; false ends it.
pub type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<bool, Fault> + 'v;

/// A page of a list that was looked up before its transaction.
#[derive(Debug)]
pub(super) struct Shelved {
    pub(super) found: Option<Found>,
    /// Whether a record of it was changed after it was looked up.
    pub(super) moved: bool,
}

/// A transaction. What it wrote is seen by its own reads at once and by others when it is durable.
#[derive(Debug)]
pub struct Tx<'a> {
    view: Overlay<'a>,
    now: Timestamp,
    actor: String,
    pub(super) references: References,
    keeps: bool,
    dry_run: bool,
    pub(super) besides: Besides,
    pub(super) records: Vec<Noted>,
    pub(super) keys: Option<Arc<Keys>>,
    pub(super) receivers: Arc<Receivers>,
    pub(super) calendar: Arc<RwLock<Calendar>>,
    pub(super) numbers: Option<Arc<ListNumbers>>,
    pub(super) sealed: u64,
    pub(super) expired: Option<Arc<Expired>>,
    pub(super) shelved: Option<Shelved>,
    pub(super) held_up: Option<HeldUp>,
    /// What it may take.
    pub limits: Limits,
}

impl<'a> Tx<'a> {
    /// Begins on a view.
    pub fn new(view: &'a mut dyn View, now: Timestamp, strict: bool) -> Self {
        Self {
            view: Overlay::new(view),
            now,
            actor: String::new(),
            references: References::new(strict),
            keeps: false,
            dry_run: false,
            besides: Besides::default(),
            records: Vec::new(),
            keys: None,
            receivers: Arc::default(),
            calendar: Arc::default(),
            numbers: None,
            sealed: 0,
            expired: None,
            shelved: None,
            held_up: None,
            limits: Limits::default(),
        }
    }

    /// Does work that reads and must not go on for ever: a walk behind the deadline is refused with the words
    /// of `too_long`.
    pub fn until<T>(
        &mut self,
        deadline: Deadline,
        too_long: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let deadline = self.limits.latest.map_or(deadline, |latest| deadline.min(latest));
        let outer = self.limits.time.replace(Time { deadline, too_long });
        let done = work(self);
        self.limits.time = outer;
        done
    }

    /// From now on it holds up no writer.
    pub(super) fn let_go(&mut self) {
        self.view.let_go();
    }

    /// The moment of the transaction.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Version of the spaces in [`IDENTITY`](super::records::IDENTITY), where the engine counts it; it
    /// changes whenever they do.
    pub fn version(&mut self) -> Option<u64> {
        self.view.version()
    }

    /// Whether nothing will come of it (see [`View::is_rehearsal`]).
    pub fn is_rehearsal(&self) -> bool {
        self.view.is_rehearsal()
    }

    /// Names who asked for the changes, for the audit trail.
    pub fn set_actor(&mut self, actor: &str) {
        actor.clone_into(&mut self.actor);
    }

    /// Who asked for the changes.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// What is staged is to be written even if the operation is refused: the count of wrong passwords.
    pub fn keep_when_refused(&mut self) {
        self.keeps = true;
    }

    /// Nothing that is staged is to be written if the operation succeeds: a dry run only shows
    /// whether it would. A refusal still keeps what it has to keep, or passwords could be tried for nothing.
    pub fn set_dry_run(&mut self) {
        self.dry_run = true;
    }

    /// Whether what is staged is to be written after a success or a refusal.
    pub fn writes_after(&self, success: bool) -> bool {
        if success { !self.dry_run } else { self.keeps }
    }

    /// Runs a part of the work that leaves nothing behind if it is refused.
    pub fn attempt<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let (earlier, keeps) = (self.records.len(), self.keeps);
        self.view.mark();
        let outcome = part(self);
        if outcome.is_err() {
            self.references.dangling.clear();
            self.besides = Besides::default();
            self.records.truncate(earlier);
            // What it wanted to keep is gone, and what was done before it is none of that.
            self.keeps = keeps;
            self.view.undo();
        }
        outcome
    }

    /// Bytes of all records that it has read and written so far, each as often as it did: a measure of its
    /// work that is the same on any machine.
    pub fn handled(&self) -> usize {
        self.view.handled()
    }

    /// Everything staged.
    pub fn into_changes(self) -> Vec<Change> {
        self.view.into_changes()
    }

    /// The record with this key.
    pub fn get<R: Record>(&mut self, parts: &[&str]) -> Result<Option<R>, Fault> {
        self.at(&key(parts))
    }

    /// The record with this key, for keys that are more than texts.
    pub fn at<R: Record>(&mut self, key: &[u8]) -> Result<Option<R>, Fault> {
        let stored = self.view.get(R::SPACE, key)?;
        stored.map(|bytes| record(key, &bytes)).transpose()
    }

    /// The stored bytes of the record with this key.
    pub fn bytes<R: Record>(&mut self, parts: &[&str]) -> Result<Option<Vec<u8>>, Fault> {
        self.view.get(R::SPACE, &key(parts))
    }

    /// Whether there is a record with this key.
    pub fn has<R: Record>(&mut self, parts: &[&str]) -> Result<bool, Fault> {
        Ok(self.bytes::<R>(parts)?.is_some())
    }

    /// Writes a record, new or changed, and keeps its index entries in step.
    pub fn put<R: Record>(&mut self, record: &R) -> Result<(), Fault> {
        let before = self.at::<R>(&record.key())?;
        self.write(record, &before.map_or(Vec::new(), |before| before.index()));
        Ok(())
    }

    /// Writes a record that leaves no index entry behind: its key is new (counted, or drawn by lot), or its
    /// kind has no index.
    pub fn add<R: Record>(&mut self, record: &R) {
        self.write(record, &[]);
    }

    /// Writes a record over the one that this transaction has read.
    pub fn replace<R: Record>(&mut self, before: &R, record: &R) {
        self.write(record, &before.index());
    }

    fn write<R: Record>(&mut self, record: &R, before: &[(Space, Vec<u8>)]) {
        let key = record.key();
        self.stage_entries(&key, before, record.index());
        self.stage(R::SPACE, key, Some(record.stored()));
    }

    fn stage_entries(&mut self, key: &[u8], before: &[(Space, Vec<u8>)], entries: Vec<(Space, Vec<u8>)>) {
        for (space, entry) in before.iter().filter(|entry| !entries.contains(entry)) {
            self.stage(*space, joined(entry.clone(), key), None);
        }
        for (space, entry) in entries.into_iter().filter(|entry| !before.contains(entry)) {
            self.stage(space, joined(entry, key), Some(Vec::new()));
        }
    }

    /// Writes a record without index in its stored form, which is made already.
    pub fn put_line<R: Record>(&mut self, key: Vec<u8>, line: Vec<u8>) {
        self.stage(R::SPACE, key, Some(line));
    }

    /// Removes a record with its index entries.
    pub fn remove<R: Record>(&mut self, record: &R) {
        let key = record.key();
        self.stage_entries(&key, &record.index(), Vec::new());
        self.stage(R::SPACE, key, None);
    }

    /// The indexes that lack their entry of a stored record; none in a store that is whole.
    pub fn missing_entries<R: Record>(&mut self, record: &R) -> Result<Vec<Space>, Fault> {
        let mut missing = Vec::new();
        for (space, entry) in entries_of(record) {
            if self.view.get(space, &entry)?.is_none() {
                missing.push(space);
            }
        }
        Ok(missing)
    }

    /// Every record whose key has these parts and more, in key order.
    pub fn all<R: Record>(&mut self, parts: &[&str]) -> Result<Vec<R>, Fault> {
        let mut found = Vec::new();
        self.walk(R::SPACE, Range::prefix(&prefix(parts)), &mut |key, value| {
            found.push(record(key, value)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// Every record that an index has under these parts, in key order.
    pub fn indexed<R: Record>(&mut self, index: Space, parts: &[&str]) -> Result<Vec<R>, Fault> {
        let mut keys = Vec::new();
        self.walk(index, Range::prefix(&prefix(parts)), &mut |entry, _| {
            keys.push(indexed_key(parts, entry).to_vec());
            Ok(true)
        })?;
        self.fetch(keys)
    }

    /// The records under these keys that there are, in their order.
    pub fn fetch<R: Record>(&mut self, keys: Vec<Vec<u8>>) -> Result<Vec<R>, Fault> {
        let mut found = Vec::new();
        for keys in keys.chunks(SCAN_PAIRS) {
            self.limits.in_time()?;
            self.expect(R::SPACE, keys)?;
            for key in keys {
                if let Some(value) = self.view.get(R::SPACE, key)? {
                    found.push(record(key, &value)?);
                }
            }
        }
        Ok(found)
    }

    /// Announces the keys that are read next, so that an engine on another machine is queried once for all.
    pub fn expect(&mut self, space: Space, keys: &[Vec<u8>]) -> Result<(), Fault> {
        self.view.expect(space, keys)
    }

    /// The same for keys of several spaces.
    pub fn expect_places(&mut self, places: &[(Space, Vec<u8>)]) -> Result<(), Fault> {
        self.view.expect_places(places)
    }

    /// The same for short ranges of keys; false where that gains nothing.
    pub fn expect_ranges(&mut self, ranges: &[(Space, Range)]) -> Result<bool, Fault> {
        self.view.expect_ranges(ranges)
    }

    /// Pairs of a space that commits behind a place in the journal have put (see [`View::put_after`]).
    pub fn put_after(&mut self, space: Space, after: u64, limit: usize) -> Result<Option<Vec<Pair>>, Fault> {
        self.view.put_after(space, after, limit)
    }

    /// How many entries an index has under these parts.
    pub fn count(&mut self, index: Space, parts: &[&str]) -> Result<u64, Fault> {
        let mut count = 0;
        self.walk(index, Range::prefix(&prefix(parts)), &mut |_, _| {
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }

    /// The same where there are at most `max`; one more where there are more.
    pub fn count_some(&mut self, index: Space, parts: &[&str], max: u64) -> Result<u64, Fault> {
        let mut count = 0;
        self.walk(index, Range::prefix(&prefix(parts)), &mut |_, _| {
            count += 1;
            Ok(count <= max)
        })?;
        Ok(count)
    }

    /// How many entries an index by time has from a moment on, and `limit` where there are more.
    pub fn count_from(&mut self, index: Space, from: Timestamp, limit: usize) -> Result<u64, Fault> {
        let range = Range { from: key(&[&moment(from)]), to: None };
        Ok(self.view.scan(index, &range, false, limit)?.len() as u64)
    }

    /// Whether an index has an entry under these parts.
    pub fn any(&mut self, index: Space, parts: &[&str]) -> Result<bool, Fault> {
        Ok(!self.view.scan(index, &Range::prefix(&prefix(parts)), false, 1)?.is_empty())
    }

    /// The next number of records that count under these parts, beginning with 1.
    pub fn next_number<R: Record>(&mut self, parts: &[&str]) -> Result<u64, Fault> {
        let last = self.view.scan(R::SPACE, &Range::prefix(&prefix(parts)), true, 1)?;
        Ok(last.first().map_or(0, |(key, _)| number(key)) + 1)
    }

    /// Removes every record whose key has these parts and more.
    pub fn remove_all<R: Record>(&mut self, parts: &[&str]) -> Result<(), Fault> {
        for record in self.all::<R>(parts)? {
            self.remove(&record);
        }
        Ok(())
    }

    /// Walks a range in key order until `visit` answers false.
    pub fn walk(&mut self, space: Space, mut range: Range, visit: &mut Visit<'_>) -> Result<(), Fault> {
        loop {
            self.limits.in_time()?;
            let pairs = self.view.scan(space, &range, false, SCAN_PAIRS)?;
            for (key, value) in &pairs {
                if !visit(key, value)? {
                    return Ok(());
                }
            }
            match pairs.last() {
                Some((last, _)) if pairs.len() == SCAN_PAIRS => range.from = joined(last.clone(), &[]),
                _ => return Ok(()),
            }
        }
    }

    /// At most `limit` pairs of a range, ascending, or descending if `reverse`.
    pub fn scan(
        &mut self,
        space: Space,
        range: &Range,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Pair>, Fault> {
        self.limits.in_time()?;
        self.view.scan(space, range, reverse, limit)
    }

    /// The last record of a range of keys.
    pub fn last<R: Record>(&mut self, range: &Range) -> Result<Option<R>, Fault> {
        self.limits.in_time()?;
        let last = self.view.scan(R::SPACE, range, true, 1)?;
        last.first().map(|(key, value)| record(key, value)).transpose()
    }

    /// The last record of each of these ranges of keys; an engine on another machine is asked once for all.
    pub fn lasts<R: Record>(&mut self, ranges: &[Range]) -> Result<Vec<Option<R>>, Fault> {
        self.limits.in_time()?;
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        let Some(found) = self.view.lasts(R::SPACE, ranges)? else {
            return ranges.iter().map(|range| self.last(range)).collect();
        };
        let last = |pair: Option<Pair>| pair.map(|(key, value)| record(&key, &value)).transpose();
        found.into_iter().map(last).collect()
    }

    /// The value of a key, for machinery that knows no record type.
    pub fn value(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        self.view.get(space, key)
    }

    fn stage(&mut self, space: Space, key: Vec<u8>, value: Option<Vec<u8>>) {
        self.view.stage(Change { space, key, value });
    }
}

/// Reads a stored record.
pub fn record<R: Record>(key: &[u8], stored: &[u8]) -> Result<R, Fault> {
    R::read(key, stored).map_err(|error| unreadable(R::SPACE, &error))
}

/// Reads a stored record whose form is JSON, or a part of one.
pub fn decode<'b, T: Deserialize<'b>>(space: Space, bytes: &'b [u8]) -> Result<T, Fault> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(space, &error))
}

fn unreadable(space: Space, error: &serde_json::Error) -> Fault {
    tracing::error!(space = space.name, %error, "a stored record cannot be read");
    Fault::new(fault::INTERNAL, format!("a record of {} cannot be read", space.name))
}

/// The places of a record's entries in its indexes.
pub fn entries_of<R: Record>(record: &R) -> impl Iterator<Item = (Space, Vec<u8>)> {
    let key = record.key();
    record.index().into_iter().map(move |(space, entry)| (space, joined(entry, &key)))
}

/// An index entry is its own parts, then the record's key: entries under one part sort by record.
fn joined(mut entry: Vec<u8>, key: &[u8]) -> Vec<u8> {
    entry.push(0);
    entry.extend_from_slice(key);
    entry
}

/// The record's key at the end of an index entry that was found under `parts`.
pub fn indexed_key<'e>(parts: &[&str], entry: &'e [u8]) -> &'e [u8] {
    &entry[prefix(parts).len().min(entry.len())..]
}
