//! The listeners to whom this daemon streams events: how many there are, and how far each has come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How often a listener looks whether the daemon stops or the token has ended.
const LOOK: Duration = Duration::from_millis(500);

/// For each listener the last record of the trail that was looked at and sent.
#[derive(Debug)]
pub struct Listeners {
    began: Instant,
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

impl Default for Listeners {
    fn default() -> Self {
        Self { began: Instant::now(), reached: Mutex::default(), next: AtomicU64::default() }
    }
}

impl Listeners {
    /// When a listener who waits looks next. All look at the same moments, and so read together.
    pub fn next_look(&self) -> Instant {
        let looks = self.began.elapsed().as_millis() / LOOK.as_millis();
        self.began + LOOK * u32::try_from(looks + 1).unwrap_or(u32::MAX)
    }

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
