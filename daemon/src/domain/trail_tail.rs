//! What the last records of the audit trail are listed under, in memory, until the lists have them. The lists
//! are behind where much is written, and each look at one would read all that is missing.
//!
//! A sealed record never changes. So what was noted stays valid, and only newer records need a look.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most records that are noted, of about 80 bytes each; where more are missing, they are read.
pub const NOTED_MAX: u64 = 1 << 20;

/// The names of records within a range of numbers.
#[derive(Debug, Default)]
pub struct TrailTail {
    /// Names are noted as keyed hashes of 64 bits, of which no two are the same by chance or by intent.
    hasher: RandomState,
    noted: Range<u64>,
    /// For each record its number, and how many names were noted up to it.
    records: VecDeque<(u64, usize)>,
    /// The names of all records, one behind the other.
    names: VecDeque<u64>,
    /// How many names were forgotten.
    forgotten: usize,
}

impl TrailTail {
    /// Forgets what is before a number, and says from which one on records are missing. `None`: some of what
    /// is wanted was forgotten before.
    pub fn begin(&mut self, start: u64) -> Option<u64> {
        if self.noted.end <= start {
            // What it had grown to is given back.
            self.records = VecDeque::new();
            self.names = VecDeque::new();
            self.forgotten = 0;
            self.noted = start..start;
        }
        if start < self.noted.start {
            return None;
        }
        let before = self.records.partition_point(|(number, _)| *number < start);
        if let Some((_, upto)) = self.records.drain(..before).next_back() {
            self.names.drain(..upto - self.forgotten);
            self.forgotten = upto;
        }
        self.noted.start = start;
        Some(self.noted.end)
    }

    /// Notes the next record with its names.
    pub fn add(&mut self, number: u64, names: &[String]) {
        self.names.extend(names.iter().map(|name| self.hasher.hash_one(name.as_str())));
        self.records.push_back((number, self.forgotten + self.names.len()));
        self.noted.end = number + 1;
    }

    /// Records with a name, within a range of numbers.
    pub fn named(&self, name: &str, numbers: &Range<u64>) -> Vec<u64> {
        let wanted = self.hasher.hash_one(name);
        let (front, back) = self.names.as_slices();
        let places = |part: &'_ [u64], before: usize| -> Vec<usize> {
            let found = part.iter().enumerate().filter(|(_, hash)| **hash == wanted);
            found.map(|(place, _)| before + place).collect()
        };
        let places = [places(front, self.forgotten), places(back, self.forgotten + front.len())].concat();
        let record = |place: usize| self.records.partition_point(|(_, upto)| *upto <= place);
        let found = places.into_iter().filter_map(|place| self.records.get(record(place)));
        found.map(|(number, _)| *number).filter(|number| numbers.contains(number)).collect()
    }
}

/// The tail that the readers of a daemon share.
#[derive(Debug, Default)]
pub struct SharedTail(Mutex<TrailTail>);

impl SharedTail {
    /// The tail, for one reader at a time.
    pub fn lock(&self) -> MutexGuard<'_, TrailTail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn only_what_was_not_noted_is_missing_and_what_is_listed_is_forgotten() {
        let mut tail = TrailTail::default();
        assert_eq!(tail.begin(5), Some(5));
        tail.add(5, &names(&["ama", "create"]));
        tail.add(6, &names(&["kofi", "create"]));
        tail.add(8, &names(&["ama"]));
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
