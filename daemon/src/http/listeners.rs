//! The listeners to whom this daemon streams events: how many there are, and how far each has come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For each listener the last record of the trail that was looked at and sent.
#[derive(Debug, Default)]
pub struct Listeners {
    reached: Mutex<HashMap<u64, Arc<AtomicU64>>>,
    next: AtomicU64,
}

/// A listener, until it is dropped.
#[derive(Debug)]
pub struct Listening {
    all: Arc<Listeners>,
    number: u64,
    reached: Arc<AtomicU64>,
}

impl Listeners {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<AtomicU64>>> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a listener who has everything up to a record.
    pub fn begin(self: &Arc<Self>, after: u64) -> Listening {
        let number = self.next.fetch_add(1, Relaxed);
        let reached = Arc::new(AtomicU64::new(after));
        self.all().insert(number, reached.clone());
        Listening { all: self.clone(), number, reached }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all().len()
    }

    /// How many records the one furthest behind lacks, where `last` is the last one.
    pub fn lag(&self, last: u64) -> u64 {
        let furthest = self.all().values().map(|reached| reached.load(Relaxed)).min();
        furthest.map_or(0, |reached| last.saturating_sub(reached))
    }
}

impl Listening {
    /// Notes that everything up to a record was sent.
    pub fn reached(&self, record: u64) {
        self.reached.store(record, Relaxed);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.all.all().remove(&self.number);
    }
}
