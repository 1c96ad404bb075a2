//! A store of a map, for rules that are looked at without HTTP and without a disk.

use crate::domain::numbers::ListNumbers;
use crate::store::Tx;
use crate::store::engine::{Pair, Range, Space, View};
use mfa_shared::fault::{Fault, UNAVAILABLE};
use mfa_shared::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The map, and the clock of its transactions.
#[derive(Debug, Clone)]
pub struct Memory {
    pub pairs: BTreeMap<(u8, Vec<u8>), Vec<u8>>,
    pub now: Timestamp,
    pub strict: bool,
    /// Pairs that were read.
    pub looked_at: usize,
    /// Of these, records that were not announced.
    pub unannounced: usize,
    announced: BTreeSet<(u8, Vec<u8>)>,
    /// Nothing can be read beyond so many pairs.
    pub ends_at: usize,
}

impl Memory {
    pub fn new() -> Self {
        let now = Timestamp::parse("2031-05-06T07:08:09.123Z").unwrap();
        Self {
            pairs: BTreeMap::new(),
            now,
            strict: false,
            looked_at: 0,
            unannounced: 0,
            announced: BTreeSet::new(),
            ends_at: usize::MAX,
        }
    }

    fn look_at(&mut self, pairs: usize) -> Result<(), Fault> {
        self.looked_at += pairs;
        if self.looked_at > self.ends_at { Err(Fault::new(UNAVAILABLE, "too long")) } else { Ok(()) }
    }

    /// Runs work as one transaction: what it staged is written if it succeeds.
    pub fn write<T>(&mut self, work: impl FnOnce(&mut Tx<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        self.announced.clear();
        let (now, strict) = (self.now, self.strict);
        let mut tx = Tx::new(self, now, strict);
        let out = work(&mut tx);
        if out.is_err() && !tx.writes_after(false) {
            return out;
        }
        for change in tx.into_changes() {
            let at = (change.space.id, change.key);
            match change.value {
                Some(value) => self.pairs.insert(at, value),
                None => self.pairs.remove(&at),
            };
        }
        out
    }

    /// The same with the numbers of long lists, as requests that read have them.
    pub fn read_with<T>(
        &mut self,
        numbers: &Arc<ListNumbers>,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, Fault>,
    ) -> T {
        let (now, strict) = (self.now, self.strict);
        work(&mut Tx::new(self, now, strict).with_numbers(numbers.clone())).unwrap()
    }

    /// Looks, and writes nothing.
    pub fn read<T>(&mut self, work: impl FnOnce(&mut Tx<'_>) -> Result<T, Fault>) -> T {
        let (now, strict) = (self.now, self.strict);
        work(&mut Tx::new(self, now, strict)).unwrap()
    }
}

impl View for Memory {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        self.look_at(1)?;
        let at = (space.id, key.to_vec());
        self.unannounced += usize::from(!self.announced.contains(&at));
        Ok(self.pairs.get(&at).cloned())
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        use std::ops::Bound::{Excluded, Included};
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let end = match &range.to {
            Some(to) => Excluded((space.id, to.clone())),
            None => Excluded((space.id + 1, Vec::new())),
        };
        let pairs = self.pairs.range((Included((space.id, range.from.clone())), end));
        let pairs = pairs.map(|((_, k), v)| (k.clone(), v.clone()));
        let found: Vec<_> =
            if reverse { pairs.rev().take(limit).collect() } else { pairs.take(limit).collect() };
        self.look_at(found.len())?;
        Ok(found)
    }

    fn expect(&mut self, space: Space, keys: &[Vec<u8>]) -> Result<(), Fault> {
        self.announced.extend(keys.iter().map(|key| (space.id, key.clone())));
        Ok(())
    }
}
