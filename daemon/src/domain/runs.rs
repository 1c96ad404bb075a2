//! Which products were run on which days, in memory, so that a page of interest runs needs no walk.
//!
//! A day that was run for all products gets no further run. So what was found for such a day stays valid, and
//! only later days need a look. The exceptions are a run that is removed with its product and one that is
//! tried again: each raises the revision, and everything is looked at again.

use mfa_shared::time::Date;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most runs that are kept, of 12 bytes each; longer lists are walked.
pub const RUNS_KEPT_MAX: usize = 2 * 1024 * 1024;

/// The runs of all days up to one.
#[derive(Debug, Clone, Default)]
pub struct RunDays {
    revision: u64,
    upto: Option<Date>,
    /// Day and product of each run, in the order of the list.
    rows: Vec<(Date, u32)>,
    products: Vec<String>,
    /// For each product its number, and the days on which it was run.
    days: HashMap<String, (u32, Vec<Date>)>,
}

/// The days of a question, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// The first, if it is limited.
    pub first: Option<Date>,
    /// The last.
    pub last: Date,
}

impl RunDays {
    /// Nothing yet, at a revision.
    pub fn at(revision: u64) -> Self {
        Self { revision, ..Self::default() }
    }

    /// The revision to which it belongs.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The last day that it knows.
    pub fn upto(&self) -> Option<Date> {
        self.upto
    }

    /// Appends the run that follows in the order of day and product.
    pub fn add(&mut self, day: Date, product: &str) {
        let next = u32::try_from(self.products.len()).unwrap_or(u32::MAX);
        let (number, days) = match self.days.get_mut(product) {
            Some(known) => known,
            None => {
                self.products.push(product.to_owned());
                self.days.entry(product.to_owned()).or_insert((next, Vec::new()))
            }
        };
        days.push(day);
        self.rows.push((day, *number));
    }

    /// Every run up to this day was added.
    pub fn close(&mut self, day: Date) {
        self.upto = Some(day);
    }

    /// How many runs it holds.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The runs of these days, of one product or of all.
    pub fn part(&self, product: Option<&str>, asked: Days) -> RunPart<'_> {
        fn within<T>(rows: &[T], asked: Days, day: impl Fn(&T) -> Date) -> &[T] {
            let from = rows.partition_point(|row| asked.first.is_some_and(|first| day(row) < first));
            let to = rows.partition_point(|row| day(row) <= asked.last);
            &rows[from.min(to)..to]
        }
        match product {
            None => RunPart::All(&self.products, within(&self.rows, asked, |row| row.0)),
            Some(product) => {
                let known = self.days.get_key_value(product);
                known.map_or(RunPart::All(&[], &[]), |(product, (_, days))| {
                    RunPart::One(product, within(days, asked, |day| *day))
                })
            }
        }
    }
}

/// Some runs, in the order of day and product.
#[derive(Debug, Clone, Copy)]
pub enum RunPart<'a> {
    /// Of all products.
    All(&'a [String], &'a [(Date, u32)]),
    /// Of one product.
    One(&'a str, &'a [Date]),
}

impl<'a> RunPart<'a> {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::All(_, rows) => rows.len(),
            Self::One(_, days) => days.len(),
        }
    }

    /// Day and product of the run at a place.
    pub fn at(&self, place: usize) -> Option<(Date, &'a str)> {
        match *self {
            Self::All(products, rows) => {
                let (day, number) = rows.get(place)?;
                let product = products.get(usize::try_from(*number).ok()?)?;
                Some((*day, product))
            }
            Self::One(product, days) => Some((*days.get(place)?, product)),
        }
    }
}

/// What the requests of a daemon know of the runs.
#[derive(Debug, Default)]
pub struct KnownRuns(Mutex<Arc<RunDays>>);

impl KnownRuns {
    /// What is known.
    pub fn get(&self) -> Arc<RunDays> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps this, unless more is known already.
    pub fn put(&self, days: &Arc<RunDays>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if (known.revision, known.upto) < (days.revision, days.upto) {
            *known = days.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(day: i64) -> Date {
        Date::new(2031, 5, day).unwrap()
    }

    fn known() -> RunDays {
        let mut days = RunDays::at(3);
        for (at, product) in [(1, "b"), (2, "a"), (2, "b"), (4, "a"), (4, "c")] {
            days.add(day(at), product);
        }
        days.close(day(5));
        days
    }

    #[test]
    fn a_part_has_the_runs_of_its_days_and_product() {
        let days = known();
        let found = |product: Option<&str>, first: Option<i64>, last: i64| {
            let part = days.part(product, Days { first: first.map(day), last: day(last) });
            let at = |place| part.at(place).map(|(at, product)| format!("{} {product}", at.parts().2));
            assert_eq!(at(part.count()), None);
            (0..part.count()).map(|place| at(place).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(found(None, None, 9), ["1 b", "2 a", "2 b", "4 a", "4 c"]);
        assert_eq!(found(None, Some(2), 3), ["2 a", "2 b"]);
        assert_eq!(found(Some("a"), None, 9), ["2 a", "4 a"]);
        assert_eq!(found(Some("b"), Some(2), 9), ["2 b"]);
        for (product, first, last) in [(None, Some(3), 3), (None, Some(4), 1), (Some("d"), None, 9)] {
            assert!(found(product, first, last).is_empty(), "{product:?} {first:?} {last}");
        }
    }

    #[test]
    fn what_is_known_gives_way_only_to_a_later_day_or_revision() {
        let kept = KnownRuns::default();
        kept.put(&Arc::new(known()));
        kept.put(&Arc::new(RunDays::at(2)));
        let mut less = RunDays::at(3);
        less.close(day(4));
        kept.put(&Arc::new(less));
        assert_eq!((kept.get().count(), kept.get().upto()), (5, Some(day(5))));
        let mut anew = RunDays::at(4);
        anew.close(day(1));
        kept.put(&Arc::new(anew));
        assert_eq!((kept.get().count(), kept.get().upto()), (0, Some(day(1))));
    }
}
