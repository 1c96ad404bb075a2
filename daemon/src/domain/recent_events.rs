//! The latest events, in memory. Thousands of listeners hear the same ones; each of them would read the same
//! records from the store and take them apart.
//!
//! A sealed record never changes, and its hash vouches for all before it. So what was read once stays valid
//! as long as the hashes fit together.

use mfa_shared::api::events::Event;
use mfa_shared::endpoint::Meta;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// So many records are kept, at about a kilobyte each. A listener who is further behind reads the trail, at
/// many times the cost: thousands whom a flood has left that far behind would stay behind for long.
pub const KEPT_MAX: usize = 16_384;

/// Up to so many of the last records are news, also where none of those before is known.
const NEWS_MAX: u64 = 100;

/// Up to so many are, where all those before them are known.
const FOLLOWED_MAX: u64 = KEPT_MAX as u64 / 4;

/// An event, ready to be sent.
#[derive(Debug)]
pub struct Announced {
    /// The event.
    pub event: Event,
    /// The same as a stream has it.
    pub frame: String,
    /// Where in it the event stands as JSON, which has no line end in it.
    json: Range<usize>,
    /// The kind of its record; empty where it is about no single one.
    pub kind: String,
    /// The row by which the record is read, and so who may hear of it; none where no one may.
    pub row: Option<Meta>,
}

impl Announced {
    /// An event and the same as JSON; its kind and row as in the fields.
    pub fn new(event: Event, json: &str, kind: String, row: Option<Meta>) -> Self {
        let frame = format!("id: {}\nevent: {}\ndata: {json}\n\n", event.sequence, event.operation);
        let end = frame.len() - "\n\n".len();
        Self { event, json: end - json.len()..end, frame, kind, row }
    }

    /// The event as JSON.
    pub fn json(&self) -> &str {
        &self.frame[self.json.clone()]
    }
}

/// What is known of a record of the trail.
#[derive(Debug, Clone)]
pub struct Known {
    /// Its hash.
    pub hash: String,
    /// The event that it is, if it is one.
    pub event: Option<Arc<Announced>>,
}

/// What is known of the latest records, one behind the other.
#[derive(Debug, Default)]
pub struct RecentEvents {
    /// The number of the first one.
    first: u64,
    known: VecDeque<Known>,
}

impl RecentEvents {
    fn end(&self) -> u64 {
        self.first + self.known.len() as u64
    }

    fn at(&self, number: u64) -> Option<&Known> {
        self.known.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// What is known of the records after one, up to another one, without a gap. The last record of the trail
    /// shows whether it is the same trail.
    pub fn after(&mut self, after: u64, upto: u64, (last, hash): (u64, &str)) -> Vec<Option<Arc<Announced>>> {
        if self.at(last).is_some_and(|known| known.hash != hash) {
            self.known.clear();
        }
        let numbers = after.saturating_add(1)..=upto;
        numbers.map_while(|number| self.at(number)).map(|known| known.event.clone()).collect()
    }

    /// Whether a record lies before those that are known, or far from them, where `last` is the last record
    /// of the trail: whoever reads on from there reads much, and alone.
    pub fn is_away(&self, number: u64, last: u64) -> bool {
        let left = last.saturating_sub(number);
        match number.cmp(&self.end()) {
            _ if self.known.is_empty() => left >= NEWS_MAX,
            Ordering::Less => number < self.first,
            Ordering::Equal => left >= FOLLOWED_MAX,
            Ordering::Greater => left >= NEWS_MAX,
        }
    }

    /// Notes what was read of a record; `before` is the hash of the one before it. Older ones than those that
    /// are kept are left out, and where some lie between, the newer ones are worth more.
    pub fn note(&mut self, number: u64, before: Option<&str>, known: Known) {
        if self.known.is_empty() || number > self.end() {
            self.known.clear();
            self.first = number;
        }
        if number != self.end() {
            return;
        }
        if self.known.back().is_some_and(|last| Some(last.hash.as_str()) != before) {
            self.known.clear();
            self.first = number;
        }
        self.known.push_back(known);
        if self.known.len() > KEPT_MAX {
            self.known.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::time::Timestamp;

    fn known(number: u64) -> Known {
        let event = Event {
            sequence: i64::try_from(number).unwrap(),
            occurred_on: Timestamp::from_millis(0),
            operation: "CreateCustomer".to_owned(),
            resource: None,
            affects: Vec::new(),
            actor: "guest".to_owned(),
            request_id: String::new(),
        };
        let announced = Announced::new(event, "", String::new(), None);
        Known { hash: format!("h{number}"), event: Some(Arc::new(announced)) }
    }

    fn note(recent: &mut RecentEvents, number: u64) {
        recent.note(number, Some(&format!("h{}", number - 1)), known(number));
    }

    fn numbers(recent: &mut RecentEvents, after: u64, upto: u64, last: (u64, &str)) -> Vec<i64> {
        let found = recent.after(after, upto, last).into_iter();
        found.map(|announced| announced.unwrap().event.sequence).collect()
    }

    #[test]
    fn what_follows_a_number_is_known_up_to_the_first_gap() {
        let mut recent = RecentEvents::default();
        (5..=9).for_each(|number| note(&mut recent, number));
        assert_eq!(numbers(&mut recent, 4, 9, (9, "h9")), [5, 6, 7, 8, 9]);
        assert_eq!(numbers(&mut recent, 6, 8, (9, "h9")), [7, 8]);
        assert_eq!(numbers(&mut recent, 3, 9, (9, "h9")), [0; 0]);
        assert_eq!(numbers(&mut recent, 8, 20, (20, "h20")), [9]);
        assert_eq!(numbers(&mut recent, u64::MAX, 9, (9, "h9")), [0; 0]);
        // A listener from long ago moves nothing; one that is ahead begins anew.
        note(&mut recent, 2);
        note(&mut recent, 7);
        assert_eq!(numbers(&mut recent, 4, 9, (9, "h9")), [5, 6, 7, 8, 9]);
        note(&mut recent, 12);
        assert_eq!(numbers(&mut recent, 4, 9, (12, "h12")), [0; 0]);
        assert_eq!(numbers(&mut recent, 11, 12, (12, "h12")), [12]);
    }

    #[test]
    fn what_is_before_or_far_from_the_known_ones_is_away() {
        let mut recent = RecentEvents::default();
        assert!(recent.is_away(1, 1_000));
        assert!(!recent.is_away(1_000 - NEWS_MAX + 1, 1_000));
        (5..=9).for_each(|number| note(&mut recent, number));
        let away = |number| recent.is_away(number, 1_000);
        assert_eq!([4, 5, 10, 11, 900, 901, 1_000].map(away), [true, false, false, true, true, false, false]);
        assert!(recent.is_away(4, 9) && !recent.is_away(10, 9 + FOLLOWED_MAX));
        assert!(recent.is_away(10, 10 + FOLLOWED_MAX), "a whole backlog is no news");
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut recent = RecentEvents::default();
        let last = KEPT_MAX as u64 + 10;
        (1..=last).for_each(|number| note(&mut recent, number));
        let end = format!("h{last}");
        assert_eq!(numbers(&mut recent, 9, last, (last, &end)), [0; 0]);
        assert_eq!(numbers(&mut recent, 10, last, (last, &end)).len(), KEPT_MAX);
    }

    #[test]
    fn another_trail_under_the_same_numbers_is_noticed() {
        let mut recent = RecentEvents::default();
        (1..=5).for_each(|number| note(&mut recent, number));
        assert_eq!(numbers(&mut recent, 0, 5, (5, "x5")), [0; 0]);
        (1..=5).for_each(|number| note(&mut recent, number));
        recent.note(6, Some("x5"), known(6));
        assert_eq!(numbers(&mut recent, 0, 6, (6, "h6")), [0; 0]);
        assert_eq!(numbers(&mut recent, 5, 6, (6, "h6")), [6]);
    }
}
