//! Changes that lie over a state that does not have them yet: those of a transaction over the store, those
//! of a group over what is published, those that are published over the tree of the index.

use super::keys::{Change, Pair, Range, Space};
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Included, Unbounded};

/// A new value, or a removal.
pub type Staged = Option<Vec<u8>>;
/// The changes of one space, in key order.
type Keys = BTreeMap<Vec<u8>, Staged>;
/// The first pairs of a range, at most so many, in the order that was asked for.
pub type Below<'b, E> = dyn FnMut(&Range, usize) -> Result<Vec<Pair>, E> + 'b;

/// Pairs that are fetched at once after the first ones have not been enough.
const REFILL_PAIRS: usize = 64;

/// Changes, of each key the last one.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    spaces: BTreeMap<Space, Keys>,
    len: usize,
    bytes: usize,
}

fn bytes_of(key: &[u8], value: Option<&Staged>) -> usize {
    value.map_or(0, |value| key.len() + value.as_ref().map_or(0, Vec::len))
}

impl Layer {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes of the keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The change of a key, if it has one.
    pub fn get(&self, space: Space, key: &[u8]) -> Option<&Staged> {
        self.spaces.get(&space)?.get(key)
    }

    /// Adds a change; returns the one that it takes the place of.
    pub fn put(&mut self, change: Change) -> Option<Staged> {
        let Change { space, key, value } = change;
        self.bytes += bytes_of(&key, Some(&value));
        let key_bytes = key.len();
        let before = self.spaces.entry(space).or_default().insert(key, value);
        match &before {
            Some(value) => self.bytes -= key_bytes + value.as_ref().map_or(0, Vec::len),
            None => self.len += 1,
        }
        before
    }

    /// Adds a change of a key that has none.
    pub fn put_if_new(&mut self, space: Space, key: &[u8], value: &Staged) {
        let keys = self.spaces.entry(space).or_default();
        if !keys.contains_key(key) {
            self.bytes += bytes_of(key, Some(value));
            self.len += 1;
            keys.insert(key.to_vec(), value.clone());
        }
    }

    /// Adds the changes of keys that have none.
    pub fn put_below(&mut self, mut other: Layer) {
        if self.len < other.len {
            std::mem::swap(self, &mut other);
            other.into_changes().for_each(|change| drop(self.put(change)));
        } else {
            other.iter().for_each(|(space, key, value)| self.put_if_new(space, key, value));
        }
    }

    /// Takes the change of a key away.
    pub fn forget(&mut self, space: Space, key: &[u8]) {
        if let Some(value) = self.spaces.get_mut(&space).and_then(|keys| keys.remove(key)) {
            self.bytes -= bytes_of(key, Some(&value));
            self.len -= 1;
        }
    }

    /// Every change, in the order of spaces and keys.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &Vec<u8>, &Staged)> {
        self.spaces.iter().flat_map(|(space, keys)| keys.iter().map(|(key, value)| (*space, key, value)))
    }

    /// The changes in a range, in key order.
    pub fn range(
        &self,
        space: Space,
        range: &Range,
    ) -> impl DoubleEndedIterator<Item = (&Vec<u8>, &Staged)> + Clone {
        let end = range.to.as_deref().map_or(Unbounded, Excluded);
        let keys = self.spaces.get(&space).filter(|_| !range.is_empty());
        keys.map(|keys| keys.range::<[u8], _>((Included(&*range.from), end))).into_iter().flatten()
    }

    /// A copy of the changes in a range, of the first `most` keys at most, and the part of the range in which
    /// there are no others.
    pub fn part(&self, space: Space, range: &Range, reverse: bool, most: usize) -> (Self, Range) {
        let mut part = Self::default();
        let mut covered = range.clone();
        let changes = self.range(space, range);
        let mut changes: Box<dyn Iterator<Item = _>> =
            if reverse { Box::new(changes.rev()) } else { Box::new(changes) };
        let mut last = None;
        for (key, value) in changes.by_ref().take(most) {
            part.put_if_new(space, key, value);
            last = Some(key);
        }
        if let (Some(last), Some(_)) = (last, changes.next()) {
            covered.end_with(last, reverse);
        }
        (part, covered)
    }

    /// Whether something is changed in one of these spaces.
    pub fn touches(&self, spaces: &[Space]) -> bool {
        spaces.iter().any(|space| self.spaces.get(space).is_some_and(|keys| !keys.is_empty()))
    }

    /// Every change, in the order of spaces and keys.
    pub fn to_changes(&self) -> impl Iterator<Item = Change> {
        self.iter().map(|(space, key, value)| Change { space, key: key.clone(), value: value.clone() })
    }

    /// Every change, in the order of spaces and keys.
    pub fn into_changes(self) -> impl Iterator<Item = Change> {
        let spaces = self.spaces.into_iter();
        spaces
            .flat_map(|(space, keys)| keys.into_iter().map(move |(key, value)| Change { space, key, value }))
    }

    /// At most `limit` pairs of a range, as if the changes were written to the layer below.
    pub fn scan<E>(
        &self,
        space: Space,
        range: &Range,
        reverse: bool,
        limit: usize,
        below: &mut Below<'_, E>,
    ) -> Result<Vec<Pair>, E> {
        if range.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let changed = self.range(space, range);
        if changed.clone().next().is_none() {
            return below(range, limit);
        }
        let mut changed: Box<dyn Iterator<Item = _>> =
            if reverse { Box::new(changed.rev()) } else { Box::new(changed) };
        let mut next = changed.next();
        let mut pages =
            Pages { range: range.clone(), reverse, page: VecDeque::new(), at_once: 0, ended: false };
        let mut merged = Vec::new();
        while merged.len() < limit {
            let wanted = limit - merged.len();
            let order = match (next, pages.first(wanted, below)?) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((key, _)), Some(stored)) if reverse => stored.cmp(key),
                (Some((key, _)), Some(stored)) => key.as_slice().cmp(stored),
            };
            let stored = if order == Ordering::Less { None } else { pages.page.pop_front() };
            if order == Ordering::Greater {
                merged.extend(stored);
            } else {
                merged.extend(next.and_then(|(key, value)| Some((key.clone(), value.clone()?))));
                next = changed.next();
            }
        }
        Ok(merged)
    }
}

/// The layer below, page by page.
struct Pages {
    /// What is not fetched yet.
    range: Range,
    reverse: bool,
    page: VecDeque<Pair>,
    /// At least so many are fetched at once: many that lie below may be removed.
    at_once: usize,
    ended: bool,
}

impl Pages {
    /// The key of the first pair that is left.
    fn first<E>(&mut self, wanted: usize, below: &mut Below<'_, E>) -> Result<Option<&[u8]>, E> {
        if self.page.is_empty() && !self.ended {
            let count = wanted.max(self.at_once);
            let page = below(&self.range, count)?;
            (self.ended, self.at_once) = (page.len() < count, REFILL_PAIRS);
            if let Some((last, _)) = page.last() {
                self.range.pass(last, self.reverse);
            }
            self.page = page.into();
        }
        Ok(self.page.front().map(|(key, _)| key.as_slice()))
    }
}
