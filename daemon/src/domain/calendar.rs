//! How many customers and accounts came and went on each day, in memory. Each of these events happens once
//! and is never taken back, so an event that is noted again counts no more.

use mfa_shared::time::Date;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Happened {
    /// A customer was created.
    Created,
    /// A customer was closed.
    Closed,
    /// A customer was reopened.
    Reopened,
    /// An account of this product became ACTIVE for the first time.
    Opened(String),
    /// An account of this product that had been ACTIVE was closed.
    Ended(String),
}

/// An event: the record that proves it, what happened, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The record, by a name that no other record has.
    pub record: Vec<u8>,
    /// What happened.
    pub what: Happened,
    /// The day, in UTC.
    pub day: Date,
}

impl Event {
    /// The first half of a SHA-256 hash. A record may prove two events, of different kinds.
    fn mark(&self) -> [u8; 16] {
        let kind = [u8::from(matches!(self.what, Happened::Ended(_)))];
        let hash = Sha256::new().chain_update(kind).chain_update(&self.record).finalize();
        hash.first_chunk().copied().unwrap_or_default()
    }
}

/// The events of each kind by their days.
#[derive(Debug, Default)]
pub struct Calendar {
    /// A report has asked for it.
    pub wanted: bool,
    /// It was read from the store once, and is kept up to date since.
    pub made: bool,
    noted: HashSet<[u8; 16]>,
    days: BTreeMap<Happened, BTreeMap<Date, i64>>,
}

impl Calendar {
    /// Notes events, each of them once.
    pub fn note(&mut self, events: Vec<Event>) {
        for event in events {
            if self.noted.insert(event.mark()) {
                *self.days.entry(event.what).or_default().entry(event.day).or_default() += 1;
            }
        }
    }

    /// Events of a kind from a day to another one, both included.
    pub fn between(&self, what: &Happened, first: Date, last: Date) -> i64 {
        self.days.get(what).map_or(0, |days| days.range(first..=last).map(|(_, count)| count).sum())
    }

    /// Events of a kind before a day.
    pub fn before(&self, what: &Happened, day: Date) -> i64 {
        self.days.get(what).map_or(0, |days| days.range(..day).map(|(_, count)| count).sum())
    }

    /// How many events there are.
    pub fn events(&self) -> usize {
        self.noted.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(record: &str, what: Happened, day: &str) -> Event {
        Event { record: record.as_bytes().to_vec(), what, day: Date::parse(day).unwrap() }
    }

    #[test]
    fn an_event_counts_once_and_on_its_day() {
        let opened = Happened::Opened("p".to_owned());
        let ended = Happened::Ended("p".to_owned());
        let mut calendar = Calendar::default();
        for _ in 0..3 {
            calendar.note(vec![
                event("a1", opened.clone(), "2024-02-29"),
                event("a1", ended.clone(), "2024-03-01"),
                event("a2", opened.clone(), "2023-12-31"),
            ]);
        }
        let day = |text| Date::parse(text).unwrap();
        assert_eq!(calendar.events(), 3);
        assert_eq!(calendar.between(&opened, day("2024-02-01"), day("2024-02-29")), 1);
        assert_eq!(calendar.between(&opened, day("2024-01-01"), day("2024-02-28")), 0);
        assert_eq!(calendar.before(&opened, day("2024-02-29")), 1);
        assert_eq!(calendar.before(&ended, day("2025-01-01")), 1);
        assert_eq!(calendar.before(&Happened::Opened("q".to_owned()), day("2025-01-01")), 0);
    }
}
