//! Counters and measurements for monitoring. Each is an atomic, so that counting never blocks;
//! `http/metrics/` shows them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// How often something happened.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn one(&self) {
        self.add(1);
    }

    /// So many times more.
    pub fn add(&self, times: u64) {
        self.0.fetch_add(times, Relaxed);
    }

    /// How often so far.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// How many there are at present.
#[derive(Debug, Clone, Default)]
pub struct Level(Arc<AtomicU64>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Within(Level);

impl Level {
    /// One more, as long as the answer lives.
    pub fn enter(&self) -> Within {
        self.0.fetch_add(1, Relaxed);
        Within(self.clone())
    }

    /// How many.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// How values are spread: how many were at most each of some bounds.
#[derive(Debug)]
pub struct Spread {
    bounds: &'static [u64],
    /// One for each bound, and one for what is above all of them.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// What a [`Spread`] has counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The bounds, ascending.
    pub bounds: &'static [u64],
    /// How many values were at most each of them.
    pub upto: Vec<u64>,
    /// How many there were.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
}

impl Spread {
    /// Nothing counted yet, over ascending bounds.
    pub fn over(bounds: &'static [u64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    /// Counts a value.
    pub fn note(&self, value: u64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        self.counts[place].fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
    }

    /// Counts a time in microseconds.
    pub fn note_time(&self, time: Duration) {
        self.note(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// What was counted so far. A concurrent measurement is in the sum or not, but never in one bound alone.
    pub fn counted(&self) -> Counted {
        let mut count = 0;
        let mut upto: Vec<u64> = self
            .counts
            .iter()
            .map(|of_bound| {
                count += of_bound.load(Relaxed);
                count
            })
            .collect();
        upto.truncate(self.bounds.len());
        Counted { bounds: self.bounds, upto, count, sum: self.sum.load(Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_for_every_bound_that_it_does_not_exceed() {
        let spread = Spread::over(&[10, 20]);
        [0, 10, 11, 20, 21, 1000].into_iter().for_each(|value| spread.note(value));
        let counted = spread.counted();
        assert_eq!((counted.upto, counted.count, counted.sum), (vec![2, 4], 6, 1062));
        spread.note_time(Duration::from_nanos(19_999));
        assert_eq!(spread.counted().upto, [2, 5]);
    }

    #[test]
    fn what_has_gone_is_not_there_any_more() {
        let level = Level::default();
        let held = [level.enter(), level.enter()];
        assert_eq!(level.get(), 2);
        drop(held);
        assert_eq!(level.get(), 0);
    }
}
