//! The numbers of long lists of the ledger, of tellers and of the audit trail, in memory: a page and a total
//! need no walk.
//!
//! Journal and trail are append-only. So the numbers found for a list stay valid, and only newer entries need
//! a look. They can be lost without harm: without them, the list is walked.

use super::ascending::Ascending;
use super::beginnings::Beginnings;
use super::named_locks::NamedLocks;
use super::recent_events::RecentEvents;
use super::runs::KnownRuns;
use super::trail_tail::TrailTail;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lists for which no more numbers than these were looked at are walked each time. A few in tests, so that
/// theirs are kept.
const WORTH_KEEPING: usize = if cfg!(test) { 5 } else { 1_000 };
/// Bytes of all lists together.
const ROOM: usize = 64 * 1024 * 1024;
/// The part of them that one list may take, which is not quite half, since it ends with a whole step: two
/// never displace each other.
const LIST_PART: (usize, usize) = (15, 32);
/// What a list counts for at least, so that at most a few thousand empty ones are kept.
const LIST_BYTES_MIN: usize = 8_000;

/// What a list is of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListOf {
    /// Entries of the journal: those with a line on this account, and of this type.
    Entries {
        /// The account, if only its entries are in the list.
        account: Option<String>,
        /// The type, if only its entries are in the list.
        r#type: Option<String>,
    },
    /// The lines on this account.
    Lines(String),
    /// The cancelled transactions of this teller.
    Cancelled(String),
    /// What all these lists of the audit trail have.
    Common(Vec<String>),
}

/// Which list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ListName {
    /// What it is of.
    pub of: ListOf,
    /// What is below this number does not belong to it: of days that begin late in a long journal, only what
    /// was posted since their beginning is looked at.
    pub from: u64,
}

/// The numbers of a list.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    /// All those that there are below `upto`.
    all: Ascending,
    upto: u64,
    /// How many were looked at to find them.
    looked_at: usize,
}

impl Numbers {
    /// Those of a list of which nothing below this number is asked for, and nothing was looked at yet.
    pub fn beginning_at(number: u64) -> Self {
        Self { upto: number, ..Self::default() }
    }

    /// Where nothing was looked at yet.
    pub fn upto(&self) -> u64 {
        self.upto
    }

    /// Appends the numbers that follow, all below `upto`, found among so many.
    pub fn add(&mut self, found: impl IntoIterator<Item = u64>, looked_at: usize, upto: u64) {
        found.into_iter().for_each(|number| self.all.push(number));
        self.upto = upto;
        self.looked_at += looked_at;
    }

    /// Gives back the memory that only more of them would need.
    pub fn shrink(&mut self) {
        self.all.shrink();
    }

    /// The places of those within a range, as far as it was looked at.
    pub fn places(&self, range: &Range<u64>) -> Range<usize> {
        let end = self.all.place_of(range.end);
        self.all.place_of(range.start).min(end)..end
    }

    /// Those at some places.
    pub fn at(&self, places: Range<usize>) -> impl Iterator<Item = u64> + '_ {
        self.all.at(places)
    }
}

impl From<ListOf> for ListName {
    /// The whole list.
    fn from(of: ListOf) -> Self {
        Self { of, from: 0 }
    }
}

#[derive(Debug, Default)]
struct Kept {
    lists: HashMap<ListName, (Arc<Numbers>, u64)>,
    /// Counts the uses, so that the list that was asked for the longest time ago goes first.
    uses: u64,
}

/// The numbers of the lists that were asked for lately, the days on which interest was run, the tail of the
/// audit trail, the latest events, and where days begin in the journal and the trail.
#[derive(Debug)]
pub struct ListNumbers {
    room: usize,
    kept: Mutex<Kept>,
    runs: KnownRuns,
    trail: Mutex<TrailTail>,
    events: Mutex<RecentEvents>,
    making: NamedLocks<ListName>,
    sealed: AtomicU64,
    journal_days: Beginnings,
    trail_days: Beginnings,
}

impl Default for ListNumbers {
    fn default() -> Self {
        Self::with_room(ROOM)
    }
}

impl ListNumbers {
    /// With so many bytes for all lists.
    pub fn with_room(room: usize) -> Self {
        Self {
            room,
            kept: Mutex::default(),
            runs: KnownRuns::default(),
            trail: Mutex::default(),
            events: Mutex::default(),
            making: NamedLocks::default(),
            sealed: AtomicU64::default(),
            journal_days: Beginnings::default(),
            trail_days: Beginnings::default(),
        }
    }

    /// The place in the journal of a shared engine up to which all records of the trail are sealed.
    pub fn sealed(&self) -> u64 {
        self.sealed.load(SeqCst)
    }

    /// Notes such a place.
    pub fn note_sealed(&self, place: u64) {
        self.sealed.fetch_max(place, SeqCst);
    }

    /// Where days begin in the journal.
    pub fn journal_days(&self) -> &Beginnings {
        &self.journal_days
    }

    /// Where days begin in the audit trail.
    pub fn trail_days(&self) -> &Beginnings {
        &self.trail_days
    }

    /// The interest runs.
    pub fn runs(&self) -> &KnownRuns {
        &self.runs
    }

    /// The audit records that are not in the stored lists yet, for one reader at a time; see
    /// [`Tx::lock`](crate::store::Tx::lock).
    pub fn trail(&self) -> &Mutex<TrailTail> {
        &self.trail
    }

    /// The latest events. No one waits for anything else while holding this.
    pub fn events(&self) -> MutexGuard<'_, RecentEvents> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lists that are found by a long walk at present.
    pub fn making(&self) -> &NamedLocks<ListName> {
        &self.making
    }

    /// Whether a list has all the room that one may take: what follows is walked each time.
    pub fn is_full(&self, numbers: &Numbers) -> bool {
        let (part, of) = LIST_PART;
        numbers.all.bytes() >= self.room / of * part
    }

    /// What is known of a list.
    pub fn get(&self, list: &ListName) -> Arc<Numbers> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let uses = kept.uses;
        let Some((numbers, used)) = kept.lists.get_mut(list) else {
            return Arc::new(Numbers::beginning_at(list.from));
        };
        *used = uses;
        numbers.clone()
    }

    /// Keeps what is known of a list, unless it was little work or more is kept already. A list of few among
    /// many entries took as much work as a long one.
    pub fn put(&self, list: ListName, numbers: &Arc<Numbers>) {
        if numbers.looked_at < WORTH_KEEPING {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.lists.get(&list).is_some_and(|(known, _)| known.upto >= numbers.upto) {
            return;
        }
        kept.uses += 1;
        let used = kept.uses;
        kept.lists.insert(list, (numbers.clone(), used));
        let weight = |(numbers, _): &(Arc<Numbers>, u64)| numbers.all.bytes().max(LIST_BYTES_MIN);
        while kept.lists.values().map(weight).sum::<usize>() > self.room {
            let oldest = kept.lists.iter().min_by_key(|(_, (_, used))| *used).map(|(list, _)| list.clone());
            let Some(oldest) = oldest else { break };
            kept.lists.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(account: &str) -> ListName {
        ListOf::Lines(account.to_owned()).into()
    }

    fn numbers(count: usize) -> Arc<Numbers> {
        let mut numbers = Numbers::default();
        numbers.add((0..count as u64).map(|number| number * 10), count, count as u64 * 10);
        Arc::new(numbers)
    }

    #[test]
    fn a_range_has_the_numbers_from_its_start_to_before_its_end() {
        let numbers = numbers(5);
        for (range, found) in [
            (0..50, &[0, 10, 20, 30, 40][..]),
            (1..31, &[10, 20, 30]),
            (10..30, &[10, 20]),
            (41..50, &[]),
            (30..30, &[]),
            (Range { start: 40, end: 10 }, &[]),
        ] {
            assert_eq!(numbers.at(numbers.places(&range)).collect::<Vec<_>>(), found, "{range:?}");
        }
    }

    #[test]
    fn the_least_recently_used_list_goes_first_and_short_ones_are_not_kept() {
        let long = numbers(10_000);
        let kept = ListNumbers::with_room(3 * long.all.bytes());
        for account in ["a", "b", "c"] {
            kept.put(list(account), &long);
        }
        assert_eq!(kept.get(&list("a")).upto(), long.upto());
        kept.put(list("d"), &long);
        let known = ["a", "b", "c", "d"].map(|account| kept.get(&list(account)).upto() > 0);
        assert_eq!(known, [true, false, true, true]);
        kept.put(list("a"), &numbers(2_000));
        assert_eq!(kept.get(&list("a")).upto(), long.upto(), "who knows less takes nothing away");
        kept.put(list("e"), &numbers(WORTH_KEEPING - 1));
        assert_eq!(kept.get(&list("e")).upto(), 0);
    }

    #[test]
    fn a_list_has_half_of_the_room_so_that_two_of_them_stay() {
        let kept = ListNumbers::with_room(200_000);
        for name in ["one", "other"] {
            let mut long = Numbers::default();
            while !kept.is_full(&long) {
                let next = long.upto();
                long.add(next..next + 500, 500, next + 500);
            }
            assert!((90_000..=100_000).contains(&long.all.bytes()), "{}", long.all.bytes());
            kept.put(list(name), &Arc::new(long));
        }
        assert!(["one", "other"].iter().all(|name| kept.get(&list(name)).upto() > 0));
    }

    #[test]
    fn short_lists_among_many_entries_are_kept_but_only_some_of_them() {
        let kept = ListNumbers::with_room(100 * LIST_BYTES_MIN);
        let mut few = Numbers::default();
        few.add([70], WORTH_KEEPING, 100_000);
        let few = Arc::new(few);
        kept.put(list("few"), &few);
        assert_eq!(kept.get(&list("few")).upto(), 100_000);
        for number in 0..110 {
            kept.put(list(&number.to_string()), &few);
        }
        assert_eq!(kept.get(&list("few")).upto(), 0);
        let lists = kept.kept.lock().unwrap().lists.len();
        assert!(lists <= 100, "{lists}");
    }

    #[test]
    fn a_list_that_begins_late_is_another_than_the_whole_one() {
        let kept = ListNumbers::default();
        kept.put(list("a"), &numbers(2_000));
        let late = ListName { from: 700, ..list("a") };
        assert_eq!(kept.get(&late).upto(), 700);
        assert_eq!(kept.get(&list("a")).upto(), 20_000);
    }
}
