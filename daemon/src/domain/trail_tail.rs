//! An index, in memory, of the audit records that are not in the stored lists yet. Those lists lag behind
//! heavy writing, and without the index each query would read every record that is missing from them.
//!
//! A sealed record never changes, so what was indexed stays valid and only newer records have to be read.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

/// The most records that are indexed, at about 80 bytes each; if more are missing, a query reads them.
pub const NOTED_MAX: u64 = 1 << 20;

/// The names under which the records within a range of numbers are listed.
#[derive(Debug, Default)]
pub struct TrailTail {
    /// Names are kept as keyed 64-bit hashes, so that collisions can be neither expected nor provoked.
    hasher: RandomState,
    indexed: Range<u64>,
    /// For each record its number, and how many names were added up to and including it.
    records: VecDeque<(u64, usize)>,
    /// The names of all records, one behind the other.
    names: VecDeque<u64>,
    /// How many names were dropped.
    dropped: usize,
}

impl TrailTail {
    /// Drops the records before `start`, and returns the number of the first record that is not indexed yet;
    /// `None` if records from `start` on were dropped earlier.
    pub fn begin(&mut self, start: u64) -> Option<u64> {
        if self.indexed.end <= start {
            // New ones, which frees the memory of the old.
            self.records = VecDeque::new();
            self.names = VecDeque::new();
            self.dropped = 0;
            self.indexed = start..start;
        }
        if start < self.indexed.start {
            return None;
        }
        let before = self.records.partition_point(|(number, _)| *number < start);
        if let Some((_, upto)) = self.records.drain(..before).next_back() {
            self.names.drain(..upto - self.dropped);
            self.dropped = upto;
        }
        self.indexed.start = start;
        Some(self.indexed.end)
    }

    /// Adds the next record with its names.
    pub fn add(&mut self, number: u64, names: impl IntoIterator<Item = impl AsRef<str>>) {
        self.names.extend(names.into_iter().map(|name| self.hasher.hash_one(name.as_ref())));
        self.records.push_back((number, self.dropped + self.names.len()));
        self.indexed.end = number + 1;
    }

    /// Records with a name, within a range of numbers.
    pub fn named(&self, name: &str, numbers: &Range<u64>) -> Vec<u64> {
        let wanted = self.hasher.hash_one(name);
        let mut names = self.names.iter();
        let mut passed = self.dropped;
        let mut found = Vec::new();
        for (number, upto) in &self.records {
            let is_named = names.by_ref().take(upto - passed).filter(|hash| **hash == wanted).count() > 0;
            if is_named && numbers.contains(number) {
                found.push(*number);
            }
            passed = *upto;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unadded_records_are_missing_and_listed_ones_are_dropped() {
        let mut tail = TrailTail::default();
        assert_eq!(tail.begin(5), Some(5));
        tail.add(5, ["ama", "create"]);
        tail.add(6, ["kofi", "create"]);
        tail.add(8, ["ama"]);
        assert_eq!(tail.begin(5), Some(9));
        assert_eq!(tail.named("ama", &(5..9)), [5, 8]);
        assert_eq!(tail.named("ama", &(5..8)), [5], "a reader of an earlier moment");
        assert_eq!(tail.named("nobody", &(5..9)), [0u64; 0]);
        assert_eq!(tail.begin(6), Some(9));
        assert_eq!(tail.named("create", &(0..9)), [6]);
        assert_eq!(tail.begin(5), None, "a reader of a moment when less was listed");
        assert_eq!(tail.begin(20), Some(20));
        assert_eq!(tail.named("ama", &(0..30)), [0u64; 0]);
    }
}
