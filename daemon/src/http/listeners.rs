//! The listeners to whom this daemon streams events: how many there may be, how many there are, and how far
//! each has come.

use super::places::{Full, Place, Places};
use mfa_shared::fault::{self, Fault};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How often a listener looks whether the daemon stops or the token has ended.
const LOOK: Duration = Duration::from_millis(500);

/// Seconds after which one may come again for whom there was no place.
const RETRY_SECONDS: u32 = 10;

/// For each listener the last record of the trail that was looked at and sent.
#[derive(Debug)]
pub struct Listeners {
    /// Those who wait for events, by caller, whether they are streamed or not: each has a connection as long
    /// as it likes.
    waiting: Places<String>,
    /// The connections that the daemon serves.
    connections: usize,
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

impl Listeners {
    /// None yet, at a daemon that serves so many connections.
    pub fn new(connections: usize) -> Self {
        Self {
            waiting: Places::default(),
            connections,
            began: Instant::now(),
            reached: Mutex::default(),
            next: AtomicU64::default(),
        }
    }

    /// A place for one more of a caller. One caller may take half of the connections, all of them three
    /// quarters: who listens leaves the others room for their requests.
    pub fn enter(&self, caller: &str) -> Result<Place<String>, Fault> {
        let own = (self.connections / 2).max(1);
        let all = (self.connections * 3 / 4).max(1);
        self.waiting.take(caller.to_owned(), own, all).map_err(|full| {
            let many = match full {
                Full::OfHolder => {
                    format!("{own} requests of {caller}, half of the connections of the daemon,")
                }
                Full::OfAll => format!("{all} requests, three quarters of the connections of the daemon,"),
            };
            let detail = format!(
                "{many} wait for events already: end some, let one pass the events on to several programs, \
                 have them delivered by a webhook, or ask without waitSeconds; the setting is connections_max"
            );
            Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_SECONDS)
        })
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_half_of_the_connections_for_events_and_all_some_more() {
        let listeners = Listeners::new(8);
        let mut held: Vec<_> = (0..4).map(|_| listeners.enter("ama").unwrap()).collect();
        let refused = listeners.enter("ama").unwrap_err();
        assert_eq!((refused.kind, refused.retry_after), (fault::UNAVAILABLE, Some(RETRY_SECONDS)));
        assert!(refused.detail.starts_with("4 requests of ama, half of"), "{}", refused.detail);
        held.extend((0..2).map(|_| listeners.enter("application:till").unwrap()));
        let refused = listeners.enter("esi").unwrap_err();
        assert!(refused.detail.starts_with("6 requests, three quarters of"), "{}", refused.detail);
        drop(held);
        assert!(listeners.waiting.are_free());
        // The smallest daemon still has a listener.
        assert!(Listeners::new(1).enter("ama").is_ok());
    }
}
